r"""Texts and their limits: joined verbatim, counted in characters, and halves of a pair are no characters.

A character beyond U+FFFF is two code units in JSON (`"\ud83d\ude00"`), and a stream may cut between them.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall import Assembler, Limits, Response, read

Fields = dict[str, Any]

HIGH, LOW, SMILE = "\ud83d", "\ude00", "\U0001f600"
EURO = "\N{EURO SIGN}"
FINISH = {"choices": [{"index": 0, "finish_reason": "stop"}]}


def frame(*fragments: Fields, **delta: object) -> Fields:
    calls: Fields = {"tool_calls": list(fragments)} if fragments else {}
    return {"choices": [{"index": 0, "delta": calls | delta}]}


def part(index: int = 0, id: str = "", **function: object) -> Fields:
    return {"index": index, "function": function} | ({"id": id} if id else {})


def spell(*arguments: str, limits: Limits | None = None, escaped: bool = False) -> Response:
    """One call whose arguments arrive in these pieces; `escaped`, as JSON text that escapes halves."""
    pieces = [frame(part(arguments=text)) for text in arguments]
    frames: list[object] = [frame(part(id="a", name="look")), *pieces, FINISH]
    return read([json.dumps(each) for each in frames] if escaped else frames, limits=limits)


def name(*pieces: str, limits: Limits | None = None) -> Response:
    """One call whose name arrives in these pieces."""
    return read(
        [frame(part(id="a", arguments="{}")), *(frame(part(name=n)) for n in pieces), FINISH],
        None,
        "core",
        limits,
    )


# -- joining ---------------------------------------------------------------------------------------


def test_arguments_are_joined_verbatim_and_nothing_is_trimmed() -> None:
    pieces = (" \n{", '"a"', ":", ' "\\u00e9\u00e9" ', "}\t")
    (call,) = spell(*pieces).calls

    assert call.arguments == "".join(pieces)
    assert call.value == {"a": "éé"}


def test_names_are_joined_and_a_repeated_name_is_another_name() -> None:
    (call,) = name("lo", "ok", "look").calls

    assert call.name == "looklook"


@pytest.mark.parametrize("nothing", [None, "", "omitted"])
def test_null_empty_and_omitted_texts_add_nothing(nothing: str | None) -> None:
    fields: Fields = {} if nothing == "omitted" else {"name": nothing, "arguments": nothing}
    empty = frame(part(**fields))
    response = read(
        [
            empty | {},
            frame(part(id="a", name="look", arguments="{")),
            empty,
            frame(part(arguments="}")),
            FINISH,
        ]
    )

    assert response.outcome == "whole"
    assert [(call.name, call.arguments) for call in response.calls] == [("look", "{}")]


@pytest.mark.parametrize("nothing", [None, "", "omitted"])
def test_a_call_without_text_has_an_empty_text_and_no_name(nothing: str | None) -> None:
    fields: Fields = {} if nothing == "omitted" else {"name": nothing, "arguments": nothing}
    response = read([frame(part(id="a", **fields)), FINISH])

    assert (response.outcome, response.fault) == ("rejected", "name.missing")
    assert [(call.name, call.arguments, call.value) for call in response.calls] == [(None, "", None)]


@pytest.mark.parametrize("function", [{}, {"function": None}, {"function": {}}], ids=repr)
def test_a_function_that_is_absent_null_or_empty_adds_nothing(function: Fields) -> None:
    whole = frame(part(id="a", name="look", arguments="{}"))

    assert read([frame({"index": 0} | function), whole, FINISH]).outcome == "whole"


# -- halves of a surrogate pair ---------------------------------------------------------------------


@pytest.mark.parametrize("escaped", [False, True])
def test_halves_that_arrive_apart_join_into_one_character(escaped: bool) -> None:
    (call,) = spell('{"a":"' + HIGH, LOW + EURO + HIGH, LOW + '"}', escaped=escaped).calls

    assert call.arguments == f'{{"a":"{SMILE}{EURO}{SMILE}"}}'
    assert call.value == {"a": SMILE + EURO + SMILE}


@pytest.mark.parametrize(
    "pieces", [(HIGH, ""), ("", LOW), (LOW, HIGH), (HIGH, " " + LOW), (HIGH, HIGH + LOW)]
)
def test_a_half_that_stays_alone_is_kept_and_invalid(pieces: tuple[str, ...]) -> None:
    first, *rest = pieces
    texts = ('{"a":"' + first, *rest, '"}')
    response = spell(*texts)

    assert response.fault == "syntax.invalid"
    assert response.faults[0].in_string is True
    assert response.calls[0].arguments == "".join(texts).replace(HIGH + LOW, SMILE)


def test_halves_in_two_calls_do_not_join() -> None:
    """The low half belongs to the other call."""
    calls = [part(0, "a", name="n", arguments='"' + HIGH), part(1, "b", name="n", arguments=LOW + '"')]
    response = read([frame(*calls), FINISH])

    assert [(found.fault, found.index) for found in response.faults] == [
        ("syntax.invalid", 0),
        ("syntax.invalid", 1),
    ]
    assert [call.arguments for call in response.calls] == ['"' + HIGH, LOW + '"']


def test_halves_join_in_names_and_content_and_ids() -> None:
    whole = frame(part(id=HIGH + LOW, arguments="{}"))
    again = frame(part(id=SMILE, name=HIGH))
    response = read([whole, again, frame(part(name=LOW)), frame(content=HIGH), frame(content=LOW), FINISH])

    assert (response.outcome, response.content) == ("whole", SMILE)
    assert [(call.id, call.name) for call in response.calls] == [(SMILE, SMILE)]


# -- content ---------------------------------------------------------------------------------------


def test_content_is_the_text_of_choice_0_in_order() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}]}
    texts = [frame(content=text) for text in ("a", "", None, ["parts"], 7, "b")]
    response = read([*texts, other, frame(part(id="a", name="look", arguments="{}"), content="c"), FINISH])

    assert (response.outcome, response.content) == ("whole", "abc")


def test_content_beside_a_refused_fragment_is_not_taken() -> None:
    assert read([frame(content="a"), frame(part(arguments=7), content="b")]).content == "a"


# -- limits: exactly at one is within it ------------------------------------------------------------


def test_the_limits_are_those_of_the_design() -> None:
    assert Limits() == Limits(calls=128, name=256, arguments=10_000_000, depth=128)
    assert Assembler().limits == Limits()


@pytest.mark.parametrize("limit", [1, 2, 128])
def test_as_many_calls_as_the_limit(limit: int) -> None:
    """At the limit the known calls go on; one more is refused, and is no call of the response."""
    calls = [part(index, f"id{index}", name="look", arguments="{") for index in range(limit)]
    more = [part(index, arguments="}") for index in range(limit)]
    within = read([frame(*calls, *more), FINISH], limits=Limits(calls=limit))
    beyond = read([frame(*calls, part(limit, "more"))], limits=Limits(calls=limit))

    assert (within.outcome, len(within.calls)) == ("whole", limit)
    assert (beyond.fault, len(beyond.calls)) == ("limit.calls", limit)
    assert beyond.faults[0].row == ("R07" if limit == 1 else "R13")


def test_the_limit_of_calls_is_of_one_choice() -> None:
    calls = [{"index": at, "delta": {"tool_calls": [part(0, "a")]}} for at in (0, 1)]

    assert len(read([{"choices": calls}], limits=Limits(calls=1)).calls) == 2


@pytest.mark.parametrize("text", ["look_up", SMILE + "ok_up" + EURO, "a" * 7])
def test_a_name_as_long_as_the_limit(text: str) -> None:
    """In one piece, in any two, and character by character; what does not fit is not taken in part."""
    for cut in range(len(text)):
        for pieces in ((text[:cut], text[cut:]), tuple(text)):
            assert name(*pieces, limits=Limits(name=7)).outcome == "whole"
            over = name(*pieces, "x", limits=Limits(name=7))
            assert (over.fault, over.faults[0].row) == ("limit.name", "N12")
            assert over.calls[0].name == text
    first = name(text, limits=Limits(name=6))
    assert (first.faults[0].row, first.calls[0].name) == ("N05", None)


@pytest.mark.parametrize(
    "pieces",
    [
        (f'{{"a":"{SMILE}"}}',),
        ('{"a":"' + HIGH, LOW + '"}'),
        tuple('{"a":"' + HIGH + LOW + '"}'),
        ('{"a":"', HIGH, LOW, '"', "}"),
        ('{"a":"' + HIGH, "", LOW, '"}'),
    ],
)
def test_arguments_as_long_as_the_limit_in_characters_of_the_joined_text(pieces: tuple[str, ...]) -> None:
    """The text has nine characters however it was cut."""
    assert spell(*pieces, limits=Limits(arguments=9)).outcome == "whole"
    for over in (spell(*pieces, limits=Limits(arguments=8)), spell(*pieces, " ", limits=Limits(arguments=9))):
        assert over.fault == "limit.arguments"
        assert over.faults[0].length == len(over.calls[0].arguments) <= 9


def test_a_half_at_the_limit_may_still_be_joined_and_nothing_else() -> None:
    limits = Limits(arguments=2)

    assert spell('"', HIGH, LOW, limits=limits).calls[0].arguments == '"' + SMILE
    assert spell('"', HIGH, "x", limits=limits).fault == "limit.arguments"
    assert spell('"', HIGH, LOW, LOW, limits=limits).fault == "limit.arguments"
    assert spell('"', HIGH, LOW + HIGH, limits=limits).fault == "limit.arguments"


def test_many_split_pairs_are_counted_once_each() -> None:
    pieces = ['{"a":"', *[HIGH, LOW] * 50, '"}']

    assert spell(*pieces, limits=Limits(arguments=58)).outcome == "whole"
    assert spell(*pieces, limits=Limits(arguments=57)).fault == "limit.arguments"


def test_the_first_text_alone_may_be_too_long() -> None:
    (found,) = spell("{  }", limits=Limits(arguments=3)).faults

    assert (found.fault, found.row, found.length) == ("limit.arguments", "A05", 0)


def test_ten_million_characters_are_within_the_limit_and_one_more_is_not() -> None:
    text = '{"a":"' + "x" * (10_000_000 - 8) + '"}'

    assert spell(text[:5], text[5:]).outcome == "whole"
    assert spell(text, " ").fault == "limit.arguments"


@pytest.mark.parametrize("limit", [1, 3, 128])
def test_arguments_nested_as_deep_as_the_limit(limit: int) -> None:
    text = '{"a":' + "[" * (limit - 1) + "]" * (limit - 1) + "}" if limit > 1 else "{}"
    within = spell(text, limits=Limits(depth=limit))
    beyond = spell('{"a":' + "[" * limit, limits=Limits(depth=limit))

    assert within.outcome == "whole"
    assert (beyond.fault, beyond.faults[0].depth) == ("limit.depth", limit + 1)
