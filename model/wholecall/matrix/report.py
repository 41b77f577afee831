"""The matrix as a program reads it, and as files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wholecall.assemble import CORE
from wholecall.fuzz.reading import MACHINES
from wholecall.matrix.column import Column
from wholecall.matrix.page import page


def record(
    columns: Iterable[Column], missing: Mapping[str, str], streams: int, seed: int, cases: int
) -> dict[str, Any]:
    """The matrix as JSON.

    Args:
        columns: What each client made of the streams.
        missing: The clients that were not asked, and why.
        streams: How many streams each was to read that were made from the tables.
        seed: Of their choices.
        cases: How many cases each was to read.
    """
    return {
        "profile": CORE,
        "streams": streams,
        "seed": seed,
        "cases": cases,
        "clients": [_of(column) for column in columns],
        "missing": dict(missing),
    }


def _of(column: Column) -> dict[str, Any]:
    return {
        "client": column.client.name,
        "versions": column.versions,
        "drives": column.client.drives,
        "streams": column.streams,
        "skipped": column.skipped,
        "flaky": column.flaky,
        "troubles": column.troubles,
        "cells": column.cells,
        "findings": [
            {
                "kind": one.kind,
                "row": one.row,
                "machine": one.machine,
                "evidence": one.case["evidence"],
                "why": one.case["why"],
                "frames": one.case["chunks"],
                "expected": one.case["expect"],
                "got": one.case["got"],
                "file": f"{column.client.name}/{one.name}.jsonl",
            }
            for one in column.findings
        ],
    }


def save(columns: Sequence[Column], told: Mapping[str, Any], out: Path) -> None:
    """Write the page, the JSON, and a file for each finding.

    Errors:
        OSError: Something cannot be written.
    """
    for column in columns:
        folder = out / column.client.name
        folder.mkdir(parents=True, exist_ok=True)
        for one in column.findings:
            (folder / f"{one.name}.jsonl").write_text(f"{json.dumps(one.case)}\n", encoding="utf-8")
    out.mkdir(parents=True, exist_ok=True)
    (out / "matrix.json").write_text(json.dumps(told), encoding="utf-8")
    (out / "index.html").write_text(page(told), encoding="utf-8")


def lines(told: Mapping[str, Any]) -> Iterator[str]:
    """The matrix as a person reads it, at most 80 columns wide."""
    names = [client["client"] for client in told["clients"]]
    width = max(map(len, (*names, *told["missing"])), default=0)
    yield f"profile {told['profile']}, {told['streams']} synthetic streams, {told['cases']} cases\n"
    yield " ".join((" " * width, *(f"{machine:8.8}" for machine in MACHINES))).rstrip()
    for client in told["clients"]:
        cells = (f"{client['cells'][machine]:8}" for machine in MACHINES)
        yield " ".join((f"{client['client']:{width}}", *cells)).rstrip()
    yield from (f"{name:{width}}  {why}" for name, why in told["missing"].items())
