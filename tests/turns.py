"""Turns in one process: a scripted upstream, tools that count, and a ledger that can fail at any call."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partialmethod
from typing import Any

import anyio

from wholecall.turn.feedback import Feedback
from wholecall.turn.ledger import Ledger
from wholecall.turn.ledger_records import LedgerUnavailableError, Operation
from wholecall.turn.observe import Event, RowFired
from wholecall.turn.policy import Policy
from wholecall.turn.result import Result
from wholecall.turn.run import Turn
from wholecall.turn.tools import Context, Tool, ToolFailed

FAST = Policy(attempts=3, queries=2, tries=2, pause=0, tool_timeout=5, lease=60, stream_idle=5)
SECRET = "SECRET"  # noqa: S105 - planted, to see where it shows
ARGUMENTS = json.dumps({"path": SECRET})
CUT = ARGUMENTS[:-1]
NEEDS_PATH = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
}


# -- upstream ----------------------------------------------------------------------------------------


def says(*calls: str | tuple[str, str], reason: str = "tool_calls") -> list[object]:
    """A response whose calls are these: an argument text for `save`, or a tool's name and its text."""
    named = [("save", call) if isinstance(call, str) else call for call in calls]
    fragments = [
        {"index": index, "id": f"call-{index}-{SECRET}", "function": {"name": name, "arguments": arguments}}
        for index, (name, arguments) in enumerate(named)
    ]
    deltas = [{"choices": [{"index": 0, "delta": {"tool_calls": [fragment]}}]} for fragment in fragments]
    return [*deltas, {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}, "[DONE]"]


