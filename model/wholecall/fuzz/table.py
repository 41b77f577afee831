"""A Hypothesis machine for one table: the press gives it one rule a row, named by the row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from wholecall.engine import Compiled, Engine, Step
from wholecall.machines import Reference
from wholecall_generated.tables import SPEC


@cache
def engines() -> tuple[Engine, ...]:
    """Both engines on the packaged tables, made once."""
    return Compiled(SPEC), Reference(SPEC)


class TableMachine(RuleBasedStateMachine):
    """Drives both engines through one machine, and compares them with the row after each step.

    Attributes:
        machine: The machine's name; the printed subclass says which.
    """

    machine: str

    def __init__(self) -> None:
        super().__init__()
        self.table = SPEC.table(self.machine)
        self.states = [self.table.initial for _ in engines()]

    def fire(self, input: str, guards: Mapping[str, bool], expected: Step) -> None:
        """Give the input to both engines; each must do what the row says."""
        for at, engine in enumerate(engines()):
            actual = engine.step(self.machine, self.states[at], input, guards)

            assert actual == expected
            self.states[at] = actual.state

    @precondition(lambda self: self.table.state(self.states[0]).final)
    @rule()
    def begin_again(self) -> None:
        """A final state is reached: begin the next machine."""
        self.states = [self.table.initial for _ in engines()]

    @invariant()
    def engines_agree(self) -> None:
        """Both engines are in the same state, and it is one of the table's."""
        assert len({self.table.state(state) for state in self.states}) == 1


def at(state: str) -> Callable[[TableMachine], bool]:
    """The precondition of a row: the machine is in its state."""
    return lambda machine: machine.states[0] == state
