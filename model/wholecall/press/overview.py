"""Draws the whole specification: article 1's path down the machines, and beside it what they tell each other.

On the left the path goes on from step to step. On the right a join reads what became of a step, where the
line begins, and tells it to other machines; so each way to a refusal can be followed to the outcome.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil

from wholecall.press import sheet, steps
from wholecall.press.ink import DIM, INK, LINE, NAME, PAPER, PENS, SHADE, SMALL, TELLS, Pen, width_of
from wholecall.press.lanes import Bus, Path, outward, returning
from wholecall.press.sheet import INSET, Box, cell, font
from wholecall.press.steps import EDGES, GAP, HEAD, JOIN_WIDTH, MOVES, WIDTH, Given, Joint, Machine, Step
from wholecall_spec.join import NOTHING, JoinRow
from wholecall_spec.spec import Spec
from wholecall_spec.table import Row

ABOUT = "Fragments become whole calls, whole calls a checked batch, and an allowed batch runs once."
"""What the path leads to."""

_LANE, _PATH = 9, 16
_BOLD = 2.2
"""The width of the lines of the path."""


@dataclass(frozen=True, slots=True)
class _Tie:
    """The lines between one join and some machines."""

    join: str
    machines: tuple[str, ...]
    pen: Pen
    tooltip: str
    bus: Bus


def overview_dot(spec: Spec) -> str:
    """The text of `diagrams/overview.dot`: every machine, every join, and the path of a call through them."""
    machines = steps.machines_of(spec)
    joints = steps.joints_of(spec, machines)
    ties = [*_read(spec, machines, joints), *_told(machines, joints)]
    paths, left = outward(dict(enumerate(tie.bus for tie in ties)), WIDTH, _LANE)
    first, *_, last = machines.values()
    parts = [sheet.opening("overview", f"{len(machines)} machines and {len(joints)} joins", ABOUT)]
    parts += [_machine(machine, machine is last) for machine in machines.values()]
    parts += [_joint(joint, left) for joint in joints]
    parts.append(sheet.beginning(first.table.machine, first.box, "a fragment arrives"))
    parts += _path(list(machines.values()))
    parts += [line for number, tie in enumerate(ties) for line in _lines(tie, paths[number])]
    bottom = max(last.box.bottom, joints[-1].box.bottom)
    samples = [*((pen, str(kind)) for kind, pen in PENS.items()), (TELLS, "what a join tells")]
    parts.append(sheet.legend((left + JOIN_WIDTH) / 2, bottom, [sheet.sample(*sample) for sample in samples]))
    return "\n".join([*parts, "}\n"])


def _read(spec: Spec, machines: Mapping[str, Machine], joints: list[Joint]) -> list[_Tie]:
    """What each join reads: from the steps it asks about to what it gives of that kind."""
    ties = []
    for joint in joints:
        for kind in MOVES:
            asked = [c.machine for c in joint.join.reads if kind in steps.asked(spec, joint.join, c.machine)]
            if asked:
                starts = tuple(machines[name].step(kind).box.middle for name in asked)
                given = joint.part(kind)
                whys = "\n".join(row.why for rows in given.rows.values() for row in rows)
                bus = Bus(given.box.middle, starts)
                ties.append(_Tie(joint.join.name, tuple(asked), PENS[kind], whys, bus))
    return ties


def _told(machines: Mapping[str, Machine], joints: list[Joint]) -> list[_Tie]:
    """What each join tells: from its heading to those of the machines, each join at a height of its own."""
    ties = []
    for joint in joints:
        hearers = tuple(name for name in joint.join.to if name in machines)
        heights = []
        for name in hearers:
            voices = [other.join.name for other in joints if name in other.join.to]
            ear = HEAD if len(voices) == 1 else machines[name].ear
            share = (voices.index(joint.join.name) + 1) / (len(voices) + 1)
            heights.append(machines[name].box.top + ear * share)
        if hearers:
            bus = Bus(joint.box.top + HEAD / 2, tuple(heights))
            ties.append(_Tie(joint.join.name, hearers, TELLS, joint.join.about, bus))
    return ties


def _lines(tie: _Tie, paths: list[Path]) -> list[str]:
    lines = []
    for machine, path in zip(tie.machines, paths, strict=True):
        if tie.pen is TELLS:
            pos = path.backwards().spline(arrow=True)
            lines.append(sheet.edge(tie.join, machine, tie.pen, pos=pos, tooltip=tie.tooltip))
        else:
            joins = {} if path.whole else {"arrowhead": "none"}
            pos = path.spline(path.whole)
            lines.append(sheet.edge(machine, tie.join, tie.pen, pos=pos, tooltip=tie.tooltip, **joins))
    return lines


def _path(machines: list[Machine]) -> list[str]:
    """The path: from each step that goes on to the next machine."""
    buses = {}
    for machine, after in pairwise(machines):
        going = [step for step in machine.steps if step.kind != "refused"]
        for place, step in enumerate(going, 1):
            ear = HEAD if len(going) == 1 else after.ear
            entry = after.box.top + ear * place / (len(going) + 1)
            buses[machine.table.machine, after.table.machine, step] = Bus(entry, (step.box.middle,))
    paths, _ = returning(buses, 0.0, _PATH, _LANE)
    return [
        sheet.edge(
            machine,
            after,
            replace(PENS[step.kind], width=_BOLD),
            pos=path.spline(arrow=True),
            tooltip=step.words,
            **{"class": step.kind},
        )
        for (machine, after, step), [path] in paths.items()
    ]


def _machine(machine: Machine, last: bool) -> str:
    table = machine.table
    name, scope = font(table.machine, NAME, bold=True), font(f" {table.scope}", SMALL, DIM)
    rows = [cell(f" {name} {scope}", bgcolor=SHADE, width=WIDTH - 2, height=HEAD)]
    rows += [cell(f" {font(line, SMALL)}", height=steps.LINE) for line in machine.about]
    rows += [row for step in machine.steps for row in (cell(height=GAP), cell(_step(step, last)))]
    return _node(table.machine, table.about, machine.box, LINE, rows)


def _step(step: Step, last: bool) -> str:
    pen = PENS[step.kind]
    room = WIDTH - EDGES
    ends = f" {font(step.ends, SMALL, DIM if step.kind == 'kept' else pen.color)}"
    taken = 0 if step.wide else ceil(width_of(step.ends, SMALL)) + 4
    tip = f"{len(step.rows)} rows: {_ids(step.rows)}"
    words = cell(width=INSET, height=steps.ROW) + cell(f" {font(step.words)}", title=tip, width=room - taken)
    beside = cell(ends, width=taken, align="RIGHT")
    below = cell(height=steps.LINE) + cell(ends, width=room, align="RIGHT") + cell()
    rows = [words + cell(width=INSET), below] if step.wide else [words + beside + cell(width=INSET)]
    return sheet.table(rows, **sheet.grouped(pen, "R" if last or step.kind == "refused" else "L"))


def _joint(joint: Joint, left: float) -> str:
    join = joint.join
    to = join.to[0] if len(join.to) == 1 else f"{len(join.to)} machines"
    words = f" {font(join.name, NAME, TELLS.color, bold=True)} {font(f' tells {to}', SMALL, DIM)}"
    rows = [cell(words, bgcolor=TELLS.fill, width=JOIN_WIDTH - 2, height=HEAD)]
    rows += [row for given in joint.given for row in (cell(height=GAP), cell(_given(given)))]
    return _node(join.name, join.about, replace(joint.box, left=left), TELLS.color, rows)


def _given(given: Given) -> str:
    taken = sheet.room(*(_ids(found) for found in given.rows.values()), size=SMALL) + 2
    rows = [
        cell(width=INSET, height=steps.LINE)
        + cell(
            f" {font(name, SMALL, DIM if name == NOTHING else INK)}",
            title="\n".join(row.why for row in found),
            width=JOIN_WIDTH - EDGES - taken,
        )
        + cell(f" {font(_ids(found), SMALL, DIM)}", width=taken, align="RIGHT")
        + cell(width=INSET)
        for name, found in given.rows.items()
    ]
    return sheet.table(rows, **sheet.grouped(PENS[given.kind], "L"))


def _ids(rows: Iterable[Row | JoinRow]) -> str:
    return " ".join(row.id for row in rows)


def _node(name: str, about: str, box: Box, color: str, rows: list[str]) -> str:
    drawn = {"color": color, "fillcolor": PAPER, "labelloc": "t", "tooltip": f"{name}: {about}"}
    return sheet.statement(sheet.string(name), **sheet.place(box), **drawn, label=sheet.label(rows))
