"""`wholecall check` names every mistake with its file and line, and proves that there is none."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from wholecall.command import cli
from wholecall_spec.load import load, packaged


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """A copy of the real tables, to be spoiled."""
    shutil.copytree(str(packaged()), tmp_path / "tables")
    return tmp_path / "tables"


def spoil(tables: Path) -> int:
    """Spoil one row, and tell its line."""
    path = tables / "identity.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('next = "blank"', 'next = "blnk"', 1), encoding="utf-8")
    return text[: text.index('next = "blank"')].count("\n") + 1


def test_the_packaged_tables_are_sound() -> None:
    result = CliRunner().invoke(cli, ["check"])
    spec = load()
    rows = sum(len(table.rows) for table in spec.tables)
    counts = f"8 machines, {rows} rows, {len(spec.joins)} joins, {len(spec.faults)} faults"

    assert (result.exit_code, result.output) == (0, f"{counts}: no problem\n")


def test_a_mistake_is_named_with_its_line(tables: Path) -> None:
    line = spoil(tables)
    result = CliRunner().invoke(cli, ["check", "--tables", str(tables)])

    assert result.exit_code == 1
    assert result.stdout == f"{tables}/identity.toml:{line}: I03: unknown state blnk (did you mean blank?)\n"
    assert result.stderr == "1 problem\n"


def test_every_mistake_is_told_at_once(tables: Path) -> None:
    spoil(tables)
    (tables / "joins.toml").unlink()
    result = CliRunner().invoke(cli, ["check", "--tables", str(tables)])

    assert len(result.stdout.splitlines()) == 2
    assert result.stderr == "2 problems\n"


def test_a_program_can_read_it(tables: Path) -> None:
    good = json.loads(CliRunner().invoke(cli, ["check", "--json"]).stdout)
    line = spoil(tables)
    bad = CliRunner().invoke(cli, ["check", "--json", "--tables", str(tables)])

    assert (good["machines"], good["problems"]) == (8, [])
    assert bad.exit_code == 1
    assert json.loads(bad.stdout) == {
        "problems": [
            {
                "file": f"{tables}/identity.toml",
                "line": line,
                "where": "I03",
                "what": "unknown state blnk (did you mean blank?)",
            }
        ]
    }


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["check", "--tables", str(tmp_path / "nowhere")])

    assert result.exit_code == 2
