"""Streams are made from the tables: of every kind, and the same from the same choices."""

from __future__ import annotations

from collections import Counter
from functools import cache
from random import Random

import pytest

from wholecall import Limits, read
from wholecall.cases import ABORT, EOF, read_chunks
from wholecall.explore.pairs import feasible
from wholecall.fuzz.reading import MACHINES, Reading, expect
from wholecall.fuzz.response import Bytes
from wholecall.fuzz.sender import SMALL, STEPS, Sender
from wholecall.fuzz.values import MARK, NO_OBJECTS, OBJECTS
from wholecall.fuzz.walk import Coverage, Dealer, limits_of
from wholecall.syntax import read_syntax
from wholecall.text import has_half
from wholecall_generated.tables import SPEC

pytestmark = pytest.mark.usefixtures("untraced")


def streams(count: int, own: bool = True, seed: int = 0) -> list[Sender]:
    known = Coverage()
    random = Random(seed)  # noqa: S311 - a choice of streams
    found = []
    for number in range(count):
        sender = Sender(Dealer(random, known), limits_of(number, own))
        sender.send_all()
        known.pairs.update(sender.reading.pairs())
        found.append(sender)
    return found


@cache
def own() -> list[Sender]:
    return streams(3000)


@cache
def foreign() -> list[Sender]:
    return streams(600, own=False)


def test_every_row_and_nearly_every_pair_is_met() -> None:
    of = feasible(SPEC)
    rows = {row for sender in own() for row in sender.expected.rows}
    pairs = {pair for sender in own() for pair in sender.reading.pairs()}

    assert of.rows - rows == set()
    assert len(of.pairs - pairs) <= 0.05 * len(of.pairs)
    assert pairs <= of.pairs, "the explorer knows what can follow what"


def test_the_tables_say_what_wholecall_makes_of_them() -> None:
    """Rows, outcome, fault, the row that refused, and the calls of what is whole."""
    for sender in own()[:1200]:
        expected = sender.expected
        frames = [chunk for chunk in sender.chunks if chunk not in (EOF, ABORT)]
        if ABORT in sender.chunks:
            response = read_chunks(sender.chunks, limits=sender.limits)
        else:
            response = read(frames, limits=sender.limits)

        assert (response.outcome, response.fault, response.rows) == (
            expected.outcome,
            expected.fault,
            expected.rows,
        )
        assert [fault.row for fault in response.faults[:1]] == [expected.row] * (not expected.legal)
        calls = [(call.id, call.name, call.arguments) for call in response.calls]
        assert [tuple(call) for call in expected.calls] == (calls if response.outcome == "whole" else [])


def test_what_is_expected_of_chunks_is_what_was_sent() -> None:
    for sender in own()[:300]:
        assert expect(sender.chunks, sender.limits) == sender.expected


def test_the_same_choices_send_the_same_stream() -> None:
    one, other = streams(50), streams(50)

    assert [sender.chunks for sender in one] == [sender.chunks for sender in other]


def test_the_first_choices_send_the_plainest_stream() -> None:
    """One whole call in one fragment, and the end: what all shrinking leads to."""
    sender = Sender(Bytes())
    sender.send_all()
    (call,) = sender.expected.calls

    assert sender.expected.outcome == "whole"
    assert (call.name, call.arguments) == ("look", "{}")
    assert len(sender.chunks) == 3, sender.chunks


def test_others_are_never_sent_beyond_a_limit() -> None:
    faults = {sender.expected.fault for sender in foreign()}

    assert not [fault for fault in faults if fault and fault.startswith("limit.") and fault != "limit.depth"]
    assert all(sender.limits == Limits() for sender in foreign())


def test_small_limits_are_passed() -> None:
    faults = {sender.expected.fault for sender in own()}

    assert {"limit.calls", "limit.name", "limit.arguments", "limit.depth"} <= faults
    assert {sender.limits for sender in own()} == {*SMALL}


def test_streams_are_of_every_kind() -> None:
    """Interleaved, in two choices, cut between halves of a character, whole, and never too long."""
    outcomes = Counter(sender.expected.outcome for sender in own())
    texts = [
        fragment["function"].get("arguments")
        for sender in own()
        for chunk in sender.chunks
        if isinstance(chunk, dict) and isinstance(chunk.get("choices"), list)
        for part in chunk["choices"]
        if isinstance(part.get("delta"), dict)
        for fragment in part["delta"].get("tool_calls") or ()
        if isinstance(fragment, dict) and isinstance(fragment.get("function"), dict)
    ]

    assert {*outcomes} == {name for name, _ in SPEC.outcomes}
    assert outcomes["whole"] > 0.1 * len(own())
    assert any(isinstance(text, str) and has_half(text) for text in texts)
    assert any(len(sender.reading.choices) == 2 for sender in own())
    assert any(len(c.calls) == 4 for sender in own() for c in sender.reading.choices.values())
    assert max(len(sender.chunks) for sender in own()) <= STEPS + 16, "no more than what was missing"


def test_the_texts_are_what_they_are_said_to_be() -> None:
    assert all(isinstance(read_syntax(text).value, dict) for text in OBJECTS)
    assert not any(isinstance(read_syntax(text, depth=4).value, dict) for text in NO_OBJECTS)
    assert all(MARK not in name for name in ("look", "save_report", "up"))


def test_a_trail_is_that_of_one_machine() -> None:
    """Two calls, interleaved: the second's rows do not stand among the first's."""
    reading = Reading()
    for index, id in ((0, "a"), (1, "b"), (0, None)):
        fragment = {"index": index, "id": id}
        reading.feed({"choices": [{"index": 0, "delta": {"tool_calls": [fragment]}}]})
    pairs = {*reading.pairs()}

    assert ("I04", "I14") in pairs
    assert ("I04", "I04") not in pairs
    assert ("R01", "R06") in pairs
    assert ("R06", "R14") in pairs


def test_feasible_pairs_are_all_that_the_tables_allow_but_these() -> None:
    """By hand: where one row leads to the state of the other, it can follow, but for these.

    A finish reason in a frame without fragments comes after the frame's content, so no finish row follows
    another, and S02 always follows the fragment that was refused. P12 and P13 are of the turn.
    """
    tables = [SPEC.table(machine) for machine in MACHINES]
    joined = {(a.id, b.id) for table in tables for a in table.rows for b in table.rows if a.next == b.state}
    finishes = {row.id for row in SPEC.table("stream").rows if row.input.startswith("finish")}
    never = {(a, b) for a, b in joined if {a, b} <= finishes} | {
        ("S03", "S02"),
        ("P11", "P12"),
        ("P11", "P13"),
    }

    assert joined - feasible(SPEC).pairs == never
    assert feasible(SPEC).pairs <= joined
    assert {row.id for table in tables for row in table.rows} - feasible(SPEC).rows == {"P12", "P13"}
