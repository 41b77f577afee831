"""The batch: operations that are planned together, run as far as the limits allow, and come to one word."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from typing import Final

import anyio

from wholecall.assemble import Call, Response
from wholecall.engine import Engine
from wholecall.structure import Toolset
from wholecall.turn.ledger import Ledger
from wholecall.turn.ledger_records import LedgerUnavailableError, Operation
from wholecall.turn.observe import OperationEnded, OperationStarted, Teller
from wholecall.turn.operation import OperationRun
from wholecall.turn.policy import Policy
from wholecall.turn.unbroken import Recorder, unbroken
from wholecall_generated.tables import SPEC

_TABLE: Final = SPEC.table("operation")


class BatchRun:
    """The operations of one turn in this process.

    Args:
        turn_id: The host's name of the turn.
        tools: The tools that may run.
        engine: Runs the operation table.
        ledger: Where operations are recorded.
        owner: This worker.
        policy: The limits.
        teller: Is told of what happens.

    Attributes:
        operations: In the order of the batch.
    """

    def __init__(
        self,
        turn_id: str,
        tools: Toolset,
        engine: Engine,
        ledger: Ledger,
        owner: str,
        policy: Policy,
        teller: Teller,
    ) -> None:
        self.operations: list[OperationRun] = []
        self._turn_id = turn_id
        self._tools = tools
        self._engine = engine
        self._recorder = Recorder(ledger, owner)
        self._policy = policy
        self._teller = teller
        self._open: dict[int, OperationRun] = {}

    @property
    def any_uncertain(self) -> bool:
        """Whether the effect of an operation is not known."""
        return any(run.state == "uncertain" for run in self.operations)

    @property
    def word(self) -> str:
        """What the operations say to the turn, now that none of them is running."""
        states = frozenset(run.state for run in self.operations)
        return SPEC.join("operations").decide({"operation": states}).gives

    @property
    def verbatim(self) -> list[tuple[str, str, str]]:
        """The calls as they arrived: id, name and argument text of each."""
        return [(run.record.call_id, run.record.tool, run.record.arguments) for run in self.operations]

    @property
    def content(self) -> str:
        """The text of the response beside its calls."""
        return "".join(run.record.content for run in self.operations)

    async def resume(self) -> int:
        """Take up what an earlier run of this turn id started; what it only planned is cancelled.

        Returns:
            The latest attempt that the ledger knows of this turn; 0 where it knows none.

        Errors:
            LedgerUnavailableError: The ledger could not tell.
            ToolLookupError: The tool of an operation that has no end is no longer among the tools.
        """
        found = await unbroken(self._recorder, self._recorder.ledger.of_turn, self._turn_id)
        for record in found:
            if not _TABLE.state(record.state).final:
                self._tools.tool(record.tool)
        # Each run counts its attempts on, so an attempt names a batch; the ledger lets one of them start.
        batches: dict[int, list[OperationRun]] = {}
        for record in found:
            batch = batches.setdefault(record.attempt, [])
            batch.append(self._operation(len(batch), record))
        for batch in batches.values():
            for run in batch:
                if run.state == _TABLE.initial:
                    await run.cancel()
            if any(run.record.tries or not run.final for run in batch):
                self.operations = batch
        return max(batches, default=0)

    async def dispatch(self, response: Response, attempt: int) -> None:
        """Plan the whole batch, then run each operation; siblings go on when one fails."""
        first, *others = [self._planned(call, attempt) for call in response.calls]
        planned = [replace(first, content=response.content), *others]
        self.operations = [self._operation(at, record) for at, record in enumerate(planned)]
        try:
            new = await unbroken(self._recorder, self._recorder.ledger.plan, planned)
        except LedgerUnavailableError:
            self._drop("unrecorded")
            return
        if not new:  # another worker runs another batch of this turn
            self._drop("cancel")
            return
        await self._all(self._start)

    async def reconcile(self) -> None:
        """One step of each operation towards knowing."""
        await self._all(self._reconcile)

    async def cancel(self) -> None:
        """Cancel every operation: what never started will not, and what is uncertain stays so."""
        for run in self.operations:
            await run.cancel()

    def close(self) -> None:
        """The turn is over: so are the operations that it leaves without an end."""
        while self._open:
            self._end(*self._open.popitem())

    async def _all(self, work: Callable[[int, OperationRun], Awaitable[None]]) -> None:
        """Do this for each operation that has not ended, as many at one time as the policy allows."""
        limiter = anyio.CapacityLimiter(self._policy.concurrency)
        left: list[BaseException] = []

        async def one(at: int, run: OperationRun) -> None:
            async with limiter:
                try:
                    await work(at, run)
                except anyio.get_cancelled_exc_class():
                    raise
                except BaseException as error:  # a task would wrap it, or stop the loop with it
                    left.append(error)
                    group.cancel_scope.cancel()  # before another has the limiter: it must not start

        async with anyio.create_task_group() as group:
            for at, run in enumerate(self.operations):
                if not run.final:
                    group.start_soon(one, at, run)
        for error in left:
            raise error

    async def _start(self, at: int, run: OperationRun) -> None:
        self._take_up(at, run)
        await run.start()
        self._put_down(at, run)

    async def _reconcile(self, at: int, run: OperationRun) -> None:
        if at not in self._open:
            self._take_up(at, run, resumed=True)
        await run.reconcile()
        self._put_down(at, run)

    def _take_up(self, at: int, run: OperationRun, *, resumed: bool = False) -> None:
        self._open[at] = run
        self._teller.tell(OperationStarted, at, run.record.tool, resumed)

    def _put_down(self, at: int, run: OperationRun) -> None:
        if run.final:
            self._end(at, self._open.pop(at))

    def _end(self, at: int, run: OperationRun) -> None:
        self._teller.tell(OperationEnded, at, run.record.tool, run.state, run.fault, run.number)

    def _drop(self, input: str) -> None:
        """None of them is in the ledger, so none started, and none will.

        Args:
            input: `unrecorded` where the ledger failed, `cancel` where it holds another batch of the turn.
        """
        for run in self.operations:
            run.step(input)

    def _planned(self, call: Call, attempt: int) -> Operation:
        name = call.name or ""
        parts = [self._turn_id, attempt, call.choice, call.index, call.id, name, call.arguments]
        return Operation(
            key=blake2b(json.dumps(parts).encode(), digest_size=32).hexdigest(),
            turn_id=self._turn_id,
            attempt=attempt,
            choice=call.choice,
            index=call.index,
            call_id=call.id or "",
            tool=name,
            arguments=call.arguments,
            effect=self._tools.tool(name).effect,
        )

    def _operation(self, at: int, record: Operation) -> OperationRun:
        return OperationRun(
            record=record,
            tools=self._tools,
            engine=self._engine,
            recorder=self._recorder,
            policy=self._policy,
            note=partial(self._teller.operation_row, at),
        )
