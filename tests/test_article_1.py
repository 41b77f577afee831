"""The regression of article 1 §4 and the cases of article 2, for one response: by hand, not generated.

The synthetic task is that of the article: read a page, save a report. The positive cases come first, then
every refusal with the fault and the row that name exactly it.
"""

from __future__ import annotations

from typing import Any

import pytest

from wholecall import Call, Response, read

Fields = dict[str, Any]

STRING = {"type": "string"}
SCHEMAS: dict[str, Fields] = {
    "read_page": {"type": "object", "properties": {"page": {"type": "integer"}}},
    "save_report": {"type": "object", "properties": {"text": STRING}},
    "inspect_board": {"type": "object", "properties": {"boardId": STRING}, "required": ["boardId"]},
}
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": schema}} for name, schema in SCHEMAS.items()
]


def frame(*fragments: Fields, finish: str | None = None) -> Fields:
    """A chunk of choice 0; with no fragment, an empty delta."""
    delta = {"tool_calls": list(fragments)} if fragments else {}
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def part(index: int, arguments: str | None = None, name: str | None = None, **id: object) -> Fields:
    """A fragment; `id=` stands in it only where it is given, null and empty too."""
    function = {"name": name, "arguments": arguments}
    return {"index": index, **id, "function": {k: v for k, v in function.items() if v is not None}}


def respond(*fragments: Fields, finish: str | None = "tool_calls") -> Response:
    """What is read of these fragments, a frame each, then the finish reason and `[DONE]`."""
    frames = [frame(fragment) for fragment in fragments]
    return read([*frames, frame(finish=finish), "[DONE]"], TOOLS)


def told(response: Response) -> tuple[object, ...]:
    """All that a host is given to act on; rows and diagnostics tell how it came about."""
    return response.outcome, response.fault, response.calls, response.content


def only(response: Response) -> tuple[str | None, str | None]:
    """The fault of a response that was refused for one reason, and the row."""
    (diagnostic,) = response.faults
    assert diagnostic.fault == response.fault
    return diagnostic.fault, diagnostic.row


BEGIN = part(0, '{"page":', "read_page", id="call-a")
PAGE = Call(0, 0, "call-a", "read_page", '{"page":1}', {"page": 1}, True)
SAVE = Call(0, 1, "call-b", "save_report", '{"text":"ok"}', {"text": "ok"}, True)

# -- accepted --------------------------------------------------------------------------------------


def test_the_omitted_and_the_null_stream_give_equal_responses() -> None:
    """The control omits the id in its continuation, the target has null: nothing else may differ."""
    control = respond(BEGIN, part(0, "1}"))
    target = respond(BEGIN, part(0, "1}", id=None))

    assert told(control) == ("whole", None, (PAGE,), "")
    assert told(target) == told(control)
    assert target.rows == tuple({"I13": "I14"}.get(row, row) for row in control.rows)
    assert "I14" in target.rows


def test_interleaved_null_continuations_keep_each_call_its_own_id_and_arguments() -> None:
    """No id or argument crosses to another index (article 1 §3)."""
    response = respond(
        BEGIN,
        part(1, '{"text":', "save_report", id="call-b"),
        part(0, "1", id=None),
        part(1, '"ok"}', id=None),
        part(0, "}", id=None),
    )

    assert told(response) == ("whole", None, (PAGE, SAVE), "")


def test_an_early_empty_id_is_filled_by_a_valid_one() -> None:
    response = respond(part(0, '{"page":', "read_page", id=""), part(0, "1}", id="call-a"))

    assert told(response) == ("whole", None, (PAGE,), "")


def test_null_keeps_an_id_that_came_after_an_empty_one() -> None:
    response = respond(
        part(0, name="read_page", id=""), part(0, '{"page":', id="call-a"), part(0, "1}", id=None)
    )

    assert told(response) == ("whole", None, (PAGE,), "")


def test_the_same_id_again_keeps_the_call() -> None:
    assert told(respond(BEGIN, part(0, "1}", id="call-a"))) == ("whole", None, (PAGE,), "")


# -- refused: each relation of state and input has a row of its own -----------------------------------

FIRST = ('{"page":1}', "read_page")
ILLEGAL: tuple[object, ...] = (0, 7, 1.5, True, False, ["call-a"], [], {"id": "call-a"}, {})

