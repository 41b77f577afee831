"""One response from its frames (design §3): what is judged in which order, and how a response ends.

`test_assemble_text.py` has the texts and their limits, `test_assemble_frames.py` the forms of a frame.
"""

from __future__ import annotations

from typing import Any

import pytest

from wholecall import Assembler, Response, read

Fields = dict[str, Any]

LOOK: Fields = {"index": 0, "id": "a", "function": {"name": "look", "arguments": "{}"}}
"""A whole call in one fragment."""


def look(**fields: object) -> Fields:
    """That call, with other fields."""
    return LOOK | fields


def choice(*fragments: Fields, at: int = 0, finish: str | None = None, **delta: object) -> Fields:
    calls: Fields = {"tool_calls": list(fragments)} if fragments else {}
    return {"index": at, "delta": calls | delta, "finish_reason": finish}


def frame(*choices: Fields) -> Fields:
    return {"choices": list(choices)}


def frames(*choices: Fields) -> list[Fields]:
    """Each choice in a frame of its own."""
    return [frame(each) for each in choices]


def verdict(response: Response) -> tuple[str, str | None]:
    return response.outcome, response.fault


def refusal(response: Response) -> tuple[object, ...]:
    """What was refused for one reason: fault, row, choice, fragment."""
    (found,) = response.faults
    return found.fault, found.row, found.choice, found.fragment


FINISH = frame(choice(finish="tool_calls"))
STOP = frame(choice(finish="stop"))
ERROR = {"error": {"message": "overloaded"}}

# -- the order of judgement ------------------------------------------------------------------------


def test_an_error_is_judged_before_the_form_of_its_frame() -> None:
    assert verdict(read([ERROR | {"choices": 5}])) == ("refused", "upstream.error")
    assert verdict(read(['{"error":"e","choices":5}'])) == ("refused", "upstream.error")


@pytest.mark.parametrize("wrong", [ERROR, {"choices": [choice(LOOK), 5]}])
def test_a_frame_is_judged_whole_before_any_part_of_it_is_read(wrong: Fields) -> None:
    response = read([frame(choice(LOOK)) | wrong])

    assert response.calls == ()
    assert response.rows in (("S08",), ("S12",))


def test_choices_are_read_in_the_order_of_the_frame() -> None:
    wrong = [choice(look(id=None), at=1), choice(look(index=None))]

    assert refusal(read([frame(*wrong)])) == ("identity.null_first", "I02", 1, 1)
    assert refusal(read([frame(*reversed(wrong))])) == ("index.missing", "R03", 0, 1)


def test_fragments_are_read_in_their_order_and_counted_from_one() -> None:
    before = frame(choice(LOOK, look(index=1, id="b")), choice(look(index=2, id="c"), at=1))
    wrong = [look(id=7), look(index=None)]

    assert refusal(read([before, frame(choice(*wrong))])) == ("identity.type", "I18", 0, 4)
    assert refusal(read([before, frame(choice(*wrong[::-1]))])) == ("index.missing", "R15", 0, 4)


@pytest.mark.parametrize(
    ("finished", "index", "id", "name", "expected"),
    [
        (True, None, 7, 7, ("stream.after_finish", "S13", 0, 1)),
        (False, None, 7, 7, ("index.missing", "R03", 0, 1)),
        (False, 0, 7, 7, ("identity.type", "I05", 0, 1)),
        (False, 0, "a", 7, ("name.type", "N06", 0, 1)),
        (False, 0, "a", "look", ("arguments.type", "A06", 0, 1)),
    ],
)
def test_a_fragment_is_seen_by_stream_routing_identity_name_arguments(
    finished: bool, index: object, id: object, name: object, expected: object
) -> None:
    wrong = {"index": index, "id": id, "function": {"name": name, "arguments": 7}}

    assert refusal(read([*([FINISH] if finished else []), frame(choice(wrong))])) == expected


def test_the_finish_reason_is_read_after_the_fragments_of_its_choice() -> None:
    assert verdict(read([frame(choice(LOOK, finish="tool_calls"))])) == ("whole", None)
    assert verdict(read([frame(choice(look(id=7), finish="length"))])) == ("rejected", "identity.type")
    cut = read([frame(choice(LOOK, finish="length"))])
    assert verdict(cut) == ("incomplete", "stream.cut_short")
    assert len(cut.calls) == 1


