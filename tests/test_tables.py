"""The machines are right: what the design and the articles say of them, written down a second time by hand.

Both directions are compared, for every truth of the guards, so that one rule may stand in several rows.
"""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

import pytest

from wholecall_spec.load import load
from wholecall_spec.table import MACHINES, assignments

SPEC = load()

STATES = {
    "routing": "none one many; closed+ rejected",
    "identity": "unknown blank established; fixed+ rejected",
    "name": "unnamed named; fixed+ rejected",
    "arguments": "absent collecting; collected+ rejected",
    "stream": "open finished; complete+ incomplete refused rejected",
    "proposal": "gathered filled distinct parsed shaped;"
    " answered+ permitted+ rejected malformed invalid denied",
    "turn": "requesting receiving checking authorizing dispatching reconciling;"
    " answered+ settled+ returned declined refused exhausted unresolved cancelled",
    "operation": "planned started uncertain; succeeded+ failed cancelled unresolved",
}
"""The live states from the initial one on; the finals, a + at each that is good."""

GRIDS = {
    "routing": """
        none:
          new -> one (open_call)
        one many:
          new [calls_left]  -> many (open_call)
          new [!calls_left] -> rejected limit.calls
          known             -> same (route)
        none one many:
          missing -> rejected index.missing
          other   -> rejected index.type
          end     -> closed
        """,
    "identity": """
        unknown:
          omitted -> unknown
          empty   -> blank
        blank:
          omitted -> blank
          empty   -> blank
        unknown blank:
          null  -> rejected identity.null_first
          text  -> established (set_id)
          other -> rejected identity.type
          end   -> rejected identity.missing
        established:
          omitted         -> established
          null            -> established
          empty           -> rejected identity.conflict
          text [same_id]  -> established
          text [!same_id] -> rejected identity.conflict
          other           -> rejected identity.type
          end             -> fixed
        """,
    "name": """
        unnamed named:
          omitted null empty -> same
          text [name_fits]   -> named (append_name)
          text [!name_fits]  -> rejected limit.name
          other              -> rejected name.type
        unnamed:
          end -> rejected name.missing
        named:
          end -> fixed
        """,
    "arguments": """
        absent collecting:
          omitted null empty    -> same
          text [arguments_fit]  -> collecting (append_arguments)
          text [!arguments_fit] -> rejected limit.arguments
          other                 -> rejected arguments.type
          end                   -> collected
        """,
    "stream": """
        open:
          fragment         -> open
          fragment_refused -> rejected carried
          finish_normal    -> finished (note_finish)
          finish_length    -> incomplete stream.cut_short
          finish_filter    -> refused stream.filtered
          finish_other     -> rejected stream.unknown_finish
          done eof         -> incomplete stream.no_finish
        finished:
          fragment                                 -> rejected stream.after_finish
          finish_normal                            -> finished
          finish_length finish_filter finish_other -> rejected stream.conflicting_finish
          done eof                                 -> complete
        open finished:
          content   -> same
          error     -> refused upstream.error
          abort     -> incomplete stream.aborted
          bad_frame -> rejected stream.bad_frame
        """,
    "proposal": """
        gathered:
          many_choices       -> rejected proposal.many_choices
          field_fault        -> rejected carried
          no_calls_announced -> rejected proposal.no_calls
          no_calls           -> answered
          fields_fixed       -> filled
        filled:
          duplicate_id -> rejected proposal.duplicate_id
          distinct_ids -> distinct
        distinct:
          bad_syntax -> malformed carried
          syntax_ok  -> parsed
        parsed:
          bad_structure -> invalid carried
          structure_ok  -> shaped
        shaped:
          business_no -> denied business.denied
          business_ok -> permitted
        """,
    "turn": """
        requesting:
          started                      -> receiving
          resumed                      -> reconciling
          unreachable [attempts_left]  -> requesting turn.unreachable (next_attempt)
          unreachable [!attempts_left] -> exhausted turn.unreachable
          upstream_refused             -> refused upstream.refused
        receiving:
          upstream_refused                     -> refused carried
          incomplete rejected [attempts_left]  -> requesting carried (next_attempt)
          incomplete rejected [!attempts_left] -> exhausted carried
          complete                             -> checking
        checking:
          answered                                    -> answered
          rejected malformed invalid [attempts_left]  -> requesting carried (next_attempt)
          rejected malformed invalid [!attempts_left] -> exhausted carried
          denied                                      -> returned business.denied
          permitted                                   -> authorizing
        authorizing:
          authorized   -> dispatching
          unauthorized -> declined host.unauthorized
        dispatching reconciling:
          all_known      -> settled
          some_uncertain -> reconciling
          some_cancelled -> cancelled turn.interrupted
        reconciling:
          some_unresolved -> unresolved operation.unresolved
        requesting receiving checking authorizing:
          cancel -> cancelled turn.cancelled
        dispatching reconciling:
          cancel [any_uncertain]  -> unresolved turn.cancelled
          cancel [!any_uncertain] -> cancelled turn.cancelled
        """,
    "operation": """
        planned:
          start      -> started (open_try)
          taken      -> uncertain operation.uncertain
          cancel     -> cancelled operation.cancelled
          unrecorded -> cancelled ledger.unavailable
        started uncertain:
          result                                     -> succeeded (record_result)
          declared_failure [latest & others_absent]  -> failed operation.failed
          declared_failure [latest & !others_absent] -> uncertain operation.uncertain
        started:
          declared_failure [!latest]                         -> started
          raised timeout cancel lost unrecorded [effectless] -> failed operation.failed
          raised timeout cancel lost [!effectless]           -> uncertain operation.uncertain
          unrecorded [!effectless]                           -> uncertain ledger.unavailable
        uncertain:
          declared_failure [!latest]                              -> uncertain operation.uncertain
          found_applied                                           -> succeeded (record_result)
          found_absent [tries_left]                               -> started (open_try)
          found_absent [!tries_left]                              -> failed operation.failed
          unanswerable [queries_left]                             -> uncertain operation.uncertain (ask_again)
          unanswerable [!queries_left & idempotent & tries_left]  -> started (open_try)
          unanswerable [!queries_left & idempotent & !tries_left] -> unresolved operation.unresolved
          unanswerable [!queries_left & !idempotent]              -> unresolved operation.unresolved
          cancel                                                  -> uncertain operation.uncertain
        """,
}
"""Section 3 of the design: `inputs [guards] -> next fault (effect)`, by state; `same` is where it was."""


