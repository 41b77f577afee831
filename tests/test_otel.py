"""A turn as spans: named by the conventions, nested as it happened, and without a word of content."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from wholecall import WholecallError, __version__
from wholecall.diagnose import Diagnostic
from wholecall.turn.feedback import Feedback
from wholecall.turn.ledger import Ledger
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
from wholecall.turn.otel import OpenTelemetry, OpenTelemetryMissingError
from wholecall.turn.policy import Policy
from wholecall.turn.result import Result
from wholecall.turn.run import Turn
from wholecall.turn.tools import ABSENT, UNKNOWN, Tool, ToolFailed
from wholecall.turn.upstream import Unreachable, UpstreamRefused
from wholecall_generated.tables import SPEC

# The conventions, as text: docs/gen-ai/gen-ai-spans.md of open-telemetry/semantic-conventions-genai.
CHAT = {"gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.request.stream"}
EXECUTE_TOOL = {"gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.tool.type"}
ERROR = "error.type"

FACTS = """
    fault row machine state input json_type had_id choice index fragment attempt profile tables finish length
    id_digest text_digest parsed offset depth in_string schema_keyword schema_location upstream_status
    upstream_code correlation_id tool hint
    """
"""What a diagnostic may carry (design §4); all but the reason."""

OURS = {f"wholecall.{name}" for name in FACTS.split()} | {
    f"wholecall.{name}"
    for name in ("turn.id", "end", "attempts", "outcome", "proposal", "next", "call", "tries")
}


class Telemetry:
    """An OpenTelemetry SDK that keeps what it is given."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = provider.get_tracer("test")

    @property
    def spans(self) -> list[ReadableSpan]:
        return sorted(self.exporter.get_finished_spans(), key=lambda span: span.start_time or 0)

    def span(self, name: str) -> ReadableSpan:
        (found,) = (span for span in self.spans if span.name == name)
        return found

    @property
    def tree(self) -> list[tuple[str, str | None]]:
        """Each span with its parent, in the order of their starts."""
        names = {span.context.span_id: span.name for span in self.spans if span.context}
        return [(span.name, names[span.parent.span_id] if span.parent else None) for span in self.spans]


@pytest.fixture
def telemetry() -> Telemetry:
    return Telemetry()


@pytest.fixture(autouse=True)
def nothing_is_left_current() -> Iterator[None]:
    before = otel_context.get_current()
    yield
    assert otel_context.get_current() is before


def facts(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def events(span: ReadableSpan, name: str) -> list[dict[str, Any]]:
    return [dict(event.attributes or {}) for event in span.events if event.name == f"wholecall.{name}"]


def rows(span: ReadableSpan) -> list[str]:
    return [event["wholecall.row"] for event in events(span, "row")]


def error(span: ReadableSpan) -> tuple[object, str | None] | None:
    """Its `error.type` and the description of its status; None where it is no error at all."""
    type = facts(span).get(ERROR)
    assert (type is None) == (span.status.status_code is StatusCode.UNSET)
    return None if type is None else (type, span.status.description)


def about(fault: str) -> tuple[str, str]:
    return fault, SPEC.fault(fault).about


# -- real turns --------------------------------------------------------------------------------------

SAVE = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
GOOD, CUT = '{"text": "arguments-secret"}', '{"text": "arguments-secr'


def frame(delta: Mapping[str, object], finish: str | None = None) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def calling(*calls: tuple[str, str]) -> list[dict[str, object]]:
    """A response of calls, each a name and its arguments."""
    fragments = [
        {"index": at, "id": f"id-secret-{at}", "function": {"name": name, "arguments": arguments}}
        for at, (name, arguments) in enumerate(calls)
    ]
    return [frame({"content": "content-secret"}), frame({"tool_calls": fragments}), frame({}, "tool_calls")]


ANSWER = [frame({"content": "content-secret"}), frame({}, "stop")]
Reply = Sequence[object] | Exception


def scripted(*replies: Reply) -> Callable[[Feedback | None], AsyncIterator[object]]:
    left = iter(replies)

    async def request(_: Feedback | None) -> AsyncIterator[object]:
        reply = next(left)
        if isinstance(reply, Exception):
            raise reply
        for one in reply:
            yield one

    return request


def run(
    telemetry: Telemetry,
    *replies: Reply,
    save: Callable[..., object] = lambda *_: "result-secret",
    id: str = "turn-1",
    ledger: Ledger | None = None,
    tool: Mapping[str, Any] | None = None,
    policy: Policy | None = None,
    **options: Any,
) -> Result:
    tools = [Tool("save", SAVE, save, **(tool or {}))]
    observe = OpenTelemetry(telemetry.tracer, model="test-model")
    policy = policy or Policy(attempts=2, pause=0, queries=2, tries=2)
    with ledger or Ledger("sqlite://") as opened:
        turn = Turn(
            tools, scripted(*replies), id, policy, ledger=opened, observe=observe, digest_key=b"k", **options
        )
        result = turn.run_sync()
    assert observe.failures == 0
    return result


def test_a_settled_turn_is_one_span_with_its_attempt_and_its_operation(telemetry: Telemetry) -> None:
    assert run(telemetry, calling(("save", GOOD))).end == "settled"

    assert telemetry.tree == [
        ("wholecall.turn", None),
        ("chat test-model", "wholecall.turn"),
        ("execute_tool save", "wholecall.turn"),
    ]
    turn, chat, tool = telemetry.spans
    assert [span.kind for span in telemetry.spans] == [SpanKind.INTERNAL, SpanKind.CLIENT, SpanKind.INTERNAL]
    assert [error(span) for span in telemetry.spans] == [None, None, None]
    assert facts(turn) == {
        "wholecall.turn.id": "turn-1",
        "wholecall.end": "settled",
        "wholecall.attempts": 1,
    }
    assert facts(chat) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "test-model",
        "gen_ai.request.stream": True,
        "wholecall.attempt": 1,
        "wholecall.outcome": "whole",
    }
    assert facts(tool) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "save",
        "gen_ai.tool.type": "function",
        "wholecall.attempt": 1,
        "wholecall.call": 0,
        "wholecall.state": "succeeded",
        "wholecall.tries": 1,
    }


