"""The ledger's tables, and how a database of another version is met.

A database says its version in one row. An older one is brought forward step by step, in one transaction
that shuts out every other worker; a newer one is refused. To change a table: change it here, raise
`VERSION`, and add to `STEPS` what brings a database of the version before to it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Dialect,
    Double,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    bindparam,
    insert,
    inspect,
    select,
    text,
    update,
)

from wholecall.turn.ledger_records import LedgerVersionError

_UNSTORABLE: Final = re.compile("[\0\x1a\ud800-\udfff]")
_STORED: Final = re.compile("\x1a([0-9a-f]{4})")


class ExactText(TypeDecorator[str]):
    """Any text, exactly. What a database cannot hold, a NUL or half a surrogate pair, is spelled out.

    An id comes from the wire, where both can stand; the sign of the spelling is itself spelled out.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - SQLAlchemy's
        """What is stored."""
        return value and _UNSTORABLE.sub(lambda found: f"\x1a{ord(found[0]):04x}", value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - too
        """What was given."""
        return value and _STORED.sub(lambda found: chr(int(found[1], 16)), value)


class ExactInteger(TypeDecorator[int]):
    """Any integer: an index comes from the wire, where it may be larger than a database's."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> str:  # noqa: ARG002
        """What is stored."""
        return str(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> int:  # noqa: ARG002
        """What was given."""
        return int(value or "0")


METADATA: Final = MetaData()

SCHEMA: Final = Table("wholecall_schema", METADATA, Column("version", Integer, nullable=False))

OPERATION: Final = Table(
    "wholecall_operation",
    METADATA,
    Column("key", ExactText, primary_key=True),
    Column("turn_id", ExactText, nullable=False, index=True),
    Column("attempt", Integer, nullable=False),
    Column("choice", ExactInteger, nullable=False),
    Column("index", ExactInteger, nullable=False),
    Column("call_id", ExactText, nullable=False),
    Column("tool", ExactText, nullable=False),
    Column("arguments", ExactText, nullable=False),
    Column("content", ExactText, nullable=False),
    Column("effect", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("owner", ExactText),
    Column("lease_until", Double),
    Column("tries", Integer, nullable=False),
    Column("ended_at", Double),
    Column("result", ExactText),
    Column("fault", Text),
    Column("reason", ExactText),
)

TRY: Final = Table(
    "wholecall_try",
    METADATA,
    Column("key", ExactText, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("owner", ExactText, nullable=False),
    Column("started_at", Double, nullable=False),
    Column("ended_at", Double),
    Column("ended_by", Text),
    Column("absent", Boolean, nullable=False),
)

LEFT: Final = OPERATION.c.ended_at.is_(None)
"""Of operations without an end, which stay few while the ledger grows."""

Index("wholecall_operation_left", OPERATION.c.ended_at, sqlite_where=LEFT, postgresql_where=LEFT)

VERSION: Final = 1
STEPS: Mapping[int, tuple[str, ...]] = {}
"""By the version they start from, the statements that lead to the next."""

ALONE: Final = {
    "sqlite": text("BEGIN IMMEDIATE"),
    "postgresql": text("SELECT pg_advisory_xact_lock(hashtextextended('wholecall ' || :what, 0))").bindparams(
        bindparam("what", type_=ExactText)
    ),
}
"""How one worker at a time is let in to read and then write, also where there is no row yet to lock."""


def prepare(connection: Connection) -> None:
    """Make the tables, or bring them to this version.

    Errors:
        LedgerVersionError: They are newer.
    """
    connection.execute(ALONE[connection.dialect.name], {"what": SCHEMA.name})
    found = None
    if inspect(connection).has_table(SCHEMA.name):
        found = connection.execute(select(SCHEMA.c.version)).scalar()
    if found is None:
        METADATA.create_all(connection)
        connection.execute(insert(SCHEMA).values(version=VERSION))
        return
    if found > VERSION:
        raise LedgerVersionError(found, VERSION)
    for version in range(found, VERSION):
        for statement in STEPS[version]:
            connection.exec_driver_sql(statement)
        connection.execute(update(SCHEMA).values(version=version + 1))
