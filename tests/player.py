"""Plays a path of the model on a real turn, and compares every state on the way."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import Any, Final

from real import of_assembler
from walks import AGAIN, ROWS, WORKING, Step, is_late, is_over, on_record, told
from world import END, UNANSWERED, World

from wholecall.explore.frames import lines
from wholecall.explore.machines import Move
from wholecall.explore.operations import Operation
from wholecall.explore.responses import Over
from wholecall.explore.states import Batch, State
from wholecall.explore.turns import Turns
from wholecall.turn.tools import ABSENT, Applied, ToolFailed
from wholecall.turn.upstream import Unreachable, UpstreamRefused
from wholecall_generated.tables import SPEC

BEGIN: Final = Move(("started",), (), None)
TURN: Final = {row.id for row in SPEC.table("turn").rows}
SAYS: Final[dict[str, Any]] = {
    "result": "done",
    "unrecorded": "done",
    "declared_failure": ToolFailed("no"),
    "raised": RuntimeError("broke"),
}
ANSWERS: Final[dict[str, Any]] = {"found_applied": Applied("done"), "found_absent": ABSENT}

Fired = tuple[str, str]
"""The id of a row, and the fault that it left."""


class Player:
    """Plays one path on a real turn.

    Args:
        world: The world of the turn.
        turns: The model.
        deal: Chooses between what comes to the same.
    """

    def __init__(self, world: World, turns: Turns, deal: Random) -> None:
        self.world = world
        self.turns = turns
        self.deal = deal
        self.known: list[str] = []
        """Where the ledger has each operation."""
        self.faults: dict[int, str] = {}
        """The fault that each operation has."""
        self._begin()

    def _begin(self) -> None:
        """What is expected of a run, before it began."""
        self.rows: dict[int | None, list[Fired]] = defaultdict(list)
        self.unheard: dict[int, str] = {}
        """By operation, the row that fires when it takes its next step."""
        self.lost: set[int] = set()
        """Those of the unheard that an earlier run left."""
        self.reading: list[str] = []
        self.read: list[tuple[str, ...]] = []
        self.checked: list[str] = []
        self.unanswered = 0
        """Requests that were cancelled."""

    async def play(self, path: list[Step]) -> None:
        """Play it to its end."""
        await self.world.begin()
        for step, then in zip(path, [*path[1:], None], strict=True):
            await self._make(step)
            if then is None or not then.own:
                self._compare(step.move.after)
        self._compare_end(path[-1].move.after)

    # -- what the path does ------------------------------------------------------------------------------

    async def _make(self, step: Step) -> None:
        """Do to the world what the path says, and note what is expected of it."""
        before, move, own = step
        kind, *facts = move.event
        if move.event == AGAIN:
            assert self.known == [one.state for one in self._each(move.after)]
            await self.world.crash()
            self._begin()
            await self.world.begin()
            return
        if kind in ("cancel", "resumed"):
            self._tell_each(kind, before, move)
            if kind == "cancel":
                self.world.task.cancel()
                self.unanswered = before.turn == "requesting"
            for at, one in enumerate(self._each(move.after) if kind == "resumed" else ()):
                if at in self.lost and is_over(one):
                    self.world.open(self._key(at))
                    self._hear(at)
        elif before.turn in WORKING and not own:
            self._come_to_operation(kind, *facts, before=before, move=move)
        else:
            if not own:
                await self._come_to_turn(kind, before, move)
            self._note_turn(before, move)
        await self.world.settle()
        self.world.ledger.fails = lambda _, __: None
        assert self.world.answer is None, "a query was to be asked"

    async def _come_to_turn(self, kind: str, before: State, move: Move) -> None:
        """Something comes to the turn, or to the response that it reads."""
        world = self.world
        if before.turn == "requesting":
            comes = {"unreachable": Unreachable(), "upstream_refused": UpstreamRefused(429)}
            world.open("request", comes.get(kind))
            self.reading = []
        elif before.turn == "receiving":
            ends = {"eof": END, "abort": ConnectionError()}
            world.open("frame", ends[kind] if kind in ends else "".join(lines([BEGIN, move])))
        elif before.turn == "checking":
            response: Any = self.turns.responses[before.response]
            calls = sum(len(choice.calls) for choice in response)
            refused = self.deal.randrange(calls) if kind == "business_no" else calls
            for at in range(calls):
                world.open("check", "no" if at == refused else None)
                await world.settle()
        else:
            world.open("authorize", kind == "authorized")

    def _note_turn(self, before: State, move: Move) -> None:
        for row in move.rows:
            if row in TURN:
                self.rows[None].append((row, move.after.fault if ROWS[row].fault else ""))
                if ROWS[row].input == "cancel":
                    continue
                if before.turn == "receiving":
                    self.read.append(tuple(self.reading))
                if before.turn == "checking":
                    self.checked.append(before.proposal)
            elif before.turn == "receiving":
                self.reading.append(row)

    def _tell_each(self, kind: str, before: State, move: Move) -> None:
        """The turn is cancelled, or finds what an earlier run left."""
        rows = list(move.rows)
        for at, (one, after) in enumerate(zip(self._each(before), self._each(move.after), strict=True)):
            if not told(one, kind):
                self._hear(at)
                continue
            row = rows.pop(0)
            if at in self.lost:  # then that is all it hears, and it is not this worker's to record
                self._fire(at, self.unheard.pop(at))
            elif told(one, kind) == "lost":
                self.unheard[at] = row
                self.lost.add(at)
            else:
                self._hear(at, row)
            if kind == "cancel" and one.state == "started" and not is_over(after):
                # Its try was cut, which is what it heard; and now the turn is cancelled.
                self._hear(at, self.turns.machines.step("operation", after.state, "cancel").row)
        self._note_turn(before, move._replace(rows=tuple(rows)))

    def _come_to_operation(self, kind: str, at: int, number: int = 0, *, before: State, move: Move) -> None:
        """Something comes to an operation."""
        if kind == "writes":
            return  # nobody sees it
        one, world, (row,) = self._each(before)[at], self.world, move.rows
        key = self._key(at)
        if one.state == "planned":
            self._begin_first(kind, key)
        elif one.state == "started" and not is_late(one, move):
            self._end_try(kind, key, len(one.tries))
        elif is_late(one, move):
            late = world.tries[key, number]
            if late.says is None:
                late.say(SAYS[kind])
            if one.state == "started" and is_over(self._each(move.after)[at]):
                world.tries[key, len(one.tries)].say(SAYS["raised"])  # of no account any more
            elif key in world.doors:
                world.open(key)
            else:
                self.unheard[at] = row
                return
        else:
            if self.turns.operations[move.after.operations].each[at].queries > one.queries:
                world.answer = ANSWERS.get(kind) or self.deal.choice(UNANSWERED)
            world.open(key)
        self._hear(at, row)

    def _begin_first(self, kind: str, key: str) -> None:
        if kind == "taken":
            self.world.ledger.claim(key, owner="other", lease=0)
        if kind == "unrecorded":
            self.world.ledger.fails = lambda _, name: "before" if name == "claim" else None
        self.world.open(key)

    def _end_try(self, kind: str, key: str, number: int) -> None:
        running = self.world.tries[key, number]
        if kind == "timeout":
            self.world.loop.now = running.deadline + 0.5  # and no other is over then
            return
        if kind == "unrecorded":
            self.world.ledger.fails = lambda _, name: "before" if name == "record" else None
        running.say(SAYS[kind])

    # -- what is expected --------------------------------------------------------------------------------

    def _each(self, state: State) -> tuple[Operation, ...]:
        return self.turns.operations[state.operations].each

    def _key(self, at: int) -> str:
        return self.world.turn.result().operations[at].key

    def _hear(self, at: int, *rows: str) -> None:
        """An operation takes a step: what it had yet to hear fires, then these rows; all are recorded."""
        heard = [self.unheard.pop(at)] if at in self.unheard else []
        self.lost.discard(at)
        for row in (*heard, *rows):
            self._fire(at, row)
            self.known[at] = on_record(self.known[at], ROWS[row])

    def _fire(self, at: int, row: str) -> None:
        self.faults[at] = ROWS[row].fault
        self.rows[at].append((row, ROWS[row].fault))

    # -- what is so --------------------------------------------------------------------------------------

    def _compare(self, state: State) -> None:
        """The turn waits for the world, or is over: everything is as the path has it."""
        world, result = self.world, self.world.turn.result()
        each = self._each(state)
        if not self.known:
            self.known = [one.state for one in each]
        assert (result.end, len(result.operations)) == (state.turn, len(each))
        fired = {at: [(event.row, event.fault) for event in rows] for at, rows in world.rows.items()}
        assert fired == {at: rows for at, rows in self.rows.items() if rows}
        assert world.requests == state.attempts + self.unanswered + (state.turn == "requesting")
        assert len(result.attempts) == world.requests
        self._compare_response(state)
        for at, (one, ran) in enumerate(zip(each, result.operations, strict=True)):
            unheard = ROWS[self.unheard[at]].state if at in self.unheard else one.state
            assert ran.state == unheard
            assert world.queries[ran.key] == one.queries
            assert (ran.result == SAYS["result"]) == (ran.state == "succeeded")
        records = world.ledger.of_turn(world.id) if each else ()
        assert [(kept.state, kept.tries) for kept in records] == [
            (known, len(one.tries)) for known, one in zip(self.known, each, strict=True)
        ]
        for one, kept in zip(each, records, strict=True):
            tries = world.ledger.tries(kept.key) if kept.tries else ()
            assert sum(tried.absent for tried in tries) == one.absent

    def _compare_response(self, state: State) -> None:
        """Every response that was read whole, and what was read so far of the one that comes."""
        attempts = self.world.turn._attempts
        assert [attempt.response.rows for attempt in attempts if attempt.response] == self.read
        assert self.world.checked == self.checked
        response = self.turns.responses[state.response]
        if state.turn == "receiving":
            assert isinstance(response, tuple)
            assert not isinstance(response, (Over, Batch))
            assert of_assembler(attempts[-1].assembler) == response

    def _compare_end(self, state: State) -> None:
        """What the turn came to."""
        assert state.turn in self.turns.finals
        assert self.world.task.done()
        result = self.world.turn.result()
        assert len(self.world.ledger.of_turn(self.world.id)) == len(result.operations)
        assert self.world.task.cancelled() or self.world.task.result() == result
        assert (result.end, result.fault or "") == (state.turn, state.fault)
        assert [one.fault or "" for one in result.operations] == [
            self.faults.get(at, "") for at in range(len(result.operations))
        ]