def test_rows_and_the_check_are_events_where_they_happened(telemetry: Telemetry) -> None:
    run(telemetry, calling(("save", GOOD)))

    turn, chat, tool = telemetry.spans
    assert (rows(turn), rows(chat), rows(tool)) == (["T01", "T12", "T22", "T24", "T27"], [], ["O01", "O05"])
    assert events(turn, "checked") == [{"wholecall.attempt": 1, "wholecall.proposal": "permitted"}]
    assert events(tool, "row")[1] == {
        "wholecall.attempt": 1,
        "wholecall.machine": "operation",
        "wholecall.row": "O05",
        "wholecall.state": "started",
        "wholecall.input": "result",
        "wholecall.next": "succeeded",
        "wholecall.call": 0,
    }


def test_what_was_tried_again_with_success_is_an_error_of_its_attempt_alone(telemetry: Telemetry) -> None:
    result = run(telemetry, calling(("save", CUT)), calling(("save", GOOD)))
    assert result.end == "settled"

    turn, cut, again, tool = telemetry.spans
    assert [error(span) for span in telemetry.spans] == [None, about("syntax.incomplete"), None, None]
    assert [facts(span)["wholecall.attempt"] for span in (cut, again, tool)] == [1, 2, 2]
    assert facts(turn)["wholecall.attempts"] == 2
    (fault,) = events(cut, "fault")
    assert fault["wholecall.row"] == result.diagnostics[0].row
    assert (fault["wholecall.length"], fault["wholecall.offset"]) == (len(CUT), len(CUT))
    assert fault["wholecall.in_string"] is True
    assert "wholecall.hint" not in fault


@pytest.mark.parametrize(
    ("replies", "end", "faults"),
    [
        ([Unreachable("no"), ANSWER], "answered", [None, "turn.unreachable", None]),
        ([Unreachable("no")] * 2, "exhausted", ["turn.unreachable"] * 3),
        ([UpstreamRefused(429, "no")], "refused", ["upstream.refused"] * 2),
        ([[{"error": {"message": "no"}}]], "refused", ["upstream.error"] * 2),
        ([calling(("save", CUT))] * 2, "exhausted", ["syntax.incomplete"] * 3),
        ([calling(("save", "{}")), ANSWER], "answered", [None, "structure.schema", None]),
    ],
)
def test_an_error_is_named_by_its_fault_and_told_by_the_sentence_of_the_table(
    telemetry: Telemetry, replies: list[Reply], end: str, faults: list[str | None]
) -> None:
    assert run(telemetry, *replies).end == end

    assert [error(span) for span in telemetry.spans] == [fault and about(fault) for fault in faults]


