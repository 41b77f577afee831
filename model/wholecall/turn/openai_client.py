"""A turn's request by the openai client. The client is the host's; nothing of it is imported here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, Protocol

from anyio import move_on_after

from wholecall.sse import SSE
from wholecall.structure import Toolset
from wholecall.turn.feedback import Feedback
from wholecall.turn.tools import Tool
from wholecall.turn.upstream import Request, RequestTypeError, Stream


class Client(Protocol):
    """An `openai.AsyncOpenAI`."""

    def with_options(self, *, max_retries: int) -> Any:
        """The same client with another number of retries."""


def openai_request(
    client: Client,
    *,
    messages: Iterable[object],
    tools: Toolset | Iterable[Tool | Mapping[str, object]] = (),
    **arguments: Any,
) -> Request:
    """A request by the openai client, for a turn.

    The client repeats nothing by itself, so that the turn's limit of attempts is real. The events are taken
    as they came off the wire, for the client's own reading loses two things: an `event: error` whose data has
    no `error` member passes as an empty chunk, and an unfinished last event is dropped. Where the client
    gives something else than its own stream (instrumentation may), that is read as it is.

    Args:
        client: The client; it stays the host's to close.
        messages: The messages so far, kept as they are now. Feedback is appended as one of the user.
        tools: What the model may call: a toolset, tools, or the list as the API takes it.
        **arguments: Everything else for `chat.completions.create`, such as `model`.

    Raises:
        RequestTypeError: The client is not async, or `stream` is among the arguments.
    """
    if not hasattr(client, "__aenter__"):
        raise RequestTypeError(f"an AsyncOpenAI is needed, not {type(client).__name__}: a turn is async")
    if "stream" in arguments:
        raise RequestTypeError("`stream` is always true here, and need not be given")
    create = client.with_options(max_retries=0).chat.completions.create
    said = list(messages)
    if isinstance(tools, Toolset):
        tools = tools.to_openai()
    declared = [tool.to_openai() if isinstance(tool, Tool) else tool for tool in tools]
    if declared:  # the API takes no empty list
        arguments["tools"] = declared

    async def request(feedback: Feedback | None) -> Stream:
        more = [] if feedback is None else [{"role": "user", "content": feedback.text}]
        stream = await create(messages=[*said, *more], stream=True, **arguments)
        readable = hasattr(getattr(stream, "response", None), "aiter_bytes")
        return _Events(stream) if readable else stream

    return request


class _Events:
    """The events of a client's stream, as they came off the wire."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[object]:
        sse = SSE()
        chunks = self._stream.response.aiter_bytes()
        async for chunk in chunks:
            for frame in sse.feed(chunk):
                if isinstance(frame, bytes) and frame.strip() == b"[DONE]":
                    await _drain(chunks)
                yield frame
        for frame in sse.close():
            yield frame

    async def aclose(self) -> None:
        await self._stream.close()


_DRAINING: Final = 0.1
"""Seconds that a finished response may take to end."""


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    """Read a response to its end after its last frame, so that the connection can be used again."""
    with move_on_after(_DRAINING), suppress(Exception):
        async for _ in chunks:
            pass
