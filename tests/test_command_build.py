"""`wholecall build` prints what is derived from the tables, and names what is stale."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import wholecall_spec
from wholecall.command import cli
from wholecall.command.build import project
from wholecall.press import outputs
from wholecall.press.outputs import PressError
from wholecall_spec.load import packaged

ROOT = Path(__file__).parents[1]
PRINTED = {"generated/a.md": "one\n", "generated/b.md": "two\n"}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A press with two small outputs: what the real one prints is tested elsewhere."""
    monkeypatch.setattr(outputs, "outputs", lambda _: PRINTED)


@pytest.mark.usefixtures("small")
def test_it_prints_and_then_nothing_is_stale(tmp_path: Path) -> None:
    before = CliRunner().invoke(cli, ["build", "--check", "--out", str(tmp_path)])
    built = CliRunner().invoke(cli, ["build", "--out", str(tmp_path)])
    after = CliRunner().invoke(cli, ["build", "--check", "--out", str(tmp_path)])
    again = CliRunner().invoke(cli, ["build", "--out", str(tmp_path)])

    assert before.exit_code == 1
    assert before.output.endswith("\n2 stale: run `wholecall build`\n")
    assert (built.exit_code, built.output) == (0, "generated/a.md\ngenerated/b.md\n2 changed\n")
    assert (after.exit_code, after.output) == (0, "nothing is stale\n")
    assert again.output == "0 changed\n"


@pytest.mark.usefixtures("small")
def test_what_is_stale_is_shown_and_left_alone(tmp_path: Path) -> None:
    CliRunner().invoke(cli, ["build", "--out", str(tmp_path)])
    edited = tmp_path / "generated" / "b.md"
    edited.write_text("edited\n", encoding="utf-8")
    result = CliRunner().invoke(cli, ["build", "--check", "--out", str(tmp_path)])
    told = CliRunner().invoke(cli, ["build", "--check", "--json", "--out", str(tmp_path)])

    assert result.exit_code == told.exit_code == 1
    assert result.output.splitlines()[0] == "generated/b.md"
    assert {"-edited", "+two"} <= set(result.output.splitlines())
    assert [file["path"] for file in json.loads(told.stdout)["stale"]] == ["generated/b.md"]
    assert edited.read_text(encoding="utf-8") == "edited\n"


def test_mistakes_in_the_tables_are_told_and_nothing_is_printed(tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    shutil.copytree(str(packaged()), tables)
    (tables / "name.toml").write_text("machine = ", encoding="utf-8")
    result = CliRunner().invoke(cli, ["build", "--tables", str(tables), "--out", str(tmp_path / "out")])

    assert result.exit_code == 1
    assert result.stdout.startswith(f"{tables}/name.toml:1: not TOML")
    assert not (tmp_path / "out").exists()


def test_a_missing_tool_is_named_with_what_brings_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def without_ruff(_: object) -> dict[str, str]:
        raise PressError("ruff is needed: pip install 'wholecall[build]'")

    monkeypatch.setattr(outputs, "outputs", without_ruff)
    result = CliRunner().invoke(cli, ["build", "--out", str(tmp_path)])

    assert result.exit_code == 2
    assert result.stderr == "Error: ruff is needed: pip install 'wholecall[build]'\n"


@pytest.mark.usefixtures("small")
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "generated").write_text("a file, where a folder must be", encoding="utf-8")
    result = CliRunner().invoke(cli, ["build", "--out", str(tmp_path)])

    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {tmp_path / 'generated'}")


def test_the_project_is_found_where_it_is_edited(monkeypatch: pytest.MonkeyPatch) -> None:
    assert project() == ROOT

    monkeypatch.setattr(wholecall_spec, "__file__", "/usr/lib/site-packages/wholecall_spec/__init__.py")

    assert project() is None


def test_without_a_project_one_must_say_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wholecall_spec, "__file__", "/usr/lib/site-packages/wholecall_spec/__init__.py")
    result = CliRunner().invoke(cli, ["build"])

    assert result.exit_code == 2
    assert "give --out DIR" in result.stderr
