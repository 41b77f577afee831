"""Each invariant of a turn holds of an honest one, and can fail: a record that breaks it is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from turns import ARGUMENTS, BROKEN, FAST, HALF, SECRET, Acts, Script, Stage, context_of

from wholecall.turn.invariants import OF_TURN, RanTool, RunRecord, TurnRecord
from wholecall.turn.result import Attempt
from wholecall.turn.tools import ABSENT
from wholecall_spec.statements import STATEMENTS

CALL = f"save {ARGUMENTS}"


def honest() -> TurnRecord:
    """A call whose first try wrote nothing, as a query said, and whose second one wrote; then read again."""
    stage = Stage(save=Acts([BROKEN, "saved"]), query=Acts([ABSENT]))
    first = stage.run()
    requests = stage.requests
    again = stage.run(script=Script([]))
    (kept,) = stage.on_record
    ran = [RanTool(context_of(stage.save, at).key, at + 1, CALL) for at in (0, 1)]
    return TurnRecord(
        FAST,
        "once",
        corrupt=frozenset(("save {}",)),
        secrets=frozenset((SECRET,)),
        runs=[
            RunRecord(requests=requests, queries={kept.key: 1}, ran=2, result=first),
            RunRecord(resumed=True, ran=2, result=again),
        ],
        allowed=[(CALL,)],
        ran=ran,
        effects={kept.key: 1},
        kept=stage.on_record,
        tries={kept.key: stage.ledger.tries(kept.key)},
        shown=[repr(stage.events), repr(first), repr(stage.turn)],
    )


def told(record: TurnRecord, **changes: Any) -> list[RunRecord]:
    """The runs of a record, where the first one's result says something else."""
    run, *others = record.runs
    assert run.result is not None
    return [replace(run, result=replace(run.result, **changes)), *others]


def broken() -> dict[str, list[TurnRecord]]:
    """For each invariant, the records that break it, each in its own way."""
    record = honest()
    first, again = record.runs
    (kept,) = record.kept
    tries = record.tries[kept.key]
    assert first.result is not None
    (said,) = first.result.operations
    failed = {"operations": (replace(said, state="failed", fault="operation.failed"),)}
    cancelled = {"operations": (replace(said, state="cancelled", fault="operation.cancelled"),)}
    refused = {"attempts": (Attempt(1, "rejected", "syntax.incomplete"),)}
    return {
        "whole_batch_first": [
            replace(record, allowed=[]),
            replace(record, allowed=[("other {}",)]),
            replace(record, allowed=[(CALL, "save {}")]),
        ],
        "corrupt_never_runs": [replace(record, ran=[*record.ran, RanTool(kept.key, 3, "save {}")])],
        "bounded_attempts": [
            replace(record, runs=[replace(first, requests=FAST.attempts + 1)]),
            replace(record, runs=[replace(first, queries={kept.key: FAST.queries + 1})]),
            replace(record, tries={kept.key: tries * FAST.tries}),
        ],
        "no_regeneration_after_start": [
            replace(record, late=1),
            replace(record, runs=[first, replace(again, requests=1)]),
        ],
        "unknown_never_blindly_retried": [
            replace(record, tries={kept.key: tries[:1]}),
            replace(record, ran=[*record.ran, record.ran[0]]),
            replace(record, tries={kept.key: tuple(replace(one, absent=False) for one in tries)}),
        ],
        "no_false_certainty": [
            replace(record, effects={}),
            replace(record, runs=told(record, **failed)),
            replace(record, runs=told(record, **cancelled)),
            replace(record, kept=(replace(kept, state="failed"),)),
        ],
        "one_effect_per_key": [replace(record, effects={kept.key: 2})],
        "refusal_is_not_success": [replace(record, runs=told(record, **refused))],
        "every_end_explained": [
            replace(record, runs=told(record, end="exhausted")),
            replace(record, runs=told(record, end="unresolved", fault="no.such_fault")),
        ],
        "diagnostics_bounded": [replace(record, shown=[f"no room for {SECRET}"])],
        "always_ends": [replace(record, runs=told(record, end="dispatching"))],
    }


def fails(record: TurnRecord) -> list[str]:
    return [one.name for one in OF_TURN if not one.holds(record)]


def test_the_invariants_are_the_statements_that_are_asked_of_turns() -> None:
    asked = [(one.name, one.sentence) for one in STATEMENTS if "turns" in one.asked_of]

    assert [(one.name, one.sentence) for one in OF_TURN] == asked


def test_every_invariant_holds_of_an_honest_turn() -> None:
    assert fails(honest()) == []


def test_every_invariant_holds_of_a_turn_that_was_refused_or_killed() -> None:
    stage = Stage([HALF])
    refused = replace(honest(), runs=[RunRecord(requests=3, result=stage.run())], ran=[], tries={}, kept=())

    assert fails(refused) == []
    assert fails(replace(refused, runs=[RunRecord(requests=1)])) == []


@pytest.mark.parametrize("name", [one.name for one in OF_TURN])
def test_every_invariant_can_fail(name: str) -> None:
    """Each way of breaking it is seen."""
    assert [name in fails(record) for record in broken()[name]] == [True] * len(broken()[name])


def test_what_may_be_uncertain_is_no_false_certainty() -> None:
    """A tool that only reads fails whatever happened, and what is unresolved says nothing."""
    record = honest()
    (kept,) = record.kept

    assert fails(replace(record, kept=(replace(kept, state="unresolved"),))) == []
    reading = replace(record, effect="none", kept=(replace(kept, state="failed"),))
    assert fails(replace(reading, effects={kept.key: 2})) == []
