"""A walk: streams dealt at random, steered to rows and pairs of rows that were seldom met."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, NamedTuple, TypeVar

from wholecall.fuzz.reading import Expected, Pair
from wholecall.fuzz.sender import SMALL, Cell, Cells, Sender
from wholecall.fuzz.target import Got, Target
from wholecall.fuzz.verdict import judge
from wholecall.limits import Limits

Option = TypeVar("Option")

_STEERED: Final = 0.2
"""How often the row that was met least is chosen, and not just any."""

_ENOUGH: Final = 20
"""How often a pair is met until it needs no steering to."""

_REMEMBERED: Final = 16
"""How many streams are kept that a target saw before one that it judged wrongly."""

_PER_KIND: Final = 3
"""How many streams of a batch are kept that show the same."""


@dataclass(slots=True)
class Coverage:
    """How often rows fired, and pairs of rows directly one after the other in one machine.

    Attributes:
        rows: By row.
        pairs: By pair.
        agreed: By row, the legal streams with it that the target took as the tables do.
        differed: By row, those that it did not.
    """

    rows: Counter[str] = field(default_factory=Counter)
    pairs: Counter[Pair] = field(default_factory=Counter)
    agreed: Counter[str] = field(default_factory=Counter)
    differed: Counter[str] = field(default_factory=Counter)

    def add(self, other: Coverage) -> None:
        """Add what was met elsewhere."""
        self.rows.update(other.rows)
        self.pairs.update(other.pairs)
        self.agreed.update(other.agreed)
        self.differed.update(other.differed)

    def note(self, expected: Expected, got: Got) -> None:
        """Note whether a target took a legal stream as the tables do."""
        if expected.legal and not got.skipped:
            (self.differed if judge(expected, got) else self.agreed).update({*expected.rows})

    def copy(self) -> Coverage:
        """The same, to be added to by somebody else."""
        return deepcopy(self)

    def suspect(self, expected: Expected) -> str:
        """The row that decides: the one that refused, else the one with which the target errs most often."""
        if expected.row:
            return expected.row
        return max(reversed(expected.rows), key=self._blame)

    def _blame(self, row: str) -> tuple[float, int]:
        """How often the target erred with it, and of rows of the same rate how often it was seen to."""
        erred = self.differed[row]
        return erred / (erred + self.agreed[row] or 1), erred


class Dealer:
    """Chooses at random, steered by what was met; notes its choices.

    Args:
        random: Deals.
        coverage: What was met so far.

    Attributes:
        dealt: The places of the options that were chosen, where there was more than one.
    """

    def __init__(self, random: Random, coverage: Coverage) -> None:
        self._random = random.random
        self._pairs = coverage.pairs
        self.dealt: list[int] = []

    def pick(self, options: Sequence[Option]) -> Option:
        """See `Chooser.pick`."""
        return options[self._note(int(self._random() * len(options)), len(options))]

    def pick_cell(self, cells: Cells, after: str) -> Cell:
        """See `Chooser.pick_cell`."""
        if self._random() >= _STEERED:
            return self.pick(cells)
        pairs = self._pairs
        return cells[
            self._note(min(range(len(cells)), key=lambda at: pairs[after, cells[at].row]), len(cells))
        ]

    def _note(self, at: int, of: int) -> int:
        if of > 1:
            self.dealt.append(at)
        return at


class Find(NamedTuple):
    """A stream that a target judged otherwise than the tables do.

    Attributes:
        kind: One of `KINDS`.
        row: The row that decides.
        chunks: The stream.
        expected: What the tables say.
        got: What the target said.
        limits: What the stream is judged with.
        dealt: The choices that send it.
        before: What the target was asked before it in the same process, the latest last.
    """

    kind: str
    row: str
    chunks: list[Any]
    expected: Expected
    got: Got
    limits: Limits
    dealt: bytes = b""
    before: tuple[list[Any], ...] = ()


@dataclass(slots=True)
class Walked:
    """What a walk came by.

    Attributes:
        coverage: What was met.
        streams: How many streams were sent.
        steps: How many chunks they had.
        skipped: How many the target could not express.
        troubles: What went wrong with the target itself, and how often.
        finds: Streams that it judged wrongly, a few for each kind and row.
    """

    coverage: Coverage = field(default_factory=Coverage)
    streams: int = 0
    steps: int = 0
    skipped: int = 0
    troubles: Counter[str] = field(default_factory=Counter)
    finds: list[Find] = field(default_factory=list)


def limits_of(number: int, own: bool) -> Limits:
    """What the stream of this number is judged with: small limits in turn, but only of wholecall itself."""
    return SMALL[number % len(SMALL)] if own else Limits()


def walk(target: Target, known: Coverage, seed: int, streams: int, until: float, own: bool) -> Walked:
    """Send streams to a target.

    Args:
        target: Is asked.
        known: What was met before; it is added to.
        seed: Of the choices.
        streams: How many to send.
        until: The time, as `time.time` has it, after which none is begun.
        own: Whether the target is wholecall itself.
    """
    random = Random(seed)  # noqa: S311 - a choice of streams
    walked = Walked()
    before: deque[list[Any]] = deque(maxlen=_REMEMBERED)
    met: Counter[tuple[str, str]] = Counter()
    for number in range(streams):
        if time.time() >= until:
            break
        dealer = Dealer(random, known)
        sender = Sender(dealer, limits_of(number, own))
        sender.send_all()
        expected = sender.expected
        got = target.ask(sender.chunks, sender.limits)
        kind = judge(expected, got)
        found = Coverage(Counter(expected.rows), Counter(sender.reading.pairs()))
        found.note(expected, got)
        for coverage in (known, walked.coverage):
            coverage.add(found)
        walked.streams += 1
        walked.steps += len(sender.chunks)
        walked.skipped += got.skipped
        walked.troubles.update([got.trouble] if got.trouble else [])
        row = known.suspect(expected) if kind else ""
        met[kind, row] += 1
        if kind and met[kind, row] <= _PER_KIND:
            dealt = bytes([*([SMALL.index(sender.limits)] if own else []), *dealer.dealt])
            find = Find(kind, row, sender.chunks, expected, got, sender.limits, dealt, tuple(before))
            walked.finds.append(find)
        before.append(sender.chunks)
    return walked
