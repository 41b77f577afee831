"""The turn: from a request to settled operations, and never more than was checked, allowed and recorded.

Each live state of the turn table has one method here, named after it. It does the work of that state and says
what came of it: an input. The table decides where that leads, and the joins turn what other machines say into
inputs.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Iterable
from functools import cache
from typing import Any, Final, NamedTuple

import anyio

from wholecall.assemble import Assembler, Call, Sink
from wholecall.engine import Engine, Step
from wholecall.limits import Limits
from wholecall.machines import Reference
from wholecall.structure import Toolset
from wholecall.turn import observe as seen
from wholecall.turn import result as say
from wholecall.turn.attempt import AttemptRun, OnFrame
from wholecall.turn.batch_run import BatchRun
from wholecall.turn.feedback import Feedback
from wholecall.turn.ledger import Ledger
from wholecall.turn.policy import Policy
from wholecall.turn.result import Result
from wholecall.turn.tools import Tool, invoke
from wholecall.turn.unbroken import unbroken
from wholecall.turn.upstream import Request, UpstreamRefused
from wholecall_generated.tables import SPEC
from wholecall_spec.table import CARRIED

_TABLE: Final = SPEC.table("turn")


class Came(NamedTuple):
    """What came of the work of one state: the input, and the fault that travels with it."""

    input: str
    carried: str = ""


@cache
def turn_engine() -> Engine:
    """The engine on `transitions` for the packaged tables, made once."""
    return Reference(SPEC)


class Turn:
    """One step of an agent: a response is asked for until it can be used, then its batch runs once.

    Args:
        tools: The tools that may run: a list of `Tool`, or a `Toolset` of them.
        request: `request(feedback)` asks upstream for one response; see `wholecall.turn.upstream`.
        id: The host's stable name of this step. Where the ledger holds started operations of it, no request
            is made and they are reconciled. Minted, and reported in the result, where none is given.
        policy: The limits.
        ledger: Where operations are recorded; a guard that forgets is none.
        authorize: `authorize(batch)` gives True or False for the whole permitted batch, a tuple of `Call`.
            Without it, to pass a tool is the host's permission.
        observe: Is told of each event; what it raises is dropped.
        on_frame: Is given every frame as it comes, for live text; where it is async, it is awaited. What it
            raises ends the turn.
        limits: What one response may hold.
        digest_key: The key of digests in diagnostics; random in each process by default.
        evidence: Is given the raw argument text of each call that is refused, under the digest that its
            diagnostic shows; `Evidence` keeps it in private files.

    Errors:
        DigestKeyError: The key of digests cannot be used.
        ToolsetError: The tools cannot be used, or one of them cannot run.
    """

    def __init__(
        self,
        tools: Toolset | Iterable[Tool],
        request: Request,
        id: str | None = None,
        policy: Policy | None = None,
        *,
        ledger: Ledger,
        authorize: Callable[[tuple[Call, ...]], object] | None = None,
        observe: seen.Observer | None = None,
        on_frame: OnFrame | None = None,
        limits: Limits | None = None,
        digest_key: bytes | None = None,
        evidence: Sink | None = None,
    ) -> None:
        self.id = uuid.uuid4().hex if id is None else id
        self._tools = tools if isinstance(tools, Toolset) else Toolset.of(tools)
        for name in self._tools.names:
            self._tools.tool(name)
        self._request = request
        self._policy = policy or Policy()
        self._authorize = authorize
        self._on_frame = on_frame
        self._limits = limits or Limits()
        self._digest_key = digest_key
        self._evidence = evidence
        self._assembler(1)
        self._engine = turn_engine()
        self._state = _TABLE.initial
        self._fault = ""
        self._before = 0
        self._attempts: list[AttemptRun] = []
        self._messages: list[dict[str, Any]] = []
        self._work: dict[str, Callable[[], Awaitable[Came]]] = {
            state.name: getattr(self, f"_{state.name}") for state in _TABLE.live
        }
        owner = uuid.uuid4().hex
        self._teller = seen.Teller(observe, self.id, owner)
        self._batch = BatchRun(self.id, self._tools, self._engine, ledger, owner, self._policy, self._teller)

    def run_sync(self) -> Result:
        """Run the turn from a program without an event loop; see `run`."""
        return anyio.run(self.run)

    async def run(self) -> Result:
        """Run the turn to its end; a second call only says again what it came to.

        Whatever ends it early, a cancellation of its task or an exception of the host's own, every operation
        that started is on record, and the turn is cancelled. `result` then says what it came to, and keeps to
        it: to go on, make another turn of the same id.

        Errors:
            BaseException: A function of the host left the program, say by a SystemExit.
            FrameTypeError: Upstream gave a frame that cannot be read.
            LedgerUnavailableError: The ledger could not tell what an earlier run of this turn id started.
                Nothing was asked for, so the turn is cancelled.
            RequestTypeError: The request gave nothing that can be read.
            ToolLookupError: An earlier run left an operation without an end, and its tool is no longer among
                the tools. Nothing was done.
        """
        self._teller.tell(seen.TurnStarted)
        try:
            with anyio.move_on_after(self._policy.deadline):
                while not _TABLE.state(self._state).final:
                    self._step(await self._work[self._state]())
        finally:
            try:
                if not _TABLE.state(self._state).final:
                    await unbroken(self._cancel)
            finally:
                with anyio.CancelScope(
                    shield=True
                ):  # here, for a stream is closed by the task that opened it
                    for attempt in self._attempts[-1:]:
                        await attempt.close()
                self._batch.close()
                self._teller.tell(seen.TurnEnded, self._state, self._fault)
        return self.result()

    def result(self) -> Result:
        """What the turn has come to; also after its task was cancelled."""
        operations = tuple(map(say.ran, self._batch.operations))
        messages = list(self._messages)
        if messages:
            messages += [say.tool_message(one.call_id, say.said_of(one)) for one in operations]
        return Result(
            turn_id=self.id,
            end=self._state,
            fault=self._fault or None,
            operations=operations,
            attempts=tuple(attempt.told for attempt in self._attempts),
            diagnostics=tuple(found for attempt in self._attempts for found in attempt.diagnostics),
            messages=tuple(messages),
        )

    async def _cancel(self) -> None:
        """The operations take it first; then the turn, from whichever state it is in."""
        await self._batch.cancel()
        self._step(Came("cancel"))
        for attempt in self._attempts[-1:]:
            attempt.interrupt(self._fault)

    def _step(self, came: Came) -> None:
        before = self._state
        step = self._peek(came.input)
        self._state = step.state
        self._fault = came.carried if step.fault == CARRIED else step.fault
        self._teller.turn_row(before, came.input, step, self._fault)

    def _peek(self, input: str) -> Step:
        guards = {
            "attempts_left": len(self._attempts) < self._policy.attempts,
            "any_uncertain": self._batch.any_uncertain,
        }
        return self._engine.step("turn", self._state, input, guards)

    def _assembler(self, attempt: int) -> Assembler:
        return Assembler(
            limits=self._limits,
            tools=self._tools,
            correlation_id=self.id,
            attempt=attempt,
            digest_key=self._digest_key,
            evidence=self._evidence,
        )

    # -- one method for each live state ------------------------------------------------------------------

    async def _requesting(self) -> Came:
        if not self._attempts:
            self._before = await self._batch.resume()
            if self._batch.operations:
                self._teller.attempt = self._before
                self._messages = [say.calls_message(self._batch.content, self._batch.verbatim)]
                return Came("resumed")
        number = self._teller.attempt = self._before + len(self._attempts) + 1
        failed = [one.diagnostics for one in self._attempts if one.response is not None]
        attempt = AttemptRun(number, self._assembler(number), self._tools, self._engine, self._policy)
        self._attempts.append(attempt)
        self._teller.tell(seen.AttemptStarted)
        failure = await attempt.ask(self._request, Feedback.of(failed[-1]) if failed else None)
        if failure is None:
            return Came("started")
        input = "upstream_refused" if isinstance(failure, UpstreamRefused) else "unreachable"
        step = self._peek(input)
        facts = {"row": step.row, "machine": "turn", "state": self._state, "input": input}
        attempt.note_failure(failure, step.fault, facts)
        self._teller.tell(seen.AttemptUnanswered, attempt.diagnostics)
        if step.effect == "next_attempt":
            await anyio.sleep(self._policy.pause)
        return Came(input)

    async def _receiving(self) -> Came:
        attempt = self._attempts[-1]
        response = await attempt.read(self._on_frame)
        self._teller.tell(seen.AttemptJudged, response.outcome, response.faults)
        streams = frozenset(choice.node.states[0] for choice in attempt.assembler.choices())
        return Came(SPEC.join("turn_receives").decide({"stream": streams}).gives, attempt.fault)

    async def _checking(self) -> Came:
        attempt = self._attempts[-1]
        known = attempt.diagnostics
        proposal = await attempt.check()
        denied = () if known else attempt.diagnostics
        self._teller.tell(seen.Checked, proposal, denied)
        self._messages = attempt.messages
        gives = SPEC.join("turn_checks").decide({"proposal": frozenset((proposal,))}).gives
        return Came(gives, attempt.fault)

    async def _authorizing(self) -> Came:
        response = self._attempts[-1].whole
        allowed: object = True
        if self._authorize is not None:
            try:
                allowed = await invoke(self._authorize, response.calls)
            except Exception:
                allowed = False
        if allowed is not True:
            about = SPEC.fault("host.unauthorized").about
            self._messages = say.refused_messages(response, [about] * len(response.calls))
            return Came("unauthorized")
        self._messages = [say.asked_message(response)]
        return Came("authorized")

    async def _dispatching(self) -> Came:
        attempt = self._attempts[-1]
        await self._batch.dispatch(attempt.whole, attempt.number)
        return Came(self._batch.word)

    async def _reconciling(self) -> Came:
        await self._batch.reconcile()
        return Came(self._batch.word)
