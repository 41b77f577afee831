"""The whole: one turn with its responses, its operations, and one run after a crash.

Where nothing is awaited from outside, the one thing that happens next is what the machines tell each other;
else whatever the world can do is a move. A state holds its response and its operations by number: there are
few of each, met in many states, and a number is compared at once.
"""

from __future__ import annotations

from typing import Final

from wholecall.explore.batches import Batches, sound
from wholecall.explore.machines import NOWHERE, Machines, Move, RowError, fault_of
from wholecall.explore.operations import TOOLS, Operation, Operations
from wholecall.explore.responses import Over, Response, Responses
from wholecall.explore.scope import Scope
from wholecall.explore.states import Batch, Numbers, Started, State
from wholecall_spec.statements import (
    USABLE,
    bounded_attempts,
    corrupt_never_runs,
    every_end_explained,
    no_regeneration_after_start,
    refusal_is_not_success,
    whole_batch_first,
)

_RUNNING: Final = ("planned", "started")
_READING: Final = ("receiving", "checking")


class Turns:
    """Every state of the whole, and every move from it.

    Args:
        machines: Run the tables.
        scope: The bounds.

    Attributes:
        begin: The state in which everything begins.
        responses: The responses by number; None is one that was not begun, or is forgotten.
        operations: The operations by number.
        finals: Where a turn is over, and whether that is good.
    """

    def __init__(self, machines: Machines, scope: Scope) -> None:
        self.machines = machines
        self.scope = scope
        self.begin = State(machines.initial("turn"))
        self.responses: Numbers[Response | Over | Batch | None] = Numbers(None)
        self.operations: Numbers[Started] = Numbers(Started())
        self._reads = Responses(machines, scope)
        self._judges = Batches(machines)
        self._runs = Operations(machines, scope)
        self._read: dict[int, list[Move]] = {}
        self._ran: dict[tuple[int, bool], list[Move]] = {}
        self._told: dict[tuple[int, str], tuple[tuple[str, ...], int, tuple[str, ...]]] = {}
        self._left: dict[int, int] = {}
        self._faults = frozenset(fault.name for fault in machines.spec.faults)
        self.finals = {state.name: state.good for state in machines.spec.table("turn").finals}
        self._over = frozenset(state.name for state in machines.spec.table("operation").finals)
        self._of = {
            "requesting": self._requesting,
            "receiving": self._receiving,
            "checking": self._checking,
            "authorizing": self._authorizing,
            "dispatching": self._dispatching,
            "reconciling": self._reconciling,
        }

    def moves(self, state: State) -> list[Move]:
        """Every move of the whole from this state; its `after` is a state."""
        work = self._of.get(state.turn)
        found = work(state) if work else self._each_operation(state, asks=False)
        if state.run == 1 and self.operations[state.operations].any_started:
            again = State(self.begin.turn, run=2, operations=self._again(state.operations))
            found.append(Move(("run again",), (), again))
        return [move for move in found if "" not in move.rows] if self.machines.unseen else found

    def null_continuation(self, state: State) -> Move | None:
        """A null continuation that leaves this state as it is; None where there is none."""
        response = self.responses[state.response]
        if response is None or isinstance(response, (Over, Batch)):
            return None
        return self._reads.null_continuation(response)

    # -- one method for each live state of the turn ----------------------------------------------------

    def _requesting(self, state: State) -> list[Move]:
        if not state.attempts and self.operations[state.operations].any_started:
            return [self._after_operations(state, "resumed")]
        asked = state._replace(attempts=state.attempts + 1, response=0, proposal="")
        begun = asked._replace(response=self.responses.of(self._reads.begin))
        broken = self._of_request(asked)
        answers = ((begun, "started"), (asked, "unreachable"), (asked, "upstream_refused"))
        moves = [self._turn(one, input) for one, input in answers]
        found = [move._replace(broken=(*broken, *move.broken)) for move in moves]
        return [*found, self._after_operations(state, "cancel")]

    def _receiving(self, state: State) -> list[Move]:
        response = self.responses[state.response]
        assert response is not None
        assert not isinstance(response, Batch)
        if isinstance(response, Over):
            streams = frozenset(response.streams)
            response = ()
        else:
            streams = frozenset(choice.stream for choice in response)
        came = self.machines.decide("turn_receives", stream=streams)
        judged = None
        if self.machines.decide("fields_end", stream=streams):
            judged = self._judges.judge(response, state.proposal, state.fault)
        if self._outcome(streams, state.proposal):
            return [self._turn(state, came, state.fault)]
        if judged is None:
            turn, run, attempts, _, _, proposal, authorized, operations = state
            found = [
                Move(
                    event,
                    rows,
                    State(turn, run, attempts, fault, after, proposal, authorized, operations),
                    fault,
                    broken,
                )
                for event, rows, after, fault, broken in self._frames(state.response, response)
            ]
            return [*found, self._after_operations(state, "cancel")]
        read, proposal = judged.after
        after = state._replace(response=self.responses.of(read), proposal=proposal, fault=judged.fault)
        return [judged._replace(after=after)]

    def _outcome(self, streams: frozenset[str], proposal: str) -> str:
        return self.machines.decide("outcome", stream=streams, proposal=frozenset(filter(None, (proposal,))))

    def _frames(self, number: int, response: Response) -> list[Move]:
        """What can come to a response, each `after` by number."""
        found = self._read.get(number)
        if found is None:
            moves = self._reads.moves(response)
            found = self._read[number] = [m._replace(after=self.responses.of(m.after)) for m in moves]
        return found

    def _checking(self, state: State) -> list[Move]:
        came = self.machines.decide("turn_checks", proposal=frozenset((state.proposal,)))
        if came:
            return [self._turn(state, came, state.fault)]
        found = []
        for input in ("business_ok", "business_no"):
            step = self.machines.step("proposal", state.proposal, input)
            after = state._replace(proposal=step.state, fault=fault_of(step, ""))
            found.append(Move((input,), (step.row,), after, step.fault))
        return [*found, self._after_operations(state, "cancel")]

    def _authorizing(self, state: State) -> list[Move]:
        return [
            self._turn(state._replace(authorized=True), "authorized"),
            self._turn(state, "unauthorized"),
            self._after_operations(state, "cancel"),
        ]

    def _dispatching(self, state: State) -> list[Move]:
        if state.operations:
            return self._working(state, asks=False)
        batch = self.responses[state.response]
        assert isinstance(batch, Batch)
        found = []
        for tool in TOOLS[: self.scope.tools]:
            planned = self.operations.of(Started(tool, (self._runs.begin,) * batch.calls))
            found.append(Move(("plan", *tool), (), state._replace(operations=planned)))
        return found

    def _reconciling(self, state: State) -> list[Move]:
        return self._working(state, asks=True)

    def _working(self, state: State, asks: bool) -> list[Move]:
        found = self._each_operation(state, asks)
        states = self.operations[state.operations].states
        if states.isdisjoint(_RUNNING):
            found.append(self._turn(state, self.machines.decide("operations", operation=states)))
        found.append(self._after_operations(state, "cancel"))
        return found

    # -- what several of them do -------------------------------------------------------------------------

    def _turn(self, state: State, input: str, carried: str = "") -> Move:
        """The turn sees an input."""
        truths = {
            "attempts_left": state.attempts < self.scope.attempts,
            "any_uncertain": "uncertain" in self.operations[state.operations].states,
        }
        step = self.machines.step("turn", state.turn, input, truths)
        fault = fault_of(step, carried)
        if step.state not in self.finals:
            fault = fault or carried  # it travels on until the turn is over
        after = state._replace(turn=step.state, fault=fault)
        if step.effect == "next_attempt":
            after = after._replace(response=0, proposal="")
        elif step is not NOWHERE and step.state not in _READING:
            after = after._replace(response=self._rest(step.state, after.response))
        if not self._can_work(after):
            raise RowError(step.row, f"it leads to {step.state}, where there is nothing to work on")
        return Move((input,), (step.row,), after, after.fault, self._of_end(after))

    def _can_work(self, state: State) -> bool:
        """Whether a turn that is here has what it works on here."""
        response = self.responses[state.response]
        match state.turn:
            case "receiving":
                return response is not None and not isinstance(response, Batch)
            case "checking":
                return bool(state.proposal)
            case "dispatching":
                return isinstance(response, Batch) or bool(state.operations)
            case _:
                return True

    def _rest(self, turn: str, number: int) -> int:
        """A response is kept as far as the turn still needs it."""
        response = self.responses[number]
        if response is None or isinstance(response, (Over, Batch)):
            return number
        if turn in self.finals:
            return self.responses.of(Over(tuple(choice.stream for choice in response)))
        return self.responses.of(Batch(sum(len(choice.calls) for choice in response), sound(response)))

    def _each_operation(self, state: State, asks: bool) -> list[Move]:
        found = self._ran.get((state.operations, asks))
        if found is None:
            found = self._ran[state.operations, asks] = self._of_operations(state.operations, asks)
        turn, run, attempts, before, response, proposal, authorized, _ = state
        unsound = self._of_start(state) if state.run == 1 and found else ()
        return [
            Move(
                event,
                rows,
                State(turn, run, attempts, before, response, proposal, authorized, after),
                fault,
                (*broken, *unsound) if rows else broken,
            )
            for event, rows, after, fault, broken in found
        ]

    def _of_operations(self, number: int, asks: bool) -> list[Move]:
        tool, each = self.operations[number]
        if tool is None:
            return []
        return [
            Move((event[0], at, *event[1:]), rows, self.operations.of(Started(tool, changed)), fault, broken)
            for at, one in enumerate(each)
            for event, rows, after, fault, broken in self._runs.moves(tool, one, asks)
            for changed in ((*each[:at], after, *each[at + 1 :]),)
        ]

    def _after_operations(self, state: State, input: str) -> Move:
        """The operations see something first, each what is said to it; then the turn sees its input."""
        rows, told, broken = self._told.get((state.operations, input)) or self._tell(state.operations, input)
        move = self._turn(state._replace(operations=told), input)
        return move._replace(rows=(*rows, *move.rows), broken=(*broken, *move.broken))

    def _tell(self, number: int, input: str) -> tuple[tuple[str, ...], int, tuple[str, ...]]:
        """Say to each operation that is not over what this input of the turn means to it."""
        tool, each = self.operations[number]
        rows: list[str] = []
        broken: list[str] = []
        changed = []
        for one in each:
            said = self._said(one, input)
            if said:
                assert tool is not None
                move = self._runs.checked(tool, one, self._runs.step(tool, one, said))
                rows += move.rows
                broken += move.broken
                one = move.after
            changed.append(one)
        found = (tuple(rows), self.operations.of(Started(tool, tuple(changed))), tuple(broken))
        self._told[number, input] = found
        return found

    def _said(self, one: Operation, input: str) -> str:
        """A cancelled turn cancels; a run that finds what an earlier one left says what is with it."""
        if one.state in self._over:
            return ""
        if input == "cancel" or not one.tries:
            return "cancel"
        return "lost" if one.state == "started" else ""

    def _again(self, number: int) -> int:
        """The operations as a second run finds them."""
        found = self._left.get(number)
        if found is None:
            tool, each = self.operations[number]
            found = self.operations.of(Started(tool, tuple(map(self._runs.adrift, each))))
            self._left[number] = found
        return found

    # -- what must hold ----------------------------------------------------------------------------------

    def _of_request(self, state: State) -> tuple[str, ...]:
        """The invariants that a request breaks."""
        started = self.operations[state.operations].any_started
        return (
            *no_regeneration_after_start.broken(started, 1),
            *bounded_attempts.broken(state.attempts, self.scope.attempts),
        )

    def _of_start(self, state: State) -> tuple[str, ...]:
        """The invariants that are broken where operations of this state run."""
        batch = self.responses[state.response]
        return (
            *whole_batch_first.broken(state.proposal == "permitted", state.authorized),
            *corrupt_never_runs.broken(isinstance(batch, Batch) and batch.sound, 1),
        )

    def _of_end(self, state: State) -> tuple[str, ...]:
        """The invariants that the end of a turn breaks."""
        good = self.finals.get(state.turn)
        if good is None:
            return ()
        broken = every_end_explained.broken(good, (state.fault,) if state.fault else (), self._faults)
        if not good or state.run > 1:
            return broken
        response = self.responses[state.response]
        streams = response.streams if isinstance(response, Over) else ("complete",)
        refused = self._outcome(frozenset(streams), state.proposal) not in USABLE
        return (*broken, *refusal_is_not_success.broken(good, refused))
