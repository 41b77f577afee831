"""What the checker claims of a table is what trying everything finds: no more and no less."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import given, note, settings
from hypothesis import strategies as st

from wholecall_spec.check import check_table
from wholecall_spec.load import load, packaged, read_table
from wholecall_spec.page import Page, Problem
from wholecall_spec.table import Table

SPEC = load()
FAULTS = [fault.name for fault in SPEC.faults]
GUARDS = ("g", "h", "k")

Literals = tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class Line:
    """A row of a random table."""

    state: str
    input: str
    when: Literals
    next: str

    def holds(self, state: str, input: str, truths: dict[str, bool]) -> bool:
        here = (self.state, self.input) == (state, input)
        return here and all(truths[name] is wanted for name, wanted in self.when)


@dataclass(frozen=True)
class Sketch:
    """A random table: the states see all inputs, or those listed."""

    sees: dict[str, tuple[str, ...]]
    inputs: tuple[str, ...]
    rows: tuple[Line, ...]

    def text(self) -> str:
        whens = [" & ".join(name if truth else f"!{name}" for name, truth in row.when) for row in self.rows]
        states = [
            f"{state} = {{ about = 'a'{f', sees = {list(seen)}' if seen != self.inputs else ''} }}"
            for state, seen in self.sees.items()
        ]
        rows = [
            f"  {{ id = 'X{place}', state = '{row.state}', input = '{row.input}', when = '{when}',"
            f" next = '{row.next}', fault = 'f', why = 'w', source = 's' }},"
            for place, (row, when) in enumerate(zip(self.rows, whens, strict=True))
        ]
        return "\n".join(
            [
                *("machine = 'name'", "scope = 's'", "about = 'a'", "initial = 'a'"),
                *("[states]", *states, "[finals]", "good = { about = 'g', good = true }", "bad = 'b'"),
                *("[inputs]", *(f"{input} = 'i'" for input in self.inputs)),
                *("[guards]", *(f"{guard} = 'g'" for guard in GUARDS)),
                *("[transitions]", "rows = [", *rows, "]"),
            ]
        )


@st.composite
def sketches(draw: st.DrawFn) -> Sketch:
    """Tables of one to three states and inputs, whose cells are whole, split, sketchy or bare."""
    states, inputs = ("a", "b", "c")[: draw(st.integers(1, 3))], ("x", "y", "z")[: draw(st.integers(1, 3))]
    some_inputs = st.lists(st.sampled_from(inputs), min_size=1, unique=True).map(lambda i: tuple(sorted(i)))
    sees = {state: draw(st.just(inputs) | some_inputs) for state in states}
    random_when: st.SearchStrategy[Literals] = st.dictionaries(
        st.sampled_from(GUARDS), st.booleans(), max_size=3
    ).map(lambda literals: tuple(literals.items()))
    whole: list[list[Literals]] = [
        [()],
        [(("g", True),), (("g", False),)],
        [(("h", True), ("g", True)), (("g", False),), (("g", True), ("h", False))],
    ]
    a_cell = st.sampled_from(whole) | st.lists(random_when, max_size=3)
    nexts = st.sampled_from((*states, "good", "bad"))
    rows = [
        Line(state, input, when, draw(nexts))
        for state in states
        for input in sees[state]
        for when in draw(a_cell)
    ]
    some_row = Line(states[0], sees[states[0]][0], (), "good")
    return Sketch(sees, inputs, tuple(draw(st.permutations(rows))) or (some_row,))


def assignments() -> Iterator[dict[str, bool]]:
    for truths in itertools.product((True, False), repeat=len(GUARDS)):
        yield dict(zip(GUARDS, truths, strict=True))


def judged(sketch: Sketch) -> list[Problem]:
    page = Page("name.toml", sketch.text())
    table = read_table(page, "name")
    assert page.problems == []
    assert table is not None
    check_table(table, page, [])
    for problem in page.problems:
        note(str(problem))
        named = page.text.split("\n")[problem.line - 1]
        assert re.search(rf"\b{problem.where}\b", named), "the line is that of what is wrong"
    return page.problems


def truths_of(text: str) -> dict[str, bool]:
    """The truths that a problem shows: `where g & !h`."""
    found = re.search(r" where ([\w!& ]+)", text)
    return {word.lstrip("!"): word[0] != "!" for word in found[1].split(" & ")} if found else {}


@given(sketches())
@settings(max_examples=50, deadline=None)
def test_two_rows_are_told_exactly_where_some_truth_of_the_guards_lets_both_hold(sketch: Sketch) -> None:
    told = [
        (int(found[1]), int(problem.where[1:]), truths_of(problem.what))
        for problem in judged(sketch)
        if (found := re.match(r"holds together with X(\d+)", problem.what))
    ]

    overlapping = {
        (first, second)
        for (first, one), (second, other) in itertools.combinations(enumerate(sketch.rows), 2)
        if any(
            one.holds(one.state, one.input, truths) and other.holds(one.state, one.input, truths)
            for truths in assignments()
        )
    }
    assert sorted((first, second) for first, second, _ in told) == sorted(overlapping)
    for first, second, shown in told:
        one, other = sketch.rows[first], sketch.rows[second]
        assert shown == dict(one.when) | dict(other.when), "the truth that is shown lets both hold"


def bare_cells(sketch: Sketch) -> set[tuple[str, str]]:
    """The cells in which some truth of the guards has no row."""
    return {
        (state, input)
        for state, seen in sketch.sees.items()
        for input in seen
        if any(not any(row.holds(state, input, truths) for row in sketch.rows) for truths in assignments())
    }


@given(sketches())
@settings(max_examples=50, deadline=None)
def test_a_cell_is_told_exactly_where_some_truth_of_the_guards_has_no_row(sketch: Sketch) -> None:
    told = []
    for problem in judged(sketch):
        if found := re.match(r"has no row for (.+)", problem.what):
            told += [(problem.where, input) for input in found[1].split(", ")]
        elif found := re.match(r"is an input that no row sees \((.+) would need one\)", problem.what):
            told += [(state, problem.where) for state in found[1].split(", ")]
        elif found := re.match(r"(\w) on (\w) has no row", problem.what):
            told.append((found[1], found[2]))
            full = dict.fromkeys(GUARDS, True) | truths_of(problem.what)
            assert not any(row.holds(found[1], found[2], full) for row in sketch.rows)

    assert sorted(told) == sorted(bare_cells(sketch)), "each once"


@given(sketches())
@settings(max_examples=50, deadline=None)
def test_a_state_is_told_exactly_where_no_filling_of_the_gaps_mends_its_paths(sketch: Sketch) -> None:
    problems = judged(sketch)

    states = (*sketch.sees, "good", "bad")
    edges = {(row.state, row.next) for row in sketch.rows}
    edges |= {(state, anywhere) for state, _ in bare_cells(sketch) for anywhere in states}
    reached, ending = {"a"}, {"good", "bad"}
    for _ in states:
        reached |= {end for start, end in edges if start in reached}
        ending |= {start for start, end in edges if end in ending}
    assert {p.where for p in problems if p.what.startswith("cannot be reached")} == set(states) - reached
    assert {p.where for p in problems if p.what.startswith("has no way")} == set(states) - ending


@given(sketches())
@settings(max_examples=20, deadline=None)
def test_an_input_is_told_exactly_where_no_row_sees_it(sketch: Sketch) -> None:
    told = {p.where for p in judged(sketch) if p.what.startswith("is an input that no row sees")}

    assert told == set(sketch.inputs) - {row.input for row in sketch.rows}


REAL = {
    table.machine: (packaged() / f"{table.machine}.toml").read_text(encoding="utf-8") for table in SPEC.tables
}


def problems_of(machine: str, text: str) -> list[Problem]:
    page = Page(f"{machine}.toml", text)
    table = read_table(page, machine)
    assert table is not None
    check_table(table, page, FAULTS)
    return page.problems


def rows_of(text: str) -> list[tuple[int, str]]:
    return [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.startswith("  { id = ")]


@st.composite
def real_rows(draw: st.DrawFn) -> tuple[Table, int, str]:
    table = draw(st.sampled_from(SPEC.tables))
    return table, *draw(st.sampled_from(rows_of(REAL[table.machine])))


def with_line(text: str, number: int, *lines: str) -> str:
    before = text.split("\n")
    return "\n".join([*before[: number - 1], *lines, *before[number:]])


@given(real_rows(), st.data())
@settings(max_examples=50, deadline=None)
def test_any_one_word_misspelt_in_any_row_is_told_once_and_mended(
    found: tuple[Table, int, str], data: st.DataObject
) -> None:
    table, number, line = found
    words = re.findall(r'(state|input|when|next|effect|fault)( = "!?)(\w[\w.]+)', line)
    column, sign, word = data.draw(st.sampled_from(words))
    mistaken = line.replace(f"{column}{sign}{word}", f"{column}{sign}{word[:-1]}{word[-1]}q", 1)

    (problem,) = problems_of(table.machine, with_line(REAL[table.machine], number, mistaken))

    assert problem.line == number
    kind = {"next": "state", "when": "guard"}.get(column, column)
    assert problem.what == f"unknown {kind} {word}q (did you mean {word}?)"


@given(real_rows())
@settings(max_examples=30, deadline=None)
def test_any_one_row_left_out_is_told_once(found: tuple[Table, int, str]) -> None:
    table, number, line = found
    state, input = (re.findall(rf'{column} = "(\w+)"', line)[0] for column in ("state", "input"))

    (problem,) = problems_of(table.machine, with_line(REAL[table.machine], number))

    assert state in str(problem)
    assert input in str(problem)


@given(real_rows())
@settings(max_examples=30, deadline=None)
def test_any_one_row_said_twice_is_told_once_at_the_later(found: tuple[Table, int, str]) -> None:
    table, number, line = found
    later = re.sub(r'id = "\w+"', 'id = "X01"', line)

    (problem,) = problems_of(table.machine, with_line(REAL[table.machine], number, line, later))

    assert (problem.line, problem.where) == (number + 1, "X01")
    assert problem.what.startswith(f"holds together with {line.split(chr(34))[1]}")
