"""A campaign: walks on as many workers as there are, until its budget ends, and each find made a finding."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase

from wholecall.fuzz.shrink import Judge, Sent, drop, remember, remembered, shrink
from wholecall.fuzz.target import Target, TargetName
from wholecall.fuzz.verdict import judge
from wholecall.fuzz.walk import Coverage, Find, Walked, walk

STREAMS: Final = 100
"""Streams of one walk; all that a worker does before it hears of what others met."""

_WALKS: Final = 1_000_000
"""Walks of a campaign at most, so that no two seeds have a walk in common."""

_SURE: Final = 500
"""Streams before a row is blamed for what becomes of a legal stream."""

SHRINKING: Final = 3.0
"""Seconds for one find to become small."""

_SHARE: Final = 0.5
"""How much of the time goes, at most, into making finds small."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How long a campaign goes on: until the first of these is spent.

    Attributes:
        seconds: Seconds, where they are counted.
        streams: Streams, where they are counted.
    """

    seconds: float | None = None
    streams: int | None = None


class Small(NamedTuple):
    """Until when, as `time.time` has it, a find is made small.

    Attributes:
        shrunk: By Hypothesis.
        dropped: By leaving out chunks, which takes few questions.
    """

    shrunk: float
    dropped: float


class Settled(NamedTuple):
    """A find that was looked at once more, and None where it did not show; and the seconds it took."""

    find: Find | None
    seconds: float


@dataclass(slots=True)
class Campaign:
    """A campaign, and what it came by so far.

    Attributes:
        target: What is fuzzed.
        seed: Of the choices.
        known: Where findings of earlier campaigns are remembered, where they are.
        walked: What all walks came by together; its finds are not kept.
        findings: What was found, by kind and row.
        flaky: How many finds did not show themselves again.
        seconds: How long it has been going on.
        news: When, in seconds from the beginning, a pair of rows was last met for the first time.
    """

    target: TargetName
    seed: int = 0
    known: Path | None = None
    walked: Walked = field(default_factory=Walked)
    findings: dict[tuple[str, str], Find] = field(default_factory=dict)
    flaky: int = 0
    seconds: float = 0.0
    news: float = 0.0
    _waiting: dict[tuple[str, str], Find] = field(default_factory=dict)
    _settling: list[Future[Settled]] = field(default_factory=list)
    _settled: set[tuple[str, str]] = field(default_factory=set)
    _spent: float = 0.0

    def run(self, budget: Budget, executor: Executor, workers: int, progress: Callable[[], object]) -> None:
        """Go on until the budget is spent, or somebody interrupts.

        Args:
            budget: What may be spent.
            executor: Runs the walks.
            workers: How many of them at once.
            progress: Is called now and then.
        """
        began = time.time()
        until = began + (budget.seconds if budget.seconds is not None else float("inf"))
        with suppress(KeyboardInterrupt):  # it ends the campaign, and what was found is told
            for find in executor.submit(recall, self.target, self.known).result():
                self._waiting[find.kind, find.row] = find
            walks = 0
            while time.time() < until and (sizes := self._sizes(budget, workers)):
                seeds = range(self.seed * _WALKS + walks, self.seed * _WALKS + walks + len(sizes))
                walks += len(sizes)
                known = self.walked.coverage
                for done in [
                    executor.submit(walk_once, self.target, known, seed, size, until)
                    for seed, size in zip(seeds, sizes, strict=True)
                ]:
                    self._add(done.result(), time.time() - began)
                self.seconds = time.time() - began
                self._settle(executor, workers, until)
                progress()
        self._settle_all(executor)
        self.seconds = time.time() - began

    def _sizes(self, budget: Budget, workers: int) -> list[int]:
        """How many streams each walk of the next round has."""
        if budget.streams is None:
            return [STREAMS] * workers
        left = budget.streams - self.walked.streams
        sizes = [min(STREAMS, left - at * STREAMS) for at in range(workers)]
        return [size for size in sizes if size > 0]

    def _add(self, walked: Walked, now: float) -> None:
        mine = self.walked
        met = len(mine.coverage.pairs)
        mine.coverage.add(walked.coverage)
        self.news = now if len(mine.coverage.pairs) > met else self.news
        mine.streams += walked.streams
        mine.steps += walked.steps
        mine.skipped += walked.skipped
        mine.troubles.update(walked.troubles)
        for find in walked.finds:
            key = find.kind, mine.coverage.suspect(find.expected)
            known = self._waiting.get(key)
            if key not in self._settled and (known is None or len(find.dealt) < len(known.dealt)):
                self._waiting[key] = find._replace(row=key[1])

    def _settle(self, executor: Executor, workers: int, until: float) -> None:
        """Have what was found made small, in a share of the time, the smallest first.

        A row is blamed for what becomes of legal streams only where there were many.
        """
        for settling in [one for one in self._settling if one.done()]:
            self._hear(settling)
        sure = self.walked.streams >= _SURE
        waiting = [find for find in self._waiting.values() if sure or not find.expected.legal]
        for find in sorted(waiting, key=lambda find: len(find.dealt)):
            if len(self._settling) < workers and self._spent < self.seconds * _SHARE * workers:
                now = time.time()
                self._submit(executor, find, Small(min(until, now + SHRINKING), now + 2 * SHRINKING))

    def _settle_all(self, executor: Executor) -> None:
        """The budget is spent: what still waits is looked at once more, and loses chunks for a while."""
        until = time.time() + SHRINKING
        for find in [*self._waiting.values()]:
            self._submit(executor, find, Small(0, until))
        for settling in [*self._settling]:
            self._hear(settling)

    def _submit(self, executor: Executor, find: Find, small: Small) -> None:
        del self._waiting[find.kind, find.row]
        self._settled.add((find.kind, find.row))
        known, coverage = self.known, self.walked.coverage
        self._settling.append(executor.submit(settle, self.target, find, coverage, known, small))

    def _hear(self, settling: Future[Settled]) -> None:
        self._settling.remove(settling)
        found, seconds = settling.result()
        self._spent += seconds
        if found is None:
            self.flaky += 1
        else:
            row = self.walked.coverage.suspect(found.expected)
            self.findings.setdefault((found.kind, row), found._replace(row=row))


# -- what workers do ---------------------------------------------------------------------------------------


def walk_once(target: TargetName, known: Coverage, seed: int, streams: int, until: float) -> Walked:
    """One walk (see `walk`); what others met is left as it is."""
    return walk(_opened(target, threading.get_ident()), known.copy(), seed, streams, until, target.own)


@cache
def _opened(target: TargetName, _: int) -> Target:
    """The target of this thread, started once; it ends with its input, which ends with this process."""
    opened = target.open()
    _OPENED.append(opened)
    return opened


_OPENED: Final[list[Target]] = []


def close_opened() -> None:
    """End the targets of this process; walks start them again."""
    _opened.cache_clear()
    while _OPENED:
        _OPENED.pop().close()


def recall(target: TargetName, known: Path | None) -> list[Find]:
    """What earlier campaigns found and is found again."""
    database = _database(known)
    if database is None:
        return []
    return remembered(_judge_with(_opened(target, threading.get_ident()), Coverage()), target.own, database)


def settle(target: TargetName, find: Find, coverage: Coverage, known: Path | None, small: Small) -> Settled:
    """A find made small, and seen once more by a target that was just started."""
    began = time.time()
    found = _made_small(target, find, coverage, small) or _with_before(target, find)
    if found and (database := _database(known)):
        remember(found, target.own, database)
    return Settled(found, time.time() - began)


def _made_small(target: TargetName, find: Find, coverage: Coverage, small: Small) -> Find | None:
    """A find made small; None where a target that was just started does not show it."""
    asked = target.open()
    try:
        if not _errs(asked, find):
            return None
        alone = find._replace(before=())
        shrunk = shrink(alone, _judge_with(asked, coverage), target.own, small.shrunk)
        smaller = drop(shrunk, asked, small.dropped)
    finally:
        asked.close()
    return smaller if _shows(target, smaller, ()) else alone


def _with_before(target: TargetName, find: Find) -> Find | None:
    """A find with the fewest of the earlier streams that it needs; None where it does not show after all."""
    counts = [1, 2, 4, 8, len(find.before)]
    for count in (count for count in counts if count <= len(find.before)):
        last = find.before[-count:]
        if count and _shows(target, find, last):
            one = next((one for one in last if _shows(target, find, (one,))), None)
            return find._replace(before=last if one is None else (one,))
    return None


def _shows(target: TargetName, find: Find, before: Sequence[list[Any]]) -> bool:
    """Whether a target that was just started errs as it was found to."""
    asked = target.open()
    try:
        for chunks in before:
            asked.ask(chunks, find.limits)
        return _errs(asked, find)
    finally:
        asked.close()


def _errs(asked: Target, find: Find) -> bool:
    """Whether a target errs as it was found to."""
    return judge(find.expected, asked.ask(find.chunks, find.limits)) == find.kind


def _judge_with(target: Target, coverage: Coverage) -> Judge:
    def judged(stream: Sent) -> Find | None:
        sender, dealt = stream
        got = target.ask(sender.chunks, sender.limits)
        kind = judge(sender.expected, got)
        if not kind:
            return None
        row = coverage.suspect(sender.expected)
        return Find(kind, row, sender.chunks, sender.expected, got, sender.limits, dealt)

    return judged


def _database(known: Path | None) -> ExampleDatabase | None:
    return DirectoryBasedExampleDatabase(known) if known else None
