"""A real upstream: an HTTP server on loopback that speaks Chat Completions, reply by reply, as a script says.

    with Upstream(Refusal(429), [*text("Hello"), finish("stop"), DONE]) as upstream:
        async with client_of(upstream.url) as client:
            ...

A reply is a `Refusal`, `NO_ANSWER`, `HANG_UP`, or a list of steps: a dict is sent as an event, a str is the
data of an event, bytes go onto the wire as they are, and `Pause`, `STALL`, `CUT` and `RESET` do what they
say. The end of the list closes the response cleanly. Requests beyond the script are answered by `then`;
without one they are an error, raised on exit, so that every test counts its requests.
"""

from __future__ import annotations

import itertools
import json
import select
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, TypeAlias

import openai


class Do(Enum):
    """What a server can do to a connection."""

    STALL = auto()  # send nothing more, until the client leaves
    CUT = auto()  # close the connection in the middle of the response
    RESET = auto()  # the same, with a reset
    NO_ANSWER = auto()  # read the request and send not even a status
    HANG_UP = auto()  # read the request and close


STALL, CUT, RESET, NO_ANSWER, HANG_UP = Do
DONE = "[DONE]"


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Refusal:
    status: int
    body: object = field(default_factory=lambda: {"error": {"message": "no"}})
    headers: Mapping[str, str] = field(default_factory=dict)


Step: TypeAlias = Mapping[str, object] | str | bytes | Pause | Do
Reply: TypeAlias = Refusal | Do | Sequence[Step]


class Upstream:
    """The server; it runs in threads of its own while the context is open.

    Attributes:
        url: What the client takes as `base_url`.
        requests: The body of every request, in order.
        headers: The headers of every request.
        connections: How many connections were opened.
        left: How many clients left before a reply was over.
    """

    def __init__(self, *replies: Reply, then: Reply | None = None) -> None:
        endless = itertools.repeat(then) if then is not None else ()
        self.replies: Iterator[Reply] = itertools.chain(replies, endless)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.connections = 0
        self.left = 0
        self.errors: list[BaseException] = []
        self.changed = threading.Condition()
        self.stopping = threading.Event()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Upstream:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.hang_up()
        self._server.server_close()  # joins the threads of the connections
        if self.errors and error is None:
            raise self.errors[0]

    def next_reply(self, body: dict[str, Any], headers: dict[str, str]) -> Reply:
        with self.changed:
            self.requests.append(body)
            self.headers.append(headers)
            self.changed.notify_all()
            reply = next(self.replies, None)
            if reply is None:
                self.errors.append(AssertionError(f"request {len(self.requests)} is beyond the script"))
                return Refusal(500, {"error": {"message": "the script is over"}})
            return reply

    def client_left(self) -> None:
        with self.changed:
            self.left += 1
            self.changed.notify_all()

    def wait_left(self, count: int = 1, timeout: float = 5) -> bool:
        """Whether so many clients left in time."""
        with self.changed:
            return self.changed.wait_for(lambda: self.left >= count, timeout)

    def wait_requests(self, count: int, timeout: float = 5) -> bool:
        """Whether so many requests came in time."""
        with self.changed:
            return self.changed.wait_for(lambda: len(self.requests) >= count, timeout)


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 128

    def __init__(self, upstream: Upstream) -> None:
        self.upstream = upstream
        self.sockets: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.upstream.connections += 1
        self.sockets.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.sockets.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Wake the threads that wait for another request of a client that is still connected."""
        for connection in list(self.sockets):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, *_: object) -> None:
        error = sys.exc_info()[1]
        assert error is not None
        if not isinstance(error, ConnectionError):
            self.upstream.errors.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        upstream = self.server.upstream
        length = int(self.headers["content-length"])
        body = json.loads(self.rfile.read(length))
        reply = upstream.next_reply(body, {name.lower(): value for name, value in self.headers.items()})
        try:
            if isinstance(reply, Refusal):
                self._refuse(reply)
            elif isinstance(reply, Do):
                self._do(reply)
            else:
                self._stream(reply)
        except ConnectionError:
            self.close_connection = True
            upstream.client_left()

    def _refuse(self, refusal: Refusal) -> None:
        body = refusal.body if isinstance(refusal.body, (str, bytes)) else json.dumps(refusal.body)
        data = body.encode() if isinstance(body, str) else body
        self.send_response(refusal.status)
        for name, value in {"content-type": "application/json", **refusal.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, steps: Sequence[Step]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for step in steps:
            if isinstance(step, Pause):
                self._idle(step.seconds)
            elif isinstance(step, Do):
                self._do(step)
                return
            elif isinstance(step, bytes):
                self._send(step)
            else:
                data = step if isinstance(step, str) else json.dumps(step)
                self._send(f"data: {data}\n\n".encode())
        self.wfile.write(b"0\r\n\r\n")

    def _send(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _do(self, what: Do) -> None:
        self.close_connection = True
        if what is Do.RESET:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        elif what in (Do.STALL, Do.NO_ANSWER):
            self._idle(None)

    def _idle(self, seconds: float | None) -> None:
        """Wait; ConnectionError where the client leaves meanwhile."""
        until = None if seconds is None else time.monotonic() + seconds
        while not self.server.upstream.stopping.is_set():
            left = 0.02 if until is None else min(0.02, until - time.monotonic())
            if left <= 0:
                return
            readable, _, _ = select.select([self.connection], [], [], left)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                raise ConnectionAbortedError


# -- the client --------------------------------------------------------------------------------------


@cache
def _tls() -> ssl.SSLContext:
    """Made once: reading the certificates takes longer than any test, and http needs none."""
    return ssl.create_default_context()


def http_client() -> openai.DefaultAsyncHttpxClient:
    """What the client sends its requests by."""
    return openai.DefaultAsyncHttpxClient(verify=_tls())


@asynccontextmanager
async def client_of(url: str, **options: Any) -> AsyncIterator[openai.AsyncOpenAI]:
    """The real client, closed at the end."""
    async with openai.AsyncOpenAI(base_url=url, api_key="x", http_client=http_client(), **options) as client:
        yield client


# -- frames ------------------------------------------------------------------------------------------


def chunk(
    delta: Mapping[str, object] | None = None, finish_reason: str | None = None, choice: int = 0
) -> dict[str, object]:
    """One frame, with everything that a provider puts around it."""
    part = {"index": choice, "delta": dict(delta or {}), "finish_reason": finish_reason}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1764500000,
        "model": "test-model",
        "choices": [part],
    }


def text(*pieces: str) -> list[dict[str, object]]:
    """The frames of an answer's text."""
    return [chunk({"content": piece}) for piece in pieces]


def call(index: int, id: str, name: str, *pieces: str, null: bool = False) -> list[dict[str, object]]:
    """The frames of one call, whose continuations omit its id and name, or have them null."""
    again: dict[str, object] = {"id": None, "type": None} if null else {}
    named: dict[str, object] = {"name": None} if null else {}
    first = {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}
    rest = [{"index": index, **again, "function": {**named, "arguments": piece}} for piece in pieces]
    return [chunk({"tool_calls": [fragment]}) for fragment in (first, *rest)]


def finish(reason: str = "tool_calls") -> dict[str, object]:
    """The frame that ends choice 0."""
    return chunk({}, reason)


def answer(*pieces: str) -> list[Step]:
    """A whole response of text."""
    return [*text(*pieces), finish("stop"), DONE]


def calls(*parts: Sequence[Step]) -> list[Step]:
    """A whole response of calls: `calls(call(0, ...), call(1, ...))`."""
    return [*itertools.chain(*parts), finish(), DONE]