def test_a_refusal_of_upstream_tells_its_status(telemetry: Telemetry) -> None:
    run(telemetry, UpstreamRefused(429, "reason-secret", code="rate_limit"))

    (fault,) = events(telemetry.span("chat test-model"), "fault")
    assert (fault["wholecall.upstream_status"], fault["wholecall.upstream_code"]) == (429, "rate_limit")


def test_what_a_tools_own_check_refuses_is_told_by_the_turn_and_no_tool_has_a_span(
    telemetry: Telemetry,
) -> None:
    result = run(telemetry, calling(("save", GOOD)), tool={"check": lambda _: "reason-secret"})
    assert result.end == "returned"

    turn, chat = telemetry.spans
    assert (error(turn), error(chat)) == (about("business.denied"), None)
    assert events(turn, "checked")[0]["wholecall.proposal"] == "denied"
    (fault,) = events(turn, "fault")
    assert (fault["wholecall.fault"], fault["wholecall.tool"]) == ("business.denied", "save")


def test_a_batch_that_the_host_does_not_allow_has_no_operations(telemetry: Telemetry) -> None:
    assert run(telemetry, calling(("save", GOOD)), authorize=lambda _: False).end == "declined"

    turn, _ = telemetry.spans
    assert error(turn) == about("host.unauthorized")


def test_an_operation_is_one_span_through_all_its_tries(telemetry: Telemetry) -> None:
    tries: list[int] = []

    def save(_: object, context: Any) -> str:
        tries.append(context.try_number)
        if len(tries) == 1:
            raise RuntimeError("exception-secret")
        return "result-secret"

    result = run(telemetry, calling(("save", GOOD)), save=save, tool={"query": lambda _: ABSENT})
    assert (result.end, tries) == ("settled", [1, 2])

    tool = telemetry.span("execute_tool save")
    assert rows(tool) == ["O01", "O10", "O24", "O05"]
    assert (error(tool), facts(tool)["wholecall.tries"]) == (None, 2)


@pytest.mark.parametrize(
    ("raised", "tool", "end", "state", "fault"),
    [
        (ToolFailed("reason-secret"), {}, "settled", "failed", "operation.failed"),
        (ValueError("exception-secret"), {"effect": "none"}, "settled", "failed", "operation.failed"),
        (ValueError("exception-secret"), {}, "unresolved", "unresolved", "operation.unresolved"),
        (
            ValueError("exception-secret"),
            {"query": lambda _: UNKNOWN},
            "unresolved",
            "unresolved",
            "operation.unresolved",
        ),
    ],
)
def test_an_operation_ends_as_its_state_says(
    telemetry: Telemetry, raised: Exception, tool: dict[str, Any], end: str, state: str, fault: str
) -> None:
    def save(*_: object) -> None:
        raise raised

    assert run(telemetry, calling(("save", GOOD)), save=save, tool=tool).end == end

    span = telemetry.span("execute_tool save")
    assert (facts(span)["wholecall.state"], error(span)) == (state, about(fault))
    assert not [event for event in span.events if event.name == "exception"]


def interrupted(telemetry: Telemetry, ledger: Ledger) -> None:
    """A turn whose task is cancelled while its tool runs."""

    async def host() -> None:
        async def save(*_: object) -> None:
            scope.cancel()
            await anyio.sleep(5)

        observe = OpenTelemetry(telemetry.tracer)
        turn = Turn(
            [Tool("save", SAVE, save)],
            scripted(calling(("save", GOOD))),
            "turn-1",
            ledger=opened,
            observe=observe,
        )
        with anyio.CancelScope() as scope:
            await turn.run()
        assert (turn.result().end, observe.failures) == ("unresolved", 0)

    with ledger as opened:
        anyio.run(host)


def test_an_operation_that_is_left_uncertain_ends_with_its_turn(telemetry: Telemetry) -> None:
    interrupted(telemetry, Ledger("sqlite://"))

    turn, _, tool = telemetry.spans
    assert error(turn) == about("turn.cancelled")
    assert (facts(tool)["wholecall.state"], error(tool)) == ("uncertain", about("operation.uncertain"))
    assert (tool.end_time or 0) <= (turn.end_time or 0)


