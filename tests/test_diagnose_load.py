"""How a stored diagnostic is read back: whole, or as `unclassified` where it lacks the facts to tell.

Article 1 §6: an old record under one composite name is not declared to be what a new name says.
"""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import pytest

from wholecall import Diagnostic, read
from wholecall.diagnose import UNCLASSIFIED

Fields = dict[str, Any]

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"required": ["a"]}}}]


def frame(id: object, arguments: object, finish: object = "stop") -> Fields:
    part = {"index": 0, "id": id, "function": {"name": "look", "arguments": arguments}}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [part]}, "finish_reason": finish}]}


FRAMES: dict[str, object] = {
    "null first": frame(None, ""),
    "a number": frame(7, ""),
    "no id": frame("", ""),
    "cut": frame("a", '{"'),
    "a schema": frame("a", "{}"),
    "a length": frame("a", "{}", "length"),
    "an error": {"error": {"status": 500, "code": "x", "message": "m"}},
    "a bad frame": "{",
}


@pytest.fixture(params=FRAMES)
def found(request: pytest.FixtureRequest) -> Diagnostic:
    return read([FRAMES[request.param]], TOOLS).faults[0]


# -- whole -----------------------------------------------------------------------------------------


def test_a_record_is_a_json_object_of_everything_but_the_reason_in_the_order_of_the_attributes(
    found: Diagnostic,
) -> None:
    record = found.to_record()

    assert list(record) == [field.name for field in fields(Diagnostic) if field.name != "reason"]
    assert json.loads(json.dumps(record)) == record
    assert record["hint"] == []


def test_a_record_reads_back_as_what_it_was(found: Diagnostic) -> None:
    record = found.to_record()
    text = json.dumps(record)

    for stored in (record, text, text.encode(), text.encode("utf-16")):
        assert Diagnostic.load(stored) == found
        assert Diagnostic.load(stored).to_record() == record
    assert Diagnostic.load(record).reason is None


def test_a_hint_reads_back_too() -> None:
    hinted = replace(read(["{"]).faults[0], hint=("idless-call", "late-fragment"))

    assert Diagnostic.load(hinted.to_record()) == hinted
    assert Diagnostic.load({**hinted.to_record(), "hint": [7, "late-fragment"]}).hint == ("late-fragment",)
    assert Diagnostic.load({**hinted.to_record(), "hint": "late-fragment"}).hint == ()


# -- unclassified ----------------------------------------------------------------------------------


def test_a_composite_error_of_old_stays_unclassified_however_often_it_is_read() -> None:
    """Without the facts it is not known to be a null, and is not declared one."""
    first = Diagnostic.load({"fault": "TOOL_FRAGMENT_ID"})
    second = Diagnostic.load(first.to_record())

    assert first == second == Diagnostic(fault=UNCLASSIFIED)
    assert Diagnostic.load('{"error":"TOOL_FRAGMENT_ID"}') == first


def test_facts_that_are_added_later_make_no_verdict_of_a_record() -> None:
    """A later judgement is a new record."""
    later = {**Diagnostic.load({"fault": "TOOL_FRAGMENT_ID"}).to_record(), "row": "I02", "had_id": False}

    assert Diagnostic.load(later) == Diagnostic(fault=UNCLASSIFIED, row="I02", had_id=False)


