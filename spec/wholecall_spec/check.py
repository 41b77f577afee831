"""Judges the specification: what its words mean together.

Guards are booleans and states are few, so every claim here is settled by enumeration: a proof, not a
sample. A mistake is told once: a claim is made only where it holds however the mistakes already told are
put right. So a row that is itself wrong is left out of the claims about cells, and so are the cells it may
have been meant for; and a cell without a row may yet lead anywhere.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from wholecall_spec.check_joins import check_join
from wholecall_spec.join import JoinRow
from wholecall_spec.page import Page, did_you_mean, unknown
from wholecall_spec.spec import Spec
from wholecall_spec.table import CARRIED, Row, Table, assignments

_WHEN = re.compile(r"\s*!?\s*\w+\s*(&\s*!?\s*\w+\s*)*")

Cells = dict[tuple[str, str], list[tuple[int, Row]]]
"""By state and input, the rows that are certain to stand there, each with its line."""


def check(spec: Spec, pages: Mapping[str, Page]) -> None:
    """Note every problem of the specification on its page.

    Args:
        spec: What was read, as far as it could be; without faults or joins, nothing is asked of them.
        pages: The pages by file name.
    """
    faults = [fault.name for fault in spec.faults]
    ids: dict[str, str] = {}
    for table in spec.tables:
        page = pages[f"{table.machine}.toml"]
        check_table(table, page, faults)
        _check_ids(table.rows, page, page.lines("transitions", "rows"), ids)
    page = pages["joins.toml"]
    for join in spec.joins:
        check_join(join, spec, page)
        _check_ids(join.rows, page, page.lines(join.name, "rows"), ids)


def _check_ids(rows: Sequence[Row | JoinRow], page: Page, lines: list[int], ids: dict[str, str]) -> None:
    for line, row in zip(lines, rows, strict=True):
        if row.id in ids:
            page.say(line, row.id, f"the id stands already at {ids[row.id]}; an id is never reused")
        elif row.id:
            ids[row.id] = f"{page.file}:{line}"


def check_table(table: Table, page: Page, faults: Sequence[str]) -> None:
    """Note every problem of one table: of its words, its cells and its paths."""
    told = {problem.line for problem in page.problems}
    _check_names(table, page)
    _check_values(table, page, faults)
    cells: Cells = {}
    strays = []
    for line, row in zip(page.lines("transitions", "rows"), table.rows, strict=True):
        misplaced = list(_troubles_of_place(table, row))
        for trouble in (*misplaced, *_troubles_of_end(table, row, faults)):
            page.say(line, row.id, trouble)
        if misplaced or line in told:
            strays.append(row)
        else:
            cells.setdefault((row.state, row.input), []).append((line, row))
    _check_overlaps(cells, page)
    _check_paths(table, page, _check_cells(table, page, cells, strays, told))


def _check_names(table: Table, page: Page) -> None:
    live, inputs = _live(table), _inputs(table)
    if table.initial and table.initial not in live:
        hint = did_you_mean(table.initial, live)
        page.say(page.line("", "initial"), "", f"no live state is named {table.initial}{hint}")
    for state in table.live:
        for name in state.sees:
            if name not in inputs:
                page.say(page.line("states", state.name), state.name, unknown("input", name, inputs))


def _check_values(table: Table, page: Page, faults: Sequence[str]) -> None:
    taken: dict[str, str] = {}
    for input in table.inputs:
        line = page.line("inputs", input.name)
        for name in input.carries:
            if faults and name not in faults:
                page.say(line, input.name, unknown("fault", name, faults))
        for value in input.values:
            if taken.setdefault(value, input.name) != input.name:
                page.say(line, input.name, f"the value {value} belongs already to {taken[value]}")
    if taken and not any(name.endswith("_other") for name in _inputs(table)):
        page.say(page.line("inputs"), "inputs", "some list their values, but no *_other takes the rest")


def _live(table: Table) -> list[str]:
    return [state.name for state in table.live]


def _inputs(table: Table) -> list[str]:
    return [input.name for input in table.inputs]


def _troubles_of_place(table: Table, row: Row) -> Iterator[str]:
    """Why it is not certain for which cell, and which guards in it, the row is."""
    live, inputs = _live(table), _inputs(table)
    if row.state in (state.name for state in table.finals):
        yield f"leads out of the final state {row.state}"
    elif row.state and row.state not in live:
        yield unknown("state", row.state, live)
    if row.input and row.input not in inputs:
        yield unknown("input", row.input, inputs)
    elif row.input and row.state in live:
        sees = table.state(row.state).sees
        if sees and row.input not in sees and set(sees) <= set(inputs):
            yield f"the state {row.state} does not list {row.input} among what it sees"
    yield from _troubles_of_when(table, row)


def _troubles_of_when(table: Table, row: Row) -> Iterator[str]:
    if row.when and not _WHEN.fullmatch(row.when):
        yield f"when must be guards joined by &, each perhaps with !: {row.when}"
        return
    literals = ["".join(part.split()) for part in row.when.split("&")]
    guards = [name for name, _ in table.guards]
    for name in row.guards:
        plain, negated = literals.count(name), literals.count(f"!{name}")
        if name not in guards:
            yield unknown("guard", name, guards)
        elif plain and negated:
            yield f"can never hold, with {name} and !{name}"
        elif plain + negated > 1:
            yield f"names the guard {name} twice"


def _troubles_of_end(table: Table, row: Row, faults: Sequence[str]) -> Iterator[str]:
    states = {state.name: state for state in table.states}
    effects = [name for name, _ in table.effects]
    if row.next and row.next not in states:
        yield unknown("state", row.next, states)
    elif row.next and states[row.next].final and not states[row.next].good and not row.fault:
        yield f"ends in {row.next}, which is not good, without a fault"
    if row.effect and row.effect not in effects:
        yield unknown("effect", row.effect, effects)
    if row.fault and faults and row.fault not in (*faults, CARRIED):
        yield unknown("fault", row.fault, (*faults, CARRIED))


def _check_overlaps(cells: Cells, page: Page) -> None:
    pairs = (itertools.combinations(cell, 2) for cell in cells.values())
    for (_, earlier), (line, later) in itertools.chain.from_iterable(pairs):
        wanted = earlier.guards
        if all(wanted.get(name, truth) is truth for name, truth in later.guards.items()):
            both = _words({**wanted, **later.guards})
            page.say(line, later.id, f"holds together with {earlier.id}{both}, and one cell needs one row")


def _check_cells(table: Table, page: Page, cells: Cells, strays: list[Row], told: set[int]) -> set[str]:
    """Note what has no row; the states of which it is not yet certain where they lead."""
    states = [state.name for state in table.states]
    loose = {row.state for row in table.rows if row.next not in states}
    unused = _check_inputs(table, page)
    for state in _live(table):
        line = page.line("states", state)
        if line in told:
            loose.add(state)
            continue
        missing = []
        for input in table.sees(state):
            if any(_may_be_for(row, state, input, table) for row in strays):
                continue
            if (state, input) not in cells:
                missing.append(input)
            elif _has_gap(table, cells[state, input], page):
                loose.add(state)
        if missing:
            loose.add(state)
        if needed := [input for input in missing if input not in unused]:
            page.say(line, state, f"has no row for {', '.join(needed)}")
    return loose


def _may_be_for(row: Row, state: str, input: str, table: Table) -> bool:
    known_state, known_input = row.state in _live(table), row.input in _inputs(table)
    return (row.state == state or not known_state) and (row.input == input or not known_input)


def _check_inputs(table: Table, page: Page) -> set[str]:
    """Note the inputs of which no row speaks; none is certain while a row has an unknown input."""
    inputs = set(_inputs(table))
    used = {row.input for row in table.rows}
    unused = set() if used - inputs else inputs - used
    for name in unused:
        states = [state for state in _live(table) if name in table.sees(state)]
        needed = f" ({', '.join(states)} would need one)" if states else ""
        page.say(page.line("inputs", name), name, f"is an input that no row sees{needed}")
    return unused


def _has_gap(table: Table, cell: list[tuple[int, Row]], page: Page) -> bool:
    """Whether some truth of the guards has no row in this cell; the first such is noted."""
    line, last = cell[-1]
    for guards in assignments(table.cell_guards(last.state, last.input)):
        if not any(row.holds(guards) for _, row in cell):
            page.say(line, last.id, f"{last.state} on {last.input} has no row{_words(guards)}")
            return True
    return False


def _words(guards: Mapping[str, bool]) -> str:
    literals = " & ".join(name if truth else f"!{name}" for name, truth in guards.items())
    return f" where {literals}" if literals else ""


def _check_paths(table: Table, page: Page, loose: set[str]) -> None:
    live = _live(table)
    if any(row.state not in live for row in table.rows):
        return
    reached, ending = {table.initial}, {state.name for state in table.finals} | loose
    for _ in table.states:
        reached |= {row.next for row in table.rows if row.state in reached}
        ending |= {row.state for row in table.rows if row.next in ending}
    for state in table.states:
        line = page.line("finals" if state.final else "states", state.name)
        if table.initial in live and not reached & loose and state.name not in reached:
            page.say(line, state.name, f"cannot be reached from {table.initial}")
        if state.name not in ending:
            page.say(line, state.name, "has no way to a final state")
