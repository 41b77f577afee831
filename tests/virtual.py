"""A loop whose time jumps to whatever comes next, a ledger called in place, and a point at each await.

Nothing waits for real, so a thousand turns take seconds, and the same turn goes the same way each time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from typing import Any

import pytest

from wholecall.turn import unbroken


class VirtualLoop(asyncio.SelectorEventLoop):
    """Where nothing is ready, it is at once as late as the next timer says."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__()

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        waiting: Any = self
        timers = [timer.when() for timer in waiting._scheduled if not timer.cancelled()]
        if timers and not waiting._ready:
            self.now = max(self.now, min(timers))
        super()._run_once()  # type: ignore[misc]


class InPlace:
    """Stands for `anyio.to_thread`: the call is made here, between two awaits."""

    @staticmethod
    async def run_sync(call: Callable[[], Any], **_: Any) -> Any:
        await asyncio.sleep(0)
        answer = call()
        await asyncio.sleep(0)
        return answer


def run(work: Callable[..., Coroutine[Any, Any, Any]], *args: Any) -> Any:
    """Run this in a loop of virtual time, with the ledger called in place."""
    with pytest.MonkeyPatch.context() as patch, asyncio.Runner(loop_factory=VirtualLoop) as runner:
        patch.setattr(unbroken, "to_thread", InPlace)
        return runner.run(work(*args))


class Awaits:
    """Counts what every task of a loop waits for, and does something at the n-th time.

    Every await that reaches the loop passes through here, in whichever task; each is one point.
    """

    def __init__(self, at: int, then: Callable[[], object]) -> None:
        self.at = at
        self.then = then
        self.count = 0

    def factory(self, loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
        return asyncio.Task(self.counted(work), loop=loop, **options)

    async def counted(self, work: Coroutine[Any, Any, Any]) -> Any:
        return await _Counted(self, work)

    def passed(self) -> None:
        self.count += 1
        if self.count == self.at:
            self.then()


class _Counted:
    def __init__(self, awaits: Awaits, work: Coroutine[Any, Any, Any]) -> None:
        self.awaits = awaits
        self.work = work

    def __await__(self) -> Generator[Any, Any, Any]:
        error: BaseException | None = None
        while True:
            try:
                waited = self.work.send(None) if error is None else self.work.throw(error)
            except StopIteration as stop:
                return stop.value
            self.awaits.passed()
            error = None
            try:
                yield waited
            except BaseException as thrown:
                error = thrown
