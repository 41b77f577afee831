"""What a ledger plans, claims and holds, in each kind of database. Expected from design §3.8."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledgers import LEASE, NOW, Clock, doubted, failed, found, planned, started, succeeded

from wholecall.turn.ledger import Ledger
from wholecall.turn.ledger_records import Left, Try
from wholecall_generated.tables import SPEC

TABLE = SPEC.table("operation")

# -- planning ---------------------------------------------------------------------------------------


def test_a_batch_is_planned_whole_and_read_in_order(ledger: Ledger) -> None:
    batch = [planned("c3", index=10), planned("a1", index=9), planned("b2", index=2**80), planned("d4")]

    assert ledger.plan(batch)

    assert ledger.of_turn("turn") == (batch[3], batch[1], batch[0], batch[2])
    assert ledger.of_turn("another") == ()
    assert ledger.get("b2") == batch[2]
    assert ledger.get("e5") is None
    assert ledger.tries("a1") == ()


def test_an_empty_batch_is_planned_by_doing_nothing(ledger: Ledger) -> None:
    assert ledger.plan([])
    assert ledger.recover() == ()


def test_planning_the_same_keys_again_changes_nothing(ledger: Ledger) -> None:
    before = started(ledger)
    batch = [planned("a1", tool="another"), planned("b2", index=1)]

    assert ledger.plan(batch)
    assert ledger.plan(batch)

    assert ledger.of_turn("turn") == (before, batch[1])


def test_what_a_plan_says_of_state_and_owner_is_not_read(ledger: Ledger) -> None:
    assert ledger.plan([planned(state="succeeded", owner="me", tries=3, ended_at=1.0, result="1")])

    assert ledger.get("a1") == planned()


def test_a_turn_has_one_batch(ledger: Ledger) -> None:
    """Two workers of one turn may get two responses: only the batch that was planned first may start."""
    assert ledger.plan([planned("a1"), planned("b2", index=1)])

    assert not ledger.plan([planned("c3", attempt=2)])
    assert not ledger.plan([planned("a1")])
    assert ledger.plan([planned("d4", turn_id="another")])

    assert [one.key for one in ledger.of_turn("turn")] == ["a1", "b2"]


def test_a_batch_that_never_started_makes_room_for_another(ledger: Ledger) -> None:
    assert ledger.plan([planned("a1"), planned("b2", index=1)])
    for key in ("a1", "b2"):
        assert not ledger.plan([planned("c3", attempt=2)])
        assert ledger.record(
            key, owner="me", number=0, input="cancel", state="cancelled", fault="operation.cancelled"
        )

    assert ledger.plan([planned("c3", attempt=2)])


def test_a_batch_is_of_one_turn(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match="too many values"):
        ledger.plan([planned("a1"), planned("b2", turn_id="another")])

    assert ledger.recover() == ()


HARD = [
    "",
    "\0",
    "a\0b",
    "\ud800",
    "\udc00\ud800",
    "\x1a",
    "\x1a0000",
    "\\x1a0041",
    "é€😀",
    "'; --",
    "%s :a ?",
]


@pytest.mark.parametrize("text", HARD, ids=ascii)
def test_a_text_is_kept_exactly_whatever_is_in_it(ledger: Ledger, text: str) -> None:
    given = planned(key=text, turn_id=text, call_id=text, tool=text, arguments=text)

    assert ledger.plan([given])
    assert ledger.of_turn(text) == (given,)
    assert ledger.claim(text, owner=text, lease=LEASE)
    assert ledger.record(text, owner="", number=1, input="result", state="succeeded", result=text)

    assert found(ledger, text).result == text
    assert ledger.tries(text)[0].owner == text


def test_any_text_and_any_index_are_kept() -> None:
    keys = map(str, itertools.count())
    with Ledger("sqlite://") as ledger:

        @given(text=st.text(st.characters(exclude_categories=())), index=st.integers(min_value=0))
        def kept(text: str, index: int) -> None:
            one = planned(key := next(keys), turn_id=f"{key}{text}", call_id=text, index=index)
            assert ledger.plan([one])

            assert ledger.get(key) == one
            assert ledger.of_turn(one.turn_id) == (one,)

        kept()


# -- claiming ---------------------------------------------------------------------------------------


def test_a_claim_starts_the_first_try(ledger: Ledger) -> None:
    ledger.plan([planned()])

    assert ledger.claim("a1", owner="me", lease=LEASE)

    assert ledger.get("a1") == replace(
        planned(), state="started", owner="me", lease_until=NOW + LEASE, tries=1
    )
    assert ledger.tries("a1") == (Try(key="a1", number=1, owner="me", started_at=NOW),)


def test_a_key_is_claimed_once(ledger: Ledger, clock: Clock) -> None:
    before = started(ledger)
    clock.now += 2 * LEASE

    assert not ledger.claim("a1", owner="you", lease=LEASE)
    assert not ledger.claim("a1", owner="me", lease=LEASE)
    assert not ledger.claim("unknown", owner="me", lease=LEASE)

    assert found(ledger) == before
    assert len(ledger.tries("a1")) == 1
    assert ledger.tries("unknown") == ()


# -- the next try -----------------------------------------------------------------------------------


def test_the_next_try_of_an_uncertain_operation(ledger: Ledger, clock: Clock) -> None:
    started(ledger)
    clock.now += 1
    assert doubted(ledger)
    clock.now += 1

    assert ledger.retry("a1", owner="me", number=1, lease=LEASE)

    assert found(ledger) == replace(
        planned(), state="started", owner="me", lease_until=NOW + 2 + LEASE, tries=2
    )
    assert ledger.tries("a1") == (
        Try(key="a1", number=1, owner="me", started_at=NOW, ended_at=NOW + 1, ended_by="timeout"),
        Try(key="a1", number=2, owner="me", started_at=NOW + 2),
    )


def test_a_try_whose_end_could_not_be_written_ends_as_unrecorded(ledger: Ledger, clock: Clock) -> None:
    started(ledger)
    clock.now += 1

    assert ledger.retry("a1", owner="me", number=1, lease=LEASE)

    assert [(one.ended_at, one.ended_by) for one in ledger.tries("a1")] == [
        (NOW + 1, "unrecorded"),
        (None, None),
    ]
    assert TABLE.input("unrecorded")


@pytest.mark.parametrize(("owner", "number"), [("you", 1), ("me", 0), ("me", 2)])
def test_a_try_is_opened_by_who_holds_it_and_knows_the_latest(
    ledger: Ledger, owner: str, number: int
) -> None:
    before = started(ledger)

    assert not ledger.retry("a1", owner=owner, number=number, lease=LEASE)
    assert not ledger.extend("a1", owner=owner, number=number, lease=LEASE)

    assert found(ledger) == before
    assert len(ledger.tries("a1")) == 1


def test_what_is_only_planned_has_no_next_try(ledger: Ledger) -> None:
    ledger.plan([planned()])

    assert not ledger.retry("a1", owner="me", number=0, lease=LEASE)
    assert not ledger.extend("a1", owner="me", number=0, lease=LEASE)
    assert not ledger.take_over(planned(), owner="me", lease=LEASE)

    assert found(ledger) == planned()


# -- leases -----------------------------------------------------------------------------------------


def test_a_lease_is_extended_by_who_holds_it(ledger: Ledger, clock: Clock) -> None:
    before = started(ledger)
    clock.now += LEASE - 1

    assert ledger.extend("a1", owner="me", number=1, lease=LEASE)

    assert found(ledger) == replace(before, lease_until=NOW + 2 * LEASE - 1)
    clock.now = NOW + LEASE
    assert not ledger.take_over(before, owner="you", lease=LEASE)


def test_a_lease_that_ran_out_is_extended_where_nobody_took_it(ledger: Ledger, clock: Clock) -> None:
    before = started(ledger)
    clock.now += 2 * LEASE

    assert ledger.extend("a1", owner="me", number=1, lease=LEASE)
    assert not ledger.take_over(before, owner="you", lease=LEASE)


def test_a_lease_of_no_time_gives_the_operation_up(ledger: Ledger) -> None:
    before = started(ledger)

    assert ledger.extend("a1", owner="me", number=1, lease=0)
    assert ledger.recover() == (Left(found(ledger), True),)
    assert ledger.take_over(before, owner="you", lease=LEASE)


def test_an_operation_is_taken_over_when_its_lease_ran_out_and_not_before(
    ledger: Ledger, clock: Clock
) -> None:
    before = started(ledger)
    assert before.lease_until is not None

    clock.now = math.nextafter(before.lease_until, -math.inf)
    assert not before.lost(clock.now)
    assert ledger.recover() == (Left(before, False),)
    assert not ledger.take_over(before, owner="you", lease=LEASE)
    assert found(ledger) == before

    clock.now = before.lease_until
    assert before.lost(clock.now)
    assert ledger.recover() == (Left(before, True),)
    assert ledger.take_over(before, owner="you", lease=LEASE)
    assert found(ledger) == replace(before, owner="you", lease_until=clock.now + LEASE)
    assert not ledger.take_over(before, owner="third", lease=LEASE)


def test_taking_over_looks_at_the_record_and_not_at_what_was_seen(ledger: Ledger, clock: Clock) -> None:
    """Neither an older lease nor an older try can be taken."""
    before = started(ledger)
    clock.now += LEASE
    assert ledger.retry("a1", owner="me", number=1, lease=LEASE)
    clock.now += LEASE

    assert not ledger.take_over(before, owner="you", lease=LEASE)
    assert ledger.take_over(replace(found(ledger), lease_until=None), owner="you", lease=LEASE)


def test_a_stale_owner_changes_nothing(ledger: Ledger, clock: Clock) -> None:
    before = started(ledger)
    clock.now += LEASE
    assert ledger.take_over(before, owner="you", lease=LEASE)
    taken = found(ledger)

    assert not doubted(ledger)
    assert not failed(ledger)
    assert not ledger.record(
        "a1",
        owner="me",
        number=1,
        input="unanswerable",
        state="unresolved",
        fault="operation.unresolved",
    )
    assert not ledger.retry("a1", owner="me", number=1, lease=LEASE)
    assert not ledger.extend("a1", owner="me", number=1, lease=LEASE)

    assert found(ledger) == taken
    assert ledger.tries("a1") == (Try(key="a1", number=1, owner="me", started_at=NOW),)


def test_a_stale_owner_may_still_bring_a_success(ledger: Ledger, clock: Clock) -> None:
    """That the effect happened is true whoever says so."""
    before = started(ledger)
    clock.now += LEASE
    assert ledger.take_over(before, owner="you", lease=LEASE)

    assert succeeded(ledger)

    assert found(ledger) == replace(
        before,
        state="succeeded",
        owner="you",
        lease_until=None,
        ended_at=clock.now,
        result='{"ok": true}',
    )