REFUSED = {
    "null first": ([part(0, *FIRST, id=None)], "identity.null_first", "I02"),
    "null at a new index": ([BEGIN, part(0, "1}"), part(1, *FIRST, id=None)], "identity.null_first", "I02"),
    "null at a new index, the same tool and the first call still open": (
        [BEGIN, part(1, *FIRST, id=None)],
        "identity.null_first",
        "I02",
    ),
    'null after ""': ([part(0, *FIRST, id=""), part(0, id=None)], "identity.null_first", "I08"),
    "null before the id": ([part(0, *FIRST, id=None), part(0, id="call-a")], "identity.null_first", "I02"),
    "null after an omitted id": ([part(0, *FIRST), part(0, id=None)], "identity.null_first", "I02"),
    '"" after an id': ([BEGIN, part(0, "1}", id="")], "identity.conflict", "I15"),
    '"" still at the end': ([part(0, *FIRST, id="")], "identity.missing", "I12"),
    "no id at the end": ([part(0, *FIRST)], "identity.missing", "I06"),
    "a different string": ([BEGIN, part(0, "1}", id="call-b")], "identity.conflict", "I17"),
    "the same string with a space": ([BEGIN, part(0, "1}", id="call-a ")], "identity.conflict", "I17"),
    "the same string in capitals": ([BEGIN, part(0, "1}", id="CALL-A")], "identity.conflict", "I17"),
    "arguments that are cut": ([BEGIN, part(0, "1", id=None)], "syntax.incomplete", "P08"),
    "arguments that are no JSON": ([BEGIN, part(0, "1}}", id=None)], "syntax.invalid", "P08"),
}


@pytest.mark.parametrize(("fragments", "fault", "row"), REFUSED.values(), ids=REFUSED)
def test_a_refused_relation_has_its_own_fault_and_row(fragments: list[Fields], fault: str, row: str) -> None:
    response = respond(*fragments)

    assert response.outcome == "rejected"
    assert only(response) == (fault, row)


@pytest.mark.parametrize("id", ILLEGAL, ids=repr)
@pytest.mark.parametrize(
    ("before", "row"),
    [((), "I05"), ((part(0, id=""),), "I11"), ((BEGIN,), "I18")],
    ids=["first", "after an empty id", "after an id"],
)
def test_an_id_of_an_illegal_type_is_refused_in_every_state(
    before: tuple[Fields, ...], row: str, id: object
) -> None:
    """0, false, [] and {} are as illegal as their opposites: what looks empty is no null."""
    response = respond(*before, part(0, "1}", id=id))

    assert (response.outcome, *only(response)) == ("rejected", "identity.type", row)


def test_null_first_in_the_next_response_is_refused_at_the_same_index_and_tool() -> None:
    """What one response established is nothing to the next (article 1 §3)."""
    before = respond(BEGIN, part(0, "1}", id=None))
    after = respond(part(0, *FIRST, id=None))

    assert before.outcome == "whole"
    assert (after.outcome, *only(after)) == ("rejected", "identity.null_first", "I02")
    assert "call-a" not in [call.id for call in after.calls]


def test_duplicate_ids_at_the_end_are_refused_and_both_calls_named() -> None:
    response = respond(BEGIN, part(1, '{"text":"ok"}', "save_report", id="call-a"), part(0, "1}", id=None))

    assert (response.outcome, response.fault) == ("rejected", "proposal.duplicate_id")
    assert [(found.row, found.index) for found in response.faults] == [("P06", 0), ("P06", 1)]


@pytest.mark.parametrize("finish", [None, "length"])
def test_a_null_continuation_makes_no_half_stream_whole(finish: str | None) -> None:
    """Whether the stream ended properly is another condition (article 1 §3)."""
    assert respond(BEGIN, part(0, "1}", id=None), finish=finish).outcome == "incomplete"


@pytest.mark.parametrize(
    ("fragments", "seen"),
    [
        ([part(0, *FIRST, id=None)], ("null", "unknown", False)),
        ([part(0, id=""), part(0, id=None)], ("null", "blank", False)),
        ([BEGIN, part(0, id="other")], ("text", "established", True)),
        ([BEGIN, part(0, id="")], ("empty", "established", True)),
    ],
)
def test_a_diagnostic_says_what_came_and_whether_an_id_stood(fragments: list[Fields], seen: object) -> None:
    """Article 1 §5: "null, with an id" and "text, with an id, in conflict" are not one reason."""
    (found,) = respond(*fragments).faults

    assert (found.input, found.state, found.had_id) == seen