def test_a_turn_that_is_cancelled_while_it_waits_ends_its_attempt(telemetry: Telemetry) -> None:
    async def request(_: object) -> AsyncIterator[object]:
        await anyio.sleep(5)
        yield frame({})

    observe = OpenTelemetry(telemetry.tracer)
    with Ledger("sqlite://") as ledger:
        policy = Policy(deadline=0.05, pause=0)
        result = Turn([], request, policy=policy, ledger=ledger, observe=observe).run_sync()
    assert result.end == "cancelled"

    assert telemetry.tree == [("wholecall.turn", None), ("chat", "wholecall.turn")]
    assert [error(span) for span in telemetry.spans] == [about("turn.cancelled")] * 2


def test_an_exception_of_the_host_leaves_no_span_open_and_no_word_of_it(telemetry: Telemetry) -> None:
    def on_frame(_: object) -> None:
        raise ValueError("exception-secret")

    with pytest.raises(ValueError, match="exception-secret"):
        run(telemetry, ANSWER, on_frame=on_frame)

    turn, chat = telemetry.spans
    assert error(turn) == error(chat) == about("turn.cancelled")
    assert not [event for span in telemetry.spans for event in span.events if event.name == "exception"]


def test_a_turn_that_is_resumed_asks_for_nothing_and_reconciles(telemetry: Telemetry, tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path}/ledger"
    interrupted(Telemetry(), Ledger(url))
    assert run(telemetry, ledger=Ledger(url), tool={"query": lambda _: ABSENT}).end == "settled"

    assert [name for name, _ in telemetry.tree] == ["wholecall.turn", "execute_tool save"]
    turn, tool = telemetry.spans
    assert rows(turn)[0] == "T02"
    assert (rows(tool)[-1], error(tool), facts(tool)["wholecall.tries"]) == ("O05", None, 2)


# -- where spans stand -------------------------------------------------------------------------------


def test_spans_of_the_host_the_client_and_the_tools_nest_as_things_happened(telemetry: Telemetry) -> None:
    """Also with tools that run at the same time, one in a thread; and nothing stays current afterwards."""
    mark = telemetry.tracer.start_as_current_span
    meet = anyio.Event()

    async def request(_: object) -> AsyncIterator[object]:
        with mark("http request"):
            pass
        for one in calling(("quick", "{}"), ("slow", "{}"), ("thread", "{}")):
            yield one
        with mark("http end"):
            pass

    async def quick(*_: object) -> None:
        with mark("in quick"):
            meet.set()

    async def slow(*_: object) -> None:
        await meet.wait()
        with mark("in slow"):
            pass

    def thread(*_: object) -> None:
        with mark("in thread"):
            pass

    def authorize(_: object) -> bool:
        with mark("asked"):
            return True

    tools = [Tool(run.__name__, None, run) for run in (quick, slow, thread)]

    async def host() -> None:
        with Ledger("sqlite://") as ledger, mark("agent"):
            before = trace.get_current_span()
            observe = OpenTelemetry(telemetry.tracer, provider="x_ai")
            policy = Policy(concurrency=3)
            turn = Turn(tools, request, policy=policy, ledger=ledger, authorize=authorize, observe=observe)
            assert (await turn.run()).end == "settled"
            assert trace.get_current_span() is before

    anyio.run(host)
    assert set(telemetry.tree) == {
        ("agent", None),
        ("wholecall.turn", "agent"),
        ("chat", "wholecall.turn"),
        ("http request", "chat"),
        ("http end", "chat"),
        ("asked", "wholecall.turn"),
        *((f"execute_tool {name}", "wholecall.turn") for name in ("quick", "slow", "thread")),
        *((f"in {name}", f"execute_tool {name}") for name in ("quick", "slow", "thread")),
    }
    assert facts(telemetry.span("chat"))["gen_ai.provider.name"] == "x_ai"
    assert "gen_ai.request.model" not in facts(telemetry.span("chat"))


def test_a_tool_that_runs_a_turn_of_its_own_has_it_below(telemetry: Telemetry) -> None:
    def save(*_: object) -> str:
        run(telemetry, ANSWER, id="inner")
        return "done"

    run(telemetry, calling(("save", GOOD)), save=save, id="outer")

    assert telemetry.tree == [
        ("wholecall.turn", None),
        ("chat test-model", "wholecall.turn"),
        ("execute_tool save", "wholecall.turn"),
        ("wholecall.turn", "execute_tool save"),
        ("chat test-model", "wholecall.turn"),
    ]


