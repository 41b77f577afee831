"""Who reads, and how: each takes a stream in one form and gives the argument text of each call.

- **floor**: `orjson.loads` a frame, walk to the text, join, one strict parse a call. It checks nothing: an id
  that changes, a type that is wrong, a stream that was cut are all the same to it.
- **wholecall**: every rule of the table, the parse and the verdict, and the record of the rows that fired; by
  `read`, which is given all frames, and **one by one**, where each is fed to an assembler by itself.
- **openai state**: `ChatCompletionStreamState`. From dicts, its chunks are built before the clock starts; it
  keeps a snapshot and builds events, and neither parses nor judges the arguments.
- **openai client**: the same behind the client's own decoding, over a transport that is a list of chunks.
- **accumulate_delta**: openai's merge of plain dicts. It checks nothing, and parses nothing.
- **parts manager**: pydantic-ai's, driven as its OpenAI model does. It builds events, and parses nothing.

From bytes all but the client get their frames by `wholecall.sse`, so the framing of all is the same; the two
that take dicts get them by `orjson`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import openai
import orjson
from openai.lib.streaming._deltas import accumulate_delta
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk
from pydantic_ai._parts_manager import ModelResponsePartsManager
from pydantic_ai.models import ModelRequestParameters
from streams import Frame, Stream

from wholecall import Assembler, Response, read
from wholecall.sse import event_frames

Texts = dict[int, str]
"""The argument text of each call, by index."""

FLOOR: Final = "floor"
OURS: Final = "wholecall"
STATE: Final = "openai state"
CLIENT: Final = "openai client"

httpx = import_module("httpx2" if find_spec("httpx2") else "httpx")


@dataclass(frozen=True)
class Contender:
    """One reader of one form.

    Attributes:
        name: What the table calls it.
        prepare: Makes from the stream what is read, before the clock starts.
        read: What is timed. It gives None where it assembles nothing.
    """

    name: str
    prepare: Callable[[Stream], Any]
    read: Callable[[Any], Texts | None]


def floor(frames: Iterable[Frame]) -> Texts:
    pieces: defaultdict[int, list[str]] = defaultdict(list)
    for frame in frames:
        for choice in frame["choices"]:
            for fragment in choice["delta"].get("tool_calls", ()):
                pieces[fragment["index"]].append(fragment["function"]["arguments"])
    texts = {index: "".join(parts) for index, parts in pieces.items()}
    for text in texts.values():
        orjson.loads(text)
    return texts


def wholecall(frames: Iterable[object]) -> Texts:
    return _texts(read(frames))


def one_by_one(frames: Iterable[object]) -> Texts:
    assembler = Assembler()
    for frame in frames:
        assembler.feed(frame)
    return _texts(assembler.close())


def deltas(frames: Iterable[Frame]) -> Texts:
    message: dict[Any, Any] = {}
    for frame in frames:
        for choice in frame["choices"]:
            message = accumulate_delta(message, choice["delta"])
    return {call["index"]: call["function"]["arguments"] for call in message["tool_calls"]}


def parts(frames: Iterable[Frame]) -> Texts:
    manager = ModelResponsePartsManager(model_request_parameters=ModelRequestParameters())
    for frame in frames:
        for choice in frame["choices"]:
            for fragment in choice["delta"].get("tool_calls", ()):
                function = fragment["function"]
                manager.handle_tool_call_delta(
                    vendor_part_id=fragment["index"],
                    tool_name=function.get("name"),
                    args=function.get("arguments"),
                    tool_call_id=fragment.get("id"),
                )
    return {index: str(part.args) for index, part in enumerate(manager.get_parts())}


def state(chunks: Iterable[ChatCompletionChunk]) -> Texts:
    state = ChatCompletionStreamState()
    for chunk in chunks:
        state.handle_chunk(chunk)
    (choice,) = state.get_final_completion().choices
    return {index: call.function.arguments for index, call in enumerate(choice.message.tool_calls or ())}


def client(chunks: list[bytes]) -> Texts:
    def respond(_: object) -> Any:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=iter(chunks))

    transport = httpx.Client(transport=httpx.MockTransport(respond))
    with openai.OpenAI(api_key="none", base_url="http://bench.invalid", http_client=transport) as door:
        return state(door.chat.completions.create(model="bench", messages=[], stream=True))


def framing(chunks: Iterable[bytes]) -> None:
    for _ in event_frames(chunks):
        pass


def _texts(response: Response) -> Texts:
    assert response.outcome == "whole"
    return {call.index: call.arguments for call in response.calls}


def _decoded(read: Callable[[Iterable[Frame]], Texts], chunks: Iterable[bytes]) -> Texts:
    """Read by one that takes dicts, over the frames of an event stream."""
    return read(map(orjson.loads, iter(partial(next, event_frames(chunks)), b"[DONE]")))


def _chunk_objects(stream: Stream) -> list[ChatCompletionChunk]:
    return [ChatCompletionChunk.construct(**frame) for frame in stream.dicts()]


def _whole_stream(chunks: Iterable[bytes]) -> Texts:
    return wholecall(event_frames(chunks))


DICTS: Final = (
    Contender(FLOOR, Stream.dicts, floor),
    Contender(OURS, Stream.dicts, wholecall),
    Contender("one by one", Stream.dicts, one_by_one),
    Contender("accumulate_delta", Stream.dicts, deltas),
    Contender("parts manager", Stream.dicts, parts),
    Contender(STATE, _chunk_objects, state),
)
"""Those that read dicts, the floor first."""

BYTES: Final = (
    Contender(FLOOR, Stream.chunks, partial(_decoded, floor)),
    Contender(OURS, Stream.chunks, _whole_stream),
    Contender("framing alone", Stream.chunks, framing),
    Contender("accumulate_delta", Stream.chunks, partial(_decoded, deltas)),
    Contender("parts manager", Stream.chunks, partial(_decoded, parts)),
    Contender(CLIENT, Stream.chunks, client),
)
"""Those that read the bytes of an event stream, the floor first."""
