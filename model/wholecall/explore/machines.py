"""The machines as the explorer runs them: what fires is noted, and so is what no row answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from wholecall.engine import NO_GUARDS, Compiled, NoRowError, Step
from wholecall.errors import WholecallError
from wholecall_spec.join import ABSENT, NOTHING, Join, JoinRow
from wholecall_spec.spec import Spec
from wholecall_spec.table import CARRIED

NOWHERE: Final = Step("", "", "", "")
"""What is given where no row answers. The move is not made, and the exploration reports it."""


EFFECTS: Final[Mapping[str, tuple[str, ...]]] = {
    "stream": ("note_finish",),
    "routing": ("open_call", "route"),
    **dict.fromkeys(("identity", "name", "arguments"), ("set_id", "append_name", "append_arguments")),
    "turn": ("next_attempt",),
    "operation": ("open_try", "record_result", "ask_again"),
}
"""What each machine can be made to do; a row that asks for anything else waits for code."""


class RowError(WholecallError):
    """The tables say what cannot be explored.

    Attributes:
        row: The id of the row, of a table or join, that says so.
        what: What is wrong with it.
    """

    def __init__(self, row: str, what: str) -> None:
        self.row = row
        self.what = what
        super().__init__(f"{row}: {what}")


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

    Errors:
        RowError: A row has an effect, or asks for a guard or fact, that no code here knows; or no row of a
            join holds.
    """

    def __init__(self, spec: Spec) -> None:
        for table in spec.tables:
            for row in table.rows:
                if row.effect and row.effect not in EFFECTS.get(table.machine, ()):
                    raise RowError(row.id, f"no code knows the effect {row.effect} of {table.machine}")
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
        except KeyError as unknown:
            (guard,) = unknown.args
            cell = self.spec.table(machine).cell(state, input)
            row_id = next(row.id for row in cell if guard in row.guards)
            raise RowError(row_id, f"no code knows the guard {guard} of {input}") from None
        self.fired.add(step.row)
        return step

    def decide(self, join: str, facts: Mapping[str, bool] | None = None, /, **seen: frozenset[str]) -> str:
        """What a join gives; empty where that is nothing."""
        key = (join, *seen.items(), *(facts or {}).items())
        gives = self._given.get(key)
        if gives is None:
            row = self._decide(self.spec.join(join), seen, facts or {})
            self.fired.add(row.id)
            gives = self._given[key] = "" if row.gives == NOTHING else row.gives
        return gives

    def _decide(self, join: Join, seen: Mapping[str, frozenset[str]], facts: Mapping[str, bool]) -> JoinRow:
        first = join.rows[0].id
        for fact in join.facts:
            if fact.name not in facts:
                raise RowError(first, f"no code knows the fact {fact.name} of {join.name}")
        try:
            return join.decide(seen, facts)
        except LookupError:
            rests = ", ".join(f"{machine} {' '.join(sorted(states))}" for machine, states in seen.items())
            raise RowError(first, f"no row of {join.name} holds of what can come: {rests}") from None

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
