"""`wholecall explore` says what holds, and shows what does not as a run and as frames to replay."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from wholecall.command import cli
from wholecall.command.explore import Progress
from wholecall_spec.load import packaged
from wholecall_spec.statements import STATEMENTS

SMALL = ["--calls", "1", "--attempts", "1", "--queries", "1", "--tries", "1"]


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """A copy of the real tables, to be spoiled."""
    shutil.copytree(str(packaged()), tmp_path / "tables")
    return tmp_path / "tables"


def spoil(tables: Path, name: str, old: str, new: str) -> int:
    """Spoil the one line that has this text; its number."""
    path = tables / f"{name}.toml"
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


def clear_an_id(tables: Path) -> None:
    """Let another id take the place of an established one."""
    spoil(
        tables,
        "identity",
        'next = "rejected",                       fault = "identity.conflict",   why = "a different id',
        'next = "established", effect = "set_id",                               why = "a different id',
    )


def test_what_holds_is_told() -> None:
    """What one attempt, and a model without texts, cannot show is not said to hold."""
    result = CliRunner().invoke(cli, ["explore", *SMALL])
    lines = result.stdout.splitlines()

    assert (result.exit_code, result.stderr) == (0, "")
    assert lines[0] == "scope: choices 1, calls 1, attempts 1, queries 1, tries 1"
    unseen = {"diagnostics_bounded", "settled_after_regeneration"}
    assert [line.split()[::2] for line in lines[3:]] == [
        ["holds", s.name] for s in STATEMENTS if s.name not in unseen
    ]


def test_a_program_can_read_it() -> None:
    result = CliRunner().invoke(cli, ["explore", *SMALL, "--json"])
    record = json.loads(result.stdout)

    assert {"scope", "states", "transitions", "seconds", "invariants", "violations"} <= set(record)
    assert record["scope"] == {"choices": 1, "calls": 1, "attempts": 1, "queries": 1, "tries": 1}
    assert record["invariants"][0] == {"name": "identity_kept", "kind": "always", "holds": True}
    assert record["violations"] == []


def test_a_violation_is_a_run_and_a_file_that_replay_reads(tables: Path, tmp_path: Path) -> None:
    clear_an_id(tables)
    out = tmp_path / "found"
    run = CliRunner()
    result = run.invoke(cli, ["explore", *SMALL, "--tables", str(tables), "--out", str(out)])
    told = json.loads(
        run.invoke(cli, ["explore", *SMALL, "--tables", str(tables), "--out", str(out), "--json"]).stdout
    )
    replayed = run.invoke(cli, ["replay", str(out / "identity_kept.jsonl")])

    assert result.exit_code == 1
    assert "identity_kept: an established id never changes or clears within its response" in result.stdout
    assert "S01 R01 I04" in result.stdout
    assert f"frames: wholecall replay {out}/identity_kept.jsonl" in result.stdout
    assert told["violations"][0]["file"] == str(out / "identity_kept.jsonl")
    assert "I17" in replayed.stdout


def test_a_row_that_never_fires_is_told_and_check_names_its_line(tables: Path) -> None:
    """A finish reason comes in a frame that is content too: where that is refused, none comes again."""
    path = tables / "stream.toml"
    text = path.read_text(encoding="utf-8")
    (old,) = (line for line in text.splitlines() if 'id = "S14"' in line)
    new = old.replace('next = "finished",', 'next = "rejected", fault = "stream.after_finish",')
    path.write_text(text.replace(old, new), encoding="utf-8")
    result = CliRunner().invoke(cli, ["explore", *SMALL, "--tables", str(tables), "--out", str(tables)])
    checked = CliRunner().invoke(cli, ["check", "--tables", str(tables)])
    lines = {id: text[: text.index(f'id = "{id}"')].count("\n") + 1 for id in ("S15", "S16", "S17", "S18")}

    assert result.exit_code == 1
    assert "  never: S15 S16 S17 S18" in result.stdout
    assert checked.exit_code == 1
    assert checked.stdout.splitlines() == [
        f"{path}:{line}: {id}: it never fires: nothing that can come leads to it"
        for id, line in lines.items()
    ]


def test_an_input_that_a_state_claims_not_to_see_has_a_line(tables: Path) -> None:
    path = tables / "operation.toml"
    text = path.read_text(encoding="utf-8")
    kept = [
        line for line in text.splitlines() if not ('state = "started"' in line and 'input = "lost"' in line)
    ]
    changed = "\n".join(kept).replace('"cancel", "lost", "unrecorded"', '"cancel", "unrecorded"')
    path.write_text(changed.replace('lost             = "the lease', '# lost = "the lease'), encoding="utf-8")
    checked = CliRunner().invoke(cli, ["check", "--tables", str(tables)])
    result = CliRunner().invoke(cli, ["explore", *SMALL, "--tables", str(tables), "--out", str(tables)])

    assert (checked.exit_code, result.exit_code) == (1, 1)
    assert ": started: it gets lost, which it claims not to see" in checked.stdout
    assert ": started: it gets lost, which it claims not to see" in result.stdout


def test_tables_that_are_not_sound_are_not_explored(tables: Path) -> None:
    spoil(
        tables,
        "identity",
        'next = "blank",                                                         why = "an',
        'next = "b", why = "an',
    )
    result = CliRunner().invoke(cli, ["explore", "--tables", str(tables)])

    assert result.exit_code == 2
    assert "unknown state b" in result.stderr


def test_a_row_that_no_code_knows_is_one_line_of_both(tables: Path) -> None:
    path = tables / "operation.toml"
    text = path.read_text(encoding="utf-8")
    (old,) = (line for line in text.splitlines() if 'id = "O02"' in line)
    new = old.replace("fault = ", 'effect = "tell", fault = ')
    text = text.replace(old, new).replace("[effects]\n", '[effects]\ntell = "tell it"\n')
    path.write_text(text, encoding="utf-8")
    line = text[: text.index(new)].count("\n") + 1
    checked = CliRunner().invoke(cli, ["check", "--tables", str(tables)])
    result = CliRunner().invoke(cli, ["explore", *SMALL, "--tables", str(tables)])
    problem = f"{path}:{line}: O02: no code knows the effect tell of operation"

    assert (checked.exit_code, checked.stdout) == (1, f"{problem}\n")
    assert (result.exit_code, result.stderr) == (2, f"Error: {problem}\n")


def test_frames_that_cannot_be_saved_are_one_error(tables: Path, tmp_path: Path) -> None:
    clear_an_id(tables)
    (tmp_path / "file").touch()
    out = tmp_path / "file" / "found"
    result = CliRunner().invoke(cli, ["explore", *SMALL, "--tables", str(tables), "--out", str(out)])

    assert (result.exit_code, result.stderr) == (2, f"Error: {out}: Not a directory\n")


def test_on_a_terminal_it_says_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress()
    progress(1500, 700)
    waiting = capsys.readouterr().err
    progress(1500, 1)

    assert "1,500 states, 700 waiting, " in waiting
    assert waiting.endswith(" states/s")
    assert capsys.readouterr().err.endswith("\r")
