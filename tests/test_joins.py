"""The joins are right: what one machine tells another, written down a second time from the design."""

from __future__ import annotations

import itertools

import pytest

from wholecall_spec.load import load

SPEC = load()

JOINS = {
    "field_refusal": "routing identity name arguments -> stream",
    "fields_end": "stream* -> routing identity name arguments",
    "gathered": "identity* name* -> proposal",
    "outcome": "stream* proposal -> response",
    "turn_receives": "stream* -> turn",
    "turn_checks": "proposal -> turn",
    "operations": "operation* -> turn",
}
"""Who tells whom; a * where there are many."""

GIVES = {
    "field_refusal": "fragment_refused nothing",
    "fields_end": "end nothing",
    "gathered": "many_choices field_fault no_calls_announced no_calls fields_fixed",
    "outcome": "refused rejected incomplete nothing answered whole rejected nothing",
    "turn_receives": "upstream_refused rejected incomplete nothing complete",
    "turn_checks": "answered rejected malformed invalid denied permitted nothing",
    "operations": "some_uncertain some_unresolved some_cancelled all_known",
}
"""What a join says, in the order in which it is tried."""


def test_the_joins_are_those_of_the_design() -> None:
    told = {
        join.name: " ".join(column.machine + "*" * (column.of == "each") for column in join.reads)
        + f" -> {' '.join(join.to)}"
        for join in SPEC.joins
    }

    assert told == JOINS


@pytest.mark.parametrize("name", JOINS)
def test_a_join_is_tried_in_the_order_of_the_design(name: str) -> None:
    gives = [given for given, _ in itertools.groupby(row.gives for row in SPEC.join(name).rows)]

    assert " ".join(gives) == GIVES[name]


DECISIONS = """
    field_refusal | routing=one identity=blank name=named arguments=absent             | nothing
    field_refusal | routing=rejected                                                   | fragment_refused
    field_refusal | routing=one identity=rejected                                      | fragment_refused
    field_refusal | routing=one identity=blank name=rejected                           | fragment_refused
    field_refusal | routing=one identity=blank name=named arguments=rejected           | fragment_refused
    fields_end    | stream=complete                                                    | end
    fields_end    | stream=complete,finished                                           | nothing
    fields_end    | stream=complete,refused                                            | nothing
    gathered      | identity=fixed name=fixed many_choices=yes announced=yes           | many_choices
    gathered      | identity=rejected name=fixed many_choices=yes announced=yes        | many_choices
    gathered      | identity=rejected,fixed name=fixed many_choices=no announced=yes   | field_fault
    gathered      | identity=fixed name=rejected,fixed many_choices=no announced=no    | field_fault
    gathered      | many_choices=no announced=yes                                      | no_calls_announced
    gathered      | many_choices=no announced=no                                       | no_calls
    gathered      | identity=fixed name=fixed many_choices=no announced=no             | fields_fixed
    outcome       | stream=open                                                        | nothing
    outcome       | stream=complete,finished                                           | nothing
    outcome       | stream=refused                                                     | refused
    outcome       | stream=rejected                                                    | rejected
    outcome       | stream=incomplete                                                  | incomplete
    outcome       | stream=complete,incomplete proposal=shaped                         | incomplete
    outcome       | stream=complete                                                    | nothing
    outcome       | stream=complete proposal=parsed                                    | nothing
    outcome       | stream=complete proposal=answered                                  | answered
    outcome       | stream=complete proposal=shaped                                    | whole
    outcome       | stream=complete proposal=permitted                                 | whole
    outcome       | stream=complete proposal=denied                                    | whole
    outcome       | stream=complete proposal=rejected                                  | rejected
    outcome       | stream=complete proposal=malformed                                 | rejected
    outcome       | stream=complete proposal=invalid                                   | rejected
    turn_receives | stream=finished                                                    | nothing
    turn_receives | stream=refused                                                     | upstream_refused
    turn_receives | stream=rejected                                                    | rejected
    turn_receives | stream=incomplete                                                  | incomplete
    turn_receives | stream=complete                                                    | complete
    turn_checks   | proposal=shaped                                                    | nothing
    turn_checks   | proposal=denied                                                    | denied
    turn_checks   | proposal=permitted                                                 | permitted
    operations    | operation=succeeded,unresolved,uncertain,cancelled                 | some_uncertain
    operations    | operation=succeeded,unresolved,cancelled                           | some_unresolved
    operations    | operation=succeeded,failed,cancelled                               | some_cancelled
    operations    | operation=succeeded,failed                                         | all_known
    """


@pytest.mark.parametrize("line", DECISIONS.strip().split("\n"), ids=str.strip)
def test_a_join_decides_as_the_design_says(line: str) -> None:
    name, situation, gives = (part.strip() for part in line.split("|"))
    join = SPEC.join(name)
    given = dict(part.split("=") for part in situation.split())
    seen = {c.machine: frozenset(given.get(c.machine, "").split(",")) - {""} for c in join.reads}

    assert join.decide(seen, {fact.name: given[fact.name] == "yes" for fact in join.facts}).gives == gives


@pytest.mark.parametrize(
    ("name", "machine", "state"),
    [
        ("gathered", "proposal", "gathered"),
        ("turn_receives", "turn", "receiving"),
        ("turn_checks", "turn", "checking"),
        ("operations", "turn", "reconciling"),
    ],
)
def test_what_a_join_gives_is_what_the_hearer_waits_for(name: str, machine: str, state: str) -> None:
    gives = {row.gives for row in SPEC.join(name).rows} - {"nothing"}

    assert gives == set(SPEC.table(machine).sees(state)) - {"cancel"}


def test_the_finish_reasons_that_announce_calls_are_those_of_the_design() -> None:
    values = {fact.name: fact.values for fact in SPEC.join("gathered").facts}

    assert values == {"many_choices": (), "announced": ("tool_calls", "function_call")}


def test_the_outcomes_are_those_of_the_design() -> None:
    assert [name for name, _ in SPEC.outcomes] == ["whole", "answered", "rejected", "incomplete", "refused"]
