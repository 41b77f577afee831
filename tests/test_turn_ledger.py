"""What a turn finds in the ledger when it runs again, and what becomes of it where the ledger fails."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest
from anyio import from_thread
from turns import (
    BROKEN,
    FAST,
    TWO,
    Acts,
    Script,
    Shaky,
    Stage,
    hang,
    interrupt,
    left,
    of,
)

from wholecall.turn.tools import Applied


def states(stage: Stage) -> list[str]:
    return [operation.state for operation in stage.on_record]


# -- ids, and running again ---------------------------------------------------------------------------


def test_an_id_is_minted_where_none_is_given() -> None:
    first, second = Stage(id=None).run(), Stage(id=None).run()

    assert len({first.turn_id, second.turn_id, ""}) == 3


def test_a_settled_turn_run_again_asks_for_nothing_and_says_the_same() -> None:
    stage = Stage([TWO])
    first = stage.run()
    again = stage.run(script=Script([]))

    assert (again.end, again.operations, again.messages) == ("settled", first.operations, first.messages)
    assert (stage.requests, stage.save.count, stage.other.count) == (0, 1, 1)


def test_what_a_crashed_run_only_planned_is_cancelled() -> None:
    stage = Stage(ledger=left("started", "planned"), query=Acts([Applied("found")]))
    result = stage.run()

    assert (result.end, result.fault, stage.requests) == ("cancelled", "turn.interrupted", 0)
    assert states(stage) == ["succeeded", "cancelled"]
    assert [m["role"] for m in result.messages] == ["assistant", "tool", "tool"]


def test_a_batch_that_was_only_planned_leaves_room_for_another() -> None:
    """Nothing of it started, so the turn asks again; and the two batches are told apart for ever."""
    stage = Stage(ledger=left("planned", "planned"))
    result = stage.run()

    assert (result.end, stage.requests, stage.save.count) == ("settled", 1, 1)
    assert states(stage) == ["cancelled", "cancelled", "succeeded"]
    assert [attempt.number for attempt in result.attempts] == [2]
    again = stage.run(script=Script([]))
    assert (again.end, again.operations, stage.requests) == ("settled", result.operations, 0)


def test_an_operation_that_lives_elsewhere_is_waited_for() -> None:
    """Its worker ends it, and that is its end here too."""
    ledger = left("started", lease=60)

    def settle(number: int, _: str) -> None:
        if number == 4:
            ledger.fails = lambda _, __: None
            key = "key-0"
            ledger.record(key, owner="gone", number=1, input="result", state="succeeded", result='"theirs"')

    ledger.fails = settle
    result = Stage(ledger=ledger).run()

    assert (result.end, result.operations[0].result) == ("settled", "theirs")


ENDS = {
    "succeeded": ("result", "", "settled", "succeeded"),
    "failed": ("declared_failure", "operation.failed", "settled", "failed"),
    "unresolved": ("unanswerable", "operation.unresolved", "unresolved", "unresolved"),
}


@pytest.mark.parametrize("before", ["started", "uncertain"])
@pytest.mark.parametrize("state", ENDS)
def test_the_end_that_another_worker_records_is_adopted(before: str, state: str) -> None:
    input, fault, end, here = ENDS[state]
    ledger = left(before, lease=60)

    def settle(_: int, name: str) -> None:
        if name == "take_over":
            ledger.fails = lambda _, __: None
            if before == "started" and state == "unresolved":
                move = {"input": "raised", "state": "uncertain", "fault": "operation.uncertain"}
                ledger.record("key-0", owner="gone", number=1, **move)
            ledger.record("key-0", owner="gone", number=1, input=input, state=state, fault=fault)

    ledger.fails = settle
    stage = Stage(ledger=ledger)
    result = stage.run()

    assert (result.end, result.operations[0].state, stage.save.count) == (end, here, 0)


def taken_over(then: str) -> Stage:
    """Another worker is faster between the plan and the claim."""
    ledger = Shaky()

    def steal(_: int, name: str) -> None:
        if name == "claim":
            ledger.fails = lambda _, __: None
            (one,) = ledger.of_turn("turn")
            if then == "cancelled":
                ledger.record(
                    one.key, owner="other", number=0, input="cancel", state=then, fault="operation.cancelled"
                )
            else:
                ledger.claim(one.key, owner="other", lease=0)
            if then == "blind":
                ledger.fails = of("get", 1)

    ledger.fails = steal
    return Stage(ledger=ledger)


@pytest.mark.parametrize(
    ("then", "end"), [("cancelled", "cancelled"), ("started", "unresolved"), ("blind", "unresolved")]
)
def test_a_key_that_another_worker_has_is_not_run_here(then: str, end: str) -> None:
    stage = taken_over(then)

    assert (stage.run().end, stage.save.count) == (end, 0)


def test_a_read_that_another_worker_lost_is_read_here() -> None:
    stage = taken_over("started")
    stage.effect = "none"

    assert (stage.run().end, stage.save.count) == ("settled", 1)


def test_another_batch_of_the_turn_that_is_planned_first_is_the_only_one() -> None:
    ledger = Shaky()

    def plan(_: int, name: str) -> None:
        if name == "plan":
            ledger.fails = lambda _, __: None
            ledger.plan(left("planned").of_turn("turn"))

    ledger.fails = plan
    stage = Stage(ledger=ledger)

    assert (stage.run().end, stage.save.count, states(stage)) == ("cancelled", 0, ["planned"])


def test_a_lease_is_held_while_the_tool_runs() -> None:
    async def slow(*_: object) -> str:
        await anyio.sleep(0.3)
        return "saved"

    ledger = Shaky(of("extend", 1))
    stage = Stage(save=Acts([slow]), ledger=ledger, policy=replace(FAST, lease=0.2))

    assert stage.run().end == "settled"
    assert ledger.made.count("extend") >= 2


def test_what_a_cancelled_turn_leaves_uncertain_need_not_be_waited_for() -> None:
    """Its lease is given up, so that a resume takes it over at once; its query says what came of it."""
    stage = Stage(save=Acts([hang]), interrupted=True)
    result = stage.run()

    assert (result.end, result.fault, states(stage)) == ("unresolved", "turn.cancelled", ["uncertain"])
    again = stage.run(interrupted=False, query=Acts([Applied("found")]), script=Script([]))
    assert (again.end, stage.requests, stage.save.count) == ("settled", 0, 1)
    assert again.operations[0].result == "found"


def test_an_absence_on_record_is_not_asked_for_again() -> None:
    """A promise that the effect never will happen outlives the worker that heard it."""
    ledger = left("uncertain")
    ledger.mark_absent("key-0", 1)
    stage = Stage(ledger=ledger, query=Acts([BROKEN]))

    assert (stage.run().end, stage.save.count, stage.query and stage.query.count) == ("settled", 1, 0)


# -- the ledger fails ---------------------------------------------------------------------------------


def test_a_result_that_could_not_be_recorded_is_recorded_when_the_turn_is_cancelled() -> None:
    """It is known, so it is said; whatever was waited for."""
    stage = Stage(ledger=Shaky(of("record", 1)), interrupted=True)

    def stop(_: int, name: str) -> str | None:
        if name == "record":
            stage.ledger.fails = lambda _, name: cancel() if name == "get" else None
            return "before"
        return None

    def cancel() -> str:
        stage.ledger.fails = lambda _, __: None
        from_thread.run_sync(interrupt)
        return "before"

    stage.ledger.fails = stop
    result = stage.run()

    assert (result.end, states(stage)) == ("cancelled", ["succeeded"])


def test_a_record_that_is_gone_leaves_the_effect_unresolved() -> None:
    stage = Stage(ledger=left("started"))
    gone = Shaky()
    stage.ledger.get = gone.get  # type: ignore[method-assign]

    assert (stage.run().end, stage.save.count) == ("unresolved", 0)


def test_cancelled_while_another_worker_is_faster_or_the_ledger_is_gone() -> None:
    """What was only planned here may run elsewhere, and then its effect is not known here."""
    for then, end in (("claims", "uncertain"), ("fails", "cancelled")):
        stage = Stage([TWO], save=Acts([hang]), interrupted=True)

        def meanwhile(_: int, name: str, stage: Stage = stage, then: str = then) -> str | None:
            if name != "record":
                return None
            if then == "fails":
                return "before"
            stage.ledger.fails = lambda _, __: None
            stage.ledger.claim(stage.on_record[1].key, owner="other", lease=60)
            return None

        stage.ledger.fails = meanwhile
        result = stage.run()

        assert (result.end, result.operations[1].state, stage.other.count) == ("unresolved", end, 0)


def test_a_read_that_another_worker_left_unresolved_has_failed_here() -> None:
    """What only reads leaves nothing to look for, whatever another worker recorded of it."""
    ledger = left("started", lease=60)
    stage = Stage(ledger=ledger, effect="none")

    def settle(_: int, name: str) -> None:
        if name == "take_over":
            ledger.fails = lambda _, __: None
            for input, state, fault in (
                ("raised", "uncertain", "operation.uncertain"),
                ("unanswerable", "unresolved", "operation.unresolved"),
            ):
                ledger.record("key-0", owner="gone", number=1, input=input, state=state, fault=fault)

    ledger.fails = settle

    assert (stage.run().end, stage.save.count) == ("settled", 0)
