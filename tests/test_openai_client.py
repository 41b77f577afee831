"""The real openai client against a real server: what comes, and what upstream says no to."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from asking import (
    CALL,
    PLANTED,
    SAVE,
    adapted,
    anyio_backend,  # noqa: F401 - fixtures
    no_socket_is_left,  # noqa: F401
    no_thread_is_left,  # noqa: F401
    plain,
    refused,
    respond,
)
from upstream import (
    CUT,
    DONE,
    HANG_UP,
    NO_ANSWER,
    RESET,
    STALL,
    Pause,
    Refusal,
    Step,
    Upstream,
    answer,
    call,
    calls,
    chunk,
    client_of,
    finish,
    text,
)

from wholecall.assemble import read
from wholecall.structure import Toolset
from wholecall.turn.feedback import Feedback
from wholecall.turn.openai_client import openai_request
from wholecall.turn.tools import REASON_LIMIT
from wholecall.turn.upstream import (
    Unreachable,
    UpstreamRefused,
    frames,
    text_of,
)
from wholecall.wire import FrameTypeError

pytestmark = pytest.mark.anyio


# -- what comes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [adapted, plain])
@pytest.mark.parametrize("null", [False, True])
async def test_null_and_omitted_continuations_give_the_same_call(make: Any, null: bool) -> None:
    reply = calls(call(1, "call_1", "save", '{"page"', ": 1}", null=null))
    with Upstream(reply) as upstream:
        async with client_of(upstream.url) as client:
            response = await respond(make(client), tools=Toolset.of([SAVE]))

    assert response.outcome == "whole"
    assert [(c.index, c.id, c.name, c.arguments) for c in response.calls] == [
        (1, "call_1", "save", '{"page": 1}')
    ]
    assert ("I14" in response.rows) is null  # null stays null all the way through the client's objects
    assert ("I13" in response.rows) is not null


@pytest.mark.parametrize("make", [adapted, plain])
@pytest.mark.parametrize(
    ("first", "fault"),
    [({"id": None}, "identity.null_first"), ({"id": ""}, "identity.missing"), ({}, "identity.missing")],
)
async def test_an_id_that_is_null_from_the_start_is_not_one_that_was_omitted(
    make: Any, first: dict[str, object], fault: str
) -> None:
    fragment = {"index": 0, **first, "function": {"name": "save", "arguments": "{}"}}
    with Upstream([chunk({"tool_calls": [fragment]}), finish(), DONE]) as upstream:
        async with client_of(upstream.url) as client:
            response = await respond(make(client))

    assert (response.outcome, response.fault) == ("rejected", fault)


@pytest.mark.parametrize("make", [adapted, plain])
async def test_an_answer_is_text_and_can_be_shown_as_it_comes(make: Any) -> None:
    shown = []
    with Upstream(answer("He", "llo")) as upstream:
        async with client_of(upstream.url) as client, frames(make(client)) as stream:
            shown = [text_of(frame) async for frame in stream]

    assert "".join(shown) == "Hello"
    assert shown[:2] == ["He", "llo"]


def test_only_text_of_the_first_choice_is_shown() -> None:
    assert text_of({"choices": [{"delta": {"content": "a"}}, {"index": 1, "delta": {"content": "b"}}]}) == "a"
    assert text_of({"choices": [{"index": 0, "delta": {"content": ["a"]}}, {"index": 0}]}) == ""
    assert text_of({"choices": None}) == text_of({"error": "no"}) == text_of("[DONE]") == text_of(b"{") == ""
    with pytest.raises(FrameTypeError):
        text_of(object())


async def test_the_request_is_made_once_with_what_the_host_gave_and_its_tools() -> None:
    messages = [{"role": "user", "content": "go"}]
    with Upstream(CALL, CALL, CALL) as upstream:
        async with client_of(upstream.url) as client:
            for tools in (Toolset.of([SAVE]), [SAVE], [SAVE.to_openai()]):
                request = openai_request(client, messages=messages, tools=tools, model="m", temperature=0)
                await respond(request)

    assert (
        upstream.requests
        == [
            {
                "messages": messages,
                "model": "m",
                "stream": True,
                "temperature": 0,
                "tools": [SAVE.to_openai()],
            }
        ]
        * 3
    )


async def test_feedback_is_appended_and_the_messages_stay_as_they_were() -> None:
    messages = [{"role": "user", "content": "go"}]
    feedback = Feedback.of(read([*CALL[:2], finish(), DONE]).faults)
    with Upstream(CALL, CALL) as upstream:
        async with client_of(upstream.url) as client:
            request = adapted(client, messages=messages)
            messages.append({"role": "user", "content": "later"})
            await respond(request, feedback)
            await respond(request)

    go = {"role": "user", "content": "go"}
    assert [r["messages"] for r in upstream.requests] == [
        [go, {"role": "user", "content": feedback.text}],
        [go],
    ]
    assert "tools" not in upstream.requests[0]  # the API takes no empty list


async def test_a_connection_is_used_again_after_a_whole_response(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wholecall.turn.openai_client._DRAINING", 5)
    split = [*CALL[:-1], Pause(0.02), b"data: [DO", Pause(0.02), b"NE]\n\n", Pause(0.02), b": bye\n\n"]
    with Upstream(split, CALL, CALL) as upstream:
        async with client_of(upstream.url) as client:
            for _ in range(3):
                assert (await respond(adapted(client))).outcome == "whole"

    assert (upstream.connections, upstream.left) == (1, 0)


@pytest.mark.parametrize("after", [STALL, CUT, RESET])
async def test_after_done_nothing_is_waited_for(after: Step) -> None:
    with Upstream([*CALL, after]) as upstream:
        async with client_of(upstream.url) as client:
            with anyio.fail_after(2):
                assert (await respond(adapted(client))).outcome == "whole"


@pytest.mark.parametrize("end", [[finish(), DONE], [finish()]])
@pytest.mark.parametrize("make", [adapted, plain])
async def test_done_may_be_missing(make: Any, end: list[Any]) -> None:
    with Upstream([*CALL[:-2], *end]) as upstream:
        async with client_of(upstream.url) as client:
            assert (await respond(make(client))).outcome == "whole"


# -- upstream says no before the stream --------------------------------------------------------------


@pytest.mark.parametrize("make", [adapted, plain])
@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 418, 422, 429])
async def test_a_status_is_a_refusal_with_its_reason(make: Any, status: int) -> None:
    body = {"error": {"message": f"no, {PLANTED}", "code": "not_now", "type": "invalid"}}
    with Upstream(Refusal(status, body)) as upstream:
        async with client_of(upstream.url, max_retries=0) as client:
            error = await refused(make(client))

    assert isinstance(error, UpstreamRefused)
    assert (error.status, error.reason, error.code) == (status, f"no, {PLANTED}", "not_now")
    assert str(error) == f"upstream refused with status {status}"


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_the_client_repeats_nothing_by_itself(status: int) -> None:
    with Upstream(Refusal(status, headers={"retry-after": "0", "x-should-retry": "true"})) as upstream:
        async with client_of(upstream.url, max_retries=5) as client:
            error = await refused(adapted(client))
            assert client.max_retries == 5  # the host's own client stays as it was

    assert isinstance(error, UpstreamRefused)
    assert error.status == status
    assert len(upstream.requests) == 1


@pytest.mark.parametrize(
    ("body", "reason", "code"),
    [
        ("<html>Bad gateway</html>", "<html>Bad gateway</html>", None),
        ({"message": "flat", "code": 7}, "flat", "7"),
        ({"error": "only text"}, "only text", None),
        ({"error": {"type": "server_error"}}, "Error code: 500", "server_error"),
        ("", "Error code: 500", None),
        ({"error": {"message": "x" * 9999, "code": "has blanks"}}, "x" * REASON_LIMIT, None),
    ],
)
async def test_a_reason_is_what_the_body_says_whatever_its_form(
    body: object, reason: str, code: str | None
) -> None:
    with Upstream(Refusal(500, body)) as upstream:
        async with client_of(upstream.url) as client:
            error = await refused(adapted(client))

    assert isinstance(error, UpstreamRefused)
    assert error.reason.startswith(reason)  # where the body says nothing, the client's own words
    assert len(error.reason) <= REASON_LIMIT
    assert error.code == code


# -- no answer ---------------------------------------------------------------------------------------


async def test_a_refused_connection_is_no_answer() -> None:
    with Upstream() as upstream:
        url = upstream.url
    async with client_of(url) as client:
        error = await refused(adapted(client))

    assert isinstance(error, Unreachable)
    assert (
        error.reason == "APIConnectionError: Connection error.; ConnectError: All connection attempts failed"
    )
    assert str(error) == "no answer came from upstream"


@pytest.mark.parametrize("make", [adapted, plain])
async def test_a_connection_closed_before_the_status_is_no_answer(make: Any) -> None:
    with Upstream(HANG_UP) as upstream:
        async with client_of(upstream.url, max_retries=0) as client:
            assert isinstance(await refused(make(client)), Unreachable)


@pytest.mark.parametrize("make", [adapted, plain])
async def test_a_timeout_before_the_status_is_no_answer(make: Any) -> None:
    with Upstream(NO_ANSWER) as upstream:
        async with client_of(upstream.url, timeout=0.1, max_retries=0) as client:
            error = await refused(make(client))
        assert upstream.wait_left()

    assert isinstance(error, Unreachable)
    assert error.reason.startswith("APITimeoutError: Request timed out.")
    assert len(upstream.requests) == 1


async def test_a_request_that_raises_anything_else_is_no_answer() -> None:
    def raises(_: object) -> Any:
        raise LookupError(PLANTED * 999)

    async def raises_later(_: object) -> Any:
        raise ExceptionGroup(PLANTED, [ValueError(PLANTED)])

    for request in (raises, raises_later):
        error = await refused(request)

        assert isinstance(error, Unreachable)
        assert PLANTED in error.reason  # data, for the host
        assert len(error.reason) <= REASON_LIMIT


# -- upstream says no within the stream --------------------------------------------------------------


@pytest.mark.parametrize("make", [adapted, plain])
@pytest.mark.parametrize("before", [[], text("He"), CALL[:-1]])
async def test_an_error_in_the_stream_is_a_refusal_wherever_it_comes(make: Any, before: list[Any]) -> None:
    error = {"error": {"message": PLANTED, "code": "overloaded", "type": "server_error", "status": 529}}
    with Upstream([*before, error, *CALL]) as upstream:
        async with client_of(upstream.url) as client:
            response = await respond(make(client))

    (fault,) = response.faults
    assert (response.outcome, fault.fault) == ("refused", "upstream.error")
    assert (fault.upstream_code, fault.upstream_status, fault.reason) == ("overloaded", 529, PLANTED)
    assert PLANTED not in repr(response)


@pytest.mark.parametrize("make", [adapted, plain])
async def test_an_error_that_is_only_text_is_one_too(make: Any) -> None:
    with Upstream([*text("He"), {"error": PLANTED}]) as upstream:
        async with client_of(upstream.url) as client:
            response = await respond(make(client))

    assert (response.outcome, response.faults[0].reason) == ("refused", PLANTED)


@pytest.mark.parametrize(
    "event",
    [
        b'event: error\ndata: {"message": "over", "code": "x"}\n\n',
        b"event: error\ndata: over\n\n",
        b'event: error\ndata: {"error": {"message": "over"}}\n\n',
    ],
)
async def test_an_event_named_error_is_one_whatever_its_data(event: bytes) -> None:
    with Upstream([*CALL[:-1], event, DONE]) as upstream:
        async with client_of(upstream.url) as client:
            response = await respond(adapted(client))

    assert (response.outcome, response.faults[0].reason) == ("refused", "over")


async def test_the_client_by_itself_loses_such_an_event() -> None:
    """Why the adapter reads the events itself. When this fails, the client has learned it."""
    event = b'event: error\ndata: {"message": "over"}\n\n'
    with Upstream([*CALL[:-1], event, DONE]) as upstream:
        async with client_of(upstream.url) as client:
            response = await respond(plain(client))

    assert response.outcome == "whole"
