"""What fired while a response was read: line by line where that can be read, and counted where it cannot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Final

from wholecall.assemble import Assembler, Response
from wholecall.product import Cell
from wholecall.text import settle
from wholecall.wire import Frame, decode, is_error

MOST_LINES: Final = 200
"""More are not read by anybody; the response is then summarised."""

_EVERY: Final = 4096
"""Frames between two times that a long response's past is forgotten."""

_SILENT: Final = ("fragment", "known", "omitted")
"""Inputs of a fragment that are only told where they are refused."""

_ENDING: Final = ("stream", "proposal")
"""Machines of which it is told how they ended; of the others only where they refused."""


@dataclass(slots=True)
class Line:
    """What happened once, or several times on end.

    Attributes:
        first: The number of its frame, from 1; 0 for the end of the response.
        last: The number of the last frame where it happened again.
        times: How often it happened.
        call: Which call it concerns: its index, or choice and index; empty for none.
        rows: The ids of the rows that are worth telling.
    """

    first: int
    last: int
    times: int
    call: str
    rows: tuple[str, ...]


class Reading:
    """One response while it is read, and what fired in it.

    Args:
        assembler: A fresh one.
        by_line: Keep the lines, until there are too many of them.
        with_rows: Keep the id of every row.

    Attributes:
        frames: The frames so far.
        ended_by: The number of the frame that ended the response; 0 where none did.
        lines: The lines; None where they were not kept.
        rows: The ids of the rows so far, where they are kept.
        response: What came of it, once it was closed.
    """

    def __init__(self, assembler: Assembler, *, by_line: bool, with_rows: bool) -> None:
        self.assembler = assembler
        self.frames = 0
        self.ended_by = 0
        self.lines: list[Line] | None = [] if by_line else None
        self.rows: list[str] = []
        self.response: Response | None = None
        self._with_rows = with_rows
        self._cells: dict[int, Cell] = {}
        self._fired: Counter[int] = Counter()
        self._counted: Counter[str] = Counter()

    def feed(self, frame: object) -> None:
        """Read one frame."""
        self.frames += 1
        if self.ended_by:
            return
        self.assembler.feed(frame)
        self.assembler.text.clear()  # content is not shown, and may be long
        if self.assembler.ended:
            self.ended_by = self.frames
        if self.lines is not None:
            self._note(frame, self._drain())
        elif self.frames % _EVERY == 0:
            self._drain()
            self._settle()

    def close(self) -> Response:
        """The stream has ended; what came of it."""
        self._drain()
        self.response = self.assembler.close()
        self._counted.update(self.response.rows)
        if self._with_rows:
            self.rows += self.response.rows
        if self.lines is not None:
            tables = self.assembler.rules.spec.tables
            told = {row.id for table in tables for row in table.rows if row.fault or table.machine in _ENDING}
            for row in self.response.rows:
                if row in told:
                    self._add(0, "", (row,))
        return self.response

    def counts(self) -> Counter[str]:
        """How often each row fired."""
        total = self._counted.copy()
        for key, times in self._fired.items():
            for fired in self._cells[key].fired:
                total[fired.step.row] += times
        return total

    def summarise(self) -> None:
        """Keep no lines from here on."""
        self.lines = None

    def _drain(self) -> list[Cell]:
        cells = self.assembler.drain()
        self._fired.update(map(id, cells))
        self._cells.update({id(cell): cell for cell in cells})
        if self._with_rows:
            self.rows += [fired.step.row for cell in cells for fired in cell.fired]
        return cells

    def _settle(self) -> None:
        """Make one text of the pieces of each call: they take many times the room of their characters."""
        for choice in self.assembler.choices():
            for call in choice.calls.values():
                call.arguments = settle(call.arguments)

    def _note(self, frame: object, cells: Sequence[Cell]) -> None:
        calls = chain(_calls(frame), repeat(""))
        call = ""
        for cell in cells:
            # A refused fragment is told to its stream, which is not a thing of its own that came.
            call = call if cell.fired[0].input == "fragment_refused" else next(calls)
            self._add(self.frames, call, _told(cell))

    def _add(self, frame: int, call: str, rows: tuple[str, ...]) -> None:
        if self.lines is None:
            return
        last = self.lines[-1] if self.lines else None
        if last is not None and (last.call, last.rows) == (call, rows):
            last.last = frame
            last.times += 1
        elif len(self.lines) == MOST_LINES:
            self.summarise()
        else:
            self.lines.append(Line(frame, frame, 1, call, rows))


def _told(cell: Cell) -> tuple[str, ...]:
    """The rows that say what this cell did; of a fragment not those of what it did not have."""
    if not cell.is_fragment:
        return tuple(fired.step.row for fired in cell.fired)
    told = [fired.step.row for fired in cell.fired if fired.step.fault or fired.input not in _SILENT]
    return tuple(told or [cell.fired[1].step.row])


def _calls(frame: object) -> Iterator[str]:
    """Which call each input that a frame gives concerns, in the order in which the machines see them."""
    read = decode(frame)
    if not isinstance(read, Frame) or is_error(read.error):
        return
    for part in read.choices or ():
        choice = f"{part.index}:" if part.index else ""
        fragments = (part.delta.tool_calls if part.delta else None) or ()
        for fragment in fragments:
            known = type(fragment.index) is int and fragment.index >= 0
            yield f"{choice}{fragment.index if known else '?'}"
        if not fragments:
            yield choice
        if part.finish_reason:
            yield choice
