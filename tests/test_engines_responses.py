"""Two assemblers read the same frames and say the same after each: the compiled one, and the reference.

The reference walks each machine by itself through `transitions`; the compiled one looks a product of them up.
Frames are drawn from the input classes of the tables.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from both import compare
from frames import RANDOM, SPREAD, Fields
from hypothesis import given, note, settings
from hypothesis import strategies as st

from wholecall import Limits

# -- responses from the input classes ----------------------------------------------------------------

OMITTED = object()
TEXTS = [
    "{}",
    "{}",
    '{"a":1}',
    '{"a":"\ud83d\ude00"}',
    "",
    " {",
    '{"a":',
    '{"a":1,"a":2}',
    "[[[]]]",
    "[]",
    "NaN",
    '"\ud83d"',
]
FINISHES = ["stop", "stop", "tool_calls", "tool_calls", "function_call"]
ODD: dict[str, list[Any]] = {
    "index": [None, OMITTED, -1, True, "0", 0.0, [], {}, 5],
    "id": [None, "", "other", 0, True, [], {}],
    "name": ["x" * 300, "\ude00", 7, False, [], {}],
    "arguments": ["x" * 99, "\ud83d", 7, True, [], {}, "[" * 200],
    "type": ["custom", 7],
    "function": [None, [], "look"],
}
"""What a field of a fragment may hold beside what leads on."""

WHOLE: list[Any] = ["[DONE]", "{", b"\xff", None, {}, {"error": {"code": "x"}}, {"error": ""}, {"choices": 7}]
"""Frames that are no chunk of a choice, or a wrong one."""


def cut(random: Random, text: str) -> list[str]:
    """The text in pieces, cut between code units; some are empty."""
    units = [text[at] for at in range(len(text))]
    pieces = []
    while units:
        size = random.choice([0, 1, 2, len(units)])
        pieces.append("".join(units[:size]))
        del units[:size]
    return pieces


def call(random: Random, index: int) -> Iterator[Fields]:
    """The fragments of one call: mostly with an id, a name and some arguments, in any order."""
    id = random.choice([f"id{index}"] * 8 + ["same"] * 3 + [""])
    early: list[Any] = random.choice([[], [], [""], [OMITTED, "", ""]])
    parts = [cut(random, random.choice(["look", "look", "up", ""])), cut(random, random.choice(TEXTS))]
    for n in range(random.randint(1, 3) + max(len(early), len(parts[0]), len(parts[1]))):
        later: list[Any] = [OMITTED, OMITTED, None, id] if id else [OMITTED, ""]
        given: list[Any] = early[n : n + 1] or [id if n == len(early) else random.choice(later)]
        texts = [piece.pop(0) if piece else random.choice([OMITTED, OMITTED, None, ""]) for piece in parts]
        function = present(name=texts[0], arguments=texts[1])
        yield present(
            index=index, id=given[0], function=function, type=random.choice([OMITTED, "function", None, ""])
        )


def present(**fields: Any) -> Fields:
    return {name: value for name, value in fields.items() if value is not OMITTED}


def respond(random: Random) -> list[Any]:
    """The frames of one response that mostly goes well: its calls interleaved, then its end."""
    at = random.choice([0, 0, 0, 1])
    places = random.sample(
        [(at, 0), (at, 1), (at, 2), (at, 7), (random.choice([0, 1]), 3)], random.choice([0, 1, 2, 2, 3])
    )
    waiting = {place: list(call(random, place[1])) for place in places}
    frames: list[Any] = []
    while waiting:
        place = random.choice(list(waiting))
        size = random.choice([1, 1, 1, 2, 3])
        taken, waiting[place] = waiting[place][:size], waiting[place][size:]
        if not waiting[place]:
            del waiting[place]
        delta = present(tool_calls=taken, content=random.choice([OMITTED] * 5 + ["", "text", None]))
        choice = present(index=place[0] or random.choice([0, 0, None, OMITTED]), delta=delta)
        frames.append({"choices": [choice | present(finish_reason=random.choice([None, None, OMITTED, ""]))]})
        frames += random.choice(
            [[]] * 5 + [[{"choices": []}], [{"choices": [{"delta": {"content": "text"}}]}]]
        )
    ending = sorted({0, *(place[0] for place in places)})
    for index in random.choice([ending] * 9 + [ending[1:]]):
        frames.append({"choices": [{"index": index, "finish_reason": random.choice(FINISHES)}]})
    for at in range(len(frames) - 1, 0, -1):
        if random.random() < 0.2:
            frames[at - 1]["choices"] += frames.pop(at)["choices"]
    return frames + random.choice([[], ["[DONE]"], [{"choices": [{"finish_reason": "stop"}]}]])


def trouble(random: Random, frames: list[Any]) -> None:
    """One frame more, anywhere: an odd one, an odd finish reason, or another with one odd field."""
    where = random.randrange(len(frames) + 1)
    with_calls = [frame for frame in frames if "'tool_calls': [" in repr(frame)]
    kind = random.choice(["fragment", "fragment", "fragment", "finish", "whole"])
    frame = random.choice(WHOLE)
    if kind == "finish":
        reason = random.choice(["stop", "length", "refusal", "content_filter", "odd", 7])
        at = present(index=random.choice([0, 0, 1, OMITTED, -1, []]), finish_reason=reason)
        frame = {"choices": [at]}
    elif kind == "fragment" and with_calls:
        frame = copy.deepcopy(random.choice(with_calls))
        deltas = [choice["delta"] for choice in frame["choices"] if "tool_calls" in choice.get("delta", ())]
        fragment = random.choice(random.choice(deltas)["tool_calls"])
        name = random.choice(list(ODD))
        inner = fragment.get("function")
        holder = inner if name in ("name", "arguments") and isinstance(inner, dict) else fragment
        holder.pop(name, None)
        holder |= present(**{name: random.choice(ODD[name])})
    frames.insert(where, frame)


LIMITS = st.just(Limits()) | st.builds(
    Limits,
    calls=st.integers(1, 3),
    name=st.integers(3, 9),
    arguments=st.integers(2, 12),
    depth=st.integers(1, 3),
)


@settings(SPREAD, max_examples=200)
@given(RANDOM, st.integers(0, 2), LIMITS)
def test_both_assemblers_agree_after_every_frame_and_at_the_end(
    random: Random, troubles: int, limits: Limits
) -> None:
    """The frames come from a seed, so that they are spread evenly; an object also comes as text or bytes."""
    sent = respond(random)
    for _ in range(troubles):
        trouble(random, sent)
    note(repr(sent))

    compare([spelled(random, frame) for frame in sent], limits, aborted=random.random() < 0.2)


def spelled(random: Random, frame: Any) -> tuple[Any, Any]:
    if not isinstance(frame, dict):
        return frame, frame
    text = json.dumps(frame)
    forms: list[tuple[Any, Any]] = [(frame, frame), (text, frame), (text.encode(), frame), (frame, text)]
    return random.choice(forms)


PIECES = st.sampled_from(["", " ", "1", "12", "\ud83d", "\ude00", "\U0001f600", "x\ud83d", "\ude00x", "[[["])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), PIECES), max_size=40), st.integers(1, 25), st.booleans())
def test_both_assemblers_agree_on_interleaved_texts_up_to_the_limit_and_over(
    sent: list[tuple[int, str]], limit: int, as_text: bool
) -> None:
    """The commonest frames of all, one fragment of text in each, as they come and up to the limit."""
    begun = [{"index": n, "id": f"id{n}", "function": {"name": "look"}} for n in (0, 1, 2)]
    parts: list[list[Fields]] = [
        begun,
        *([{"index": n, "function": {"arguments": text}}] for n, text in sent),
    ]
    stream = [{"choices": [{"index": 0, "delta": {"tool_calls": p}, "finish_reason": None}]} for p in parts]

    compare([(json.dumps(f).encode(), f) if as_text else f for f in stream], Limits(arguments=limit))


class Text(str):
    """Text of a class of its own, as a client may give it."""

    __slots__ = ()


class Number(int):
    """An integer that is none to JSON readers; true is another."""


@pytest.mark.parametrize("index", [0, Number(0), False, 0.0])
def test_both_assemblers_agree_on_values_of_classes_of_their_own(index: Any) -> None:
    """Text of any class is text; an index is an integer and nothing that only equals one."""
    function = {"name": Text("look"), "arguments": Text("{}")}
    begin = {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": Text("a"), "function": function}]}}]}
    more = {"index": index, "id": Text("a"), "function": {"arguments": Text(" ")}}
    text = {"index": index, "function": {"arguments": Text(" ")}}
    frames = [
        {"choices": [{"index": 0, "delta": {"tool_calls": [p]}, "finish_reason": None}]} for p in (more, text)
    ]
    response = compare([begin, *frames, {"choices": [{"finish_reason": "stop"}]}], Limits())

    assert response.fault == (None if type(index) is int else "index.type")