def test_after_a_fault_the_rest_of_the_frame_is_not_read() -> None:
    response = read([frame(choice(look(id=7), LOOK, finish="length"), choice(LOOK, at=1))])

    assert verdict(response) == ("rejected", "identity.type")
    assert [call.choice for call in response.calls] == [0]


@pytest.mark.parametrize("later", [ERROR, FINISH, frame(choice(look(index=1))), "[DONE]", "}", object()])
def test_the_first_fault_ends_the_response(later: object) -> None:
    """Nothing is read after it, not even to see what it is."""
    one, other = Assembler(correlation_id="same"), Assembler(correlation_id="same")
    for each in (one, other):
        each.feed(frame(choice(look(id=7))))
    other.feed(later)

    assert other.close(aborted=True) == one.close()


def test_what_concerns_the_response_goes_to_its_choices_in_ascending_order() -> None:
    seen = frames(choice(at=2), choice(at=1), choice(at=0, finish="stop"))

    assert refusal(read([*seen, "[DONE]"])) == ("stream.no_finish", "S09", 1, None)
    assert refusal(read(seen)) == ("stream.no_finish", "S10", 1, None)
    assert refusal(read([*seen, ERROR])) == ("upstream.error", "S19", 0, None)
    assert refusal(read([*seen, "}"])) == ("stream.bad_frame", "S23", 0, None)
    aborted = Assembler()
    for each in seen:
        aborted.feed(each)
    assert refusal(aborted.close(aborted=True)) == ("stream.aborted", "S22", 0, None)


# -- choices and indices ---------------------------------------------------------------------------


@pytest.mark.parametrize("index", [{}, {"index": None}, {"index": 0}], ids=repr)
def test_the_index_of_a_choice_is_0_where_it_is_absent_or_null(index: Fields) -> None:
    response = read([frame({"delta": {"tool_calls": [LOOK]}} | index), FINISH])

    assert verdict(response) == ("whole", None)
    assert response.calls[0].choice == 0


def test_choice_0_is_there_from_the_start() -> None:
    assert refusal(read(frames(choice(LOOK, at=1, finish="stop")))) == ("stream.no_finish", "S10", 0, None)
    assert refusal(read([])) == ("stream.no_finish", "S10", 0, None)


def test_calls_in_one_choice_beside_another_without_are_whole() -> None:
    response = read(frames(choice(content="hi", finish="stop"), choice(LOOK, at=1, finish="tool_calls")))

    assert (*verdict(response), response.content) == ("whole", None, "hi")
    assert [call.choice for call in response.calls] == [1]


@pytest.mark.parametrize("first", [LOOK, look(id=""), {"index": 0}])
def test_calls_in_two_choices_are_refused_before_their_fields_are_asked(first: Fields) -> None:
    response = read(frames(choice(first, finish="stop"), choice(LOOK, at=1, finish="stop")))

    assert verdict(response) == ("rejected", "proposal.many_choices")
    assert [found.row for found in response.faults] == ["P01"]


@pytest.mark.parametrize("index", [{}, {"index": None}], ids=repr)
def test_a_fragment_without_an_index_is_no_guess(index: Fields) -> None:
    lost = {"id": "a", "function": {"arguments": "{}"}} | index
    for before, row in (([], "R03"), ([LOOK], "R09"), ([LOOK, look(index=1, id="b")], "R15")):
        assert refusal(read([frame(choice(*before, lost))]))[:2] == ("index.missing", row)


@pytest.mark.parametrize(
    ("index", "json_type"),
    [(-1, "number"), (1.0, "number"), (True, "boolean"), ("1", "string"), ([1], "array"), ({}, "object")],
)
def test_an_index_is_an_integer_from_0_even_where_an_equal_one_is_known(
    index: object, json_type: str
) -> None:
    """1.0 and true equal 1, and are none."""
    one = look(index=1)
    for before, row in (([], "R04"), ([one], "R10"), ([one, look(index=2, id="b")], "R16")):
        response = read([frame(choice(*before, look(index=index)))])

        assert refusal(response)[:2] == ("index.type", row)
        assert response.faults[0].json_type == json_type


