"""Where one operation is: nothing here goes anywhere but by a row, and by record first.

What cannot be recorded is not known. Where a record and the step that follows it belong together, both are
done `unbroken`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import anyio

from wholecall.engine import NO_GUARDS, Engine, Step
from wholecall.structure import Toolset
from wholecall.turn.ledger_records import LedgerUnavailableError, Operation
from wholecall.turn.policy import Policy
from wholecall.turn.tools import Tool
from wholecall.turn.try_once import OneTry
from wholecall.turn.unbroken import Recorder, unbroken
from wholecall_generated.tables import SPEC

Note = Callable[[str, str, Step], None]
"""Is told of each step: from where, on what, and the step."""

TABLE: Final = SPEC.table("operation")
_CERTAIN: Final = ("result", "declared_failure")
"""What a tool says for certain: it is recorded later where it cannot be at once."""


@dataclass(frozen=True, slots=True)
class Unstored:
    """What a try said for certain, and no record has."""

    input: str
    number: int
    result: object = field(repr=False)


@dataclass(slots=True)
class OperationState:
    """One operation in this process, which goes nowhere but by a row.

    Attributes:
        record: The operation as it was planned or found; its key names it everywhere.
        tools: The tools that may run. One that has ended needs none.
        engine: Runs the operation table.
        recorder: Where tries and ends are recorded.
        policy: The limits.
        note: Is told of each step.
        state: Where the operation is.
        fault: The fault of the row that led there; empty where it has none.
        result: The result, once it succeeded, as it is on record.
        reason: Why its last try failed, as the tool said it; data for the host.
        number: The latest try; 0 before the first.
        queries: How often the tool was asked.
        absent: The tries up to this one are known to have had no effect.
        unstored: What a try said for certain, where it could not be recorded.
        ran: The tries of this process; where one gave no answer in time, a sync tool may still give one.
    """

    record: Operation
    tools: Toolset
    engine: Engine
    recorder: Recorder
    policy: Policy
    note: Note = field(repr=False)
    state: str = ""
    fault: str = ""
    result: object = field(default=None, repr=False)
    reason: str | None = field(default=None, repr=False)
    number: int = 0
    queries: int = 0
    absent: int = 0
    unstored: Unstored | None = None
    ran: list[OneTry] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        self.state = self.record.state
        self.fault = self.record.fault or ""
        self.number = self.record.tries
        self.take(self.record)

    @property
    def final(self) -> bool:
        """Whether it has ended."""
        return TABLE.state(self.state).final

    @property
    def tool(self) -> Tool:
        """What runs it.

        Raises:
            ToolLookupError: It is not among the tools.
        """
        return self.tools.tool(self.record.tool)

    def take(self, known: Operation) -> None:
        """Take the result and the reason that are on record."""
        if known.result is not None:
            self.result = json.loads(known.result)
        self.reason = known.reason or self.reason

    async def run_try(self) -> None:
        """Run the tool once; whatever comes of it is recorded, also where this task is cancelled.

        Errors:
            BaseException: The tool leaves the program, say by a SystemExit.
        """
        one = OneTry(self.record, self.tool, self.recorder, self.policy, self.number)
        try:
            await one.run()
        except anyio.get_cancelled_exc_class():
            await unbroken(self.end_try, one.input or "cancel", one.result)
            raise
        self.reason = one.reason
        self.ran.append(one)
        await unbroken(self.end_try, one.input or "timeout", one.result)
        if one.leaves is not None:
            raise one.leaves

    async def end_try(self, input: str, result: object = None) -> None:
        """Record what came of a try. Where that fails, whether it had its effect is not known here."""
        late = self.late_answer()
        if late is not None:
            stored = await self.settle(late.input, late.result, number=late.number)
            self.unstored = late if stored is None else self.unstored
        if self.final:
            return
        recorded = await self.settle(input, result)
        if recorded is None:
            if input in _CERTAIN:
                self.unstored = Unstored(input, self.number, result)
            self.step("unrecorded")
        elif not recorded:  # another worker took it over
            self.step("lost")

    def late_answer(self) -> Unstored | None:
        """What an earlier try has said since it was given up; each answer is given once."""
        for one in self.ran:
            if one.said is not None and not one.input:
                self.ran.remove(one)
                input, result, reason = one.said
                if one.number == self.number:
                    self.reason = reason
                return Unstored(input, one.number, result)
        return None

    async def settle(
        self,
        input: str,
        result: object = None,
        *,
        number: int | None = None,
        guards: Mapping[str, bool] = NO_GUARDS,
    ) -> bool | None:
        """Record where an input leads, and only then go there.

        Args:
            input: What arrived.
            result: What came with it.
            number: The try whose answer this is; the latest where it is None.
            guards: What is known beside the limits.

        Returns:
            Whether it went; None where the ledger is unavailable, False where it says otherwise.
        """
        number = self.number if number is None else number
        truths = {**self.guards(), "latest": number == self.number, **guards}
        step = self.engine.step("operation", self.state, input, truths)
        stored = json_text(result) if step.effect == "record_result" else None
        recorded: bool | None = True
        if step.state != self.state:
            try:
                recorded = await self.recorder(
                    self.recorder.ledger.record,
                    self.record.key,
                    owner=self.recorder.owner,
                    number=number,
                    input=input,
                    state=step.state,
                    fault=step.fault,
                    result=stored,
                    reason=self.reason,
                )
            except LedgerUnavailableError:
                recorded = None
        if recorded:
            self.result = None if stored is None else json.loads(stored)
            self.step(input, truths)
        return recorded

    def step(self, input: str, guards: Mapping[str, bool] = NO_GUARDS) -> None:
        """Go where an input leads."""
        before = self.state
        step = self.engine.step("operation", before, input, {**self.guards(), **guards})
        self.state, self.fault = step.state, step.fault
        self.note(before, input, step)

    def guards(self) -> dict[str, bool]:
        """What holds now."""
        return {
            "latest": True,
            "others_absent": self.absent >= self.number - 1,
            "effectless": self.tool.effect == "none",
            "idempotent": self.tool.effect != "once",  # what only reads can be repeated too
            "tries_left": self.number < self.policy.tries,
            "queries_left": self.tool.query is not None and self.queries < self.policy.queries,
        }


def json_text(result: object) -> str:
    """A result as JSON text; what JSON has no form for, as NaN, is its own text, or no more than its type."""
    try:
        return json.dumps(json.loads(json.dumps(result, default=str), parse_constant=str))
    except Exception:
        return json.dumps(f"a result of type {type(result).__name__}, which is not JSON")