class Line(NamedTuple):
    """One line of a grid, for one of its states and one of its inputs."""

    state: str
    input: str
    guards: dict[str, bool]
    next: str
    fault: str
    effect: str


LINE = re.compile(
    r"(?P<inputs>[\w ]+?)\s*(?:\[(?P<when>.+)\])?\s*"
    r"-> (?P<next>\w+) ?(?P<fault>[\w.]*) ?(?:\((?P<effect>\w+)\))?"
)


def lines_of(machine: str) -> list[Line]:
    found = []
    states: list[str] = []
    for text in GRIDS[machine].strip().split("\n"):
        if text.endswith(":"):
            states = text.strip(" :").split()
            continue
        line = LINE.fullmatch(text.strip())
        assert line, text
        guards = {word.lstrip("!"): word[0] != "!" for word in (line["when"] or "").split(" & ") if word}
        effect = line["effect"] or ""
        for state, input in itertools.product(states, line["inputs"].split()):
            next_ = state if line["next"] == "same" else line["next"]
            found.append(Line(state, input, guards, next_, line["fault"], effect))
    return found


@pytest.mark.parametrize("machine", MACHINES)
def test_a_machine_has_the_states_of_the_design(machine: str) -> None:
    table = SPEC.table(machine)
    finals = [state.name + "+" * state.good for state in table.finals]

    assert table.initial == table.live[0].name
    assert f"{' '.join(state.name for state in table.live)}; {' '.join(finals)}" == STATES[machine]


@pytest.mark.parametrize("machine", MACHINES)
def test_a_machine_has_the_cells_of_the_design_and_no_others(machine: str) -> None:
    cells = {(state, input) for state, input, _, _ in SPEC.table(machine).cells()}

    assert cells == {(line.state, line.input) for line in lines_of(machine)}


@pytest.mark.parametrize("machine", MACHINES)
def test_a_cell_leads_where_the_design_says_whatever_its_guards_are(machine: str) -> None:
    table, lines = SPEC.table(machine), lines_of(machine)
    for state, input in {(line.state, line.input): None for line in lines}:
        cell = [line for line in lines if (line.state, line.input) == (state, input)]
        guards = tuple({name: None for line in cell for name in line.guards})

        assert set(table.cell_guards(state, input)) == set(guards), (state, input)
        for truths in assignments(guards):
            (line,) = (line for line in cell if line.guards.items() <= truths.items())
            (row,) = (row for row in table.cell(state, input) if row.holds(truths))
            assert (row.next, row.fault, row.effect) == (line.next, line.fault, line.effect), (row, truths)


@pytest.mark.parametrize(
    ("id", "state", "input", "when", "next"),
    [
        ("I13", "established", "omitted", "", "established"),
        ("I14", "established", "null", "", "established"),
        ("I16", "established", "text", "same_id", "established"),
        ("I17", "established", "text", "!same_id", "rejected"),
        ("I15", "established", "empty", "", "rejected"),
        ("I02", "unknown", "null", "", "rejected"),
        ("I08", "blank", "null", "", "rejected"),
        ("I05", "unknown", "other", "", "rejected"),
        ("I11", "blank", "other", "", "rejected"),
        ("I18", "established", "other", "", "rejected"),
    ],
)
def test_the_relations_of_article_1_stand_in_rows_whose_ids_stay(
    id: str, state: str, input: str, when: str, next: str
) -> None:
    """Its table in section 2; I14 is the compatibility that 0.15.2 added."""
    (row,) = (row for row in SPEC.table("identity").cell(state, input) if row.id == id)

    assert (row.when, row.next, row.source) == (when, next, "article-1 §2")


def test_an_early_empty_id_may_be_filled_and_opens_no_door_for_null() -> None:
    """Article 1, section 2, below the table."""
    identity = SPEC.table("identity")
    (filled,), (null,) = identity.cell("blank", "text"), identity.cell("blank", "null")

    assert filled.next == "established"
    assert null.fault == "identity.null_first"


def test_every_end_but_a_good_one_says_why_and_a_good_one_refuses_nothing() -> None:
    for table in SPEC.tables:
        for state in table.finals:
            assert all(bool(row.fault) is not state.good for row in table.into(state.name)), state.name


def test_an_operation_that_is_uncertain_always_says_so() -> None:
    """Also where it was uncertain before: whatever arrives, the last row tells why there is no end."""
    faults = {row.id: row.fault for row in SPEC.table("operation").rows if row.next == "uncertain"}

    assert set(faults.values()) == {"operation.uncertain", "ledger.unavailable"}
    assert [id for id, fault in faults.items() if fault == "ledger.unavailable"] == ["O18"]


def test_other_is_always_refused() -> None:
    """Section 3 of the design: core coerces nothing."""
    rows = [row for table in SPEC.tables for row in table.rows if row.input == "other"]

    assert len(rows) == 10
    assert {(row.next, row.fault.partition(".")[2]) for row in rows} == {("rejected", "type")}