def test_indices_may_start_anywhere_and_have_gaps_and_calls_are_in_ascending_order() -> None:
    calls = [look(index=index, id=str(index)) for index in (7, 3, 10**12)]
    response = read([frame(choice(*calls)), FINISH])

    assert verdict(response) == ("whole", None)
    assert [(call.index, call.id) for call in response.calls] == [(3, "3"), (7, "7"), (10**12, str(10**12))]


# -- how a stream ends -----------------------------------------------------------------------------

FINISHES = {
    "stop": ("whole", None),
    "tool_calls": ("whole", None),
    "function_call": ("whole", None),
    "length": ("incomplete", "stream.cut_short"),
    "content_filter": ("refused", "stream.filtered"),
    "refusal": ("refused", "stream.filtered"),
    "max_tokens": ("rejected", "stream.unknown_finish"),
    "STOP": ("rejected", "stream.unknown_finish"),
    "": ("incomplete", "stream.no_finish"),
}


@pytest.mark.parametrize("end", [[], ["[DONE]"]])
@pytest.mark.parametrize("finish", FINISHES)
def test_a_finish_reason_decides_with_done_and_with_a_clean_end(finish: str, end: list[object]) -> None:
    response = read([frame(choice(LOOK)), frame(choice(finish=finish)), *end])

    assert verdict(response) == FINISHES[finish]


@pytest.mark.parametrize("second", FINISHES)
def test_a_second_finish_reason_may_only_be_another_proper_end(second: str) -> None:
    response = read([frame(choice(LOOK, finish="stop")), frame(choice(finish=second))])

    proper = second in ("stop", "tool_calls", "function_call", "")
    assert verdict(response) == (("whole", None) if proper else ("rejected", "stream.conflicting_finish"))


def test_after_the_finish_reason_come_usage_and_content_but_no_fragment() -> None:
    usage = [{"choices": [], "usage": {"total_tokens": 1}}, {}, {"choices": None}]
    done = [frame(choice(LOOK, finish="tool_calls")), *usage, frame(choice(content="hi"))]

    assert verdict(read(done)) == ("whole", None)
    assert refusal(read([*done, frame(choice({"index": 0}))])) == ("stream.after_finish", "S13", 0, 2)


@pytest.mark.parametrize("before", [[], [FINISH]])
def test_a_transport_that_failed_leaves_nothing_whole(before: list[object]) -> None:
    assembler = Assembler()
    for each in (frame(choice(LOOK)), *before):
        assembler.feed(each)

    assert verdict(assembler.close(aborted=True)) == ("incomplete", "stream.aborted")


def test_after_done_nothing_is_read_and_no_abort_matters() -> None:
    assembler = Assembler()
    for each in (frame(choice(LOOK)), FINISH, "[DONE]", ERROR, "}", object()):
        assembler.feed(each)

    assert verdict(assembler.close(aborted=True)) == ("whole", None)


def test_a_closed_response_is_what_it_was() -> None:
    """Neither a second `close` nor a later frame changes it."""
    assembler = Assembler()
    first = assembler.close()
    assembler.feed(FINISH)

    assert assembler.close(aborted=True) is first
    assert verdict(first) == ("incomplete", "stream.no_finish")


def test_what_was_drained_is_forgotten_and_still_counted() -> None:
    """A reader that follows a long response takes the rows as they fire; the verdict is the same."""
    assembler = Assembler()
    drained = []
    for each in (frame(choice(LOOK, content="hi")), frame(choice(look(index=1, id="b")))):
        assembler.feed(each)
        drained.append([fired.step.row for cell in assembler.drain() for fired in cell.fired])
    assembler.feed(frame(choice(look(id=7))))
    response = assembler.close()

    assert drained == [["S01", "R01", "I04", "N04", "A04"], ["S01", "R06", "I04", "N04", "A04"]]
    assert refusal(response) == ("identity.type", "I18", 0, 3)
    assert response.rows == ("S01", "R14", "I18", "S02")
    assert (response.content, len(response.calls)) == ("", 2)


def test_read_asks_for_no_frame_after_the_end() -> None:
    """A stream that is held open after `[DONE]` or a fault must not hold the reader."""
    for last in ("[DONE]", "}"):
        stream = iter([FINISH, last, FINISH])
        read(stream)

        assert list(stream) == [FINISH]
