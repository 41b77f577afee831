"""The faults and the words of the wire are those of the design, and the tables are written for a reader."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence

import pytest

from wholecall_spec.join import JoinRow
from wholecall_spec.load import load, packaged
from wholecall_spec.table import MACHINES, Row

SPEC = load()
TEXTS = {
    name: (packaged() / f"{name}.toml").read_text(encoding="utf-8").split("\n")
    for name in (*MACHINES, "joins")
}

KINDS = {
    "regenerate": "index.* identity.* name.* arguments.* stream.* proposal.* syntax.* structure.* limit.*"
    " turn.unreachable",
    "return": "business.denied host.unauthorized",
    "reconcile": "operation.uncertain operation.unresolved ledger.unavailable",
    "stop": "upstream.error upstream.refused stream.filtered turn.cancelled turn.interrupted"
    " operation.failed operation.cancelled",
}
"""Section 4 of the design; of `stream.*` all but filtered."""


def test_a_fault_is_of_the_kind_that_the_design_gives_it() -> None:
    assert [name for name, _ in SPEC.kinds] == list(KINDS)
    for fault in SPEC.faults:
        kinds = [
            kind
            for kind, names in KINDS.items()
            if any(fnmatch.fnmatch(fault.name, n) for n in names.split())
        ]
        assert fault.kind == kinds[-1], fault.name
    for pattern in " ".join(KINDS.values()).split():
        assert fnmatch.filter([fault.name for fault in SPEC.faults], pattern), pattern


def test_every_fault_is_the_fault_of_some_row_or_carried_by_some_input() -> None:
    used = {row.fault for table in SPEC.tables for row in table.rows}
    used |= {name for table in SPEC.tables for input in table.inputs for name in input.carries}

    assert used - {"", "carried"} == {fault.name for fault in SPEC.faults}


FAULTS = """
    index.missing index.type
    identity.null_first identity.conflict identity.type identity.missing
    name.type name.missing arguments.type
    stream.after_finish stream.cut_short stream.filtered stream.unknown_finish stream.conflicting_finish
    stream.no_finish stream.aborted stream.bad_frame
    upstream.error upstream.refused
    proposal.many_choices proposal.no_calls proposal.duplicate_id
    syntax.incomplete syntax.invalid syntax.duplicate_key
    structure.not_object structure.unknown_tool structure.schema
    business.denied host.unauthorized
    limit.calls limit.name limit.arguments limit.depth
    turn.unreachable turn.cancelled turn.interrupted
    operation.uncertain operation.failed operation.cancelled operation.unresolved ledger.unavailable
    """


def test_the_faults_are_those_that_the_design_names() -> None:
    assert {fault.name for fault in SPEC.faults} == set(FAULTS.split())


def test_the_finish_reasons_are_those_of_the_design() -> None:
    listed = {input.name: input.values for table in SPEC.tables for input in table.inputs if input.values}

    assert listed == {
        "finish_normal": ("stop", "tool_calls", "function_call"),
        "finish_length": ("length",),
        "finish_filter": ("content_filter", "refusal"),
    }


def test_a_failed_check_carries_the_faults_of_its_stage() -> None:
    carried = {i.name: i.carries for table in SPEC.tables for i in table.inputs if i.carries}

    assert carried == {
        "bad_syntax": ("syntax.incomplete", "syntax.invalid", "syntax.duplicate_key", "limit.depth"),
        "bad_structure": ("structure.not_object", "structure.unknown_tool", "structure.schema"),
    }


GROUPS: dict[str, Sequence[Row | JoinRow]] = {table.machine: table.rows for table in SPEC.tables}
GROUPS["joins"] = [row for join in SPEC.joins for row in join.rows]
ROWS = [row for rows in GROUPS.values() for row in rows]


def test_a_row_says_why_in_one_short_sentence() -> None:
    """It begins in lowercase, ends without a period and has fewer than 100 characters."""
    assert [row.id for row in ROWS if not re.fullmatch(r"[a-z].{5,97}[^.\s]", row.why)] == []


def test_a_row_names_who_says_so() -> None:
    known = r"article-1 §[1-6]|article-2|design §(3\.[1-9]|4|7)"

    assert [row.id for row in ROWS if not re.fullmatch(known, row.source)] == []


def test_a_machine_has_a_letter_and_its_rows_count_up() -> None:
    assert "".join(rows[0].id[0] for rows in GROUPS.values()) == "RINASPTOJ"
    for name, rows in GROUPS.items():
        ids = [row.id for row in rows]
        assert all(re.fullmatch(rf"{ids[0][0]}\d\d", id) for id in ids), name
        assert ids == sorted(set(ids)), name


def rows_of(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("  { id = ")]


@pytest.mark.parametrize("machine", MACHINES)
def test_rows_are_grouped_by_state_each_group_under_a_comment_of_that_state(machine: str) -> None:
    heads = [found for line in TEXTS[machine] if (found := re.match(r"  # -- (\w+)|  { id = ", line))]
    grouped: list[tuple[str, int]] = []
    for head in heads:
        grouped = (
            [*grouped, (head[1], 0)] if head[1] else [*grouped[:-1], (grouped[-1][0], grouped[-1][1] + 1)]
        )

    table = SPEC.table(machine)
    assert grouped == [
        (state.name, sum(row.state == state.name for row in table.rows)) for state in table.live
    ]
    assert [row.state for row in table.rows] == [state for state, size in grouped for _ in range(size)]


def sections(lines: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in lines:
        if line.startswith("["):
            found[line] = []
        elif found:
            found[list(found)[-1]].append(line)
    return found


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(rows_of(lines), id=f"{name} {section}")
        for name in GROUPS
        for section, lines in sections(TEXTS[name]).items()
        if rows_of(lines)
    ],
)
def test_a_column_begins_at_one_place_in_every_row(rows: list[str]) -> None:
    places: dict[str, set[int]] = {}
    for row in rows:
        outside = re.sub(r'"[^"]*"', lambda text: "." * len(text[0]), row)
        for found in re.finditer(r"(\w+) = ", outside):
            places.setdefault(found[1], set()).add(found.start())

    assert {column: len(found) for column, found in places.items()} == dict.fromkeys(places, 1)
    assert {"id", "why", "source"} <= set(places)
