"""Everything that is claimed holds in every state, and each claim is seen to fail where a table is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from wholecall import Limits, read
from wholecall.explore.frames import lines
from wholecall.explore.machines import EFFECTS, Machines, Move, RowError
from wholecall.explore.operations import ADRIFT, TOOLS, WROTE, Operation, Operations
from wholecall.explore.scope import COVERING, LIMIT, Scope, ScopeError
from wholecall.explore.search import Exploration, Search, explore
from wholecall_spec.join import Fact
from wholecall_spec.load import load
from wholecall_spec.spec import Spec
from wholecall_spec.statements import STATEMENTS

SPEC = load()
ONE = Scope(calls=1)
TWO = COVERING[-1]


def changed(**rows: dict[str, str]) -> Spec:
    """The tables with these rows changed."""
    tables = []
    for table in SPEC.tables:
        told = tuple(replace(row, **rows.get(row.id, {})) for row in table.rows)
        tables.append(replace(table, rows=told))
    return replace(SPEC, tables=tuple(tables))


NO_REQUEST = {"next": "exhausted", "effect": ""}
BREAKS: dict[str, tuple[dict[str, Any], Scope]] = {
    "identity_kept": ({"I17": {"next": "established", "fault": "", "effect": "set_id"}}, ONE),
    "no_invented_id": ({"I16": {"effect": "append_name"}}, ONE),
    "no_borrowing": ({"A12": {"next": "collecting", "fault": "", "effect": "set_id"}}, ONE),
    "raw_preserved": ({"A11": {"effect": ""}}, ONE),
    "limits_kept": ({"R13": {"next": "many", "fault": "", "effect": "open_call"}}, TWO),
    "whole_batch_first": ({"T22": {"next": "dispatching"}}, ONE),
    "corrupt_never_runs": ({"P10": {"next": "shaped", "fault": ""}}, ONE),
    "bounded_attempts": ({"T09": {"next": "requesting", "effect": "next_attempt"}}, ONE),
    "no_regeneration_after_start": (
        {"T33": {"next": "requesting"}},
        Scope(calls=1, queries=1, tries=1),
    ),
    "unknown_never_blindly_retried": (
        {"O28": {"next": "started", "fault": "", "effect": "open_try"}},
        ONE,
    ),
    "no_false_certainty": ({"O30": {"next": "cancelled"}}, ONE),
    "one_effect_per_key": ({"O28": {"next": "started", "fault": "", "effect": "open_try"}}, ONE),
    "refusal_is_not_success": ({"T11": {"next": "settled", "fault": ""}}, ONE),
    "every_end_explained": ({"T25": {"fault": ""}}, ONE),
    "every_row": ({"T12": {"next": "refused", "fault": "upstream.error"}}, ONE),
    "every_final": ({"T12": {"next": "refused", "fault": "upstream.error"}}, ONE),
    "settled_after_null": ({"I14": {"next": "rejected", "fault": "identity.conflict"}}, ONE),
    "settled_after_regeneration": (
        dict.fromkeys(("T03", "T08", "T10", "T15", "T17", "T19"), NO_REQUEST),
        ONE,
    ),
    "always_ends": ({"T32": {"next": "reconciling"}}, ONE),
}
"""For each claim, rows that break it."""

TRACED = {
    "bounded_attempts",
    "every_final",
    "every_row",
    "limits_kept",
    "settled_after_null",
    "settled_after_regeneration",
}
"""Those that go through lines of their own."""


@pytest.fixture(scope="module")
def one() -> Exploration:
    return explore(SPEC, ONE)


def test_every_claim_can_be_broken() -> None:
    assert {*BREAKS, "diagnostics_bounded"} == {statement.name for statement in STATEMENTS}


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize("name", sorted(BREAKS.keys() - TRACED))
def test_a_table_that_breaks_another_claim_is_caught(name: str) -> None:
    test_a_table_that_breaks_a_claim_is_caught(name)


@pytest.mark.parametrize("name", sorted(TRACED))
def test_a_table_that_breaks_a_claim_is_caught(name: str) -> None:
    rows, scope = BREAKS[name]
    found = explore(changed(**rows), scope)
    violation = next(one for one in found.violations if one.name == name)
    fired = {row for move in violation.run for row in move.rows}

    assert (name, False) in [(told, holds) for told, _, holds in found.invariants]
    if next(s.kind for s in STATEMENTS if s.name == name) == "always":
        assert fired & set(rows), "the run goes through a row that was changed"
    assert bool(violation.rows) is (name in ("every_row", "every_final"))


def test_the_packaged_tables_break_none(one: Exploration) -> None:
    assert [name for name, _, holds in one.invariants if not holds] == []
    assert (one.violations, one.unseen) == ((), ())


PINNED = {
    Scope(): (143_473, 763_936),
    ONE: (3_232, 11_030),
    COVERING[0]: (1_363, 6_485),
    COVERING[1]: (2_188, 5_226),
    COVERING[2]: (889, 3_470),
    COVERING[3]: (1_364, 3_275),
}
"""States and transitions, so that no change of the model goes unseen. Whoever changes it says why."""


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize("scope", PINNED, ids=str)
def test_the_model_is_as_large_as_it_was(scope: Scope) -> None:
    search = Search(SPEC, scope)
    search.run()

    assert (len(search.states), sum(map(len, search.after))) == PINNED[scope]
    assert not [*search.broken(), *search.without_end()]


def test_a_run_is_a_shortest_one_and_its_frames_do_what_it_says() -> None:
    """Found by hand: an id, and another one; nothing shorter clears an established id."""
    rows, scope = BREAKS["identity_kept"]
    violation = next(one for one in explore(changed(**rows), scope).violations if one.name == "identity_kept")
    frames = lines(violation.run)
    response = read(frames, limits=Limits(calls=scope.calls, name=LIMIT, arguments=LIMIT))

    assert [move.event[0] for move in violation.run] == ["started", "fragment", "fragment"]
    assert (response.fault, response.rows[-4:]) == ("identity.conflict", ("S01", "R08", "I17", "S02"))


@pytest.mark.parametrize(
    ("machine", "state", "input"), [("operation", "started", "lost"), ("routing", "one", "missing")]
)
def test_an_input_that_a_state_claims_not_to_see_is_told(machine: str, state: str, input: str) -> None:
    table = SPEC.table(machine)
    sees = tuple(name for name in table.sees(state) if name != input)
    states = tuple(replace(one, sees=sees) if one.name == state else one for one in table.states)
    rows = tuple(row for row in table.rows if (row.state, row.input) != (state, input))
    narrowed = replace(table, states=states, rows=rows)
    tables = tuple(narrowed if one.machine == machine else one for one in SPEC.tables)
    found = explore(replace(SPEC, tables=tables), ONE)

    assert found.unseen == ((machine, state, input),)


def test_only_frames_of_the_last_response_are_frames() -> None:
    events = [
        ("unreachable",),
        ("started",),
        ("bad_frame",),
        ("started",),
        ("content", 1),
        ("done",),
        ("eof",),
    ]
    content = '{"choices": [{"index": 1, "delta": {}}]}'

    assert lines(Move(event, (), None) for event in events) == [content, "[DONE]"]


def test_only_what_could_have_a_second_effect_is_left_to_a_person() -> None:
    """As in a turn: nobody knows what became of the first try, and a tool that only reads is asked again."""
    model = Operations(Machines(SPEC), ONE)
    taken = Operation("uncertain", tries=(ADRIFT,))
    moves = {tool.effect: model.moves(tool, taken, asks=True) for tool in TOOLS if not tool.query}
    after = {effect: found[-1].after.state for effect, found in moves.items()}

    assert after == {"once": "unresolved", "idempotent": "started", "none": "started"}


def test_a_result_that_could_not_be_recorded_may_be_recorded_later() -> None:
    """As in a turn, which keeps it until then."""
    model = Operations(Machines(SPEC), ONE)
    moves = model.moves(TOOLS[0], Operation("started", tries=(WROTE,), effects=1), asks=False)
    (unrecorded,) = (move for move in moves if move.event == ("unrecorded",))
    (later,) = model.moves(TOOLS[0], unrecorded.after, asks=False)

    assert (later.event, later.after.state) == (("result", 1), "succeeded")


@pytest.mark.usefixtures("untraced")
def test_a_circle_is_a_run_without_end() -> None:
    """What is not known is dispatched again, found unknown, and dispatched again."""
    found = explore(changed(T33={"next": "dispatching"}), ONE)
    (violation,) = (one for one in found.violations if one.name == "always_ends")

    assert violation.run[-1].after.turn in ("dispatching", "reconciling")


@pytest.mark.usefixtures("untraced")
def test_an_end_that_loses_its_fault_is_caught() -> None:
    """What came with the input is of no use to a row that does not carry it on."""
    found = explore(changed(T11={"fault": ""}), ONE)
    (violation,) = (one for one in found.violations if one.name == "every_end_explained")

    assert (violation.run[-1].rows, violation.run[-1].after.fault) == (("T11",), "")


@pytest.mark.usefixtures("untraced")
def test_what_was_not_looked_at_is_not_said_to_hold() -> None:
    once = [name for name, _, _ in explore(SPEC, COVERING[3]).invariants]
    twice = [name for name, _, _ in explore(SPEC, COVERING[1]).invariants]

    assert {*twice} - {*once} == {"settled_after_regeneration"}


UNFIT: dict[str, dict[str, dict[str, str]]] = {
    "T01: it leads to checking, where there is nothing to work on": {"T01": {"next": "checking"}},
    "T02: it leads to receiving, where there is nothing to work on": {"T02": {"next": "receiving"}},
    "T08: it leads to dispatching, where there is nothing to work on": {"T08": {"next": "dispatching"}},
    "O03: it leads to started, and no try was begun": {"O03": {"next": "started", "fault": ""}},
    "R01: it takes a fragment, and there is no call to take it": {"R01": {"effect": ""}},
    "J08: no row of gathered holds of what can come: identity blank, name fixed": {"I12": {"next": "blank"}},
    "O02: no code knows the effect tell of operation": {"O02": {"effect": "tell"}},
    "I14: no code knows the effect open_call of identity": {"I14": {"effect": "open_call"}},
}
"""What the tables say that cannot be explored, and rows that say it."""


@pytest.mark.parametrize("trouble", UNFIT)
def test_what_cannot_be_explored_is_told_with_its_row(trouble: str) -> None:
    spec = changed(**UNFIT[trouble])
    row, _, what = trouble.partition(": ")

    with pytest.raises(RowError) as raised:
        explore(spec, ONE)
    assert (str(raised.value), raised.value.row, raised.value.what) == (trouble, row, what)


def test_a_guard_that_no_code_knows_is_told() -> None:
    guards = (*SPEC.table("operation").guards, ("lucky", "it is"))
    spec = changed(O24={"when": "lucky"}, O25={"when": "!lucky"})
    tables = (replace(t, guards=guards) if t.machine == "operation" else t for t in spec.tables)

    with pytest.raises(RowError, match="O24: no code knows the guard lucky of found_absent"):
        explore(replace(spec, tables=tuple(tables)), ONE)


def test_a_fact_that_no_code_knows_is_told() -> None:
    joins = []
    for join in SPEC.joins:
        facts = (*join.facts, Fact("lucky", "it is")) if join.name == "gathered" else join.facts
        joins.append(replace(join, facts=facts))

    with pytest.raises(RowError, match="J08: no code knows the fact lucky of gathered"):
        explore(replace(SPEC, joins=tuple(joins)), ONE)


@pytest.mark.usefixtures("untraced")
def test_a_table_that_never_ends_is_explored_to_its_bounds() -> None:
    """An operation that begins again, held by another worker each time, would gather tries for ever."""
    found = explore(changed(O28={"next": "planned", "fault": ""}), COVERING[0])

    assert "bounded_attempts" in [one.name for one in found.violations]


@pytest.mark.parametrize(("bound", "value"), [("calls", 0), ("tries", True), ("ids", 5), ("tools", 7)])
def test_a_bound_that_cannot_be_is_refused(bound: str, value: Any) -> None:
    with pytest.raises(ScopeError, match=f"the scope's {bound} must be an integer ") as raised:
        Scope(**{bound: value})
    assert (raised.value.name, raised.value.value) == (bound, value)


def test_every_effect_of_the_tables_is_known() -> None:
    known = {table.machine: {name for name, _ in table.effects} for table in SPEC.tables}

    assert [machine for machine, names in known.items() if not names <= {*EFFECTS.get(machine, ())}] == []
