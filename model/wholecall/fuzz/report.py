"""What a campaign tells: its coverage, and each finding as a case that can be run again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Any, Final

from wholecall.assemble import CORE
from wholecall.fuzz.campaign import Campaign
from wholecall.fuzz.replay import TEST, case_of, expected_of, got_of, name_of
from wholecall.fuzz.rows import reachable
from wholecall.fuzz.verdict import KINDS
from wholecall.fuzz.walk import Find

_SHOWN: Final = 12
"""How many missed pairs are named in text."""


def sorted_findings(campaign: Campaign) -> list[Find]:
    """The findings, the gravest first."""
    kinds = list(KINDS)
    found = (find._replace(kind=kind, row=row) for (kind, row), find in campaign.findings.items())
    return sorted(found, key=lambda find: (kinds.index(find.kind), find.row))


def save(campaign: Campaign, out: Path) -> dict[str, str]:
    """Write each finding to a file of its own, and a test that asks them all; the file of each, by name."""
    findings = sorted_findings(campaign)
    if not findings:
        return {}
    out.mkdir(parents=True, exist_ok=True)
    files = {}
    for find in findings:
        path = out / f"{name_of(find)}.jsonl"
        path.write_text(f"{json.dumps(case_of(find))}\n", encoding="utf-8")
        files[name_of(find)] = str(path)
    test = out / "test_findings.py"
    test.write_text(TEST.format(name=out, target=campaign.target), encoding="utf-8")
    return files


def record(campaign: Campaign, files: dict[str, str]) -> dict[str, Any]:
    """The report as a program reads it."""
    walked, of = campaign.walked, reachable(campaign.target.own)
    return {
        "target": str(campaign.target),
        "profile": CORE,
        "evidence": "synthetic",
        "seed": campaign.seed,
        "seconds": round(campaign.seconds, 3),
        "streams": walked.streams,
        "steps": walked.steps,
        "skipped": walked.skipped,
        "flaky": campaign.flaky,
        "troubles": dict(walked.troubles),
        "rows": _met(of.rows, walked.coverage.rows),
        "pairs": _met(of.pairs, walked.coverage.pairs),
        "findings": [
            {
                "kind": find.kind,
                "row": find.row,
                "before": list(find.before),
                "frames": find.chunks,
                "expected": expected_of(find.expected),
                "got": got_of(find.got),
                "file": files[name_of(find)],
            }
            for find in sorted_findings(campaign)
        ],
    }


def _met(of: frozenset[Any], met: Any) -> dict[str, Any]:
    missed = sorted(one for one in of if not met[one])
    return {"hit": len(of) - len(missed), "of": len(of), "missed": missed}


def lines(campaign: Campaign, files: dict[str, str]) -> Iterator[str]:
    """The report as a person reads it."""
    told = record(campaign, files)
    seconds = campaign.seconds
    rate = told["steps"] / max(seconds, 1e-9)
    yield f"target: {campaign.target} (profile {CORE}, seed {campaign.seed})"
    yield f"{told['streams']:,} streams, {told['steps']:,} steps, {seconds:.1f} s, {rate:,.0f} steps/s"
    yield "evidence: synthetic (made from the tables)"
    for name in ("rows", "pairs"):
        met = told[name]
        missed = [one if isinstance(one, str) else " ".join(one) for one in met["missed"]]
        more = f" and {len(missed) - _SHOWN} more" if len(missed) > _SHOWN else ""
        names = f", missed: {', '.join(missed[:_SHOWN])}{more}" if missed else ""
        yield f"{name}: {met['hit']} of {met['of']}{names}"
    if told["skipped"]:
        yield f"not expressible to the target: {told['skipped']}"
    for trouble, times in told["troubles"].items():
        yield f"the target {trouble}: {times}"
    if told["flaky"]:
        yield f"not seen again: {told['flaky']}"
    findings = sorted_findings(campaign)
    yield f"findings: {len(findings)}"
    for find in findings:
        yield from _of_finding(find, files[name_of(find)], campaign)


def _of_finding(find: Find, file: str, campaign: Campaign) -> Iterator[str]:
    case = case_of(find)
    yield ""
    yield f"{find.kind} {find.row}: {KINDS[find.kind]}"
    yield f"  {case['why']} ({Path(case['at']).name})"
    for before in find.before:
        yield from (f"  before  {json.dumps(chunk)}" for chunk in before)
    yield from (f"  frame  {json.dumps(chunk)}" for chunk in find.chunks)
    yield f"  expected  {json.dumps(case['expect'])}"
    yield f"  got  {json.dumps(case['got'])}"
    yield f"  again: wholecall cases {_told_by(campaign)}{quote(file)}"


def _told_by(campaign: Campaign) -> str:
    target = campaign.target
    if target.command:
        return f"--target-cmd {quote(target.command)} "
    return f"--target {quote(target.callable)} " if target.callable else ""
