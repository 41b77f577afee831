"""What a frame may be (design §3.5, §7): its forms, and what of it is outside this specification.

Every frame here stands before a whole call, so that a frame that is taken leaves the response whole.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from openai.types.chat import ChatCompletionChunk
from pydantic import BaseModel, RootModel

from wholecall import Assembler, FrameTypeError, WholecallError, read

Fields = dict[str, Any]

PART: Fields = {"index": 0, "id": "a", "function": {"name": "look", "arguments": "{}"}}
WHOLE = {"choices": [{"index": 0, "delta": {"tool_calls": [PART]}, "finish_reason": "stop"}]}


def delta(**fields: object) -> Fields:
    return {"choices": [{"index": 0, "delta": fields}]}


def choice(**fields: object) -> Fields:
    return {"choices": [{"index": 0} | fields]}


def fragment(**fields: object) -> Fields:
    return delta(tool_calls=[PART | fields])


def fault(frame: object) -> str | None:
    """The fault of a response that begins with this frame; None where it changed nothing for the worse."""
    response = read([frame, WHOLE])
    assert response.outcome == {None: "whole", "upstream.error": "refused"}.get(response.fault, "rejected")
    return response.fault


# -- taken -----------------------------------------------------------------------------------------

TAKEN: dict[str, Fields] = {
    "nothing": {},
    "unknown fields": {"id": 7, "usage": [None], "x": {"choices": 5}},
    "no choices": {"choices": []},
    "choices null": {"choices": None},
    "an empty choice": {"choices": [{}]},
    "delta null": choice(delta=None),
    "an unknown field in a choice": choice(logprobs={"content": [1]}),
    "no tool calls": delta(tool_calls=[]),
    "tool calls null": delta(tool_calls=None),
    "content that is no text": delta(content=[{"type": "text"}]),
    "function_call null": delta(function_call=None),
    "finish reason null": choice(finish_reason=None),
    "finish reason empty": choice(finish_reason=""),
    "a message without calls": choice(message={"role": "assistant", "content": "x"}),
    "a message with no calls": choice(message={"tool_calls": [], "function_call": None}),
    "a message with null calls": choice(message={"tool_calls": None}),
    "message null": choice(message=None),
    "error null": {"error": None},
    "error empty": {"error": ""},
}
TAKEN |= {f"type {name!r}": fragment(type=name, function=None) for name in (None, "", "function")}


@pytest.mark.parametrize("frame", TAKEN.values(), ids=TAKEN)
def test_what_is_absent_null_or_unknown_takes_nothing_away(frame: Fields) -> None:
    assert fault(frame) is None
    assert fault(json.dumps(frame)) is None


# -- refused ---------------------------------------------------------------------------------------

REFUSED: dict[str, object] = {
    "null": None,
    "a number": 7,
    "a boolean": True,
    "an array": [{}],
    "choices are no array": {"choices": {"0": {}}},
    "choices are text": {"choices": "x"},
    "choices are false": {"choices": False},
    "a choice is no object": {"choices": [None]},
    "a later choice is no object": {"choices": [{}, []]},
    "delta is no object": choice(delta=[]),
    "delta is text": choice(delta=""),
    "tool calls are no array": delta(tool_calls={"0": PART}),
    "tool calls are text": delta(tool_calls=""),
    "a fragment is no object": delta(tool_calls=[None]),
    "a later fragment is no object": delta(tool_calls=[PART, "x"]),
    "a function is no object": fragment(function="look"),
    "a function is an array": fragment(function=[]),
    "a finish reason is no text": choice(finish_reason=0),
    "a finish reason is false": choice(finish_reason=False),
    "a finish reason is an object": choice(finish_reason={}),
    "a choice index is text": {"choices": [{"index": "0"}]},
    "a choice index is a boolean": {"choices": [{"index": False}]},
    "a choice index is a float": {"choices": [{"index": 0.0}]},
    "a choice index is negative": {"choices": [{"index": -1}]},
    "a choice index is an array": {"choices": [{"index": []}]},
    "a function_call": delta(function_call={"name": "look", "arguments": "{}"}),
    "an empty function_call": delta(function_call={}),
    "a type of another form": fragment(type="custom"),
    "a type in capitals": fragment(type="FUNCTION"),
    "a type that is no text": fragment(type=0),
    "a message with calls": choice(message={"tool_calls": [PART]}),
    "a message with a function_call": choice(message={"function_call": {}}),
    "a message that is no object": choice(message="x"),
}


@pytest.mark.parametrize("frame", REFUSED.values(), ids=REFUSED)
def test_a_frame_outside_this_specification_is_a_bad_frame(frame: object) -> None:
    """As a value and as text, alone and where a call is open."""
    assert fault(frame) == "stream.bad_frame"
    assert fault(json.dumps(frame)) == "stream.bad_frame"
    assert read([delta(tool_calls=[PART]), frame]).faults[0].row == "S12"
    assert read([WHOLE, frame]).faults[0].row == "S23"


@pytest.mark.parametrize("index", [[], {}, "0", False, 0.0, -1], ids=repr)
def test_a_wrong_choice_index_is_bad_also_where_everything_else_is_common(index: object) -> None:
    """The commonest of all frames: one choice, one fragment, and in it argument text and nothing else."""
    part = {"index": 0, "function": {"arguments": " "}}
    common = {"choices": [{"index": index, "delta": {"tool_calls": [part]}, "finish_reason": None}]}

    assert read([delta(tool_calls=[PART]), common]).fault == "stream.bad_frame"


@pytest.mark.parametrize("error", [{}, [], 0, False, 1, "e", {"message": None}], ids=repr)
def test_any_other_error_is_one_whatever_its_form(error: object) -> None:
    assert fault({"error": error}) == "upstream.error"
    assert fault(json.dumps({"error": error, "choices": 7})) == "upstream.error"


# -- as text ---------------------------------------------------------------------------------------

TEXTS = {
    "empty": "",
    "white space": "  ",
    "cut": '{"choices":[',
    "trailing text": "{} {}",
    "trailing comma": '{"x":[1,]}',
    "a comment": "{} // x",
    "single quotes": "{'x':1}",
    "NaN": '{"x":NaN}',
    "Infinity": '{"x":[-Infinity]}',
    "NaN in a field": '{"choices":[{"index":NaN}]}',
    "a leading zero": '{"x":01}',
    "a bare escape": '{"x":"\\q"}',
    "a control character": '{"x":"\x01"}',
    "a byte order mark": "\ufeff{}",
    "a zero byte": "{}\0",
    "a form feed": "\f{}",
    "deep nesting": '{"x":' + "[" * 100_000 + "]" * 100_000 + "}",
    "deep nesting in a field": '{"error":null,"choices":' + "[" * 100_000,
    "the done text in quotes": '"[DONE]"',
    "the done text with another space": "\u00a0[DONE]",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_that_is_no_json_object_is_a_bad_frame(text: str) -> None:
    assert fault(text) == "stream.bad_frame"
    assert fault(text.encode()) == "stream.bad_frame"
    assert fault(bytearray(text.encode())) == "stream.bad_frame"


@pytest.mark.parametrize("place", ['{"x":"%s"}', '{"%s":1}', '{"choices":[{"delta":{"content":"%s"}}]}'])
@pytest.mark.parametrize("wrong", [b"\xff", b"\xc3", b"\xed\xa0\xbd", b"\xc0\xaf", b"\xf5\x80\x80\x80"])
def test_bytes_that_are_not_utf_8_are_bad_in_every_field_also_one_that_is_skipped(
    place: str, wrong: bytes
) -> None:
    text = place.encode().replace(b"%s", wrong)

    assert fault(text) == "stream.bad_frame"
    assert fault(bytearray(text)) == "stream.bad_frame"
    assert fault(json.dumps(WHOLE).encode("utf-16")) == "stream.bad_frame"


@pytest.mark.parametrize("text", ['{"x":"\\ud83d"}', '{"x":"\\ud83d\\ude00"}', '{"x":1e999}'])
def test_half_of_a_pair_and_a_great_number_are_legal_in_a_field_that_is_skipped(text: str) -> None:
    """RFC 8259 has no word against them, and only arguments are held to RFC 7493."""
    assert fault(text) is None
    assert fault(text.encode()) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"choices":7,"choices":[]}', None),
        ('{"choices":[],"choices":7}', "stream.bad_frame"),
        ('{"error":"e","error":null}', None),
        ('{"error":null,"error":"e"}', "upstream.error"),
        ('{"choices":[{"index":-1,"index":0}]}', None),
        ('{"choices":[{"delta":{"tool_calls":[{}],"tool_calls":null}}]}', None),
    ],
)
def test_of_a_key_twice_in_a_frame_the_last_counts(text: str, expected: str | None) -> None:
    assert fault(text) == expected
    assert fault(text.encode()) == expected


@pytest.mark.parametrize("text", ["[DONE]", " [DONE]\n", "\t[DONE]\r\n"])
def test_the_end_marker_is_text_or_bytes_with_any_white_space_of_json(text: str) -> None:
    for marker in (text, text.encode(), bytearray(text.encode())):
        assert read([WHOLE, marker, "}"]).outcome == "whole"
        assert read([marker]).faults[0].row == "S09"


# -- objects of a client ---------------------------------------------------------------------------

HEAD = {"id": "x", "created": 0, "model": "m", "object": "chat.completion.chunk"}


def test_an_sdk_object_is_read_as_the_fields_that_were_set() -> None:
    """Omitted stays omitted and null stays null: after an id both are legal, before it null is not."""
    chunk = ChatCompletionChunk.model_validate(HEAD | WHOLE)
    null = ChatCompletionChunk.model_validate(HEAD | delta(tool_calls=[{"index": 0, "id": None}]))
    omitted = ChatCompletionChunk.model_validate(HEAD | delta(tool_calls=[{"index": 0}]))

    assert read([chunk]).outcome == "whole"
    assert read([null]).fault == "identity.null_first"
    assert read([omitted, chunk]).outcome == "whole"


def test_an_sdk_object_may_hold_what_its_types_forbid() -> None:
    """Clients build chunks without validation; what the wire said still decides, without a warning."""
    wrong = ChatCompletionChunk.model_construct(**delta(tool_calls=[PART | {"index": None}]))
    odd = ChatCompletionChunk.model_construct(choices=7)

    assert fault(wrong) == "index.missing"
    assert fault(odd) == "stream.bad_frame"


def test_an_object_that_dumps_to_no_object_is_a_bad_frame() -> None:
    class Many(RootModel[list[int]]):
        pass

    assert fault(Many([1])) == "stream.bad_frame"


class Model(BaseModel):
    """An object could be read; its class is none."""

    choices: list[object] = []


@pytest.mark.parametrize(
    "frame", [object(), (), set(), memoryview(b"{}"), iter([]), SimpleNamespace(choices=[]), Model, print]
)
def test_what_is_no_frame_at_all_is_an_error_that_names_its_type(frame: object) -> None:
    """The response goes on as if it had not been fed."""
    assembler = Assembler()
    with pytest.raises(FrameTypeError) as caught:
        assembler.feed(frame)
    assembler.feed(WHOLE)

    assert caught.value.type_name == type(frame).__name__
    assert str(caught.value).endswith(f"not {type(frame).__name__}")
    assert isinstance(caught.value, (WholecallError, TypeError))
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert assembler.close().outcome == "whole"
