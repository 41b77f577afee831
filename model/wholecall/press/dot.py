"""Draws one machine: its states in file order, in each the rows that lead the same way, and its ends beside.

A drawn edge is all rows of one state that lead to one next in one way. Its label lists them, a line a row:
input, guard and effect, the fault, the id. It stands within the state, where the line of the edge begins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from statistics import median_low

from wholecall.press import sheet
from wholecall.press.ink import (
    BODY,
    DIM,
    LINE,
    NAME,
    PAPER,
    PENS,
    SHADE,
    SMALL,
    Kind,
    kind_of,
    width_of,
    wrap,
)
from wholecall.press.lanes import ARROW, Bus, Path, outward, returning, spread
from wholecall.press.sheet import BAR, INSET, Box, cell, font
from wholecall_spec.table import Row, State, Table

ROW, HEAD, GAP = 14, 19, 2
"""The heights of a row and of a heading, and the space between groups."""

_STATES_APART, _ENDS_APART, _COLUMNS_APART, _STEP = 16, 7, 12, 11
_END_WIDTH, _LOOP = 150, 22

_Way = tuple[str, Kind]
"""Where rows lead, and in which way."""


@dataclass(frozen=True, slots=True)
class _Group:
    """The rows of one state that go one way, and the height of their middle."""

    state: str
    next: str
    kind: Kind
    rows: tuple[Row, ...]
    y: float


def machine_dot(table: Table) -> str:
    """The text of `diagrams/MACHINE.dot`: ASCII, each row once and on a line of its own."""
    width = _width(table)
    states, groups = _stack(table, width)
    ends = _ends(table, groups)
    far, right = outward(_into_ends(groups, ends), width, _STEP)
    near, left = returning(_into_states(groups, states), 0.0, _LOOP + 6, _STEP)
    waiting = {way: iter(paths) for way, paths in {**far, **near}.items()}
    parts = [sheet.opening(table.machine, table.scope, table.about)]
    parts += [_state(table.state(name), box) for name, box in states.items()]
    parts += [_end(table.state(name), replace(box, left=right)) for name, box in ends.items()]
    parts.append(sheet.beginning(table.initial, states[table.initial], f"begins as {table.initial}"))
    for group in groups:
        path = None if group.next == group.state else next(waiting[group.next, group.kind])
        parts.append(_edge(group, path, "R" if group.next in ends else "L", width))
    bottom = max(box.bottom for box in (*states.values(), *ends.values()))
    parts.append(sheet.legend((left + right + _END_WIDTH) / 2, bottom, _legend()))
    return "\n".join([*parts, "}\n"])


def _ways(table: Table, state: str) -> dict[_Way, tuple[Row, ...]]:
    """The rows of one state by way: those that stay first, then by next in the order of the file."""
    order = [state, *(other.name for other in table.states)]
    ways: dict[_Way, tuple[Row, ...]] = {}
    rows = (row for row in table.rows if row.state == state)
    for row in sorted(rows, key=lambda row: order.index(row.next)):
        way = (row.next, kind_of(row))
        ways[way] = (*ways.get(way, ()), row)
    return ways


def _guard(row: Row) -> str:
    return f" [{row.when}]" if row.when else ""


def _said(row: Row) -> str:
    return _guard(row) + (f" -> {row.effect}" if row.effect else "")


def _columns(rows: tuple[Row, ...]) -> tuple[int, int, int]:
    """What the three columns of a group take at least: what is said, the fault, the id."""
    said = max(width_of(row.input, bold=True) + width_of(_said(row)) for row in rows)
    return ceil(said), sheet.room(*(row.fault for row in rows)), sheet.room(*(row.id for row in rows))


def _width(table: Table) -> int:
    """The width of every state: of its widest group or heading."""
    groups = [rows for state in table.live for rows in _ways(table, state.name).values()]
    heads = [width_of(s.name, NAME, bold=True) + width_of(s.about, SMALL) for s in table.live]
    widest = max(*(sum(_columns(rows)) + _COLUMNS_APART for rows in groups), *map(ceil, heads))
    return widest + _COLUMNS_APART + 2 * (BAR + INSET) + 2


def _stack(table: Table, width: int) -> tuple[dict[str, Box], list[_Group]]:
    boxes: dict[str, Box] = {}
    groups: list[_Group] = []
    top = 0.0
    for state in table.live:
        y = top + HEAD + GAP
        for (next_, kind), rows in _ways(table, state.name).items():
            height = ROW * len(rows) + 2 * BAR
            groups.append(_Group(state.name, next_, kind, rows, y + height / 2))
            y += height + GAP
        boxes[state.name] = Box(0, top, width, y - top)
        top = y + _STATES_APART
    return boxes, groups


def _ends(table: Table, groups: list[_Group]) -> dict[str, Box]:
    """The final states from top to bottom, each beside a group that leads there where there is room."""
    ways = {end.name: [group.y for group in groups if group.next == end.name] for end in table.finals}
    order = sorted(table.finals, key=lambda end: median_low(ways[end.name]))
    wanted = [median_low(ways[end.name]) for end in order]
    weights = [1.0 if len(ways[end.name]) > 1 else 8.0 for end in order]
    heights = [(32.0 if end.good else 24.0) + 11 * len(_lines(end)) for end in order]
    tops = spread(wanted, weights, heights, _ENDS_APART)
    return {
        end.name: Box(0, top, _END_WIDTH, height)
        for end, top, height in zip(order, tops, heights, strict=True)
    }


def _lines(end: State) -> list[str]:
    return wrap(end.about, _END_WIDTH - 16)


def _into_ends(groups: list[_Group], ends: dict[str, Box]) -> dict[_Way, Bus]:
    """The lines to each final state; they enter it level with a group wherever one is beside it."""
    buses: dict[_Way, Bus] = {}
    for name, box in ends.items():
        for kind in PENS:
            starts = tuple(g.y for g in groups if (g.next, g.kind) == (name, kind))
            beside = [y for y in starts if abs(y - box.middle) < box.height / 2 - 4]
            if starts:
                entry = min(beside, key=lambda y: abs(y - box.middle), default=box.middle)
                buses[name, kind] = Bus(entry, starts)
    return buses


def _into_states(groups: list[_Group], states: dict[str, Box]) -> dict[_Way, Bus]:
    """The lines to each live state from others; they enter its heading, each kind for itself."""
    buses: dict[_Way, Bus] = {}
    for name, box in states.items():
        into = [group for group in groups if group.next == name != group.state]
        kinds = [kind for kind in PENS if any(group.kind == kind for group in into)]
        for place, kind in enumerate(kinds, 1):
            entry = box.top + HEAD * place / (len(kinds) + 1)
            buses[name, kind] = Bus(entry, tuple(group.y for group in into if group.kind == kind))
    return buses


def _state(state: State, box: Box) -> str:
    words = f" {font(state.name, NAME, bold=True)} {font(f' {state.about}', SMALL)}"
    head = cell(words, bgcolor=SHADE, width=ceil(box.width) - 2, height=HEAD)
    drawn = {"color": LINE, "fillcolor": PAPER, "labelloc": "t", "tooltip": f"{state.name}: {state.about}"}
    return sheet.statement(sheet.string(state.name), **sheet.place(box), **drawn, label=sheet.label([head]))


def _end(state: State, box: Box) -> str:
    pen = PENS["accepted" if state.good else "refused"]
    drawn: dict[str, object] = {"color": pen.color, "fillcolor": pen.fill}
    if state.good:
        # The second outline is drawn around the box, which must not grow by it.
        box = Box(box.left + 4, box.top + 4, box.width - 8, box.height - 8)
        drawn |= {"style": "rounded,filled", "peripheries": 2}
    lines = [font(state.name, BODY, bold=True), *(font(line, SMALL) for line in _lines(state))]
    return sheet.statement(
        sheet.string(state.name),
        **sheet.place(box),
        **drawn,
        tooltip=f"{state.name}: {state.about}",
        label=sheet.label([cell(line, align="CENTER") for line in lines]),
    )


def _edge(group: _Group, path: Path | None, side: str, width: int) -> str:
    """The line of a group, a small loop where it has no path, and its rows."""
    pen = PENS[group.kind]
    y = -group.y
    out = (0, y + 5), (-_LOOP, y + 8), (-_LOOP, y - 8), (-ARROW, y - 4)
    loop = " ".join(sheet.at(*point) for point in out)
    joins = {} if path is None or path.whole else {"arrowhead": "none"}
    return sheet.edge(
        group.state,
        group.next,
        pen,
        **{"class": group.kind, **joins},
        pos=f"e,{sheet.at(0, y - 4)} {loop}" if path is None else path.spline(path.whole),
        tooltip="\n".join(f"{row.input}{_guard(row)}: {row.why}" for row in group.rows),
        lp=sheet.at(width / 2, y),
        label=_rows(group, side, width),
    )


def _rows(group: _Group, side: str, width: int) -> str:
    said, _, id_ = _columns(group.rows)
    fault = width - 2 - 2 * (BAR + INSET) - said - id_ - _COLUMNS_APART
    return sheet.label(
        (
            cell(width=INSET, height=ROW)
            + cell(f"{font(row.input, bold=True)}{font(_said(row))}", title=row.why, width=said)
            + cell(font(row.fault, color=PENS["refused"].color, italic=True), width=fault, align="RIGHT")
            + cell(f" {font(row.id, color=DIM)}", width=id_ + _COLUMNS_APART, align="RIGHT")
            + cell(width=INSET)
            for row in group.rows
        ),
        **sheet.grouped(PENS[group.kind], side),
    )


def _legend() -> list[str]:
    row = (
        font("input", SMALL, DIM, bold=True)
        + font(" [guard] -> effect ", SMALL, DIM)
        + font(" fault ", SMALL, PENS["refused"].color, italic=True)
        + font(" row id", SMALL, DIM)
    )
    return [*(sheet.sample(pen, kind) for kind, pen in PENS.items()), *sheet.ends(), cell(row)]
