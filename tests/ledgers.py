"""Ledgers for tests: a clock that the test moves, and an operation brought to where a test begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from wholecall.turn.ledger import Ledger
from wholecall.turn.ledger_records import LedgerUnavailableError, Operation

NOW, LEASE = 1_800_000_000.25, 60.0


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


CLOCK = Clock()
"""Of the ledgers that the fixtures give; it is set back for each test."""


def planned(key: str = "a1", **fields: Any) -> Operation:
    """An operation that asks for nothing in particular."""
    facts: dict[str, Any] = {
        "turn_id": "turn",
        "attempt": 1,
        "choice": 0,
        "index": 0,
        "call_id": "call_1",
        "tool": "save",
        "arguments": '{"path": "a"}',
        "effect": "once",
    }
    return Operation(key=key, **{**facts, **fields})


def started(ledger: Ledger, key: str = "a1", owner: str = "me", **fields: Any) -> Operation:
    """An operation that is claimed."""
    assert ledger.plan([planned(key, **fields)])
    assert ledger.claim(key, owner=owner, lease=LEASE)
    return found(ledger, key)


def doubted(ledger: Ledger, number: int = 1, owner: str = "me") -> bool:
    """Whether `a1` is recorded as uncertain."""
    return ledger.record(
        "a1",
        owner=owner,
        number=number,
        input="timeout",
        state="uncertain",
        fault="operation.uncertain",
    )


def succeeded(ledger: Ledger, number: int = 1, owner: str = "me", input: str = "result") -> bool:
    """Whether `a1` is recorded as succeeded."""
    return ledger.record(
        "a1", owner=owner, number=number, input=input, state="succeeded", result='{"ok": true}'
    )


def failed(ledger: Ledger, number: int = 1, owner: str = "me") -> bool:
    """Whether `a1` is recorded as failed."""
    return ledger.record(
        "a1", owner=owner, number=number, input="declared_failure", state="failed", fault="operation.failed"
    )


def found(ledger: Ledger, key: str = "a1") -> Operation:
    """The operation as it is recorded."""
    operation = ledger.get(key)
    assert operation is not None
    return operation


SECRET = "sk-planted-7431"  # noqa: S105
ATTEMPTED = {"get": "read", "of_turn": "read", "recover": "read", "tries": "read_tries"}
"""What a method of the ledger attempts, where that is not its name."""


def contents(url: str) -> list[object]:
    """Everything in both tables, read by another connection."""
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            return [
                sorted(map(tuple, connection.execute(text(f"SELECT * FROM {table}"))), key=repr)  # noqa: S608
                for table in ("wholecall_operation", "wholecall_try")
            ]
    finally:
        engine.dispose()


def refused(method: str, call: Callable[[], object]) -> LedgerUnavailableError:
    """The one error, which tells what was attempted and nothing of what was to be stored."""
    with pytest.raises(LedgerUnavailableError) as caught:
        call()
    error = caught.value
    attempted = ATTEMPTED.get(method, method)
    assert error.__context__ is None
    assert error.__cause__ is None
    assert error.attempted == attempted
    assert error.fault == "ledger.unavailable"
    assert str(error) == f"the ledger could not {attempted.replace('_', ' ')} ({error.kind})"
    assert SECRET not in f"{error} {error!r} {error.args} {vars(error)}"
    return error
