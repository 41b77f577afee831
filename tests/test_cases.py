"""A case is read strictly, run as its chunks say, and held to what it expects and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from wholecall.cases import Case, CaseError, differences, read_chunks

CALL = {"index": 0, "id": "c1", "function": {"name": "f", "arguments": "{}"}}
FRAME = {"choices": [{"delta": {"tool_calls": [CALL]}}]}
FINISH = {"choices": [{"finish_reason": "tool_calls"}]}
WHOLE = [FRAME, FINISH]
GOT = {"index": 0, "id": "c1", "name": "f", "arguments": "{}"}
RECORD: dict[str, Any] = {
    "id": "a-case",
    "dialect": "chat",
    "evidence": "synthetic",
    "chunks": WHOLE,
    "expect": {"outcome": "whole"},
}


def case(**changes: object) -> Case:
    return Case.load({**RECORD, **changes})


@pytest.mark.parametrize(
    ("chunks", "outcome", "last_of_stream"),
    [
        (WHOLE, "whole", "S21"),
        ([*WHOLE, "[DONE]"], "whole", "S20"),
        ([*WHOLE, {"eof": True}, FRAME], "whole", "S21"),
        ([*WHOLE, {"abort": True}], "incomplete", "S22"),
        ([*WHOLE, "[DONE]", {"abort": True}], "whole", "S20"),
        ([*WHOLE, '{"choices":'], "rejected", "S23"),
        ([*WHOLE, '{"choices":[]}'], "whole", "S21"),
        ([*WHOLE, 7], "rejected", "S23"),
        ([*WHOLE, None], "rejected", "S23"),
        ([], "incomplete", "S10"),
    ],
)
def test_chunks_are_frames_and_control_frames(
    chunks: list[object], outcome: str, last_of_stream: str
) -> None:
    response = read_chunks(chunks)

    assert response.outcome == outcome
    assert [row for row in response.rows if row.startswith("S")][-1] == last_of_stream


def test_the_tools_of_a_case_judge_its_calls() -> None:
    tools = [{"type": "function", "function": {"name": "g"}}]

    assert case(tools=tools).run().fault == "structure.unknown_tool"
    assert case().run().outcome == "whole"


@pytest.mark.parametrize(
    ("record", "what"),
    [
        ([], "a case is a JSON object"),
        ({**RECORD, "id": 1}, "id must be text"),
        ({**RECORD, "dialect": None}, "dialect must be text"),
        ({**RECORD, "evidence": "recored"}, "unknown level of evidence recored (did you mean recorded?)"),
        ({**RECORD, "expect": []}, "expect must be an object"),
        ({**RECORD, "expect": {}}, "outcome must be text"),
        ({**RECORD, "expect": {"outcome": "whole", "calls": {}}}, "calls must be a list of objects"),
        ({**RECORD, "expect": {"outcome": "whole", "calls": [1]}}, "calls must be a list of objects"),
        ({**RECORD, "chunks": {}}, "chunks must be a list"),
        ({**RECORD, "wanted_overlays": "x"}, "wanted_overlays must be a list of names"),
        ({**RECORD, "wanted_overlays": [1]}, "wanted_overlays must be a list of names"),
        ({**RECORD, "wanted_calls": None}, "wanted_calls must be a list of objects"),
    ],
)
def test_what_is_no_case_is_refused(record: object, what: str) -> None:
    with pytest.raises(CaseError) as refused:
        Case.load(record)

    assert (str(refused.value), refused.value.what) == (what, what)


def test_a_case_of_an_unbuilt_dialect_needs_no_more_than_its_name_and_level() -> None:
    found = Case.load({"id": "x", "dialect": "agent", "evidence": "reconstructed", "chunks": 7})

    assert (found.built, found.id, found.evidence) == (False, "x", "reconstructed")
    assert case().built


def test_what_was_wished_for_is_expected_only_under_the_overlays_wished_for() -> None:
    wished = case(wanted_overlays=["a", "b"], wanted_calls=[{"id": None}])
    answered = case(wanted_overlays=["a"], wanted_calls=[])

    assert wished.expected("b,a") == {"outcome": "whole", "calls": [{"id": None}]}
    assert answered.expected("a") == {"outcome": "answered", "calls": []}
    assert wished.expected("a") == wished.expected() == {"outcome": "whole"}
    assert case().expected("a,b") == {"outcome": "whole"}


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ({"outcome": "whole"}, []),
        ({"outcome": "whole", "fault": None}, []),
        ({"outcome": "whole", "calls": [GOT]}, []),
        ({"outcome": "whole", "calls": [{}]}, []),
        ({"outcome": "rejected", "fault": "name.missing"}, ["outcome", "fault"]),
        ({"outcome": "whole", "calls": []}, ["1 calls instead of 0"]),
        ({"outcome": "whole", "calls": [{**GOT, "index": 1}]}, ["index of call 1"]),
        (
            {"outcome": "whole", "calls": [{**GOT, "id": None, "name": "g"}]},
            ["id of call 1", "name of call 1"],
        ),
        (
            {"outcome": "whole", "calls": [{"arguments": "{ }"}, {}]},
            ["1 calls instead of 2", "arguments of call 1"],
        ),
    ],
)
def test_only_what_is_expected_is_compared_and_no_content_is_told(
    expected: dict[str, object], found: list[str]
) -> None:
    assert differences(expected, case().run()) == found
