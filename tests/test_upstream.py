"""A stream that breaks off, is left, or comes in another form; by the real client where there is one."""

from __future__ import annotations

import asyncio
import json
import pickle
from collections.abc import AsyncIterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import anyio
import openai
import pytest
from asking import (
    CALL,
    PLANTED,
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
    NO_ANSWER,
    RESET,
    STALL,
    Refusal,
    Reply,
    Step,
    Upstream,
    client_of,
    finish,
    http_client,
)

from wholecall.errors import WholecallError
from wholecall.turn.openai_client import openai_request
from wholecall.turn.upstream import (
    RequestTypeError,
    TransportFailed,
    Unreachable,
    UpstreamRefused,
    frames,
)

pytestmark = pytest.mark.anyio


# -- the stream breaks off ---------------------------------------------------------------------------


@pytest.mark.parametrize("make", [adapted, plain])
@pytest.mark.parametrize("how", [CUT, RESET])
async def test_a_connection_cut_within_the_stream_aborts_the_response(make: Any, how: Step) -> None:
    with Upstream([*CALL[:2], how]) as upstream:
        async with client_of(upstream.url) as client:
            response = await respond(make(client))

    assert (response.outcome, response.fault) == ("incomplete", "stream.aborted")
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("make", [adapted, plain])
@pytest.mark.parametrize("before", [[], CALL[:2]])
async def test_a_stream_that_stalls_until_the_client_times_out_is_aborted(
    make: Any, before: list[Any]
) -> None:
    with Upstream([*before, STALL]) as upstream:
        async with client_of(upstream.url, timeout=openai.Timeout(5, read=0.3)) as client:
            response = await respond(make(client))
        assert upstream.wait_left()

    assert (response.outcome, response.fault) == ("incomplete", "stream.aborted")


@pytest.mark.parametrize("make", [adapted, plain])
@pytest.mark.parametrize("event", [b"data: {bad\n\n", b"data: \xff\n\n", b"data: " + b"[" * 99_999 + b"\n\n"])
async def test_an_event_that_is_no_json_is_a_bad_frame_and_no_broken_transport(
    make: Any, event: bytes
) -> None:
    with Upstream([*CALL[:2], event, finish(), DONE]) as upstream:
        async with client_of(upstream.url) as client:
            response = await respond(make(client))

    assert (response.outcome, response.fault) == ("rejected", "stream.bad_frame")


async def test_an_unfinished_last_event_is_not_thrown_away() -> None:
    with Upstream(
        [*CALL[:-1], b'data: {"choices": [{"delta": {"tool_ca'], [*CALL[:-1], b"data: [DONE]"]
    ) as upstream:
        async with client_of(upstream.url) as client:
            cut, whole = await respond(adapted(client)), await respond(adapted(client))

    assert (cut.outcome, cut.fault) == ("rejected", "stream.bad_frame")
    assert whole.outcome == "whole"


async def test_a_body_that_is_no_event_stream_is_a_bad_frame() -> None:
    with Upstream([b'{"error": {"message": "no"}}'], [b"<html></html>"]) as upstream:
        async with client_of(upstream.url) as client:
            for _ in range(2):
                assert (await respond(adapted(client))).fault == "stream.bad_frame"


async def test_the_failure_says_nothing_aloud() -> None:
    async def broken(_: object) -> AsyncIterator[object]:
        async def steps() -> AsyncIterator[object]:
            yield {}
            raise OSError(PLANTED)

        return steps()

    async with frames(broken) as stream:
        assert await anext(stream) == {}
        with pytest.raises(TransportFailed) as caught:
            await anext(stream)

    assert caught.value.__context__ is None
    assert PLANTED not in str(caught.value) + repr(caught.value)
    assert caught.value.reason == f"OSError: {PLANTED}"


# -- the stream is closed on every way out -----------------------------------------------------------


@pytest.mark.parametrize("make", [adapted, plain])
async def test_leaving_early_closes_the_connection(make: Any) -> None:
    with Upstream([*CALL[:2], STALL]) as upstream:
        async with client_of(upstream.url) as client:
            async with frames(make(client)) as stream:
                await anext(stream)
            assert upstream.wait_left()


@pytest.mark.parametrize("make", [adapted, plain])
async def test_leaving_before_the_first_frame_closes_the_connection(make: Any) -> None:
    with Upstream([STALL]) as upstream:
        async with client_of(upstream.url) as client:
            async with frames(make(client)):
                pass
            assert upstream.wait_left()