def test_an_operation_that_ends_in_another_task_detaches_nothing_there(
    telemetry: Telemetry, caplog: pytest.LogCaptureFixture
) -> None:
    observe = OpenTelemetry(telemetry.tracer)

    async def work() -> None:
        observe(OperationStarted("t", 1, 0, "save"))
        assert trace.get_current_span().get_span_context().is_valid

    async def host() -> None:
        observe(TurnStarted("t", 1))
        turn = trace.get_current_span()
        async with anyio.create_task_group() as group:
            group.start_soon(work)
        assert trace.get_current_span() is turn
        with telemetry.tracer.start_as_current_span("other") as other:
            observe(OperationEnded("t", 1, 0, "save", "uncertain", "operation.uncertain", 1))
            assert trace.get_current_span() is other
        observe(TurnEnded("t", 1, "unresolved", "turn.cancelled"))

    anyio.run(host)
    assert len(telemetry.spans) == 3
    assert (caplog.records, observe.failures) == ([], 0)


def test_two_runs_of_one_turn_id_have_their_own_spans(telemetry: Telemetry) -> None:
    observe = OpenTelemetry(telemetry.tracer)
    for run in "ab":
        observe(TurnStarted("t", 1, run=run))
    observe(AttemptStarted("t", 1, run="b"))
    observe(AttemptJudged("t", 1, "answered", (), run="b"))
    observe(TurnEnded("t", 1, "answered", "", run="b"))
    observe(TurnEnded("t", 1, "cancelled", "turn.cancelled", run="a"))

    assert [facts(span).get("wholecall.end") for span in telemetry.spans] == ["cancelled", "answered", None]


# -- no content --------------------------------------------------------------------------------------

PLANTED = st.sampled_from(
    [GOOD, CUT, '{"arguments-secret": 1}', '"arguments-secret"', "arguments-secret", "{}"]
)
REPLIES = st.lists(
    st.one_of(
        st.builds(calling, st.tuples(st.sampled_from(["save", "name-secret"]), PLANTED)),
        st.builds(calling, st.tuples(st.just("save"), PLANTED), st.tuples(st.just("save"), PLANTED)),
        st.just(ANSWER),
        st.just([{"error": {"message": "reason-secret", "code": "code secret"}}]),
        st.just([frame({"tool_calls": [{"index": 0, "id": 7}]}, "finish-secret"), "not JSON: secret"]),
        st.just([frame({}, "finish-secret")]),
        st.builds(UpstreamRefused, st.sampled_from([400, 503]), st.just("reason-secret")),
        st.builds(Unreachable, st.just("reason-secret")),
    ),
    min_size=3,
    max_size=3,
)


@settings(max_examples=25, deadline=None)
@given(replies=REPLIES, raises=st.sampled_from([None, ToolFailed, ValueError]), denies=st.booleans())
def test_no_span_holds_a_secret_or_a_name_that_is_not_of_the_conventions_or_ours(
    replies: list[Reply], raises: type[Exception] | None, denies: bool
) -> None:
    def save(*_: object) -> str:
        if raises is not None:
            raise raises("exception-secret")
        return "result-secret"

    telemetry = Telemetry()
    run(
        telemetry,
        *replies,
        save=save,
        tool={"check": lambda _: "reason-secret" if denies else None},
        policy=Policy(attempts=3, pause=0, queries=1, tries=1),
    )

    assert telemetry.spans[0].name == "wholecall.turn"
    for span in telemetry.spans:
        assert "secret" not in span.to_json()
        named = {"chat test-model": CHAT, "execute_tool save": EXECUTE_TOOL, "wholecall.turn": set[str]()}
        theirs = {name for name in facts(span) if not name.startswith("wholecall.")} - {ERROR}
        assert theirs == named[span.name]
        ours = {name for name in facts(span) if name.startswith("wholecall.")}
        told = {name for event in span.events for name in event.attributes or {}}
        assert (ours | told) <= OURS


