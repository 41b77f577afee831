"""The one door to `transitions`: one shared machine a table, and a row's metadata kept beside it.

`transitions` has its own wishes, and all of them stop here: a first row wins over a later one in silence,
unknown words are found only when fired, a false condition is an answer and not an error. The tables are
checked before they come here, so each (state, input, guards) fires exactly one transition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from transitions import EventData, Machine

from wholecall.engine import NO_GUARDS, NoRowError, Step, step_of
from wholecall_spec.spec import Spec
from wholecall_spec.table import Row, Table


@dataclass(slots=True)
class _Instance:
    """What `transitions` moves: a state, the guards that hold, and the step that fired."""

    state: str
    guards: Mapping[str, bool]
    fired: list[Step] = field(default_factory=list)


class Reference:
    """The engine on `transitions`: slow, and obviously the table."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._machines = {table.machine: _machine(table) for table in spec.tables}

    def step(self, machine: str, state: str, input: str, guards: Mapping[str, bool] = NO_GUARDS) -> Step:
        """See `Engine.step`."""
        events = self._machines[machine].events
        instance = _Instance(state, guards)
        if input not in events or state not in events[input].transitions:
            raise NoRowError(machine, state, input)
        events[input].trigger(instance)
        (step,) = instance.fired
        return step._replace(state=instance.state)


def _machine(table: Table) -> Machine:
    machine = Machine(
        model=None,
        states=[state.name for state in table.states],
        initial=table.initial,
        auto_transitions=False,
        send_event=True,
    )
    for row in table.rows:
        machine.add_transition(row.input, row.state, row.next, conditions=_holds(row), after=_note(row))
    return machine


def _holds(row: Row) -> Callable[[EventData], bool]:
    def holds(event: EventData) -> bool:
        return row.holds(_instance(event).guards)

    return holds


def _note(row: Row) -> Callable[[EventData], None]:
    step = step_of(row)

    def note(event: EventData) -> None:
        _instance(event).fired.append(step)

    return note


def _instance(event: EventData) -> _Instance:
    assert isinstance(event.model, _Instance)
    return event.model
