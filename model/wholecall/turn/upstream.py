"""Upstream: how a turn asks for a response, and what it is told where none comes.

A `request` is the host's: given the feedback of the attempt before, it returns, or can be awaited for, an
async iterator of frames. What `openai.AsyncOpenAI().chat.completions.create(stream=True)` gives works as it
is, and so does an async generator. `frames` opens one, and closes it on every way out.

Whatever goes wrong there is one of four things, and no exception of a client comes through:

- `UpstreamRefused`: upstream said no. It is told by a status or an error body, whichever client raised it;
- `Unreachable`: nothing came;
- a frame `{"error": ...}`: upstream said no within the stream;
- `TransportFailed`: the stream broke off.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Final, TypeAlias

from anyio import move_on_after

from wholecall.diagnose import upstream_facts
from wholecall.errors import WholecallError
from wholecall.turn.feedback import Feedback
from wholecall.turn.tools import Reasoned
from wholecall.wire import Frame, decode

__all__ = [
    "CLOSING",
    "Feedback",
    "Frames",
    "Request",
    "RequestTypeError",
    "Stream",
    "TransportFailed",
    "Unreachable",
    "UpstreamRefused",
    "frames",
    "text_of",
]

CLOSING: Final = 5.0
"""Seconds that a stream may take to close; then it is left behind."""

Stream: TypeAlias = AsyncIterable[object] | list[Any] | tuple[object, ...]
"""Frames as they come, or a list of them."""

Request: TypeAlias = Callable[[Feedback | None], Stream | Awaitable[Stream]]
"""Asks upstream for one response."""


class UpstreamRefused(Reasoned):
    """Upstream refused the request, and said so. The reason is not shown.

    Attributes:
        status: The HTTP status; None where it gave none.
        reason: What it said.
        code: Its own code for it, where it gave one.
    """

    def __init__(self, status: int | None = None, reason: str = "", code: str | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.code = code

    def __str__(self) -> str:
        return "upstream refused" + ("" if self.status is None else f" with status {self.status}")

    @property
    def stated(self) -> dict[str, object]:
        """What it said, as the `error` of a frame."""
        return {"status": self.status, "code": self.code, "message": self.reason}


class Unreachable(Reasoned):
    """No answer came: no connection, or nothing before the time was over. The reason is not shown."""

    def __str__(self) -> str:
        return "no answer came from upstream"


class TransportFailed(Reasoned):
    """The stream broke off before its end: the response is aborted. The reason is not shown."""

    def __str__(self) -> str:
        return "the stream broke off before its end"


class RequestTypeError(WholecallError, TypeError):
    """A request, or what it gave, is not what a turn can read.

    Attributes:
        what: What is wrong with it, and what is allowed.
    """

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


# -- opening, reading, closing -----------------------------------------------------------------------


class Frames:
    """The frames of one open response, in order. `frames` makes it."""

    def __init__(self, head: list[object], rest: AsyncIterator[object]) -> None:
        self._head = head
        self._rest = rest
        self._broken = False
        self._ended = False

    def __aiter__(self) -> Frames:
        return self

    async def __anext__(self) -> object:
        """The next frame.

        Raises:
            StopAsyncIteration: The stream closed cleanly, or upstream refused within it.
            TransportFailed: It broke off, or an earlier step was cancelled and what it read is lost.
        """
        if self._head:
            return self._head.pop()
        if self._ended:
            raise StopAsyncIteration
        if self._broken:
            raise TransportFailed("an earlier step was cancelled")
        self._broken = True  # until this step has come to an end of its own
        try:
            frame = await anext(self._rest)
        except StopAsyncIteration:
            self._ended = True
            raise
        except Exception as error:
            last, reason = _last_frame(error), _told(error)
        else:
            self._broken = False
            return frame
        if last is None:
            raise TransportFailed(reason)
        self._ended = True
        return last


@asynccontextmanager
async def frames(request: Request, feedback: Feedback | None = None) -> AsyncIterator[Frames]:
    """Ask upstream for a response: entering waits for the answer, and every way out closes the stream.

    An async generator that was not awaited for has asked nothing yet, so entering reads its first frame.

    Args:
        request: The host's request.
        feedback: What the request is told of the attempt before.

    Raises:
        UpstreamRefused: Upstream refused before the stream began.
        Unreachable: The request raised anything else; no answer came.
        RequestTypeError: What it gave is no async iterator. A sync one would stop the loop, and with it every
            timeout; a list has nothing to wait for.
    """
    async with AsyncExitStack() as closing:
        yield await _open(request, feedback, closing)


async def _open(request: Request, feedback: Feedback | None, closing: AsyncExitStack) -> Frames:
    head: list[object] = []
    try:
        given: Any = request(feedback)
        asked_nothing = inspect.isasyncgen(given)
        if not hasattr(given, "__aiter__") and inspect.isawaitable(given):
            given = await given
        closing.push_async_callback(_close, given)
        if asked_nothing:
            head = [frame for frame in (await anext(given, _NONE),) if frame is not _NONE]
    except Exception as error:
        refusal = _refusal(error)
    else:
        rest = _iterator(given)
        if rest is not given:
            closing.push_async_callback(_close, rest)
        return Frames(head, rest)
    raise refusal


_NONE: Final = object()


def _iterator(given: Any) -> AsyncIterator[object]:
    if isinstance(given, (list, tuple)):
        return _listed(given)
    if not hasattr(given, "__aiter__"):
        kind = type(given).__name__
        raise RequestTypeError(f"a request gives an async iterator of frames, or a list of them, not {kind}")
    return given if hasattr(given, "__anext__") else aiter(given)


async def _listed(given: Iterable[object]) -> AsyncIterator[object]:
    for frame in given:
        yield frame


async def _close(stream: object) -> None:
    """Close what has something to close. What goes wrong then changes nothing of what was read."""
    close = getattr(stream, "aclose", None) or getattr(stream, "close", None)
    if close is None:
        return
    with move_on_after(CLOSING, shield=True), suppress(Exception):
        closed = close()
        if inspect.isawaitable(closed):
            await closed


# -- what an exception of a client states ------------------------------------------------------------


def _stated(error: Exception) -> UpstreamRefused | None:
    """The refusal that an exception states by a status or an error body; None where upstream said nothing."""
    if isinstance(error, UpstreamRefused):
        return UpstreamRefused(error.status, error.reason, error.code)  # without its context
    status = getattr(error, "status_code", getattr(getattr(error, "response", None), "status_code", None))
    body = getattr(error, "body", None)
    if not isinstance(status, int):
        status = None
        if not body or not isinstance(body, (Mapping, str)):
            return None
    facts: Any = upstream_facts(body)
    return UpstreamRefused(
        status or facts.get("upstream_status"), facts["reason"] or str(error), facts.get("upstream_code")
    )


def _refusal(error: Exception) -> UpstreamRefused | Unreachable:
    return _stated(error) or Unreachable(_told(error))


def _last_frame(error: Exception) -> object | None:
    """The frame that an exception stands for; None where it is the transport that failed."""
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError, RecursionError)):
        return b""  # a client reads JSON before it gives a frame, and this was none
    stated = _stated(error)
    return None if stated is None else {"error": stated.stated}


def _told(error: Exception) -> str:
    """What an exception and its cause say, for the host: data, never a message of ours."""
    if isinstance(error, Reasoned):
        return error.reason
    told = [error] if error.__cause__ is None else [error, error.__cause__]
    return "; ".join(f"{type(one).__name__}: {one}" for one in told)


def text_of(frame: object) -> str:
    """The text that one frame adds to the answer, for showing it as it comes; "" where it adds none.

    Args:
        frame: A frame of any kind that the assembler takes.

    Raises:
        FrameTypeError: It is none.
    """
    read = decode(frame)
    choices = read.choices if isinstance(read, Frame) and read.choices else []
    texts = [choice.delta.content for choice in choices if choice.delta and not choice.index]
    return "".join(text for text in texts if isinstance(text, str))
