"""Real clients are driven over a transport that carries a stream as it was written down, and nothing else.

That needs no client but openai's. What each client makes of a stream is asked where `make clients` was run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import openai
import pytest
from frames import FINISH, fragment, frame

import wholecall
from wholecall import Skip
from wholecall.clients.adapters.openai import assemble
from wholecall.clients.serve import serve
from wholecall.clients.transport import Wire, events, sent, tools, wait

CALL = {"id": "c1", "name": "look", "arguments": '{"a":1}'}
OPENING = frame(fragment(0, id="c1", type="function", name="look", arguments='{"a":'))
WHOLE = [OPENING, frame(fragment(0, arguments="1}")), FINISH, "[DONE]"]


def data(event: bytes) -> Any:
    """The frame that an event of one line carries."""
    assert event.startswith(b"data: ")
    assert event.endswith(b"\n\n")
    return json.loads(event[6:-2])


def test_a_frame_is_an_event_and_gets_the_envelope_that_it_lacks() -> None:
    (event,) = events([{"id": "own", "choices": []}])

    assert data(event).items() >= {"id": "own", "object": "chat.completion.chunk", "choices": []}.items()
    assert data(event).keys() >= {"created", "model"}


def test_the_fragment_with_the_id_gets_the_type_that_it_lacks() -> None:
    fragments = [fragment(0, id="c1"), fragment(1, id="c2", type=None), fragment(0), fragment(2, id=None)]
    chunk = frame(*fragments)
    before = json.dumps(chunk)
    (event,) = events([chunk])

    got = data(event)["choices"][0]["delta"]["tool_calls"]
    assert got == [{**fragments[0], "type": "function"}, *fragments[1:]]
    assert json.dumps(chunk) == before


def test_a_usage_gets_the_counts_that_it_lacks() -> None:
    (event,) = events([{"usage": {"total_tokens": 9}}])

    assert data(event)["usage"].items() >= {"total_tokens": 9}.items()
    assert data(event)["usage"].keys() == {"prompt_tokens", "completion_tokens", "total_tokens"}


@pytest.mark.parametrize("chunk", [{"error": {"message": "no"}}, [], 1, None], ids=repr)
def test_what_is_no_frame_of_choices_is_sent_as_it_stands(chunk: object) -> None:
    assert data(*events([chunk])) == chunk


def test_raw_text_is_sent_as_it_stands_line_by_line() -> None:
    assert events(["[DONE]", '{"a":\n', ""]) == [
        b"data: [DONE]\n\n",
        b'data: {"a":\ndata: \n\n',
        b"data: \n\n",
    ]


@pytest.mark.parametrize("text", ["\r", "\ud800"], ids=ascii)
def test_text_that_no_event_can_hold_is_skipped(text: str) -> None:
    with pytest.raises(Skip):
        events([text])


@pytest.mark.parametrize("end", [{"eof": True}, {"abort": True}], ids=str)
def test_nothing_is_sent_after_the_end(end: object) -> None:
    assert len(events([*WHOLE, end, "more"])) == len(WHOLE)


def test_what_was_sent_is_told_by_choice_and_index() -> None:
    no_choices: list[object] = [None, [None], [{"delta": []}], [{"delta": {"tool_calls": 1}}]]
    chunks = [
        OPENING,
        frame(fragment(1, id=7, name="s"), fragment(0, id="c9", name="")),
        frame(fragment(1, id="", name="a")),
        frame(fragment(1, id="c2", name="ve"), at=1),
        frame(fragment(1, id="c3", name="ve"), {"index": 1}),
        *({"choices": wrong} for wrong in no_choices),
        "[DONE]",
        {"eof": True},
        frame(fragment(5, id="late")),
    ]

    assert sent(chunks) == [("c1", "look"), ("c3", "save"), ("c2", "ve")]


def test_a_tool_is_there_for_every_name_once_and_takes_any_object() -> None:
    listed = tools([*WHOLE, frame(fragment(1, id="c2")), frame(fragment(2, name="look"))])

    (tool,) = listed
    assert tool["function"]["name"] == "look"
    assert wholecall.read(WHOLE, listed).outcome == "whole"


def test_the_openai_client_gives_what_was_sent() -> None:
    assert assemble(WHOLE) == [CALL]
    assert assemble([frame(fragment(0, id="c1", name="up", arguments="{}")), FINISH]) == [
        {"id": "c1", "name": "up", "arguments": "{}"}
    ]


def test_an_answer_has_no_calls() -> None:
    assert assemble([{"choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}]}]) == []


def test_a_stream_that_fails_fails_in_the_client_and_leaves_the_next_alone() -> None:
    with pytest.raises(openai.APIConnectionError):
        assemble([*WHOLE[:1], {"abort": True}, {"eof": True}])
    assert assemble([*WHOLE[:3], {"eof": True}, {"abort": True}]) == [CALL]


async def answer(wire: Wire) -> list[object]:
    stream = await wire.async_client().chat.completions.create(model="m", messages=[], stream=True)
    return [chunk.choices[0].finish_reason async for chunk in stream]


def test_a_client_of_an_event_loop_gets_the_same_stream() -> None:
    wire = Wire()
    wire.carry(WHOLE)

    assert wait(answer(wire)) == [None, None, "tool_calls"]
    wire.carry([*WHOLE[:1], {"abort": True}])
    with pytest.raises(openai.APIConnectionError):
        wait(answer(wire))


def target(chunks: Sequence[object]) -> list[dict[str, object]]:
    """A client as bad as they come."""
    match chunks:
        case ["skip"]:
            raise Skip
        case ["refuse"]:
            raise openai.OpenAIError("SECRET")
        case ["unwritable"]:
            return [{"id": object()}]
    return [{"id": None, "name": "look", "arguments": {"chunks": list(chunks)}}]


def request(*chunks: object, seq: object = 1) -> str:
    return json.dumps({"seq": seq, "chunks": chunks})


@pytest.mark.parametrize(
    ("line", "answered"),
    [
        (request(), {"seq": 1, "calls": [{"id": None, "name": "look", "arguments": {"chunks": []}}]}),
        (request("skip", seq="a"), {"seq": "a", "skip": True}),
        (request("refuse"), {"seq": 1, "refused": True, "why": "openai.OpenAIError"}),
        (request("unwritable"), {"seq": 1, "refused": True, "why": "builtins.TypeError"}),
    ],
)
def test_a_request_is_answered_by_what_the_client_does(line: str, answered: object) -> None:
    assert [json.loads(one) for one in serve(target, [line])] == [answered]


@pytest.mark.parametrize("line", ["", "{", "[]", '{"chunks": []}', '{"seq": 1}', '{"seq": 1, "chunks": {}}'])
def test_what_is_no_request_is_told_so_and_the_next_is_answered(line: str) -> None:
    first, second = (json.loads(one) for one in serve(target, [line, request()]))

    assert (first["seq"], "chunks" in first["error"]) == (None, True)
    assert second["seq"] == 1
