"""`wholecall explain`: one row, or one cell, in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import click

from wholecall.command import Unusable
from wholecall.command.screen import console, emit, facts, place
from wholecall_spec.join import Join, JoinRow
from wholecall_spec.load import line_of, load
from wholecall_spec.page import unknown
from wholecall_spec.spec import Spec
from wholecall_spec.table import CARRIED, Row, Table, evidence_of

Found = tuple[Table, Row] | tuple[Join, JoinRow]


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="ROW | MACHINE STATE INPUT")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line for each row.")
def explain(words: tuple[str, ...], as_json: bool) -> None:
    """Explain a row of the tables: why it is so, who says it, and where it stands.

    \b
    wholecall explain I14
    wholecall explain identity established null
    """  # noqa: D301 - click reads \b as "these lines as they stand"
    spec = load()
    screen = console()
    for number, found in enumerate(_find(spec, words)):
        row = found[1]
        file, _, line = line_of(row.id).rpartition(":")
        if as_json:
            click.echo(json.dumps({**_record(spec, found), "file": file, "line": int(line)}))
            continue
        told = [*_told(spec, found), ("at", f"{place(file)}:{line}")]
        emit(screen, *([""] if number else []), f"{row.id}  {row.why}", facts(told))


def _find(spec: Spec, words: Sequence[str]) -> Iterator[Found]:
    if len(words) == 1:
        yield _row(spec, words[0])
        return
    if len(words) != 3:
        raise click.UsageError("give the id of a row, or a machine, a state and an input")
    machine, state, input = words
    _known("machine", machine, [table.machine for table in spec.tables])
    table = spec.table(machine)
    _known(f"state of {machine}", state, [state.name for state in table.states])
    _known(f"input of {machine}", input, [input.name for input in table.inputs])
    if table.state(state).final:
        raise Unusable(f"nothing leaves {state}, a final state of {machine}: {table.state(state).about}")
    if input not in table.sees(state):
        raise Unusable(f"{machine} never sees {input} in {state}, only {', '.join(table.sees(state))}")
    for row in table.cell(state, input):
        yield table, row


def _known(kind: str, name: str, allowed: list[str]) -> None:
    if name not in allowed:
        raise Unusable(unknown(kind, name, allowed))


def _row(spec: Spec, name: str) -> Found:
    rows = [table.rows for table in spec.tables], [join.rows for join in spec.joins]
    ids = [row.id for kind in rows for part in kind for row in part]
    wanted = name.upper()
    if wanted in ids:
        return spec.find(wanted)
    if re.fullmatch(r"[A-Z]\d+", wanted) and wanted[0] in {row_id[0] for row_id in ids}:
        raise Unusable(unknown("row", name, [row_id for row_id in ids if row_id[0] == wanted[0]]))
    raise Unusable(f"unknown row {name} (the id of a row is a letter and a number, such as {ids[0]})")


def _record(spec: Spec, found: Found) -> dict[str, object]:
    """The row as a program reads it: its columns, what it belongs to, and its fault."""
    where, row = found
    evidence = evidence_of(row.source)
    if isinstance(where, Table):
        faults = {fault.name: asdict(fault) for fault in spec.faults}
        columns = asdict(row)
        fault = faults.get(columns["fault"], columns["fault"] or None)
        return {"machine": where.machine, **columns, "fault": fault, "evidence": evidence}
    columns = asdict(row)
    return {
        "join": where.name,
        "to": where.to,
        **columns,
        "cells": dict(columns["cells"]),
        "evidence": evidence,
    }


def _told(spec: Spec, found: Found) -> Iterator[tuple[str, str]]:
    where, row = found
    if isinstance(where, Table) and isinstance(row, Row):
        yield from _of_row(spec, where, row)
    else:
        assert isinstance(where, Join)
        assert isinstance(row, JoinRow)
        yield "join", f"{where.name}: {where.about}"
        yield from (("where", f"{name}: {text}") for name, text in row.cells)
        yield "gives", f"{row.gives} to {', '.join(where.to)}"
    yield "source", f"{row.source} ({evidence_of(row.source)})"


def _of_row(spec: Spec, table: Table, row: Row) -> Iterator[tuple[str, str]]:
    yield "machine", f"{table.machine}: {table.about}"
    yield "state", f"{row.state}: {table.state(row.state).about}"
    yield "input", f"{row.input}: {table.input(row.input).about}"
    if row.when:
        guards = dict(table.guards)
        yield "when", f"{row.when} ({'; '.join(f'{name}: {guards[name]}' for name in row.guards)})"
    yield "next", f"{row.next}: {table.state(row.next).about}"
    if row.effect:
        yield "effect", f"{row.effect}: {dict(table.effects)[row.effect]}"
    if row.fault == CARRIED:
        yield "fault", f"{CARRIED}: the one that came with the input"
    elif row.fault:
        fault = spec.fault(row.fault)
        yield "fault", f"{fault.name}: {fault.about}"
        yield "recovery", f"{fault.kind}: {dict(spec.kinds)[fault.kind]}"
