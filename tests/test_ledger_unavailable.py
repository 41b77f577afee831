"""A ledger that cannot keep its word says so: nothing is half done, and no message holds what it was given.

The faults are real: a full disk, a file that is deleted, replaced, locked or no database, a table that is
gone, a connection that the server ends.
"""

from __future__ import annotations

import logging
import resource
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from ledgers import SECRET, contents, planned, refused
from sqlalchemy import Engine, create_engine, event, text

from wholecall.errors import WholecallError
from wholecall.turn.ledger import Ledger
from wholecall.turn.ledger_records import (
    LedgerUnavailableError,
    Operation,
)
from wholecall_generated.tables import SPEC

BIG = f'"{SECRET}{"x" * 100_000}"'


def batch(turn_id: str, *keys: str) -> list[Operation]:
    facts = {"turn_id": turn_id, "call_id": SECRET, "arguments": f'"{SECRET}"'}
    return [planned(key, index=index, **facts) for index, key in enumerate(keys)]


HELD: dict[str, Any] = {"key": "b2", "owner": "me", "number": 1}

Call = Callable[[Ledger], object]

WRITES: dict[str, Call] = {
    "plan": lambda ledger: ledger.plan(batch("another", "c3", "d4")),
    "claim": lambda ledger: ledger.claim("a1", owner="me", lease=60),
    "take_over": lambda ledger: ledger.take_over(planned("e5", owner="dead", tries=1), owner="you", lease=60),
    "extend": lambda ledger: ledger.extend(**HELD, lease=120),
    "mark_absent": lambda ledger: ledger.mark_absent("b2", 1),
    "retry": lambda ledger: ledger.retry(**HELD, lease=60),
    "record": lambda ledger: ledger.record(**HELD, input="result", state="succeeded", result=BIG),
}
"""Each method that changes something: `a1` is planned, `b2` is mine, and `e5` is lost. In this order each
finds something to change.
"""

READS: dict[str, Call] = {
    "get": lambda ledger: ledger.get("b2"),
    "of_turn": lambda ledger: ledger.of_turn("turn"),
    "tries": lambda ledger: ledger.tries("b2"),
    "recover": lambda ledger: ledger.recover(),
}
CALLS: dict[str, Call] = {**WRITES, **READS}


def fill(url: str) -> None:
    with Ledger(url) as ledger:
        ledger.plan(batch("turn", "a1", "b2"))
        ledger.claim("b2", owner="me", lease=60)
        ledger.plan(batch("lost", "e5"))
        ledger.claim("e5", owner="dead", lease=0)


def kinds(ledger: Ledger, calls: dict[str, Call]) -> set[str]:
    """Each of these calls is refused, with one of these kinds."""
    return {refused(method, lambda call=call: call(ledger)).kind for method, call in calls.items()}  # type: ignore[misc]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    fill(f"sqlite:///{tmp_path / 'ledger.db'}")
    return tmp_path / "ledger.db"


@pytest.fixture
def url(ledger_url: str) -> str:
    fill(ledger_url)
    return ledger_url


def test_each_of_these_calls_finds_something_to_do_where_nothing_is_wrong(url: str) -> None:
    before = contents(url)
    with Ledger(url) as ledger:
        for method, call in WRITES.items():
            assert call(ledger) is True, method
            assert contents(url) != before, method
            before = contents(url)
        assert all(READS[read](ledger) for read in READS)


def test_the_fault_is_one_of_the_specification() -> None:
    assert SPEC.fault(LedgerUnavailableError.fault).kind == "reconcile"
    assert issubclass(LedgerUnavailableError, WholecallError)


# -- the disk is full -------------------------------------------------------------------------------


