"""Prints the specification as a TLA+ module, and its configuration: what TLC needs to explore it too.

An operator for each row, a function for each machine, and an operator for each join come from the tables.
What no table says, such as what the world may send, is `tla_world`; what must hold is `tla_claims`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from wholecall.press.prose import SETTLED, TRAVELS, WRITTEN
from wholecall.press.tla_claims import ABOVE, CLAIMS
from wholecall.press.tla_world import WORLD
from wholecall_spec.join import ABSENT, NOTHING, Column, Join, JoinRow
from wholecall_spec.spec import Spec
from wholecall_spec.table import CARRIED, Row, Table

_WIDTH: Final = 100
_RULE: Final = "-" * 80

CONSTANTS: Final[Mapping[str, tuple[int, str]]] = {
    "CHOICES": (1, "choices of a response"),
    "CALLS": (2, "calls of a choice"),
    "ATTEMPTS": (2, "requests of one run of a turn"),
    "QUERIES": (2, "queries of an operation in one run"),
    "TRIES": (2, "tries of an operation under its key"),
    "IDS": (2, "how many different ids a stream may send, at most four"),
    "WHOLE": (False, "whether each call comes whole in one fragment, and nothing comes to it after that"),
    "TOOLS": (6, "how many kinds of tools there are, of six"),
}
"""Each constant of the module: its value in the configuration that is printed, and what it bounds."""

_HEAD: Final = f"""\\* {WRITTEN}
\\* To check it beside `wholecall explore`: make formal
{"-" * 34} MODULE wholecall {"-" * 28}
EXTENDS Naturals, Sequences, FiniteSets
"""

_STEPS: Final = f"""\\* Nothing is done, refused or said.
Nothing == "{NOTHING}"

\\* Where a machine rests that was not begun.
Absent == "{ABSENT}"

\\* A fault that came with its input, and is passed on.
Carried == "{CARRIED}"

\\* What a row prescribes: where its machine goes, what is done, and why it is refused.
Step(next, effect, fault) == [next |-> next, effect |-> effect, fault |-> fault]
Goes(next) == Step(next, Nothing, Nothing)
Does(next, effect) == Step(next, effect, Nothing)
Fails(next, fault) == Step(next, Nothing, fault)

\\* A row is the set of the steps that it allows: one where it holds, else none.
When(holds, step) == IF holds THEN {{step}} ELSE {{}}
"""


def wholecall_tla(spec: Spec) -> str:
    """The text of `generated/wholecall.tla`: the tables, the world they stand in, and what must hold."""
    parts = [_HEAD, _constants(), _RULE, _STEPS]
    for table in spec.tables:
        parts += [_RULE, _machine(table)]
    parts += [_RULE, _joins(spec), _RULE, _facts(spec), WORLD, *_claims(), "=" * 80]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def wholecall_cfg(**bounds: int) -> str:
    """The text of a configuration of the module.

    Args:
        bounds: Values of `CONSTANTS`, by their names in small letters; the others are as they are printed.
    """
    given = {name: bounds.get(name.lower(), value) for name, (value, _) in CONSTANTS.items()}
    lines = [f"\\* {WRITTEN}", "\\* To check it beside `wholecall explore`: make formal", ""]
    lines += ["SPECIFICATION Spec", "", "CONSTANTS"]
    lines += [f"    {name} = {str(value).upper()}" for name, value in given.items()]
    for kind in dict.fromkeys(claim.kind for claim in CLAIMS):
        lines += ["", kind, *(f"    {claim.name}" for claim in CLAIMS if claim.kind == kind)]
    return "\n".join(lines) + "\n"


def _constants() -> str:
    longest = max(map(len, CONSTANTS))
    names = list(CONSTANTS)
    lines = [
        f"    {name + (',' if name != names[-1] else ''):<{longest + 1}}  \\* {about}"
        for name, (_, about) in CONSTANTS.items()
    ]
    return "\n".join(["CONSTANTS", *lines])


# -- machines ------------------------------------------------------------------------------------------


def _machine(table: Table) -> str:
    name = table.machine.capitalize()
    parts = [
        _comment(f"{table.machine}, {table.scope}. {table.about}"),
        *_named("guard", table.guards),
        *_named("effect", table.effects),
        "",
        _set(f"{name}States", [(state.name, state.about) for state in table.states]),
        _plain(f"{name}Finals", [state.name for state in table.finals]),
        _plain(f"{name}Good", [state.name for state in table.finals if state.good]),
        f'{name}Initial == "{table.initial}"',
        "",
        _set(f"{name}Inputs", [(input.name, input.about) for input in table.inputs]),
    ]
    for row in table.rows:
        parts += ["", _comment(row.why), _row(table, row)]
    parts += ["", _comment(SETTLED), _function(table)]
    parts += [
        f"ASSUME \\A cell \\in DOMAIN {name} : Cardinality({name}[cell]) <= 1",
    ]
    return "\n".join(parts)


def _named(kind: str, names: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, about in names:
        yield _comment(f"{kind} {name}: {about}")


def _row(table: Table, row: Row) -> str:
    holds = [f'state = "{row.state}"', f'input = "{row.input}"']
    holds += [name if truth else f"~{name}" for name, truth in row.guards.items()]
    head, when = f"{_called(table, row)} ==", f"When({_and(holds)},"
    line = f"{head} {when} {_step(row)})"
    if len(line) <= _WIDTH:
        return line
    line = f"    {when} {_step(row)})"
    return f"{head}\n" + (line if len(line) <= _WIDTH else f"    {when}\n         {_step(row)})")


def _called(table: Table, row: Row) -> str:
    """The row's operator with its parameters: state, input, and the guards that it asks for."""
    asked = [name for name, _ in table.guards if name in row.guards]
    return f"{row.id}({', '.join(('state', 'input', *asked))})"


