"""Each invariant holds of an honest response, and can fail: a record that breaks it is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from wholecall.assemble import Response, read
from wholecall.invariants import OF_RESPONSE, Record
from wholecall_spec.statements import STATEMENTS

FRAMES = [
    {
        "choices": [
            {
                "index": 0,
                "delta": {
                    "tool_calls": [{"index": 0, "id": "call-1", "function": {"name": "a", "arguments": "{}"}}]
                },
            }
        ]
    },
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
]
WHOLE = read(FRAMES)
CUT = read(FRAMES[:1])


def record(response: Response = WHOLE) -> Record:
    """One honest call, as its sender saw it."""
    place = (0, 0)
    return Record(
        ids={place: ["call-1"]},
        pieces={place: ["{", "}"]},
        secrets={"call-1"},
        kept={place: "call-1"},
        now={place: ("call-1", "{}")},
        sizes=[(1, 1), (2, 2)],
        response=response,
    )


def broken() -> dict[str, Record]:
    """For each invariant, a record that breaks it."""
    repaired = tuple(replace(call, arguments='{"a":1}') for call in WHOLE.calls)
    loud = tuple(replace(fault, tool="call-1") for fault in CUT.faults)
    return {
        "identity_kept": replace(record(), now={(0, 0): ("call-2", "{}")}),
        "no_invented_id": replace(record(), ids={}),
        "no_borrowing": replace(record(), pieces={(0, 0): ["{}}"]}),
        "raw_preserved": record(replace(WHOLE, calls=repaired)),
        "limits_kept": replace(record(), sizes=[(2, 2), (3, 2)]),
        "refusal_is_not_success": record(replace(CUT, fault=None)),
        "every_end_explained": record(replace(CUT, faults=())),
        "diagnostics_bounded": record(replace(CUT, faults=loud)),
        "always_ends": record(replace(WHOLE, outcome="nothing")),
    }


@pytest.mark.parametrize("response", [WHOLE, CUT], ids=["whole", "incomplete"])
def test_every_invariant_holds_of_an_honest_response(response: Response) -> None:
    assert (WHOLE.outcome, CUT.outcome) == ("whole", "incomplete")
    assert [one.name for one in OF_RESPONSE if not one.holds(record(response))] == []


def test_the_invariants_are_the_statements_that_are_asked_of_responses() -> None:
    asked = [(one.name, one.sentence) for one in STATEMENTS if "responses" in one.asked_of]

    assert [(one.name, one.sentence) for one in OF_RESPONSE] == asked


@pytest.mark.parametrize("one", OF_RESPONSE, ids=lambda one: one.name)
def test_every_invariant_can_fail(one: object) -> None:
    name = getattr(one, "name", "")

    assert name in [other.name for other in OF_RESPONSE if not other.holds(broken()[name])]


def test_nothing_is_claimed_of_a_response_that_is_still_read() -> None:
    assert all(one.holds(replace(record(), response=None)) for one in OF_RESPONSE)
