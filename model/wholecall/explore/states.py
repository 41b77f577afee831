"""One state of the whole, and what it holds by number: there are few of each, met in many states."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from wholecall.explore.operations import Operation, Tool

Value = TypeVar("Value")


class Numbers(Generic[Value]):
    """Gives each value a number, the first of them 0."""

    def __init__(self, first: Value) -> None:
        self._values = [first]
        self._numbers = {first: 0}

    def of(self, value: Value) -> int:
        """The number of this value."""
        number = self._numbers.setdefault(value, len(self._values))
        if number == len(self._values):
            self._values.append(value)
        return number

    def __getitem__(self, number: int) -> Value:
        """The value of this number."""
        return self._values[number]


class Batch(NamedTuple):
    """A batch that passed every check: how many calls, and whether each is one that may run."""

    calls: int
    sound: bool


class Started(NamedTuple):
    """The operations of a batch, and the tool that all of them run."""

    tool: Tool | None = None
    each: tuple[Operation, ...] = ()

    @property
    def states(self) -> frozenset[str]:
        """Where they are."""
        return frozenset([one.state for one in self.each])

    @property
    def any_started(self) -> bool:
        """Whether the ledger holds one that was started."""
        return any(one.tries for one in self.each)


class State(NamedTuple):
    """One state of the whole.

    Attributes:
        turn: Where the turn is.
        run: The first run of the turn, or the second.
        attempts: Requests of this run.
        fault: The fault that the last row left; empty where it left none.
        response: The number of the response that is read, or of what is left of it.
        proposal: Where the proposal is; empty before it was begun.
        authorized: Whether the host allowed the batch.
        operations: The number of the operations.
    """

    turn: str
    run: int = 1
    attempts: int = 0
    fault: str = ""
    response: int = 0
    proposal: str = ""
    authorized: bool = False
    operations: int = 0
