"""What `make demo` shows of the guard: one task over HTTP, done twice and refused once, event by event.

python tests/demo.py
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Final

import anyio
import openai
from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from task import ASKED, EVIDENCE, READ, SAVE, Desk, Done, Fragment, do_task, pieces, reads, says, script
from upstream import Step, Upstream

from wholecall import Ledger, Policy, Toolset, read
from wholecall.command.screen import console, emit
from wholecall.turn.observe import AttemptJudged, Event, RowFired
from wholecall_generated.tables import SPEC

ROWS: Final = {row.id: (table, row) for table in SPEC.tables for row in table.rows}
ABOUT: Final = (
    f"The model is a script on a loopback server (evidence: {EVIDENCE}). HTTP, the openai client, the ledger "
    "(SQLite) and the files are real. A call arrives in pieces, and the runs differ in the id of some pieces:"
)

WHO: Final = {
    "requesting": "request",
    "receiving": "stream",
    "checking": "check",
    "authorizing": "host",
    "dispatching": "turn",
    "reconciling": "turn",
}
"""Who speaks in a state of the turn."""

STYLE: Final = {True: "bold green", False: "bold red"}

SAID_BEFORE: Final = {"end", "fields_fixed", "distinct_ids", "no_calls", "complete"}
"""Inputs that say again, of a whole response, what the line before them or after them says."""

# -- what happened -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """One thing that happened.

    Attributes:
        turn: The turn in which it did.
        who: What it happened to.
        input: What arrived, as the table calls it.
        row: The row that fired; empty where the world moved and no machine.
        what: What it means.
    """

    turn: str
    who: str
    input: str
    row: str
    what: str


class Recorder:
    """Makes lines of what a turn tells its host: its events, and the frames as they come.

    Attributes:
        lines: What happened so far.
        tools: What the responses are judged with.
    """

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.tools = Toolset.from_openai([])
        self._frames: list[object] = []
        self._turn = ""

    def on_frame(self, frame: object) -> None:
        self._frames.append(frame)

    def observe(self, event: Event) -> None:
        self._turn = event.turn_id
        if isinstance(event, AttemptJudged):
            self._response()
        elif isinstance(event, RowFired):
            self._fired(event)

    def world(self, what: str) -> None:
        self._add("effect", "", "", what)

    def _fired(self, event: RowFired) -> None:
        table, row = ROWS[event.row]
        who = WHO[event.state] if event.machine == "turn" else "tool"
        ended = event.machine == "turn" and table.state(event.next).final
        verdict = f"{event.next}{f' ({event.fault})' * bool(event.fault)}: " if ended else ""
        if event.input not in SAID_BEFORE:
            input = f"attempt {event.attempt}" if event.input == "started" else event.input
            self._add(who, input, event.row, verdict + row.why)

    def _response(self) -> None:
        """The rows that fired within the response: of its ids, of how it ended, and of the checks."""
        rows = read(self._frames, self.tools).rows
        self._frames.clear()
        told = (name for name in rows if _is_told(name))
        for name, same in groupby(told):
            times = len([*same])
            table, row = ROWS[name]
            piece = f"{times} pieces" if times > 1 else "piece"
            who = {"proposal": "check", "stream": "stream"}.get(table.machine, piece)
            input = f"id {row.input}" if table.machine == "identity" else row.input
            self._add(who, input, name, row.why)

    def _add(self, who: str, input: str, row: str, what: str) -> None:
        self.lines.append(Line(self._turn, who, input, row, what))


def _is_told(name: str) -> bool:
    table, row = ROWS[name]
    if row.input in SAID_BEFORE:
        return False
    return table.machine in ("identity", "proposal") or table.state(row.next).final


@dataclass(frozen=True)
class Run:
    """The task as it went once."""

    name: str
    lines: list[Line]
    done: Done
    desk: Desk
    requests: int

    @property
    def report(self) -> bytes | None:
        return self.desk.report.read_bytes() if self.desk.report.exists() else None


async def run(name: str, folder: Path, replies: Sequence[Sequence[Step]]) -> Run:
    """Do the task once, against a server that gives these replies."""
    (folder / name).mkdir()
    with Upstream(*replies) as upstream, Ledger(f"sqlite:///{folder / name}.db") as ledger:
        recorder = Recorder()
        desk = Desk(folder / name, recorder.world)
        recorder.tools = Toolset.of(desk.tools)
        async with openai.AsyncOpenAI(base_url=upstream.url, api_key="none") as client:
            done = await do_task(
                client,
                desk,
                ledger,
                policy=Policy(attempts=2, pause=0.01),
                observe=recorder.observe,
                on_frame=recorder.on_frame,
            )
    return Run(name, recorder.lines, done, desk, len(upstream.requests))


# -- how it is shown ---------------------------------------------------------------------------------


def shapes(samples: Sequence[tuple[str, str, Fragment]]) -> Table:
    """A piece of each run as it stands on the wire."""
    grid = Table.grid(padding=(0, 2))
    for name, which, fragment in samples:
        text = json.dumps(fragment, separators=(",", ":"))
        grid.add_row(Text(name, style="bold"), Text(which), Text(text))
    return grid


def timeline(*runs: Run) -> Table:
    """Runs of the same length in one table, a column for the rows of each: one sees where they differ."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column("input", no_wrap=True)
    for one in runs:
        table.add_column(one.name if len(runs) > 1 else "row", no_wrap=True)
    table.add_column("what happened")
    turn = ""
    for lines in zip(*(one.lines for one in runs), strict=True):
        if lines[-1].turn != turn:
            if turn:
                table.add_row()
            turn = lines[-1].turn
            table.add_row(Text(turn.partition("/")[2], style="bold"))
        table.add_row(*_cells(lines))
    return table


