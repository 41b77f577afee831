"""Renders dot to svg, the same bytes for the same text, readable on a light page and on a dark one.

The renderer is the pinned `graphviz-pure`, a program beside the Python that runs, or else a `dot` on PATH.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from wholecall.press.ink import NIGHT
from wholecall.press.prose import WRITTEN

EXTRA = "wholecall[diagrams]"
"""What brings a renderer."""

_FONTS = "Helvetica,Arial,Liberation Sans,Nimbus Sans,sans-serif"
"""Fonts of one width, so that text stands where dot placed it, and then any other."""

_DOTS = "1.5,3"
"""Dots that stand close enough to be seen as a line."""


class RendererMissingError(RuntimeError):
    """Nothing here can render a diagram."""

    def __init__(self) -> None:
        super().__init__(f"no renderer of diagrams: install {EXTRA}, or put Graphviz' dot on PATH")


def render(dot: str) -> str:
    """The svg of a drawing; it depends on nothing but the text and the version of the renderer.

    Errors:
        RendererMissingError: Neither `graphviz-pure` nor a `dot` is here, or not the package that calls them.
        graphviz.CalledProcessError: The renderer refused the text.
    """
    try:
        import graphviz
        from graphviz.backend import dot_command
    except ImportError:
        raise RendererMissingError from None
    beside = shutil.which("graphviz-pure", path=str(Path(sys.executable).parent))
    program = beside or shutil.which("dot")
    if program is None:
        raise RendererMissingError
    usual = dot_command.DOT_BINARY
    dot_command.DOT_BINARY = Path(program)
    try:
        svg = graphviz.pipe_string("dot", "svg", dot, encoding="utf-8", quiet=True)
    finally:
        dot_command.DOT_BINARY = usual
    return finish(svg)


def finish(svg: str) -> str:
    """What a renderer wrote, without its version, with true tooltips, and with colours for a dark page."""
    body = re.sub(r"<!--.*?-->\n", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    body = re.sub(r"<text [^>]*> </text>\n", "", body).replace("&#45;", "-")
    for pattern, text in _REWRITTEN:
        body = re.sub(pattern, text, body)
    head, rest = body.split(">\n", 1)
    first = '<?xml version="1.0" encoding="UTF-8"?>'
    return f"{first}\n<!-- {WRITTEN} -->\n{head}>\n<style>\n{_night(rest)}</style>\n{rest}"


_LINK = r'<g id="[^"]+"><a xlink:title="([^"]*)">'
_OWN = rf'(<g id="[^"]+" class="(?:node|edge)[^"]*">\n)<title>[^<]*</title>\n{_LINK}'

_REWRITTEN = (
    # A viewer shows a title, but that of a link only where the link leads somewhere.
    (_OWN, r"\1<title>\2</title>\n<g>"),
    (_LINK, r"<g>\n<title>\1</title>"),
    (r"</a>\n</g>", "</g>"),
    (r'font-family="[^"]*"', f'font-family="{_FONTS}"'),
    (r'stroke-dasharray="1,5"', f'stroke-dasharray="{_DOTS}"'),
)
"""What is written otherwise than renderers write it, in this order."""


def _night(body: str) -> str:
    """The rules that exchange the colours of this drawing, its paper too, so that it reads on any page."""
    used = ((what, day, night) for day, night in NIGHT.items() for what in ("fill", "stroke"))
    rules = (f'  [{w}="{day}"] {{ {w}: {night} }}\n' for w, day, night in used if f'{w}="{day}"' in body)
    return "@media (prefers-color-scheme: dark) {\n" + "".join(rules) + "}\n"
