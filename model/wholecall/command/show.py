"""One response for people: what happened, what came of it, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Final

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from wholecall.assemble import Call, Response
from wholecall.command.screen import emit, place, plain
from wholecall.command.sources import Source
from wholecall.command.trace import Line, Reading
from wholecall.diagnose import Diagnostic
from wholecall_spec.load import line_of
from wholecall_spec.spec import Spec

GOOD_OUTCOMES: Final = ("whole", "answered")
"""The outcomes of a response in which nothing was refused."""

_MOST_FAULTS: Final = 10
_WORDS: Final = {"routing": "index ", "identity": "id ", "stream": "", "proposal": ""}
"""What is put before an input of a machine, where that is not the machine's name."""


class Page:
    """Shows responses.

    Args:
        screen: Where to.
        spec: The tables that judged.
        rows: Show the id of every row that fired.
        raw: Show ids, names and arguments as they arrived, and what upstream said.
    """

    def __init__(self, screen: Console, spec: Spec, *, rows: bool, raw: bool) -> None:
        self._screen = screen
        self._spec = spec
        self._with_rows = rows
        self._raw = raw
        self._rows = {row.id: (table.machine, row) for table in spec.tables for row in table.rows}

    def show(self, source: Source, number: int, reading: Reading, response: Response) -> None:
        """Show one response.

        Args:
            source: The file it stands in.
            number: Its number in the file, from 1.
            reading: How it was read.
            response: What came of it.
        """
        parts: list[RenderableType] = [self._table(reading)]
        unread = reading.frames - reading.ended_by if reading.ended_by else 0
        if unread:
            parts.append(Text(f"{_count(unread, 'frame')} after the fault not read", style="dim"))
        parts += [Text(), self._verdict(response), *self._reasons(reading, response)]
        if self._with_rows:
            parts.append(Text(f"rows: {' '.join(reading.rows)}"))
        if self._raw:
            parts += map(_raw, response.calls)
        emit(self._screen, self._head(source, number, reading), Padding(Group(*parts), (0, 0, 1, 2)))

    def _head(self, source: Source, number: int, reading: Reading) -> Text:
        name = plain(source.name) + (f", response {number}" if number > 1 else "")
        frames = _count(reading.frames, "frame") + (" (summarised)" if reading.lines is None else "")
        stated = f"chat, {reading.assembler.origin.profile}, {frames}, evidence {source.evidence}"
        about = f"\n{plain(source.about)}" if source.about else ""
        return Text.assemble((name, "bold"), about, "\n", (stated, "dim"))

    def _table(self, reading: Reading) -> Table:
        if reading.lines is not None:
            table = _table("frame", "call")
            before = ("", "")
            for line in reading.lines:
                before = self._add(table, line, before)
            return table
        table = _table("times")
        counts = reading.counts()
        for row, times in ((row, counts[row]) for row in self._rows if counts[row]):
            table.add_row(f"{times:,}", *self._cells(row))
        return table

    def _add(self, table: Table, line: Line, before: tuple[str, str]) -> tuple[str, str]:
        """Add a line; its frame and call are not said again where they are those of the line before."""
        frame = str(line.first) if line.first else "end"
        if line.last != line.first:
            frame += f"-{line.last}"
        here = (frame, line.call)
        shown = ("", "") if here == before else ("", line.call) if frame == before[0] else here
        for row in line.rows:
            words, name, why = self._cells(row)
            if line.times > 1 and row == line.rows[-1]:
                why.append(f" ({line.times} times)", style="dim")
            table.add_row(*shown, words, name, why)
            shown = ("", "")
        return here

    def _cells(self, name: str) -> tuple[Text, Text, Text]:
        machine, row = self._rows[name]
        style = "red" if row.fault else ""
        words = _WORDS.get(machine, f"{machine} ") + row.input
        return Text(words), Text(name, style=style), Text(row.why, style=style)

    def _verdict(self, response: Response) -> Text:
        if response.fault is None:
            calls = f", {_count(len(response.calls), 'call')}" if response.calls else ""
            return Text.assemble((response.outcome, "bold green"), calls)
        about = self._spec.fault(response.fault).about
        return Text.assemble((f"{response.outcome}: {response.fault}", "bold red"), f", {about}")

    def _reasons(self, reading: Reading, response: Response) -> Iterator[RenderableType]:
        at_frame = reading.assembler.refusal is not None and reading.ended_by
        frame = f"frame {reading.ended_by}" if at_frame else ""
        for fault in response.faults[:_MOST_FAULTS]:
            where = ", ".join(filter(None, (frame, _place_of(fault))))
            facts = "; ".join(_facts(fault))
            sentence = f"{where}: {fault.why}" if where else fault.why
            yield Text(f"{sentence[0].upper()}{sentence[1:]}{f' ({facts})' if facts else ''}.")
            if self._raw and fault.reason is not None:
                yield Text(f"Upstream says: {json.dumps(fault.reason)}", overflow="fold")
        left = len(response.faults) - _MOST_FAULTS
        if left > 0:
            yield Text(f"And so in {_count(left, 'more call')}.")
        for row in dict.fromkeys(fault.row for fault in response.faults if fault.row):
            yield Text(f"{row} at {_line_of(row)}", style="dim", no_wrap=True, overflow="ignore")


def _table(*first: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for name in first:
        table.add_column(name, justify="left" if name == "call" else "right", no_wrap=True)
    table.add_column("input", no_wrap=True)
    table.add_column("row", no_wrap=True)
    table.add_column("what happened")
    return table


def _place_of(fault: Diagnostic) -> str:
    choice = f"choice {fault.choice}" if fault.choice else ""
    call = f"call {fault.index}" if fault.index is not None else ""
    return ", ".join(filter(None, (choice, call)))


def _facts(fault: Diagnostic) -> Iterator[str]:
    """What more the diagnostic can say without any content."""
    if fault.json_type:
        yield f"it is of type {fault.json_type}"
    if fault.offset is not None:
        yield f"at character {fault.offset} of {fault.length}{', inside a string' if fault.in_string else ''}"
    if fault.schema_keyword:
        yield f"the schema's {fault.schema_keyword} at {fault.schema_location}"
    if fault.upstream_status:
        yield f"upstream status {fault.upstream_status}"
    if fault.upstream_code:
        yield f"upstream code {fault.upstream_code}"


def _raw(call: Call) -> Text:
    given = (("id", call.id), ("name", call.name), ("arguments", call.arguments))
    said = "  ".join(f"{name} {json.dumps(text)}" for name, text in given)
    choice = f"{call.choice}:" if call.choice else ""
    return Text(f"call {choice}{call.index}  {said}", overflow="fold")


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'s' * (number != 1)}"


@cache
def _line_of(row: str) -> str:
    return place(line_of(row))
