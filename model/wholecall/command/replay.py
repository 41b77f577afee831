"""`wholecall replay`: judge streams that stand in files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import click

from wholecall.assemble import CORE, Assembler, Call, Response, rules_of
from wholecall.cases import DIALECTS
from wholecall.command import FINDINGS, GOOD, UNREADABLE
from wholecall.command.files import UnreadableError, open_file, read_file, read_json, size_of
from wholecall.command.screen import Meter, console
from wholecall.command.show import GOOD_OUTCOMES, Page
from wholecall.command.sources import Source, foreign_dialect, is_done
from wholecall.command.trace import Reading
from wholecall.structure import Toolset

_LONG: Final = 1_000_000
"""Bytes beyond which a stream is summarised."""


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--tools", metavar="FILE", help="Hold the calls to the tools=[...] list in this JSON file.")
@click.option("--profile", default=CORE, show_default=True, metavar="NAME[,NAME...]", help="How to read.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line for each response.")
@click.option("--rows", is_flag=True, help="Print also the id of every row that fired, in order.")
@click.option("--raw", is_flag=True, help="Print also ids, names and arguments as they arrived.")
@click.pass_context
def replay(
    ctx: click.Context,
    files: tuple[str, ...],
    tools: str | None,
    profile: str,
    as_json: bool,
    rows: bool,
    raw: bool,
) -> None:
    """Judge recorded streams, and name the rows that decided.

    FILE is .jsonl (a frame a line), .sse (the bytes of the event stream) or .json (an array of frames). Of
    any other name, and of - (standard input), the first bytes tell which. One file is one response, unless
    [DONE] ends one and frames follow.

    Shown is what came and the row that decided. Of a fragment, the fields it omits and an index already known
    are left out; call 1:0 is call 0 of choice 1. A long response is summarised.

    A file may begin with a line that is no frame but states its level of evidence (synthetic, reconstructed,
    recorded or live). In a .sse file it is a comment, so a colon stands before it:

    \b
    {"wholecall": {"evidence": "synthetic", "about": "made to show a cut"}}

    Exit status: 1 where a response is neither whole nor answered, 2 where a file cannot be read.
    """  # noqa: D301 - click reads \b as "these lines as they stand"
    page = Page(console(), rules_of(profile).spec, rows=rows, raw=raw)
    toolset = None if tools is None else read_tools(tools)
    status = GOOD

    def begin() -> Reading:
        return Reading(Assembler(profile, tools=toolset), by_line=not as_json, with_rows=rows)

    for name in files:
        try:
            with open_file(name) as file, Meter(name, size_of(file)) as meter:
                source = Source(name, file, Path(name).suffix[1:], meter.advance)
                for number, reading in enumerate(_readings(source, begin), 1):
                    response = reading.close()
                    if response.outcome not in GOOD_OUTCOMES:
                        status = max(status, FINDINGS)
                    meter.pause()
                    if as_json:
                        click.echo(json.dumps(_record(source, reading, response, rows=rows, raw=raw)))
                    else:
                        page.show(source, number, reading, response)
        except UnreadableError as error:
            status = UNREADABLE
            click.echo(f"Error: {error}", err=True)
    ctx.exit(status)


def read_tools(name: str) -> Toolset:
    """The toolset that the list in a JSON file makes (ToolsetError, UnreadableError: there is none)."""
    tools = read_json(name, read_file(name))
    if not isinstance(tools, list):
        raise UnreadableError(name, "the tools must be a list of objects")
    return Toolset.from_openai(tools)


def _readings(source: Source, begin: Callable[[], Reading]) -> Iterator[Reading]:
    """The responses of a file, each when its last frame was read; there is at least one."""
    reading: Reading | None = None
    number = read_before = 0
    for frame in source.frames():
        done = is_done(frame)
        if reading is None:
            if done and number:
                continue  # an end after the end
            if dialect := foreign_dialect(frame):
                what = f"a frame of the dialect {dialect}; only {', '.join(DIALECTS)} is built"
                raise UnreadableError(source.place, what)
            reading, number, read_before = begin(), number + 1, source.read
        reading.feed(frame)
        if done:
            yield reading
            reading = None
        elif reading.lines is not None and source.read - read_before > _LONG:
            reading.summarise()
    if reading is not None or not number:
        yield reading or begin()


def _record(
    source: Source, reading: Reading, response: Response, *, rows: bool, raw: bool
) -> dict[str, object]:
    """What `--json` prints of one response (design §7)."""
    assembler = reading.assembler
    names = () if assembler.tools is None else assembler.tools.names

    def of_call(call: Call) -> dict[str, object]:
        record: dict[str, object] = {
            "choice": call.choice,
            "index": call.index,
            "name": call.name if call.name in names else None,
            "parsed": call.parsed,
            "length": len(call.arguments),
            "digest": assembler.origin.digest(call.arguments),
        }
        return {**record, "id": call.id, "name": call.name, "arguments": call.arguments} if raw else record

    record: dict[str, object] = {
        "file": source.name,
        "profile": assembler.origin.profile,
        "dialect": "chat",
        "evidence": source.evidence,
        "outcome": response.outcome,
        "fault": response.fault,
        "faults": [fault.to_record() for fault in response.faults],
        "calls": [of_call(call) for call in response.calls],
    }
    return {**record, "rows": reading.rows} if rows else record
