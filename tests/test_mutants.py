"""The generated tests can fail: an engine with one row changed is caught by the test of that row, always."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from wholecall.engine import Compiled
from wholecall_generated import test_rows
from wholecall_generated.tables import SPEC
from wholecall_spec.table import CARRIED, Row, Table

pytestmark = pytest.mark.usefixtures("untraced")


def mutants(table: Table, row: Row) -> Iterator[Row]:
    """The row with its next state, its fault or its effect changed to each other one."""
    yield from (replace(row, next=s.name) for s in table.states if s.name != row.next)
    faults = ("", CARRIED, *(fault.name for fault in SPEC.faults))
    yield from (replace(row, fault=fault) for fault in faults if fault != row.fault)
    effects = ("", *(name for name, _ in table.effects), "another_effect")
    yield from (replace(row, effect=effect) for effect in effects if effect != row.effect)


def run(values: Sequence[Any]) -> None:
    """The generated test of one row."""
    test_rows.test_row(*values)


def survivors(table: Table, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[Row]]:
    """How many mutants of a table there are, and those that no generated test kills."""
    tests: dict[Any, Sequence[Any]] = {param.id: param.values for param in test_rows.ROWS}
    number, alive = 0, []
    for row in table.rows:
        for mutant in mutants(table, row):
            rows = tuple(mutant if r is row else r for r in table.rows)
            engine = Compiled(replace(SPEC, tables=(replace(table, rows=rows),)))
            monkeypatch.setattr(test_rows, "ENGINES", (engine,))
            number += 1
            try:
                run(tests[row.id])
            except AssertionError:
                continue
            alive.append(mutant)
    return number, alive


@pytest.mark.parametrize("table", SPEC.tables, ids=lambda table: table.machine)
def test_every_single_row_mutant_is_killed(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    number, alive = survivors(table, monkeypatch)

    assert number > 45 * len(table.rows)
    assert alive == []


def test_an_engine_without_mutation_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_rows, "ENGINES", (Compiled(SPEC),))

    for param in test_rows.ROWS:
        run(param.values)


def test_an_engine_that_sees_too_much_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row for an input that its state must not see makes the test of that pair fail."""
    routing = SPEC.table("routing")
    extra = replace(routing.rows[0], id="R99", input="known", when="")
    states = tuple(replace(state, sees=()) for state in routing.states)
    wrong = replace(routing, states=states, rows=(*routing.rows, extra))
    monkeypatch.setattr(test_rows, "ENGINES", (Compiled(replace(SPEC, tables=(wrong,))),))

    with pytest.raises(pytest.fail.Exception):
        test_rows.test_unseen("routing", "none", "known")
