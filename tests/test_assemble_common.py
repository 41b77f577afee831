"""The commonest frame of all is read in a shorter way, which must see where a frame is another one.

Each test takes that frame and changes one thing of it.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from frames import fragment, frame

from wholecall import read

PART = fragment(0, id="a", name="look", arguments="{}")
BEGIN = frame(PART)
STOP = frame(finish="stop")

COMMON = {
    "index": 0,
    "delta": {"tool_calls": [{"index": 0, "function": {"arguments": " "}}]},
    "finish_reason": None,
}
"""One fragment of a known call, and in it argument text and nothing else."""

MORE: dict[str, tuple[tuple[str | int, ...], object, str | None]] = {
    "an error": (("error",), "e", "upstream.error"),
    "no error": (("error",), None, None),
    "a message with calls": (("choices", 0, "message"), {"tool_calls": [PART]}, "stream.bad_frame"),
    "a finish reason": (("choices", 0, "finish_reason"), "length", "stream.cut_short"),
    "a wrong finish reason": (("choices", 0, "finish_reason"), 7, "stream.bad_frame"),
    "a function_call": (("choices", 0, "delta", "function_call"), {}, "stream.bad_frame"),
    "another id": (("choices", 0, "delta", "tool_calls", 0, "id"), "b", "identity.conflict"),
    "a null id": (("choices", 0, "delta", "tool_calls", 0, "id"), None, None),
    "another type": (("choices", 0, "delta", "tool_calls", 0, "type"), "custom", "stream.bad_frame"),
    "a wrong name": (("choices", 0, "delta", "tool_calls", 0, "function", "name"), [], "name.type"),
    "a null index": (("choices", 0, "delta", "tool_calls", 0, "index"), None, "index.missing"),
    "an index that equals one": (("choices", 0, "delta", "tool_calls", 0, "index"), False, "index.type"),
    "an index that is an array": (("choices", 0, "delta", "tool_calls", 0, "index"), [], "index.type"),
    "a wrong text": (("choices", 0, "delta", "tool_calls", 0, "function", "arguments"), 7, "arguments.type"),
    "a second choice": (("choices", 1), {"finish_reason": "length"}, "stream.cut_short"),
    "a second fragment": (("choices", 0, "delta", "tool_calls", 1), {}, "index.missing"),
}
WRONG: list[object] = [[], {}, "0", False, 0.0, -1]
MORE |= {f"a choice index {wrong!r}": (("choices", 0, "index"), wrong, "stream.bad_frame") for wrong in WRONG}


@pytest.mark.parametrize(("place", "value", "expected"), MORE.values(), ids=MORE)
def test_the_commonest_frame_with_one_thing_more_is_what_that_makes_of_it(
    place: tuple[str | int, ...], value: object, expected: str | None
) -> None:
    changed: Any = copy.deepcopy({"choices": [COMMON]})
    holder = changed
    for key in place[:-1]:
        holder = holder[key]
    if place[-1] == 1:
        holder.append(value)
    else:
        holder[place[-1]] = value

    for form in (changed, json.dumps(changed), json.dumps(changed).encode()):
        assert read([BEGIN, form, STOP]).fault == expected


def test_the_commonest_frame_with_content_or_a_name_beside_has_both() -> None:
    text = {"index": 0, "function": {"arguments": " ", "name": "_up"}}
    changed = {"choices": [COMMON | {"delta": {"tool_calls": [text], "content": "hi"}}]}

    for form in (changed, json.dumps(changed)):
        response = read([BEGIN, form, STOP])
        assert (response.outcome, response.content) == ("whole", "hi")
        assert [(call.name, call.arguments) for call in response.calls] == [("look_up", "{} ")]


def test_the_commonest_frame_of_another_choice_is_of_another_call() -> None:
    changed = {"choices": [COMMON | {"index": 1}]}

    for form in (changed, json.dumps(changed)):
        response = read([BEGIN, form])
        assert [(call.choice, call.arguments) for call in response.calls] == [(0, "{}"), (1, " ")]
