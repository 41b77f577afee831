"""`wholecall cases`: are streams judged as they were said to be?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import click

from wholecall.assemble import CORE, Response, rules_of
from wholecall.cases import Case, CaseError, differences
from wholecall.command import FINDINGS, GOOD, UNREADABLE
from wholecall.command.files import UnreadableError, read_file, read_json
from wholecall.structure import ToolsetError

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--profile", default=CORE, show_default=True, metavar="NAME[,NAME...]", help="How to read.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line for each case.")
@click.pass_context
def cases(ctx: click.Context, files: tuple[str, ...], profile: str, as_json: bool) -> None:
    """Run cases, and print each that is not as expected.

    FILE holds a case a line (- is standard input), and a case is a JSON object:

    \b
    {"id", "dialect", "evidence", "tools"?, "chunks",
     "expect": {"outcome", "fault"?, "calls"?: [{"index", "id", "name", "arguments"}]}}

    Other keys are ignored, and what is not expected is not looked at. With a profile beyond core, a case
    whose "wanted_overlays" are that profile must give its "wanted_calls" instead. A case of a dialect that is
    not built is skipped.

    Exit status: 1 where a case failed, 2 where a line is no case.
    """  # noqa: D301 - click reads \b as "these lines as they stand"
    rules_of(profile)
    results: Counter[str] = Counter()
    levels: Counter[str] = Counter()
    status = GOOD
    for ran in _run(files, profile):
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
class _Ran:
    """One case, and what came of it; nothing, where its dialect is not built."""

    where: str
    case: Case
    expected: Mapping[str, object]
    response: Response | None

    @property
    def differs(self) -> list[str]:
        return [] if self.response is None else differences(self.expected, self.response)

    @property
    def result(self) -> str:
        if self.response is None:
            return SKIPPED
        return FAILED if self.differs else PASSED

    def record(self) -> dict[str, object]:
        got = self.response
        return {
            "case": self.case.id,
            "at": self.where,
            "dialect": self.case.dialect,
            "evidence": self.case.evidence,
            "result": self.result,
            "differs": self.differs,
            "outcome": got and got.outcome,
            "fault": got and got.fault,
        }

    def lines(self) -> Iterator[str]:
        assert self.response is not None
        wanted = (self.expected["outcome"], self.expected.get("fault"))
        got = (self.response.outcome, self.response.fault)
        yield f"{self.where}: {self.case.id} ({self.case.evidence}) differs in {', '.join(self.differs)}"
        yield f"  expected {_words(wanted)}; got {_words(got)}"


def _run(files: Iterable[str], profile: str) -> Iterator[_Ran | str]:
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
                response = case.run(profile) if case.built else None
            except UnreadableError as error:
                yield str(error)
            except (CaseError, ToolsetError) as error:
                yield f"{where}: {error}"
            else:
                yield _Ran(where, case, case.expected(profile), response)


def _words(ends: Iterable[object]) -> str:
    return " ".join(str(end) for end in ends if end)
