"""Workers that contend for the same keys: a process forks them, kills one now and then, and forks another.

What a tool does to the world is counted in a table, and nothing there keeps a key from happening twice.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import anyio
import psycopg
from ledgers import planned

from wholecall.structure import Toolset
from wholecall.turn.ledger import Ledger
from wholecall.turn.ledger_records import Operation
from wholecall.turn.operation import OperationRun
from wholecall.turn.policy import Policy
from wholecall.turn.run import turn_engine
from wholecall.turn.tools import ABSENT, Applied, Context, Found, Tool, ToolFailed
from wholecall.turn.unbroken import Recorder
from wholecall_generated.tables import SPEC

TABLE = SPEC.table("operation")
WORKERS, BATCH, KILLED = 4, 100, 20
"""Workers at one time, operations of one turn, and workers that are killed."""

POLICY = Policy(tries=1000, queries=1, pause=0.01, lease=0.5)
FORGETS = 0.01
"""How often a worker lets go of an operation in the middle, so that its lease runs out while it lives."""

CREATE = """
CREATE TABLE world (key TEXT PRIMARY KEY, happened INT NOT NULL DEFAULT 0, closed INT NOT NULL DEFAULT 0);
CREATE TABLE beaten (key TEXT NOT NULL);
"""


def turn(number: int) -> list[Operation]:
    """The operations of one turn."""
    return [planned(f"{number}-{at}", turn_id=f"turn-{number}", index=at) for at in range(BATCH)]


@dataclass
class World:
    """The world, as one worker reaches it."""

    connection: psycopg.Connection[Any]

    def act(self, key: str, number: int) -> bool:
        """Let it happen once more, unless somebody was promised that it never will by this try."""
        happens = "UPDATE world SET happened = happened + 1 WHERE key = %s AND closed < %s"
        return self.connection.execute(happens, (key, number)).rowcount > 0

    def close(self, key: str, number: int) -> bool:
        """Whether it has happened; where it has not, it never will by this try or an earlier one."""
        closes = "UPDATE world SET closed = %s WHERE key = %s RETURNING happened"
        row = self.connection.execute(closes, (number, key)).fetchone()
        return row is not None and row[0] > 0

    def count(self) -> int:
        """How many keys have happened."""
        (counted,) = self.connection.execute("SELECT count(*) FROM world WHERE happened > 0")
        return int(counted[0])


@contextmanager
def worlds(url: str) -> Iterator[World]:
    with psycopg.connect(url, autocommit=True) as connection:
        yield World(connection)


@dataclass
class Worker:
    """One worker: it claims what is planned and takes over what is lost, until everything has an end.

    Attributes:
        ledger: Its own.
        world: Where its tools act.
        name: The owner that it is.
        chance: Decides what it does not follow up.
        parent: The process that it must not outlive.
        late: Keys that it has claimed, and runs later than the lease lasts.
    """

    ledger: Ledger
    world: World
    name: str
    chance: Random
    parent: int
    late: list[str] = field(default_factory=list)

    def work(self, turns: int) -> None:
        todo = [f"turn-{number}" for number in range(turns)]
        while todo and os.getppid() == self.parent:
            todo = [turn_id for turn_id in todo if self.visit(turn_id)]

    def visit(self, turn_id: str) -> bool:
        """Do what there is to do; whether something is left without an end."""
        left = [one for one in self.ledger.of_turn(turn_id) if not TABLE.state(one.state).final]
        beaten = [one.key for one in left if one.state == TABLE.initial and not self.claim(one.key)]
        self.world.connection.cursor().executemany(
            "INSERT INTO beaten VALUES (%s)", [(key,) for key in beaten]
        )
        for one in left:
            if one.lost(time.time()):
                anyio.run(self.reconcile, one)
        while self.late:  # by now others may have it: then nothing may happen
            self.finish(self.late.pop())
        return bool(left)

    def claim(self, key: str) -> bool:
        claimed = self.ledger.claim(key, owner=self.name, lease=POLICY.lease)
        if claimed and self.chance.random() > FORGETS:
            self.finish(key)
        elif claimed:
            self.forget(key)
        return claimed

    def finish(self, key: str) -> None:
        if self.world.act(key, 1):
            done = {"input": "result", "state": "succeeded", "result": "1"}
            self.ledger.record(key, owner=self.name, number=1, **done)

    def forget(self, key: str) -> None:
        """Never run it, run it and never say so, or run it later than the lease lasts."""
        how = self.chance.randrange(3)
        if how == 1:
            self.world.act(key, 1)
        elif how == 2:
            self.late.append(key)

    async def reconcile(self, one: Operation) -> None:
        """The guard itself finds out what became of an operation that another worker left."""
        run = OperationRun(
            record=one,
            tools=Toolset.of([Tool("save", None, self.run, query=self.query)]),
            engine=turn_engine(),
            recorder=Recorder(self.ledger, self.name),
            policy=POLICY,
            note=lambda *_: None,
        )
        while not run.final:
            await run.reconcile()

    async def run(self, _: object, context: Context) -> str:
        if not self.world.act(context.key, context.try_number):
            raise ToolFailed
        return "done"

    async def query(self, key: str) -> Found:
        known = self.ledger.get(key)
        return Applied("done") if self.world.close(key, known.tries if known else 0) else ABSENT


def fork(url: str, turns: int, number: int) -> int:
    """Start a worker; its process id."""
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            chance = Random(number)  # noqa: S311 - a choice of what goes wrong
            with Ledger(url) as ledger, worlds(url) as world:
                Worker(ledger, world, f"worker {number}", chance, parent).work(turns)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    return pid


def kill(worker: int) -> None:
    """Kill a worker, which is no mistake only while it works."""
    os.kill(worker, signal.SIGKILL)
    _, status = os.waitpid(worker, 0)
    if not os.WIFSIGNALED(status):
        raise SystemExit(f"a worker ended before it was killed: {status}")


def main(url: str, turns: int) -> None:
    """Let them work, and kill one each time that so much more has happened."""
    chance = Random(turns)  # noqa: S311 - a choice of workers
    turn_engine()
    workers = [fork(url, turns, number) for number in range(WORKERS)]
    with worlds(url) as world:
        for killed in range(KILLED):
            enough = turns * BATCH * (killed + 1) // (KILLED + 1)
            while world.count() < enough:
                time.sleep(0.02 * chance.random())
            at = chance.randrange(WORKERS)
            kill(workers[at])
            workers[at] = fork(url, turns, WORKERS + killed)
    statuses = [os.waitpid(pid, 0)[1] for pid in workers]
    raise SystemExit(f"workers ended with {statuses}" if any(statuses) else 0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
