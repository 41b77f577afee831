"""How a record moves: each function is one transaction, and each change a compare-and-set.

Which states there are, and which leads to which, is read from the operation table. A record may lag behind
the machine, where a write failed; so a state may follow any that leads to it, by one row or by several.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Double,
    Integer,
    and_,
    bindparam,
    exists,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from wholecall.turn.ledger_records import LedgerMoveError, Operation, Try
from wholecall.turn.ledger_schema import ALONE, LEFT, OPERATION, TRY, ExactText
from wholecall.turn.ledger_statement import Change
from wholecall_generated.tables import SPEC

_TABLE: Final = SPEC.table("operation")
_PLANNED: Final = _TABLE.initial
(_STARTED,) = {row.next for row in _TABLE.rows if row.effect == "open_try"}
_GOOD: Final = {state.name for state in _TABLE.finals if state.good}
_RESULTS: Final = {row.input for row in _TABLE.rows if row.state == _STARTED and row.next in _GOOD}
_MOVES: Final = {
    (row.input, row.next, row.fault) for row in _TABLE.rows if row.next not in (row.state, _STARTED)
}


def _before(state: str) -> list[str]:
    """The states of a started operation from which rows lead to this one."""
    found = {row.state for row in _TABLE.into(state)}
    while more := {row.state for name in found for row in _TABLE.into(name)} - found:
        found |= more
    return [live.name for live in _TABLE.live if live.name in found - {_PLANNED}]


_NEVER_STARTED: Final = [final.name for final in _TABLE.finals if not _before(final.name)]

_O, _T = OPERATION.c, TRY.c
_KEY: Final = bindparam("the_key", type_=ExactText)
_BY: Final = bindparam("by", type_=ExactText)
_NTH: Final = bindparam("nth", type_=Integer)
_AT: Final = bindparam("at", type_=Double)
_UNTIL: Final = bindparam("until", type_=Double)
_MINE: Final = and_(_O.key == _KEY, _O.owner == _BY, _O.tries == _NTH)


def _is_in(states: list[str]) -> ColumnElement[bool]:
    return or_(*(_O.state == state for state in states))


_PLAN: Final = {
    "sqlite": sqlite.insert(OPERATION).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(OPERATION).on_conflict_do_nothing(),
}
_CLAIM: Final = Change(
    update(OPERATION)
    .where(_O.key == _KEY, _O.state == _PLANNED)
    .values(state=_STARTED, owner=_BY, lease_until=_UNTIL, tries=1)
)
_RETRY: Final = Change(
    update(OPERATION)
    .where(_MINE, _is_in(_before(_STARTED)))
    .values(state=_STARTED, lease_until=_UNTIL, tries=_O.tries + 1, fault=None)
)
_EXTEND: Final = Change(update(OPERATION).where(_MINE, LEFT).values(lease_until=_UNTIL))
_TAKE_OVER: Final = Change(
    update(OPERATION)
    .where(_MINE, _O.lease_until <= _AT)  # what has ended has no lease
    .values(owner=bindparam("to"), lease_until=_UNTIL)
)
_OPEN_TRY: Final = Change(
    insert(TRY).values(
        key=_KEY, number=_NTH, owner=_BY, started_at=_AT, ended_at=None, ended_by=None, absent=False
    )
)
_ANY_END: Final = (
    update(TRY).where(_T.key == _KEY, _T.number == _NTH).values(ended_at=_AT, ended_by=bindparam("input"))
)
_LATE_END: Final = Change(_ANY_END)
_END: Final = Change(_ANY_END.where(_T.ended_at.is_(None)))
_ABSENT: Final = Change(
    update(TRY)
    .where(_T.key == _KEY, _T.number <= _NTH, exists().where(_O.key == _KEY, LEFT))
    .values(absent=True)
)


def _may(state: str) -> ColumnElement[bool]:
    """Which operations may come to this state, and on whose word."""
    if state in _NEVER_STARTED:  # so it is nobody's
        return _O.state == _PLANNED
    before = _is_in(_before(state))
    if state in _GOOD:  # an effect that happened has happened, whichever try had it and whoever says so
        return and_(before, _NTH.between(1, _O.tries))
    return and_(before, _O.owner == _BY, _O.tries == _NTH)


def _record(state: str) -> Change:
    move = update(OPERATION).where(_O.key == _KEY, _may(state))
    move = move.values(state=state, fault=bindparam("why"), reason=bindparam("said"))
    if state in _GOOD:
        move = move.values(result=bindparam("json"))
    return Change(move.values(ended_at=_AT, lease_until=None) if _TABLE.state(state).final else move)


_RECORD: Final = {state: _record(state) for _, state, _ in _MOVES}


def plan(connection: Connection, batch: Sequence[Operation]) -> bool:
    """See `Ledger.plan`."""
    if not batch:
        return True
    (turn_id,) = {one.turn_id for one in batch}
    database = connection.dialect.name
    connection.execute(ALONE[database], {"what": turn_id})
    others = select(_O.key).where(_O.turn_id == turn_id, _O.state.not_in(_NEVER_STARTED))
    mine = {one.key for one in batch}.issuperset(connection.scalars(others))
    if mine:
        connection.execute(_PLAN[database], [_planned(one) for one in batch])
    return mine


def _planned(one: Operation) -> dict[str, object]:
    return {
        "key": one.key,
        "turn_id": one.turn_id,
        "attempt": one.attempt,
        "choice": one.choice,
        "index": one.index,
        "call_id": one.call_id,
        "tool": one.tool,
        "arguments": one.arguments,
        "content": one.content,
        "effect": one.effect,
        "state": _PLANNED,
        "tries": 0,
    }


def claim(connection: Connection, key: str, owner: str, now: float, until: float) -> bool:
    """See `Ledger.claim`."""
    claimed = _CLAIM.made(connection, the_key=key, by=owner, until=until)
    if claimed:
        _OPEN_TRY.made(connection, the_key=key, nth=1, by=owner, at=now)
    return claimed


def retry(connection: Connection, key: str, owner: str, number: int, now: float, until: float) -> bool:
    """See `Ledger.retry`."""
    mine = {"the_key": key, "by": owner, "nth": number}
    opened = _RETRY.made(connection, **mine, until=until)
    if opened:
        _END.made(connection, the_key=key, nth=number, at=now, input="unrecorded")
        _OPEN_TRY.made(connection, the_key=key, nth=number + 1, by=owner, at=now)
    return opened


def extend(connection: Connection, key: str, owner: str, number: int, until: float) -> bool:
    """See `Ledger.extend`."""
    return _EXTEND.made(connection, the_key=key, by=owner, nth=number, until=until)


def take_over(connection: Connection, seen: Operation, owner: str, now: float, until: float) -> bool:
    """See `Ledger.take_over`."""
    old = {"the_key": seen.key, "by": seen.owner, "nth": seen.tries}
    return _TAKE_OVER.made(connection, **old, to=owner, at=now, until=until)


def record(
    connection: Connection,
    key: str,
    owner: str,
    number: int,
    now: float,
    move: tuple[str, str, str],
    result: str | None,
    reason: str | None,
) -> bool:
    """See `Ledger.record`."""
    input, state, fault = move
    if move not in _MOVES:
        raise LedgerMoveError(input, state, fault)
    this = {"the_key": key, "nth": number, "at": now}
    said = {"why": fault or None, "said": reason, "json": result}
    recorded = _RECORD[state].made(connection, **this, **said, by=owner)
    if recorded:
        (_LATE_END if input in _RESULTS else _END).made(connection, **this, input=input)
    return recorded


def mark_absent(connection: Connection, key: str, number: int) -> bool:
    """See `Ledger.mark_absent`."""
    return _ABSENT.made(connection, the_key=key, nth=number)


def read(connection: Connection, where: ColumnElement[bool]) -> tuple[Operation, ...]:
    """The operations of which this holds, in the order in which they were asked for."""
    found = [Operation(**row) for row in connection.execute(select(OPERATION).where(where)).mappings()]
    return tuple(sorted(found, key=lambda one: (one.turn_id, one.attempt, one.choice, one.index)))


def read_tries(connection: Connection, key: str) -> tuple[Try, ...]:
    """See `Ledger.tries`."""
    found = connection.execute(select(TRY).where(_T.key == key).order_by(_T.number)).mappings()
    return tuple(Try(**row) for row in found)
