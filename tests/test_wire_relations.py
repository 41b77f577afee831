"""Relations that hold for any correct assembler, ours or not (design §5), and the wire bytes cut anywhere.

A response is rebuilt in another way that must not matter, and compared with itself; no expected value is
written down.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from frames import FINISH, RANDOM, SPREAD, Fields, frame, units
from hypothesis import given, note, settings

from wholecall import Assembler, Response
from wholecall.sse import SSE

Parts = list[Fields]

SMILE = "\U0001f600"
TEXTS = [
    "{}",
    "",
    ' {"a" : [1, -0.5e3, true, null]} ',
    f'{{"é{SMILE}":"\\ud83d\\ude00 \\n \\\\ \\" {SMILE}\u2028"}}',
    '{"a":"\\u00e9","a":1}',
    '{"page":1',
    '{"a":"\\ud83d"}',
    "[[[[]]]]",
    "{} {}",
]
"""Whole, cut and wrong argument texts."""


USAGE: list[Fields] = [
    {"choices": [], "usage": {"total_tokens": 1}},
    {"choices": [{"index": 0, "delta": {"content": ""}}]},
    {"choices": [{"index": 0, "delta": {"role": "assistant"}, "finish_reason": None}]},
    {},
]


def respond(frames: list[Any]) -> Response:
    assembler = Assembler(correlation_id="same")
    for each in frames:
        assembler.feed(each)
    return assembler.close()


def told(response: Response) -> tuple[object, ...]:
    """All but the rows, and the ordinal of the fragment that was refused."""
    faults = [{**found.to_record(), "fragment": None} for found in response.faults]
    return response.outcome, response.fault, faults, response.calls, response.content


def pieces(random: Random, text: str, most: int = 5) -> list[str]:
    """The text cut at random places, within escapes and characters too."""
    letters = units(text)
    cuts = sorted(random.choices(range(len(letters) + 1), k=random.randint(0, most)))
    return ["".join(letters[a:b]) for a, b in zip([0, *cuts], [*cuts, len(letters)], strict=True)]


def call(random: Random, index: int, text: str) -> Parts:
    """The fragments of one call, its id in the first and in none after it."""
    first = {"index": index, "id": f"id{index}", "function": {"name": "look"}}
    return [first, *({"index": index, "function": {"arguments": piece}} for piece in pieces(random, text))]


def mixed(random: Random, calls: list[Parts]) -> Parts:
    """The fragments of all calls interleaved, those of each call in their order."""
    order = [at for at, parts in enumerate(calls) for _ in parts]
    random.shuffle(order)
    waiting = [iter(parts) for parts in calls]
    return [next(waiting[at]) for at in order]


def some_calls(random: Random) -> list[Parts]:
    return [
        call(random, index, random.choice(TEXTS)) for index in random.sample(range(9), random.randint(1, 3))
    ]


# -- relations -------------------------------------------------------------------------------------


@settings(SPREAD, max_examples=40)
@given(RANDOM)
def test_once_an_id_stands_null_omitted_and_the_same_id_are_one(random: Random) -> None:
    fragments = mixed(random, some_calls(random))
    with_null = [part if "id" in part else part | random.choice([{}, {"id": None}]) for part in fragments]
    with_id = [part if "id" in part else part | {"id": f"id{part['index']}"} for part in fragments]
    omitted = respond([*map(frame, fragments), FINISH])
    null = respond([*map(frame, with_null), FINISH])

    assert told(null) == told(omitted) == told(respond([*map(frame, with_id), FINISH]))
    assert [{"I14": "I13"}.get(row, row) for row in null.rows] == list(omitted.rows)


@pytest.mark.parametrize("text", TEXTS)
def test_arguments_may_be_cut_between_any_two_code_units(text: str) -> None:
    """Also within an escape and within a character; as objects and as JSON text."""
    begin = frame({"index": 0, "id": "a", "function": {"name": "look"}})
    whole = told(respond([begin, frame({"index": 0, "function": {"arguments": text}}), FINISH]))
    letters = units(text)
    for cut in range(len(letters) + 1):
        both = ["".join(letters[:cut]), "".join(letters[cut:])]
        frames = [begin, *(frame({"index": 0, "function": {"arguments": piece}}) for piece in both), FINISH]

        assert told(respond(frames)) == whole
        assert told(respond([json.dumps(each).encode() for each in frames])) == whole
    each_alone = [frame({"index": 0, "function": {"arguments": unit}}) for unit in letters]
    assert told(respond([begin, *each_alone, FINISH])) == whole


@settings(SPREAD, max_examples=40)
@given(RANDOM)
def test_a_stream_may_be_cut_into_other_fragments_and_other_frames(random: Random) -> None:
    """Joined again into one fragment a call, all in one frame, with the finish reason beside them."""
    calls = some_calls(random)
    apart = respond([*map(frame, mixed(random, calls)), FINISH])
    fragments = [
        {
            **first,
            "function": {"name": "look", "arguments": "".join(p["function"]["arguments"] for p in rest)},
        }
        for first, *rest in calls
    ]

    assert told(respond([frame(*fragments, finish="tool_calls")])) == told(apart)
    assert told(respond([frame(*mixed(random, calls), finish="tool_calls")])) == told(apart)


FAULTY: dict[str, Callable[[Parts], Parts]] = {
    "nothing": lambda parts: parts,
    "another id": lambda parts: [*parts, {"index": parts[0]["index"], "id": "other"}],
    "a null id first": lambda parts: [{**parts[0], "id": None}, *parts[1:]],
    "no id": lambda parts: [{**part, "id": ""} for part in parts],
    "no name": lambda parts: [{**parts[0], "function": {}}, *parts[1:]],
    "a wrong name": lambda parts: [*parts, {"index": parts[0]["index"], "function": {"name": []}}],
    "cut": lambda parts: [*parts, {"index": parts[0]["index"], "function": {"arguments": "{"}}],
    "an object": lambda parts: [*parts, {"index": parts[0]["index"], "function": {"arguments": {}}}],
    "no object": lambda parts: [parts[0], {"index": parts[0]["index"], "function": {"arguments": "[]"}}],
}


@pytest.mark.parametrize("change", FAULTY.values(), ids=FAULTY)
@settings(SPREAD, max_examples=12)
@given(random=RANDOM)
def test_fragments_of_different_indices_may_come_in_any_order(
    change: Callable[[Parts], Parts], random: Random
) -> None:
    """At most one call is faulty. What refuses at once ends the reading, so of such only the fault is one."""
    calls = [call(random, index, "{}") for index in random.sample(range(9), 3)]
    calls[0] = change(calls[0])
    one, other = (respond([*map(frame, mixed(random, calls)), FINISH]) for _ in range(2))

    assert (one.outcome, one.fault) == (other.outcome, other.fault)
    assert (one.fault is None) == (change is FAULTY["nothing"])
    if "P05" in one.rows or "P02" in one.rows:
        assert told(one) == told(other)


@settings(SPREAD, max_examples=40)
@given(RANDOM)
def test_content_and_usage_between_fragments_change_nothing_of_the_calls(random: Random) -> None:
    plain: list[Any] = [*map(frame, mixed(random, some_calls(random))), FINISH]
    between = list(plain)
    for _ in range(random.randint(1, 4)):
        between.insert(random.randint(0, len(between)), random.choice(USAGE))

    assert told(respond(between)) == told(respond(plain))


def broken(random: Random, frames: list[Any]) -> list[Any]:
    odd = ["{", {"error": "e"}, frame({"index": 0, "id": None}), frame({"index": None}), "[DONE]"]
    return [*frames[: random.randint(0, len(frames))], random.choice(odd)]


@settings(SPREAD, max_examples=25)
@given(RANDOM)
def test_what_one_response_did_changes_nothing_in_another(random: Random) -> None:
    """In any order, and read at the same time; some of them refused."""
    streams: list[list[Any]] = [[*map(frame, mixed(random, some_calls(random))), FINISH] for _ in range(4)]
    streams = [broken(random, frames) if random.random() < 0.5 else frames for frames in streams]
    alone = [respond(frames) for frames in streams]
    backwards = [respond(frames) for frames in reversed(streams)][::-1]
    assemblers = [Assembler(correlation_id="same") for _ in streams]
    for at in range(max(map(len, streams))):
        for assembler, frames in zip(assemblers, streams, strict=True):
            for each in frames[at : at + 1]:
                assembler.feed(each)

    assert backwards == alone
    assert [assembler.close() for assembler in assemblers] == alone


# -- the bytes of an event stream, cut anywhere ---------------------------------------------------------

ARGUMENTS = f'{{"a":"é{SMILE}\u2028"}}'


def body(end: str, last: str, space: str) -> bytes:
    """An event stream with this line end and these last bytes, and characters of one to four bytes."""
    begin = frame({"index": 0, "id": "a", "function": {"name": "look"}})
    frames = [begin, frame({"index": 0, "function": {"arguments": ARGUMENTS}}), FINISH]
    texts = [json.dumps(each, ensure_ascii=each is begin) for each in frames]
    events = [f"data:{space}{text}{end}{end}" for text in texts]
    return ("\ufeff: hello" + end + end + f"event: x{end}id: 7{end}".join(events) + last).encode()


def decoded(*chunks: bytes) -> list[object]:
    sse = SSE()
    frames: list[object] = []
    for chunk in chunks:
        frames += sse.feed(chunk)
    return [*frames, *sse.close()]


BODIES: dict[str, tuple[bytes, str | None]] = {
    "LF": (body("\n", "data: [DONE]\n\n", " "), None),
    "CRLF": (body("\r\n", "data: [DONE]\r\n\r\n", " "), None),
    "CR": (body("\r", "data:[DONE]\r\r", ""), None),
    "no end marker": (body("\n", "", " "), None),
    "an end marker without a blank line": (body("\r\n", "data: [DONE]", ""), None),
    "an error event": (body("\n", "event: error\ndata: é\n\n", " "), "upstream.error"),
    "a cut event": (body("\n", 'data: {"choices":[{"del', " "), "stream.bad_frame"),
    "a wrong byte": (body("\n", "", " ") + b'data: {"x":"\xff"}\n\n', "stream.bad_frame"),
}


@pytest.mark.parametrize(("data", "fault"), BODIES.values(), ids=BODIES)
def test_the_same_bytes_cut_at_every_place_give_the_same_response(data: bytes, fault: str | None) -> None:
    """The same frames, so the same response."""
    frames = decoded(data)
    whole = respond(frames)

    assert whole.fault == fault
    assert [found.arguments for found in whole.calls] == [ARGUMENTS]
    for cut in range(len(data) + 1):
        assert decoded(data[:cut], data[cut:]) == frames
    assert decoded(*(bytes([byte]) for byte in data)) == frames


def chunks(random: Random, data: bytes) -> Iterator[bytes]:
    while data:
        size = random.choice([0, 1, 2, 3, 7, len(data)])
        yield data[:size]
        data = data[size:]


@settings(SPREAD, max_examples=50)
@given(RANDOM)
def test_the_same_bytes_in_any_chunks_give_the_same_response(random: Random) -> None:
    data, fault = random.choice(list(BODIES.values()))
    cut = list(chunks(random, data))
    note(repr(cut))
    response = respond(decoded(*cut))

    assert response.fault == fault
    assert response == respond(decoded(data))
