"""What must be done to its end, whoever cancels the task that does it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import ParamSpec, TypeVar

import anyio
from anyio import to_thread

from wholecall.turn.ledger import Ledger

P = ParamSpec("P")
Answer = TypeVar("Answer")

_WRITING = 8
"""Calls of the ledger at one time, of one turn."""


async def unbroken(work: Callable[P, Awaitable[Answer]], *args: P.args, **kwargs: P.kwargs) -> Answer:
    """Do this to its end. A cancellation that comes meanwhile goes on afterwards.

    A shield alone holds off anyio's cancellations, and not those of `asyncio.Task.cancel`; a task of its own
    is out of the reach of both.

    Args:
        work: What is to be done; what it raises is passed on.
        *args: Its arguments.
        **kwargs: Its keyword arguments.
    """
    answers: list[Answer] = []
    errors: list[Exception] = []

    async def whole() -> None:
        with anyio.CancelScope(shield=True):
            try:
                answers.append(await work(*args, **kwargs))
            except Exception as error:
                errors.append(error)

    with anyio.CancelScope(shield=True):
        async with anyio.create_task_group() as group:
            group.start_soon(whole)
    for error in errors:
        raise error
    return answers[0]


async def in_thread(call: Callable[P, Answer], *args: P.args, **kwargs: P.kwargs) -> Answer:
    """Make this call, which may wait for a disk, in a thread that no tool can fill."""
    return await to_thread.run_sync(partial(call, *args, **kwargs), limiter=anyio.CapacityLimiter(1))


class Recorder:
    """The ledger of one turn, called in threads that no tool can fill, and never left in the middle.

    Attributes:
        ledger: The ledger.
        owner: The worker that this turn is.
    """

    def __init__(self, ledger: Ledger, owner: str) -> None:
        self.ledger = ledger
        self.owner = owner
        self._limiter = anyio.CapacityLimiter(_WRITING)

    async def __call__(self, move: Callable[P, Answer], *args: P.args, **kwargs: P.kwargs) -> Answer:
        """Make one call of the ledger.

        Args:
            move: A method of it.
            *args: Its arguments.
            **kwargs: Its keyword arguments.

        Errors:
            LedgerUnavailableError: It did not do what was asked.
        """

        def call() -> Answer:
            return move(*args, **kwargs)

        with anyio.CancelScope(shield=True):
            answer = await to_thread.run_sync(call, limiter=self._limiter)
        return answer  # noqa: RET504 - a scope may swallow, for all that types can tell
