"""The event stream decoder gives the same frames however the bytes are cut, and loses none in silence.

It is compared with a decoder written here from the text of the standard, line by line and all at once.
"""

from __future__ import annotations

import json
import re
import tracemalloc
from collections.abc import Iterable, Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wholecall import Assembler, Response
from wholecall.sse import SSE, SseFrame, event_frames

BOM = b"\xef\xbb\xbf"
LINES = [
    *(b"data: {}", b'data:{"a":1}', b"data: [DONE]", b"data", b"data:", b"data: \xe4\xb8\xad", b"data: \xff"),
    *(b'data: {"error":{"code":1}}', b'data: {"error":null}', b"data: null", b"data:  two", b"data : x"),
    *(b"event: error", b"event:error", b"event: ping", b"event", b": note", b":", b"id: 1", b"x", b" ", b""),
]
STREAMS = st.builds(
    lambda start, lines, end, last: start + b"".join(line + end for line in lines) + last,
    st.sampled_from([b"", BOM, b"\xef"]),
    st.lists(st.sampled_from(LINES), max_size=20),
    st.sampled_from([b"\n", b"\r", b"\r\n"]),
    st.sampled_from([b"", b"da", b"data: {", b'data: {"a":1}', b"event: e", b": n", b"  ", b"\r", b"\n"]),
)
CUTS = st.lists(st.integers(0, 500), max_size=40)


def frame_of(event: bytes, data: list[bytes]) -> SseFrame:
    text = b"\n".join(data)
    if event != b"error":
        return text
    value: object
    try:
        value = json.loads(text.decode(errors="replace"))
    except ValueError:
        value = text.decode(errors="replace")
    if isinstance(value, dict) and value.get("error"):
        return text
    return {"error": value or {}}


def oracle(stream: bytes) -> list[SseFrame]:
    """The standard's algorithm; and at the end, what stands of the event that is not finished."""
    frames: list[SseFrame] = []
    event, begun = b"", False
    data: list[bytes] = []
    *lines, last = re.split(rb"\r\n|\r|\n", stream.removeprefix(BOM))
    for line in lines:
        if not line:
            frames += [frame_of(event, data)] if data else []
            event, data, begun = b"", [], False
        begun = begun or (bool(line.strip()) and not line.startswith(b":"))
        name, _, value = line.partition(b":")
        data += [value.removeprefix(b" ")] if name == b"data" else []
        event = value.removeprefix(b" ") if name == b"event" else event
    if last.strip() and not last.startswith(b":"):
        begun = True
        name, colon, value = last.partition(b":")
        data += [] if colon and name != b"data" else [value.removeprefix(b" ") if colon else last]
        event = value.removeprefix(b" ") if name == b"event" and colon else event
    return [*frames, frame_of(event, data) if data else b""] if begun else frames


def pieces(stream: bytes, cuts: Iterable[int]) -> Iterator[bytes]:
    """The stream cut at these places; some pieces may be empty."""
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    for start, end in pairwise(places):
        yield stream[start:end]


def frames_of(*chunks: bytes) -> list[SseFrame]:
    return list(event_frames(chunks))


def respond(*chunks: bytes) -> Response:
    assembler = Assembler()
    for frame in event_frames(chunks):
        assembler.feed(frame)
    return assembler.close()


@given(STREAMS, CUTS)
def test_any_stream_cut_anywhere_is_read_as_the_standard_says(stream: bytes, cuts: list[int]) -> None:
    assert frames_of(*pieces(stream, cuts)) == oracle(stream)


@given(STREAMS)
def test_a_stream_that_comes_byte_by_byte_is_the_same(stream: bytes) -> None:
    assert frames_of(*(stream[at : at + 1] for at in range(len(stream)))) == frames_of(stream)


@given(st.lists(st.sampled_from(LINES), max_size=20), CUTS)
def test_the_three_line_ends_are_equal(lines: list[bytes], cuts: list[int]) -> None:
    given_frames = [
        frames_of(*pieces(b"".join(line + end for line in lines), cuts)) for end in (b"\n", b"\r", b"\r\n")
    ]

    assert given_frames[0] == given_frames[1] == given_frames[2]


