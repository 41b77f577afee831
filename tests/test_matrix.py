"""The matrix says of a client what the tables say of it, and nothing that it does not show again."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from frames import FINISH, fragment, frame

from wholecall.cases import Case
from wholecall.clients.registry import clients
from wholecall.command import cli
from wholecall.command.matrix import ask_or_tell
from wholecall.fuzz.reading import MACHINES, expect
from wholecall.fuzz.replay import asked
from wholecall.fuzz.rows import reachable
from wholecall.fuzz.shrink import drop
from wholecall.fuzz.target import Got
from wholecall.fuzz.walk import Coverage, Find
from wholecall.limits import Limits
from wholecall.matrix import column
from wholecall.matrix.column import VERDICTS, Column, Finding, ask, cases_of_rows, target_of
from wholecall.matrix.page import page
from wholecall.matrix.report import lines, record

OPENAI = clients()["openai"]
WHOLE = [frame(fragment(0, id="c1", name="look", arguments='{"a":1}')), FINISH, "[DONE]"]
NULL_FIRST = [frame(fragment(0, id=None, name="look", arguments='{"a":1}')), FINISH, "[DONE]"]


def a_case(name: str, chunks: list[Any], dialect: str = "chat") -> dict[str, Any]:
    expect = {"outcome": "whole"}
    return {"id": name, "dialect": dialect, "evidence": "recorded", "chunks": chunks, "expect": expect}


CASES = [a_case("whole", WHOLE), a_case("null first", NULL_FIRST), a_case("other", [], "keyed")]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder of environments, in which the openai client of this environment is."""
    site = tmp_path / "openai-3" / "lib" / "python3.11" / "site-packages" / "openai-9.1.dist-info"
    site.mkdir(parents=True)
    (site / "METADATA").write_text("Metadata-Version: 2.1\nName: openai\nVersion: 9.1\n")
    python = tmp_path / "openai-3" / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    return tmp_path


def test_a_client_is_asked_and_all_that_differs_shows_again(installed: Path) -> None:
    got = ask(OPENAI, installed, [Case.load(case) for case in CASES], streams=40, seed=1)

    assert (got.client, got.versions, got.flaky) == (OPENAI, {"openai": "9.1"}, 0)
    assert got.streams == 40 + 2 + len(cases_of_rows())
    assert got.cells.keys() == set(MACHINES)
    recorded = [one for one in got.findings if one.case["evidence"] == "recorded"]
    assert [(one.kind, one.row, one.machine) for one in recorded] == [("accepts", "I02", "identity")]
    assert recorded[0].case["chunks"] == NULL_FIRST
    assert any(one.case["evidence"] == "synthetic" for one in got.findings)
    target = target_of(OPENAI, installed).open()
    for one in got.findings:
        kind, *_ = asked(Case.load(one.case), target)
        assert kind == one.kind
        assert "before" not in one.case
        assert VERDICTS.index(got.cells[one.machine]) <= VERDICTS.index(one.kind)
    target.close()


def test_whatever_is_dealt_each_row_is_asked(installed: Path) -> None:
    """One stream at random shows one thing at most."""
    got = ask(OPENAI, installed, [], streams=1, seed=0)
    fired = {row for case in cases_of_rows() for row in expect(case.chunks).rows}

    assert len(got.findings) > 1
    assert fired == reachable(own=False).rows


class Fickle:
    """A target that gives calls whatever it is sent, and now and then refuses."""

    def __init__(self, *refuses: bool) -> None:
        self.refuses = iter(refuses)
        self.closed = False

    def ask(self, chunks: Sequence[Any], limits: object = None) -> Got:  # noqa: ARG002 - as targets are asked
        return Got() if next(self.refuses) else Got(({"id": None, "name": "look", "arguments": {}},))

    def close(self) -> None:
        self.closed = True


