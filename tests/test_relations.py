"""What holds for any correct assembler holds for wholecall, and a wrong one breaks each of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

import pytest
import wrong

from wholecall.cases import read_chunks
from wholecall.fuzz.sender import Sender
from wholecall.fuzz.walk import Coverage, Dealer
from wholecall.limits import Limits
from wholecall.relations import RELATIONS, Relation, other, places, same

STREAMS = 300


def streams() -> list[list[Any]]:
    """Streams of every kind; most of them legal."""
    found = []
    for seed in range(STREAMS):
        sender = Sender(Dealer(Random(seed), Coverage()), Limits())  # noqa: S311 - a choice of streams
        sender.send_all()
        found.append(sender.chunks)
    return found


SENT = streams()
NAMED = {relation.name: relation for relation in RELATIONS}
every = pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.name)


def others(relation: Relation) -> list[tuple[list[Any], list[Any]]]:
    """Each stream that a relation applies to, and another that must come to the same."""
    pick = Random(relation.name)  # noqa: S311 - a choice of places
    changed = [(chunks, other(relation, chunks, pick.randrange)) for chunks in SENT]
    return [(one, two) for one, two in changed if two is not None]


def ends(chunks: list[Any]) -> tuple[str, list[tuple[Any, ...]]]:
    response = read_chunks(chunks)
    calls = [(call.choice, call.index, call.id, call.name, call.arguments) for call in response.calls]
    return response.outcome, sorted(calls, key=repr)


@every
def test_wholecall_holds_to_it_also_where_it_refuses(relation: Relation) -> None:
    """Outcome and calls are the same, those of a refused response too where all of it was read."""
    pairs = others(relation)
    faulty = 0
    for one, two in pairs:
        (outcome, calls), (another, others_) = ends(one), ends(two)
        faulty += outcome not in ("whole", "answered")

        assert outcome == another
        assert calls == others_ or outcome == "rejected"

    assert faulty >= 10


@every
def test_it_applies_to_a_good_share_of_streams_and_leaves_them_as_they_are(relation: Relation) -> None:
    before = deepcopy(SENT)
    pairs = others(relation)

    assert before == SENT
    assert len(pairs) > STREAMS / 5
    assert all((one == two) is (relation.name == "no_memory") for one, two in pairs)


def _wholly(chunks: list[Any], changed: Callable[[str], str]) -> list[wrong.Call]:
    """Right, but that each piece of arguments is changed before it is joined."""

    def change(fragment: dict[str, Any], _: list[str]) -> None:
        function = fragment.get("function")
        if function and isinstance(function.get("arguments"), str):
            function["arguments"] = changed(function["arguments"])

    return wrong._lenient(chunks, change)


def strips(chunks: list[Any]) -> list[wrong.Call]:
    """Strips each piece of white space."""
    return _wholly(chunks, str.strip)


def stops_at_content(chunks: list[Any]) -> list[wrong.Call]:
    """Takes text for the end of the calls."""
    calls = wrong.right(chunks)
    return [] if calls and '"between"' in json.dumps(chunks) else calls


BREAKS = {
    "null_is_omitted": wrong.null_clears,
    "cut_anywhere": strips,
    "indices_apart": wrong.keyed_by_name,
    "content_between": stops_at_content,
    "no_memory": wrong.remembers,
}


def calls_of(assemble: wrong.Target, chunks: list[Any]) -> list[wrong.Call] | None:
    try:
        return assemble(chunks)
    except ValueError:
        return None


@every
def test_a_wrong_assembler_breaks_it(relation: Relation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrong, "_SEEN", [])
    assemble = BREAKS[relation.name]
    answers = [(calls_of(assemble, one), calls_of(assemble, two)) for one, two in others(relation)]

    assert not all(same(one, two) for one, two in answers)


def fragment(index: object = 0, **fields: object) -> dict[str, Any]:
    return {"index": index, **fields}


def chunk(*fragments: object, choice: object = 0, **fields: object) -> dict[str, Any]:
    return {"choices": [{"index": choice, "delta": {"tool_calls": [*fragments]}, **fields}]}


PLAIN = chunk(fragment(0, id="a", function={"name": "f", "arguments": "{}"}))

NO_INDEX: list[Any] = [True, False, -1, "0", 0.0, None, []]
NO_CHOICE: list[Any] = [True, -1, "0", 0.0, None]
NO_FUNCTION: list[Any] = [None, {}, "xy", ["x", "y"]]
NO_TEXT: list[Any] = [None, 10, [1, 2], {"a": 1, "b": 2}]
ODD: list[Any] = [
    None,
    "not JSON",
    "[DONE]",
    {"eof": True},
    [],
    [PLAIN],
    {"choices": None},
    {"choices": []},
    {"choices": [None]},
    {"choices": [[]]},
    {"choices": PLAIN["choices"][0]},
    {"choices": PLAIN["choices"] * 2},
    {"choices": [{"index": 0}]},
    {"choices": [{"index": 0, "delta": None}]},
    {"choices": [{"index": 0, "delta": {"tool_calls": None}}]},
    {"choices": [{"index": 0, "delta": {"tool_calls": {"index": 0}}}]},
    {"choices": [{"delta": {"tool_calls": [fragment()]}}]},
    chunk(),
    chunk(fragment(0), fragment(1)),
    chunk("x"),
    chunk(None),
    chunk([0]),
    chunk({"id": "a"}),
    *(chunk(fragment(index)) for index in NO_INDEX),
    *(chunk(fragment(), choice=choice) for choice in NO_CHOICE),
    chunk(fragment(), finish_reason="tool_calls"),
]


@pytest.mark.parametrize("odd", ODD, ids=json.dumps)
def test_what_is_not_one_fragment_of_one_call_is_no_place(odd: Any) -> None:
    found = list(places([odd, PLAIN]))

    assert [(place.at, place.call) for place in found] == [(1, (0, 0))]
    assert found[0].fragment is PLAIN["choices"][0]["delta"]["tool_calls"][0]


def test_no_finish_reason_is_none() -> None:
    found = [chunk(fragment(3), choice=2, finish_reason=none) for none in (None, "")]

    assert [place.call for place in places(found)] == [(2, 3), (2, 3)]


REST = chunk(fragment(0, function={"arguments": "x"}))


@pytest.mark.parametrize(
    ("name", "chunks", "wanted"),
    [
        # Null is omitted: only once an id has come to this very call, and only where none stands.
        ("null_is_omitted", [PLAIN, REST], [PLAIN, chunk(fragment(0, function={"arguments": "x"}, id=None))]),
        ("null_is_omitted", [REST, PLAIN], None),
        ("null_is_omitted", [PLAIN, chunk(fragment(1))], None),
        ("null_is_omitted", [PLAIN, chunk(fragment(0), choice=1)], None),
        ("null_is_omitted", [chunk(fragment(0, id="")), REST], None),
        ("null_is_omitted", [chunk(fragment(0, id=1)), REST], None),
        ("null_is_omitted", [PLAIN, chunk(fragment(0, id=""))], None),
        # Text is cut where there are two characters; the rest has nothing but the rest.
        (
            "cut_anywhere",
            [chunk(fragment(2, id="a", function={"name": "f", "arguments": "[]"}), choice=1)],
            [
                chunk(fragment(2, id="a", function={"name": "f", "arguments": "["}), choice=1),
                chunk(fragment(2, function={"arguments": "]"}), choice=1),
            ],
        ),
        ("cut_anywhere", [REST], None),
        ("cut_anywhere", [chunk(fragment(0))], None),
        *(("cut_anywhere", [chunk(fragment(0, function=odd))], None) for odd in NO_FUNCTION),
        *(("cut_anywhere", [chunk(fragment(0, function={"arguments": odd}))], None) for odd in NO_TEXT),
        # Neighbours of two calls of one choice change places.
        ("indices_apart", [PLAIN, chunk(fragment(1))], [chunk(fragment(1)), PLAIN]),
        ("indices_apart", [PLAIN, REST], None),
        ("indices_apart", [PLAIN, chunk(fragment(1), choice=1)], None),
        ("indices_apart", [PLAIN, {}, chunk(fragment(1))], None),
        ("indices_apart", [PLAIN], None),
        # Content comes before a fragment.
        (
            "content_between",
            [{}, PLAIN],
            [{}, {"choices": [{"index": 0, "delta": {"content": "between"}}]}, PLAIN],
        ),
        ("content_between", [{}, "[DONE]"], None),
        ("no_memory", [], []),
        ("no_memory", [PLAIN, REST], [PLAIN, REST]),
    ],
)
def test_the_other_stream(name: str, chunks: list[Any], wanted: list[Any] | None) -> None:
    assert other(NAMED[name], chunks, lambda _: 0) == wanted


ONE, TWO = {"id": "a", "name": "f", "arguments": "{}"}, {"id": "b", "name": "f", "arguments": "{}"}


@pytest.mark.parametrize(
    ("one", "two", "alike"),
    [
        (None, None, True),
        (None, [], False),
        ([], None, False),
        ([], [], True),
        ([ONE, TWO], [TWO, ONE], True),
        ([ONE], [dict(reversed(ONE.items()))], True),
        ([ONE, ONE, TWO], [ONE, TWO, TWO], False),
        ([ONE], [{**ONE, "arguments": {}}], False),
    ],
)
def test_answers_are_compared_in_any_order(one: Any, two: Any, alike: bool) -> None:
    assert same(one, two) is alike
