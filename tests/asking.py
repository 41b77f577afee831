"""Ask a real upstream for one response, as a turn does, and leave nothing behind."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from upstream import call, calls

from wholecall.assemble import Assembler, Response
from wholecall.structure import Toolset
from wholecall.turn.feedback import Feedback
from wholecall.turn.openai_client import openai_request
from wholecall.turn.tools import Tool
from wholecall.turn.upstream import Request, TransportFailed, Unreachable, UpstreamRefused, frames

PLANTED = "sk-planted-7431"
SAVE = Tool("save", {"type": "object", "required": ["page"]}, lambda *_: None)
CALL = calls(call(0, "call_1", "save", '{"page"', ": 1}"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    deadline = time.monotonic() + 5
    while set(threading.enumerate()) - before and time.monotonic() < deadline:
        time.sleep(0.01)

    assert set(threading.enumerate()) - before == set()


@pytest.fixture(autouse=True, scope="module")
def no_socket_is_left() -> Iterator[None]:
    """One that is collected unclosed is a warning, and so an error."""
    yield
    gc.collect()


def adapted(client: openai.AsyncOpenAI, **arguments: Any) -> Request:
    return openai_request(
        client, **{"messages": [{"role": "user", "content": "go"}], "model": "m"} | arguments
    )


def plain(client: openai.AsyncOpenAI) -> Request:
    """What a host writes without the adapter."""
    return lambda _: client.chat.completions.create(messages=[], model="m", stream=True)


async def respond(
    request: Request, feedback: Feedback | None = None, tools: Toolset | None = None
) -> Response:
    """Read one response as a turn does."""
    assembler = Assembler(tools=tools)
    async with frames(request, feedback) as stream:
        try:
            async for frame in stream:
                assembler.feed(frame)
                if assembler.ended:
                    break
        except TransportFailed:
            return assembler.close(aborted=True)
    return assembler.close()


async def refused(request: Request) -> UpstreamRefused | Unreachable:
    with pytest.raises((UpstreamRefused, Unreachable)) as caught:
        await respond(request)
    error: Any = caught.value
    assert error.__context__ is None  # a client's exception holds the request, and the response
    assert error.__cause__ is None
    assert PLANTED not in str(error) + repr(error)
    refusal: UpstreamRefused | Unreachable = error
    return refusal
