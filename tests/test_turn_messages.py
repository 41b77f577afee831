"""What an agent appends to its history: sent by any client, and the same from a turn that is run again."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from turns import ARGUMENTS, BROKEN, FAILED, FAST, TWO, Acts, Script, Shaky, Stage, left, says

from wholecall.structure import ToolLookupError
from wholecall.turn.result import Result
from wholecall.turn.run import Turn
from wholecall.turn.tools import ABSENT, UNKNOWN, Applied, Tool, ToolFailed

HALF = "\ud83d"


def spoken(text: str, *calls: Any) -> list[object]:
    """A response with text beside its calls."""
    return [{"choices": [{"index": 0, "delta": {"content": text}}]}, *says(*calls)]


def again(stage: Stage) -> Result:
    """The same turn, run once more by a process that has nothing but the ledger."""
    result = stage.run(script=Script([]), events=[])
    assert stage.requests == 0
    return result


def sent(result: Result) -> list[dict[str, Any]]:
    """The messages as a server reads them, from a client that sends strict JSON in UTF-8."""
    body = json.dumps(result.messages, ensure_ascii=False, allow_nan=False).encode()
    read: list[dict[str, Any]] = json.loads(body)
    return read


# -- a turn that is run again --------------------------------------------------------------------------


ENDINGS: dict[str, dict[str, Any]] = {
    "both succeed": {},
    "one fails": {"save": Acts([FAILED])},
    "one fails twice": {"save": Acts([BROKEN, FAILED]), "query": Acts([ABSENT])},
    "one is found": {"save": Acts([BROKEN]), "query": Acts([Applied({"page": 1})])},
    "one is no JSON": {"save": Acts([{1, 2}]), "other": Acts([(1, {2: date(2026, 1, 1)})])},
    "one stays unknown": {"save": Acts([BROKEN]), "query": Acts([UNKNOWN])},
    "one promised in vain": {"save": Acts([BROKEN, FAILED]), "effect": "idempotent"},
}


@pytest.mark.parametrize("name", ENDINGS)
def test_a_turn_run_again_says_the_same(name: str) -> None:
    """Its text, its calls, its results and its reasons: what was said is on record with what was done."""
    stage = Stage([spoken("I save it.", ARGUMENTS, ("other", "{}"))], **ENDINGS[name])
    first = stage.run()
    second = again(stage)

    assert first.messages[0]["content"] == "I save it."
    assert (second.end, second.fault) == (first.end, first.fault)
    assert second.messages == first.messages
    assert second.operations == first.operations


def test_the_reason_of_another_worker_is_told_here() -> None:
    ledger = left("started", lease=60)

    def settle(_: int, name: str) -> None:
        if name == "take_over":
            ledger.fails = lambda _, __: None
            move: Any = {"input": "declared_failure", "state": "failed", "fault": "operation.failed"}
            ledger.record("key-0", owner="gone", number=1, reason="no room", **move)

    ledger.fails = settle

    assert Stage(ledger=ledger).run().operations[0].reason == "no room"


def test_the_reason_of_a_worker_that_is_gone_stays_with_its_operation() -> None:
    ledger = left("started")
    move: Any = {"input": "declared_failure", "state": "uncertain", "fault": "operation.uncertain"}
    ledger.record("key-0", owner="gone", number=1, reason="no room", **move)
    stage = Stage(ledger=ledger)

    assert stage.run().operations[0].reason == "no room"
    assert stage.on_record[0].reason == "no room"


def test_text_is_kept_once_for_a_batch_and_shown_nowhere() -> None:
    stage = Stage([spoken("SECRET", ARGUMENTS, ("other", "{}"))])
    stage.run()

    assert [one.content for one in stage.on_record] == ["SECRET", ""]
    assert "SECRET" not in repr(stage.on_record)


# -- results that JSON has no form for -----------------------------------------------------------------


class Mute:
    def __str__(self) -> str:
        raise RuntimeError


KEPT: dict[str, tuple[object, object]] = {
    "NaN": (float("nan"), "NaN"),
    "infinite": ({"a": [float("inf"), -float("inf")]}, {"a": ["Infinity", "-Infinity"]}),
    "a set": ({1}, "{1}"),
    "a tuple": ((1, 2), [1, 2]),
    "a date": ({"on": date(2026, 1, 1)}, {"on": "2026-01-01"}),
    "keys of another type": ({1: True, None: 2}, {"1": True, "null": 2}),
    "keys that are none": ({(1,): 2}, "a result of type dict, which is not JSON"),
    "mute": (Mute(), "a result of type Mute, which is not JSON"),
    "half a character": ({"a": HALF}, {"a": HALF}),
    "nothing": (None, None),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_tool_that_worked_has_succeeded_whatever_it_gives(name: str) -> None:
    """What JSON has no form for is kept as its text, in the record, the result and the message alike."""
    given, kept = KEPT[name]
    stage = Stage(save=Acts([given]))
    result = stage.run()
    content = sent(result)[1]["content"]

    assert (result.end, stage.save.count) == ("settled", 1)
    assert result.operations[0].result == kept
    assert json.loads(stage.on_record[0].result or "") == kept
    assert content == kept if isinstance(kept, str) else json.loads(content) == kept
    assert again(stage).messages == result.messages


def test_what_a_tool_does_with_its_result_later_changes_nothing() -> None:
    given = {"a": 1}
    stage = Stage(save=Acts([given]))
    result = stage.run()
    given["a"] = 2

    assert result.operations[0].result == {"a": 1}


# -- text that no client can send ----------------------------------------------------------------------


def test_half_a_character_is_spelled_out_in_messages_alone() -> None:
    """A history that holds one could never be sent again. Records keep it, and whole pairs are joined."""
    id = f"call-{HALF}"
    frames = spoken(f"text {HALF}", "{}")
    frames[1]["choices"][0]["delta"]["tool_calls"][0]["id"] = id  # type: ignore[index]
    frames[1]["choices"][0]["delta"]["tool_calls"][0]["function"]["name"] = "odd"  # type: ignore[index]
    ledger = Shaky()
    odd = Tool("odd", None, lambda _, __: f"done {HALF} \ud83d\ude00")
    result = Turn([odd], Script([frames]), "turn", FAST, ledger=ledger).run_sync()
    assistant, answer = sent(result)

    assert (assistant["content"], answer["content"]) == ("text \\ud83d", "done \\ud83d \U0001f600")
    assert assistant["tool_calls"][0]["id"] == answer["tool_call_id"] == "call-\\ud83d"
    assert (result.operations[0].call_id, ledger.of_turn("turn")[0].call_id) == (id, id)


def test_reasons_and_answers_can_be_sent_too() -> None:
    answer: list[object] = [
        {"choices": [{"index": 0, "delta": {"content": HALF}, "finish_reason": "stop"}]},
    ]

    assert sent(Stage([answer]).run()) == [{"role": "assistant", "content": "\\ud83d"}]
    assert sent(Stage(check=Acts([HALF])).run())[1]["content"] == "\\ud83d"
    assert sent(Stage(save=Acts([ToolFailed(HALF)])).run())[1]["content"].endswith(": \\ud83d")


def test_ids_that_differ_still_differ() -> None:
    frames: Any = says(("other", "{}"), ("other", "{}"))
    for fragment, half in zip(frames[:2], (HALF, "\ud83e"), strict=True):
        fragment["choices"][0]["delta"]["tool_calls"][0]["id"] = half
    messages = sent(Stage([frames]).run())

    assert [call["id"] for call in messages[0]["tool_calls"]] == ["\\ud83d", "\\ud83e"]
    assert [message["tool_call_id"] for message in messages[1:]] == ["\\ud83d", "\\ud83e"]


# -- a tool that is no longer there --------------------------------------------------------------------


@pytest.mark.parametrize("save", [Acts(["saved"]), Acts([FAILED])], ids=["succeeded", "failed"])
def test_what_has_ended_needs_no_tool_to_be_told_again(save: Acts) -> None:
    stage = Stage([TWO], save=save)
    first = stage.run()
    result = Turn(stage.tools[1:], Script([]), "turn", FAST, ledger=stage.ledger).run_sync()

    assert (result.end, result.operations, result.messages) == ("settled", first.operations, first.messages)


@pytest.mark.parametrize("state", ["planned", "started", "uncertain"])
def test_what_has_no_end_needs_its_tool(state: str) -> None:
    """Nothing is touched before it is known that all of them can be taken up."""
    ledger = left(state, "planned")
    tools = Stage().tools
    with pytest.raises(ToolLookupError):
        Turn(tools[1:], Script([]), "turn", FAST, ledger=ledger).run_sync()

    assert [one.state for one in ledger.of_turn("turn")] == [state, "planned"]


def test_a_tool_that_is_renamed_leaves_its_ended_operations_readable() -> None:
    stage = Stage()
    first = stage.run()
    renamed = replace(stage.tools[0], name="store")

    assert (
        Turn([renamed], Script([]), "turn", FAST, ledger=stage.ledger).run_sync().messages == first.messages
    )
