"""The matrix as a page: a row a client, a column a machine, and below it the streams behind each cell."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from importlib.resources import files
from string import Template
from typing import Any, Final

from wholecall.fuzz.reading import MACHINES
from wholecall.fuzz.verdict import KINDS
from wholecall.matrix.column import AGREES, SKIPPED

_ABOUT: Final = {
    **{kind: KINDS[kind] for kind in ("corrupts", "accepts", "refuses")},
    AGREES: "of no stream it makes something else than the tables",
    SKIPPED: "no stream could be told to it",
}


def page(record: Mapping[str, Any]) -> str:
    """The page, which needs nothing but itself.

    Args:
        record: The matrix (see `wholecall.matrix.report`).
    """
    legend = (f'<dt class="{word}">{word}</dt><dd>{escape(about)}</dd>' for word, about in _ABOUT.items())
    missing = "; ".join(f"{name}: {why}" for name, why in record["missing"].items())
    template = (files("wholecall.matrix") / "page.html").read_text(encoding="utf-8")
    return Template(template).substitute(
        record,
        legend="\n".join(legend),
        table="\n".join(_table(record["clients"])),
        missing=f'<p class="soft">Not asked: {escape(missing)}.</p>' if missing else "",
        clients="\n".join(line for client in record["clients"] for line in _client(client)),
    )


def _table(clients: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    heads = "".join(f'<th scope="col">{machine}</th>' for machine in MACHINES)
    yield f'<table>\n<thead><tr><th scope="col">client</th>{heads}</tr></thead>\n<tbody>'
    for client in clients:
        name, version = escape(client["client"]), escape(next(iter(client["versions"].values())))
        cells = "".join(_cell(client, machine) for machine in MACHINES)
        head = f'<a href="#{name}">{name}</a> <span class="soft">{version}</span>'
        yield f'<tr><th scope="row">{head}</th>{cells}</tr>'
    yield "</tbody>\n</table>"


def _cell(client: Mapping[str, Any], machine: str) -> str:
    verdict = client["cells"][machine]
    link = f'<a href="#{escape(client["client"])}-{machine}">{verdict}</a>'
    return f'<td class="{verdict}" data-of="{machine}">{link if verdict in KINDS else verdict}</td>'


def _client(client: Mapping[str, Any]) -> Iterator[str]:
    name = escape(client["client"])
    versions = ", ".join(f"{package} {version}" for package, version in client["versions"].items())
    yield f'<h2 id="{name}">{name}</h2>'
    yield f'<p class="soft">{escape(versions)}. Driven: {escape(client["drives"])}. '
    yield f"{client['streams']} streams, {client['skipped']} not expressible.</p>"
    for machine in MACHINES:
        found = [one for one in client["findings"] if one["machine"] == machine]
        yield from [f'<h3 id="{name}-{machine}">{machine}</h3>'] if found else []
        for one in found:
            yield from _finding(one)


def _finding(one: Mapping[str, Any]) -> Iterator[str]:
    frames = "\n".join(map(json.dumps, one["frames"]))
    answers = f"expected {json.dumps(one['expected'])}\ngot {json.dumps(one['got'])}"
    kind = f'<span class="{one["kind"]}">{one["kind"]}</span>'
    yield f"<details><summary>{kind} {one['row']}: {escape(one['why'])}"
    yield f' <span class="soft">{one["evidence"]}</span></summary>'
    yield f"<pre>{escape(frames)}</pre>\n<pre>{escape(answers)}</pre>"
    yield f'<p class="soft">{escape(one["file"])}</p></details>'
