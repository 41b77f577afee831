"""The loaded specification can be asked: by row, by table, by join, and as a whole."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from typing import Any

import pytest

from wholecall_spec.join import ABSENT, Column, Fact, Join, JoinRow
from wholecall_spec.load import load
from wholecall_spec.spec import Spec
from wholecall_spec.table import Row, assignments, evidence_of

SPEC = load()
IDENTITY, STREAM, OPERATION = (SPEC.table(machine) for machine in ("identity", "stream", "operation"))


def ids(rows: tuple[Row, ...]) -> list[str]:
    return [row.id for row in rows]


def test_a_row_says_which_guards_it_wants_and_how() -> None:
    row = Row("X", "s", "i", "n", "w", "design", when=" latest & ! others_absent&!idempotent ")

    assert row.guards == {"latest": True, "others_absent": False, "idempotent": False}
    assert replace(row, when="").guards == {}


def test_a_row_holds_where_every_guard_is_as_it_wants() -> None:
    row = Row("X", "s", "i", "n", "w", "design", when="g & !h")

    assert [row.holds(truths) for truths in assignments(("g", "h"))] == [False, True, False, False]
    assert replace(row, when="").holds({})


def test_a_row_does_not_guess_a_guard_that_is_not_given() -> None:
    row = Row("X", "s", "i", "n", "w", "design", when="g")

    with pytest.raises(KeyError, match="g"):
        row.holds({"h": True})


@pytest.mark.parametrize(
    ("source", "level"),
    [
        ("article-1 §2", "synthetic"),
        ("article-2", "synthetic"),
        ("design §3.4", "synthetic"),
        ("google/adk-python#4732", "reconstructed"),
        ("https://example.org/issues/1", "reconstructed"),
    ],
)
def test_the_articles_and_the_design_argue_from_made_examples_and_a_report_was_rebuilt(
    source: str, level: str
) -> None:
    assert evidence_of(source) == level
    assert Row("X", "s", "i", "n", "w", source).evidence == level


def test_assignments_are_every_truth_of_the_guards() -> None:
    assert list(assignments(())) == [{}]
    assert list(assignments(("g", "h"))) == [
        {"g": True, "h": True},
        {"g": True, "h": False},
        {"g": False, "h": True},
        {"g": False, "h": False},
    ]


def test_a_table_gives_its_states_and_inputs_by_name() -> None:
    assert IDENTITY.state("blank").about == "only an empty id has arrived"
    assert IDENTITY.input("null").about == "the id field is null"
    for ask in (IDENTITY.state, IDENTITY.input):
        with pytest.raises(KeyError, match="nowhere"):
            ask("nowhere")


def test_a_table_tells_live_states_from_finals() -> None:
    assert [state.name for state in IDENTITY.live] == ["unknown", "blank", "established"]
    assert [(state.name, state.good) for state in IDENTITY.finals] == [("fixed", True), ("rejected", False)]
    assert IDENTITY.states == IDENTITY.live + IDENTITY.finals


def test_a_live_state_sees_what_it_lists_or_else_everything_and_a_final_nothing() -> None:
    assert SPEC.table("routing").sees("none") == ("new", "missing", "other", "end")
    assert SPEC.table("routing").sees("one") == ("new", "known", "missing", "other", "end")
    assert SPEC.table("routing").sees("closed") == ()


def test_a_cell_is_all_rows_of_a_state_and_an_input() -> None:
    assert ids(IDENTITY.cell("established", "null")) == ["I14"]
    assert ids(IDENTITY.cell("established", "text")) == ["I16", "I17"]
    assert IDENTITY.cell("fixed", "null") == ()


def test_the_guards_of_a_cell_stand_in_the_order_of_the_table() -> None:
    assert OPERATION.cell_guards("uncertain", "unanswerable") == ("idempotent", "tries_left", "queries_left")
    assert OPERATION.cell_guards("uncertain", "cancel") == ()


def test_the_rows_into_a_state_are_found() -> None:
    assert ids(IDENTITY.into("blank")) == ["I03", "I07", "I09"]
    assert ids(IDENTITY.into("fixed")) == ["I19"]


def test_the_cells_of_a_table_are_every_state_input_and_truth_with_its_one_row() -> None:
    cells = list(OPERATION.cells())

    unanswerable = [(guards, row.id) for _, input, guards, row in cells if input == "unanswerable"]
    assert len(unanswerable) == 8
    assert [guards for guards, _ in unanswerable] == list(
        assignments(("idempotent", "tries_left", "queries_left"))
    )
    assert [id for _, id in unanswerable] == ["O26", "O27", "O26", "O29", "O26", "O28", "O26", "O28"]
    assert {row.id for *_, row in cells} == set(ids(OPERATION.rows))
    assert {(state, input) for state, input, _, _ in cells} == {
        (state.name, input) for state in OPERATION.live for input in OPERATION.sees(state.name)
    }


@pytest.mark.parametrize(
    ("reason", "input"),
    [
        *((reason, "finish_normal") for reason in ("stop", "tool_calls", "function_call")),
        ("length", "finish_length"),
        *((reason, "finish_filter") for reason in ("content_filter", "refusal")),
        *((reason, "finish_other") for reason in ("STOP", "stop ", "end_turn", "finish_other", "")),
    ],
)
def test_a_wire_text_belongs_to_the_input_that_lists_it_or_else_to_the_other(reason: str, input: str) -> None:
    assert STREAM.classify(reason) == input


def test_a_machine_whose_inputs_list_no_texts_classifies_none() -> None:
    with pytest.raises(LookupError, match="no input of the machine identity lists values"):
        IDENTITY.classify("call-a")


def test_the_specification_gives_its_parts_by_name() -> None:
    assert SPEC.table("name").machine == "name"
    assert SPEC.join("outcome").to == ("response",)
    assert SPEC.fault("index.type").kind == "regenerate"
    for ask in (SPEC.table, SPEC.join, SPEC.fault, SPEC.find):
        with pytest.raises(KeyError, match="nowhere"):
            ask("nowhere")


def test_a_row_is_found_by_its_id_with_the_table_or_join_it_stands_in() -> None:
    table, row = SPEC.find("I14")
    join, join_row = SPEC.find("J22")

    assert table == IDENTITY
    assert isinstance(row, Row)
    assert (row.state, row.input) == ("established", "null")
    assert join == SPEC.join("turn_receives")
    assert isinstance(join_row, JoinRow)
    assert join_row.gives == "upstream_refused"


def changed(value: Any) -> list[Any]:
    """The value with one word of it changed, in every way."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str):
        return [value + "x"]
    if isinstance(value, tuple):
        return [value[:-1], *((*value[:-1], new) for new in changed(value[-1]))] if value else [("x",)]
    assert is_dataclass(value)
    return [
        replace(value, **{field.name: new})  # type: ignore[type-var]
        for field in fields(value)
        for new in changed(getattr(value, field.name))
    ]