def _step(row: Row) -> str:
    fault = "Carried" if row.fault == CARRIED else f'"{row.fault}"'
    if row.effect and row.fault:
        return f'Step("{row.next}", "{row.effect}", {fault})'
    if row.effect:
        return f'Does("{row.next}", "{row.effect}")'
    return f'Fails("{row.next}", {fault})' if row.fault else f'Goes("{row.next}")'


def _function(table: Table) -> str:
    name = table.machine.capitalize()
    of = [f"state \\in {name}States", f"input \\in {name}Inputs"]
    if table.guards:
        of.append(f"{', '.join(guard for guard, _ in table.guards)} \\in BOOLEAN")
    over = f"{name} ==\n    [" + textwrap.fill(", ".join(of), _WIDTH, subsequent_indent=" " * 5)
    lines = [f"{over} |->"]
    for state in table.live:
        first = "CASE" if state is table.live[0] else "  []"
        calls = [_called(table, row).replace(" ", "~") for row in table.rows if row.state == state.name]
        lines.append(f'        {first} state = "{state.name}" -> UNION {{')
        lines.append(
            textwrap.fill(", ".join(calls), _WIDTH, initial_indent=" " * 16, subsequent_indent=" " * 16)
        )
        lines[-1] = lines[-1].replace("~", " ") + "}"
    return "\n".join([*lines, "          [] OTHER -> {}]"])


# -- joins ---------------------------------------------------------------------------------------------


def _joins(spec: Spec) -> str:
    parts = [
        _comment("Joins: what one machine tells another. The first row that holds decides."),
        _comment(TRAVELS),
        "",
        _comment("Of the states in which the instances of a machine rest."),
        "Some(states, wanted) == states \\cap wanted # {}",
        "All(states, wanted) == states \\subseteq wanted",
    ]
    for join in spec.joins:
        parts += ["", _comment(join.about), *(_comment(f"{fact.name}: {fact.about}") for fact in join.facts)]
        parts.append(_join(join))
    return "\n".join(parts)


