"""The reference as a page: where it comes from, what it links to, and that it never changes by itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter

from wholecall.press.reference import reference_md
from wholecall_spec.load import load
from wholecall_spec.statements import STATEMENTS

SPEC = load()
TEXT = reference_md(SPEC)


def slug(title: str) -> str:
    """The anchor that readers of markdown make of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def test_every_statement_stands_there_with_how_it_is_asked() -> None:
    """What is not explored is left to real code, and TLC is asked all that holds always."""
    lines = [line.strip("| ").split(" | ") for line in TEXT.splitlines()]
    told = {line[0].strip("`"): "|".join(line[1:]) for line in lines if len(line) > 2}
    texts = next(line for line in TEXT.splitlines() if line.startswith("| `diagnostics_bounded` |"))

    assert [one.name for one in STATEMENTS if not told[one.name].startswith(one.sentence)] == []
    assert [one.name for one in STATEMENTS if ", ".join(one.asked_of) not in told[one.name]] == []
    assert [one.name for one in STATEMENTS if f"`{one.kind}`" not in told[one.name]] == [
        "diagnostics_bounded"
    ]
    assert texts.endswith("log, message or repr |  |  | responses, turns |")
    assert told["always_ends"].endswith("`always_ends`|yes|responses, turns")


def test_every_link_leads_to_one_place_on_the_page() -> None:
    """Rows and faults have anchors of their own, and sections are found by their headings."""
    headings = re.findall(r"^#+ (.+)$", TEXT, re.MULTILINE)
    anchors = Counter([*re.findall(r'<a id="([^"]+)">', TEXT), *map(slug, headings)])
    links = set(re.findall(r"\]\(#([^)]+)\)", TEXT))
    rows = {row.id.lower() for part in (SPEC.tables, SPEC.joins) for item in part for row in item.rows}

    assert links - set(anchors) == set()
    assert rows | {fault.name for fault in SPEC.faults} <= set(anchors)
    assert [name for name, count in anchors.items() if count > 1] == []


def test_the_page_begins_with_its_origin_and_an_index() -> None:
    """Source and command first, then every machine and every join with a link."""
    head = TEXT.partition("## How to read")[0]
    named = [*(table.machine for table in SPEC.tables), *(join.name for join in SPEC.joins)]

    assert head.startswith("<!-- Written by `wholecall build` from spec/wholecall_spec; edits are lost. -->")
    assert named == re.findall(r"^\| \[(\w+)\]\(#\1\)", head, re.MULTILINE)


def test_the_text_is_the_same_in_every_process() -> None:
    """No order of a set, no date, no version and no digest gets into the page."""
    code = (
        "from wholecall_spec.load import load; from wholecall.press.reference import reference_md;"
        "import sys; sys.stdout.reconfigure(encoding='utf-8'); print(reference_md(load()), end='')"
    )
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)

        assert run.stdout.decode().replace("\r\n", "\n") == TEXT
    assert SPEC.digest not in TEXT
