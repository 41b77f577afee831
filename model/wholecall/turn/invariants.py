"""What must always hold of a turn, asked of real ones: the statements, and where their facts are found.

The record of one turn id, through all its runs, is what the world saw, kept by the world, beside what the
turn said and what the ledger holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from wholecall.invariants import Asked, asked
from wholecall.turn.ledger_records import Operation, Try
from wholecall.turn.policy import Policy
from wholecall.turn.result import Result
from wholecall_generated.tables import SPEC
from wholecall_spec.statements import (
    USABLE,
    always_ends,
    bounded_attempts,
    corrupt_never_runs,
    diagnostics_bounded,
    every_end_explained,
    no_false_certainty,
    no_regeneration_after_start,
    one_effect_per_key,
    refusal_is_not_success,
    unknown_never_blindly_retried,
    whole_batch_first,
)


@dataclass(frozen=True, slots=True)
class RanTool:
    """One time that a tool was run: under which key, which try it was, and which call, as text."""

    key: str
    number: int
    text: str


@dataclass
class RunRecord:
    """One run of a turn, as the world saw it.

    Attributes:
        resumed: Whether the ledger held a started operation before it.
        requests: Requests that were made.
        queries: How often each key was asked about.
        ran: How often a tool of the turn id had been run when it ended.
        result: What it said; None where the process was gone before.
    """

    resumed: bool = False
    requests: int = 0
    queries: dict[str, int] = field(default_factory=dict)
    ran: int = 0
    result: Result | None = None


@dataclass
class TurnRecord:
    """A turn id, as the world saw it.

    Attributes:
        policy: The limits.
        effect: What its tools declare of their effect.
        corrupt: Calls that a check refuses, each as its tool and argument text.
        secrets: Texts that may not be shown.
        runs: Every run, in order.
        allowed: The calls of each batch that the host allowed.
        ran: Every time that a tool was run.
        late: Requests that were made after a tool had run.
        effects: How often the effect of each key happened.
        kept: The operations in the ledger.
        tries: Their tries.
        shown: What was shown: events, reprs, records, exceptions.
    """

    policy: Policy
    effect: str
    corrupt: frozenset[str]
    secrets: frozenset[str]
    runs: list[RunRecord] = field(default_factory=list)
    allowed: list[tuple[str, ...]] = field(default_factory=list)
    ran: list[RanTool] = field(default_factory=list)
    late: int = 0
    effects: dict[str, int] = field(default_factory=dict)
    kept: tuple[Operation, ...] = ()
    tries: Mapping[str, tuple[Try, ...]] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)


def _results(record: TurnRecord) -> list[Result]:
    return [run.result for run in record.runs if run.result is not None]


def _starts(record: TurnRecord) -> Iterator[tuple[bool, bool]]:
    """Of each run of a tool, the batch that the host allowed with its call; nothing else was allowed."""
    for one in record.ran:
        batch = next((batch for batch in record.allowed if one.text in batch), ())
        yield record.corrupt.isdisjoint(batch), bool(batch)


def _executed(record: TurnRecord) -> Iterator[tuple[bool, int]]:
    for text in record.corrupt:
        yield False, sum(one.text == text for one in record.ran)


def _counts(record: TurnRecord) -> Iterator[tuple[int, int]]:
    policy = record.policy
    for run in record.runs:
        yield run.requests, policy.attempts
        for count in run.queries.values():
            yield count, policy.queries
    for tries in record.tries.values():
        yield len(tries), policy.tries


def _requests(record: TurnRecord) -> Iterator[tuple[bool, int]]:
    yield True, record.late
    for run in record.runs:
        yield run.resumed, run.requests


def _retries(record: TurnRecord) -> Iterator[tuple[str, int, int, bool]]:
    for tries in record.tries.values():
        earlier = tries[:-1]
        yield record.effect, len(earlier), sum(one.absent for one in earlier), True
    opened = {(key, one.number) for key, tries in record.tries.items() for one in tries}
    for run, times in Counter((one.key, one.number) for one in record.ran).items():
        yield record.effect, 0, 0, run in opened and times == 1


def _known(record: TurnRecord) -> Iterator[tuple[str, str, bool, bool]]:
    told = [
        (one.key, one.state, record.ran[: run.ran])
        for run in record.runs
        if run.result is not None
        for one in run.result.operations
    ]
    for key, state, ran in (*told, *((one.key, one.state, record.ran) for one in record.kept)):
        happened = record.effects.get(key, 0) > 0
        yield state, record.effect, happened, any(one.key == key for one in ran)


def _effects(record: TurnRecord) -> Iterator[tuple[str, int]]:
    for times in record.effects.values():
        yield record.effect, times


def _successes(record: TurnRecord) -> Iterator[tuple[bool, bool]]:
    for result in _results(record):
        last = result.attempts[-1:]
        yield result.end in _GOOD, any(attempt.outcome not in USABLE for attempt in last)


def _ends(record: TurnRecord) -> Iterator[tuple[bool, list[str], Collection[str]]]:
    for result in _results(record):
        yield result.end in _GOOD, [result.fault] if result.fault else [], _FAULTS


def _shown(record: TurnRecord) -> Iterator[tuple[Collection[str], Collection[str]]]:
    yield record.secrets, record.shown


def _rests(record: TurnRecord) -> Iterator[tuple[str, Collection[str]]]:
    for result in _results(record):
        yield result.end, _FINALS


_FINALS: Final = frozenset(state.name for state in SPEC.table("turn").finals)
_GOOD: Final = frozenset(state.name for state in SPEC.table("turn").finals if state.good)
_FAULTS: Final = frozenset(fault.name for fault in SPEC.faults)

OF_TURN: Final[tuple[Asked[TurnRecord], ...]] = (
    asked(whole_batch_first, _starts),
    asked(corrupt_never_runs, _executed),
    asked(bounded_attempts, _counts),
    asked(no_regeneration_after_start, _requests),
    asked(unknown_never_blindly_retried, _retries),
    asked(no_false_certainty, _known),
    asked(one_effect_per_key, _effects),
    asked(refusal_is_not_success, _successes),
    asked(every_end_explained, _ends),
    asked(diagnostics_bounded, _shown),
    asked(always_ends, _rests),
)
"""Those that concern a turn."""