@given(st.lists(st.sampled_from([b"{}", b"[DONE]", b"data: {}", b" x"]), max_size=8), CUTS)
def test_events_of_one_line_are_read_as_they_stand(texts: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(b"data: " + text + b"\n\n" for text in texts)

    assert frames_of(*pieces(stream, cuts)) == texts


def test_a_frame_is_given_as_soon_as_its_event_ends() -> None:
    sse = SSE()

    assert list(sse.feed(b"data: 1\n\nda")) == [b"1"]
    assert list(sse.feed(b"ta: 2\n")) == []
    assert list(sse.feed(b"\n")) == [b"2"]
    assert list(sse.feed(b"data: 3\r\n\r")) == [b"3"]
    assert list(sse.feed(b"\ndata: 4\r\r")) == [b"4"]
    assert list(sse.close()) == []


@pytest.mark.parametrize(
    ("stream", "frames"),
    [
        pytest.param(b"data: a\ndata: b\n\n", [b"a\nb"], id="several lines of data are joined"),
        pytest.param(b": hello\n\n:\n\ndata: a\n\n", [b"a"], id="comments say nothing"),
        pytest.param(b"data:a\n\n", [b"a"], id="the space is optional"),
        pytest.param(b"data:  a\n\n", [b" a"], id="only one space is taken"),
        pytest.param(b"id: 1\nretry: 5\nfoo: bar\ndata: a\n\n", [b"a"], id="other fields are ignored"),
        pytest.param(b"data\n\n", [b""], id="a field without colon is empty"),
        pytest.param(b"id: 1\n\nevent: ping\n\n", [], id="an event without data is none"),
        pytest.param(b"event: ping\ndata: {}\n\n", [b"{}"], id="the names of events are not looked at"),
        pytest.param(BOM + b"data: a\n\n", [b"a"], id="a byte order mark may stand first"),
        pytest.param(b"data: a\n\n" + BOM + b"data: b\n\n", [b"a"], id="and nowhere else"),
        pytest.param(b"\n\n\ndata: a\n\n\n\n\ndata: b\n\n", [b"a", b"b"], id="more blank lines than needed"),
        pytest.param(b"", [], id="nothing at all"),
        pytest.param(BOM, [], id="nothing but the mark"),
    ],
)
def test_the_grammar(stream: bytes, frames: list[SseFrame]) -> None:
    assert frames_of(stream) == frames


@pytest.mark.parametrize(
    ("data", "frame"),
    [
        (b'{"message":"no"}', {"error": {"message": "no"}}),
        (b"not json", {"error": "not json"}),
        (b"\xff", {"error": "\ufffd"}),
        (b"[" * 100_000, {"error": "[" * 100_000}),
        (b'{"error":null}', {"error": {"error": None}}),
        (b"", {"error": {}}),
        (b"null", {"error": {}}),
        (b'{"error":{"code":503}}', b'{"error":{"code":503}}'),
        (b'{"error":"no"}', b'{"error":"no"}'),
    ],
)
def test_an_error_event_is_an_error_whatever_its_data(data: bytes, frame: SseFrame) -> None:
    stream = b"event: error\ndata: " + data + b"\n\n"

    assert frames_of(stream) == [frame]
    assert respond(stream).fault == "upstream.error"


FINISH = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'


@pytest.mark.parametrize("ending", [b"", b"\n", b"\n\n", b"\r", b"\r\n"])
def test_a_last_event_without_its_blank_line_counts_where_it_is_whole(ending: bytes) -> None:
    """The standard would throw it away; nothing is guessed by not doing so."""
    whole = FINISH.rstrip() + ending

    assert respond(whole).outcome == "answered"
    assert respond(FINISH, b"data: [DONE]" + ending).rows[-3] == "S20"


@pytest.mark.parametrize("cut", range(1, len(FINISH.rstrip())))
def test_a_last_event_that_was_cut_refuses_the_response(cut: int) -> None:
    """Wherever it was cut, and also where the response had finished before: something more was coming."""
    response = respond(FINISH, FINISH[:cut])

    assert (response.outcome, response.fault) == ("rejected", "stream.bad_frame")


@pytest.mark.parametrize("rest", [b"", b"\n", b": bye", b": bye\n", b"  ", b"\n  "])
def test_what_is_no_event_is_no_cut(rest: bytes) -> None:
    assert respond(FINISH, rest).outcome == "answered"


@pytest.mark.parametrize("rest", [b"event: error\n", b"id: 7", b"retry"])
def test_an_event_cut_before_its_data_is_a_bad_frame_too(rest: bytes) -> None:
    assert respond(FINISH, rest).fault == "stream.bad_frame"


def test_closing_again_gives_nothing() -> None:
    sse = SSE()
    sse.feed(b"data: a")

    assert list(sse.close()) == [b"a"]
    assert list(sse.close()) == []


def test_where_the_transport_fails_the_unfinished_event_is_not_given() -> None:
    """Whoever reads learns of the failure, and tells the assembler."""

    def failing() -> Iterator[bytes]:
        yield b"data: a\n\ndata: b"
        raise ConnectionResetError

    frames = event_frames(failing())

    assert next(frames) == b"a"
    with pytest.raises(ConnectionResetError):
        next(frames)


def test_only_the_unfinished_event_is_held() -> None:
    """Thirty megabytes pass through in less than one."""
    chunk = b"data: " + b"x" * 1000 + b"\n\n"
    sse = SSE()
    tracemalloc.start()
    for _ in range(3_000):
        assert len(sse.feed(chunk * 10)) == 10
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 1_000_000