def test_the_digest_changes_with_any_word() -> None:
    variants: list[Spec] = changed(SPEC)

    digests = {variant.digest for variant in variants}
    assert len(digests) == len(variants) > 50
    assert SPEC.digest not in digests
    assert re.fullmatch("[0-9a-f]{12}", SPEC.digest)
    assert load().digest == SPEC.digest


def test_nothing_of_the_specification_can_be_changed_in_place() -> None:
    for thing in (SPEC, SPEC.joins[0], SPEC.faults[0], IDENTITY, IDENTITY.rows[0]):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, fields(thing)[0].name, "other")


def nowhere(*machines: str) -> dict[str, frozenset[str]]:
    return dict.fromkeys(machines, frozenset())


JOIN = Join(
    "tried",
    "a",
    ("turn",),
    (Column("stream", "each", ("open", "complete")), Column("proposal", "one", ("gathered", "shaped"))),
    (Fact("late", "l"),),
    (
        JoinRow("X1", (("late", "yes"),), "a", "w", "s"),
        JoinRow("X2", (("stream", "none"),), "b", "w", "s"),
        JoinRow("X3", (("stream", "some open"), ("proposal", "gathered shaped")), "c", "w", "s"),
        JoinRow("X4", (("stream", "all complete"), ("proposal", "!shaped")), "d", "w", "s"),
    ),
)


@pytest.mark.parametrize(
    ("streams", "proposal", "late", "gives"),
    [
        ((), "", True, "a"),
        ((), "shaped", False, "b"),
        (("open",), "gathered", False, "c"),
        (("open", "complete"), "shaped", False, "c"),
        (("complete",), "gathered", False, "d"),
        (("complete",), "", False, "d"),
    ],
)
def test_the_first_row_that_holds_decides(
    streams: tuple[str, ...], proposal: str, late: bool, gives: str
) -> None:
    one = frozenset((proposal,)) if proposal else frozenset[str]()

    assert JOIN.decide({"stream": frozenset(streams), "proposal": one}, {"late": late}).gives == gives


def test_a_machine_that_was_not_begun_is_absent() -> None:
    seen = {"stream": frozenset(("complete",)), "proposal": frozenset[str]()}
    absent = JoinRow("X5", (("proposal", ABSENT),), "e", "w", "s")

    assert JOIN.holds(absent, seen, {})
    assert not JOIN.holds(replace(absent, cells=(("proposal", f"!{ABSENT}"),)), seen, {})


@pytest.mark.parametrize("streams", [("complete",), ("complete", "open")])
def test_where_no_row_holds_nothing_is_guessed(streams: tuple[str, ...]) -> None:
    join = replace(JOIN, rows=JOIN.rows[3:])
    proposal = frozenset(("shaped",)) if "open" not in streams else frozenset(("gathered",))

    with pytest.raises(LookupError, match="no row of the join tried holds"):
        join.decide({"stream": frozenset(streams), "proposal": proposal})


def test_a_join_without_facts_is_asked_without_them() -> None:
    assert SPEC.join("turn_checks").decide(nowhere("proposal")).gives == "nothing"


def test_the_situations_of_a_join_are_everything_it_can_see() -> None:
    situations = list(JOIN.situations())

    streams = [set(), {"open"}, {"complete"}, {"open", "complete"}]
    proposals = [set(), {"gathered"}, {"shaped"}]
    assert [(set(seen["stream"]), set(seen["proposal"]), facts) for seen, facts in situations] == [
        (stream, proposal, {"late": late})
        for stream in streams
        for proposal in proposals
        for late in (True, False)
    ]


@pytest.mark.parametrize("join", SPEC.joins, ids=lambda join: join.name)
def test_every_situation_of_a_real_join_has_a_row(join: Join) -> None:
    decided = {join.decide(seen, facts).id for seen, facts in join.situations()}

    assert decided == {row.id for row in join.rows}