def test_a_find_loses_every_chunk_that_it_shows_without() -> None:
    noise: dict[str, Any] = {"choices": []}
    chunks = [noise, *NULL_FIRST[:1], noise, noise]
    find = Find("accepts", "I02", chunks, expect(chunks), Got(), Limits())

    small = drop(find, Fickle(*[False] * 3))

    assert (small.chunks, small.expected.row) == (NULL_FIRST[:1], "I02")


def test_a_find_keeps_what_a_client_needs_to_err() -> None:
    find = Find("accepts", "I02", NULL_FIRST[:2], expect(NULL_FIRST[:2]), Got(), Limits())

    assert drop(find, Fickle(True)).chunks == NULL_FIRST[:2]


def test_when_time_is_up_a_find_is_small_enough() -> None:
    find = Find("accepts", "I02", NULL_FIRST[:2], expect(NULL_FIRST[:2]), Got(), Limits())

    assert drop(find, Fickle(), until=0) is find


def finding(kind: str, row: str, **case: Any) -> dict[str, Any]:
    return {"kind": kind, "row": row, "evidence": "synthetic", "chunks": NULL_FIRST, **case}


def test_what_does_not_show_again_is_left_out() -> None:
    target = Fickle(False, True)
    finds = [finding("accepts", "I02", id="first"), finding("accepts", "I02", id="second")]

    assert column._seen_again(target, finds) == finds[:1]
    assert target.closed


@pytest.mark.parametrize(
    ("calls", "letter"),
    [
        ([], "R"),
        ([{"id": "c1c1", "name": "look", "arguments": "{}"}], "I"),
        ([{"id": "c1", "name": None, "arguments": "{}"}], "N"),
        ([{"id": "c1", "name": "look", "arguments": "{}"}], "A"),
    ],
)
def test_what_is_corrupted_counts_where_it_differs(calls: list[dict[str, Any]], letter: str) -> None:
    expected = expect(WHOLE)
    find = Find("corrupts", "", WHOLE, expected, Got(tuple(calls)), Limits())

    decided = column._decided(find, Coverage(differed=Counter(expected.rows)))

    assert decided.row.startswith(letter)
    assert decided.row in expected.rows


def test_of_each_kind_row_and_level_the_smallest_is_shown() -> None:
    short, long = finding("accepts", "I02", chunks=[1]), finding("accepts", "I02", chunks=[1, 2])
    other = finding("accepts", "I02", evidence="recorded")

    assert column._one_each([long, short, other]) in ([short, other], [other, short])


def test_a_cell_is_the_gravest_verdict_of_its_machine() -> None:
    coverage = Coverage(agreed=Counter({"I04": 1}), differed=Counter({"R01": 1}))
    findings = [Finding(kind, row, {}) for kind, row in (("refuses", "N02"), ("accepts", "N07"))]
    cells = {machine: column._verdict(machine, findings, coverage) for machine in MACHINES}

    assert cells == {
        "routing": "agrees",
        "identity": "agrees",
        "name": "accepts",
        "arguments": "skip",
        "stream": "skip",
        "proposal": "skip",
    }


def matrix() -> dict[str, Any]:
    """A matrix of two clients."""
    cells = dict.fromkeys(MACHINES, "agrees") | {"identity": "accepts", "stream": "skip"}
    case = finding("accepts", "I02", why="a < b", chunks=["</pre>", WHOLE[0]], expect={}, got={"calls": []})
    some = Column(OPENAI, {"openai": "9.1"}, 10, 1, 0, {}, cells, [Finding("accepts", "I02", case)])
    none = Column(clients()["agno"], {"agno": "1"}, 10, 0, 0, {}, dict.fromkeys(MACHINES, "agrees"), [])
    return record([some, none], {"litellm": "not installed"}, streams=8, seed=3, cases=2)


def test_every_cell_of_the_page_opens_its_streams() -> None:
    html = page(matrix())
    linked = set(re.findall(r'href="#([^"]+)"', html))

    assert linked <= set(re.findall(r'id="([^"]+)"', html))
    assert "openai-identity" in linked
    assert "openai-stream" not in linked
    shown = [unescape(text) for text in re.findall(r"<pre>(.*?)</pre>", html, re.DOTALL)]
    assert [json.loads(line) for line in shown[0].split("\n")] == ["</pre>", WHOLE[0]]


