"""What the overview shows, and where: article 1's path as steps down the machines, and the joins beside it.

Machines, joins, ends, rows and the ways to a refusal are those of the tables. Written here is only what a
step is called, and which kept rows are a step of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wholecall.press.ink import SMALL, Kind, kind_of, width_of, wrap
from wholecall.press.lanes import spread
from wholecall.press.sheet import BAR, INSET, Box
from wholecall_spec.join import NOTHING, Join, JoinRow
from wholecall_spec.spec import Spec
from wholecall_spec.table import Row, Table

STEPS: Mapping[tuple[str, Kind], str] = {
    ("routing", "accepted"): "locate the index in this response",
    ("routing", "refused"): "refuse a fragment that names no call",
    ("identity", "kept"): "null after an id: keep the identity",
    ("identity", "accepted"): "else go on to the original check",
    ("identity", "refused"): "refuse an illegal identity",
    ("name", "accepted"): "accumulate the name",
    ("name", "refused"): "refuse an illegal name",
    ("arguments", "accepted"): "accumulate the arguments",
    ("arguments", "refused"): "refuse illegal arguments",
    ("stream", "accepted"): "wait for a proper end",
    ("stream", "refused"): "refuse any other end",
    ("proposal", "accepted"): "check the whole proposal",
    ("proposal", "refused"): "refuse an illegal proposal",
    ("turn", "accepted"): "then the host's authorization",
    ("turn", "refused"): "without it, nothing runs",
    ("operation", "accepted"): "run each call once",
    ("operation", "refused"): "never guess an unknown effect",
}
"""What each step is called; where article 1 draws it (section three), in its words."""

BRANCH: Mapping[str, str] = {"identity": "null"}
"""The input whose kept rows are a step of their own; elsewhere what is kept goes on with what is accepted."""

MOVES: tuple[Kind, ...] = ("accepted", "refused")

WIDTH, JOIN_WIDTH = 262, 190
HEAD, LINE, ROW, GAP = 19, 12, 14, 2
EDGES = 2 * (1 + BAR + INSET)
"""What the outline, the bars and the insets take of a width."""

_APART, _JOINS_APART = 18, 12


@dataclass(frozen=True, slots=True)
class Step:
    """Rows of one machine that are one step of the path, how they may end, and where the step stands."""

    words: str
    kind: Kind
    rows: tuple[Row, ...]
    ends: str
    top: float

    @property
    def wide(self) -> bool:
        """The ends need a line of their own."""
        return width_of(self.words) + width_of(self.ends, SMALL) + EDGES + 8 > WIDTH

    @property
    def box(self) -> Box:
        """Where the step stands."""
        return Box(0, self.top, WIDTH, 2 * BAR + ROW + (LINE if self.wide else 0))


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine, its question in lines, its steps, and where it stands."""

    table: Table
    about: tuple[str, ...]
    steps: tuple[Step, ...]
    box: Box

    @property
    def ear(self) -> float:
        """How far from its top down several lines may enter: to the end of its question."""
        return HEAD + LINE * len(self.about)

    def step(self, kind: Kind) -> Step:
        """The step of this kind; the last where there is none."""
        return next((step for step in self.steps if step.kind == kind), self.steps[-1])


@dataclass(frozen=True, slots=True)
class Given:
    """What a join gives that its hearers take in one way, the rows that give it, and where it stands."""

    kind: Kind
    rows: Mapping[str, tuple[JoinRow, ...]]
    box: Box


@dataclass(frozen=True, slots=True)
class Joint:
    """A join, what it gives, and where it stands."""

    join: Join
    given: tuple[Given, ...]
    box: Box

    def part(self, kind: Kind) -> Given:
        """What is given in this way; the first where there is none."""
        return next((part for part in self.given if part.kind == kind), self.given[0])


def machines_of(spec: Spec) -> dict[str, Machine]:
    """Every machine with its steps, one below the other."""
    machines: dict[str, Machine] = {}
    top = 0.0
    for table in spec.tables:
        about = tuple(wrap(table.about, WIDTH - 14))
        y = top + HEAD + LINE * len(about) + GAP
        steps: list[Step] = []
        for kind in ("kept", *MOVES):
            rows = tuple(row for row in table.rows if _kind_of(table, row) == kind)
            if rows:
                ends = [end.name for end in table.finals if kind == ("accepted" if end.good else "refused")]
                words = STEPS.get((table.machine, kind), kind)
                steps.append(Step(words, kind, rows, " ".join(ends or (row.id for row in rows)), y))
                y = steps[-1].box.bottom + GAP
        machines[table.machine] = Machine(table, about, tuple(steps), Box(0, top, WIDTH, y - top))
        top = y + _APART
    return machines


def joints_of(spec: Spec, machines: Mapping[str, Machine]) -> list[Joint]:
    """Every join from top to bottom, each near the machines that it ties together."""
    wanted: dict[str, float] = {}
    for join in spec.joins:
        tied = [*(column.machine for column in join.reads), *(name for name in join.to if name in machines)]
        wanted[join.name] = sum(machines[name].box.middle for name in tied) / len(tied)
    order = sorted(spec.joins, key=lambda join: wanted[join.name])
    flat = [_place(spec, join, 0) for join in order]
    tops = spread(
        [wanted[join.name] for join in order], [1.0] * len(order), [j.box.height for j in flat], _JOINS_APART
    )
    return [_place(spec, join, top) for join, top in zip(order, tops, strict=True)]


def asked(spec: Spec, join: Join, machine: str) -> list[Kind]:
    """Whether the join asks of this machine that it moved on, that it was refused, or both."""
    bad = {end.name for end in spec.table(machine).finals if not end.good}
    states: set[str] = set()
    for row in join.rows:
        text = dict(row.cells).get(machine, "!")
        if row.gives != NOTHING and not text.startswith("!"):
            states |= set(text.split()) - {"some", "all", "none"}
    found = {"accepted": states - bad, "refused": states & bad}
    return [kind for kind in MOVES if found[kind]] or ["accepted"]


def _kind_of(table: Table, row: Row) -> Kind:
    kind = kind_of(row)
    return "accepted" if kind == "kept" and row.input != BRANCH.get(table.machine) else kind


def _place(spec: Spec, join: Join, top: float) -> Joint:
    ways: dict[Kind, dict[str, tuple[JoinRow, ...]]] = {kind: {} for kind in (*MOVES, "kept")}
    for row in join.rows:
        rows = ways[_taken(spec, join, row)]
        rows[row.gives] = (*rows.get(row.gives, ()), row)
    y = top + HEAD + GAP
    given = []
    for kind, rows in ways.items():
        if rows:
            given.append(Given(kind, rows, Box(0, y, JOIN_WIDTH, 2 * BAR + LINE * len(rows))))
            y = given[-1].box.bottom + GAP
    return Joint(join, tuple(given), Box(0, top, JOIN_WIDTH, y - top))


def _taken(spec: Spec, join: Join, row: JoinRow) -> Kind:
    """How a join's row is taken: what every hearer refuses is a refusal, and so is the name of a bad end."""
    if row.gives == NOTHING:
        return "kept"
    heard = [
        r for table in spec.tables if table.machine in join.to for r in table.rows if r.input == row.gives
    ]
    bad = {end.name for column in join.reads for end in spec.table(column.machine).finals if not end.good}
    refused = all(r.fault for r in heard) if heard else row.gives in bad
    return "refused" if refused else "accepted"