@pytest.mark.parametrize("make", [adapted, plain])
async def test_an_error_of_the_reader_closes_the_connection(make: Any) -> None:
    with Upstream([*CALL[:2], STALL]) as upstream:
        async with client_of(upstream.url) as client:
            with suppress(KeyError):
                async with frames(make(client)) as stream:
                    await anext(stream)
                    raise KeyError
            assert upstream.wait_left()


@pytest.mark.parametrize("make", [adapted, plain])
@pytest.mark.parametrize("reply", [NO_ANSWER, [STALL], [*CALL[:2], STALL]])
@pytest.mark.parametrize("native", [False, True])
async def test_a_cancelled_task_closes_the_connection(make: Any, reply: Reply, native: bool) -> None:
    with Upstream(reply) as upstream:
        async with client_of(upstream.url, max_retries=0) as client:
            task = None
            async with anyio.create_task_group() as group:
                if native:
                    task = asyncio.ensure_future(respond(make(client)))
                else:
                    group.start_soon(respond, make(client))
                await anyio.to_thread.run_sync(upstream.wait_requests, 1)
                await anyio.sleep(0.05)
                group.cancel_scope.cancel()
            if task is not None:
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert upstream.wait_left()
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("make", [adapted, plain])
async def test_a_step_that_was_cancelled_is_no_clean_end(make: Any) -> None:
    with Upstream([*CALL[:2], STALL]) as upstream:
        async with client_of(upstream.url) as client, frames(make(client)) as stream:
            with anyio.move_on_after(0.1) as silence:
                async for _ in stream:
                    pass
            assert silence.cancelled_caught
            with pytest.raises(TransportFailed) as caught:
                await anext(stream)

    assert caught.value.reason == "an earlier step was cancelled"


class Closing:
    """An iterator that tells how it was closed."""

    def __init__(self, close: Any = None) -> None:
        self.closed = 0
        self.close = close or self.count

    def __aiter__(self) -> Closing:
        return self

    async def __anext__(self) -> object:
        return {}

    def count(self) -> None:
        self.closed += 1


async def test_what_can_be_closed_is_closed_once_and_what_goes_wrong_then_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def hangs() -> None:
        await anyio.sleep(60)

    def raises() -> None:
        raise OSError(PLANTED)

    monkeypatch.setattr("wholecall.turn.upstream.CLOSING", 0.05)
    counted = Closing()
    for stream in (counted, Closing(hangs), Closing(raises)):
        async with frames(lambda _, stream=stream: stream) as opened:  # type: ignore[misc]
            assert await anext(opened) == {}

    assert counted.closed == 1


async def test_a_cancellation_does_not_cut_the_closing_short() -> None:
    closed = []

    async def slowly() -> None:
        await anyio.sleep(0.05)
        closed.append(True)

    with anyio.move_on_after(0.01):
        async with frames(lambda _: Closing(slowly)):
            await anyio.sleep(60)

    assert closed == [True]


# -- the forms of a request --------------------------------------------------------------------------


async def test_a_request_may_be_an_async_generator_that_asks_when_it_is_read() -> None:
    events = []

    async def request(_: object) -> AsyncIterator[object]:
        events.append("asked")
        try:
            yield {"n": 1}
            yield {"n": 2}
        finally:
            await anyio.sleep(0)
            events.append("closed")

    async with frames(request) as stream:
        assert events == ["asked"]  # the turn knows that it was answered
        assert await anext(stream) == {"n": 1}
    assert events == ["asked", "closed"]

    async with frames(request) as stream:
        assert [frame async for frame in stream] == [{"n": 1}, {"n": 2}]
        with pytest.raises(StopAsyncIteration):
            await anext(stream)


async def test_a_generator_that_is_refused_when_it_asks_is_refused_before_the_stream() -> None:
    raised: Exception = UpstreamRefused(429, PLANTED, "slow_down")

    async def request(_: object) -> AsyncIterator[object]:
        try:
            yield dict[str, object]()[PLANTED]
        except KeyError:
            raise raised  # noqa: B904 - as a host may write it

    error = await refused(request)
    assert isinstance(error, UpstreamRefused)
    assert (error.status, error.reason, error.code) == (429, PLANTED, "slow_down")

    raised = Unreachable(PLANTED)
    error = await refused(request)
    assert isinstance(error, Unreachable)
    assert error.reason == PLANTED


