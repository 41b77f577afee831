"""A transport without a network: a client's own HTTP library answers each request with the stream at hand.

The whole front door of a client is driven: HTTP, event stream, validation, accumulation. All Python clients
here stand on the openai client, and so on the HTTP library that it stands on.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Final, NamedTuple, TypeVar

import openai

from wholecall.errors import Skip

BASE_URL: Final = "http://wholecall.invalid/v1"
"""Where clients are told to send their requests; nothing leaves the process."""
KEY: Final = "none"
"""The API key that clients are given."""
MODEL: Final = "gpt-4o"
"""The model that clients ask for: several know their own models by name, and how to speak to them."""

_ENVELOPE: Final = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
_USAGE: Final = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
_HEADERS: Final = {"content-type": "text/event-stream"}
_EOF: Final = {"eof": True}
_ABORT: Final = {"abort": True}

T = TypeVar("T")


def events(chunks: Iterable[object]) -> list[bytes]:
    """The chunks of a stream as events, up to the one that ends it.

    On the wire a frame has `id`, `object`, `created` and `model`, a usage all its counts, and the fragment
    with the id a `type`. No row reads them, and several clients stop where one is missing; so what is omitted
    of these is filled in. Of an error, nothing is changed.

    Raises:
        Skip: The raw text of a frame cannot stand in an event stream.
    """
    return [_event(chunk) for chunk in _until_end(chunks)]


def _until_end(chunks: Iterable[object]) -> Iterator[object]:
    for chunk in chunks:
        if chunk in (_EOF, _ABORT):
            return
        yield chunk


def _event(chunk: object) -> bytes:
    if isinstance(chunk, dict) and not chunk.get("error"):
        chunk = _filled_in(chunk)
    text = chunk if isinstance(chunk, str) else json.dumps(chunk)
    with suppress(UnicodeEncodeError):
        if "\r" not in text:  # it would come out as a line feed
            return b"".join(b"data: %b\n" % line for line in text.encode().split(b"\n")) + b"\n"
    raise Skip("the raw text of a frame cannot stand in an event stream")


def _filled_in(frame: dict[str, Any]) -> dict[str, Any]:
    filled: dict[str, Any] = {**_ENVELOPE, **deepcopy(frame)}
    if isinstance(filled.get("usage"), dict):
        filled["usage"] = {**_USAGE, **filled["usage"]}
    for choice in _objects([filled], "choices"):
        for fragment in _objects([choice.get("delta")], "tool_calls"):
            if isinstance(fragment.get("id"), str):
                fragment.setdefault("type", "function")
    return filled


class Sent(NamedTuple):
    """What a stream says of one call.

    Attributes:
        id: The first id that is text and not empty; None where there is none.
        name: Its name, joined.
    """

    id: str | None
    name: str


def sent(chunks: Iterable[object]) -> list[Sent]:
    """The calls that a stream speaks of, each by choice and index, in the order in which they begin."""
    found: dict[str, list[dict[str, Any]]] = {}
    for choice in _objects(_until_end(chunks), "choices"):
        for fragment in _objects([choice.get("delta")], "tool_calls"):
            found.setdefault(json.dumps([choice.get("index"), fragment.get("index")]), []).append(fragment)
    return [
        Sent(
            next(filter(None, _texts(fragments, "id")), None),
            "".join(_texts((one.get("function") for one in fragments), "name")),
        )
        for fragments in found.values()
    ]


def tools(chunks: Iterable[object]) -> list[dict[str, Any]]:
    """A `tools=[...]` list in which every call of a stream finds its name; each takes any object.

    Some clients run, or hand out, only what they were told of.
    """
    return [_tool(name) for name in dict.fromkeys(one.name for one in sent(chunks)) if name]


def _objects(holders: Iterable[object], field: str) -> Iterator[dict[str, Any]]:
    """The objects in the lists that a field of these holds."""
    for holder in holders:
        listed = holder.get(field) if isinstance(holder, dict) else None
        yield from (one for one in listed if isinstance(one, dict)) if isinstance(listed, list) else ()


def _texts(holders: Iterable[object], field: str) -> Iterator[str]:
    """The texts that a field of these holds."""
    for holder in holders:
        text = holder.get(field) if isinstance(holder, dict) else None
        if isinstance(text, str):
            yield text


def _tool(name: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}, "additionalProperties": True}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": parameters}}


def call(id: object, name: object, arguments: object) -> dict[str, object]:
    """A call as a target answers it."""
    return {"id": id, "name": name, "arguments": arguments}


class Refused(Exception):  # noqa: N818 - what a client does to a stream is no error of ours
    """A client raised nothing, but says of all it hands out that it cannot be run."""


class Wire:
    """What a client's requests are answered with: the stream that was last given to `carry`.

    The clients are made once, for to make one costs more than to read a stream.

    Args:
        http: The HTTP library of the client, `httpx` or what stands in for it; by default that of openai.
    """

    def __init__(self, http: ModuleType | None = None) -> None:
        self._http: Any = http or _http_of_openai()
        self._events: Sequence[bytes] = ()
        self._aborts = False

    def carry(self, chunks: Sequence[object]) -> None:
        """Answer the next requests with this stream (see `events`)."""
        self._events = events(chunks)
        ends = (chunk for chunk in chunks if chunk in (_EOF, _ABORT))
        self._aborts = next(ends, _EOF) == _ABORT

    def client(self) -> openai.OpenAI:
        """An openai client over this wire; it repeats nothing."""
        return openai.OpenAI(api_key=KEY, base_url=BASE_URL, http_client=self.http_client(), max_retries=0)

    def async_client(self) -> openai.AsyncOpenAI:
        """An openai client over this wire, for an event loop; it repeats nothing."""
        return openai.AsyncOpenAI(
            api_key=KEY, base_url=BASE_URL, http_client=self.async_http_client(), max_retries=0
        )

    def http_client(self) -> Any:
        """A client of the HTTP library over this wire."""
        return self._http.Client(transport=self.transport())

    def async_http_client(self) -> Any:
        """A client of the HTTP library over this wire, for an event loop."""
        return self._http.AsyncClient(transport=self._http.MockTransport(self._respond_async))

    def transport(self) -> Any:
        """A transport of the HTTP library, for who makes the client himself."""
        return self._http.MockTransport(self._respond)

    def _respond(self, _: object) -> Any:
        return self._http.Response(200, headers=_HEADERS, content=self._body())

    async def _respond_async(self, _: object) -> Any:
        return self._http.Response(200, headers=_HEADERS, content=self._async_body())

    def _body(self) -> Iterator[bytes]:
        yield from self._events
        if self._aborts:
            raise self._http.ReadError("the connection was lost")

    async def _async_body(self) -> AsyncIterator[bytes]:
        for event in self._body():
            yield event


def _http_of_openai() -> ModuleType:
    """The HTTP library that this version of the openai client stands on."""
    base = openai.DefaultHttpxClient.__mro__[1]
    return import_module(base.__module__.partition(".")[0])


@cache
def _loop() -> asyncio.Runner:
    return asyncio.Runner()


def wait(work: Coroutine[Any, Any, T]) -> T:
    """What comes of it, in the one event loop of this process: clients keep what belongs to a loop."""
    return _loop().run(work)
