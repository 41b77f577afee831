"""The world of one real turn, in which nothing happens but what a test lets happen, and in its order.

Upstream, checks, the host's permission, tools and queries each wait at a door until the test opens it. Time
stands still, and moves only to where a try is over. A ledger is a real one, called in place.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import anyio
import pytest
from turns import Shaky
from virtual import InPlace, VirtualLoop

from wholecall import Limits
from wholecall.explore.operations import Tool as Kind
from wholecall.explore.scope import LIMIT, NAME, Scope
from wholecall.turn import tools, unbroken
from wholecall.turn.observe import Checked, Event, RowFired
from wholecall.turn.operation import OperationRun
from wholecall.turn.policy import Policy
from wholecall.turn.result import Result
from wholecall.turn.run import Turn
from wholecall.turn.tools import UNKNOWN, Context, Found, Tool

LEASE: Final = 1e9
"""Seconds: longer than all that happens in one run."""
TIME_LIMIT: Final = 1e5
"""Seconds that a try may take."""
PATIENCE: Final = 2000
"""Rounds of the loop in which the turn must come to wait for the world."""
END: Final = object()
"""What ends a stream in place of a frame."""
UNANSWERED: Final = (UNKNOWN, RuntimeError("the query broke"))
"""What comes to the same: a query that does not know, and one that failed."""


@dataclass
class Running:
    """One try of a tool, in a thread that is none.

    Attributes:
        call: What runs the tool, to be called where it says something.
        deadline: When it is given up.
        wakes: What it waits for; it is cancelled where the try was given up.
        says: What the tool gives, or raises.
    """

    call: Any
    deadline: float
    wakes: asyncio.Future[None]
    says: object = None

    def say(self, what: object) -> None:
        """Let the tool say this, be it late."""
        self.says = what
        if not self.wakes.done():
            self.wakes.set_result(None)
        else:
            with suppress(Exception):
                self.call()


@dataclass
class World:
    """One turn id, run once or twice.

    Attributes:
        loop: Keeps the time.
        ledger: The record, which outlives a run.
        id: The turn id.
        scope: The bounds, which are the limits of the turn.
        kind: The tool.
        turn: The run that is under way.
        task: What runs it.
        rows: The rows that fired in this run: those of the turn under None, of an operation under its place.
        checked: What the checks of this run came to.
        tries: The tries of this run, by key and number.
        answer: What the next query finds.
        queries: How often each key was asked about in this run.
        requests: How often upstream was asked in this run.
        doors: Where the turn waits for the world, and what it then gets.
    """

    loop: VirtualLoop
    ledger: Shaky
    id: str
    scope: Scope
    kind: Kind
    turn: Turn = field(init=False)
    task: asyncio.Task[Result] = field(init=False)
    rows: dict[int | None, list[RowFired]] = field(init=False)
    checked: list[str] = field(init=False)
    tries: dict[tuple[str, int], Running] = field(init=False)
    answer: Found | Exception | None = None
    queries: Counter[str] = field(init=False)
    requests: int = field(init=False)
    doors: dict[str, asyncio.Future[Any]] = field(default_factory=dict)

    # -- a run -----------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Begin a run, until it waits for the world."""
        self.rows, self.checked, self.tries = defaultdict(list), [], {}
        self.queries, self.requests, self.doors = Counter(), 0, {}
        asks = self.query if self.kind.query else None
        effect: Any = self.kind.effect
        tool = Tool(NAME, None, self.run, self.check, asks, effect, TIME_LIMIT)
        scope = self.scope
        self.turn = Turn(
            [tool],
            self.request,
            self.id,
            Policy(
                attempts=scope.attempts,
                queries=scope.queries,
                tries=scope.tries,
                concurrency=scope.choices * scope.calls,
                pause=0,
                tool_timeout=None,
                stream_idle=None,
                lease=LEASE,
            ),
            ledger=self.ledger,
            authorize=self.authorize,
            observe=partial(self.observe, self.rows, self.checked),
            limits=Limits(calls=scope.calls, name=LIMIT, arguments=LIMIT),
        )
        self.task = self.loop.create_task(self.turn.run())
        await self.settle()

    async def settle(self) -> None:
        """Wait until nothing goes on without the world."""
        waiting: Any = self.loop
        await asyncio.sleep(0)
        for _ in range(PATIENCE):
            if not waiting._ready:
                return
            await asyncio.sleep(0)
        raise AssertionError("the turn goes on by itself, and waits for nothing")

    async def crash(self) -> None:
        """The process is gone: nothing of it reaches the ledger, and the leases run out."""
        self.ledger.fails = lambda _, __: "before"
        self.task.cancel()
        await asyncio.wait([self.task])
        self.ledger.fails = lambda _, __: None
        await self.settle()
        self.loop.now += 2 * LEASE

    def observe(self, rows: dict[int | None, list[RowFired]], checked: list[str], event: Event) -> None:
        if isinstance(event, RowFired):
            rows[event.call].append(event)
        if isinstance(event, Checked):
            checked.append(event.proposal)

    # -- what waits for the world ------------------------------------------------------------------------

    async def wait(self, door: str) -> Any:
        """Wait at a door; what comes through it is given, or raised where it is an exception."""
        opened = self.doors[door] = self.loop.create_future()
        came = await opened
        if isinstance(came, Exception):
            raise came
        return came

    def open(self, door: str, what: object = None) -> None:
        """Let this through a door at which the turn waits."""
        self.doors.pop(door).set_result(what)

    async def request(self, _: object) -> Any:
        self.requests += 1
        await self.wait("request")
        return self.stream()

    async def stream(self) -> AsyncIterator[object]:
        while (frame := await self.wait("frame")) is not END:
            yield frame

    async def check(self, _: object) -> object:
        return await self.wait("check")

    async def authorize(self, _: object) -> object:
        return await self.wait("authorize")

    async def query(self, key: str) -> Found:
        self.queries[key] += 1
        answer, self.answer = self.answer, None
        assert answer is not None, "nobody asks but where the path says so"
        if isinstance(answer, Exception):
            raise answer
        return answer

    def run(self, _: object, context: Context) -> object:
        says = self.tries[context.key, context.try_number].says
        if isinstance(says, Exception):
            raise says
        return says

    async def in_thread(self, call: Any, **_: Any) -> Any:
        """Stands for `anyio.to_thread.run_sync` where a tool runs."""
        context: Context = call.args[1]
        one = Running(call, anyio.current_effective_deadline(), self.loop.create_future())
        self.tries[context.key, context.try_number] = one
        self.loop.now += 1  # so no two tries are over at the same time
        await one.wakes
        return call()


@contextmanager
def doors() -> Iterator[list[World]]:
    """Make each operation wait before it does anything, as a loop may make it wait that has other work.

    Gives:
        The world of the turn that runs, to be put there.
    """
    now: list[World] = []

    def behind(name: str) -> Any:
        real = getattr(OperationRun, name)

        async def go(run: OperationRun) -> None:
            await now[-1].wait(run.record.key)
            await real(run)

        return go

    class Thread:
        @staticmethod
        async def run_sync(call: Any, **options: Any) -> Any:
            return await now[-1].in_thread(call, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unbroken, "to_thread", InPlace)
        patch.setattr(tools, "to_thread", Thread)
        for name in ("start", "reconcile"):
            patch.setattr(OperationRun, name, behind(name))
        yield now
