"""A join is refused exactly where trying every situation finds a gap or an idle row."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

from hypothesis import given, note, settings
from hypothesis import strategies as st

from wholecall_spec.check_joins import check_join
from wholecall_spec.load import load, read_joins
from wholecall_spec.page import Page

SPEC = load()

Columns = dict[str, tuple[str, tuple[str, ...]]]
"""By name, whether a column is `one`, `each` or a `fact`, and what it may be."""

Cells = dict[str, str]
"""The cells of one row; a column left out is free."""


@st.composite
def join_rows(draw: st.DrawFn, columns: Columns) -> Cells:
    """The cells of one row; a column may be left free."""
    cells = {}
    for name, (of, states) in columns.items():
        some = st.lists(st.sampled_from(states), min_size=1, unique=True).map(" ".join)
        cell = {
            "each": st.just("none") | some.map("some {}".format) | some.map("all {}".format),
            "one": some | some.map("!{}".format) | st.just("absent") | st.just("!absent"),
            "fact": st.sampled_from(("yes", "no")),
        }[of]
        if text := draw(st.just("") | cell):
            cells[name] = text
    return cells


COLUMNS = {
    "identity": ("blank", "fixed", "rejected"),
    "stream": ("open", "complete", "refused"),
    "late": ("yes", "no"),
}


@st.composite
def joins(draw: st.DrawFn) -> tuple[Columns, list[Cells]]:
    """One or two machines, one or each, perhaps a fact; and up to five rows."""
    machines = draw(st.lists(st.sampled_from(("identity", "stream")), min_size=1, unique=True))
    columns = {name: (draw(st.sampled_from(("one", "each"))), COLUMNS[name]) for name in machines}
    if draw(st.booleans()):
        columns["late"] = ("fact", COLUMNS["late"])
    return columns, draw(st.lists(join_rows(columns), min_size=1, max_size=5))


def text_of_join(columns: Columns, rows: list[Cells]) -> str:
    reads = [
        f"  {{ machine = '{name}', of = '{of}', states = {list(states)} }},"
        for name, (of, states) in columns.items()
        if of != "fact"
    ]
    facts = ["facts = [", "  { name = 'late', about = 'l' },", "]"] if "late" in columns else []
    lines = [
        f"  {{ id = 'X{place}', {''.join(f'{name} = {text!r}, ' for name, text in cells.items())}"
        "gives = 'nothing', why = 'w', source = 's' },"
        for place, cells in enumerate(rows)
    ]
    head = ["[outcomes]", "whole = 'w'", "[tried]", "about = 'a'", "to = ['turn']"]
    return "\n".join([*head, "reads = [", *reads, "]", *facts, "rows = [", *lines, "]"])


def agrees(of: str, text: str, value: tuple[str, ...]) -> bool:
    """Whether a cell agrees with where the machines rest, or with the truth of the fact."""
    word, _, rest = text.partition(" ")
    match of, word:
        case "each", "none":
            return not value
        case "each", "some":
            return any(state in rest.split() for state in value)
        case "each", "all":
            return all(state in rest.split() for state in value)
        case "one", _:
            (state,) = value or ("absent",)
            return (state not in text[1:].split()) if text[0] == "!" else state in text.split()
        case _:
            return value == (text,)


def values(of: str, states: Iterable[str]) -> list[tuple[str, ...]]:
    names = list(states)
    sizes = {"one": (0, 1), "fact": (1,)}.get(of, range(len(names) + 1))
    return [some for size in sizes for some in itertools.combinations(names, size)]


Situation = dict[str, tuple[str, ...]]
"""By column, the states in which its machines rest, or the truth of the fact."""


def decider(columns: Columns, rows: list[Cells], situation: Situation) -> int | None:
    """The place of the first row that holds."""
    for place, cells in enumerate(rows):
        if all(agrees(columns[name][0], text, situation[name]) for name, text in cells.items()):
            return place
    return None


def shown(what: str) -> Situation:
    """The situation that a problem shows: `there is no identity, stream in {complete, open}, late is yes`."""
    found: Situation = dict.fromkeys(re.findall(r"there is no (\w+)", what), ())
    found |= {name: tuple(states.split(", ")) for name, states in re.findall(r"(\w+) in \{([^}]+)\}", what)}
    return found | {name: (word,) for name, word in re.findall(r"(\w+) is (\w+)", what)}


@given(joins())
@settings(max_examples=80, deadline=None)
def test_a_join_is_told_exactly_where_a_situation_has_no_row_or_a_row_no_situation(
    tried: tuple[Columns, list[Cells]],
) -> None:
    columns, rows = tried
    page = Page("joins.toml", text_of_join(columns, rows))
    _, (join,) = read_joins(page, {table.machine: table for table in SPEC.tables})
    assert page.problems == []

    check_join(join, SPEC, page)

    note("\n".join(map(str, page.problems)))
    idle = {problem.where for problem in page.problems if problem.what.startswith("never decides")}
    gaps = [problem.what for problem in page.problems if problem.what.startswith("has no row where")]
    deciding = {
        decider(columns, rows, dict(zip(columns, found, strict=True)))
        for found in itertools.product(*(values(of, states) for of, states in columns.values()))
    }
    assert idle == {f"X{place}" for place in range(len(rows)) if place not in deciding}
    assert len(gaps) == (None in deciding), "the first is enough"
    assert len(page.problems) == len(idle) + len(gaps)
    assert all(decider(columns, rows, shown(gap)) is None for gap in gaps), "no row takes what is shown"
