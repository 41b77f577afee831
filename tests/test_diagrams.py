"""The pictures show what the tables say: the dot of each is read back and compared with them."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from dataclasses import replace
from html import unescape
from typing import NamedTuple

import pytest

from wholecall.press.dot import machine_dot
from wholecall.press.ink import PENS, TELLS, kind_of, wrap
from wholecall.press.overview import overview_dot
from wholecall.press.steps import BRANCH, STEPS
from wholecall_spec.join import Column, Join, JoinRow
from wholecall_spec.load import load
from wholecall_spec.spec import Spec
from wholecall_spec.table import Row, Table

SPEC = load()
TABLES = pytest.mark.parametrize("table", SPEC.tables, ids=lambda table: table.machine)
DRAWN = {table.machine: machine_dot(table) for table in SPEC.tables} | {"overview": overview_dot(SPEC)}
PICTURES = pytest.mark.parametrize("text", DRAWN.values(), ids=DRAWN)

POINT = 72.0


# -- Reading dot back


class Thing(NamedTuple):
    """A node, or an edge where it has a head, with its attributes."""

    name: str
    head: str | None
    said: dict[str, str]
    text: str

    @property
    def corners(self) -> tuple[float, float, float, float]:
        """Left, lower, right and upper side of a node, less what rounding may add."""
        x, y = map(float, self.said["pos"].split(","))
        width, height = float(self.said["width"]) * POINT, float(self.said["height"]) * POINT
        return x - width / 2 + 0.1, y - height / 2 + 0.1, x + width / 2 - 0.1, y + height / 2 - 0.1

    @property
    def points(self) -> list[tuple[float, float]]:
        """The points that steer the line of an edge."""
        pairs = (pair.split(",") for pair in self.said["pos"].removeprefix("e,").split())
        return [(float(x), float(y)) for x, y in pairs]


def read(text: str) -> list[Thing]:
    things = re.findall(
        r'^  "([^"\n]+)"(?: -> "([^"\n]+)")? \[\n(.*?)\n  \];$', text, re.DOTALL | re.MULTILINE
    )
    return [
        Thing(name, head or None, dict(re.findall(r'^    (\w+)="(.*)"$', body, re.MULTILINE)), body)
        for name, head, body in things
    ]


def nodes(text: str) -> dict[str, Thing]:
    """The nodes that stand for something; how a picture begins and is read stands in brackets."""
    return {thing.name: thing for thing in read(text) if not thing.head and thing.name[0] != "("}


def edges(text: str) -> list[Thing]:
    return [thing for thing in read(text) if thing.head and thing.name[0] != "("]


def words(label: str) -> list[str]:
    """The lines that a reader sees in a label."""
    rows = re.findall(r"^ *(?:label=<<TABLE.*?>)?<TR>(.*)</TR>", label, re.MULTILINE)
    return [" ".join(unescape(re.sub(r"<[^>]+>", " ", row)).split()) for row in rows]


# -- Machines


@TABLES
def test_each_row_stands_once_and_in_the_edge_of_its_state_and_next(table: Table) -> None:
    drawn = DRAWN[table.machine]

    for row in table.rows:
        assert len(re.findall(rf"\b{row.id}\b", drawn)) == 1
        (edge,) = (edge for edge in edges(drawn) if re.search(rf"\b{row.id}\b", edge.text))

        assert (edge.name, edge.head, edge.said["class"]) == (row.state, row.next, kind_of(row))
        guard, effect = f" [{row.when}]" if row.when else "", f" -> {row.effect}" if row.effect else ""
        said = f"{row.input}{guard}{effect} {row.fault} {row.id}"
        assert " ".join(said.split()) in words(edge.text)


@TABLES
def test_nothing_else_is_drawn(table: Table) -> None:
    ways = {(row.state, row.next, kind_of(row)) for row in table.rows}

    drawn = [(edge.name, edge.head, edge.said["class"]) for edge in edges(DRAWN[table.machine])]

    assert sorted(drawn) == sorted(ways)
    assert sorted(nodes(DRAWN[table.machine])) == sorted(state.name for state in table.states)


@TABLES
def test_every_state_says_what_it_means_and_ends_are_seen(table: Table) -> None:
    found = nodes(DRAWN[table.machine])

    for state in table.states:
        said = " ".join(words(found[state.name].text))
        assert said == f"{state.name} {state.about}"
        assert (found[state.name].said.get("peripheries") == "2") is state.good
        fill = PENS["accepted" if state.good else "refused"].fill
        assert (found[state.name].said["fillcolor"] == fill) is state.final
    assert f'"(start)" -> "{table.initial}"' in DRAWN[table.machine]


@TABLES
def test_the_tooltip_of_an_edge_says_why(table: Table) -> None:
    for edge in edges(DRAWN[table.machine]):
        rows = [
            r
            for r in table.rows
            if (r.state, r.next, kind_of(r)) == (edge.name, edge.head, edge.said["class"])
        ]

        assert [line.partition(": ")[2] for line in edge.said["tooltip"].split("\\n")] == [
            r.why for r in rows
        ]


@PICTURES
def test_kinds_differ_by_colour_and_by_line(text: str) -> None:
    for first, second in itertools.combinations(PENS.values(), 2):
        assert first.color != second.color
        assert first.style != second.style
    for edge in edges(text):
        allowed = [pen for kind, pen in PENS.items() if edge.said.get("class", kind) == kind]
        assert (edge.said["color"], edge.said["style"]) in [
            (pen.color, pen.style) for pen in (*allowed, TELLS)
        ]
    assert all(kind in text[text.index('"(legend)"') :] for kind in PENS)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"fault": "x.y"}, "refused"),
        ({"fault": "x.y", "effect": "act", "next": "other"}, "refused"),
        ({}, "kept"),
        ({"effect": "act"}, "accepted"),
        ({"next": "other"}, "accepted"),
    ],
)
def test_a_row_is_refused_by_its_fault_and_kept_where_nothing_changes(
    change: dict[str, str], kind: str
) -> None:
    row = Row(**{**dict.fromkeys(("id", "state", "input", "next", "why", "source"), "same"), **change})

    assert kind_of(row) == kind


# -- The overview


def test_every_machine_and_every_join_is_in_the_overview() -> None:
    found = nodes(DRAWN["overview"])

    assert sorted(found) == sorted([*(t.machine for t in SPEC.tables), *(j.name for j in SPEC.joins)])
    for table in SPEC.tables:
        said = " ".join(words(found[table.machine].text))
        assert all(part in said for part in (table.scope, table.about, *(end.name for end in table.finals)))
    for join in SPEC.joins:
        said = " ".join(words(found[join.name].text))
        assert all(re.search(rf"\b{part}\b", said) for row in join.rows for part in (row.id, row.gives))


def ties(text: str, joins: tuple[Join, ...]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Who is read by which join, and which join tells whom, as drawn."""
    names = {join.name for join in joins}
    pairs = [(edge.name, edge.head or "") for edge in edges(text)]
    return {p for p in pairs if p[1] in names}, {p for p in pairs if p[0] in names}


