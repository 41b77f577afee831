"""`wholecall cases`: are streams judged as they were said to be?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import click

from wholecall.assemble import CORE, rules_of
from wholecall.cases import Case, CaseError, differences
from wholecall.command import FINDINGS, GOOD, UNREADABLE
from wholecall.command.files import UnreadableError, read_file, read_json
from wholecall.command.target import target_name, target_options
from wholecall.fuzz.replay import asked
from wholecall.fuzz.target import Target, TargetName
from wholecall.fuzz.verdict import unlike
from wholecall.structure import ToolsetError

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--profile", default=CORE, show_default=True, metavar="NAME[,NAME...]", help="How to read.")
@target_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line for each case.")
@click.pass_context
def cases(
    ctx: click.Context,
    files: tuple[str, ...],
    profile: str,
    target: str | None,
    target_cmd: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Run cases, and print each that is not as expected.

    FILE holds a case a line (- is standard input), and a case is a JSON object:

    \b
    {"id", "dialect", "evidence", "tools"?, "chunks",
     "expect": {"outcome", "fault"?, "calls"?: [{"index", "id", "name", "arguments"}]}}

    Other keys are ignored, and what is not expected is not looked at. With a profile beyond core, a case
    whose "wanted_overlays" are that profile must give its "wanted_calls" instead. A case of a dialect that is
    not built is skipped.

    With a target (see `wholecall fuzz`) it is asked instead of wholecall, and held to what the tables say of
    the stream alone: to its calls, and to whether there are any. "before": [[chunk...]...] are streams that
    it is to have read in the same process.

    Exit status: 1 where a case failed, 2 where a line is no case or the target cannot be used.
    """  # noqa: D301 - click reads \b as "these lines as they stand"
    rules_of(profile)
    judge: Judge = partial(_by_wholecall, profile=profile)
    if target or target_cmd:
        name = target_name(target, target_cmd, timeout)
        started = name.open()
        ctx.call_on_close(started.close)
        judge = partial(_by_target, name=name, started=started)
    results: Counter[str] = Counter()
    levels: Counter[str] = Counter()
    status = GOOD
    for ran in _run(files, judge):
        if isinstance(ran, str):
            click.echo(f"Error: {ran}", err=True)
            status = UNREADABLE
            continue
        results[ran.result] += 1
        levels[ran.case.evidence] += 1
        if as_json:
            click.echo(json.dumps(ran.record()))
        elif ran.result == FAILED:
            click.echo("\n".join(ran.lines()))
    if not as_json:
        if levels:
            click.echo(f"evidence: {', '.join(f'{count} {level}' for level, count in levels.items())}")
        skipped = f", {results[SKIPPED]} skipped" if results[SKIPPED] else ""
        click.echo(f"{results[PASSED]} passed, {results[FAILED]} failed{skipped}")
    ctx.exit(max(status, FINDINGS if results[FAILED] else GOOD))


@dataclass(frozen=True, slots=True)
class _Judged:
    """What came of a case.

    Attributes:
        differs: In what it is not as expected; empty where it is.
        expected: What was expected, in words.
        got: What came, in words.
        facts: What came, as a program reads it.
        kind: How a target errs (see `wholecall.fuzz.verdict.KINDS`), before a sentence; empty otherwise.
    """

    differs: list[str]
    expected: str
    got: str
    facts: dict[str, object]
    kind: str = ""


Judge = Callable[[Case], _Judged | None]
"""Runs a case; None where that cannot be done."""


def _by_wholecall(case: Case, profile: str) -> _Judged | None:
    if not case.built:
        return None
    response, expected = case.run(profile), case.expected(profile)
    wanted = (expected["outcome"], expected.get("fault"))
    got = (response.outcome, response.fault)
    facts: dict[str, object] = {"outcome": response.outcome, "fault": response.fault}
    return _Judged(differences(expected, response), _words(wanted), _words(got), facts)


def _by_target(case: Case, name: TargetName, started: Target) -> _Judged | None:
    if not case.built:
        return None
    target = name.open() if case.before else started
    try:
        kind, expected, got = asked(case, target)
    finally:
        if target is not started:
            target.close()
    if got.skipped:
        return None
    wanted = _words((expected.outcome, expected.fault, _count(expected.calls)))
    came = "a refusal" if got.calls is None else _count(got.calls)
    facts: dict[str, object] = {"kind": kind or None, "row": expected.row or None}
    differs = ["calls"] if kind else []
    if kind == "corrupts":
        differs = unlike(expected.calls, got.calls or ())
    return _Judged(differs, wanted, came, facts, f"{kind}: " if kind else "")


def _count(calls: Sequence[object]) -> str:
    return f"{len(calls)} call{'' if len(calls) == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class _Ran:
    """One case, and what came of it; nothing, where it could not be run."""

    where: str
    case: Case
    judged: _Judged | None

    @property
    def result(self) -> str:
        if self.judged is None:
            return SKIPPED
        return FAILED if self.judged.differs else PASSED

    def record(self) -> dict[str, object]:
        judged = self.judged
        return {
            "case": self.case.id,
            "at": self.where,
            "dialect": self.case.dialect,
            "evidence": self.case.evidence,
            "result": self.result,
            "differs": judged.differs if judged else [],
            **(judged.facts if judged else {"outcome": None, "fault": None}),
        }

    def lines(self) -> Iterator[str]:
        judged = self.judged
        assert judged is not None
        yield f"{self.where}: {self.case.id} ({self.case.evidence}) differs in {', '.join(judged.differs)}"
        yield f"  {judged.kind}expected {judged.expected}; got {judged.got}"


def _run(files: Iterable[str], judge: Judge) -> Iterator[_Ran | str]:
    """Every case of the files, or what is wrong with it."""
    for name in files:
        try:
            lines = read_file(name).split(b"\n")
        except UnreadableError as error:
            yield str(error)
            continue
        for number, line in enumerate(lines, 1):
            where = f"{name}:{number}"
            if not line.strip():
                continue
            try:
                case = Case.load(read_json(name, line, number))
                judged = judge(case)
            except UnreadableError as error:
                yield str(error)
            except (CaseError, ToolsetError) as error:
                yield f"{where}: {error}"
            else:
                yield _Ran(where, case, judged)


def _words(ends: Iterable[object]) -> str:
    return " ".join(str(end) for end in ends if end)