GOOD = says(ARGUMENTS)
HALF = says(CUT)
TWO = says(ARGUMENTS, ("other", "{}"))
TEXT: list[object] = [
    {"choices": [{"index": 0, "delta": {"content": f"hello {SECRET}"}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    "[DONE]",
]
NO_ID: list[object] = [
    {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"name": "save"}}]}}]},
    *GOOD[1:],
]
NULL_FIRST: list[object] = [
    {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": None}]}}]},
    *GOOD[1:],
]
ERROR: list[object] = [GOOD[0], {"error": {"message": SECRET, "status": 503}}]
LENGTH = says(ARGUMENTS, reason="length")

Reply = Sequence[object] | BaseException | Callable[[], Any]


@dataclass
class Script:
    """A request that gives one reply after another; the last of them for ever."""

    replies: list[Reply]
    told: list[Feedback | None] = field(default_factory=list)

    async def __call__(self, feedback: Feedback | None) -> Any:
        self.told.append(feedback)
        reply = self.replies[min(len(self.told), len(self.replies)) - 1]
        if isinstance(reply, BaseException):
            raise reply
        return await reply() if callable(reply) else reply


_SCOPE: ContextVar[anyio.CancelScope | None] = ContextVar("_SCOPE", default=None)


def interrupt() -> None:
    """Cancel the task that runs the turn, where the stage asks for it."""
    scope = _SCOPE.get()
    if scope is not None:
        scope.cancel()


async def hang(*_: object) -> None:
    """Give no answer; where the stage is to be interrupted, it is now."""
    interrupt()
    await anyio.sleep(60)


async def stall() -> Any:
    """A stream that gives a frame, and then none."""

    async def frames() -> Any:
        yield GOOD[0]
        await hang()

    return frames()


# -- tools -------------------------------------------------------------------------------------------

Act = object | BaseException | Callable[..., Awaitable[object]]


@dataclass
class Acts:
    """What a tool or a query does, time after time; the last act for ever. It counts."""

    acts: Sequence[Act]
    calls: list[tuple[Any, ...]] = field(default_factory=list)

    async def __call__(self, *given: Any) -> object:
        self.calls.append(given)
        act = self.acts[min(len(self.calls), len(self.acts)) - 1]
        if isinstance(act, BaseException):
            raise act
        return await act(*given) if callable(act) else act

    @property
    def count(self) -> int:
        return len(self.calls)


FAILED = ToolFailed(f"no room for {SECRET}")
BROKEN = RuntimeError(SECRET)


# -- the ledger --------------------------------------------------------------------------------------


class Shaky(Ledger):
    """A ledger in memory, whose calls a test can see and make fail.

    `fails` is asked at each call, by number and name: it may say that the call fails, `before` or `after` it
    was stored.
    """

    def __init__(
        self,
        fails: Callable[[int, str], str | None] = lambda _, __: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.made: list[str] = []
        self.fails = fails
        super().__init__("sqlite://", clock=clock)

    def _made(self, name: str, *args: Any, **kwargs: Any) -> Any:
        self.made.append(name)
        how = self.fails(len(self.made), name)
        if how == "before":
            raise LedgerUnavailableError(name, "TEST")
        answer = getattr(Ledger, name)(self, *args, **kwargs)
        if how == "after":
            raise LedgerUnavailableError(name, "TEST")
        return answer


for _name in (
    "plan",
    "claim",
    "retry",
    "extend",
    "take_over",
    "record",
    "mark_absent",
    "get",
    "of_turn",
    "tries",
):
    setattr(Shaky, _name, partialmethod(Shaky._made, _name))


def nth(*numbers: int, how: str = "before") -> Callable[[int, str], str | None]:
    return lambda number, _: how if number in numbers else None


def of(name: str, *which: int, how: str = "before") -> Callable[[int, str], str | None]:
    """Fail the calls of this name: the first, second, ... of them; all where none is named."""
    seen: Iterator[int] = iter(range(1, 10_000))
    return lambda _, made: how if made == name and (next(seen) in which or not which) else None


# -- a turn ------------------------------------------------------------------------------------------


@dataclass
class Stage:
    """One turn that a test runs, and what it saw.

    Attributes:
        save: The acts of the tool `save`, and of its sibling `other`.
        timeout: That of `save`.
        query: The acts of the query of `save`; None where it has none.
    """

    replies: list[Reply] = field(default_factory=lambda: [GOOD])
    save: Acts = field(default_factory=lambda: Acts(["saved"]))
    other: Acts = field(default_factory=lambda: Acts(["done"]))
    query: Acts | None = None
    effect: Any = "once"
    check: Acts | None = None
    timeout: float | None = None
    policy: Policy = FAST
    ledger: Shaky = field(default_factory=Shaky)
    id: str | None = "turn"
    events: list[Event] = field(default_factory=list)
    script: Script = field(default_factory=lambda: Script([]))
    options: dict[str, Any] = field(default_factory=dict)
    turn: Turn | None = None
    interrupted: bool = False

    @property
    def tools(self) -> list[Tool]:
        does: dict[str, Any] = {"check": self.check, "query": self.query, "effect": self.effect}
        save = Tool("save", NEEDS_PATH, self.save, timeout=self.timeout, **does)
        return [save, Tool("other", None, self.other)]

    def make(self) -> Turn:
        self.script.replies = self.replies
        self.turn = Turn(
            self.tools,
            self.script,
            self.id,
            self.policy,
            ledger=self.ledger,
            observe=self.events.append,
            **self.options,
        )
        return self.turn

    def run(self, **changes: Any) -> Result:
        """Run a turn; again with changes, where this one ran before."""
        for name, value in changes.items():
            setattr(self, name, value)
        turn = self.make()
        if not self.interrupted:
            return turn.run_sync()
        anyio.run(self._interrupted, turn)
        return turn.result()

    def make_again(self) -> Turn:
        """The same turn for a worker that comes later."""
        self.script = Script([])
        return self.make()

    async def _interrupted(self, turn: Turn) -> None:
        with anyio.CancelScope() as scope:
            _SCOPE.set(scope)
            await turn.run()

    @property
    def rows(self) -> list[str]:
        return [event.row for event in self.events if isinstance(event, RowFired)]

    @property
    def requests(self) -> int:
        return len(self.script.told)

    @property
    def on_record(self) -> tuple[Operation, ...]:
        return self.ledger.of_turn(self.id or "")


def left(*states: str, effect: str = "once", lease: float = 0, turn: str = "turn") -> Shaky:
    """A ledger in which a worker that is gone left operations: `planned`, `started` or an end."""
    ledger = Shaky()
    calls = [("save", ARGUMENTS), ("other", "{}")]
    batch = [
        Operation(
            key=f"key-{at}",
            turn_id=turn,
            attempt=1,
            choice=0,
            index=at,
            call_id=f"call-{at}",
            tool=name,
            arguments=arguments,
            effect=effect,
        )
        for at, (_, (name, arguments)) in enumerate(zip(states, calls, strict=False))
    ]
    ledger.plan(batch)
    for one, state in zip(batch, states, strict=True):
        mine = {"owner": "gone", "number": 1}
        if state != "planned":
            ledger.claim(one.key, owner="gone", lease=lease)
        if state == "succeeded":
            ledger.record(one.key, **mine, input="result", state=state, result='"saved before"')  # type: ignore[arg-type]
        elif state == "uncertain":
            ledger.record(one.key, **mine, input="raised", state=state, fault="operation.uncertain")  # type: ignore[arg-type]
    ledger.made.clear()
    return ledger


def context_of(acts: Acts, call: int = 0) -> Context:
    given = acts.calls[call][1]
    assert isinstance(given, Context)
    return given