def _join(join: Join) -> str:
    columns = {column.machine: column for column in join.reads}
    lines = [f"{camel(join.name)}({', '.join((*columns, *(fact.name for fact in join.facts)))}) =="]
    for row in join.rows:
        first = "IF" if row is join.rows[0] else "ELSE IF"
        lines += [_comment(f"{row.id}: {row.why}", indent=4), f"    {first} {_holds(columns, row)}"]
        then = f'THEN "{row.gives}"'
        fits = len(f"{lines[-1]} {then}") <= _WIDTH
        lines[-1] += f" {then}" if fits else f"\n        {then}"
    return "\n".join([*lines, "    ELSE Nothing"])


def _holds(columns: Mapping[str, Column], row: JoinRow) -> str:
    return _and(_cell(columns.get(name), name, text) for name, text in row.cells) or "TRUE"


def _cell(column: Column | None, name: str, text: str) -> str:
    if column is None:
        return name if text == "yes" else f"~{name}"
    if column.of == "each":
        quantifier, *wanted = text.split()
        if quantifier == "none":
            return f"{name} = {{}}"
        return f"{quantifier.capitalize()}({name}, {_states(wanted)})"
    wanted = text.removeprefix("!").split()
    negated = text.startswith("!")
    if len(wanted) == 1:
        return f'{name} {"#" if negated else "="} "{wanted[0]}"'
    return f"{name} " + ("\\notin " if negated else "\\in ") + _states(wanted)


# -- what the world asks of the tables -----------------------------------------------------------------


def _facts(spec: Spec) -> str:
    """The finish reasons that can come, and what comes to every choice at once."""
    announcing = next(fact.values for fact in spec.join("gathered").facts if fact.name == "announced")
    finishes: list[str] = []
    of_all: list[str] = []
    for input in spec.table("stream").inputs:
        plain = [value for value in input.values if value not in announcing]
        loud = [value for value in input.values if value in announcing]
        finishes += [f'<<"{input.name}", "{value}">>' for value in (*plain[:1], *loud[:1])]
        if input.name.endswith("_other"):
            finishes.append(f'<<"{input.name}", "any other">>')
        elif not input.values and input.name not in ("fragment", "fragment_refused", "content"):
            of_all.append(input.name)
    return "\n".join(
        (
            _set("FaultNames", [(fault.name, fault.about) for fault in spec.faults]),
            "",
            _comment("Finish reasons, each with its input: of each class one, and one that announces calls."),
            _wrapped("FinishReasons ==", f"{{{', '.join(finishes)}}}"),
            "",
            _comment("Finish reasons that announce calls."),
            _plain("Announcing", announcing),
            "",
            _comment("What comes to every choice of a response at once."),
            _plain("OfAll", of_all),
        )
    )


# -- what must hold ------------------------------------------------------------------------------------


def _claims() -> Iterator[str]:
    yield _RULE + ABOVE
    for claim in CLAIMS:
        yield f"{_comment(claim.sentence)}\n{claim.name} =={claim.formula}"


# -- text ----------------------------------------------------------------------------------------------


def camel(name: str) -> str:
    """The name of a join as that of its operator."""
    return "".join(part.capitalize() for part in name.split("_"))


def _comment(text: str, indent: int = 0) -> str:
    start = " " * indent + "\\* "
    return textwrap.fill(" ".join(text.split()), _WIDTH, initial_indent=start, subsequent_indent=start)


def _wrapped(head: str, body: str) -> str:
    return textwrap.fill(f"{head} {body}", _WIDTH, subsequent_indent="    ")


def _and(conjuncts: Iterable[str]) -> str:
    return " /\\ ".join(conjuncts)


def _states(names: Iterable[str]) -> str:
    quoted = ", ".join(f'"{name}"' for name in names)
    return f"{{{quoted}}}"


def _plain(name: str, of: Iterable[str]) -> str:
    return _wrapped(f"{name} ==", _states(of))


def _set(name: str, of: list[tuple[str, str]]) -> str:
    longest = max(len(item) for item, _ in of) + 3
    last = of[-1][0]
    quoted = [(f'"{item}"' + ("," if item != last else ""), about) for item, about in of]
    lines = [f"    {item:<{longest}}  \\* {about}" for item, about in quoted]
    return "\n".join([f"{name} == {{", *lines, "}"])
