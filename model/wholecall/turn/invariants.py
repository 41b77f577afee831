"""What must always hold of a turn (design §5): each a name, its sentence, and a function that tells.

A function gets the record of one turn id, through all its runs: what the world saw, kept by the world, beside
what the turn said and what the ledger holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from wholecall.invariants import Invariant
from wholecall.turn.ledger_records import Operation, Try
from wholecall.turn.policy import Policy
from wholecall.turn.result import Result
from wholecall_generated.tables import SPEC


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


def _whole_batch_first(record: TurnRecord) -> bool:
    return all(any(one.text in batch for batch in record.allowed) for one in record.ran)


def _corrupt_never_runs(record: TurnRecord) -> bool:
    return not any(one.text in record.corrupt for one in record.ran)


def _bounded_attempts(record: TurnRecord) -> bool:
    policy = record.policy
    return (
        all(run.requests <= policy.attempts for run in record.runs)
        and all(count <= policy.queries for run in record.runs for count in run.queries.values())
        and all(len(tries) <= policy.tries for tries in record.tries.values())
    )


def _no_regeneration_after_start(record: TurnRecord) -> bool:
    return record.late == 0 and not any(run.resumed and run.requests for run in record.runs)


def _unknown_never_blindly_retried(record: TurnRecord) -> bool:
    ran = {(one.key, one.number) for one in record.ran}
    opened = {(key, one.number) for key, tries in record.tries.items() for one in tries}
    blind = [one for tries in record.tries.values() for one in tries[:-1] if not one.absent]
    return ran <= opened and len(ran) == len(record.ran) and (record.effect != "once" or not blind)


def _no_false_certainty(record: TurnRecord) -> bool:
    said = [
        _true_of(record, one.key, one.state, record.ran[: run.ran])
        for run in record.runs
        if run.result is not None
        for one in run.result.operations
    ]
    return all(said) and all(_true_of(record, one.key, one.state, record.ran) for one in record.kept)


def _true_of(record: TurnRecord, key: str, state: str, ran: Sequence[RanTool]) -> bool:
    happened = record.effects.get(key, 0) > 0
    match state:
        case "succeeded":
            return happened
        case "failed":
            return not happened or record.effect == "none"
        case "cancelled":
            return not any(one.key == key for one in ran)
        case _:
            return True


def _one_effect_per_key(record: TurnRecord) -> bool:
    return record.effect == "none" or all(count <= 1 for count in record.effects.values())


def _refusal_is_not_success(record: TurnRecord) -> bool:
    good = {state.name for state in _TURN.finals if state.good}
    return not any(
        result.end in good and result.attempts and result.attempts[-1].outcome not in _USABLE
        for result in _results(record)
    )


def _every_end_explained(record: TurnRecord) -> bool:
    return all(_TURN.state(result.end).good or result.fault in _FAULTS for result in _results(record))


def _diagnostics_bounded(record: TurnRecord) -> bool:
    return not any(secret in text for secret in record.secrets for text in record.shown)


def _always_ends(record: TurnRecord) -> bool:
    return all(_TURN.state(result.end).final for result in _results(record))


_TURN: Final = SPEC.table("turn")
_USABLE: Final = ("whole", "answered")
_FAULTS: Final = frozenset(fault.name for fault in SPEC.faults)

OF_TURN: Final[tuple[Invariant[TurnRecord], ...]] = (
    Invariant("whole_batch_first", _whole_batch_first),
    Invariant("corrupt_never_runs", _corrupt_never_runs),
    Invariant("bounded_attempts", _bounded_attempts),
    Invariant("no_regeneration_after_start", _no_regeneration_after_start),
    Invariant("unknown_never_blindly_retried", _unknown_never_blindly_retried),
    Invariant("no_false_certainty", _no_false_certainty),
    Invariant("one_effect_per_key", _one_effect_per_key),
    Invariant("refusal_is_not_success", _refusal_is_not_success),
    Invariant("every_end_explained", _every_end_explained),
    Invariant("diagnostics_bounded", _diagnostics_bounded),
    Invariant("always_ends", _always_ends),
)
"""Those that concern a turn."""
