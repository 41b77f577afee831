"""Prints the specification for people: every table with its matrix, its rows and their reasons."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from wholecall.press.prose import EVIDENCE, LEVELS, ROW_ORDER, SETTLED, TRAVELS, WRITTEN, members_of
from wholecall.press.tla_claims import CLAIMS
from wholecall_spec.join import Join
from wholecall_spec.spec import Fault, Spec
from wholecall_spec.statements import STATEMENTS
from wholecall_spec.table import CARRIED, Row, State, Table, evidence_of

UNSEEN = "·"
"""The cell of a matrix where the state does not see the input."""

_ACROSS = 5
"""How many states stand side by side on a page of the width of a screen."""

_COLUMNS = (
    *(("id",), ("state",), ("input", "when"), ("next", "effect")),
    *(("fault",), ("why",), ("source", "evidence")),
)
"""What stands together in a row, so that the page leaves room for the reason."""

_SEE_ALSO = (
    "See also [how to read](#how-to-read), the [outcomes](#outcomes), the [faults](#faults) and "
    "[what must hold](#what-must-hold)."
)

_MATRIX = (
    "A matrix shows where each state goes on each input, and links to the row that says so. **Bold** is a "
    f"final state, what follows a state is the fault, and `{UNSEEN}` is an input that the state does not see."
)

_PASSED_ON = f"A row whose fault is `{CARRIED}` is listed only with the faults that its input brings in."

_CELLS = (
    ("`X Y`", "the one instance rests in X or Y; `absent` is one that was not begun"),
    ("`!X Y`", "the one instance rests in neither"),
    ("`some X Y`", "at least one instance rests in X or Y"),
    ("`all X Y`", "no instance rests anywhere else, so it holds where there is no instance"),
    ("`none`", "there is no instance"),
    ("`yes`, `no`", "the fact holds, or does not"),
    ("nothing", "it does not matter"),
)


_ASKED = (
    ("explored", "`wholecall explore` looks at every state and every move of the model, within its scope"),
    ("`always`", "it holds in each of them"),
    ("`sometimes`", "some run shows it"),
    ("`always_ends`", "no run goes on for ever, and none stops where it is not over"),
    ("by TLC", "another explorer looks at every state of the same model as TLA+ (`make formal`)"),
    ("of real code", "Hypothesis and crash tests ask it of real responses and turns: a sample"),
)


def reference_md(spec: Spec) -> str:
    """The text of `generated/reference.md`: all that the specification says, in the order of its files."""
    parts = [f"<!-- {WRITTEN} -->", "# Reference", *_index(spec), *_guide()]
    for table in spec.tables:
        parts += _machine(table, spec)
    parts += ["## Joins", members_of(Join)[0], TRAVELS, _grid(("cell", "holds where"), _CELLS)]
    for join in spec.joins:
        parts += _join(join)
    parts += [*_outcomes(spec), *_faults(spec), *_statements()]
    return "\n\n".join(filter(None, parts)) + "\n"


def _index(spec: Spec) -> list[str]:
    machines = ((_link(t.machine, t.machine), _text(t.scope), _text(t.about)) for t in spec.tables)
    joins = ((_link(join.name, join.name), _hearers(join), _text(join.about)) for join in spec.joins)
    return [
        members_of(Spec)[0],
        _grid(("machine", "scope", "question"), machines),
        _grid(("join", "heard by", "when and what"), joins),
        _SEE_ALSO,
    ]


def _guide() -> list[str]:
    about, told = members_of(Row)
    told["fault"] += f" `{CARRIED}` is the fault that came with the input."
    rows = ((column, told.get(column, LEVELS)) for column in ROW_ORDER)
    return [
        "## How to read",
        f"A row is {about[0].lower()}{about[1:]} {SETTLED}",
        _grid(("column", "what it says"), rows),
        _MATRIX,
        _grid(("evidence", "meaning"), EVIDENCE.items()),
    ]


def _machine(table: Table, spec: Spec) -> list[str]:
    inputs = (
        (
            _code(input.name),
            _text(input.about),
            ", ".join(map(_code, input.values)),
            ", ".join(_link(name, name) for name in input.carries),
            _givers(table.machine, input.name, spec),
        )
        for input in table.inputs
    )
    return [
        f"## {table.machine}",
        f"{_text(table.about)} {_sentence(table.scope)}",
        f"![{table.machine}](../diagrams/{table.machine}.svg)",
        _grid(
            ("state", "kind", "meaning"),
            ((_code(s.name), _kind(s, table), _text(s.about)) for s in table.states),
        ),
        _grid(("input", "meaning", "wire texts", "carries", "given by"), inputs),
        _grid(("guard", "holds where"), ((_code(name), _text(about)) for name, about in table.guards)),
        _grid(("effect", "what is done"), ((_code(name), _text(about)) for name, about in table.effects)),
        *_matrices(table),
        _grid(tuple(map(", ".join, _COLUMNS)), (_row(row, table) for row in table.rows)),
    ]


def _sentence(text: str) -> str:
    return f"{_text(text[:1].upper() + text[1:])}."


def _kind(state: State, table: Table) -> str:
    if state.final:
        return "final, good" if state.good else "final"
    return "live, initial" if state.name == table.initial else "live"


def _givers(hearer: str, gives: str, spec: Spec) -> str:
    joins = (join for join in spec.joins if hearer in join.to)
    return ", ".join(
        _link(row.id, row.id.lower()) for join in joins for row in join.rows if row.gives == gives
    )


def _matrices(table: Table) -> list[str]:
    """Inputs down and states across; many states are cut into even parts, each with the inputs it sees."""
    parts = -(-len(table.live) // _ACROSS)
    size = -(-len(table.live) // parts)
    return [_matrix(table, table.live[at : at + size]) for at in range(0, len(table.live), size)]


def _matrix(table: Table, states: Sequence[State]) -> str:
    seen = {name for state in states for name in table.sees(state.name)}
    rows = (
        (_text(input.name), *(_cell(table, state.name, input.name) for state in states))
        for input in table.inputs
        if input.name in seen
    )
    return _grid(("input", *(_text(state.name) for state in states)), rows)


def _cell(table: Table, state: str, input: str) -> str:
    lines = (
        (f"*{_text(row.when)}*:" if row.when else "", _to(row, table), _text(row.fault))
        for row in table.cell(state, input)
    )
    return "<br>".join(" ".join(filter(None, line)) for line in lines) or UNSEEN


def _to(row: Row, table: Table) -> str:
    return _link(row.next, row.id.lower(), _final(row, table))


def _final(row: Row, table: Table) -> bool:
    return table.state(row.next).final


def _row(row: Row, table: Table) -> list[str]:
    cells = {
        "id": _anchor(row.id.lower()) + row.id,
        "state": _text(row.state),
        "input": _text(row.input),
        "when": _code(row.when),
        "next": f"**{_text(row.next)}**" if _final(row, table) else _text(row.next),
        "effect": _code(row.effect),
        "fault": CARRIED if row.fault == CARRIED else _link(row.fault, row.fault),
        "why": _text(row.why),
        "source": _text(row.source),
        "evidence": row.evidence,
    }
    return ["<br>".join(cells[name] for name in names if cells[name]) for names in _COLUMNS]


def _hearers(join: Join) -> str:
    return ", ".join(_link(name, "outcomes" if name == "response" else name) for name in join.to)


def _join(join: Join) -> list[str]:
    columns = (*(column.machine for column in join.reads), *(fact.name for fact in join.facts))
    reads = ((_link(c.machine, c.machine), c.of, ", ".join(map(_code, c.states))) for c in join.reads)
    facts = ((_code(f.name), _text(f.about), ", ".join(map(_code, f.values))) for f in join.facts)
    rows = (
        (
            _anchor(row.id.lower()) + row.id,
            *(_text(dict(row.cells).get(column, "")) for column in columns),
            _text(row.gives),
            _text(row.why),
            f"{_text(row.source)}<br>{evidence_of(row.source)}",
        )
        for row in join.rows
    )
    return [
        f"### {join.name}",
        f"{_text(join.about)} Heard by {_hearers(join)}.",
        _grid(("reads", "of", "may rest in"), reads),
        _grid(("fact", "holds where", "wire texts"), facts),
        _grid(("id", *map(_text, columns), "gives", "why", "source, evidence"), rows),
    ]


def _outcomes(spec: Spec) -> list[str]:
    rows = ((_code(name), _text(about), _givers("response", name, spec)) for name, about in spec.outcomes)
    return ["## Outcomes", _grid(("outcome", "meaning", "given by"), rows)]


def _faults(spec: Spec) -> list[str]:
    kinds = ((_code(name), _text(about)) for name, about in spec.kinds)
    rows = (
        (
            _anchor(fault.name) + _code(fault.name),
            _text(fault.kind),
            _text(fault.about),
            ", ".join(_link(row_id, row_id.lower()) for row_id in raised_by(fault, spec)),
        )
        for fault in spec.faults
    )
    return [
        "## Faults",
        f"{members_of(Fault)[0]} {_PASSED_ON}",
        _grid(("kind", "recovery"), kinds),
        _grid(("fault", "kind", "meaning", "raised by"), rows),
    ]


def _statements() -> list[str]:
    tlc = {claim.name for claim in CLAIMS}
    rows = (
        (
            _code(one.name),
            _text(one.sentence),
            _code(one.kind) if one.explored else "",
            "yes" if one.name in tlc else "",
            ", ".join(one.asked_of),
        )
        for one in STATEMENTS
    )
    return [
        "## What must hold",
        "Each statement, and where it is asked.",
        _grid(("asked", "what it means"), _ASKED),
        _grid(("statement", "what is claimed", "explored", "by TLC", "of real code"), rows),
    ]


def raised_by(fault: Fault, spec: Spec) -> list[str]:
    """The ids of the rows where a fault begins: those that name it, and those whose input carries it in."""
    return [
        row.id
        for table in spec.tables
        for row in table.rows
        if row.fault == fault.name or (row.fault == CARRIED and fault.name in table.input(row.input).carries)
    ]


def _grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A markdown table without the columns that say nothing; no text at all where there are no rows."""
    cells = [list(row) for row in rows]
    kept = [at for at in range(len(head)) if any(row[at] for row in cells)]
    lines = [head, ["---"] * len(head), *cells] if cells else []
    escaped = ([line[at].replace("|", r"\|") for at in kept] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in escaped)


def _anchor(name: str) -> str:
    return f'<a id="{name}"></a>'


def _link(text: str, target: str, bold: bool = False) -> str:
    shown = f"**{_text(text)}**" if bold else _text(text)
    return f"[{shown}](#{target})" if text else ""


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _text(text: str) -> str:
    """The text with nothing in it that markdown would read; a table takes care of its own pipes."""
    return re.sub(r"([\\`*\[<~]|_(?!\w)|&(?=#?\w+;))", r"\\\1", " ".join(text.split()))
