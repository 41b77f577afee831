"""How things look: on a terminal, and in a pipe, where there are no colours and 80 columns."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Final

import click
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

WIDEST: Final = 110
"""Columns; a sentence is not read more easily on a wider line."""


def console() -> Console:
    """What results are printed to. No text is taken for markup, and nothing is coloured but what is asked."""
    screen = Console(markup=False, highlight=False, emoji=False)
    screen.width = min(screen.width, WIDEST)
    return screen


def emit(screen: Console, *parts: RenderableType) -> None:
    """Print; where it is no terminal that reads it, without the spaces that fill up lines."""
    if screen.is_terminal:
        screen.print(*parts, sep="\n")
        return
    with screen.capture() as captured:
        screen.print(*parts, sep="\n")
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def facts(pairs: Iterable[tuple[str, str]]) -> Padding:
    """Names with their texts, in two columns."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in pairs:
        grid.add_row(name, Text(text))
    return Padding(grid, (0, 0, 0, 2))


def place(file_and_line: str) -> str:
    """A place as one would type it here: below this folder, its path from here."""
    here = f"{Path.cwd()}/"
    return file_and_line.removeprefix(here)


def plain(text: str) -> str:
    """A text that cannot move the cursor or colour the screen, whoever wrote it."""
    return text if text.isprintable() else ascii(text)


class Meter:
    """A bar of the bytes read, on stderr where that is a terminal and the file is worth one.

    Args:
        name: What is being read.
        size: Its bytes; None where that is not known.
    """

    def __init__(self, name: str, size: int | None) -> None:
        screen = Console(stderr=True)
        self._bar: Progress | None = None
        if screen.is_terminal and size is not None and size >= _WORTH_A_BAR:
            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                DownloadColumn(),
                TimeRemainingColumn(),
                console=screen,
                transient=True,
            )
            self._task = self._bar.add_task(plain(Path(name).name), total=size)

    def __enter__(self) -> Meter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.pause()

    def advance(self, count: int) -> None:
        """So many bytes more were read."""
        if self._bar is not None:
            self._bar.start()
            self._bar.advance(self._task, count)

    def pause(self) -> None:
        """Make room for what is printed; the bar comes back with the next bytes."""
        if self._bar is not None:
            self._bar.stop()


_WORTH_A_BAR: Final = 1_000_000
