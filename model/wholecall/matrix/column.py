"""One client asked: streams made from the tables, and cases. What differs is made small, and seen again."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from wholecall.cases import Case
from wholecall.clients.registry import Client
from wholecall.fuzz.reading import MACHINES, Expected, expect
from wholecall.fuzz.replay import case_of, expected_of
from wholecall.fuzz.rows import streams_of_rows
from wholecall.fuzz.shrink import drop
from wholecall.fuzz.target import Got, Target, TargetError, TargetName
from wholecall.fuzz.verdict import KINDS, judge
from wholecall.fuzz.walk import Coverage, Find, walk
from wholecall.limits import Limits
from wholecall_generated.tables import SPEC

AGREES: Final = "agrees"
"""The verdict where nothing differs."""
SKIPPED: Final = "skip"
"""The verdict where nothing could be asked."""
VERDICTS: Final = (*KINDS, AGREES, SKIPPED)
"""Every verdict, the gravest first."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A stream of which a client makes something else than the tables, the smallest that was met.

    Attributes:
        kind: One of `KINDS`.
        row: The row that decides.
        case: The case that shows it again, with what was expected and what came.
    """

    kind: str
    row: str
    case: dict[str, Any]

    @property
    def name(self) -> str:
        """What it is called among those of its client."""
        return f"{self.kind}-{self.row}-{self.case['evidence']}"

    @property
    def machine(self) -> str:
        """The machine of its row."""
        return next(table.machine for table in SPEC.tables if any(row.id == self.row for row in table.rows))


@dataclass(frozen=True, slots=True)
class Column:
    """What one client makes of all streams.

    Attributes:
        client: Which.
        versions: The versions of its packages, and of what its environment has besides.
        streams: How many streams it was asked.
        skipped: How many of them cannot be told to it.
        flaky: How many finds did not show when they were asked once more.
        troubles: What went wrong with its process, and how often.
        cells: The gravest verdict of each machine.
        findings: The gravest first.
    """

    client: Client
    versions: dict[str, str]
    streams: int
    skipped: int
    flaky: int
    troubles: dict[str, int]
    cells: dict[str, str]
    findings: Sequence[Finding]


def target_of(client: Client, root: Path) -> TargetName:
    """A client as the target of a campaign, and of `wholecall cases`."""
    return TargetName(command=shlex.join(client.command(root)))


@cache
def cases_of_rows() -> Sequence[Case]:
    """The streams of each row, as cases."""
    return [
        Case(f"{row}-{number}", "chat", "synthetic", stream.chunks, expected_of(stream.expected))
        for row, streams in streams_of_rows().items()
        for number, stream in enumerate(streams, 1)
    ]


def ask(client: Client, root: Path, cases: Sequence[Case], streams: int, seed: int) -> Column:
    """Ask one client.

    Args:
        client: Which; it is installed.
        root: The folder of the environments.
        cases: Are asked besides those of rows, without their tools; those of dialects that are not built are
            left out.
        streams: How many streams to walk.
        seed: Of their choices.

    Errors:
        TargetError: Its adapter cannot be started, or answers nothing.
    """
    name = target_of(client, root)
    target = name.open()
    try:
        if trouble := target.ask([]).trouble:
            raise TargetError(client.name, trouble)
        coverage = Coverage()
        walked = walk(target, coverage, seed, streams, float("inf"), own=False)
        finds = [
            # What shows only after other streams will not show again.
            case_of(drop(find, target)._replace(before=()))
            for find in _smallest(_decided(one, coverage) for one in walked.finds)
        ]
        told = [
            (case, expect(case.chunks), target.ask(case.chunks))
            for case in (*cases_of_rows(), *cases)
            if case.built
        ]
    finally:
        target.close()
    for _, expected, got in told:
        coverage.note(expected, got)
    finds += [found for answer in told if (found := _of_case(*answer, coverage))]
    seen = _seen_again(name.open(), finds)
    findings = [Finding(case["kind"], case["row"], case) for case in _one_each(seen)]
    return Column(
        client,
        dict(client.versions(root)),
        walked.streams + len(told),
        walked.skipped + sum(got.skipped for _, _, got in told),
        len(finds) - len(seen),
        dict(walked.troubles + Counter(got.trouble for _, _, got in told if got.trouble)),
        {machine: _verdict(machine, findings, coverage) for machine in MACHINES},
        sorted(findings, key=lambda one: (VERDICTS.index(one.kind), one.row)),
    )


def _decided(find: Find, coverage: Coverage) -> Find:
    """A find with the row that decides; where calls are corrupted, one of the machine of what differs.

    That is routing where there are more calls or fewer than were sent, else the first field that differs.
    """
    if find.kind != "corrupts":
        return find._replace(row=coverage.suspect(find.expected))
    own = {row.id for row in SPEC.table(_differing(find)).rows}
    rows = tuple(row for row in find.expected.rows if row in own)
    return find._replace(row=coverage.suspect(replace(find.expected, rows=rows)))


def _differing(find: Find) -> str:
    sent, got = find.expected.calls, find.got.calls or ()
    if len(sent) != len(got):
        return "routing"
    for field, machine in (("id", "identity"), ("name", "name")):
        if Counter(repr(getattr(one, field)) for one in sent) != Counter(repr(one.get(field)) for one in got):
            return machine
    return "arguments"


def _smallest(finds: Iterable[Find]) -> list[Find]:
    """The smallest find of each kind and row."""
    ordered = sorted(finds, key=lambda find: -len(find.dealt))
    return list({(find.kind, find.row): find for find in ordered}.values())


def _of_case(case: Case, expected: Expected, got: Got, coverage: Coverage) -> dict[str, Any] | None:
    """A case of which the client makes something else than the tables."""
    kind = judge(expected, got)
    if not kind:
        return None
    find = Find(kind, "", [*case.chunks], expected, got, Limits())
    return case_of(_decided(find, coverage)) | {"id": case.id, "evidence": case.evidence}


def _seen_again(target: Target, finds: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that a client that was just started shows too."""
    try:
        return [
            find
            for find in finds
            if judge(expect(find["chunks"]), target.ask(find["chunks"])) == find["kind"]
        ]
    finally:
        target.close()


def _one_each(finds: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The smallest of each kind, row, and level of evidence."""
    ordered = sorted(finds, key=lambda find: -len(json.dumps(find["chunks"])))
    return list({(find["kind"], find["row"], find["evidence"]): find for find in ordered}.values())


def _verdict(machine: str, findings: Iterable[Finding], coverage: Coverage) -> str:
    """The gravest verdict of a machine."""
    met = coverage.agreed | coverage.differed
    asked = any(row.id in met for row in SPEC.table(machine).rows)
    kinds = (finding.kind for finding in findings if finding.machine == machine)
    return min((*kinds, AGREES if asked else SKIPPED), key=VERDICTS.index)
