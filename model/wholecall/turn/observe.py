"""What a host may watch: typed events, which carry only what a diagnostic may carry.

In their order: a turn starts; each attempt starts, and is judged or stays unanswered; a whole proposal is
checked; each operation starts and ends; the turn ends. Between them, each row of the turn and of its
operations fires. What started also ends, on every way out.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from wholecall.diagnose import Diagnostic
from wholecall.engine import Step


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a turn.

    Attributes:
        turn_id: The host's name of the turn.
        attempt: The attempt, from 1.
        run: Which run of the turn: minted, so that two workers that run one turn id can be told apart.
    """

    turn_id: str
    attempt: int
    run: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True)
class TurnStarted(Event):
    """A turn begins to run: nothing was asked for yet."""


@dataclass(frozen=True, slots=True)
class TurnEnded(Event):
    """A turn no longer runs. Nothing follows in this run.

    Attributes:
        end: Where the turn is: a final state, or a live one where an exception of the host ended the run.
        fault: The fault that it ended with; empty where it has none.
    """

    end: str
    fault: str


@dataclass(frozen=True, slots=True)
class RowFired(Event):
    """A row of the turn or of one of its operations fired.

    Attributes:
        machine: `turn` or `operation`.
        row: The row's id.
        state: Where the machine was.
        input: What arrived.
        next: Where the machine is now.
        fault: The fault of the row, carried or its own; empty where it has none.
        call: The call's place in the batch, from 0; None for the turn.
    """

    machine: str
    row: str
    state: str
    input: str
    next: str
    fault: str
    call: int | None = None


@dataclass(frozen=True, slots=True)
class AttemptStarted(Event):
    """A response is about to be asked for."""


@dataclass(frozen=True, slots=True)
class AttemptUnanswered(Event):
    """No response came: upstream refused, or could not be reached.

    Attributes:
        faults: The one diagnostic that says which.
    """

    faults: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class AttemptJudged(Event):
    """A response was read and judged.

    Attributes:
        outcome: The outcome of the response.
        faults: The diagnostics of a response that is not whole or answered.
    """

    outcome: str
    faults: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Checked(Event):
    """The proposal of a complete response went through its checks, each on the whole batch.

    Attributes:
        proposal: Where it came to rest, a final state of the proposal table: `malformed` says that syntax
            refused, `invalid` structure, `denied` a tool's own check, `permitted` none of them.
        faults: The diagnostics of each tool's own check that refused; what syntax and structure refused came
            with `AttemptJudged`.
    """

    proposal: str
    faults: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class OperationStarted(Event):
    """An operation is taken up: to be run, or to be reconciled.

    Attributes:
        call: The call's place in the batch, from 0.
        tool: The tool's name, of the host's own toolset.
        resumed: Whether an earlier run started it, so that it is to be reconciled.
    """

    call: int
    tool: str
    resumed: bool = False


@dataclass(frozen=True, slots=True)
class OperationEnded(Event):
    """An operation is over in this run.

    Attributes:
        call: The call's place in the batch, from 0.
        tool: The tool's name, of the host's own toolset.
        state: Where it is: a final state, or a live one where the turn ended without knowing.
        fault: The fault of the row that led there; empty where it has none.
        tries: Tries under its key so far, of every run.
    """

    call: int
    tool: str
    state: str
    fault: str
    tries: int


Observer = Callable[[Event], object]
"""Is told of each event as it happens. What it raises is dropped: to watch a turn changes nothing of it."""


class Teller:
    """Tells an observer of one run of a turn.

    Args:
        observe: The observer, where there is one.
        turn_id: The host's name of the turn.
        run: Which run of it.

    Attributes:
        attempt: The attempt that events are told of.
    """

    def __init__(self, observe: Observer | None, turn_id: str, run: str) -> None:
        self.attempt = 1
        self._observe = observe
        self._turn_id = turn_id
        self._run = run

    def tell(self, event: Callable[..., Event], *facts: object) -> None:
        """Tell an event of this kind, with these facts of its own."""
        if self._observe is not None:
            with suppress(Exception):
                self._observe(event(self._turn_id, self.attempt, *facts, run=self._run))

    def turn_row(self, before: str, input: str, step: Step, fault: str) -> None:
        """Tell that a row of the turn fired, with its own fault or the one it carried."""
        self.tell(RowFired, "turn", step.row, before, input, step.state, fault)

    def operation_row(self, call: int, before: str, input: str, step: Step) -> None:
        """Tell that a row of an operation fired."""
        self.tell(RowFired, "operation", step.row, before, input, step.state, step.fault, call)