@contextmanager
def no_room() -> Iterator[None]:
    """No file of this process can grow: what the disk says when it is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_what_the_disk_did_not_take_is_not_recorded(file: Path) -> None:
    url = f"sqlite:///{file}"
    before = contents(url)

    with Ledger(url) as ledger:
        with no_room():
            assert kinds(ledger, WRITES) <= {"SQLITE_FULL", "SQLITE_IOERR_WRITE"}
        assert contents(url) == before

        assert all(call(ledger) is True for call in WRITES.values())


def test_what_was_recorded_can_be_read_from_a_full_disk(file: Path) -> None:
    with Ledger(f"sqlite:///{file}") as ledger:
        before = [READS[read](ledger) for read in READS]
        with no_room():
            assert [READS[read](ledger) for read in READS] == before


@pytest.mark.parametrize("method", ["plan", "record"])
def test_a_database_that_may_not_grow_takes_a_record_whole_or_not(tmp_path: Path, method: str) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"

    def bound(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA max_page_count = 16")

    event.listen(Engine, "connect", bound)
    try:
        fill(url)
        before = contents(url)
        with Ledger(url) as ledger:
            big = batch("another", "c3", "d4" * 50_000)
            call = WRITES["record"] if method == "record" else lambda ledger: ledger.plan(big)
            error = refused(method, lambda: call(ledger))
            assert error.kind == "SQLITE_FULL"
        assert contents(url) == before
    finally:
        event.remove(Engine, "connect", bound)


# -- the database is gone ---------------------------------------------------------------------------


def test_a_deleted_file_takes_no_record(file: Path) -> None:
    """SQLite would go on writing to it, and nobody would ever read that."""
    with Ledger(f"sqlite:///{file}") as ledger:
        file.unlink()

        assert kinds(ledger, CALLS) == {"FileNotFoundError"}

    assert not file.exists()


def test_a_replaced_file_takes_no_record(file: Path) -> None:
    with Ledger(f"sqlite:///{file}") as ledger:
        shutil.copy(file, file.with_suffix(".copy"))
        file.with_suffix(".copy").replace(file)
        before = file.read_bytes()

        assert kinds(ledger, CALLS) == {"FileReplacedError"}
        assert file.read_bytes() == before


@pytest.mark.parametrize("table", ["wholecall_operation", "wholecall_try"])
def test_where_one_table_fails_the_other_is_left_as_it_was(url: str, table: str) -> None:
    """Most methods write to both: what the first took is taken back where the second does not."""
    engine, before = create_engine(url), contents(url)

    def rename(old: str, new: str) -> None:
        with engine.begin() as connection:
            connection.execute(text(f"ALTER TABLE {old} RENAME TO {new}"))

    both = {"claim", "retry", "record", "mark_absent"}
    with Ledger(url) as ledger:
        rename(table, "elsewhere")
        for method, call in WRITES.items():
            if method in both or table == "wholecall_operation":
                refused(method, lambda call=call: call(ledger))  # type: ignore[misc]
        rename("elsewhere", table)
    engine.dispose()

    assert contents(url) == before


def test_a_database_that_another_holds_is_waited_for_and_then_unavailable(file: Path) -> None:
    url = f"sqlite:///{file}"
    before = contents(url)
    with Ledger(f"{url}?timeout=0.05") as ledger:
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")

        assert kinds(ledger, WRITES) == {"SQLITE_BUSY"}
        assert all(call(ledger) for call in READS.values())

        other.close()
        assert contents(url) == before
        assert all(call(ledger) is True for call in WRITES.values())


def test_a_connection_that_ends_amid_a_record_leaves_nothing(new_postgresql: Callable[[], str]) -> None:
    url = new_postgresql()
    fill(url)
    before = contents(url)
    with Ledger(f"{url}%20-capplication_name%3Dledger") as ledger:
        for method, call in CALLS.items():
            with psycopg.connect(url) as other:
                other.execute("LOCK TABLE wholecall_operation, wholecall_try")
                killer = threading.Thread(target=end_the_waiting, args=(url,))
                killer.start()

                assert refused(method, lambda call=call: call(ledger)).kind == "57P01"  # type: ignore[misc]
                killer.join()
        assert contents(url) == before

        assert all(call(ledger) for call in CALLS.values())


def end_the_waiting(url: str) -> None:
    """End the connection of the ledger that waits for a lock."""
    end = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name = 'ledger' AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()"
    )
    with psycopg.connect(url, autocommit=True) as connection:
        until = time.monotonic() + 20
        while time.monotonic() < until and not connection.execute(end).fetchall():
            time.sleep(0.01)


def test_a_connection_that_ended_between_two_records_is_opened_again(
    new_postgresql: Callable[[], str],
) -> None:
    url = new_postgresql()
    with Ledger(f"{url}%20-capplication_name%3Didle") as ledger:
        assert ledger.plan([planned("a1")])
        with psycopg.connect(url, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'idle'"
            )

        assert ledger.claim("a1", owner="me", lease=60)


def test_a_closed_ledger_is_unavailable() -> None:
    with Ledger("sqlite://") as ledger:
        pass

    ledger.close()

    assert kinds(ledger, CALLS) == {"closed"}


# -- what is logged --------------------------------------------------------------------------------


def test_no_log_holds_what_was_stored_or_read(url: str, caplog: pytest.LogCaptureFixture) -> None:
    """Not even where the host asks every logger for everything."""
    caplog.set_level(logging.DEBUG)
    with Ledger(url) as ledger:
        for call in CALLS.values():
            assert call(ledger)
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE wholecall_try"))
    engine.dispose()
    with Ledger(url) as ledger:
        refused("claim", lambda: ledger.claim("d4", owner=SECRET, lease=1))

    assert SECRET not in caplog.text
