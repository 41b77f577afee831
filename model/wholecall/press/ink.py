"""What a drawing is drawn with: colours by day and by night, line styles, and the sizes of text.

Three kinds of row are told apart by colour and by line style, so that no reader depends on one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from wholecall_spec.table import Row

Kind = Literal["accepted", "kept", "refused"]
"""Something moved on, nothing changed, or something was not accepted."""

PAPER, INK, DIM, LINE, SHADE = "#ffffff", "#1f2328", "#646c75", "#57606a", "#eaeef2"

TITLE, NAME, BODY, SMALL = 15.0, 11.0, 10.0, 9.0
"""Sizes of text in points; nothing is smaller than a README shows well."""


@dataclass(frozen=True, slots=True)
class Pen:
    """How one kind of line is drawn, and what belongs to it.

    Attributes:
        color: Of the line.
        style: Of the line, in the words of dot.
        width: Of the line, in points.
        tint: Behind the text of the line.
        fill: Of the end that the line leads to.
    """

    color: str
    style: str
    width: float
    tint: str
    fill: str


PENS: Mapping[Kind, Pen] = {
    "accepted": Pen("#1a7f37", "solid", 1.4, "#eefbf1", "#d2f5da"),
    "kept": Pen("#6e7783", "dotted", 1.8, "#f4f6f8", "#edf0f3"),
    "refused": Pen("#cf222e", "dashed", 1.4, "#fff1f0", "#ffe2e0"),
}
TELLS = Pen("#0969da", "solid", 1.2, "#eef7ff", "#d8eeff")
"""The pen of what one machine tells another."""

NIGHT: Mapping[str, str] = {
    PAPER: "#0d1117",
    INK: "#e6edf3",
    DIM: "#9198a1",
    LINE: "#7d8590",
    SHADE: "#262c36",
    "#1a7f37": "#3fb950",
    "#eefbf1": "#10231a",
    "#d2f5da": "#17381f",
    "#6e7783": "#929aa4",
    "#f4f6f8": "#171c23",
    "#edf0f3": "#21262d",
    "#cf222e": "#ff7b72",
    "#fff1f0": "#2b1518",
    "#ffe2e0": "#41181b",
    "#0969da": "#58a6ff",
    "#eef7ff": "#10203a",
    "#d8eeff": "#132d50",
}
"""Each colour, and what takes its place where the reader prefers a dark page."""

_CLASSES = (
    *((".,:;!'|ijl/[]()ft I", 0.28), ('-r"*`{}', 0.36), ("mwMW%@", 0.95)),
    *(("ABCDEFGHKLNOPQRSTUVXYZ&+<>=~", 0.75),),
)
_WIDTHS = {character: width for characters, width in _CLASSES for character in characters}
_BOLD = 1.06


def kind_of(row: Row) -> Kind:
    """How a row is told: with a fault it is refused; without an effect, in its own state, it keeps."""
    if row.fault:
        return "refused"
    return "kept" if row.next == row.state and not row.effect else "accepted"


def width_of(text: str, size: float = BODY, bold: bool = False) -> float:
    """No less than the width of a text in points, so that a place of this width holds it."""
    return sum(_WIDTHS.get(character, 0.56) for character in text) * size * (_BOLD if bold else 1)


def wrap(text: str, width: float, size: float = SMALL) -> list[str]:
    """The text in as few lines as fit this width, broken at spaces, the lines of about one length."""
    lines = _fill(text, width, size)
    while width > 0 and len(narrower := _fill(text, width, size)) == len(lines):
        lines = narrower
        width -= size / 4
    return lines


def _fill(text: str, width: float, size: float) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        if lines and width_of(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
