"""Paths through the model `Turns` that a real turn can be made to go, chosen at random.

The model lets everything happen that the tables allow, in any order. A real turn has an order of its own,
and a path keeps to it:

- What a turn does by itself, it does at once: it judges a response that was read, plans, and takes the word
  of its operations when none of them has anything to do. A crash in between finds the same record. A
  cancellation in between is not played here; `test_turn_machine` cancels at every await.
- A turn that reconciles goes in rounds: each operation takes one step (a query, a repeat with its try, or
  what it is late to hear), and then the turn takes the word. The model may give one operation all its steps
  first. Operations share nothing, so each goes the same way, and no real turn can be where the model is
  meanwhile.
- A late answer is heard at the next step of its operation, be it a round's, the end of a later try, or a
  cancellation, so it comes just before that. A turn that is over hears none; the model's does, as a worker
  might that still listens.
- What could not be recorded is stored by the next step, before anything is asked.
- All tries have one time limit, so the one that began first is over first. Calls are alike: whatever the
  model does with the first one, it also does with the second.

A second run finds what is on record. The model's finds where the machines were, which is more where the
ledger failed or another worker holds the key. There a path goes on from the state that the record tells; it
is one of the model's too, by a crash just after the last thing that was recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Final, NamedTuple

from wholecall.explore.machines import Move
from wholecall.explore.operations import Operation, Tool
from wholecall.explore.states import Started, State
from wholecall.explore.turns import Turns
from wholecall_generated.tables import SPEC
from wholecall_spec.table import Row

ROWS: Final = {row.id: row for table in SPEC.tables for row in table.rows}
OF_BATCH: Final = {row.id for machine in ("turn", "proposal") for row in SPEC.table(machine).rows}
ENDS_OF_TRY: Final = ("raised", "timeout", "unrecorded")
ANSWERS: Final = ("result", "declared_failure")
WORDS: Final = {row.gives for row in SPEC.join("operations").rows}
BY_ITSELF: Final = ("requesting", "receiving", "checking")
"""Where the turn makes the one move that there is."""
WORKING: Final = ("dispatching", "reconciling")
"""Where operations run."""
AGAIN: Final = ("run again",)
BATCHES: Final = 0.7
"""How many of the paths run a batch."""
GOES_ON: Final = 0.5
"""How likely a turn that is over is run again."""

ALLOWED: Final = [row.id for row in SPEC.table("turn").into("dispatching")]
WEIGHTS: Final = {"cancel": 0.1, "run again": 0.05, "unrecorded": 0.2, "taken": 0.2, "timeout": 3}
"""How likely a move is beside the others: what cuts a path short comes rarely, what makes it long often.

