"""A change to a record, ready for the driver: a claim waits for the disk, and for little else.

SQLAlchemy writes the statement once for each database; each time that it is made, only its values are filled
in, by the same rules for the same types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Connection, Dialect, Insert, Update
from sqlalchemy.sql.compiler import SQLCompiler

Values = Mapping[str, object]
Fill = Callable[[Values], Any]


class Change:
    """One statement that changes rows.

    Args:
        statement: The statement. Its parameters keep their names; none may stand for a list.
    """

    def __init__(self, statement: Insert | Update) -> None:
        self._statement = statement
        self._ready: dict[str, tuple[str, Fill]] = {}

    def made(self, connection: Connection, **values: object) -> bool:
        """Make the change; whether it found a row to change.

        Args:
            connection: Where.
            **values: Its parameters by name; what it has no parameter for is left out.
        """
        text, fill = self._ready.get(connection.dialect.name) or self._make_ready(connection.dialect)
        return connection.exec_driver_sql(text, fill(values)).rowcount > 0

    def _make_ready(self, dialect: Dialect) -> tuple[str, Fill]:
        compiled = self._statement.compile(dialect=dialect)
        assert isinstance(compiled, SQLCompiler)
        ready = self._ready[dialect.name] = compiled.string, _filling(compiled)
        return ready


def _filling(compiled: SQLCompiler) -> Fill:
    """How the driver is given values: in the order of their marks, or by name."""
    parameters = [
        (
            name,
            bind.value,
            bind.required,
            bind.type.dialect_impl(compiled.dialect).bind_processor(compiled.dialect),
        )
        for name, bind in compiled.binds.items()
    ]

    def filled(values: Values) -> dict[str, object]:
        given = ((name, values[name] if asked else own, to) for name, own, asked, to in parameters)
        return {name: value if to is None else to(value) for name, value, to in given}

    marks = compiled.positiontup
    if marks is None:
        return filled

    def in_order(values: Values) -> tuple[object, ...]:
        named = filled(values)
        return tuple(named[name] for name in marks)

    return in_order
