"""A response is one however its frames are given: as objects, as JSON text in any spelling, through a client.

Frames are random, with fields of wrong types and containers, so that what is refused is refused alike.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

import httpx2
import openai
import pytest
from frames import FINISH, RANDOM, SPREAD, Fields, fragment, frame, units
from hypothesis import assume, given, note, settings
from openai.types.chat import ChatCompletionChunk

from wholecall import Assembler, Limits, Response

# -- random frames ---------------------------------------------------------------------------------

HIGH, LOW = "\ud83d", "\ude00"
LETTERS = [*'{}[]":,\\ /a1\n\x00é\u2028', "\U0001f600", HIGH, LOW, HIGH + LOW]
JUNK: list[Any] = [
    None,
    True,
    0,
    1,
    -1,
    2,
    2**70,
    0.0,
    -1.5,
    1e300,
    "",
    "0",
    "a",
    LOW,
    [],
    {},
    [None],
    {"x": [1]},
]
KEYS = ["index", "id", "type", "name", "delta", "message", "function_call", "error", "content", "x"]


BEGIN = frame(*(fragment(index, id=f"id{index}", name="look") for index in (0, 1)))


def good(random: Random) -> Fields:
    """A frame that is refused by nothing but a limit or the end of the stream."""
    text = "".join(random.choices(LETTERS, k=random.randint(0, 4)))
    index = random.randint(0, 1)
    return random.choice(
        [
            frame(fragment(index, arguments=text)),
            frame(fragment(index, arguments=text), fragment(1 - index, id=None, arguments="")),
            frame(fragment(index, id=f"id{index}", name=None, type="function")),
            {"choices": [{"index": 0, "delta": {"content": text}}], "usage": None},
            FINISH,
        ]
    )


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container within a value, with each of its keys."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


def spoil(random: Random, frame: Fields) -> None:
    """Change one place of it: take it out, put something else there, or add another key beside it."""
    container, key = random.choice(list(places(frame)))
    change = random.choice(["out", "other", "other", "beside"])
    if change == "out":
        del container[key]
    elif change == "beside" and isinstance(container, dict):
        container[random.choice(KEYS)] = copy.deepcopy(random.choice(JUNK))
    else:
        container[key] = copy.deepcopy(random.choice(JUNK))


def some_frames(random: Random) -> list[Fields]:
    frames = [BEGIN] * random.choice([0, 1, 1, 1]) + [good(random) for _ in range(random.randint(0, 5))]
    frames = copy.deepcopy(frames + [FINISH] * random.randint(0, 1))
    for _ in range(random.choice([0, 1, 1, 2])):
        spoil(random, random.choice([each for each in frames if each] or [{"choices": []}]))
    return frames


def respond(frames: Iterable[object]) -> Response:
    """The response, with diagnostics that differ only where the refusals do."""
    assembler = Assembler(limits=Limits(calls=3, name=4, arguments=9, depth=3), correlation_id="same")
    for each in frames:
        assembler.feed(each)
    return assembler.close()


# -- one response in every spelling ------------------------------------------------------------------


def space(random: Random) -> str:
    return "".join(random.choices(" \t\n\r", k=random.choice([0, 0, 0, 1, 2])))


def letter(random: Random, unit: str) -> str:
    short = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\n": "\\n"}
    number = f"\\u{ord(unit):04x}"
    forms = [number, number.upper().replace("U", "u"), *([short[unit]] if unit in short else [])]
    if unit >= " " and unit not in '"\\' and not 0xD800 <= ord(unit) <= 0xDFFF:
        forms += [unit] * 6
    return random.choice(forms)


def spelled(random: Random, value: Any) -> str:
    """A JSON text of the value: any white space, any escapes, and sometimes a key that comes twice."""
    if isinstance(value, str):
        letters = units(value) if random.random() < 0.7 else value
        text = '"' + "".join(letter(random, u) if ord(u) < 0x10000 else u for u in letters) + '"'
    elif isinstance(value, list):
        text = "[" + ",".join(spelled(random, item) for item in value) + space(random) + "]"
    elif isinstance(value, dict):
        members = list(value.items())
        if members and random.random() < 0.1:  # of a key twice the last counts, whatever stood before
            members.insert(0, (random.choice(members)[0], random.choice([7, "x", None, [], {"choices": 7}])))
        pairs = ",".join(spelled(random, key) + ":" + spelled(random, each) for key, each in members)
        text = "{" + pairs + space(random) + "}"
    else:
        text = json.dumps(value)
    return space(random) + text + space(random)


@settings(SPREAD, max_examples=100)
@given(RANDOM)
def test_a_frame_is_the_same_as_object_text_bytes_and_bytearray(random: Random) -> None:
    frames = some_frames(random)
    texts = [spelled(random, frame) for frame in frames]
    note(repr(frames) + repr(texts))
    expected = respond(frames)

    assert respond(texts) == expected
    assert respond([text.encode() for text in texts]) == expected
    assert respond([bytearray(text.encode()) for text in texts]) == expected
    assert respond([json.dumps(frame) for frame in frames]) == expected
    assert respond([random.choice(both) for both in zip(frames, texts, strict=True)]) == expected


@pytest.mark.parametrize("index", [2**31, 2**53, 2**64, 2**70, 10**300], ids=int.bit_length)
def test_a_great_index_is_the_same_as_object_and_as_text(index: int) -> None:
    frames = [
        frame(fragment(index, id="a", name="look", arguments="{")),
        frame(fragment(index, arguments="}")),
        FINISH,
    ]

    assert respond(frames).outcome == "whole"
    assert respond([json.dumps(each) for each in frames]) == respond(frames)


@settings(SPREAD, max_examples=40)
@given(RANDOM)
def test_reading_changes_no_frame(random: Random) -> None:
    frames = some_frames(random)
    before = json.dumps(frames)
    respond(frames)

    assert json.dumps(frames) == before


# -- through the real client -------------------------------------------------------------------------

HEAD = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "m"}


class Client:
    """The real client, which is answered with an event stream of the frames at hand."""

    def __init__(self) -> None:
        self.frames: list[Fields] = []
        http = httpx2.Client(transport=httpx2.MockTransport(self._answer))
        self._client = openai.OpenAI(api_key="none", base_url="http://test", http_client=http)

    def _answer(self, _: httpx2.Request) -> httpx2.Response:
        body = "".join(f"data: {json.dumps(HEAD | frame)}\n\n" for frame in self.frames)
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, content=f"{body}data: [DONE]\n\n".encode())

    def chunks(self, frames: list[Fields]) -> list[ChatCompletionChunk]:
        self.frames = frames
        with self._client.chat.completions.create(model="m", messages=[], stream=True) as stream:
            return list(stream)


@pytest.fixture(scope="module")
def client() -> Client:
    return Client()


CLIENT: dict[str, tuple[Fields, str | None]] = {
    "omitted": (fragment(0, arguments="{}"), None),
    "null": (fragment(0, id=None, arguments="{}"), None),
    "the same id": (fragment(0, id="id0", arguments="{}"), None),
    "empty": (fragment(0, id="", arguments="{}"), "identity.conflict"),
    "another id": (fragment(0, id="id1", arguments="{}"), "identity.conflict"),
    "a number": (fragment(0, id=7, arguments="{}"), "identity.type"),
    "an object": (fragment(0, arguments={}), "arguments.type"),
    "a name that is null": (fragment(0, name=None, arguments="{}"), None),
    "a name that is a list": (fragment(0, name=[]), "name.type"),
    "no function": ({"index": 0}, "syntax.incomplete"),
    "no index": ({"id": "id0"}, "index.missing"),
    "a null index": ({"index": None, "id": "id0"}, "index.missing"),
    "a negative index": ({"index": -1}, "index.type"),
    "another type": ({"index": 0, "type": "custom"}, "stream.bad_frame"),
    "null first": (fragment(1, id=None, arguments="{}"), "identity.null_first"),
    "omitted first": (fragment(1, name="look", arguments="{}"), "identity.missing"),
}


@pytest.mark.parametrize(("part", "fault"), CLIENT.values(), ids=CLIENT)
def test_the_chunks_of_the_openai_client_say_what_the_wire_said(
    client: Client, part: Fields, fault: str | None
) -> None:
    """Omitted, null, empty and wrong stay four different facts. One call is open, the other is not."""
    frames = [frame(fragment(0, id="id0", name="look")), frame(part), FINISH]
    chunks = client.chunks(frames)

    assert {type(chunk) for chunk in chunks} == {ChatCompletionChunk}
    assert respond(chunks).fault == fault
    assert respond(chunks) == respond(frames)


@settings(SPREAD, max_examples=60)
@given(RANDOM)
def test_random_frames_are_the_same_through_the_openai_client(client: Client, random: Random) -> None:
    """But for what the client does itself: it raises an error, and makes an integer of "0", 0.0 and true."""
    frames = [frame for frame in some_frames(random) if not frame.get("error")]
    made = any(key == "index" and type(holder[key]) in (str, float, bool) for holder, key in places(frames))
    assume(not made)
    note(repr(frames))

    assert respond(client.chunks(frames)) == respond(frames)
