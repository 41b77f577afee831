"""OpenTelemetry: a turn as spans, by the semantic conventions for generative AI.

    turn = Turn(tools, request, ledger=ledger, observe=OpenTelemetry(provider="openai", model="gpt-5"))

Needs `wholecall[otel]`, the API alone: which SDK and which exporter is the host's choice. The conventions
have the status Development; the names are those of version 1.41, and of the repository that they moved to
then, https://github.com/open-telemetry/semantic-conventions-genai.

| span                  | kind     | stands for                         | attributes of the conventions      |
|-----------------------|----------|------------------------------------|------------------------------------|
| `wholecall.turn`      | internal | one run of a turn                  | error.type                         |
| `chat {model}`        | client   | one attempt, to its last frame     | gen_ai.operation.name,             |
|                       |          |                                    | gen_ai.provider.name,              |
|                       |          |                                    | gen_ai.request.model,              |
|                       |          |                                    | gen_ai.request.stream, error.type  |
| `execute_tool {tool}` | internal | one operation, with all its tries  | gen_ai.operation.name,             |
|                       |          |                                    | gen_ai.tool.name,                  |
|                       |          |                                    | gen_ai.tool.type, error.type       |

A turn is one step of an agent, not an agent or a workflow, so no operation name of the conventions is its
own; it is a child of whatever span the host has open. An operation that was never taken up has no span.
`error.type` is a fault of the fault table, or `_OTHER` where an exception of the host ended the run; the
description of the status is the table's sentence. What was asked for again with success is an error on the
span of its attempt, and none on that of the turn.

Each row is a span event `wholecall.row`, each diagnostic a `wholecall.fault`, each checked proposal a
`wholecall.checked`. All carry what a diagnostic may carry and nothing else. What the conventions offer beyond
that is left out, because it is an id or content: gen_ai.tool.call.id, gen_ai.tool.call.arguments,
gen_ai.tool.call.result, gen_ai.response.id, and all messages.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from wholecall.diagnose import Diagnostic
from wholecall.errors import WholecallError
from wholecall.turn.observe import (
    AttemptJudged,
    AttemptStarted,
    AttemptUnanswered,
    Checked,
    Event,
    OperationEnded,
    OperationStarted,
    RowFired,
    TurnEnded,
    TurnStarted,
)
from wholecall_generated.tables import SPEC

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer

EXTRA: Final = "wholecall[otel]"
OTHER: Final = "_OTHER"
"""The conventions' own `error.type` of an error that has no name."""


class OpenTelemetryMissingError(WholecallError, ImportError):
    """OpenTelemetry is not installed.

    Attributes:
        extra: What to install.
    """

    def __init__(self) -> None:
        self.extra = EXTRA
        super().__init__(f"OpenTelemetry is not installed: pip install '{EXTRA}'")


@dataclass(slots=True)
class _Open:
    """A span that has not ended.

    Attributes:
        span: The span.
        context: The context in which it is the current one.
        outside: The context that is current again after it.
    """

    span: Span
    context: Context
    outside: Context


@dataclass(slots=True)
class _Run:
    """The open spans of one run of a turn."""

    turn: _Open
    attempt: _Open | None = None
    operations: dict[int, _Open] = field(default_factory=dict)