async def test_an_empty_generator_is_a_stream_that_closed_at_once() -> None:
    async def request(_: object) -> AsyncIterator[object]:
        for frame in range(0):
            yield frame

    response = await respond(request)

    assert (response.outcome, response.fault) == ("incomplete", "stream.no_finish")


@pytest.mark.parametrize(
    ("raised", "outcome", "fault"),
    [
        (UpstreamRefused(503, "later", "busy"), "refused", "upstream.error"),
        (Unreachable("gone"), "incomplete", "stream.aborted"),
        (TransportFailed("gone"), "incomplete", "stream.aborted"),
        (ValueError("gone"), "incomplete", "stream.aborted"),
    ],
)
async def test_what_a_generator_raises_later_is_of_the_stream(
    raised: Exception, outcome: str, fault: str
) -> None:
    async def request(_: object) -> AsyncIterator[object]:
        yield {}
        raise raised

    response = await respond(request)

    assert (response.outcome, response.fault) == (outcome, fault)
    if outcome == "refused":
        (found,) = response.faults
        assert (found.upstream_status, found.upstream_code, found.reason) == (503, "busy", "later")


async def test_a_client_of_another_make_is_understood_by_the_status_it_states() -> None:
    async def request(_: object) -> AsyncIterator[object]:
        async with http_client() as client:
            response = await client.post(f"{upstream.url}/chat/completions", json={})
            response.raise_for_status()
        yield {}

    with Upstream(Refusal(402)) as upstream:
        error = await refused(request)

    assert isinstance(error, UpstreamRefused)
    assert error.status == 402


async def test_a_list_of_frames_is_a_stream_too() -> None:
    recorded = [json.dumps(frame) if isinstance(frame, dict) else frame for frame in CALL]

    assert (await respond(lambda _: recorded)).outcome == "whole"
    assert (await respond(lambda _: tuple(recorded[:-1]))).outcome == "whole"


async def test_an_iterable_that_makes_its_iterator_is_closed_with_it() -> None:
    closed = []

    class Made:
        async def __aiter__(self) -> AsyncIterator[object]:
            try:
                yield {}
                yield {}
            finally:
                closed.append("iterator")

        def close(self) -> None:
            closed.append("source")

    async with frames(lambda _: Made()) as stream:
        await anext(stream)

    assert closed == ["iterator", "source"]


@pytest.mark.parametrize("given", [None, "{}", b"{}", {}, iter([{}]), 7])
async def test_what_would_stop_the_loop_or_is_no_stream_is_the_hosts_mistake(given: Any) -> None:
    with pytest.raises(RequestTypeError) as caught:
        await respond(lambda _: given)

    assert isinstance(caught.value, TypeError)
    assert caught.value.what.startswith(
        "a request gives an async iterator of frames, or a list of them, not "
    )
    assert caught.value.__context__ is None


async def test_a_sync_client_is_refused_before_anything_is_asked() -> None:
    with (
        openai.OpenAI(base_url="http://127.0.0.1:9/v1", api_key="x") as client,
        pytest.raises(RequestTypeError, match="an AsyncOpenAI is needed, not OpenAI"),
    ):
        openai_request(client, messages=[], model="m")


async def test_a_request_streams_and_need_not_be_told() -> None:
    async with client_of("http://127.0.0.1:9/v1") as client:
        with pytest.raises(RequestTypeError, match="`stream` is always true here"):
            adapted(client, stream=False)


async def test_a_stream_that_is_not_the_clients_own_is_read_as_it_is() -> None:
    """Instrumentation wraps what `create` gives."""

    async def create(**_: object) -> list[object]:
        return list(CALL)

    async def leave(*_: object) -> None: ...

    inner = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))
    client: Any = SimpleNamespace(with_options=lambda **_: inner, __aenter__=leave)

    assert (await respond(adapted(client))).outcome == "whole"


# -- errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [UpstreamRefused(429, PLANTED, "c"), Unreachable(PLANTED), TransportFailed(PLANTED)]
)
def test_an_error_keeps_its_reason_to_itself_and_survives_a_process(error: Any) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own

    assert issubclass(type(error), WholecallError)
    assert again.reason == error.reason == PLANTED
    assert vars(again) == vars(error)
    assert PLANTED not in str(error) + repr(error)


def test_a_refusal_may_have_no_status() -> None:
    assert str(UpstreamRefused()) == "upstream refused"
    assert UpstreamRefused(418, "no", "x").stated == {"status": 418, "code": "x", "message": "no"}
