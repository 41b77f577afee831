"""The words of dot in which every drawing is written, and what stands on each: title, beginning, legend.

A drawing says where everything stands (`layout=nop2`), so every renderer of dot draws the same picture. It is
ASCII, because dot loses the width of other text, and has a line for each thing, so that a change of the
specification is a change of few lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from math import ceil

from wholecall.press.ink import BODY, DIM, INK, PAPER, PENS, SMALL, TITLE, Pen, width_of
from wholecall.press.prose import WRITTEN

BAR, INSET = 3, 5
"""The bar beside rows that belong to one line, and the space between it and their text."""


@dataclass(frozen=True, slots=True)
class Box:
    """Where a node stands, in points; y grows downwards."""

    left: float
    top: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """The height of its middle."""
        return self.top + self.height / 2

    @property
    def bottom(self) -> float:
        """The height of its lower side."""
        return self.top + self.height


def opening(name: str, scope: str, about: str) -> str:
    """The first lines of a drawing: where it comes from, what it shows, and what holds for all of it."""
    title = f"{font(name, TITLE, bold=True)} {font(' ' + scope, color=DIM)}"
    return f"""// {WRITTEN}
digraph {string(name)} {{
  layout=nop2; outputorder=nodesfirst; pad=0.2; bgcolor="{PAPER}";
  fontname=Helvetica; labelloc=t; labeljust=l;
  node [fontname=Helvetica, fontsize=10, fontcolor="{INK}"];
  node [shape=box, style=filled, fixedsize=true, margin=0];
  edge [fontname=Helvetica, fontsize=10, fontcolor="{INK}", arrowsize=0.7];
  label={label([cell(title), cell(font(about), height=18)])};"""


def beginning(name: str, box: Box, tooltip: str) -> str:
    """The dot and the arrow with which a drawing begins, above the box of that name."""
    x, top = box.left + 14, -box.top
    dot = {"shape": "circle", "color": INK, "fillcolor": INK, "tooltip": tooltip, "label": ""}
    line = f"e,{at(x, top)} {at(x, top + 14)} {at(x, top + 12)} {at(x, top + 9)} {at(x, top + 7)}"
    pen = Pen(INK, "solid", 1.4, PAPER, PAPER)
    return "\n".join(
        [
            statement(string("(start)"), pos=at(x, top + 17), width=0.09, height=0.09, **dot),
            edge("(start)", name, pen, pos=line, tooltip=tooltip),
        ]
    )


def legend(x: float, top: float, parts: Iterable[str]) -> str:
    """How to read the drawing, in one line below it, its middle at `x`."""
    gap = cell(width=10)
    place = {"pos": at(x, -top - 20), "shape": "plain", "style": "solid", "fixedsize": "false"}
    return statement(string("(legend)"), **place, tooltip="how to read this", label=label([gap.join(parts)]))


def sample(pen: Pen, word: str) -> str:
    """A line of the legend."""
    line = table(
        [cell(width=26, height=6, sides="B", border=2, style=pen.style, color=pen.color), cell(height=6)]
    )
    return cell(line) + cell(f" {font(word, SMALL, DIM)}")


def ends() -> list[str]:
    """Good and other final states in the legend."""
    found = []
    for pen, word, border in ((PENS["accepted"], "good final", 1), (PENS["refused"], "other final", 0)):
        style = "rounded" if border else "solid"
        inner = cell(
            f" {font(word + ' ', SMALL, DIM)}", border=1, style=style, color=pen.color, bgcolor=pen.fill
        )
        found.append(cell(table([inner], border=border, style=style, color=pen.color, cellspacing=2)))
    return found


def place(box: Box) -> dict[str, str]:
    """The attributes of dot that put a node into its box."""
    size = {"width": f"{box.width / 72:.4f}", "height": f"{box.height / 72:.4f}"}
    return {"pos": at(box.left + box.width / 2, -box.middle), **size}


def statement(subject: str, **values: object) -> str:
    """A node or an edge with its attributes, one a line; a value that begins as a tag is a label of HTML."""
    texts = ((name, str(value)) for name, value in values.items())
    lines = (f"    {name}={text if text.startswith('<') else string(text)}" for name, text in texts)
    return "\n".join([f"  {subject} [", *lines, "  ];"])


def edge(tail: str, head: str, pen: Pen, **values: object) -> str:
    """An edge in its pen."""
    drawn = {"color": pen.color, "style": pen.style, "penwidth": pen.width}
    return statement(f"{string(tail)} -> {string(head)}", **drawn, **values)


def label(rows: Iterable[str], **values: object) -> str:
    """A table as the label of a node or an edge."""
    return f"<{table(rows, **values)}>"


def table(rows: Iterable[str], **values: object) -> str:
    """A table within a label, each row on a line of its own."""
    plain = {"border": 0, "cellborder": 0, "cellspacing": 0, "cellpadding": 0, **values}
    return "\n".join([f"<TABLE {_pairs(plain)}>", *(f"      <TR>{row}</TR>" for row in rows), "    </TABLE>"])


def cell(inner: str = "", title: str = "", **values: object) -> str:
    """A cell of a table; its text stands left unless told otherwise, and `title` is its tooltip."""
    said = {
        "align": "LEFT",
        **values,
        **({"title": _ascii(escape(title)).replace("\n", "&#10;")} if title else {}),
    }
    return f"<TD {_pairs(said)}>{inner}</TD>"


def grouped(pen: Pen, side: str) -> dict[str, object]:
    """What a table of rows that belong to one line looks like: tinted, with a bar where the line is."""
    return {"border": BAR, "sides": side, "style": pen.style, "color": pen.color, "bgcolor": pen.tint}


def font(text: str, size: float = BODY, color: str = INK, bold: bool = False, italic: bool = False) -> str:
    """A piece of text within a label."""
    if not text:
        return ""
    inner = _ascii(escape(text))
    inner = f"<B>{inner}</B>" if bold else inner
    inner = f"<I>{inner}</I>" if italic else inner
    return f'<FONT POINT-SIZE="{size:g}" COLOR="{color}">{inner}</FONT>'


def string(text: str) -> str:
    """The text as a string of dot; line breaks stay line breaks."""
    inner = text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{_ascii(inner)}"'


def at(x: float, y: float) -> str:
    """A point as dot writes it, y upwards; short, and the same on every machine."""
    return f"{round(x, 1) + 0.0:g},{round(y, 1) + 0.0:g}"


def room(*texts: str, size: float = BODY) -> int:
    """Whole points that hold the widest of these texts."""
    return ceil(max(width_of(text, size) for text in texts))


def _pairs(values: Mapping[str, object]) -> str:
    return " ".join(f'{name.upper()}="{value}"' for name, value in values.items())


def _ascii(text: str) -> str:
    return text.encode("ascii", "xmlcharrefreplace").decode()