TELLS: dict[str, Fields] = {
    "the row": {"fault": "identity.null_first", "row": "I02"},
    "another row of the fault": {"fault": "identity.null_first", "row": "I08"},
    "the relation": {
        "fault": "identity.null_first",
        "machine": "identity",
        "state": "blank",
        "input": "null",
    },
    "a relation that guards decide": {
        "fault": "limit.name",
        "machine": "name",
        "state": "named",
        "input": "text",
    },
    "row and relation": {"fault": "identity.type", "row": "I05", "machine": "identity", "state": "unknown"},
    "a row that carries it": {"fault": "syntax.incomplete", "row": "P08"},
    "a row that carries any": {"fault": "limit.calls", "row": "T10"},
    "a row of other tables": {
        "fault": "index.missing",
        "row": "X1",
        "machine": "m",
        "state": "s",
        "input": "i",
    },
}
NOT: dict[str, Fields] = {
    "no fault": {"row": "I02"},
    "an unknown fault": {"fault": "identity.null", "row": "I02"},
    "a fault that is no text": {"fault": 7, "row": "I02"},
    "nothing beside the fault": {"fault": "identity.null_first"},
    "half of the relation": {"fault": "identity.null_first", "machine": "identity", "state": "unknown"},
    "a row that refuses nothing": {"fault": "identity.null_first", "row": "I14"},
    "the row of another fault": {"fault": "identity.conflict", "row": "I02"},
    "the row of another fault, and a relation": {
        "fault": "identity.null_first",
        "row": "I17",
        "machine": "identity",
        "state": "unknown",
        "input": "null",
    },
    "a row in another state": {"fault": "identity.null_first", "row": "I02", "state": "established"},
    "a row with another input": {"fault": "identity.null_first", "row": "I02", "input": "text"},
    "a row of another machine": {"fault": "identity.null_first", "row": "I02", "machine": "name"},
    "a relation that accepts": {
        "fault": "identity.null_first",
        "machine": "identity",
        "state": "established",
        "input": "null",
    },
    "a relation that is none": {
        "fault": "identity.null_first",
        "machine": "identity",
        "state": "x",
        "input": "y",
    },
    "a row that carries others": {"fault": "structure.schema", "row": "P08"},
    "a row of other tables alone": {"fault": "index.missing", "row": "X1"},
    "a row that is no text": {"fault": "identity.null_first", "row": 2},
}


@pytest.mark.parametrize("record", TELLS.values(), ids=TELLS)
def test_a_fault_stands_beside_a_relation_that_can_raise_it(record: Fields) -> None:
    assert Diagnostic.load(record) == Diagnostic(**record)


@pytest.mark.parametrize("record", NOT.values(), ids=NOT)
def test_a_fault_without_such_a_relation_is_unclassified_and_the_facts_are_kept(record: Fields) -> None:
    facts: Fields = {
        name: value for name, value in record.items() if name != "fault" and isinstance(value, str)
    }
    once = Diagnostic.load(record)

    assert once == Diagnostic(fault=UNCLASSIFIED, **facts)
    assert Diagnostic.load(once.to_record()) == once


# -- foreign records -------------------------------------------------------------------------------


def test_what_is_unknown_or_of_another_type_is_left_out() -> None:
    record: Fields = {
        "fault": "identity.null_first",
        "row": "I02",
        "had_id": 0,
        "choice": True,
        "index": 1.0,
        "fragment": "1",
        "machine": None,
        "length": None,
        "parsed": "false",
        "tool": ["look"],
        "depth": 2,
        "in_string": True,
        "reason": "sk-planted",
        "arguments": "sk-planted",
    }

    assert Diagnostic.load(record) == Diagnostic(
        fault="identity.null_first", row="I02", depth=2, in_string=True
    )
    assert Diagnostic.load(record).reason is None
    assert "sk-planted" not in json.dumps(Diagnostic.load(record).to_record())


@pytest.mark.parametrize(
    "text",
    ["", "null", "7", '"sk-planted"', '["sk-planted"]', '{"sk-planted"', '{"a":sk-planted}', "[" * 100_000],
)
def test_what_is_no_json_object_is_an_error_that_shows_nothing_of_it(text: str) -> None:
    for stored in (text, text.encode(), b"\xff" + text.encode()):
        with pytest.raises(ValueError, match=r"^a diagnostic record is one JSON object$") as caught:
            Diagnostic.load(stored)
        assert type(caught.value) is ValueError
        assert (caught.value.__cause__, caught.value.__context__) == (None, None)
