"""What must always hold of a response, asked of real ones: the statements, and where their facts are found.

The record of one response is what was sent, kept by whoever sent it, beside what came of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, Generic, TypeVar

from wholecall.assemble import Response
from wholecall.text import join_halves
from wholecall_generated.tables import SPEC
from wholecall_spec.statements import (
    USABLE,
    Facts,
    Invariant,
    always_ends,
    diagnostics_bounded,
    every_end_explained,
    identity_kept,
    limits_kept,
    no_borrowing,
    no_invented_id,
    raw_preserved,
    refusal_is_not_success,
)

Seen = TypeVar("Seen")

Place = tuple[int, int]
"""A call, by its choice and index."""


@dataclass
class Record:
    """One response as its sender saw it.

    Attributes:
        ids: Every id text sent at a place, in order.
        pieces: Every argument text sent at a place, in order.
        secrets: Texts that may stand in no diagnostic.
        kept: The id that was established at a place when it was last looked at.
        now: The id established at a place, and the argument text there, as the assembler has them.
        sizes: How many calls a choice has, and how long each name and argument text is, each with its limit.
        response: What came of it, once it was closed.
    """

    ids: dict[Place, list[str]] = field(default_factory=dict)
    pieces: dict[Place, list[str]] = field(default_factory=dict)
    secrets: set[str] = field(default_factory=set)
    kept: dict[Place, str] = field(default_factory=dict)
    now: dict[Place, tuple[str | None, str]] = field(default_factory=dict)
    sizes: list[tuple[int, int]] = field(default_factory=list)
    response: Response | None = None


@dataclass(frozen=True, slots=True)
class Asked(Generic[Seen]):
    """An invariant that is asked of what was seen.

    Attributes:
        name: The invariant's name.
        sentence: What is claimed.
        holds: Whether it holds of all the facts that were seen.
    """

    name: str
    sentence: str
    holds: Callable[[Seen], bool]


def asked(invariant: Invariant[*Facts], facts: Callable[[Seen], Iterable[tuple[*Facts]]]) -> Asked[Seen]:
    """Ask an invariant.

    Args:
        invariant: What is claimed.
        facts: Finds the facts that it is claimed of in what was seen.
    """

    def holds(seen: Seen) -> bool:
        return all(invariant.holds(*these) for these in facts(seen))

    return Asked(invariant.name, invariant.sentence, holds)


def _ids_kept(record: Record) -> Iterator[tuple[str | None, str | None]]:
    for place, id in record.kept.items():
        yield id, record.now[place][0]


def _ids(record: Record) -> Iterator[tuple[str | None, list[str]]]:
    for place, (id, _) in record.now.items():
        yield id, record.ids.get(place, [])


def _texts(record: Record) -> Iterator[tuple[str, list[str]]]:
    for place, (_, text) in record.now.items():
        yield text, [join_halves(grown) for grown in accumulate(record.pieces.get(place, ()), initial="")]


def _texts_sent(record: Record) -> Iterator[tuple[str, str]]:
    for response in _closed(record):
        for call in response.calls if response.outcome == "whole" else ():
            yield call.arguments, join_halves("".join(record.pieces.get((call.choice, call.index), ())))


def _sizes(record: Record) -> list[tuple[int, int]]:
    return record.sizes


def _successes(record: Record) -> Iterator[tuple[bool, bool]]:
    for response in _closed(record):
        usable = response.outcome in USABLE
        yield usable or response.fault is None, not usable or response.fault is not None


def _ends(record: Record) -> Iterator[tuple[bool, list[str], Collection[str]]]:
    for response in _closed(record):
        good = response.outcome in USABLE
        yield good, [found.fault for found in response.faults], _FAULTS
        yield good, [str(found.row) for found in response.faults], _ROWS


def _shown(record: Record) -> Iterator[tuple[set[str], list[str]]]:
    for response in _closed(record):
        shown = [repr(response), *map(repr, response.calls)]
        yield record.secrets, shown + [json.dumps(fault.to_record()) for fault in response.faults]


def _rests(record: Record) -> Iterator[tuple[str, Collection[str]]]:
    for response in _closed(record):
        yield response.outcome, dict(SPEC.outcomes)


def _closed(record: Record) -> tuple[Response, ...]:
    return () if record.response is None else (record.response,)


_FAULTS: Final = frozenset(fault.name for fault in SPEC.faults)
_ROWS: Final = frozenset(row.id for table in SPEC.tables for row in table.rows)

OF_RESPONSE: Final[tuple[Asked[Record], ...]] = (
    asked(identity_kept, _ids_kept),
    asked(no_invented_id, _ids),
    asked(no_borrowing, _texts),
    asked(raw_preserved, _texts_sent),
    asked(limits_kept, _sizes),
    asked(refusal_is_not_success, _successes),
    asked(every_end_explained, _ends),
    asked(diagnostics_bounded, _shown),
    asked(always_ends, _rests),
)
"""Those that concern one response."""
