"""What must always hold (design §5): each a name, its sentence, and a function that tells.

A function gets the record of one response: what was sent, kept by whoever sent it, beside what came of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from wholecall.assemble import Response
from wholecall.statements import sentence_of
from wholecall.text import join_halves
from wholecall_generated.tables import SPEC

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
        response: What came of it, once it was closed.
    """

    ids: dict[Place, list[str]] = field(default_factory=dict)
    pieces: dict[Place, list[str]] = field(default_factory=dict)
    secrets: set[str] = field(default_factory=set)
    kept: dict[Place, str] = field(default_factory=dict)
    now: dict[Place, tuple[str | None, str]] = field(default_factory=dict)
    response: Response | None = None


@dataclass(frozen=True, slots=True)
class Invariant(Generic[Seen]):
    """One thing that must always hold of what was seen."""

    name: str
    holds: Callable[[Seen], bool]

    @property
    def sentence(self) -> str:
        """What is claimed."""
        return sentence_of(self.name)


def _identity_kept(record: Record) -> bool:
    return all(record.now[place][0] == id for place, id in record.kept.items())


def _no_invented_id(record: Record) -> bool:
    return all(id is None or id in record.ids.get(place, ()) for place, (id, _) in record.now.items())


def _no_borrowing(record: Record) -> bool:
    return all(
        join_halves("".join(record.pieces.get(place, ()))).startswith(text)
        for place, (_, text) in record.now.items()
    )


def _raw_preserved(record: Record) -> bool:
    response = record.response
    if response is None or response.outcome != "whole":
        return True
    sent = {place: join_halves("".join(pieces)) for place, pieces in record.pieces.items()}
    return all(call.arguments == sent.get((call.choice, call.index), "") for call in response.calls)


def _refusal_is_not_success(record: Record) -> bool:
    response = record.response
    return response is None or (response.fault is None) == (response.outcome in _GOOD)


def _every_end_explained(record: Record) -> bool:
    response = record.response
    if response is None or response.outcome in _GOOD:
        return True
    rows = {row.id for table in SPEC.tables for row in table.rows}
    return bool(response.faults) and all(d.fault in _FAULTS and d.row in rows for d in response.faults)


def _diagnostics_bounded(record: Record) -> bool:
    if record.response is None:
        return True
    shown = [repr(record.response), *map(repr, record.response.calls)]
    shown += [json.dumps(fault.to_record()) for fault in record.response.faults]
    return not any(secret in text for secret in record.secrets for text in shown)


def _always_ends(record: Record) -> bool:
    return record.response is None or record.response.outcome in dict(SPEC.outcomes)


_GOOD: Final = ("whole", "answered")
_FAULTS: Final = frozenset(fault.name for fault in SPEC.faults)

OF_RESPONSE: Final[tuple[Invariant[Record], ...]] = (
    Invariant("identity_kept", _identity_kept),
    Invariant("no_invented_id", _no_invented_id),
    Invariant("no_borrowing", _no_borrowing),
    Invariant("raw_preserved", _raw_preserved),
    Invariant("refusal_is_not_success", _refusal_is_not_success),
    Invariant("every_end_explained", _every_end_explained),
    Invariant("diagnostics_bounded", _diagnostics_bounded),
    Invariant("always_ends", _always_ends),
)
"""Those that concern one response."""
