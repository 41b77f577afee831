"""The batch of a response (design §3.6): its stages, in their order, and all that one stage finds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from wholecall import Limits, Response, Toolset, ToolsetError, read

Fields = dict[str, Any]

PAGE: Fields = {"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]}
TOOLS: list[Fields] = [
    {"type": "function", "function": {"name": "read_page", "parameters": PAGE}},
    {"type": "function", "function": {"name": "now"}},
]


def call(index: int, arguments: str | None = '{"page":1}', **fields: object) -> Fields:
    """A whole call of `read_page` at this index, where no other id or name is given."""
    id, name = fields.get("id", f"id{index}"), fields.get("name", "read_page")
    return {"index": index, "id": id, "function": {"name": name, "arguments": arguments}}


def respond(
    *calls: Fields, tools: Any = TOOLS, finish: str = "tool_calls", limits: Limits | None = None
) -> Response:
    delta = {"tool_calls": list(calls)} if calls else {"content": "hi"}
    return read([{"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}], tools, limits=limits)


def faults(response: Response) -> list[tuple[str, int | None]]:
    """What was found, and at which index; the first is the fault of the response."""
    assert response.outcome == "rejected"
    assert response.fault == response.faults[0].fault
    return [(found.fault, found.index) for found in response.faults]


# -- is there a batch? -----------------------------------------------------------------------------


def test_a_response_without_calls_is_an_answer() -> None:
    response = respond(finish="stop")

    assert (response.outcome, response.fault, response.faults, response.calls) == ("answered", None, (), ())
    assert response.content == "hi"
    assert response.rows == ("S03", "S04", "S21", "R05", "P04")


@pytest.mark.parametrize("finish", ["tool_calls", "function_call"])
def test_calls_that_were_announced_and_did_not_come_are_no_answer(finish: str) -> None:
    (found,) = respond(finish=finish).faults

    assert (found.fault, found.row, found.choice, found.index) == ("proposal.no_calls", "P03", None, None)


@pytest.mark.parametrize(
    ("reasons", "outcome"),
    [
        ([(0, "stop"), (0, "tool_calls")], "answered"),
        ([(0, "tool_calls"), (0, "stop")], "rejected"),
        ([(0, "stop"), (1, "tool_calls")], "rejected"),
        ([(0, "stop"), (1, "stop")], "answered"),
    ],
)
def test_the_first_finish_reason_of_any_choice_announces(
    reasons: list[tuple[int, str]], outcome: str
) -> None:
    frames = [{"choices": [{"index": at, "finish_reason": reason}]} for at, reason in reasons]

    assert read(frames).outcome == outcome


def test_a_call_in_one_choice_is_enough_for_what_another_announced() -> None:
    other = {"index": 1, "finish_reason": "tool_calls"}
    frame = {"choices": [{"index": 0, "delta": {"tool_calls": [call(0)]}, "finish_reason": "stop"}, other]}

    assert read([frame], TOOLS).outcome == "whole"


# -- fields ----------------------------------------------------------------------------------------


def test_every_call_that_lacks_an_id_or_a_name_is_told_lowest_index_first() -> None:
    response = respond(call(5, name=""), call(4), call(2, id=""), call(1, name=None))

    assert faults(response) == [("name.missing", 1), ("identity.missing", 2), ("name.missing", 5)]
    assert [found.row for found in response.faults] == ["N07", "I12", "N07"]


def test_of_one_call_the_identity_is_named_before_the_name() -> None:
    response = respond({"index": 0, "function": {"arguments": "{"}})

    assert response.faults[0].row == "I06"
    assert faults(response)[0] == ("identity.missing", 0)


# -- stages ----------------------------------------------------------------------------------------


def test_all_calls_that_share_an_id_are_told() -> None:
    twice = [call(0, id="a"), call(1, id="b"), call(2, id="a"), call(3, id="c"), call(4, id="b")]

    assert faults(respond(*twice)) == [("proposal.duplicate_id", index) for index in (0, 1, 2, 4)]


SYNTAX = {
    0: ("", "syntax.incomplete"),
    1: ('{"page":1}', None),
    2: ('{"page":1}}', "syntax.invalid"),
    3: ('{"page":1,"page":2}', "syntax.duplicate_key"),
    4: ('{"page":' + "[" * 9, "limit.depth"),
    5: ('{"page":NaN}', "syntax.invalid"),
    6: ('{"page":1e999}', "syntax.invalid"),
}


def test_all_texts_that_are_not_whole_strict_json_are_told_each_with_its_fault() -> None:
    calls = [call(index, text) for index, (text, _) in SYNTAX.items()]
    response = respond(*calls, limits=Limits(depth=8))

    assert faults(response) == [(fault, index) for index, (_, fault) in SYNTAX.items() if fault]
    assert {found.row for found in response.faults} == {"P08"}
    assert [each.parsed for each in response.calls] == [fault is None for _, fault in SYNTAX.values()]


STRUCTURE = {
    0: ('"text"', "read_page", "structure.not_object", None),
    1: ("{}", "now", None, None),
    2: ("{}", "later", "structure.unknown_tool", None),
    3: ("{}", "read_page", "structure.schema", "required"),
    4: ('{"page":"1"}', "read_page", "structure.schema", "type"),
    5: ("[]", "later", "structure.not_object", None),
}


def test_all_calls_that_do_not_fit_a_tool_are_told_each_with_its_fault() -> None:
    calls = [call(index, text, name=name) for index, (text, name, _, _) in STRUCTURE.items()]
    response = respond(*calls)

    assert faults(response) == [(fault, index) for index, (_, _, fault, _) in STRUCTURE.items() if fault]
    assert [found.schema_keyword for found in response.faults] == [None, None, "required", "type", None]
    assert {found.row for found in response.faults} == {"P10"}


def test_without_a_toolset_any_name_and_any_object_will_do() -> None:
    response = respond(call(0, "{}", name="anything"), tools=None)
    refused = respond(call(0, "[]"), call(1, "{}"), tools=None)

    assert (response.outcome, response.calls[0].value) == ("whole", {})
    assert faults(refused) == [("structure.not_object", 0)]


def test_with_no_tools_at_all_no_call_can_be_right() -> None:
    """An empty list is a toolset: none of its tools was called."""
    assert faults(respond(call(0, "{}"), tools=[])) == [("structure.unknown_tool", 0)]


def test_a_stage_looks_at_all_calls_and_hides_what_a_later_one_would_find() -> None:
    """A fault of a later stage is not told beside one of an earlier, whichever call comes first."""
    odd_structure, cut, same, nameless = call(0, "[]"), call(1, "{"), call(2, id="id1"), call(3, name=None)

    assert faults(respond(odd_structure, cut, same, nameless)) == [("name.missing", 3)]
    assert faults(respond(odd_structure, cut, same)) == [("proposal.duplicate_id", n) for n in (1, 2)]
    assert faults(respond(odd_structure, cut)) == [("syntax.incomplete", 1)]
    assert faults(respond(odd_structure)) == [("structure.not_object", 0)]


def test_a_whole_batch_ends_at_shaped_and_every_row_is_told_in_order() -> None:
    """Business belongs to the turn."""
    response = respond(call(1), call(0, "{}", name="now"))

    assert (response.outcome, response.fault, response.faults) == ("whole", None, ())
    assert [(each.index, each.value) for each in response.calls] == [(0, {}), (1, {"page": 1})]
    assert response.rows == (
        *("S01", "R01", "I04", "N04", "A04"),
        *("S01", "R06", "I04", "N04", "A04"),
        *("S04", "S21", "R17"),
        *("I19", "N14", "A14"),
        *("I19", "N14", "A14"),
        *("P05", "P07", "P09", "P11"),
    )


def test_a_response_that_did_not_complete_has_no_batch_to_judge() -> None:
    """Neither its texts nor its fields are asked."""
    response = respond(call(0, "{"), call(1, id=""), finish="length")

    assert response.rows[-1] == "S05"
    assert [found.fault for found in response.faults] == ["stream.cut_short"]


# -- the list of tools -----------------------------------------------------------------------------


def test_a_toolset_made_once_judges_as_its_list_does() -> None:
    tools = Toolset.from_openai(TOOLS)

    for calls in ([call(0)], [call(0, "{}")]):
        one, other = respond(*calls, tools=tools), respond(*calls)
        assert (one.outcome, one.fault, one.calls) == (other.outcome, other.fault, other.calls)


def test_tools_that_cannot_be_used_are_refused_before_any_frame_is_read() -> None:
    frames: Iterator[object] = iter([{}])
    with pytest.raises(ToolsetError):
        read(frames, [*TOOLS, *TOOLS])

    assert list(frames) == [{}]