class OpenTelemetry:
    """An observer that makes spans: `Turn(observe=OpenTelemetry())`. One serves any number of turns.

    A span is the current one in its task while what it stands for goes on, so that the spans of an HTTP
    client become children of the attempt, and those of a tool children of its operation. (While operations
    are reconciled, the turn's is.) What telemetry raises ends no turn: it is counted in `failures`.

    Args:
        tracer: Makes the spans; by default the tracer `wholecall` of the global provider.
        provider: `gen_ai.provider.name`. The conventions require one and let it name the protocol, which is
            the default; a host that knows better says so.
        model: `gen_ai.request.model`, where the host says it.

    Attributes:
        failures: Events that could not be told, because telemetry raised.

    Errors:
        OpenTelemetryMissingError: `opentelemetry-api` is not installed.
    """

    def __init__(
        self, tracer: Tracer | None = None, *, provider: str = "openai", model: str | None = None
    ) -> None:
        self._trace = _api("trace")
        self._context = _api("context")
        if tracer is None:
            tracer = self._trace.get_tracer("wholecall", import_module("wholecall").__version__)
        self._tracer: Tracer = tracer
        self._chat: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider,
            "gen_ai.request.stream": True,
            **({} if model is None else {"gen_ai.request.model": model}),
        }
        self._chat_name = "chat" if model is None else f"chat {model}"
        self._runs: dict[tuple[str, str], _Run] = {}
        self._lock = Lock()
        self.failures = 0

    def __call__(self, event: Event) -> None:
        """Tell one event."""
        try:
            self._take(event)
        except Exception:
            with self._lock:
                self.failures += 1

    def _take(self, event: Event) -> None:
        key = (event.turn_id, event.run)
        if isinstance(event, TurnStarted):
            self._runs[key] = self._start_turn(event)
        run = self._runs.get(key)
        if run is None:
            return
        match event:
            case TurnEnded():
                del self._runs[key]
                self._end_turn(run, event)
            case AttemptStarted():
                about = {**self._chat, "wholecall.attempt": event.attempt}
                run.attempt = self._open(self._chat_name, "CLIENT", about, run.turn.context)
                self._context.attach(run.attempt.context)
            case AttemptJudged() | AttemptUnanswered():
                self._end_attempt(run, event)
            case OperationStarted():
                run.operations[event.call] = self._open_operation(run, event)
            case OperationEnded():
                self._end_operation(run, event)
            case RowFired():
                at = run.turn if event.call is None else run.operations.get(event.call, run.turn)
                at.span.add_event("wholecall.row", _row(event))
            case Checked():
                run.turn.span.add_event(
                    "wholecall.checked",
                    {"wholecall.attempt": event.attempt, "wholecall.proposal": event.proposal},
                )
                _add_faults(run.turn.span, event.faults)

    def _start_turn(self, event: TurnStarted) -> _Run:
        about = {"wholecall.turn.id": event.turn_id}
        turn = self._open("wholecall.turn", "INTERNAL", about, self._context.get_current())
        self._context.attach(turn.context)
        return _Run(turn)

    def _end_turn(self, run: _Run, event: TurnEnded) -> None:
        """End the turn's span, and before it what an exception left open."""
        good = SPEC.table("turn").state(event.end).good
        fault = "" if good else event.fault or OTHER
        for left in (*run.operations.values(), *filter(None, (run.attempt,))):
            self._close(left, fault or OTHER)
        run.turn.span.set_attributes({"wholecall.end": event.end, "wholecall.attempts": event.attempt})
        self._close(run.turn, fault)

    def _end_attempt(self, run: _Run, event: AttemptJudged | AttemptUnanswered) -> None:
        attempt, run.attempt = run.attempt, None
        if attempt is None:
            return
        if isinstance(event, AttemptJudged):
            attempt.span.set_attribute("wholecall.outcome", event.outcome)
        _add_faults(attempt.span, event.faults)
        self._close(attempt, event.faults[0].fault if event.faults else "")

    def _open_operation(self, run: _Run, event: OperationStarted) -> _Open:
        about = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": event.tool,
            "gen_ai.tool.type": "function",
            "wholecall.attempt": event.attempt,
            "wholecall.call": event.call,
        }
        operation = self._open(f"execute_tool {event.tool}", "INTERNAL", about, run.turn.context)
        if not event.resumed:
            self._context.attach(operation.context)
        return operation

    def _end_operation(self, run: _Run, event: OperationEnded) -> None:
        operation = run.operations.pop(event.call, None)
        if operation is None:
            return
        operation.span.set_attributes({"wholecall.state": event.state, "wholecall.tries": event.tries})
        self._close(operation, event.fault)

    def _open(self, name: str, kind: str, about: dict[str, Any], outside: Context) -> _Open:
        span = self._tracer.start_span(name, outside, self._trace.SpanKind[kind], about)
        return _Open(span, self._trace.set_span_in_context(span, outside), outside)

    def _close(self, opened: _Open, fault: str) -> None:
        """End a span, with its error where it has one.

        The context outside comes back only where this one is current. A token would not do: an operation that
        started in a task of its own may be cancelled from another, and to detach it there is an error.
        """
        if fault:
            opened.span.set_attribute("error.type", fault)
            known = next((one.about for one in SPEC.faults if one.name == fault), None)
            opened.span.set_status(self._trace.StatusCode.ERROR, known)
        opened.span.end()
        if self._context.get_current() is opened.context:
            self._context.attach(opened.outside)


def _row(event: RowFired) -> dict[str, Any]:
    facts = {
        "wholecall.attempt": event.attempt,
        "wholecall.machine": event.machine,
        "wholecall.row": event.row,
        "wholecall.state": event.state,
        "wholecall.input": event.input,
        "wholecall.next": event.next,
        "wholecall.fault": event.fault or None,
        "wholecall.call": event.call,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _add_faults(span: Span, faults: tuple[Diagnostic, ...]) -> None:
    """An event for each diagnostic, of what its record holds; the reason is in no record."""
    for found in faults:
        record: dict[str, Any] = found.to_record()
        told = {name: value for name, value in record.items() if value not in (None, [])}
        span.add_event("wholecall.fault", {f"wholecall.{name}": value for name, value in told.items()})


def _api(name: str) -> ModuleType:
    with suppress(ModuleNotFoundError):
        return import_module(f"opentelemetry.{name}")
    raise OpenTelemetryMissingError
