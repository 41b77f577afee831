"""Prints the row tests: every row, and for every state the inputs that it must not see."""

from __future__ import annotations

from wholecall_spec.spec import Spec
from wholecall_spec.table import Row, Table, assignments

_HEAD = '''"""Every row of every table, driven through both engines, and every input a state must not see.

The id of a test is the id of its row. What a test expects is printed from the tables, so it
proves that the engines are the tables; that the tables are right rests on tests that people wrote.
"""

import pytest

from wholecall.engine import Compiled, Engine, NoRowError, Step
from wholecall.machines import Reference
from wholecall_generated.tables import SPEC

ENGINES: tuple[Engine, ...] = (Compiled(SPEC), Reference(SPEC))
'''

_TESTS = '''
@pytest.mark.parametrize(("machine", "state", "input", "guards", "expected"), ROWS)
def test_row(
    machine: str, state: str, input: str, guards: tuple[dict[str, bool], ...], expected: Step
) -> None:
    """In this state, on this input, wherever its guards hold, both engines do what the row says."""
    for engine in ENGINES:
        for truths in guards:
            actual = engine.step(machine, state, input, truths)

            assert actual == expected


@pytest.mark.parametrize(("machine", "state", "input"), UNSEEN)
def test_unseen(machine: str, state: str, input: str) -> None:
    """What a state must not see is refused by both engines, whatever the guards."""
    for engine in ENGINES:
        with pytest.raises(NoRowError):
            engine.step(machine, state, input, {name: True for name, _ in SPEC.table(machine).guards})
'''


def rows_py(spec: Spec) -> str:
    """The text of `wholecall_generated/test_rows.py`, before it is formatted."""
    rows = "".join(
        f"    # {row.why}\n    {_param(table, row)},\n" for table in spec.tables for row in table.rows
    )
    unseen = "".join(
        f"    pytest.param({_quoted(table.machine, state.name, input.name)}, "
        f'id="{table.machine}-{state.name}-{input.name}"),\n'
        for table in spec.tables
        for state in table.states
        for input in table.inputs
        if input.name not in table.sees(state.name)
    )
    return f"{_HEAD}\nROWS = [\n{rows}]\n\nUNSEEN = [\n{unseen}]\n\n{_TESTS}"


def _param(table: Table, row: Row) -> str:
    where = _quoted(table.machine, row.state, row.input)
    return f'pytest.param({where}, {guards_of(table, row)}, {step_of(row)}, id="{row.id}")'


def guards_of(table: Table, row: Row) -> str:
    """Every assignment of its cell's guards in which the row holds, as Python."""
    names = table.cell_guards(row.state, row.input)
    return repr(tuple(guards for guards in assignments(names) if row.holds(guards)))


def step_of(row: Row) -> str:
    """What the row prescribes, as Python."""
    return f"Step({_quoted(row.id, row.next, row.effect, row.fault)})"


def _quoted(*words: str) -> str:
    return ", ".join(f'"{word}"' for word in words)
