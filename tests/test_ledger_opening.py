"""Which database a ledger opens, how it meets one of another version, and what it asks of each.

No message shows a URL, which may hold a password.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from ledgers import SECRET, contents, planned, refused, started
from sqlalchemy import create_engine, text

from wholecall.turn import ledger_schema
from wholecall.turn.ledger import Ledger
from wholecall.turn.ledger_records import (
    LedgerUrlError,
    LedgerVersionError,
)

# -- opening ----------------------------------------------------------------------------------------


def test_what_is_no_database_is_not_opened(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    file.write_text(SECRET * 1000)

    assert refused("prepare", lambda: Ledger(f"sqlite:///{file}")).kind == "SQLITE_NOTADB"
    assert refused("prepare", lambda: Ledger(f"sqlite:///{tmp_path}")).kind == "SQLITE_CANTOPEN"
    absent = tmp_path / "absent" / "ledger.db"
    assert refused("prepare", lambda: Ledger(f"sqlite:///{absent}")).kind == "SQLITE_CANTOPEN"
    assert file.read_text() == SECRET * 1000


def test_a_server_that_is_not_there_is_not_opened(tmp_path: Path) -> None:
    url = f"postgresql://{SECRET}:{SECRET}@/{SECRET}?host={tmp_path}"

    assert refused("prepare", lambda: Ledger(url)).kind == "OperationalError"


@pytest.mark.parametrize(
    ("url", "driver"),
    [
        (f"mysql://{SECRET}@host/db", "mysql"),
        (f"sqlite+aiosqlite:///{SECRET}", "sqlite+aiosqlite"),
        (f"postgresql+psycopg2://{SECRET}@host/db", "postgresql+psycopg2"),
        (SECRET, None),
        (f"postgresql://host:{SECRET}/db", None),
        ("", None),
    ],
)
def test_what_is_no_ledger_is_refused_without_showing_it(url: str, driver: str | None) -> None:
    with pytest.raises(LedgerUrlError) as caught:
        Ledger(url)

    assert caught.value.driver == driver
    assert caught.value.__context__ is None
    assert SECRET not in f"{caught.value} {caught.value!r} {vars(caught.value)}"
    assert isinstance(caught.value, ValueError)


@pytest.fixture
def url(ledger_url: str) -> str:
    with Ledger(ledger_url) as ledger:
        started(ledger)
    return ledger_url


def test_a_newer_database_is_refused_and_left_alone(url: str) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE wholecall_schema SET version = 2"))
    before = contents(url)

    with pytest.raises(LedgerVersionError) as caught:
        Ledger(url)

    assert (caught.value.found, caught.value.known) == (2, 1)
    assert "2" in str(caught.value)
    assert caught.value.__context__ is None
    assert contents(url) == before
    with engine.connect() as connection:
        assert connection.execute(text("SELECT version FROM wholecall_schema")).all() == [(2,)]
    engine.dispose()


def test_an_older_database_is_brought_forward_step_by_step(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(url)
    steps = {
        1: ("ALTER TABLE wholecall_try ADD COLUMN one TEXT",),
        2: (
            "ALTER TABLE wholecall_try ADD COLUMN two TEXT",
            "UPDATE wholecall_try SET two = 'done'",
        ),
    }
    monkeypatch.setattr(ledger_schema, "STEPS", {**steps, 2: (*steps[2], "no statement")})
    monkeypatch.setattr(ledger_schema, "VERSION", 3)
    refused("prepare", lambda: Ledger(url))
    assert contents(url) == before

    monkeypatch.setattr(ledger_schema, "STEPS", steps)
    for _ in range(2):
        Ledger(url).close()
        operations, tries = contents(url)
        assert operations == before[0]
        assert isinstance(tries, list)
        assert [row[-2:] for row in tries] == [(None, "done")]

    monkeypatch.setattr(ledger_schema, "VERSION", 2)
    with pytest.raises(LedgerVersionError):
        Ledger(url)


# -- what protects it -------------------------------------------------------------------------------


def settings(ledger: Ledger, *questions: str) -> list[object]:
    with ledger._engine.connect() as connection:
        return [connection.exec_driver_sql(question).scalar() for question in questions]


def test_a_file_is_written_through_to_the_disk_and_is_its_owners_alone(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        with Ledger(f"sqlite:///{tmp_path / 'ledger.db'}") as ledger:
            assert ledger.plan([planned("a1")])

            assert settings(ledger, "PRAGMA journal_mode", "PRAGMA synchronous") == ["wal", 2]
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
            assert modes == {"ledger.db": 0o600, "ledger.db-wal": 0o600, "ledger.db-shm": 0o600}

        (tmp_path / "ledger.db").chmod(0o640)
        with Ledger(f"sqlite:///{tmp_path / 'ledger.db'}"):
            assert stat.S_IMODE((tmp_path / "ledger.db").stat().st_mode) == 0o640
    finally:
        os.umask(old)


def test_a_relative_path_stays_the_file_that_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Ledger("sqlite:///ledger.db") as ledger:
        monkeypatch.chdir("/")

        assert ledger.plan([planned("a1")])
    assert (tmp_path / "ledger.db").exists()


def test_a_database_that_sqlite_names_itself_is_left_to_it(tmp_path: Path) -> None:
    for name in (":memory:", f"file:{tmp_path / 'ledger.db'}?uri=true", "file::memory:?uri=true"):
        with Ledger(f"sqlite:///{name}") as ledger:
            assert ledger.plan([planned("a1")])


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("", ["on", "30s", "read committed"]),
        ("%20-csynchronous_commit%3Doff%20-cstatement_timeout%3D5s", ["on", "5s", "read committed"]),
        ("%20-csynchronous_commit%3Dremote_apply", ["remote_apply", "30s", "read committed"]),
        ("%20-cdefault_transaction_isolation%3Dserializable", ["on", "30s", "read committed"]),
    ],
)
def test_a_server_is_held_to_what_a_record_needs(
    new_postgresql: Callable[[], str], options: str, found: list[str]
) -> None:
    names = ("synchronous_commit", "statement_timeout", "transaction_isolation")
    with Ledger(new_postgresql() + options) as ledger:
        assert settings(ledger, *(f"SHOW {name}" for name in names)) == found
