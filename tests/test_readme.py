"""The README says nothing that is not so: its programs run, and its walk through a new row is walked."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from formal import SCOPES
from test_explore import PINNED

from wholecall.engine import Compiled
from wholecall.explore.scope import BOUNDS, Scope
from wholecall_spec.load import examine, load, packaged

ROOT = Path(__file__).parents[1]
SPEC = load()
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_the_programs_run() -> None:
    """One after the other, as a reader would type them."""
    programs = blocks("python")
    namespace: dict[str, object] = {}
    for program in programs:
        exec(compile(program, "README.md", "exec"), namespace)  # noqa: S102 - the README is ours

    assert len(programs) == 4


def test_the_target_that_is_shown_is_fuzzed_as_it_is_shown(tmp_path: Path) -> None:
    """It answers what the lines of JSON show, and it takes a stream that never ended."""
    (shown,) = (program for program in blocks("python") if "def assemble" in program)
    (tmp_path / "mine.py").write_text(shown, encoding="utf-8")
    request, answer = map(json.loads, blocks("json")[-1].splitlines())
    namespace: dict[str, Any] = {}
    exec(compile(shown, "README.md", "exec"), namespace)  # noqa: S102 - the README is ours
    (call,) = namespace["assemble"](request["chunks"])
    command = [sys.executable, "-m", "wholecall", "fuzz", "--target", "mine:assemble"]
    told = subprocess.run(
        [*command, "--examples", "100", "--workers", "1", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    findings = {(one["kind"], one["row"]) for one in json.loads(told.stdout)["findings"]}

    assert [{**call, "arguments": json.dumps(call["arguments"])}] == answer["calls"]
    assert (told.returncode, told.stderr) == (1, "")
    assert ("accepts", "S10") in findings
    assert not [row for kind, row in findings if kind != "accepts"]


def test_the_row_that_is_explained_stands_in_the_table() -> None:
    shown = blocks("toml")[0].strip()
    table = (Path(str(packaged())) / "identity.toml").read_text(encoding="utf-8")
    squeezed = re.sub(r" +", " ", table)

    assert shown in squeezed


def test_the_walk_through_a_new_row_is_walked(tmp_path: Path) -> None:
    """First the input, which `check` finds unanswered at the lines shown; then the rows, and all is well."""
    _, new_input, new_rows = blocks("toml")
    tables = tmp_path / "tables"
    shutil.copytree(str(packaged()), tables)
    stream = tables / "stream.toml"
    before = stream.read_text(encoding="utf-8")
    with_input = before.replace("finish_length ", f"{new_input}finish_length ", 1)
    stream.write_text(with_input, encoding="utf-8")
    _, problems = examine(tables)
    shown = [re.sub(r"^.*/", "", str(problem)) for problem in problems]
    with_rows = with_input.replace("\n]\n", f"\n{new_rows}]\n").replace(
        'sees = ["fragment", ', 'sees = ["fragment", "finish_pause", '
    )
    stream.write_text(with_rows, encoding="utf-8")

    assert shown == blocks("text")[0].splitlines()
    engine = Compiled(load(tables))
    assert engine.spec.table("stream").classify("pause_turn") == "finish_pause"
    assert engine.step("stream", "open", "finish_pause").fault == "stream.cut_short"


def ends_by_kind() -> dict[str, set[str]]:
    """Where the rows of the turn lead with a fault of each kind, once they end it."""
    table = SPEC.table("turn")
    found: dict[str, set[str]] = {kind: set() for kind, _ in SPEC.kinds}
    for row in table.rows:
        if row.fault not in ("", "carried") and table.state(row.next).final:
            found[SPEC.fault(row.fault).kind].add(row.next)
    return found


def test_the_table_of_failures_has_the_kinds_and_ends_of_the_tables() -> None:
    """One line for each kind of `faults.toml`, in its order, with the ends that the turn's rows give it.

    A turn that is cancelled while an effect is not known is told under the kind of what is not known.
    """
    lines = re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \|$", README, re.MULTILINE)
    shown = {kind: set(re.findall(r"`(\w+)`", ends)) for kind, ends in lines}
    ends = ends_by_kind()
    ends["stop"] -= {"unresolved"}

    assert [*shown] == [kind for kind, _ in SPEC.kinds]
    assert shown == ends
    finals = {state.name for state in SPEC.table("turn").states if state.final and not state.good}
    assert set().union(*shown.values()) == finals


def test_what_is_proved_is_what_was_counted() -> None:
    """The number of states, the scope that has so many, and at how many scopes TLC is asked."""
    words = ("no", "one", "two", "three", "four", "five", "six")
    scope = Scope()
    choices, calls, attempts, queries, tries = (words[getattr(scope, name)] for name in BOUNDS)
    told = f"{choices} choice of {calls} calls, {attempts} attempts, {queries} queries and {tries} tries"
    text = " ".join(README.split())

    assert f"{told}: {PINNED[scope][0]:,} states." in text
    assert f"as many states, at {words[len(SCOPES)]} scopes." in text


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)#]+)\)", README))
def test_every_link_within_the_project_leads_somewhere(target: str) -> None:
    assert target.startswith("http") or (ROOT / target).exists()
