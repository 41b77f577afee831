"""One permitted call, run at most once under its key: what the world answers is an input, and a row decides.

Nothing here decides a transition. A try is on record before its tool runs, and an answer before it counts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, ParamSpec

import anyio

from wholecall.turn.ledger_records import LedgerUnavailableError, Operation
from wholecall.turn.operation_state import TABLE, OperationState, Unstored
from wholecall.turn.tools import ABSENT, UNKNOWN, Applied, Found, run_query
from wholecall.turn.unbroken import unbroken

P = ParamSpec("P")

(_STARTED,) = {row.next for row in TABLE.rows if row.effect == "open_try"}
_ADOPTED: Final = {
    "succeeded": ("result", {}),
    "failed": ("declared_failure", {"latest": True, "others_absent": True}),
    "cancelled": ("found_absent", {"tries_left": False}),
    "unresolved": ("unanswerable", {"queries_left": False, "idempotent": False}),
}
"""By the end that another worker recorded: the input that says it here, and the guards that hold then."""


class OperationRun(OperationState):
    """One operation, run to an end that is known, or as near to one as can be."""

    __slots__ = ()

    # -- the first try, and the end of all ----------------------------------------------------------------

    async def start(self) -> None:
        """Claim the key and run the first try; without a record, nothing runs."""
        if await unbroken(self._claim):
            await self.run_try()

    async def _claim(self) -> bool:
        ledger, owner, lease = self.recorder.ledger, self.recorder.owner, self.policy.lease
        try:
            claimed = await self.recorder(ledger.claim, self.record.key, owner=owner, lease=lease)
        except LedgerUnavailableError:
            self.step("unrecorded")
            return False
        if claimed:
            self.number = 1
            self.step("start")
        else:
            await self._beaten()
        return claimed

    async def _beaten(self) -> None:
        """It is planned no more: somebody cancelled it, or another worker has started it."""
        try:
            known = await self.recorder(self.recorder.ledger.get, self.record.key)
        except LedgerUnavailableError:
            self.step("taken")
            return
        started = known is not None and known.tries > 0
        self.step("taken" if started else "cancel")

    async def cancel(self) -> None:
        """The turn is cancelled: what never started will not, and what is uncertain stays so."""
        if not self.final:
            await unbroken(self._cancel)

    async def _cancel(self) -> None:
        said = self.unstored
        if said is not None and await self.settle(said.input, said.result, number=said.number):
            self.unstored = None
        if self.final:
            return
        if self.state == TABLE.initial:
            recorded = await self.settle("cancel")
            if recorded is None:
                self.step("unrecorded")
            elif not recorded:
                await self._beaten()
        else:
            await self.end_try("cancel")
        if self.number and not self.final:
            await self._give_up()

    async def _give_up(self) -> None:
        """Let go of the key, so that whoever goes on need not wait for the lease to run out."""
        ledger, owner, number = self.recorder.ledger, self.recorder.owner, self.number
        try:
            await self.recorder(ledger.extend, self.record.key, owner=owner, number=number, lease=0)
        except LedgerUnavailableError:
            return  # then it runs out by itself

    # -- towards knowing ----------------------------------------------------------------------------------

    async def reconcile(self) -> None:
        """One step towards knowing: what is on record, then a query, then a repeat under the same key."""
        while (mine := await self._patiently(self._look)) is False:
            await anyio.sleep(self.policy.pause)  # another worker has it, and lives
        self.unstored = self.unstored or self.late_answer()
        if mine is None:
            self._without_ledger()
        elif self.final:
            return
        elif self.unstored is not None:
            await self._store(self.unstored)
        elif self.number <= self.absent:
            await self._answer("found_absent")
        elif self.guards()["queries_left"]:
            await self._ask()
        else:
            await self._answer("unanswerable")

    async def _patiently(
        self, work: Callable[P, Awaitable[bool | None]], *args: P.args, **kwargs: P.kwargs
    ) -> bool | None:
        """Do this with the ledger, which may be unavailable for a while; None where it stays so."""
        for _ in range(self.policy.queries):
            done = await unbroken(work, *args, **kwargs)
            if done is not None:
                return done
            await anyio.sleep(self.policy.pause)
        return None

    def _without_ledger(self) -> None:
        """The ledger stays unavailable. That is no answer, and counts as a query, so that this ends.

        Nothing of it is on record, so whoever resumes the turn can still find out.
        """
        if self.state == _STARTED:
            self.step("unrecorded")
        else:
            self.queries += 1
            self.step("unanswerable", {"tries_left": False})

    async def _look(self) -> bool | None:
        """Whether it has ended or is this worker's, by what is on record; what is lost is taken over."""
        ledger, owner = self.recorder.ledger, self.recorder.owner
        try:
            known = await self.recorder(ledger.get, self.record.key)
            if known is None or TABLE.state(known.state).final:
                self._adopt(known)
                return True
            if known.owner != owner:
                lease = self.policy.lease
                if not await self.recorder(ledger.take_over, known, owner=owner, lease=lease):
                    return False
                self.take(known)
                tries = await self.recorder(ledger.tries, self.record.key)
                self.absent = max((one.number for one in tries if one.absent), default=0)
        except LedgerUnavailableError:
            return None
        self.number = known.tries
        if self.state == _STARTED:
            await self.end_try("lost")
        return True

    def _adopt(self, known: Operation | None) -> None:
        """What is on record as the end is the end here too; a row says how. No record is no answer."""
        end = "unresolved" if known is None else known.state
        input, guards = _ADOPTED[end]
        if input not in TABLE.sees(self.state):
            self.step("lost")
        if not self.final:
            if known is not None:
                self.take(known)
            self.step(input, guards)

    async def _store(self, said: Unstored) -> None:
        """Record what a try said for certain, and could not be recorded then."""
        if await self._patiently(self.settle, said.input, said.result, number=said.number) is None:
            self._without_ledger()
        else:
            self.unstored = None

    async def _ask(self) -> None:
        """Ask the tool whether the effect of the key has happened."""
        self.queries += 1
        found: Found = UNKNOWN
        with anyio.move_on_after(self.policy.tool_timeout):
            found = await run_query(self.tool, self.record.key)
        if isinstance(found, Applied):
            await self._answer("found_applied", found.result)
        elif found is ABSENT:
            if await self._patiently(self._mark_absent):
                await self._answer("found_absent")
            else:
                self._without_ledger()
        else:
            await self._answer("unanswerable")

    async def _mark_absent(self) -> bool | None:
        ledger = self.recorder.ledger
        try:
            await self.recorder(ledger.mark_absent, self.record.key, self.number)
        except LedgerUnavailableError:
            return None
        self.absent = self.number
        return True

    async def _answer(self, input: str, result: object = None) -> None:
        """Take a query's answer. A try that it opens is on record before the row fires."""
        step = self.engine.step("operation", self.state, input, self.guards())
        if step.effect == "open_try":
            done = await self._patiently(self._open_try, input)
            if done:
                await self.run_try()
        else:
            done = await self._patiently(self.settle, input, result)
            if step.effect == "ask_again":
                await anyio.sleep(self.policy.pause)
        if done is None:
            self._without_ledger()

    async def _open_try(self, input: str) -> bool | None:
        ledger, owner = self.recorder.ledger, self.recorder.owner
        guards, number, lease = self.guards(), self.number, self.policy.lease
        try:
            opened = await self.recorder(
                ledger.retry, self.record.key, owner=owner, number=number, lease=lease
            )
        except LedgerUnavailableError:
            return None
        if opened:
            self.number += 1
            self.step(input, guards)
        return opened