def after_the_same(model: Run, one: Run) -> list[Line]:
    """The lines of a run, without the turns that went as in the model, which are told in one line each."""
    kept: list[Line] = []
    for turn, lines in groupby(one.lines, key=lambda line: line.turn):
        told = [*lines]
        if told == [line for line in model.lines if line.turn == turn]:
            told = [Line(turn, "", "", "", f"as in the run {model.name}, row by row")]
        kept += told
    return kept


def _cells(lines: Sequence[Line]) -> list[Text]:
    """What happened in each run at once; where a row differs, the last run's is explained."""
    last = lines[-1]
    rows = [line.row for line in lines]
    inputs = dict.fromkeys(line.input for line in lines)
    first, *others = inputs
    input = "/".join([first, *(other.removeprefix("id ") for other in others)])
    style = "cyan" if last.who == "effect" else "bold yellow" if len({*rows}) > 1 else ""
    if last.row and ROWS[last.row][1].fault:
        style = "red"
    return [Text(cell, style=style) for cell in (last.who, input, *rows, last.what)]


def summary(runs: Sequence[Run]) -> Table:
    """What stands when all is over: counted at the server and in the tools, read from the disk."""
    facts: dict[str, Callable[[Run], str]] = {
        "requests made": lambda one: str(one.requests),
        "tools that ran": lambda one: ", ".join(one.desk.runs),
        "call ids": lambda one: ", ".join(one.done.call_ids),
        "the end": lambda one: one.done.results[-1].end,
        "report": lambda one: "none" if one.report is None else f"{len(one.report)} bytes",
        "its sha256": lambda one: "" if one.report is None else f"{sha256(one.report).hexdigest()[:16]}...",
    }
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    for name in ("", *(one.name for one in runs)):
        table.add_column(name)
    for name, fact in facts.items():
        table.add_row(name, *(Text(fact(one)) for one in runs))
    return table


def verdict(omitted: Run, null: Run, refused: Run) -> dict[str, bool]:
    """What is to be seen from these runs: each sentence, and whether it is so."""
    pairs = zip(omitted.lines, null.lines, strict=True)
    differ = {(one.row, other.row) for one, other in pairs if one.row != other.row}
    return {
        "the refused run left no report": refused.report is None,
        "of the rows only I13 became I14": differ == {("I13", "I14")},
        "call ids are the same": omitted.done.call_ids == null.done.call_ids,
        "reports are byte-equal": omitted.report is not None and omitted.report == null.report,
    }


async def main() -> int:
    screen = console()
    null: Fragment = {"id": None}
    first: Fragment = {"index": 0, "id": None, "function": {"name": "save_report"}}
    refused = says(first, {"index": 0, "id": "call-save", "function": {"arguments": SAVE}})
    samples = [
        ("omitted", "later piece", pieces(0, "call-read", "read_page", *READ)[-1]),
        ("null", "later piece", pieces(0, "call-read", "read_page", *READ, again=null)[-1]),
        ("null first", "first piece", first),
    ]
    emit(
        screen,
        Text(f'The task: "{ASKED}"', style="bold"),
        Text(),
        Text(ABOUT),
        Text(),
        shapes(samples),
        Text(),
    )
    with tempfile.TemporaryDirectory() as folder:
        go = partial(run, folder=Path(folder))
        runs = [
            await go("omitted", replies=script()),
            await go("null", replies=script(null)),
            await go("null first", replies=[reads(), refused, refused]),
        ]
        seen = verdict(*runs)
        parts: list[RenderableType] = [
            Text(
                "No id in the later pieces, and a null id there: two runs, side by side",
                style="bold",
            ),
            timeline(*runs[:2]),
            Text(),
            Text(
                "A null id in the first piece: refused each time, and nothing is saved",
                style="bold",
            ),
            timeline(replace(runs[2], lines=after_the_same(runs[0], runs[2]))),
            Text(),
            summary(runs),
            Text(),
            *(Text(f"{'' if so else 'NOT SO: '}{what}", style=STYLE[so]) for what, so in seen.items()),
        ]
        emit(screen, Padding(Group(*parts), 0))
    return 0 if all(seen.values()) else 1


if __name__ == "__main__":
    sys.exit(anyio.run(main))
