"""Feedback: what was wrong with a response and where, and nothing of the response."""

from __future__ import annotations

from typing import Any

from asking import (
    PLANTED,
    SAVE,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from upstream import (
    DONE,
    call,
    finish,
    text,
)

from wholecall.assemble import read
from wholecall.diagnose import Diagnostic
from wholecall.structure import Toolset
from wholecall.turn.feedback import Feedback

CUT_CALL = call(1, f"call-{PLANTED}", "save", '{"page": {"a": "' + PLANTED)
TOOLS = Toolset.of([SAVE])


def feedback_on(*steps: Any) -> Feedback:
    return Feedback.of(read([*steps], TOOLS).faults)


def test_feedback_says_what_was_wrong_where_and_in_which_call() -> None:
    feedback = feedback_on(*call(0, "call_0", "save", "{}"), *CUT_CALL, finish(), DONE)

    assert (feedback.fault, feedback.attempt, feedback.calls) == ("syntax.incomplete", 1, (1,))
    assert (feedback.offset, feedback.depth, feedback.in_string) == (31, 2, True)
    assert feedback.text == (
        "Your last response could not be used, and nothing of it was run: call 1 (save): the arguments stop "
        "before their JSON text is whole (at character 31, at depth 2, inside a string). "
        "Give the whole response again."
    )


def test_feedback_names_the_place_in_the_schema() -> None:
    feedback = feedback_on(*call(0, "call_0", "save", "{}"), finish(), DONE)

    assert (
        "call 0 (save): the arguments do not fit the tool's schema (the schema's required at #/required)"
        in (feedback.text)
    )


def test_feedback_of_the_response_as_a_whole_names_no_call() -> None:
    feedback = feedback_on(*text("Hello"))

    assert (feedback.fault, feedback.calls, feedback.offset) == ("stream.no_finish", (), None)
    assert feedback.text == (
        "Your last response could not be used, and nothing of it was run: the stream ended without a finish "
        "reason. Give the whole response again."
    )


def test_a_name_that_is_not_of_the_toolset_is_not_repeated() -> None:
    feedback = feedback_on(*call(3, "call_0", PLANTED, "{}"), finish(), DONE)

    assert "call 3: no tool has this name." in feedback.text
    assert PLANTED not in feedback.text + repr(feedback)


def test_feedback_stays_short() -> None:
    many = [*(frame for at in range(20) for frame in call(at, f"c{at}", "save", "{")), finish(), DONE]
    deep = Diagnostic(fault="structure.schema", index=0, schema_keyword="type", schema_location="/a" * 999)
    shallow = Diagnostic(fault="structure.schema", index=0, schema_keyword="type")

    assert feedback_on(*many).text.count("call ") == 8
    assert "; and 12 more. Give" in feedback_on(*many).text
    assert feedback_on(*many).calls == tuple(range(20))
    assert len(Feedback.of([deep]).text) < 500
    assert "type at #)" in Feedback.of([shallow]).text


def test_feedback_on_a_record_without_facts_says_so() -> None:
    assert "the record lacks the facts to tell" in Feedback.of([Diagnostic.load({"fault": "?"})]).text


@given(st.lists(st.sampled_from(["{", "}", '"', ":", ",", "1", PLANTED, "\\"]), max_size=8))
@settings(deadline=None, max_examples=50)
def test_no_text_of_a_call_is_in_its_feedback(pieces: list[str]) -> None:
    key = '{"' + PLANTED + '": '
    response = read([*call(0, PLANTED, "save", key, *pieces), *text(PLANTED), finish(), DONE], TOOLS)
    if response.faults:
        assert PLANTED not in Feedback.of(response.faults).text
