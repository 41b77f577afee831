"""The machines as the explorer runs them: what fires is noted, and so is what no row answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from wholecall.engine import NO_GUARDS, Compiled, NoRowError, Step
from wholecall_spec.join import ABSENT, NOTHING
from wholecall_spec.spec import Spec
from wholecall_spec.table import CARRIED

NOWHERE: Final = Step("", "", "", "")
"""What is given where no row answers. The move is not made, and the exploration reports it."""


class Move(NamedTuple):
    """One step of the whole: what came, the rows that fired for it, in order, and what is then.

    Attributes:
        event: What came, and where; the first word says what.
        rows: The ids of the rows.
        after: What is then.
        fault: The fault that the last row raised or carries.
        broken: The invariants that this move breaks, by name.
    """

    event: tuple[Any, ...]
    rows: tuple[str, ...]
    after: Any
    fault: str = ""
    broken: tuple[str, ...] = ()


class Unseen(NamedTuple):
    """An input that came where its table has no row for it."""

    machine: str
    state: str
    input: str


class Machines:
    """Runs the tables of a specification, and keeps which rows fired and what found none.

    Attributes:
        spec: The specification.
        fired: The ids of the rows that fired, of tables and of joins.
        unseen: Every input that came where there is no row for it.
    """

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.fired: set[str] = set()
        self.unseen: dict[Unseen, None] = {}
        self._engine = Compiled(spec)
        self._refusals: dict[tuple[str, str], str] = {}
        self._given: dict[tuple[object, ...], str] = {}

    def step(self, machine: str, state: str, input: str, guards: Mapping[str, bool] = NO_GUARDS) -> Step:
        """The row for this state and input, or `NOWHERE`."""
        try:
            step = self._engine.step(machine, state, input, guards)
        except NoRowError:
            self.unseen[Unseen(machine, state, input)] = None
            return NOWHERE
        self.fired.add(step.row)
        return step

    def decide(self, join: str, facts: Mapping[str, bool] | None = None, /, **seen: frozenset[str]) -> str:
        """What a join gives; empty where that is nothing."""
        key = (join, *seen.items(), *(facts or {}).items())
        gives = self._given.get(key)
        if gives is None:
            row = self.spec.join(join).decide(seen, facts)
            self.fired.add(row.id)
            gives = self._given[key] = "" if row.gives == NOTHING else row.gives
        return gives

    def refusal(self, machine: str, state: str) -> str:
        """What the stream is told where this machine came here with a fragment; empty means nothing."""
        told = self._refusals.get((machine, state))
        if told is None:
            reads = self.spec.join("field_refusal").reads
            seen = {c.machine: frozenset((state if c.machine == machine else ABSENT,)) for c in reads}
            told = self._refusals[machine, state] = self.decide("field_refusal", None, **seen)
        return told

    def initial(self, machine: str) -> str:
        """Where a machine begins."""
        return self.spec.table(machine).initial


def fault_of(step: Step, carried: str) -> str:
    """The fault that a row leaves behind, where this one came with its input."""
    return carried if step.fault == CARRIED else step.fault
