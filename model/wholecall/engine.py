"""Two engines run the tables: the compiled one, which is fast, and `transitions`, which is the reference.

Both are behind one door, `Engine.step`: given where a machine is, what arrives and which guards hold, they
answer with the row. Neither performs an effect; whoever asked does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from wholecall.errors import WholecallError
from wholecall_spec.spec import Spec
from wholecall_spec.table import Row, Table

NO_GUARDS: Final[Mapping[str, bool]] = {}


class Step(NamedTuple):
    """What a machine did.

    Attributes:
        row: The id of the row that decided.
        state: Where the machine is now.
        effect: What is to be done, by name; empty means nothing.
        fault: Why it was refused, by name, or `carried`; empty where nothing was.
    """

    row: str
    state: str
    effect: str
    fault: str


class Fired(NamedTuple):
    """One row that fired: which machine it moved, from where, and on what."""

    machine: str
    state: str
    input: str
    step: Step


class NoRowError(WholecallError, LookupError):
    """A machine was given what its table says it never sees.

    Attributes:
        machine: The machine.
        state: Where it is.
        input: What it was given.
    """

    def __init__(self, machine: str, state: str, input: str) -> None:
        self.machine = machine
        self.state = state
        self.input = input
        super().__init__(f"{machine} has no row for {input} in {state}")


class Engine(Protocol):
    """Whatever runs the tables of a specification."""

    spec: Spec

    def step(self, machine: str, state: str, input: str, guards: Mapping[str, bool] = NO_GUARDS) -> Step:
        """The row for this state and input where these guards hold.

        Args:
            machine: A machine of the specification.
            state: A live state of it.
            input: An input of it.
            guards: The truth of each guard that the cell asks for; others are ignored.

        Errors:
            NoRowError: The table has no row for this state and input.
            KeyError: A guard that decides the cell is not given.
        """


Cell = tuple[tuple[str, ...], dict[tuple[bool, ...], Step]]
"""The guards that a cell asks for, and the step for each assignment of them."""


class Compiled:
    """The compiled engine: each cell of each table is one lookup, made once."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._cells = {
            (table.machine, state, input): cell
            for table in spec.tables
            for (state, input), cell in compile_table(table).items()
        }

    def step(self, machine: str, state: str, input: str, guards: Mapping[str, bool] = NO_GUARDS) -> Step:
        """See `Engine.step`."""
        cell = self._cells.get((machine, state, input))
        if cell is None:
            raise NoRowError(machine, state, input)
        names, steps = cell
        return steps[tuple([guards[name] for name in names])]


def compile_table(table: Table) -> dict[tuple[str, str], Cell]:
    """The cells of a table by state and input."""
    cells: dict[tuple[str, str], Cell] = {}
    for state, input, guards, row in table.cells():
        _, steps = cells.setdefault((state, input), (tuple(guards), {}))
        steps[tuple(guards.values())] = step_of(row)
    return cells


def step_of(row: Row) -> Step:
    """The step that a row prescribes."""
    return Step(row.id, row.next, row.effect, row.fault)
