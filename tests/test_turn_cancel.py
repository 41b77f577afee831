"""A turn that is cancelled at whichever of its awaits leaves no started operation unrecorded."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import pytest
import virtual
from turns import BROKEN, HALF, TWO, Acts, Shaky, Stage
from virtual import Awaits

from wholecall.turn.result import Result
from wholecall.turn.tools import ABSENT, UNKNOWN, Applied
from wholecall.turn.unbroken import unbroken

pytestmark = pytest.mark.usefixtures("untraced")


async def briefly(*_: object) -> str:
    await anyio.sleep(0)
    return "saved"


SITUATIONS: dict[str, Callable[[], Stage]] = {
    "runs two": lambda: Stage([HALF, TWO], save=Acts([briefly])),
    "is found": lambda: Stage(save=Acts([BROKEN]), query=Acts([UNKNOWN, Applied("found")])),
    "is retried": lambda: Stage(save=Acts([BROKEN, briefly]), query=Acts([ABSENT])),
    "is repeated": lambda: Stage(save=Acts([BROKEN, briefly]), effect="idempotent"),
}


async def by_task(stage: Stage, at: int, times: int = 1) -> int:
    """Run the turn in a task and cancel that at one await; how many there were."""
    turn = stage.make()
    loop = asyncio.get_running_loop()

    def cancel() -> None:
        for _ in range(times):
            task.cancel()
        if times > 1:  # and once more, while it puts things in order
            awaits.at = awaits.count + 2
            awaits.then = lambda: task.cancel()

    awaits = Awaits(at, cancel)
    loop.set_task_factory(awaits.factory)
    try:
        task = loop.create_task(turn.run())
        await asyncio.wait([task])
    finally:
        loop.set_task_factory(None)
    if not task.cancelled():
        task.result()
    return awaits.count


async def by_scope(stage: Stage, at: int) -> int:
    """Run the turn in a cancel scope of anyio and cancel that at one await; how many there were."""
    turn = stage.make()
    loop = asyncio.get_running_loop()
    awaits = Awaits(at, lambda: scope.cancel())
    scope = anyio.CancelScope()

    async def main() -> None:
        with scope:
            await turn.run()

    loop.set_task_factory(awaits.factory)
    try:
        await loop.create_task(main())
    finally:
        loop.set_task_factory(None)
    return awaits.count


async def by_task_twice(stage: Stage, at: int) -> int:
    """As a host does that will not wait: cancelled, and cancelled again."""
    return await by_task(stage, at, 2)


def ran(stage: Stage) -> set[tuple[str, int]]:
    calls = [call[1] for acts in (stage.save, stage.other) for call in acts.calls]
    return {(context.key, context.try_number) for context in calls}


Cancelling = Callable[[Stage, int], Coroutine[Any, Any, int]]


@pytest.mark.parametrize("cancelling", [by_task, by_scope, by_task_twice])
@pytest.mark.parametrize("name", SITUATIONS)
def test_cancelled_at_each_await(name: str, cancelling: Cancelling) -> None:
    """What ran is on record; what the turn says is what the ledger says; and a resume asks for nothing."""
    assert _cancel_everywhere(SITUATIONS[name], cancelling, virtual.run) > 25


@pytest.mark.parametrize("cancelling", [by_task, by_scope])
def test_cancelled_at_each_await_while_threads_write(cancelling: Cancelling) -> None:
    """The same with the ledger in its threads, which nothing can stop."""
    assert _cancel_everywhere(SITUATIONS["is retried"], cancelling, anyio.run) > 25


def _cancel_everywhere(
    situation: Callable[[], Stage], cancelling: Cancelling, run: Callable[..., int]
) -> int:
    """Cancel at one await after another, until there is none left; how many there were."""
    at = 0
    reached = True
    now = itertools.count(0, 1000)  # so each look finds every lease run out
    ledger = Shaky(clock=lambda: next(now))
    while reached:
        at += 1
        stage = situation()
        stage.ledger, stage.id = ledger, f"turn-{at}"
        reached = run(cancelling, stage, at) >= at
        _look(stage)
    return at - 1


def _look(stage: Stage) -> None:
    assert stage.turn is not None
    result: Result = stage.turn.result()
    kept = {one.key: one for one in stage.on_record}
    tries = {(key, one.number) for key in kept for one in stage.ledger.tries(key)}

    assert result.end in ("cancelled", "unresolved", "settled")
    assert ran(stage) <= tries
    assert "started" not in {one.state for one in kept.values()}
    for one in result.operations:
        assert one.state == (kept[one.key].state if one.key in kept else "cancelled")
    if tries:
        virtual.run(stage.make_again().run)
        assert stage.requests == 0


def test_unbroken_work_says_what_it_came_to() -> None:
    async def fails() -> None:
        raise BROKEN

    async def main() -> None:
        assert await unbroken(briefly) == "saved"
        with pytest.raises(RuntimeError):
            await unbroken(fails)

    anyio.run(main)
