"""No secret planted in ids, names, arguments or content appears in any diagnostic, log, message or repr.

Random streams are filled with secrets and refused in every way. Then everything that this package could show
of them is searched: whatever is of its own types and can be reached, what it writes, and what it raises.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from frames import RANDOM, SPREAD, Fields
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from wholecall import Assembler, Diagnostic, FrameTypeError, Limits, Response, Toolset
from wholecall.assemble import rules_of
from wholecall.batch import Finding, Part
from wholecall.engine import Fired, Step
from wholecall.reference import ReferenceAssembler
from wholecall.syntax import Syntax

PLANTED = "Zqxjkvw"
"""The mark of every secret; no digest, sentence or word of a table can hold it."""

OPEN: Fields = {"type": "object", "properties": {"page": {"enum": [1, 2]}}}
SCHEMAS: list[Any] = [
    OPEN | {"additionalProperties": False},
    OPEN | {"additionalProperties": {"type": "null"}},
    OPEN | {"propertyNames": {"maxLength": 2}},
    OPEN | {"patternProperties": {"^": {"const": 0}}},
    OPEN | {"unevaluatedProperties": False},
    OPEN | {"required": ["page"], "minProperties": 9},
    OPEN | {"anyOf": [{"required": ["a"]}, {"properties": {"page": {"type": "null"}}}]},
    {"$defs": {"x": {"additionalProperties": {"$ref": "#/$defs/x"}, "type": "object"}}, "$ref": "#/$defs/x"},
    OPEN,
    False,
]
TOOLSETS = [
    Toolset.from_openai([{"type": "function", "function": {"name": "look", "parameters": schema}}])
    for schema in SCHEMAS
]

# -- streams full of secrets -----------------------------------------------------------------------


def secret(random: Random) -> str:
    return PLANTED + "".join(random.choices('abc {}[]",:\\/\n\ud83d\ude00é', k=random.randint(0, 4)))


def arguments(random: Random) -> Any:
    """Whole, cut, wrong or no text, with secrets as keys and values."""
    key, value = json.dumps(secret(random)), json.dumps(secret(random))
    text = random.choice(
        [
            f"{{{key}:{value}}}",
            f'{{"page":{value}}}',
            f'{{"page":1,{key}:[{value},{{{key}:0}}]}}',
            f"{{{key}:1,{key}:2}}",
            f"[{value}]",
            value,
            f"{{{key}:{value}}} {PLANTED}",
            f"{{{key}:" + "[" * 9,
            f"{{{PLANTED}}}",
            f'{{{key}:"\ud83d"}}',
            "{}",
        ]
    )
    cut = text[: random.randint(0, len(text))]
    return random.choice([text] * 6 + [cut, cut, "", None, {PLANTED: PLANTED}, [PLANTED]])


def fragment(random: Random, index: int) -> Fields:
    id = random.choice([f"{PLANTED}-{index}"] * 9 + [PLANTED, "", None, [PLANTED], {PLANTED: 1}])
    name = random.choice(["look"] * 6 + ["", secret(random), {PLANTED: PLANTED}])
    whole: Fields = {"index": index, "id": id, "function": {"name": name, "arguments": arguments(random)}}
    odd: Fields = random.choice(
        [{"index": PLANTED}, {"type": PLANTED}, {"function": PLANTED}, {"index": [PLANTED]}]
    )
    return {**whole, **odd} if random.random() < 0.2 else whole


def stream(random: Random) -> list[Any]:
    fragments = [fragment(random, index) for index in range(random.randint(0, 3))]
    finish = random.choice(["stop"] * 6 + ["length", PLANTED, {PLANTED: 1}, None])
    frames: list[Any] = [
        {
            PLANTED: PLANTED,
            "choices": [{"index": 0, "delta": {"content": secret(random), "tool_calls": fragments}}],
        },
        {"choices": [{"index": random.choice([0, 0, 0, 1, PLANTED]), "finish_reason": finish}]},
    ]
    odd: list[Any] = [
        {"error": {"message": PLANTED, "failed_generation": PLANTED, PLANTED: 1, "code": 400}},
        {"error": PLANTED},
        {"error": [PLANTED]},
        {"choices": PLANTED},
        {"choices": [{"delta": {"function_call": {"name": PLANTED}}}]},
        f'{{"choices":[{{"{PLANTED}',
        f'{{"{PLANTED}":NaN}}',
        f'{{"x":"{PLANTED}'.encode() + b"\xff",
        PLANTED,
        [PLANTED],
    ]
    if random.random() < 0.3:
        frames.insert(random.randint(0, 2), random.choice(odd))
    return [json.dumps(each) if isinstance(each, dict) and random.random() < 0.5 else each for each in frames]


# -- everything that could be shown ------------------------------------------------------------------


def reachable(root: object, shared: bool = False) -> Iterator[object]:
    """Everything that can be reached through attributes and containers; `shared`, also by all responses."""
    waiting, seen = [root], set[int]()
    while waiting:
        each = waiting.pop()
        if id(each) in seen or (type(each).__module__ == "wholecall.product" and not shared):
            continue
        seen.add(id(each))
        yield each
        if isinstance(each, dict):
            waiting += [*each.keys(), *each.values()]
        elif isinstance(each, (list, tuple, set, frozenset)):
            waiting += each
        waiting += (
            getattr(each, "__dict__", {}).values() if type(each).__module__.startswith("wholecall") else []
        )
        names = [name for kind in type(each).__mro__ for name in getattr(kind, "__slots__", ())]
        waiting += [getattr(each, name) for name in names if hasattr(each, name)]


def shown(*roots: object) -> Iterator[str]:
    """How everything of our own types shows itself."""
    for root in roots:
        for each in reachable(root):
            if type(each).__module__.startswith("wholecall"):
                yield repr(each)
                yield str(each)
            if isinstance(each, Diagnostic):
                yield json.dumps(each.to_record())
                yield each.why
                yield repr(Diagnostic.load(each.to_record()))


def respond(frames: list[Any], tools: Toolset | None, limits: Limits) -> tuple[Assembler, Response]:
    assembler = Assembler(limits=limits, tools=tools)
    for each in frames:
        assembler.feed(each)
    return assembler, assembler.close()


@settings(SPREAD, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(random=RANDOM, tight=st.booleans())
def test_no_secret_of_a_stream_is_shown_written_or_logged(
    random: Random, tight: bool, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.NOTSET)
    frames = stream(random)
    note(repr(frames))
    limits = Limits(calls=2, name=9, arguments=30, depth=4) if tight else Limits()

    for text in shown(*respond(frames, random.choice([None, *TOOLSETS]), limits)):
        assert PLANTED.lower() not in text.lower()
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


def test_no_secret_is_shown_by_the_reference_or_logged_by_its_machines(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """`transitions` logs what it does; it is given nothing that it could tell."""
    caplog.set_level(logging.NOTSET)
    random = Random(0)  # noqa: S311 - any will do
    for _ in range(10):
        reference = ReferenceAssembler(tools=random.choice(TOOLSETS))
        for each in stream(random):
            reference.feed(each)
        reference.close()

        assert not [text for text in shown(reference) if PLANTED in text]
    assert {record.name for record in caplog.records} == {"transitions.core"}
    assert PLANTED not in caplog.text


def test_the_search_finds_what_is_planted() -> None:
    """In a call, in the text of an assembler and in what it refused: so there is something to hide."""
    frame = {"choices": [{"delta": {"content": PLANTED, "tool_calls": [{"index": 0, "id": [PLANTED]}]}}]}
    assembler, response = respond([frame], None, Limits())
    found = [each for each in reachable((assembler, response)) if each == PLANTED]

    assert found
    assert len([*shown(assembler, response)]) > 20


def test_the_rules_that_all_responses_share_hold_nothing_of_any() -> None:
    """Not even as data: every text that can be reached from them is of the tables."""
    random = Random(0)  # noqa: S311 - any will do
    for _ in range(50):
        respond(stream(random), None, Limits())

    for each in reachable(rules_of("core"), shared=True):
        assert not (isinstance(each, (str, bytes)) and PLANTED in str(each))


def test_what_the_checks_hand_on_shows_nothing() -> None:
    part = Part(0, 0, PLANTED, PLANTED, PLANTED, {"identity": "fixed"}, Syntax(None, {PLANTED: PLANTED}))
    fired = Fired("proposal", "distinct", "bad_syntax", Step("P08", "malformed", "", "carried"))

    assert PLANTED not in repr(part) + repr(Finding(fired, "syntax.invalid", part)) + repr(part.syntax)


# -- errors ----------------------------------------------------------------------------------------


class Holder:
    """No frame; whoever shows it shows a secret."""

    def __repr__(self) -> str:
        return PLANTED


def facts(error: BaseException) -> Iterator[str]:
    """All that an error and those behind it say, in words and as attributes."""
    chain: list[BaseException | None] = [error]
    while chain:
        each = chain.pop()
        if each is not None:
            yield from (str(each), repr(each), repr(each.args), repr(vars(each)))
            chain += [each.__cause__, each.__context__]


@pytest.mark.parametrize("frame", [Holder(), (PLANTED,), {PLANTED}, memoryview(PLANTED.encode())])
def test_an_error_of_a_frame_says_nothing_of_it(frame: object) -> None:
    with pytest.raises(FrameTypeError) as caught:
        respond([frame], None, Limits())

    assert not [fact for fact in facts(caught.value) if PLANTED in fact]


@pytest.mark.parametrize("stored", [PLANTED, f'["{PLANTED}"]', f'{{"{PLANTED}', PLANTED.encode() + b"\xff"])
def test_an_error_of_a_stored_record_says_nothing_of_it(stored: str | bytes) -> None:
    with pytest.raises(ValueError, match="record") as caught:
        Diagnostic.load(stored)

    assert not [fact for fact in facts(caught.value) if PLANTED in fact]


def test_what_upstream_said_is_data_for_the_host_alone() -> None:
    """It can be read where one asks for it, and is shown nowhere."""
    error = {"error": {"message": PLANTED, "code": f"{PLANTED} {PLANTED}", "type": "invalid"}}
    assembler, response = respond([error], None, Limits())

    assert [found.reason for found in response.faults] == [PLANTED]
    assert not [text for text in shown(assembler, response) if PLANTED in text]
