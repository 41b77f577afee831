"""How a ledger records ends and what it keeps. Expected from design §3.8 and the operation table."""

from __future__ import annotations

import math
import time
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from ledgers import LEASE, NOW, Clock, doubted, failed, found, planned, started, succeeded

from wholecall.turn.ledger import Ledger
from wholecall.turn.ledger_records import LedgerMoveError, Try
from wholecall_generated.tables import SPEC
from wholecall_spec.table import Row

TABLE = SPEC.table("operation")

# -- how it ended -----------------------------------------------------------------------------------

ROWS = [row for row in TABLE.rows if row.next not in (row.state, "started") and row.input != "taken"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_what_a_row_of_the_table_says_is_recorded(ledger: Ledger, clock: Clock, row: Row) -> None:
    ledger.plan([planned()])
    if row.state != "planned":
        assert ledger.claim("a1", owner="me", lease=LEASE)
    if row.state == "uncertain":
        assert doubted(ledger)
    before = found(ledger)
    clock.now += 5

    assert before.state == row.state
    assert ledger.record(
        "a1",
        owner="me",
        number=before.tries,
        input=row.input,
        state=row.next,
        fault=row.fault,
        result="1",
    )

    final = TABLE.state(row.next).final
    assert found(ledger) == replace(
        before,
        state=row.next,
        fault=row.fault or None,
        result="1" if row.next == "succeeded" else None,
        ended_at=clock.now if final else None,
        lease_until=None if final else before.lease_until,
    )
    assert [one.ended_by for one in ledger.tries("a1")] == {
        "planned": [],
        "started": [row.input],
        "uncertain": ["result" if row.input == "result" else "timeout"],
    }[row.state]


def test_what_another_worker_holds_is_not_mine_to_doubt(ledger: Ledger) -> None:
    before = started(ledger, owner="you")

    assert not ledger.record(
        "a1", owner="me", number=1, input="taken", state="uncertain", fault="operation.uncertain"
    )

    assert found(ledger) == before


MOVES = [
    ("timeout", "succeeded", ""),
    ("result", "succeeded", "operation.failed"),
    ("result", "planned", ""),
    ("start", "started", ""),
    ("found_absent", "started", ""),
    ("cancel", "uncertain", ""),
    ("declared_failure", "failed", ""),
    ("sk-planted", "sk-planted", "sk-planted"),
]


@pytest.mark.parametrize("move", MOVES)
def test_what_no_row_of_the_table_says_is_not_recorded(ledger: Ledger, move: tuple[str, str, str]) -> None:
    before = started(ledger)
    input, state, fault = move

    with pytest.raises(LedgerMoveError) as caught:
        ledger.record("a1", owner="me", number=1, input=input, state=state, fault=fault)

    assert (caught.value.input, caught.value.state, caught.value.fault) == move
    assert "planted" not in str(caught.value)
    assert found(ledger) == before


def test_a_late_result_of_an_earlier_try_is_a_result(ledger: Ledger, clock: Clock) -> None:
    started(ledger)
    assert doubted(ledger)
    assert ledger.retry("a1", owner="me", number=1, lease=LEASE)
    clock.now += 1

    assert succeeded(ledger, number=1)

    assert found(ledger).state == "succeeded"
    first, second = ledger.tries("a1")
    assert (first.ended_by, first.ended_at) == ("result", NOW + 1)
    assert second == Try(key="a1", number=2, owner="me", started_at=NOW)


def test_a_late_answer_of_an_earlier_try_is_no_end_of_a_later_one(ledger: Ledger) -> None:
    started(ledger)
    assert doubted(ledger)
    assert ledger.retry("a1", owner="me", number=1, lease=LEASE)
    before = found(ledger)

    assert not failed(ledger, number=1)
    assert not doubted(ledger, number=1)

    assert found(ledger) == before


@pytest.mark.parametrize("number", [-1, 0, 2])
def test_a_try_that_was_never_opened_has_no_result(ledger: Ledger, number: int) -> None:
    before = started(ledger)

    assert not succeeded(ledger, number=number)

    assert found(ledger) == before


def test_what_never_started_has_no_result(ledger: Ledger) -> None:
    ledger.plan([planned()])

    assert not any(succeeded(ledger, number=number) for number in (0, 1))
    assert not failed(ledger, number=0)
    assert not doubted(ledger, number=0)

    assert found(ledger) == planned()


def test_a_started_operation_is_not_cancelled(ledger: Ledger) -> None:
    before = started(ledger)

    for number in (0, 1):
        assert not ledger.record(
            "a1", owner="me", number=number, input="cancel", state="cancelled", fault="operation.cancelled"
        )

    assert found(ledger) == before


def test_an_effect_that_a_query_found_ends_a_try_that_had_no_end(ledger: Ledger) -> None:
    started(ledger, owner="you")

    assert succeeded(ledger, input="found_applied")
    assert not succeeded(ledger, owner="you")

    assert [one.ended_by for one in ledger.tries("a1")] == ["found_applied"]


@pytest.mark.parametrize("final", [state.name for state in TABLE.finals])
def test_a_final_state_never_changes(ledger: Ledger, clock: Clock, final: str) -> None:
    ledger.plan([planned()])
    row = next(row for row in ROWS if row.next == final)
    if final != "cancelled":
        assert ledger.claim("a1", owner="me", lease=LEASE)
    number = found(ledger).tries
    fields: dict[str, Any] = {"owner": "me", "number": number}
    assert ledger.record("a1", **fields, input=row.input, state=final, fault=row.fault)
    before, tries = found(ledger), ledger.tries("a1")
    clock.now += 2 * LEASE

    assert ledger.plan([planned()])
    assert not ledger.claim("a1", owner="me", lease=LEASE)
    assert not ledger.retry("a1", **fields, lease=LEASE)
    assert not ledger.extend("a1", **fields, lease=LEASE)
    assert not ledger.take_over(before, owner="me", lease=LEASE)
    assert not ledger.mark_absent("a1", number)
    for other in TABLE.rows:
        if other.next not in (other.state, "started"):
            assert not ledger.record(
                "a1", **fields, input=other.input, state=other.next, fault=other.fault, result="2"
            )

    assert found(ledger) == before
    assert ledger.tries("a1") == tries
    assert ledger.recover() == ()


# -- absence ----------------------------------------------------------------------------------------


def test_a_promise_of_absence_holds_of_a_try_and_of_every_earlier_one(ledger: Ledger) -> None:
    started(ledger)
    for number in (1, 2):
        assert ledger.retry("a1", owner="me", number=number, lease=LEASE)

    assert ledger.mark_absent("a1", 2)

    assert [one.absent for one in ledger.tries("a1")] == [True, True, False]
    assert ledger.mark_absent("a1", 1)
    assert [one.absent for one in ledger.tries("a1")] == [True, True, False]


def test_what_has_no_try_has_nothing_to_be_absent(ledger: Ledger) -> None:
    ledger.plan([planned()])

    assert not ledger.mark_absent("a1", 0)
    assert not ledger.mark_absent("a1", 1)
    assert not ledger.mark_absent("unknown", 1)


# -- after a crash ----------------------------------------------------------------------------------


def test_what_was_left_is_listed_by_turn_with_what_may_be_taken_over(ledger: Ledger, clock: Clock) -> None:
    mine = started(ledger, "c3", turn_id="turn 3")
    assert ledger.plan([planned("b2", turn_id="turn 2")])
    clock.now += 1
    later = started(ledger, "d4", turn_id="turn 1")
    started(ledger)
    assert succeeded(ledger)

    def left(now: float | None) -> list[tuple[str, bool]]:
        return [(one.key, lost) for one, lost in ledger.recover(now)]

    assert left(None) == [("d4", False), ("b2", False), ("c3", False)]
    assert left(mine.lease_until) == [("d4", False), ("b2", False), ("c3", True)]
    assert left(later.lease_until) == [("d4", True), ("b2", False), ("c3", True)]
    assert left(math.inf) == [("d4", True), ("b2", False), ("c3", True)]
    clock.now = NOW + LEASE
    assert ledger.recover() == ledger.recover(NOW + LEASE)


def test_a_ledger_that_is_opened_again_holds_what_it_held(ledger_url: str) -> None:
    with Ledger(ledger_url) as first:
        started(first)
        assert doubted(first)
        assert first.retry("a1", owner="me", number=1, lease=LEASE)
        held = found(first), first.tries("a1")

    with Ledger(ledger_url) as second, Ledger(ledger_url) as third:
        assert (found(second), second.tries("a1")) == held
        assert succeeded(third)
        assert found(second).state == "succeeded"


def test_the_clock_of_a_ledger_is_the_time_of_day() -> None:
    with Ledger("sqlite://") as ledger:
        before = time.time()
        until = started(ledger).lease_until

        assert until is not None
        assert before <= until - LEASE <= time.time()


# -- what is shown ----------------------------------------------------------------------------------


def test_a_record_shows_no_arguments_no_call_id_and_no_result(ledger: Ledger) -> None:
    secret = "sk-planted-7431"  # noqa: S105
    before = started(ledger, call_id=secret, arguments=f'"{secret}"')
    assert ledger.record("a1", owner="me", number=1, input="result", state="succeeded", result=f'"{secret}"')

    shown = repr([before, found(ledger), ledger.tries("a1"), ledger.of_turn("turn"), ledger])
    assert secret not in shown
    assert "a1" in shown
    assert "succeeded" in shown


def test_a_record_is_what_it_is() -> None:
    for record in (planned(), Try(key="a1", number=1, owner="me", started_at=NOW)):
        with pytest.raises(FrozenInstanceError):
            record.owner = "you"  # type: ignore[misc]
