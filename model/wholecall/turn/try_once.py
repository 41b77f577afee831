"""One try of a tool: it has a time limit, and its worker's lease is extended while it runs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import anyio

from wholecall.turn.ledger_records import LedgerUnavailableError, Operation
from wholecall.turn.policy import Policy
from wholecall.turn.tools import Context, Tool, ToolFailed, run_tool
from wholecall.turn.unbroken import Recorder

_A_LEASE = 3
"""How often a lease is extended before it would have run out."""


@dataclass(slots=True)
class OneTry:
    """A try whose record is durable.

    Attributes:
        record: The operation.
        tool: What runs it.
        recorder: Where its lease is extended.
        policy: The limits.
        number: Which try it is, from 1.
        input: What the tool did, as an input of the operation table; empty while it has done nothing.
        result: What it gave.
        reason: Why it failed, as it said it.
        said: What a sync tool said for certain, also after it was left behind: the input, the result, and the
            reason of a failure.
        leaves: What it raised to leave the program, such as a SystemExit: to be raised once it is on record.
    """

    record: Operation
    tool: Tool
    recorder: Recorder
    policy: Policy
    number: int
    input: str = ""
    result: object = field(default=None, repr=False)
    reason: str | None = field(default=None, repr=False)
    said: tuple[str, object, str | None] | None = field(default=None, repr=False)
    leaves: BaseException | None = field(default=None, repr=False)

    async def run(self) -> None:
        """Run the tool. `input` stays empty where it gave no answer in time, or this was cancelled."""
        timeout = self.policy.tool_timeout if self.tool.timeout is None else self.tool.timeout
        async with anyio.create_task_group() as group:
            group.start_soon(self._hold)
            with anyio.move_on_after(timeout):
                await self._run()
            group.cancel_scope.cancel()

    async def _run(self) -> None:
        one = self.record
        context = Context(one.key, one.turn_id, one.attempt, one.call_id, self.number)
        try:
            self.result = await run_tool(self.tool, json.loads(one.arguments), context, self._hear)
            self.input = "result"
        except ToolFailed as failed:
            self.reason = failed.reason
            self.input = "declared_failure"
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:
            self.leaves = None if isinstance(error, Exception) else error
            self.input = "raised"

    def _hear(self, input: str, result: object, reason: str | None) -> None:
        self.said = (input, result, reason)

    async def _hold(self) -> None:
        """Extend the lease; where that fails it runs out, and others may look."""
        ledger, owner, lease = self.recorder.ledger, self.recorder.owner, self.policy.lease
        key, number = self.record.key, self.number
        while True:
            await anyio.sleep(lease / _A_LEASE)
            try:
                await self.recorder(ledger.extend, key, owner=owner, number=number, lease=lease)
            except LedgerUnavailableError:
                continue
