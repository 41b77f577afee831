"""Judges the joins: what one machine tells another is complete, and no row of it is idle."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from wholecall_spec.join import ABSENT, NOTHING, Join, Seen
from wholecall_spec.page import Page, unknown
from wholecall_spec.spec import Spec
from wholecall_spec.table import assignments

RESPONSE = "response"
"""Who hears a join that gives no input but an outcome."""

_EACH = re.compile(r"none|(some|all)( \w+)+")
_ONE = re.compile(r"!?\w+( \w+)*")


def check_join(join: Join, spec: Spec, page: Page) -> None:
    """Note every problem of one join: of its words, and then of its decisions."""
    lines = page.lines(join.name, "rows")
    told = {problem.line for problem in page.problems}
    sound = _check_columns(join, spec, page)
    _check_gives(join, spec, page, lines)
    if not sound:
        return
    before = len(page.problems)
    for line, row in zip(lines, join.rows, strict=True):
        for name, text in row.cells:
            if text and (trouble := _trouble_of_cell(join, name, text)):
                page.say(line, row.id, trouble)
    if len(page.problems) == before and not told & set(lines):
        _check_decisions(join, page, lines)


def _check_columns(join: Join, spec: Spec, page: Page) -> bool:
    """Whether each column stands once and its states are known; what is not is noted."""
    before = len(page.problems)
    names = [*(column.machine for column in join.reads), *(fact.name for fact in join.facts)]
    lines = [*page.lines(join.name, "reads"), *page.lines(join.name, "facts")]
    for place, (line, name) in enumerate(zip(lines, names, strict=True)):
        if name in names[:place]:
            page.say(line, join.name, f"the column {name} stands twice")
    for line, column in zip(lines, join.reads, strict=False):
        known = [state.name for state in spec.table(column.machine).states]
        for name in column.states:
            if name not in known:
                page.say(line, join.name, unknown("state", name, known))
    return len(page.problems) == before


def _check_gives(join: Join, spec: Spec, page: Page, lines: list[int]) -> None:
    """What a row gives is an input of every machine that hears it, an outcome of a response, or nothing."""
    words = {table.machine: [input.name for input in table.inputs] for table in spec.tables}
    words[RESPONSE] = [name for name, _ in spec.outcomes]
    for line, row in zip(lines, join.rows, strict=True):
        deaf = [name for name in join.to if row.gives not in (*words[name], NOTHING, "")]
        if deaf:
            allowed = (*words[deaf[0]], NOTHING)
            page.say(line, row.id, unknown(f"input of {', '.join(deaf)}", row.gives, allowed))


def _trouble_of_cell(join: Join, name: str, text: str) -> str:
    columns = {column.machine: column for column in join.reads}
    facts = [fact.name for fact in join.facts]
    if name in facts:
        return "" if text in ("yes", "no") else f"{name} must be yes or no: {text}"
    if name not in columns:
        return unknown("column", name, (*columns, *facts, "why", "source", "gives"))
    column = columns[name]
    each = column.of == "each"
    if not (_EACH if each else _ONE).fullmatch(text):
        form = "some X, all X or none" if each else "states, or ! and states"
        return f"{name} must be {form}: {text}"
    allowed = column.states if each else (*column.states, ABSENT)
    for state in text.split()[1:] if each else text.removeprefix("!").split():
        if state not in allowed:
            return unknown("state", state, allowed)
        if state == ABSENT and not each and ABSENT in column.states:
            return f"{state} says two things: not begun, and that state of {name}"
    return ""


def _check_decisions(join: Join, page: Page, lines: list[int]) -> None:
    deciding: set[int] = set()
    whole = True
    for seen, facts in _kinds_of_situations(join):
        held = (place for place, row in enumerate(join.rows) if join.holds(row, seen, facts))
        first = next(held, None)
        if first is not None:
            deciding.add(first)
        elif whole:
            whole = False
            page.say(page.line(join.name), join.name, f"has no row where {_words(join, seen, facts)}")
    for place, (line, row) in enumerate(zip(lines, join.rows, strict=True)):
        if place not in deciding:
            page.say(line, row.id, "never decides: the rows before it take all it could")


def _words(join: Join, seen: Seen, facts: Mapping[str, bool]) -> str:
    parts = []
    for column in join.reads:
        states = ", ".join(sorted(seen[column.machine]))
        if column.of == "one":
            parts.append(f"{column.machine} is {states or ABSENT}")
        else:
            parts.append(f"{column.machine} in {{{states}}}" if states else f"there is no {column.machine}")
    return ", ".join((*parts, *(f"{name} is {'yes' if truth else 'no'}" for name, truth in facts.items())))


def _kinds_of_situations(join: Join) -> Iterator[tuple[dict[str, frozenset[str]], dict[str, bool]]]:
    """One situation of each kind: what no cell of a column tells apart counts once."""
    kinds: list[list[frozenset[str]]] = []
    for column in join.reads:
        alone = replace(join, reads=(column,), facts=())
        cells = {cell for row in join.rows for cell in row.cells if cell[0] == column.machine}
        rows = [replace(join.rows[0], cells=(cell,)) for cell in cells]
        told_apart: dict[tuple[bool, ...], frozenset[str]] = {}
        for seen, _ in alone.situations():
            held = tuple(alone.holds(row, seen, {}) for row in rows)
            told_apart.setdefault(held, seen[column.machine])
        kinds.append(list(told_apart.values()))
    for states in itertools.product(*kinds):
        seen = {column.machine: found for column, found in zip(join.reads, states, strict=True)}
        for facts in assignments(tuple(fact.name for fact in join.facts)):
            yield seen, facts