# -- article 2 -------------------------------------------------------------------------------------

CUT = '{"boardId":"demo","checks":["clearance"]'


def board(arguments: str) -> Response:
    return respond(part(0, arguments, "inspect_board", id="call-a"))


def test_cut_arguments_are_told_as_cut_and_never_become_an_empty_object() -> None:
    """The raw text is kept, and where it breaks off is told."""
    response = respond(
        part(0, name="inspect_board", id="call-a"),
        part(0, '{"boardId":"demo",'),
        part(0, '"checks":["clearance"]'),
    )
    (call,), (found,) = response.calls, response.faults

    assert (response.outcome, found.fault, found.row) == ("rejected", "syntax.incomplete", "P08")
    assert (call.arguments, call.value, call.parsed) == (CUT, None, False)
    assert (found.length, found.offset, found.depth, found.in_string) == (len(CUT), len(CUT), 1, False)


def test_an_empty_object_is_legal_where_the_tool_needs_nothing() -> None:
    response = respond(part(0, "{}", "read_page", id="call-a"))

    assert told(response) == ("whole", None, (Call(0, 0, "call-a", "read_page", "{}", {}, True),), "")


def test_an_empty_object_empty_text_and_cut_text_are_three_different_faults() -> None:
    """To a tool that needs `boardId` all three once looked like `{}`."""
    empty_object, no_text, cut = board("{}"), board(""), board("{")
    (found,) = empty_object.faults

    assert (found.fault, found.schema_keyword) == ("structure.schema", "required")
    assert [(c.arguments, c.value) for c in empty_object.calls] == [("{}", {})]
    assert (no_text.fault, no_text.calls[0].value) == ("syntax.incomplete", None)
    assert (cut.fault, cut.calls[0].value) == ("syntax.incomplete", None)
    assert (no_text.calls[0].arguments, cut.calls[0].arguments) == ("", "{")


@pytest.mark.parametrize("arguments", ["null", "1", "[]", '"{}"', "true", '[{"boardId":"demo"}]'])
def test_legal_json_that_is_no_object_is_refused_by_structure(arguments: str) -> None:
    response = board(arguments)

    assert (response.outcome, *only(response)) == ("rejected", "structure.not_object", "P10")
    assert (response.calls[0].parsed, response.calls[0].value) == (True, None)


def test_a_member_of_the_wrong_type_is_refused_by_the_tools_own_schema() -> None:
    (found,) = board('{"boardId":7}').faults

    assert (found.fault, found.schema_keyword) == ("structure.schema", "type")


@pytest.mark.parametrize("before", [[], [BEGIN], [BEGIN, part(0, "1}")]])
@pytest.mark.parametrize("finish", [None, "tool_calls"])
def test_an_upstream_error_event_stops_whatever_came_before(before: list[Fields], finish: str | None) -> None:
    """Status and reason are kept, and it is no success: not even after whole calls and a finish reason."""
    error = {"error": {"status": 429, "code": "rate_limited", "message": "slow down"}}
    response = read([*map(frame, before), frame(finish=finish), error, "[DONE]"], TOOLS)
    (found,) = response.faults

    assert (response.outcome, response.fault) == ("refused", "upstream.error")
    assert (found.upstream_status, found.upstream_code, found.reason) == (429, "rate_limited", "slow down")


@pytest.mark.parametrize("cut_at", [0, 1])
def test_one_valid_and_one_cut_call_leave_nothing_whole(cut_at: int) -> None:
    """The whole batch is judged before anything of it may run; only the cut call is at fault."""
    texts = ['{"page":1}', '{"page":1}']
    texts[cut_at] = '{"page":'
    response = respond(*(part(at, text, "read_page", id=f"call-{at}") for at, text in enumerate(texts)))

    assert (response.outcome, *only(response)) == ("rejected", "syntax.incomplete", "P08")
    assert response.faults[0].index == cut_at
    assert [call.parsed for call in response.calls] == [at != cut_at for at in (0, 1)]
