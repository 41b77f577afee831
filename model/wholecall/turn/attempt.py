"""One attempt: a response is asked for, read frame by frame, and judged by each tool's own check."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from wholecall.assemble import Assembler, Response
from wholecall.diagnose import Diagnostic
from wholecall.engine import Engine
from wholecall.structure import Toolset
from wholecall.turn import result as say
from wholecall.turn.feedback import Feedback
from wholecall.turn.policy import Policy
from wholecall.turn.result import Attempt
from wholecall.turn.tools import run_check
from wholecall.turn.unbroken import in_thread, unbroken
from wholecall.turn.upstream import Frames, Request, TransportFailed, Unreachable, UpstreamRefused, frames
from wholecall_generated.tables import SPEC

OnFrame = Callable[[object], object]
"""Is given every frame as it comes; where it is async, it is awaited."""

_SIBLING: Final = "not run: another call of the batch was refused"


@dataclass(slots=True)
class AttemptRun:
    """One attempt in this process. Nothing of it outlives it but its diagnostics.

    Attributes:
        number: From 1.
        assembler: What its frames are fed to.
        tools: The tools that may run.
        engine: Runs the proposal table.
        policy: The limits.
        response: What was read; None where none came.
        fault: The first fault; empty where the response can be used.
        diagnostics: Every fault of this attempt.
        messages: What an agent appends to its history, where this attempt ended the turn.
    """

    number: int
    assembler: Assembler
    tools: Toolset
    engine: Engine
    policy: Policy
    response: Response | None = None
    fault: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    messages: list[dict[str, Any]] = field(default_factory=list, repr=False)
    _stream: AsyncExitStack = field(default_factory=AsyncExitStack, repr=False)
    _frames: Frames | None = field(default=None, repr=False)

    @property
    def told(self) -> Attempt:
        """This attempt as a result shows it."""
        outcome = None if self.response is None else self.response.outcome
        return Attempt(self.number, outcome, self.fault or None)

    async def ask(self, request: Request, feedback: Feedback | None) -> UpstreamRefused | Unreachable | None:
        """Ask upstream for the response, and wait until it begins.

        Returns:
            None where it begins, or what came instead.
        """
        with anyio.move_on_after(self.policy.stream_idle):
            try:
                self._frames = await self._stream.enter_async_context(frames(request, feedback))
            except (UpstreamRefused, Unreachable) as failure:
                return failure
            return None
        return Unreachable("nothing came in time")

    def note_failure(
        self, failure: UpstreamRefused | Unreachable, fault: str, facts: Mapping[str, str]
    ) -> None:
        """Keep what came instead of a response.

        Args:
            failure: What came.
            fault: The fault of the row that it fires.
            facts: That row, as a diagnostic names it.
        """
        said = failure if isinstance(failure, UpstreamRefused) else UpstreamRefused()
        found = self.assembler.origin.diagnostic(
            fault=fault,
            reason=failure.reason,
            upstream_status=said.status,
            upstream_code=said.code,
            **facts,
        )
        self.diagnostics, self.fault = (found,), fault

    async def read(self, on_frame: OnFrame | None) -> Response:
        """Read the response to its end or its first fault, and close the stream."""
        aborted = await self._read_frames(on_frame)
        await self.close()
        close = self.assembler.close
        kept = self.assembler.evidence is not None
        self.response = await unbroken(in_thread, close, aborted) if kept else close(aborted)
        self.diagnostics, self.fault = self.response.faults, self.response.fault or ""
        return self.response

    async def _read_frames(self, on_frame: OnFrame | None) -> bool:
        """Feed every frame; whether the transport failed or fell silent."""
        assert self._frames is not None
        while not self.assembler.ended:
            with anyio.move_on_after(self.policy.stream_idle) as silence:
                try:
                    frame = await anext(self._frames)
                except StopAsyncIteration:
                    return False
                except TransportFailed:
                    return True
            if silence.cancelled_caught:
                return True
            # Fed before it is shown: what a host does to a frame changes nothing of what is run.
            self.assembler.feed(frame)
            if on_frame is not None:
                shown = on_frame(frame)
                if inspect.isawaitable(shown):
                    await shown
        return False

    async def check(self) -> str:
        """Ask each tool's own check about its call, all of them.

        Returns:
            Where the proposal comes to rest.
        """
        response = self.whole
        proposal = self.assembler.proposal
        if proposal == "answered":
            self.messages = [say.answer_message(response.content)]
        if SPEC.table("proposal").state(proposal).final:
            return proposal
        calls = response.calls
        reasons = [await run_check(self.tools.tool(call.name or ""), call.value or {}) for call in calls]
        input = "business_no" if any(reasons) else "business_ok"
        step = self.engine.step("proposal", proposal, input)
        if any(reasons):
            facts = {"row": step.row, "machine": "proposal", "state": proposal, "input": input}
            self.diagnostics = tuple(
                self.assembler.origin.diagnostic(
                    fault=step.fault,
                    choice=call.choice,
                    index=call.index,
                    tool=call.name,
                    reason=reason,
                    **facts,
                )
                for call, reason in zip(calls, reasons, strict=True)
                if reason
            )
            self.fault = step.fault
            self.messages = say.refused_messages(response, [reason or _SIBLING for reason in reasons])
        return step.state

    @property
    def whole(self) -> Response:
        """The response, which was read."""
        assert self.response is not None
        return self.response

    def interrupt(self, fault: str) -> None:
        """The turn ended while this attempt had not.

        Args:
            fault: What the turn ended with.
        """
        if self.response is None:
            self.fault = self.fault or fault

    async def close(self) -> None:
        """Close the stream, where one is open."""
        await self._stream.aclose()