A crash is as likely as another move where an operation was tried again."""


class Step(NamedTuple):
    """One move of a path.

    Attributes:
        before: The state before it.
        move: The move.
        own: Whether the turn makes it by itself, at once; else it waits for the world to do so.
    """

    before: State
    move: Move
    own: bool


def is_over(one: Operation) -> bool:
    """Whether an operation has ended."""
    return SPEC.table("operation").state(one.state).final


def told(one: Operation, input: str) -> str:
    """What a cancelled turn, or a second run, says to an operation; empty where it says nothing."""
    if is_over(one):
        return ""
    if input == "cancel" or not one.tries:
        return "cancel"
    return "lost" if one.state == "started" else ""


def on_record(known: str, row: Row) -> str:
    """Where the ledger has an operation once this row fired, when it had it at `known`."""
    if row.input == "taken":
        return "started"  # by the other worker
    return known if row.input == "unrecorded" or row.next == row.state else row.next


class Front:
    """What can be before anything runs: each row of turn and proposal up to there, by shortest runs to it.

    Args:
        turns: The model.
    """

    def __init__(self, turns: Turns) -> None:
        self._by_row: dict[str, list[tuple[State, Move]]] = {}
        self._into: dict[State, tuple[State, Move]] = {}
        states = [turns.begin]
        for state in states:
            for move in turns.moves(state) if state.turn != "dispatching" else ():
                for row in OF_BATCH.intersection(move.rows):
                    self._by_row.setdefault(row, []).append((state, move))
                if move.after not in self._into and move.after != turns.begin:
                    self._into[move.after] = (state, move)
                    states.append(move.after)

    def run(self, deal: Random, seen: Counter[str]) -> list[Move]:
        """A run to one of the rows, likelier to one that fired rarely; most lead to a batch."""
        rows = sorted(self._by_row)
        (row,) = deal.choices(rows, [1 / (1 + seen[row]) ** 2 for row in rows])
        if deal.random() < BATCHES:
            (row,) = ALLOWED
        state, move = deal.choice(self._by_row[row])
        run = [move]
        while state in self._into:
            state, move = self._into[state]
            run.append(move)
        return run[::-1]


class Walk:
    """One path, from the beginning to an end.

    Args:
        front: What can be before anything runs.
        turns: The model.
        tool: What the operations run.
        deal: Makes the choices.
        seen: How often each row fired; what fired rarely is likelier to be chosen, and it is counted here.
    """

    def __init__(self, front: Front, turns: Turns, tool: Tool, deal: Random, seen: Counter[str]) -> None:
        self.front = front
        self.turns = turns
        self.tool = tool
        self.deal = deal
        self.seen = seen
        self.state = turns.begin
        self.known: list[str] = []
        """Where the ledger has each operation."""
        self.waiting: set[int] = set()
        """The operations that have yet to take their step of this round."""
        self.unheard: set[int] = set()
        """Those that a late answer came to, and that have not heard it."""
        self.unstored: dict[int, int] = {}
        """Those whose result could not be recorded, with the try that gave it."""
        self.running: list[int] = []
        """Those with a try that runs, in the order in which the tries began."""

    def path(self) -> Iterator[Step]:
        """The moves, each with the state before it."""
        for move in self.front.run(self.deal, self.seen):
            yield self._step(move)
        while found := self._choices():
            move = self._chosen(found)
            again = move.event == AGAIN
            yield self._step(move._replace(after=self._as_recorded(move.after)) if again else move)

    def _step(self, move: Move) -> Step:
        kind = move.event[0]
        alone = self.state.turn in BY_ITSELF and len(self.turns.moves(self.state)) == 1
        step = Step(self.state, move, alone or kind in (*WORDS, "plan"))
        self.seen.update(move.rows)
        self._note(step)
        self.state = move.after
        return step

    @property
    def each(self) -> tuple[Operation, ...]:
        """The operations."""
        return self.turns.operations[self.state.operations].each

    # -- which move ------------------------------------------------------------------------------------

    def _choices(self) -> list[Move]:
        every = self.turns.moves(self.state)
        again = [move for move in every if move.event == AGAIN and not self.unheard]
        if self.state.turn in self.turns.finals:
            return again if self.deal.random() < GOES_ON else []
        moves = [move for move in every if move.event != AGAIN]
        if self.state.turn not in WORKING:
            return moves
        if not self.state.operations:
            return [move for move in moves if move.event == ("plan", *self.tool)]
        words = [move for move in moves if move.event[0] in WORDS]
        if words and not self.waiting and not self.unheard:
            return words
        return [*again, *(move for move in moves if self._can_be_made(*move.event))]

    def _chosen(self, moves: list[Move]) -> Move:
        kinds = Counter(move.event[0] for move in moves)
        again = max((len(one.tries) for one in self.each), default=0) > 1
        weights = []
        for move in moves:
            kind = move.event[0]
            rarity = 1 / (1 + min((self.seen[row] for row in move.rows), default=50))
            likely = 1 if again and move.event == AGAIN else WEIGHTS.get(kind, 1)
            weights.append((0.02 + rarity) * likely / kinds[kind])
        return self.deal.choices(moves, weights)[0]

    def _can_be_made(self, kind: str, at: int = 0, number: int = 0) -> bool:
        """Whether this can come now, while operations run or are looked up."""
        if kind in WORDS:
            return False
        if kind == "cancel":
            return not self.unstored
        one = self.each[at]
        if kind == "writes":
            return True
        if kind == "timeout" and at != self.running[0]:
            return False
        if self.unheard and at not in self.unheard:
            return one.state == "uncertain" and (kind, number) in self._late(at)
        if self.unheard:
            return one.state == "started" and (kind in ENDS_OF_TRY or number == len(one.tries))
        if one.state == "uncertain" and (kind in ANSWERS or at in self.unstored):
            return (kind, number) in self._late(at)
        return one.state != "uncertain" or at in self.waiting

    def _late(self, at: int) -> list[tuple[str, int]]:
        """What an operation whose effect is not known may be late to hear."""
        if at in self.unstored:
            return [("result", self.unstored[at])]
        return [(kind, number + 1) for kind in ANSWERS for number in range(len(self.each[at].tries))]

    # -- what is then ----------------------------------------------------------------------------------

    def _note(self, step: Step) -> None:
        before, move, own = step
        kind, *facts = move.event
        each = self.turns.operations[move.after.operations].each
        if kind == "plan":
            self.known = [one.state for one in each]
        elif kind in ("cancel", *AGAIN):
            self.waiting, self.unheard, self.unstored, self.running = set(), set(), {}, []
            told_to = [at for at, one in enumerate(self.each) if kind == "cancel" and told(one, kind)]
            for at, row in zip(told_to, move.rows, strict=False):  # the last row is the turn's
                self.known[at] = on_record(self.known[at], ROWS[row])
        elif before.turn in WORKING and kind != "writes" and not own:
            self._note_operation(facts[0], kind, step)
        if move.rows and move.after.turn == "reconciling" and ROWS[move.rows[-1]].next == "reconciling":
            self.waiting = {at for at, one in enumerate(each) if not is_over(one)}

    def _note_operation(self, at: int, kind: str, step: Step) -> None:
        before, after = self.each[at], self.turns.operations[step.move.after.operations].each[at]
        row = ROWS[step.move.rows[0]]
        self.known[at] = on_record(self.known[at], row)
        hears = not is_late(before, step.move) or at in self.waiting
        if hears or (before.state == "started" and is_over(after)):
            self.unheard.discard(at)
        else:
            self.unheard.add(at)
        self.waiting.discard(at)
        self.unstored.pop(at, None)
        if before.state == "started" and after.state != "started":
            self.running.remove(at)
        if row.effect == "open_try":
            self.running.append(at)
        if kind == "unrecorded" and after.state == "uncertain":
            self.unstored[at] = len(after.tries)

    def _as_recorded(self, state: State) -> State:
        tool, each = self.turns.operations[state.operations]
        found = tuple(one._replace(state=known) for one, known in zip(each, self.known, strict=True))
        return state._replace(operations=self.turns.operations.of(Started(tool, found)))


def is_late(one: Operation, move: Move) -> bool:
    """Whether this answer comes after its try was given up."""
    kind, *facts = move.event
    return kind in ANSWERS and (one.state == "uncertain" or facts[-1] != len(one.tries))
