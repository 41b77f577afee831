"""Makes a find small, and remembers it: the choices of a walk, handed to Hypothesis."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, Final, NamedTuple, TypeVar
from unittest import SkipTest

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.database import ExampleDatabase, InMemoryExampleDatabase
from hypothesis.errors import FlakyFailure
from hypothesis.strategies import DrawFn, composite, integers

from wholecall.fuzz import verdict
from wholecall.fuzz.reading import expect
from wholecall.fuzz.sender import SMALL, Cell, Cells, Sender
from wholecall.fuzz.target import Target
from wholecall.fuzz.walk import Find
from wholecall.limits import Limits

Option = TypeVar("Option")

Judge = Callable[["Sent"], Find | None]
"""Asks a target what it makes of a stream; a find where that is not what the tables say."""

_ALL: Final = tuple(HealthCheck)
_PLACES: Final = tuple(integers(0, last) for last in range(256))
_REPLAYED: Final = 10_000
"""Hypothesis replays a tenth of its examples at most."""


class Drawn:
    """Chooses as Hypothesis draws; see `wholecall.fuzz.sender.Chooser`."""

    def __init__(self, draw: DrawFn) -> None:
        self._draw = draw
        self.dealt: list[int] = []

    def pick(self, options: Sequence[Option]) -> Option:
        """See `Chooser.pick`."""
        at = 0
        if len(options) > 1:
            at = self._draw(_PLACES[len(options) - 1])
            self.dealt.append(at)
        return options[at]

    def pick_cell(self, cells: Cells, after: str) -> Cell:  # noqa: ARG002 - it is not steered
        """See `Chooser.pick_cell`."""
        return self.pick(cells)


class Sent(NamedTuple):
    """A stream that was sent to its end, and the choices that send it."""

    sender: Sender
    dealt: bytes


@composite
def sent(draw: DrawFn, own: bool) -> Sent:
    """Streams; of wholecall itself with each of the small limits."""
    drawn = Drawn(draw)
    sender = Sender(drawn, drawn.pick(SMALL) if own else Limits())
    sender.send_all()
    return Sent(sender, bytes(drawn.dealt))


def shrink(find: Find, judge: Judge, own: bool, until: float) -> Find:
    """The smallest stream that Hypothesis comes to, and that shows the same.

    Args:
        find: What was found.
        judge: Asks the target.
        own: Whether the target is wholecall itself.
        until: The time, as `time.time` has it, from which on it is small enough.
    """
    smallest = [find]

    def same(stream: Sent) -> Find | None:
        found = judge(stream) if time.time() < until else None
        if found is None or found.kind != find.kind:
            return None
        if find.row not in ((found.expected.row,) if found.expected.row else found.expected.rows):
            return None
        smallest.append(found._replace(row=find.row))
        return found

    database = InMemoryExampleDatabase()
    _fail(lambda: _test(same, own, database, Phase.reuse).hypothesis.fuzz_one_input(find.dealt))
    _fail(_test(same, own, database, Phase.reuse, Phase.shrink))
    return smallest[-1]


def drop(find: Find, target: Target, until: float = float("inf")) -> Find:
    """A find without each chunk that it shows without; it is still of the same kind and row.

    Args:
        find: What was found.
        target: Is asked.
        until: The time, as `time.time` has it, from which on it is small enough.
    """
    for at in reversed(range(len(find.chunks))):
        if time.time() >= until:
            break
        chunks = find.chunks[:at] + find.chunks[at + 1 :]
        expected = expect(chunks, find.limits)
        if find.row != expected.row and (expected.row or find.row not in expected.rows):
            continue
        got = target.ask(chunks, find.limits)
        if verdict.judge(expected, got) == find.kind:
            find = find._replace(chunks=chunks, expected=expected, got=got)
    return find


def remember(find: Find, own: bool, database: ExampleDatabase) -> None:
    """Keep a find in a database."""
    _fail(lambda: _test(lambda _: find, own, database, Phase.reuse).hypothesis.fuzz_one_input(find.dealt))


def remembered(judge: Judge, own: bool, database: ExampleDatabase) -> list[Find]:
    """What is still found of all that a database remembers; what is not found any more is forgotten."""
    finds: list[Find] = []

    def again(stream: Sent) -> Find | None:
        found = judge(stream)
        finds.extend([found] if found else [])
        return found

    _fail(_test(again, own, database, Phase.reuse))
    return finds


class _FoundError(Exception):
    """A find, as Hypothesis is to see it; of each kind and row a class of its own, so that it keeps each."""


def _test(judge: Judge, own: bool, database: ExampleDatabase, *phases: Phase) -> Any:
    """A test that fails where the judge finds something."""

    @settings(
        phases=phases, database=database, deadline=None, suppress_health_check=_ALL, max_examples=_REPLAYED
    )
    @given(sent(own))
    def stream(stream: Sent) -> None:
        found = judge(stream)
        if found:
            raise _error(found.kind, found.row)

    return stream


@cache
def _error(kind: str, row: str) -> type[_FoundError]:
    return type(f"{kind}_{row}", (_FoundError,), {})


def _fail(test: Callable[[], object]) -> None:
    """Run what is to fail, and may not: nothing is remembered, or a flaky target does not do it again."""
    with suppress(_FoundError, ExceptionGroup, FlakyFailure, SkipTest):
        test()
