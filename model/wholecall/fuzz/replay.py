"""A finding as a case, and a case asked of a target."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wholecall.cases import Case
from wholecall.fuzz.reading import Expected, expect
from wholecall.fuzz.target import Got, Target, TargetName
from wholecall.fuzz.verdict import judge
from wholecall.fuzz.walk import Find
from wholecall.limits import Limits
from wholecall_generated.tables import SPEC
from wholecall_spec.load import line_of


def case_of(find: Find) -> dict[str, Any]:
    """The case of a finding, as `Case.load` reads it, and beside it what was found."""
    _, row = SPEC.find(find.row)
    limits = {} if find.limits == Limits() else {"limits": asdict(find.limits)}
    return {
        "id": name_of(find),
        "dialect": "chat",
        "evidence": "synthetic",
        "kind": find.kind,
        "row": find.row,
        "why": row.why,
        "at": line_of(find.row),
        **limits,
        **({"before": find.before} if find.before else {}),
        "chunks": find.chunks,
        "expect": expected_of(find.expected),
        "got": got_of(find.got),
    }


def name_of(find: Find) -> str:
    """A finding is named by its kind and its row."""
    return f"{find.kind}-{find.row}"


def expected_of(expected: Expected) -> dict[str, Any]:
    """What must come of a stream: outcome, fault and calls."""
    if expected.fault:
        return {"outcome": expected.outcome, "fault": expected.fault}
    return {"outcome": expected.outcome, "calls": [call._asdict() for call in expected.calls]}


def got_of(got: Got) -> dict[str, Any]:
    """What came: calls, or a refusal."""
    if got.verdict is not None:
        return {"outcome": got.verdict[0], "fault": got.verdict[1], "rows": got.verdict[2]}
    return {"refused": got.trouble or True} if got.calls is None else {"calls": got.calls}


def asked(case: Case, target: Target) -> tuple[str, Expected, Got]:
    """A case asked of a target.

    Args:
        case: What to ask, after what stands before it.
        target: Is asked; no toolset is known to it, so none is looked at.

    Returns:
        The kind of the difference, empty where there is none; what the tables say; and what came.
    """
    for chunks in case.before:
        target.ask(chunks, case.limits)
    got = target.ask(case.chunks, case.limits)
    expected = expect(case.chunks, case.limits)
    return judge(expected, got), expected, got


def check(file: Path, name: TargetName) -> None:
    """Ask every case of a file, each of a target that was just started, and fail where it errs.

    Errors:
        AssertionError: It errs; the message names the case, the kind, and what was expected.
        CaseError: A line is no case.
    """
    for line in file.read_text("utf-8").splitlines():
        case = Case.load(json.loads(line))
        target = name.open()
        try:
            kind, expected, _ = asked(case, target)
        finally:
            target.close()
        if kind:
            raise AssertionError(f"{case.id}: it {kind}; expected {expected_of(expected)}")


TEST = '''"""What a campaign found, as tests: each fails as long as the target errs. Run: pytest {name}"""

from pathlib import Path

import pytest

from wholecall.fuzz.replay import check
from wholecall.fuzz.target import TargetName

TARGET = {target!r}
FILES = sorted(Path(__file__).parent.glob("*.jsonl"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_finding(file: Path) -> None:
    check(file, TARGET)
'''
