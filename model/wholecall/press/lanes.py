"""Where the lines of a drawing run: level to a lane, along it, and level again, as on a circuit board.

Lines to one end share a lane and join where they meet, so that six ways to one end are one trunk and no
tangle. All is in points; x grows to the right and y grows downwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from wholecall.press.sheet import at

Point = tuple[float, float]
Key = TypeVar("Key")

BEND, ARROW, CLEAR = 5.0, 7.0, 26.0
"""The radius of a bend, the length of the head of an arrow, and what the last lane leaves for both."""


@dataclass(frozen=True, slots=True)
class Bus:
    """Lines that end together.

    Attributes:
        end: The height at which they end.
        starts: The heights at which they begin.
    """

    end: float
    starts: tuple[float, ...]

    @property
    def span(self) -> tuple[float, float]:
        """The heights between which the lane runs; one height where the lines need no lane."""
        heights = (self.end, *self.starts)
        return min(heights), max(heights)

    def passes(self, y: float) -> bool:
        """Whether the lane runs across this height."""
        return self.span[0] < y < self.span[1]

    def beside(self, other: Bus) -> bool:
        """Whether the lanes of both would meet if they were one."""
        return self.span[0] - BEND <= other.span[1] and other.span[0] - BEND <= self.span[1]


@dataclass(frozen=True, slots=True)
class Path:
    """The corners of one line; `whole` where it reaches the end itself and joins no other on the way."""

    corners: tuple[Point, ...]
    whole: bool

    def spline(self, arrow: bool) -> str:
        """The `pos` of an edge, from the first corner to the last, perhaps with an arrow there."""
        corners, tip = list(self.corners), self.corners[-1]
        if arrow:
            corners[-1] = _towards(tip, corners[-2], ARROW)
        points = [corners[0]] * 2
        for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
            enter, leave = _towards(corner, before, BEND), _towards(corner, after, BEND)
            points += [enter, enter, corner, corner, leave, leave]
        points += [corners[-1]] * 2
        text = " ".join(at(x, -y) for x, y in points)
        return f"e,{at(tip[0], -tip[1])} {text}" if arrow else text

    def backwards(self) -> Path:
        """The same line from its end to its start."""
        return Path(self.corners[::-1], self.whole)


def outward(buses: Mapping[Key, Bus], start: float, step: float) -> tuple[dict[Key, list[Path]], float]:
    """The paths of each bus from `start` to a column beyond the lanes, and the x of that column."""
    lanes = _arrange(buses, returning=False)
    end = start + step * max(lanes.values(), default=0) + CLEAR
    return {key: _route(bus, start, start + step * lanes.get(key, 1), end) for key, bus in buses.items()}, end


def returning(
    buses: Mapping[Key, Bus], start: float, clear: float, step: float
) -> tuple[dict[Key, list[Path]], float]:
    """The paths of each bus that leaves `start` to the left and comes back to it, and the x of the last lane.

    The first lane keeps `clear` of `start`, so that there is room for what else stands there.
    """
    lanes = _arrange(buses, returning=True)
    near = start - clear + step
    paths = {key: _route(bus, start, near - step * lanes.get(key, 1), start) for key, bus in buses.items()}
    return paths, near - step * max(lanes.values(), default=1)


def spread(
    wanted: Sequence[float], weights: Sequence[float], heights: Sequence[float], gap: float
) -> list[float]:
    """Tops for boxes one below the other, the middle of each as near as can be to where it is wanted."""
    blocks: list[tuple[float, float, int]] = []
    offsets: list[float] = []
    for want, weight, height in zip(wanted, weights, heights, strict=True):
        offsets.append(offsets[-1] + heights[len(offsets) - 1] + gap if offsets else 0.0)
        blocks.append((want - height / 2 - offsets[-1], weight, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, m, i), (b, n, j) = blocks[-2:]
            blocks[-2:] = [((a * m + b * n) / (m + n), m + n, i + j)]
    tops = [top for top, _, count in blocks for _ in range(count)]
    return [top + offset for top, offset in zip(tops, offsets, strict=True)]


def _arrange(buses: Mapping[Key, Bus], returning: bool) -> dict[Key, int]:
    """The lane of each bus that needs one, counted from where the lines start, so that few lines cross."""
    order: list[Key] = []
    bent = [key for key, bus in buses.items() if bus.span[0] != bus.span[1]]
    for key in (*bent, *bent):
        rest = [other for other in order if other != key]
        inside = [_crossings(buses[other], buses[key], returning) for other in rest]
        outside = [_crossings(buses[key], buses[other], returning) for other in rest]
        place = min(range(len(rest) + 1), key=lambda place: sum(inside[:place]) + sum(outside[place:]))
        order = [*rest[:place], key, *rest[place:]]
    lanes: dict[Key, int] = {}
    for key in order:
        met = (lane for near, lane in lanes.items() if buses[key].beside(buses[near]))
        lanes[key] = max(met, default=0) + 1
    return lanes


def _crossings(near: Bus, far: Bus, returning: bool) -> int:
    """How often the lines of two buses cross where one has the nearer lane."""
    ends = near.passes(far.end) if returning else far.passes(near.end)
    return ends + sum(near.passes(y) for y in far.starts)


def _route(bus: Bus, start: float, lane: float, end: float) -> list[Path]:
    """The path of each line of a bus, given the three x at which it starts, runs and ends.

    The farthest line of each side is the trunk; a nearer one ends where it has bent into the lane.
    """
    inward = BEND if end > lane else -BEND
    paths = {y: Path(((start, y), (end, y)), whole=True) for y in bus.starts if y == bus.end}
    above = sorted(y for y in bus.starts if y < bus.end)
    below = sorted((y for y in bus.starts if y > bus.end), reverse=True)
    for side, along in ((above, BEND), (below, -BEND)):
        for y in side[1:]:
            paths[y] = Path(((start, y), (lane, y), (lane, y + along)), whole=False)
        for y in side[:1]:
            whole = not any(path.whole for path in paths.values())
            last = end if whole else lane + inward
            paths[y] = Path(((start, y), (lane, y), (lane, bus.end), (last, bus.end)), whole)
    return [paths[y] for y in bus.starts]


def _towards(start: Point, goal: Point, length: float) -> Point:
    dx, dy = goal[0] - start[0], goal[1] - start[1]
    share = min(1.0, length / (abs(dx) + abs(dy)))
    return (start[0] + dx * share, start[1] + dy * share)
