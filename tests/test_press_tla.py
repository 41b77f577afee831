"""The printed TLA+ module says what the tables say; where TLC is here, it finds what the explorer does."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict, replace

import pytest
from formal import missing, second_opinion

from wholecall.explore.scope import Scope
from wholecall.explore.search import Search
from wholecall.press.tla import CONSTANTS, wholecall_cfg, wholecall_tla
from wholecall.press.tla_claims import CLAIMS
from wholecall_spec.load import load
from wholecall_spec.spec import Spec
from wholecall_spec.statements import STATEMENTS, sentence_of

SPEC = load()
MODULE = wholecall_tla(SPEC)
SAID = " ".join(MODULE.replace("\\*", " ").split())
SMALLEST = Scope(calls=1, attempts=1, queries=1, tries=1)

needs_tlc = pytest.mark.skipif(bool(missing()), reason=f"TLC needs {missing()}")


def changed(row_id: str, **cells: str) -> Spec:
    """The tables with one row changed."""
    tables = []
    for table in SPEC.tables:
        rows = tuple(replace(row, **cells) if row.id == row_id else row for row in table.rows)
        tables.append(replace(table, rows=rows))
    return replace(SPEC, tables=tuple(tables))


def test_every_row_is_an_operator_below_its_reason() -> None:
    lines = MODULE.splitlines()
    for table in SPEC.tables:
        for row in table.rows:
            at = next(at for at, line in enumerate(lines) if line.startswith(f"{row.id}("))
            above = " ".join(line.removeprefix("\\* ") for line in lines[at - 3 : at])

            assert above.endswith(row.why)
            assert f"{row.id}(state, input" in MODULE[MODULE.index(f"\n{table.machine.capitalize()} ==") :]


def test_every_join_row_stands_with_its_reason() -> None:
    for join in SPEC.joins:
        assert " ".join(join.about.split()) in SAID
        for row in join.rows:
            assert f"{row.id}: {row.why}" in SAID


def test_all_that_is_meant_stands_there() -> None:
    for table in SPEC.tables:
        about = [table.about, *(state.about for state in table.states), *(i.about for i in table.inputs)]
        about += [told for _, told in (*table.guards, *table.effects)]

        assert [text for text in about if text not in SAID] == []
    assert [fault.name for fault in SPEC.faults if f'"{fault.name}"' not in MODULE] == []


def test_each_name_is_defined_once() -> None:
    defined = re.findall(r"^(\w+)(?:\([^)]*\))? ==", MODULE, re.MULTILINE)
    variables = re.findall(r"^    (\w+),? +\\\*", MODULE[MODULE.index("VARIABLES") :], re.MULTILINE)
    counts = Counter((*defined, *variables, *CONSTANTS))

    assert [name for name, times in counts.items() if times > 1] == []
    assert {row.id for table in SPEC.tables for row in table.rows} < counts.keys()


def test_brackets_balance_and_the_module_ends() -> None:
    code = re.sub(r"\\\*.*", "", MODULE)
    code = re.sub(r'"[^"\n]*"', "", code)
    for opens, closes in ("()", "[]", "{}", ("<<", ">>")):
        assert code.count(opens) == code.count(closes)
    assert MODULE.rstrip().endswith("=" * 80)
    assert max(map(len, MODULE.splitlines())) <= 110


def test_the_world_gives_each_machine_the_guards_that_it_has() -> None:
    """A function over as many arguments as the world passes: state, input and each guard."""
    code = re.sub(r"\\\*.*", "", MODULE[MODULE.index("note_finish(") :])
    for table in SPEC.tables:
        calls = re.findall(rf"\b{table.machine.capitalize()}\[([^\[\]]*(?:\[[^\]]*\][^\[\]]*)*)\]", code)
        for call in calls:
            flat = re.sub(r"\([^()]*\)|\[[^\]]*\]", "", call)
            assert flat.count(",") + 1 == 2 + len(table.guards), call


def test_a_changed_row_changes_the_text() -> None:
    assert wholecall_tla(changed("I14", next="rejected", fault="identity.conflict")) != MODULE
    assert 'Fails("rejected", Carried)' in wholecall_tla(changed("I14", next="rejected", fault="carried"))


def test_the_claims_are_those_of_the_explorer() -> None:
    """Each with its sentence; but for what a model has no texts for, and two that only TLC is asked."""
    names = [claim.name for claim in CLAIMS]
    known = {statement.name for statement in STATEMENTS}

    assert {one.name for one in STATEMENTS if one.kind != "sometimes"} - {*names} == {"diagnostics_bounded"}
    assert {*names} - known == {"types_kept", "never_stuck"}
    for claim in CLAIMS:
        assert claim.sentence in SAID
        assert claim.name not in known or claim.sentence == sentence_of(claim.name)


def test_the_printed_configuration_is_the_default_scope() -> None:
    assert wholecall_cfg() == wholecall_cfg(**asdict(Scope()))
    assert {name.lower() for name in CONSTANTS} == asdict(Scope()).keys()
    assert "    WHOLE = FALSE\n" in wholecall_cfg()
    assert "    CALLS = 3\n" in wholecall_cfg(calls=3)


@needs_tlc
def test_tlc_finds_as_many_states() -> None:
    search = Search(SPEC, SMALLEST)
    search.run()
    opinion = second_opinion(SPEC, SMALLEST, workers=1)

    assert (opinion.broken, opinion.states) == ("", len(search.states)), opinion.said


BREAKS = {
    "identity_kept": changed("I17", next="established", fault="", effect="set_id"),
    "whole_batch_first": changed("T22", next="dispatching"),
    "unknown_never_blindly_retried": changed("O28", next="started", fault="", effect="open_try"),
    "every_end_explained": changed("T11", fault=""),
    "always_ends": changed("S14", next="open"),
}
"""Claims, and tables that break them."""


@needs_tlc
@pytest.mark.parametrize("name", BREAKS)
def test_tlc_finds_what_a_wrong_row_breaks(name: str) -> None:
    scope = Scope(calls=1, attempts=1, queries=1, tools=1)
    opinion = second_opinion(BREAKS[name], scope, workers=1)

    assert opinion.broken == name, opinion.said
