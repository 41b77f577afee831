"""What comes out of a turn as an exception comes out as itself, after everything is on record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import anyio
import pytest
from turns import ARGUMENTS, BROKEN, FAST, GOOD, TWO, Acts, Script, Shaky, Stage, hang, left, nth, of, says

from wholecall.turn.ledger_records import LedgerUnavailableError
from wholecall.turn.run import Turn
from wholecall.turn.tools import Applied

LEAVING = [SystemExit(3), KeyboardInterrupt()]


def states(stage: Stage) -> list[str]:
    return [operation.state for operation in stage.on_record]


def leaves(stage: Stage, error: BaseException) -> None:
    """The turn is left by this exception itself; what it came to is told all the same."""
    with pytest.raises(type(error)) as raised:
        stage.run()
    assert raised.value is error
    assert stage.turn is not None
    result = stage.turn.result()

    assert (result.end, result.fault) == ("unresolved", "turn.cancelled")
    assert [one.state for one in result.operations] == states(stage)


# -- a tool that ends the process ----------------------------------------------------------------------


@pytest.mark.parametrize("error", LEAVING, ids=repr)
@pytest.mark.parametrize("concurrency", [1, 2])
def test_a_tool_that_leaves_the_program_is_recorded_first(error: BaseException, concurrency: int) -> None:
    """It may have written; its sibling never starts, or is cancelled."""
    stage = Stage(
        [TWO], save=Acts([error]), other=Acts([hang]), policy=replace(FAST, concurrency=concurrency)
    )
    leaves(stage, error)

    assert states(stage) == ["uncertain", "cancelled" if concurrency == 1 else "uncertain"]
    assert stage.ledger.tries(stage.on_record[0].key)[0].ended_by == "raised"


@pytest.mark.parametrize("error", LEAVING, ids=repr)
def test_a_sync_tool_that_leaves_the_program_is_recorded_first(error: BaseException) -> None:
    def save(*_: object) -> None:
        raise error

    stage = Stage()
    tools = [replace(stage.tools[0], run=save)]
    turn = Turn(tools, Script([GOOD]), "turn", FAST, ledger=stage.ledger)
    with pytest.raises(type(error)) as raised:
        turn.run_sync()

    assert (raised.value, states(stage), turn.result().end) == (error, ["uncertain"], "unresolved")


@pytest.mark.parametrize("error", LEAVING, ids=repr)
def test_a_query_that_leaves_the_program_leaves_the_effect_uncertain(error: BaseException) -> None:
    stage = Stage(save=Acts([BROKEN]), query=Acts([error]))
    leaves(stage, error)
    again = stage.run(query=Acts([Applied("found")]), script=Script([]))

    assert (again.end, again.operations[0].result, stage.save.count) == ("settled", "found", 1)


def test_what_leaves_the_program_before_anything_ran_comes_out_too() -> None:
    for place in ({"check": Acts([SystemExit(3)])}, {"options": {"authorize": Acts([SystemExit(3)])}}):
        stage = Stage(**place)
        with pytest.raises(SystemExit):
            stage.run()

        assert stage.turn is not None
        assert (stage.turn.result().end, stage.on_record, stage.save.count) == ("cancelled", (), 0)


def test_a_tool_whose_own_task_was_cancelled_is_uncertain_and_cancels_nothing() -> None:
    async def cancelled(*_: object) -> None:
        raise anyio.get_cancelled_exc_class()

    stage = Stage([TWO], save=Acts([cancelled]))

    assert (stage.run().end, states(stage)) == ("unresolved", ["unresolved", "succeeded"])


# -- a ledger that cannot tell -------------------------------------------------------------------------


def test_a_ledger_that_cannot_tell_what_was_started_ends_the_turn() -> None:
    """Nothing is asked for; the error says why, and the turn is at an end that it keeps."""
    stage = Stage(ledger=Shaky(nth(1)))
    with pytest.raises(LedgerUnavailableError) as raised:
        stage.run()
    assert stage.turn is not None
    result = stage.turn.result()

    assert (raised.value.attempted, raised.value.__context__) == ("of_turn", None)
    assert (result.end, result.fault, result.operations) == ("cancelled", "turn.cancelled", ())
    assert (result.attempts, result.messages, stage.requests, stage.save.count) == ((), (), 0, 0)
    assert stage.turn.run_sync() == result


def test_another_turn_of_the_same_id_goes_on_where_the_ledger_is_back() -> None:
    stage = Stage(ledger=left("started"), query=Acts([Applied("found")]))
    stage.ledger.fails = of("of_turn", 1)
    with pytest.raises(LedgerUnavailableError):
        stage.run()

    assert (stage.run().end, stage.requests, stage.save.count) == ("settled", 0, 0)


# -- an opening without an end -------------------------------------------------------------------------


async def silent() -> Any:
    """A stream that was opened in time, and gives no frame."""
    await hang()
    yield GOOD[0]


async def asked_for() -> Any:
    return silent()


@pytest.mark.parametrize("is_awaited", [False, True])
def test_a_stream_that_never_begins_is_given_up_in_time(is_awaited: bool) -> None:
    """An async generator has asked nothing before its first frame, so it was unreachable; else it stalls."""
    fault = "stream.aborted" if is_awaited else "turn.unreachable"
    begun = [asked_for, GOOD] if is_awaited else [silent, GOOD]
    stage = Stage(policy=replace(FAST, stream_idle=0.05))

    def request(_: object) -> Any:
        reply: Any = begun.pop(0)
        return reply() if callable(reply) else reply

    turn = Turn(stage.tools, request, "turn", stage.policy, ledger=stage.ledger)
    result = turn.run_sync()

    assert [attempt.fault for attempt in result.attempts] == [fault, None]
    assert (result.end, stage.save.count) == ("settled", 1)


def test_a_batch_whose_sibling_leaves_the_program_goes_no_further() -> None:
    stage = Stage([says(ARGUMENTS, ARGUMENTS, ARGUMENTS)], save=Acts(["saved", SystemExit(3)]))
    with pytest.raises(SystemExit):
        stage.run()

    assert states(stage) == ["succeeded", "uncertain", "cancelled"]
