"""The JSON says everything that the tables say, and its schema suffices to run it.

The interpreter below knows what `wholecall.schema.json` describes, and nothing else: no type of the
specification, no text to parse. It must decide as the tables do in every situation there is.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

import pytest

from wholecall.press.interchange import wholecall_json, wholecall_schema_json
from wholecall.press.prose import ROW_ORDER, members_of
from wholecall_spec.join import Column, Fact, Join, JoinRow
from wholecall_spec.load import load
from wholecall_spec.spec import Fault, Spec
from wholecall_spec.table import ROW_COLUMNS, Input, Row, State, Table

Json = dict[str, Any]

SPEC = load()
TEXT = wholecall_json(SPEC)
WHOLE: Json = json.loads(TEXT)


# -- An interpreter, from the JSON alone


def row_of(machine: Json, state: str, input: str, guards: Mapping[str, bool]) -> Json:
    rows = [row for row in machine["rows"] if (row["state"], row["input"]) == (state, input)]
    (row,) = (row for row in rows if all(guards[name] is truth for name, truth in row["when"].items()))
    return dict(row)


def situations_of(machine: Json) -> Iterator[tuple[str, str, dict[str, bool]]]:
    """Every state with every input it sees, and every truth of the guards that its rows name."""
    for state in machine["states"]:
        for input in state["sees"]:
            cell = [row for row in machine["rows"] if (row["state"], row["input"]) == (state["name"], input)]
            guards = sorted({name for row in cell for name in row["when"]})
            for truths in itertools.product((True, False), repeat=len(guards)):
                yield state["name"], input, dict(zip(guards, truths, strict=True))


def holds(cell: Json, seen: Mapping[str, frozenset[str]], facts: Mapping[str, bool]) -> bool:
    if "fact" in cell:
        return facts[cell["fact"]] is cell["holds"]
    resting, wanted = seen[cell["column"]], set(cell["states"])
    match cell["quantifier"]:
        case "is":
            return (set(resting) or {"absent"}) <= wanted
        case "is_not":
            return not (set(resting) or {"absent"}) & wanted
        case "some":
            return bool(resting & wanted)
        case "all":
            return resting <= wanted
        case _:
            return not resting


def decide(join: Json, seen: Mapping[str, frozenset[str]], facts: Mapping[str, bool]) -> Json:
    return next(dict(row) for row in join["rows"] if all(holds(cell, seen, facts) for cell in row["cells"]))


@pytest.mark.parametrize("table", SPEC.tables, ids=lambda table: table.machine)
def test_the_json_moves_every_machine_as_its_table_does(table: Table) -> None:
    """In every state, on every input it sees, whatever its guards say, the same row holds."""
    (machine,) = (found for found in WHOLE["machines"] if found["machine"] == table.machine)
    expected = [
        (state, input, sorted(guards.items()), row.id, row.next, row.effect or None, row.fault or None)
        for state, input, guards, row in table.cells()
    ]

    actual = [
        (state, input, sorted(guards.items()), row["id"], row["next"], row["effect"], row["fault"])
        for state, input, guards in situations_of(machine)
        for row in [row_of(machine, state, input, guards)]
    ]

    assert sorted(expected, key=str) == sorted(actual, key=str)


@pytest.mark.parametrize("join", SPEC.joins, ids=lambda join: join.name)
def test_the_json_decides_every_join_as_its_table_does(join: Join) -> None:
    """Whatever states and facts a join can see, the same row decides and gives the same."""
    (told,) = (found for found in WHOLE["joins"] if found["name"] == join.name)

    for seen, facts in join.situations():
        expected = join.decide(seen, facts)
        actual = decide(told, seen, facts)

        assert (expected.id, expected.gives) == (actual["id"], actual["gives"]), (seen, facts)


@pytest.mark.parametrize("text", ["stop", "tool_calls", "length", "content_filter", "refusal", "paused"])
def test_the_json_tells_finish_reasons_apart(text: str) -> None:
    """A listed text belongs to the input that lists it, and any other to `*_other`, as the schema says."""
    (stream,) = (found for found in WHOLE["machines"] if found["machine"] == "stream")
    listing = [input["name"] for input in stream["inputs"] if text in input["values"]]

    (actual,) = listing or [x["name"] for x in stream["inputs"] if x["name"].endswith("_other")]

    assert SPEC.table("stream").classify(text) == actual


# -- Nothing is lost on the way


def pairs(named: list[Json]) -> tuple[tuple[str, str], ...]:
    return tuple((entry["name"], entry["about"]) for entry in named)


def tupled(entry: Json) -> Json:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}


def table_from(machine: Json) -> Table:
    rows = (
        Row(
            **{name: row[name] or "" for name in ROW_COLUMNS if name != "when"},
            when=" & ".join(name if truth else f"!{name}" for name, truth in row["when"].items()),
        )
        for row in machine["rows"]
    )
    return Table(
        **{name: machine[name] for name in ("machine", "scope", "about", "initial")},
        states=tuple(State(**tupled(state)) for state in machine["states"]),
        inputs=tuple(Input(**tupled(input)) for input in machine["inputs"]),
        guards=pairs(machine["guards"]),
        effects=pairs(machine["effects"]),
        rows=tuple(rows),
    )


def cell_from(cell: Json) -> tuple[str, str]:
    if "fact" in cell:
        return cell["fact"], "yes" if cell["holds"] else "no"
    first = {"is": "", "is_not": "!"}.get(cell["quantifier"], cell["quantifier"] + " ")
    return cell["column"], (first + " ".join(cell["states"])).strip()


def join_from(join: Json) -> Join:
    rows = (
        JoinRow(
            cells=tuple(map(cell_from, row["cells"])),
            **{field.name: row[field.name] for field in fields(JoinRow) if field.name != "cells"},
        )
        for row in join["rows"]
    )
    return Join(
        join["name"],
        join["about"],
        tuple(join["to"]),
        tuple(Column(**tupled(column)) for column in join["reads"]),
        tuple(Fact(**tupled(fact)) for fact in join["facts"]),
        tuple(rows),
    )


def test_the_specification_can_be_rebuilt_from_the_json() -> None:
    """Every word of every file is there, in the order of the files; what a state sees is written out."""
    expected = [
        replace(table, states=tuple(replace(state, sees=table.sees(state.name)) for state in table.states))
        for table in SPEC.tables
    ]

    actual = Spec(
        tuple(map(table_from, WHOLE["machines"])),
        tuple(map(join_from, WHOLE["joins"])),
        pairs(WHOLE["outcomes"]),
        pairs(WHOLE["kinds"]),
        tuple(Fault(**fault) for fault in WHOLE["faults"]),
    )

    assert replace(SPEC, tables=tuple(expected)) == actual


def test_every_row_tells_the_evidence_of_its_source() -> None:
    """The level is written out, since its rule is in no table."""
    expected = [row.evidence for table in SPEC.tables for row in table.rows]

    assert expected == [row["evidence"] for machine in WHOLE["machines"] for row in machine["rows"]]
    assert {"synthetic"} == {row["evidence"] for join in WHOLE["joins"] for row in join["rows"]}


def test_a_state_may_bear_the_name_of_a_quantifier() -> None:
    """What a cell means is decided by its column: `none` is a state of the one routing."""
    join = SPEC.join("field_refusal")
    row = replace(join.rows[0], cells=(("routing", "none"),))

    whole = json.loads(wholecall_json(replace(SPEC, joins=(replace(join, rows=(row,)),))))

    cells = whole["joins"][0]["rows"][0]["cells"]
    assert cells == [{"column": "routing", "quantifier": "is", "states": ["none"]}]


def test_what_a_docstring_says_may_take_several_lines() -> None:
    """Of the type, and of a field."""

    class Told:
        """One line.

        And two lines
        of more.

        Attributes:
            first: At
                length.
            second: Said.
        """

    assert members_of(Told) == (
        "One line. And two lines of more.",
        {"first": "At length.", "second": "Said."},
    )


def test_a_row_has_every_column_of_the_tables() -> None:
    """The order of the members is ours, and forgets none."""
    assert {*ROW_COLUMNS, "evidence"} == set(ROW_ORDER)


# -- The text


def test_every_row_and_every_fault_has_its_own_line() -> None:
    """A change of one row is a change of one line."""
    rows = [row for part in ("machines", "joins") for item in WHOLE[part] for row in item["rows"]]
    lines = [line.strip().removesuffix(",") for line in TEXT.splitlines()]
    objects = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]

    for expected in (*rows, *WHOLE["faults"], *WHOLE["outcomes"], *WHOLE["kinds"]):
        assert objects.count(expected) >= 1


def test_the_text_is_the_same_in_every_process() -> None:
    """No order of a set, no date, no version and no digest gets into either file."""
    code = (
        "from wholecall_spec.load import load; from wholecall.press.interchange import *;"
        "import sys; sys.stdout.reconfigure(encoding='utf-8');"
        "print(wholecall_json(load()) + wholecall_schema_json(), end='')"
    )
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)

        assert (TEXT + wholecall_schema_json()) == run.stdout.decode().replace("\r\n", "\n")
    assert SPEC.digest not in TEXT
    assert TEXT.endswith("}\n")
