"""Which rows a campaign can make fire, and of each the streams in which it decides."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any, Final, NamedTuple, TypeVar

from wholecall.explore.pairs import Feasible, feasible
from wholecall.fuzz.reading import Expected
from wholecall.fuzz.sender import Sender
from wholecall.fuzz.walk import Coverage, Dealer
from wholecall.limits import Limits
from wholecall_generated.tables import SPEC

STREAMS: Final = 3
"""Streams of a row."""

_WALKED: Final = 1500

Option = TypeVar("Option")


@cache
def reachable(own: bool) -> Feasible:
    """What a campaign can make fire; a target other than wholecall has limits of its own."""
    every = feasible(SPEC)
    if own:
        return every
    limited = {row.id for table in SPEC.tables for row in table.rows if row.fault.startswith("limit.")}
    pairs = frozenset(pair for pair in every.pairs if limited.isdisjoint(pair))
    return Feasible(every.rows - limited, pairs)


class RowStream(NamedTuple):
    """A stream, and what must come of it."""

    chunks: list[Any]
    expected: Expected


class Daring(Dealer):
    """Deals yes as often as no, so that what is to come seldom comes often, and early."""

    def pick(self, options: Sequence[Option]) -> Option:
        """See `Chooser.pick`."""
        return super().pick(options if options[0] is not False else (options[0], options[-1]))


@cache
def streams_of_rows() -> dict[str, list[RowStream]]:
    """For each row that a stream can make fire, the shortest streams of a walk in which it decides.

    A row that refuses decides where it refuses; any other where nothing is refused, if that can be.
    """
    found: dict[str, list[RowStream]] = {row: [] for row in reachable(own=False).rows}
    also: dict[str, list[RowStream]] = {row: [] for row in found}
    known = Coverage()
    for seed in range(_WALKED):
        dealer = (Dealer, Daring)[seed % 2](Random(seed), known)  # noqa: S311 - a choice of streams
        sender = Sender(dealer, Limits())
        sender.send_all()
        sent = RowStream(sender.chunks, sender.expected)
        known.pairs.update(sender.reading.pairs())
        for row in {*sent.expected.rows}:
            decides = row == sent.expected.row if sent.expected.row else True
            kept = (found if decides else also)[row]
            kept.append(sent)
            kept.sort(key=lambda one: len(one.chunks))
            del kept[STREAMS:]
    return {row: found[row] or also[row] for row in found}
