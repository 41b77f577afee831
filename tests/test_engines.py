"""Two engines run the tables and do the same; what rows do and ask is a small pure function each.

The engines are walked through every (state, input, guards), and at random from the initial state. What the
tables say is held to the articles in `test_tables.py`; here it is only that both engines say it.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wholecall import WholecallError, effects, guards
from wholecall.engine import Compiled, Engine, NoRowError, Step
from wholecall.machines import Reference
from wholecall.text import NO_TEXT, Rope, has_half, join_halves, joined, settle
from wholecall_spec.load import load
from wholecall_spec.table import MACHINES, Table, assignments

SPEC = load()
ENGINES: tuple[Engine, ...] = (Compiled(SPEC), Reference(SPEC))
HIGH, LOW, SMILE = "\ud83d", "\ude00", "\U0001f600"


@pytest.fixture(params=MACHINES)
def table(request: pytest.FixtureRequest) -> Table:
    return SPEC.table(request.param)


def truths(table: Table) -> list[dict[str, bool]]:
    """Every truth of every guard of a table, also of those that a cell does not ask."""
    return list(assignments(tuple(name for name, _ in table.guards)))


def test_both_engines_do_what_the_row_says_for_every_state_input_and_guards(table: Table) -> None:
    """The row is found here by reading the table from top to bottom, and it is the only one."""
    fired = set()
    for state in table.live:
        for input in table.sees(state.name):
            for given_guards in truths(table):
                (row,) = [row for row in table.cell(state.name, input) if row.holds(given_guards)]
                expected = Step(row.id, row.next, row.effect, row.fault)
                fired.add(row.id)

                for engine in ENGINES:
                    assert engine.step(table.machine, state.name, input, given_guards) == expected

    assert fired == {row.id for row in table.rows}


def unseen(table: Table) -> Iterator[tuple[str, str]]:
    for state in table.states:
        for input in [*(input.name for input in table.inputs), "to_rejected", "no such input"]:
            if input not in table.sees(state.name):
                yield state.name, input


def test_what_a_state_does_not_see_is_an_error_that_names_state_and_input(table: Table) -> None:
    """Nothing leaves a final state, and no input is taken in silence."""
    for state, input in unseen(table):
        for engine in ENGINES:
            with pytest.raises(NoRowError) as caught:
                engine.step(table.machine, state, input, truths(table)[0])
            error = caught.value
            assert isinstance(error, (WholecallError, LookupError))
            assert (error.machine, error.state, error.input) == (table.machine, state, input)
            assert str(error) == f"{table.machine} has no row for {input} in {state}"
            assert (error.__cause__, error.__context__) == (None, None)


def test_a_guard_that_decides_must_be_given(table: Table) -> None:
    """A guard that is not given is no guard that does not hold."""
    for state in table.live:
        for input in table.sees(state.name):
            asked = table.cell_guards(state.name, input)
            for engine in ENGINES:
                if asked:
                    with pytest.raises(KeyError):
                        engine.step(table.machine, state.name, input)
                else:
                    engine.step(table.machine, state.name, input)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_both_engines_walk_the_same_way(data: st.DataObject) -> None:
    """From the initial state to a final one, or forty steps; many machines are on their way at once."""
    tables = data.draw(st.lists(st.sampled_from(SPEC.tables), min_size=1, max_size=3))
    at = [(table.initial, table.initial) for table in tables]
    for _ in range(40):
        live = [n for n, (state, _) in enumerate(at) if not tables[n].state(state).final]
        if not live:
            return
        n = data.draw(st.sampled_from(live))
        table, states = tables[n], at[n]
        input = data.draw(st.sampled_from(table.sees(states[0])))
        asked = {name: data.draw(st.booleans()) for name in table.cell_guards(states[0], input)}
        one, other = (e.step(table.machine, s, input, asked) for e, s in zip(ENGINES, states, strict=True))

        assert one == other
        at[n] = (one.state, other.state)


# -- what rows do, and what they ask -----------------------------------------------------------------


class Call:
    def __init__(self, index: int) -> None:
        self.index = index


def rope(*pieces: str) -> Rope:
    text = NO_TEXT
    for piece in pieces:
        text = effects.append_arguments(text, piece)
    return text


def functions(module: ModuleType) -> set[str]:
    return {n for n, f in inspect.getmembers(module, inspect.isfunction) if f.__module__ == module.__name__}


def test_every_effect_and_guard_of_a_response_is_one_function() -> None:
    """`route` needs none; what a turn and its operations do is not here."""
    tables = [table for table in SPEC.tables if table.machine not in ("turn", "operation")]

    assert functions(effects) == {name for table in tables for name, _ in table.effects} - {"route"}
    assert functions(guards) == {name for table in tables for name, _ in table.guards}


def test_open_call_adds_a_call_at_its_index_and_leaves_the_calls_before_alone() -> None:
    first, second = Call(5), Call(3)
    before = {5: first}

    assert effects.open_call(before, second) == {5: first, 3: second}
    assert before == {5: first}
    assert effects.open_call({}, first) == before


def test_set_id_makes_the_text_the_id_verbatim() -> None:
    assert effects.set_id(None, " Call-A ") == " Call-A "
    assert effects.set_id(None, HIGH + LOW) == SMILE


def test_append_name_adds_the_text_at_the_end() -> None:
    assert effects.append_name("", "look") == "look"
    assert effects.append_name("look ", " up") == "look  up"
    assert effects.append_name(HIGH, LOW) == SMILE
    assert effects.append_name(LOW, HIGH) == LOW + HIGH


def test_append_arguments_adds_the_text_verbatim_and_leaves_the_text_before_alone() -> None:
    before = rope('{"a"', " : ")
    kept = copy.copy(before)
    after = effects.append_arguments(before, "1}\n")

    assert joined(after) == '{"a" : 1}\n'
    assert (before, joined(before)) == (kept, '{"a" : ')


def test_note_finish_keeps_the_first_reason() -> None:
    assert effects.note_finish(None, "stop") == "stop"
    assert effects.note_finish("stop", "tool_calls") == "stop"


@pytest.mark.parametrize(
    ("calls", "limit", "holds"), [(0, 1, True), (1, 1, False), (1, 2, True), (3, 2, False)]
)
def test_calls_left_holds_where_one_more_stays_within_the_limit(calls: int, limit: int, holds: bool) -> None:
    assert guards.calls_left(calls, limit) is holds


def test_same_id_holds_where_the_text_equals_the_established_id() -> None:
    assert guards.same_id("a", "a") is True
    assert guards.same_id(SMILE, HIGH + LOW) is True
    for other in ("b", "A", "a ", "aa"):
        assert guards.same_id("a", other) is False
    assert guards.same_id(None, "a") is False


@pytest.mark.parametrize(
    ("before", "text", "length"),
    [
        ("", "abc", 3),
        ("ab", "c", 3),
        ("ab" + HIGH, LOW, 3),
        (HIGH, LOW + HIGH, 2),
        (LOW, HIGH, 2),
        (SMILE, SMILE, 2),
    ],
)
def test_a_text_fits_where_the_joined_text_has_no_more_characters_than_the_limit(
    before: str, text: str, length: int
) -> None:
    """For names and for arguments, which count alike."""
    for limit in (length - 1, length, length + 1):
        holds = limit >= length
        for pieces in ([before], list(before)):
            assert guards.arguments_fit(rope(*pieces), text, limit) is holds
        assert guards.name_fits(before, text, limit) is holds


# -- text ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "half", "whole"),
    [
        ("", False, ""),
        ("abc", False, "abc"),
        ("é" + SMILE, False, "é" + SMILE),
        (HIGH + LOW, True, SMILE),
        (LOW + HIGH, True, LOW + HIGH),
        (HIGH + HIGH + LOW, True, HIGH + SMILE),
        ("a" + HIGH, True, "a" + HIGH),
        ("\ud800\udc00\udbff\udfff", True, "\U00010000\U0010ffff"),
        ("\ud7ff\ue000", False, "\ud7ff\ue000"),
    ],
)
def test_halves_join_where_they_are_a_pair_and_stay_where_not(text: str, half: bool, whole: str) -> None:
    assert has_half(text) is half
    assert join_halves(text) == whole


@given(st.lists(st.text(st.sampled_from("a\n" + HIGH + LOW + SMILE), max_size=3), max_size=6))
def test_a_rope_is_its_pieces_in_order_however_often_it_was_settled(pieces: list[str]) -> None:
    text = settled = NO_TEXT
    for piece in pieces:
        text = effects.append_arguments(text, piece)
        settled = settle(effects.append_arguments(settled, piece))
    whole = join_halves("".join(pieces))

    assert joined(text) == joined(settled) == whole
    assert text[2] == len("".join(pieces)) >= settled[2] == len(whole)


def test_a_rope_may_have_as_many_pieces_as_a_stream_has_frames() -> None:
    """It never recurses: neither to be joined, nor when it is let go."""
    text = rope(*["ab"] * 60_000)

    assert joined(text) == "ab" * 60_000
    del text