def spoken(spec: Spec) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The same, as the specification says it."""
    machines = {table.machine for table in spec.tables}
    reads = {(column.machine, join.name) for join in spec.joins for column in join.reads}
    return reads, {(join.name, to) for join in spec.joins for to in join.to if to in machines}


def test_joins_are_tied_to_the_machines_they_read_and_tell() -> None:
    assert ties(DRAWN["overview"], SPEC.joins) == spoken(SPEC)


def test_a_join_added_to_the_specification_shows_up() -> None:
    """Also one that asks only of what has not happened, and one that gives nothing but `nothing`."""
    rows = (JoinRow("J98", (("name", "!rejected"),), "cancel", "why", "design"),)
    added = Join("early", "about", ("turn", "operation"), (Column("name", "one", ("named",)),), (), rows)
    mute = replace(added, name="mute", rows=(replace(rows[0], id="J99", gives="nothing"),))
    spec = replace(SPEC, joins=(*SPEC.joins, added, mute))

    text = overview_dot(spec)

    assert ties(text, spec.joins) == spoken(spec)
    assert "cancel J98" in words(nodes(text)["early"].text)


def test_the_path_runs_through_every_machine_and_the_refusals_go_to_joins() -> None:
    path = [(edge.name, edge.head) for edge in edges(DRAWN["overview"]) if "class" in edge.said]
    refused = {(e.name, e.head) for e in edges(DRAWN["overview"]) if e.said["color"] == PENS["refused"].color}

    assert list(dict.fromkeys(path)) == list(itertools.pairwise(table.machine for table in SPEC.tables))
    assert path.count(("identity", "name")) == 2, "keep the identity, or go on to the original check"
    assert {("identity", "field_refusal"), ("proposal", "outcome")} <= refused, "both ways to a refusal"


def test_each_step_is_named_and_no_name_is_left_over() -> None:
    steps = set()
    for table in SPEC.tables:
        for row in table.rows:
            kept = kind_of(row) == "kept" and row.input != BRANCH.get(table.machine)
            steps.add((table.machine, "accepted" if kept else kind_of(row)))

    assert set(STEPS) == steps
    for words_ in STEPS.values():
        assert words_ in DRAWN["overview"].replace("&#x27;", "'")


def test_a_step_without_a_name_is_called_by_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(STEPS, ("operation", "refused"))

    assert words(nodes(overview_dot(SPEC))["operation"].text)[-1].startswith("refused failed")


# -- What makes them good to read


@PICTURES
def test_the_text_is_ascii_and_ends_as_a_file_does(text: str) -> None:
    assert text.isascii()
    assert text.endswith("}\n")
    assert re.search(r"[ \t]+$", text, re.MULTILINE) is None


def test_the_text_is_the_same_in_every_run() -> None:
    code = (
        "from wholecall_spec.load import load; from wholecall.press.dot import machine_dot;"
        "from wholecall.press.overview import overview_dot; s = load();"
        "print(*map(machine_dot, s.tables), overview_dot(s), sep='', end='')"
    )
    for seed in "12":
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
        assert ran.stdout.decode() == "".join(DRAWN.values())


@PICTURES
def test_no_box_covers_another_and_no_line_runs_through_a_box(text: str) -> None:
    boxes = [node.corners for node in nodes(text).values()]

    for (left, low, right, high), (left_, low_, right_, high_) in itertools.combinations(boxes, 2):
        assert right <= left_ or right_ <= left or high <= low_ or high_ <= low
    for edge in edges(text):
        for x, y in edge.points:
            inside = (left < x < right and low < y < high for left, low, right, high in boxes)
            assert not any(inside)


@PICTURES
def test_a_page_of_a_repository_shows_it_at_its_own_size(text: str) -> None:
    things = nodes(text).values()

    width = max(node.corners[2] for node in things) - min(
        (x for edge in edges(text) for x, _ in edge.points), default=0
    )

    assert width * 96 / 72 < 950
    assert min(map(float, re.findall(r'POINT-SIZE="([\d.]+)"', text))) >= 9


def test_lines_are_as_few_as_fit_and_of_about_one_length() -> None:
    assert wrap("one two three four", 1000) == ["one two three four"]
    assert wrap("aaa bbb ccc ddd", 60) == ["aaa bbb", "ccc ddd"]
    assert wrap("unbreakable", 1) == ["unbreakable"]
