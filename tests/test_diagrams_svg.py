"""The rendered pictures: well-formed, the same each time, each reason in a title, readable in the dark."""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import replace
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest

from wholecall.press.dot import machine_dot
from wholecall.press.ink import NIGHT
from wholecall.press.overview import overview_dot
from wholecall.press.render import EXTRA, RendererMissingError, render
from wholecall_spec.load import load
from wholecall_spec.table import Table

SPEC = load()
TABLES = pytest.mark.parametrize("table", SPEC.tables, ids=lambda table: table.machine)
DRAWN = {table.machine: machine_dot(table) for table in SPEC.tables} | {"overview": overview_dot(SPEC)}
PICTURES = pytest.mark.parametrize("text", DRAWN.values(), ids=DRAWN)

SVG = "{http://www.w3.org/2000/svg}"


@PICTURES
def test_svg_is_well_formed_and_its_titles_say_why(text: str) -> None:
    svg = render(text)
    titles = {title.text for title in ElementTree.fromstring(svg).iter(f"{SVG}title")}  # noqa: S314

    told = {
        unescape(said.replace("\\n", "\n"))
        for said in re.findall(r'^    tooltip="(.*)"$', text, re.MULTILINE)
    }
    assert told <= titles
    assert "<a " not in svg
    assert "version" not in svg.split("<svg")[1]
    assert svg.count("<!--") == 1


def test_words_of_any_language_and_marks_of_any_kind_survive() -> None:
    about = 'if "a" < b & c\\d: \u4fdd\u7559'
    table = SPEC.table("identity")
    odd = replace(table, about=about, rows=(replace(table.rows[0], why=about), *table.rows[1:]))

    text = machine_dot(odd)
    titles = [title.text or "" for title in ElementTree.fromstring(render(text)).iter(f"{SVG}title")]  # noqa: S314

    assert text.isascii()
    assert f"omitted: {about}" in titles


@TABLES
def test_the_row_under_the_pointer_says_its_why(table: Table) -> None:
    drawing = ElementTree.fromstring(render(DRAWN[table.machine]))  # noqa: S314

    shown = [
        (group.findtext(f"{SVG}title"), "".join(text.text or "" for text in group.iter(f"{SVG}text")))
        for group in drawing.iter(f"{SVG}g")
    ]
    for row in table.rows:
        assert any(title == row.why and text.startswith(row.input) for title, text in shown)


@PICTURES
def test_svg_is_the_same_each_time_and_reads_on_a_dark_page(text: str) -> None:
    svg = render(text)
    colors = set(re.findall(r'(?:fill|stroke)="(#\w+)"', svg.split("</style>")[1]))

    assert svg == render(text)
    assert colors <= set(NIGHT)
    for color in colors:
        assert f'="{color}"] {{ ' in svg
        assert NIGHT[color] in svg.split("</style>")[0]
    texts = re.findall(r"<text [^>]*>[^<]", svg)
    assert all('fill="#' in text_ for text_ in texts), "black by default would vanish on a dark page"


def test_a_dot_on_the_path_serves_where_the_pinned_renderer_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    beside = shutil.which("graphviz-pure", path=str(Path(sys.executable).parent))
    assert beside, "the extra `dev` brings it"
    (tmp_path / "dot").symlink_to(beside)
    expected = render(DRAWN["identity"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))

    assert render(DRAWN["identity"]) == expected


def test_without_a_renderer_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(RendererMissingError, match=re.escape(EXTRA)):
        render(DRAWN["identity"])


def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graphviz", None)

    with pytest.raises(RendererMissingError, match=re.escape(EXTRA)):
        render(DRAWN["identity"])
