"""A tool in a thread is left behind, never stopped: what it says for certain afterwards is heard."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import Any, cast

from turns import FAILED, FAST, SECRET, Shaky, Stage, of

from wholecall.turn.tools import UNKNOWN, Context

PATIENT = replace(FAST, queries=3)


class Slow:
    """A sync tool whose first try is slower than its limit, and ends when it is asked about.

    The query waits until the first try has ended, and a little longer, and says that it does not know.
    """

    def __init__(self, outcome: object) -> None:
        self.outcome = outcome
        self.count = 0
        self.asked = threading.Event()
        self.ended = threading.Event()

    def __call__(self, *_: object) -> object:
        self.count += 1
        self.asked.wait(5)
        self.ended.set()
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome

    def query(self, _: str) -> object:
        self.asked.set()
        self.ended.wait(5)
        time.sleep(0.02)
        return UNKNOWN


def stage(outcome: object, **more: Any) -> tuple[Stage, Slow]:
    slow = Slow(outcome)
    made = Stage(save=cast(Any, slow), query=cast(Any, slow.query), timeout=0.05, policy=PATIENT, **more)
    return made, slow


def test_a_late_result_is_a_result() -> None:
    one, slow = stage("saved")
    result = one.run()

    assert (result.end, result.fault) == ("settled", None)
    assert [(ran.state, ran.result) for ran in result.operations] == [("succeeded", "saved")]
    assert ("O12" in one.rows, "O19" in one.rows, slow.count) == (True, True, 1)
    assert [kept.state for kept in one.on_record] == ["succeeded"]
    assert [(tried.number, tried.ended_by) for tried in one.ledger.tries(result.operations[0].key)] == [
        (1, "result")
    ]


def test_a_late_promise_is_a_promise() -> None:
    one, slow = stage(FAILED)
    result = one.run()

    assert (result.end, slow.count) == ("settled", 1)
    assert [(ran.state, ran.fault) for ran in result.operations] == [("failed", "operation.failed")]
    assert "O20" in one.rows
    assert SECRET in str(result.operations[0].reason)


def test_a_late_exception_says_nothing() -> None:
    one, slow = stage(RuntimeError(SECRET))
    result = one.run()

    assert (result.end, slow.count) == ("unresolved", 1)
    assert [ran.fault for ran in result.operations] == ["operation.unresolved"]


def test_a_late_result_that_cannot_be_stored_is_stored_later() -> None:
    one, _ = stage("saved", ledger=Shaky(of("record", 2)))
    result = one.run()

    assert [(ran.state, ran.result) for ran in result.operations] == [("succeeded", "saved")]


def test_the_result_of_an_earlier_try_counts_while_a_later_one_runs() -> None:
    """Both are one effect, and what is known is known."""
    second, first = threading.Event(), threading.Event()
    count = []

    def save(_: object, context: Context) -> str:
        count.append(context.try_number)
        if context.try_number == 1:
            second.wait(5)
            first.set()
            return "first"
        second.set()
        first.wait(5)
        time.sleep(0.02)
        raise RuntimeError(SECRET)

    one = Stage(save=cast(Any, save), effect="idempotent", timeout=0.5)
    result = one.run()

    assert sorted(count) == [1, 2]
    assert [(ran.state, ran.result) for ran in result.operations] == [("succeeded", "first")]


def test_what_an_earlier_try_gave_is_stored_later_where_it_cannot_be_at_once() -> None:
    """The ledger fails just when the later try has ended, and what the earlier one gave is to be recorded."""
    second, first = threading.Event(), threading.Event()

    def save(_: object, context: Context) -> str:
        if context.try_number == 1:
            second.wait(5)
            first.set()
            return "first"
        second.set()
        first.wait(5)
        time.sleep(0.02)
        raise RuntimeError(SECRET)

    ledger = Shaky(of("record", 2))
    one = Stage(save=cast(Any, save), effect="idempotent", timeout=0.5, ledger=ledger)
    result = one.run()

    assert [(ran.state, ran.result) for ran in result.operations] == [("succeeded", "first")]


def test_what_a_sync_tool_gives_to_be_awaited_is_awaited_and_is_its_result() -> None:
    async def later() -> str:
        return "saved"

    one = Stage(save=cast(Any, lambda *_: later()))

    assert [ran.result for ran in one.run().operations] == ["saved"]