def test_the_page_says_what_it_is_of_and_needs_nothing_else() -> None:
    html = page(matrix())

    for said in ("synthetic", "openai 9.1", "agno 1", "profile core", "litellm: not installed", "a &lt; b"):
        assert said in html
    assert not re.search(r"//|<script|<link|\$\w", html)
    assert "Not asked" not in page({**matrix(), "missing": {}})


def test_the_text_fits_into_eighty_columns() -> None:
    cells = dict.fromkeys(MACHINES, "corrupts")
    every = [Column(client, {}, 0, 0, 0, {}, cells, []) for client in clients().values()]
    told = list(lines(record(every, {}, 1, 0, 0)))

    assert len(told) == 2 + len(every)
    assert max(map(len, told)) <= 80


def run(*arguments: object) -> Any:
    return CliRunner().invoke(cli, [str(argument) for argument in ("matrix", *arguments)])


def test_the_command_writes_what_can_be_asked_again(installed: Path, tmp_path: Path) -> None:
    cases, out = tmp_path / "cases.jsonl", tmp_path / "out"
    cases.write_text("".join(f"{json.dumps(case)}\n" for case in CASES) + "\n")

    ran = run(cases, "--clients", installed, "--streams", 3, "--out", out, "--json")

    assert ran.exit_code == 0
    told = json.loads(ran.stdout)
    assert told == json.loads((out / "matrix.json").read_text())
    assert told["streams"] == 3 + len(cases_of_rows())
    assert (told["cases"], len(told["missing"])) == (2, len(clients()) - 1)
    assert (out / "index.html").read_text() == page(told)
    (one,) = (one for one in told["clients"][0]["findings"] if one["evidence"] == "recorded")
    command = shlex.join(OPENAI.command(installed))
    again = CliRunner().invoke(cli, ["cases", "--target-cmd", command, str(out / one["file"])])
    assert (again.exit_code, "0 passed, 1 failed" in again.stdout) == (1, True)


@pytest.mark.parametrize(("script", "told"), [("", "cannot be started"), ("#!/bin/sh\nexit 1\n", "died")])
def test_a_client_that_answers_nothing_is_not_judged(installed: Path, script: str, told: str) -> None:
    (installed / "openai-3" / "bin" / "python").write_text(script)

    said = ask_or_tell(OPENAI, installed, [], 1, 0)
    assert isinstance(said, str)
    assert told in said


def test_the_command_says_what_is_missing(installed: Path, tmp_path: Path) -> None:
    (installed / "openai-3" / "bin" / "python").unlink()

    ran = run("--clients", installed, "--streams", 1, "--out", tmp_path / "out")

    assert ran.exit_code == 0
    assert re.search(r"^openai +cannot be started", ran.stdout, re.MULTILINE)
    assert re.search(r"^agno +not installed$", ran.stdout, re.MULTILINE)
    assert "index.html" in ran.stdout


def test_without_a_client_there_is_no_matrix(tmp_path: Path) -> None:
    ran = run("--clients", tmp_path)

    assert ran.exit_code == 2
    assert "make clients" in ran.stderr


def test_what_is_no_case_is_told_by_its_place(installed: Path, tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    cases.write_text(f"{json.dumps(CASES[0])}\n[]\n")

    ran = run(cases, "--clients", installed)

    assert (ran.exit_code, f"{cases}:2: a case is a JSON object" in ran.stderr) == (2, True)


def test_what_cannot_be_written_is_told(installed: Path, tmp_path: Path) -> None:
    (installed / "openai-3" / "bin" / "python").unlink()
    (tmp_path / "file").write_text("")

    ran = run("--clients", installed, "--streams", 1, "--out", tmp_path / "file" / "out")

    assert (ran.exit_code, "cannot be written" in ran.stderr) == (2, True)
