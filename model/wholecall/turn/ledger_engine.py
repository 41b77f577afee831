"""From a URL to a database that keeps its word: what is committed is on disk, and no message tells it.

One table says what each database needs, so that nothing else here asks which one it is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import Any, Final

from sqlalchemy import URL, Engine, QueuePool, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DisconnectionError

from wholecall.turn.ledger_records import LedgerUrlError


@dataclass(frozen=True, slots=True)
class _Database:
    """What a database needs.

    Attributes:
        query: Options of a connection, where the URL does not give them. Each bounds a wait.
        engine: How connections are kept and transactions are made.
        opening: What a new connection is told.
        ended: Whether a connection has ended that stood idle.
    """

    query: Mapping[str, str]
    engine: Mapping[str, Any]
    opening: tuple[str, ...]
    ended: Callable[[Any], bool]


def _never(_: object) -> bool:
    return False


def _has_news(connection: Any) -> bool:
    """Whether something came that nobody asked for, as when a server ends a connection.

    To look costs nothing; to ask the server would cost as much as a claim.
    """
    with DefaultSelector() as selector:
        selector.register(connection, EVENT_READ)
        return bool(selector.select(0))


def _setting(name: str, value: str, *, instead_of: str) -> str:
    return f"SELECT set_config('{name}', '{value}', false) WHERE current_setting('{name}') = '{instead_of}'"


_SQLITE: Final = _Database(
    query={"timeout": "30", "check_same_thread": "false"},
    # SQLite has one writer at a time: threads that wait for one connection wait in turn, and do not poll. It
    # is also what keeps a database in memory one database.
    engine={"poolclass": QueuePool, "pool_size": 1, "max_overflow": 0},
    opening=("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL"),
    ended=_never,
)
_POSTGRESQL: Final = _Database(
    query={"connect_timeout": "10", "tcp_user_timeout": "30000"},
    # A compare-and-set looks at what is there now, not at what was there when the transaction began.
    engine={"isolation_level": "READ COMMITTED"},
    opening=(
        # Anything else is the administrator's choice, and stays.
        _setting("synchronous_commit", "on", instead_of="off"),
        _setting("statement_timeout", "30s", instead_of="0"),
    ),
    ended=lambda connection: connection.closed or _has_news(connection),
)
_DATABASES: Final = {
    "sqlite": _SQLITE,
    "sqlite+pysqlite": _SQLITE,
    "postgresql": _POSTGRESQL,
    "postgresql+psycopg": _POSTGRESQL,
}


_LOGGER: Final = "wholecall"


def read_url(text: str) -> URL:
    """The URL of a database that a ledger can be kept in, with the options it leaves open.

    Errors:
        LedgerUrlError: It is none.
    """
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        url = None
    if url is None or url.drivername not in _DATABASES:
        raise LedgerUrlError(url and url.drivername)
    return url.set(query={**_DATABASES[url.drivername].query, **url.query})


def file_of(url: URL) -> Path | None:
    """The file that a SQLite database is kept in, where it is one."""
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        return None
    name = str(url.database)
    return None if name.startswith("file:") else Path(name).absolute()


def open_engine(url: URL) -> Engine:
    """An engine that shows no parameters, on a file that only its owner can read."""
    database = _DATABASES[url.drivername]
    # At DEBUG, SQLAlchemy logs every row that is read, whatever it hides of those written; a host that sets
    # the level of all loggers must not get them.
    logging.getLogger(f"sqlalchemy.engine.Engine.{_LOGGER}").setLevel(logging.WARNING)
    engine = create_engine(url, hide_parameters=True, logging_name=_LOGGER, **database.engine)
    file = file_of(url)
    fresh = file is not None and not file.exists()

    @event.listens_for(engine, "connect")
    def tell(connection: DBAPIConnection, _: object) -> None:
        if fresh:
            # Before anything is written: what SQLite keeps beside it gets the same mode.
            Path(str(file)).chmod(0o600)
        cursor = connection.cursor()
        for statement in database.opening:
            cursor.execute(statement)
        cursor.close()
        connection.commit()

    @event.listens_for(engine, "checkout")
    def see(connection: Any, _: object, __: object) -> None:
        if database.ended(connection):
            raise DisconnectionError  # and the pool opens another

    return engine


class FileReplacedError(OSError):
    """The file that was opened stands no longer at its path, so what is written to it is lost."""


class OpenFile:
    """The file of a database, which must stay the one that the first transaction found.

    A deleted or replaced file can still be written to, and nobody will ever read it.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._found: tuple[int, int] | None = None

    def check(self) -> None:
        """See that it is still there.

        Errors:
            OSError: It is not.
        """
        if self._path is None:
            return
        stat = self._path.stat()
        if self._found is None:
            self._found = stat.st_dev, stat.st_ino
        if self._found != (stat.st_dev, stat.st_ino):
            raise FileReplacedError


def kind_of(error: BaseException) -> str:
    """The database's own word for an error, which tells nothing of what was stored."""
    cause = getattr(error, "orig", None) or error
    name = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None)
    return str(name or type(cause).__name__)