def test_a_diagnostic_is_told_but_for_its_reason(telemetry: Telemetry) -> None:
    observe = OpenTelemetry(telemetry.tracer)
    found = Diagnostic(fault="identity.null_first", index=2, had_id=False, hint=("a", "b"), reason="secret")
    observe(TurnStarted("t", 1))
    observe(AttemptStarted("t", 1))
    observe(AttemptUnanswered("t", 1, (found,)))
    observe(TurnEnded("t", 1, "exhausted", "identity.null_first"))

    assert events(telemetry.span("chat"), "fault") == [
        {
            "wholecall.fault": "identity.null_first",
            "wholecall.index": 2,
            "wholecall.had_id": False,
            "wholecall.hint": ("a", "b"),
        }
    ]


# -- what is out of order, missing or broken ---------------------------------------------------------


def test_what_was_not_seen_to_start_has_no_span(telemetry: Telemetry) -> None:
    """An observer may be given to a turn by a host that passes on only some events."""
    observe = OpenTelemetry(telemetry.tracer)
    row = RowFired("t", 1, "operation", "O03", "planned", "cancel", "cancelled", "operation.cancelled", 4)
    ended = OperationEnded("t", 1, 4, "save", "cancelled", "operation.cancelled", 0)
    strays: list[Event] = [
        AttemptJudged("t", 1, "whole", ()),
        row,
        ended,
        Checked("t", 1, "permitted", ()),
        Event("t", 1),
    ]
    for stray in [*strays, TurnEnded("t", 1, "cancelled", "")]:
        observe(stray)
    assert telemetry.spans == []

    for event in [TurnStarted("t", 1), *strays, TurnEnded("t", 1, "dispatching", "")]:
        observe(event)
    (turn,) = telemetry.spans
    assert rows(turn) == ["O03"]
    assert (error(turn), observe.failures) == (("_OTHER", None), 0)


def test_what_never_ended_ends_with_the_turn_also_where_that_is_good(telemetry: Telemetry) -> None:
    observe = OpenTelemetry(telemetry.tracer)
    observe(TurnStarted("t", 1))
    current = trace.get_current_span()
    assert current.get_span_context().is_valid
    observe(OperationStarted("t", 1, 0, "save", resumed=True))
    assert trace.get_current_span() is current  # several may be reconciled in one task
    observe(AttemptStarted("t", 1))
    observe(TurnEnded("t", 1, "settled", ""))

    turn, tool, chat = telemetry.spans
    assert (error(turn), error(chat), error(tool)) == (None, ("_OTHER", None), ("_OTHER", None))


def test_telemetry_that_raises_ends_no_turn_and_is_counted() -> None:
    class Broken(trace.NoOpTracer):
        def start_span(self, *_: Any, **__: Any) -> trace.Span:
            raise RuntimeError("the exporter is on fire")

    observe = OpenTelemetry(Broken())
    with Ledger("sqlite://") as ledger:
        result = Turn([], scripted(ANSWER), ledger=ledger, observe=observe).run_sync()

    assert (result.end, observe.failures) == ("answered", 1)


def test_without_an_sdk_nothing_happens() -> None:
    """The API alone gives spans that hold nothing."""
    observe = OpenTelemetry()
    with Ledger("sqlite://") as ledger:
        result = Turn([], scripted(ANSWER), ledger=ledger, observe=observe).run_sync()

    assert (result.end, observe.failures) == ("answered", 0)


def test_the_default_tracer_is_named_after_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []

    def get_tracer(*names: str) -> trace.Tracer:
        asked.append(names)
        return trace.NoOpTracer()

    monkeypatch.setattr(trace, "get_tracer", get_tracer)
    OpenTelemetry()

    assert asked == [("wholecall", __version__)]


def test_opentelemetry_is_imported_only_where_it_is_asked_for() -> None:
    code = (
        "import sys, wholecall.turn.otel; print(*(m for m in sys.modules if m.startswith('opentelemetry')))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert out.split() == []


@pytest.mark.parametrize("absent", ["opentelemetry", "opentelemetry.trace"])
def test_without_opentelemetry_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, absent: str
) -> None:
    for name in [name for name in sys.modules if name.startswith("opentelemetry")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, absent, None)

    with pytest.raises(OpenTelemetryMissingError) as caught:
        OpenTelemetry()
    assert str(caught.value) == "OpenTelemetry is not installed: pip install 'wholecall[otel]'"
    assert caught.value.extra == "wholecall[otel]"
    assert isinstance(caught.value, WholecallError)
    assert isinstance(caught.value, ImportError)
    assert caught.value.__context__ is None
