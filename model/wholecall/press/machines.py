"""Prints the Hypothesis machines: one a table with a rule for each row, and one for a whole response."""

from __future__ import annotations

from wholecall.press.rows import guards_of, step_of
from wholecall_spec.spec import Spec
from wholecall_spec.table import Row, Table

_HEAD = '''"""Random walks: a machine for each table, with one rule a row, and one for a whole response.

A failing walk prints the rules it took, which are rows, or the wire frames and the rows that fired.
"""

from hypothesis import settings
from hypothesis.stateful import precondition, rule
from hypothesis.strategies import sampled_from

from wholecall.engine import Step
from wholecall.fuzz.response import ResponseMachine
from wholecall.fuzz.table import TableMachine, at

WALK = settings(max_examples=20, stateful_step_count=50, deadline=None)
RESPONSES = settings(max_examples=100, stateful_step_count=50, deadline=None)
'''


def machines_py(spec: Spec) -> str:
    """The text of `wholecall_generated/test_machines.py`, before it is formatted."""
    return "\n\n".join([_HEAD, *map(_machine, spec.tables), _RESPONSE])


def _machine(table: Table) -> str:
    name = table.machine.capitalize()
    rules = "\n".join(_rule(table, row) for row in table.rows)
    return (
        f'class {name}(TableMachine):\n    """{table.about}"""\n\n    machine = "{table.machine}"\n\n'
        f"{rules}\n\nTest{name} = {name}.TestCase\nTest{name}.settings = WALK\n"
    )


def _rule(table: Table, row: Row) -> str:
    guards = guards_of(table, row)
    return (
        f'    @precondition(at("{row.state}"))\n'
        f"    @rule(guards=sampled_from({guards}))\n"
        f"    def {row.id}_{row.state}_{row.input}(self, guards: dict[str, bool]) -> None:\n"
        f'        """{row.why[0].upper()}{row.why[1:]}."""\n'
        f'        self.fire("{row.input}", guards, {step_of(row)})\n'
    )


_RESPONSE = '''class Response(ResponseMachine):
    """A whole response, in which every machine of a response moves."""


TestResponse = Response.TestCase
TestResponse.settings = RESPONSES
'''
