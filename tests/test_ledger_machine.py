"""Workers do to a ledger whatever comes to mind, and a plain dict says what must come of it.

The dict is the model: it is written from design §3.8 and asks the operation table which states follow which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from ledgers import Clock, planned

from wholecall.turn.ledger import Ledger
from wholecall.turn.ledger_records import Left, Operation, Try
from wholecall_generated.tables import SPEC
from wholecall_spec.table import Row

TABLE = SPEC.table("operation")
FINALS = {state.name for state in TABLE.finals}
BATCHES = [
    [planned("a1"), planned("b2", index=1)],
    [planned("c3", attempt=2)],
    [planned("d4", turn_id="another")],
]
KEYS = [one.key for batch in BATCHES for one in batch]
ROWS = [row for row in TABLE.rows if row.next not in (row.state, "started")]

keys = st.sampled_from([*KEYS, "a1", "a1", "b2"])
owners = st.sampled_from(["ann", "bob"])
leases = st.sampled_from([0.0, 1.0, 2.0])
beliefs = st.tuples(
    st.sampled_from([None, None, None, "ann", "bob"]), st.sampled_from([None, None, None, 0, 1, 2])
)
"""Who a worker says it is and which try it thinks is the latest; None is what the record says."""


Belief = tuple[str | None, int | None]


def follows(state: str, final: str) -> bool:
    """Whether the table leads from this state of a started operation to that one."""
    found, more = set[str](), {state}
    while more:
        found |= more
        more = {row.next for row in TABLE.rows if row.state in more} - found
    return state not in FINALS and final in found


def act(**draws: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """What a worker may do. One rule draws among all, so that none is switched off for a whole example."""

    def noted(method: Callable[..., None]) -> Callable[..., None]:
        ACTS.append((method.__name__, st.fixed_dictionaries(draws)))
        return method

    return noted


ACTS: list[tuple[str, st.SearchStrategy[dict[str, Any]]]] = []


class Workers(RuleBasedStateMachine):
    """Two workers and two turns, of which one may plan either of two batches."""

    ledger: Ledger

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.ledger._clock = self.clock
        self.operations: dict[str, Operation] = {}
        self.tries: dict[str, list[Try]] = {}
        self.seen: dict[str, Operation] = {}

    def teardown(self) -> None:
        assert self.ledger.recover() == tuple(
            Left(one, one.lease_until is not None and one.lease_until <= self.clock.now)
            for one in sorted(self.operations.values(), key=lambda one: (one.turn_id, one.attempt, one.index))
            if one.state not in FINALS
        )
        for key, tries in self.tries.items():
            assert list(self.ledger.tries(key)) == tries
        with self.ledger._engine.begin() as connection:
            connection.exec_driver_sql("DELETE FROM wholecall_operation")
            connection.exec_driver_sql("DELETE FROM wholecall_try")

    @initialize()
    def begin(self) -> None:
        self.plan(BATCHES[0])

    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        name, draws = data.draw(st.sampled_from(ACTS))
        drawn = data.draw(draws)
        note(f"{name} {drawn}")
        getattr(self, name)(**drawn)

    def believed(self, key: str, belief: Belief) -> tuple[str, int]:
        one = self.operations.get(key, planned(key))
        owner, number = belief
        return owner or one.owner or "ann", one.tries if number is None else number

    def mine(self, key: str, owner: str, number: int) -> bool:
        """Whether a started operation without an end is this worker's, and this is its latest try."""
        one = self.operations.get(key)
        if one is None or one.state in FINALS:
            return False
        return (one.owner, one.tries) == (owner, number)

    def change(self, key: str, **facts: Any) -> None:
        self.operations[key] = replace(self.operations[key], **facts)

    def end(self, key: str, number: int, input: str) -> None:
        if number:
            this = replace(self.tries[key][number - 1], ended_at=self.clock.now, ended_by=input)
            if self.tries[key][number - 1].ended_at is None or input == "result":
                self.tries[key][number - 1] = this

    def open(self, key: str, owner: str) -> None:
        number = len(self.tries[key]) + 1
        self.tries[key].append(Try(key=key, number=number, owner=owner, started_at=self.clock.now))

    @act(seconds=st.sampled_from([0.5, 1.0, 1.0]))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @act(batch=st.sampled_from(BATCHES))
    def plan(self, batch: list[Operation]) -> None:
        others = {
            one.key
            for one in self.operations.values()
            if one.turn_id == batch[0].turn_id and one.state != "cancelled"
        }
        free = others <= {one.key for one in batch}

        assert self.ledger.plan(batch) is free

        for one in batch if free else ():
            self.operations.setdefault(one.key, one)
            self.tries.setdefault(one.key, [])

    @act(key=keys, owner=owners, lease=leases)
    def claim(self, key: str, owner: str, lease: float) -> None:
        one = self.operations.get(key)
        free = one is not None and one.state == "planned"

        assert self.ledger.claim(key, owner=owner, lease=lease) is free

        if free:
            self.change(key, state="started", owner=owner, lease_until=self.clock.now + lease, tries=1)
            self.open(key, owner)

    @act(key=keys, belief=beliefs, lease=leases)
    def retry(self, key: str, belief: Belief, lease: float) -> None:
        owner, number = self.believed(key, belief)
        mine = self.mine(key, owner, number)

        assert self.ledger.retry(key, owner=owner, number=number, lease=lease) is mine

        if mine:
            until = self.clock.now + lease
            self.change(key, state="started", lease_until=until, tries=number + 1, fault=None)
            self.end(key, number, "unrecorded")
            self.open(key, owner)

    @act(key=keys, belief=beliefs, lease=leases)
    def extend(self, key: str, belief: Belief, lease: float) -> None:
        owner, number = self.believed(key, belief)
        mine = self.mine(key, owner, number)

        assert self.ledger.extend(key, owner=owner, number=number, lease=lease) is mine

        if mine:
            self.change(key, lease_until=self.clock.now + lease)

    @act(key=keys)
    def see(self, key: str) -> None:
        """What a worker reads may be old when it acts upon it."""
        found = self.ledger.get(key)
        assert found == self.operations.get(key)
        assert list(self.ledger.tries(key)) == self.tries.get(key, [])
        if found is not None:
            self.seen[key] = found

    @act(key=keys, owner=owners, lease=leases)
    def take_over(self, key: str, owner: str, lease: float) -> None:
        seen = self.seen.get(key) or self.operations.get(key) or planned(key)
        one = self.operations.get(key, seen)
        same = (one.owner, one.tries) == (seen.owner, seen.tries)
        lost = one.state not in FINALS and one.lease_until is not None and one.lease_until <= self.clock.now

        assert self.ledger.take_over(seen, owner=owner, lease=lease) is (same and lost)

        if same and lost:
            self.change(key, owner=owner, lease_until=self.clock.now + lease)

    @act(key=keys, belief=beliefs, row=st.sampled_from(ROWS))
    def record(self, key: str, belief: Belief, row: Row) -> None:
        owner, number = self.believed(key, belief)
        one = self.operations.get(key)
        may = one is not None and follows(one.state, row.next)
        if one is not None and row.next == "cancelled":
            may = one.state == "planned"
        elif one is not None and row.next == "succeeded":
            may = may and 1 <= number <= one.tries
        else:
            may = may and self.mine(key, owner, number)

        fields: dict[str, Any] = {"input": row.input, "state": row.next, "fault": row.fault, "result": "1"}
        assert self.ledger.record(key, owner=owner, number=number, **fields) is may

        if may:
            self.change(key, state=row.next, fault=row.fault or None)
            if row.next in FINALS:
                self.change(key, ended_at=self.clock.now, lease_until=None)
            if row.next == "succeeded":
                self.change(key, result="1")
            if row.next != "cancelled":
                self.end(key, number, row.input)

    @act(key=keys, belief=beliefs)
    def mark_absent(self, key: str, belief: Belief) -> None:
        _, number = self.believed(key, belief)
        one = self.operations.get(key)
        may = one is not None and one.state not in FINALS and one.tries >= 1 and number >= 1

        assert self.ledger.mark_absent(key, number) is may

        if may:
            self.tries[key] = [
                replace(one, absent=True) if one.number <= number else one for one in self.tries[key]
            ]

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        found = {one.key: one for turn in ("turn", "another") for one in self.ledger.of_turn(turn)}
        assert found == self.operations

    @invariant()
    def holds_only_what_the_table_knows(self) -> None:
        for one in self.operations.values():
            assert (one.state in FINALS) == (one.ended_at is not None) <= (one.lease_until is None)
            assert (one.tries > 0) == (one.owner is not None) == bool(self.tries[one.key])
            assert (one.tries > 0) <= (one.state not in ("planned", "cancelled"))
            assert one.state != "started" or self.tries[one.key][-1].ended_at is None


SETTINGS = settings(
    max_examples=30,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],  # a step is several transactions
)


@pytest.mark.usefixtures("untraced")
def test_a_ledger_does_what_a_dict_does() -> None:
    with Ledger("sqlite://") as ledger:
        Workers.ledger = ledger
        run_state_machine_as_test(Workers, settings=SETTINGS)
