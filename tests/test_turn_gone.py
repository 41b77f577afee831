"""Turns whose database really fails: a full disk, a deleted folder, a PostgreSQL that lets nobody in."""

from __future__ import annotations

import resource
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import event
from turns import FAST, NEEDS_PATH, TWO, Script

from wholecall.turn.ledger import Ledger
from wholecall.turn.observe import Event, RowFired
from wholecall.turn.result import Result
from wholecall.turn.run import Turn
from wholecall.turn.tools import Applied, Tool

BIG = "saved " + "x" * 1_000_000


class Host:
    """A host with a tool `save` that is run once at most, whatever becomes of its ledger."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.saved: list[str] = []
        self.requests = 0
        self.rows: list[str] = []
        self.when: dict[str, Callable[[], object]] = {}

    def at(self, moment: str) -> bool:
        """Do what the test does at this moment, once."""
        self.when.pop(moment, lambda: None)()
        return True

    def run(self, ledger: Ledger) -> Result:
        def save(arguments: dict[str, Any], _: object) -> str:
            self.saved.append(arguments["path"])
            self.at("save")
            return BIG

        def other(*_: object) -> str:
            self.at("other")
            return "done"

        def request(feedback: Any) -> Any:
            self.requests += 1
            return script(feedback)

        script = Script([TWO])
        tools = [
            Tool("save", NEEDS_PATH, save, query=lambda _: Applied("found")),
            Tool("other", None, other, effect="none"),
        ]
        turn = Turn(
            tools,
            request,
            "turn",
            FAST,
            ledger=ledger,
            authorize=lambda _: self.at("authorize"),
            observe=self.observe,
        )
        return turn.run_sync()

    def observe(self, told: Event) -> None:
        if isinstance(told, RowFired):
            self.rows.append(told.row)
            self.at(told.row)

    def resume(self) -> Result:
        """Another process, a while later, where the database is well."""
        self.when = {}
        with Ledger(self.url, clock=lambda: time.time() + 1000) as ledger:
            return self.run(ledger)


@contextmanager
def no_room() -> Iterator[tuple[Callable[[], object], Callable[[], object]]]:
    """What makes the disk full, so that no file of this process can grow, and what makes room again."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        yield (
            lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1])),
            lambda: resource.setrlimit(resource.RLIMIT_FSIZE, before),
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    folder = tmp_path / "ledgers"
    folder.mkdir()
    return Host(f"sqlite:///{folder / 'ledger.db'}")


def test_a_disk_that_is_full_before_the_plan_lets_nothing_run(host: Host) -> None:
    with Ledger(host.url) as ledger, no_room() as (fill, clear):
        host.when = {"authorize": fill}
        result = host.run(ledger)
        clear()

    assert (result.end, host.saved) == ("cancelled", [])
    assert [one.fault for one in result.operations] == ["ledger.unavailable"] * 2


def test_a_result_is_stored_when_there_is_room_again(host: Host) -> None:
    """The tool is neither asked about nor run again: what it said is still known."""
    with Ledger(host.url) as ledger, no_room() as (fill, clear):
        host.when = {"save": fill, "O18": clear}
        result = host.run(ledger)

    assert "O18" in host.rows
    assert (result.end, len(host.saved), result.operations[0].result) == ("settled", 1, BIG)
    assert host.resume().operations == result.operations


def test_a_result_that_finds_no_room_is_uncertain_and_found_later(host: Host) -> None:
    with Ledger(host.url) as ledger:
        with no_room() as (fill, _):
            host.when = {"save": fill}
            result = host.run(ledger)
        (save, other) = result.operations
        kept = [one.state for one in ledger.of_turn("turn")]

    assert (save.state, save.fault, other.fault) == (
        "unresolved",
        "operation.unresolved",
        "ledger.unavailable",
    )
    assert (other.state, kept) == ("cancelled", ["started", "planned"])
    again = host.resume()
    assert [(one.state, one.result) for one in again.operations] == [
        ("succeeded", "found"),
        ("cancelled", None),
    ]
    assert (len(host.saved), host.requests) == (1, 1)


def test_a_result_that_a_bounded_database_cannot_take_is_uncertain(host: Host) -> None:
    """Small records still fit: its sibling runs and is recorded."""

    def bound(connection: Any, _: object) -> None:
        connection.execute("PRAGMA max_page_count = 64")

    with Ledger(host.url) as ledger:
        ledger._engine.dispose()
        event.listen(ledger._engine, "connect", bound)
        result = host.run(ledger)
        kept = [one.state for one in ledger.of_turn("turn")]

    assert [one.state for one in result.operations] == ["unresolved", "succeeded"]
    assert (kept, len(host.saved)) == (["started", "succeeded"], 1)
    again = host.resume()
    assert (again.end, [one.result for one in again.operations]) == ("settled", ["found", "done"])


@pytest.mark.parametrize("moment", ["authorize", "save"])
def test_a_folder_that_is_deleted_ends_the_turn(host: Host, moment: str) -> None:
    """SQLite would go on writing to a file that nobody can ever read."""
    with Ledger(host.url) as ledger:
        host.when = {moment: lambda: shutil.rmtree(Path(host.url.removeprefix("sqlite:///")).parent)}
        result = host.run(ledger)
    ran = moment == "save"

    assert (result.end, len(host.saved)) == ("unresolved" if ran else "cancelled", int(ran))
    assert result.operations[0].fault == ("operation.unresolved" if ran else "ledger.unavailable")
    assert result.operations[1].fault == "ledger.unavailable"


@pytest.fixture
def gone(postgresql: str) -> Iterator[Host]:
    """A host with a database of its own in PostgreSQL."""
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("CREATE DATABASE gone")
        yield Host(postgresql.replace("/postgres?", "/gone?"))
        connection.execute("DROP DATABASE gone WITH (FORCE)")


@pytest.mark.parametrize("moment", ["authorize", "save"])
def test_a_server_that_lets_nobody_in_any_more_ends_the_turn(
    gone: Host, postgresql: str, moment: str
) -> None:
    def allow(answer: bool) -> None:
        with psycopg.connect(postgresql, autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE gone WITH ALLOW_CONNECTIONS {answer}".encode())
            if not answer:
                end = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = 'gone'"
                connection.execute(end)

    with Ledger(gone.url) as ledger:
        gone.when = {moment: lambda: allow(False)}
        result = gone.run(ledger)
    allow(True)
    ran = moment == "save"

    assert (result.end, len(gone.saved)) == ("unresolved" if ran else "cancelled", int(ran))
    assert result.operations[1].fault == "ledger.unavailable"
    again = gone.resume()
    assert (len(gone.saved), gone.requests) == (1, 1 if ran else 2)
    assert [one.state for one in again.operations] == ["succeeded", "cancelled" if ran else "succeeded"]
