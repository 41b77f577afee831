"""The command line as a whole: what it answers to, and that `check` and `build` can repair a broken print."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from runpy import run_module

import click
import pytest
from click.testing import CliRunner

import wholecall
from wholecall.command import COMMANDS, cli

ROOT = Path(__file__).parents[1]
PATHS = [str(ROOT / root) for root in ("model", "spec", "generated")]


def run(*args: str, paths: list[str] = PATHS, **env: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "80", **env}
    return subprocess.run(
        [sys.executable, "-m", "wholecall", *args],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def broken(tmp_path: Path) -> list[str]:
    """Where modules are looked for, with a print that cannot be imported."""
    package = tmp_path / "wholecall_generated"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "tables.py").write_text("SPEC = Spec(", encoding="utf-8")
    return [str(tmp_path), *PATHS]


def test_the_help_names_every_command() -> None:
    result = CliRunner().invoke(cli, ["--help"])

    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.split("Commands:\n")[1].splitlines()] == list(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    result = CliRunner().invoke(cli, [command, "-h"])

    assert result.exit_code == 0
    assert f"Usage: cli {command}" in result.output


def test_the_commands_can_be_listed() -> None:
    assert cli.list_commands(click.Context(cli)) == list(COMMANDS)


def test_the_version_is_that_of_the_package() -> None:
    assert run("--version").stdout == f"wholecall, version {wholecall.__version__}\n"


def test_it_runs_as_a_module(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["wholecall", "check"])
    monkeypatch.delitem(sys.modules, "wholecall.__main__", raising=False)
    import_module("wholecall.__main__")
    monkeypatch.delitem(sys.modules, "wholecall.__main__")

    assert capsys.readouterr().out == ""
    with pytest.raises(SystemExit) as ended:
        run_module("wholecall", run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out.endswith("no problem\n")


def test_it_runs_where_output_is_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.StringIO()
    monkeypatch.setattr(sys, "stdout", output)
    cli(["check"], standalone_mode=False)

    assert output.getvalue().endswith("no problem\n")


def test_an_unknown_command_is_a_usage_error() -> None:
    result = CliRunner().invoke(cli, ["replya"])

    assert result.exit_code == 2
    assert "No such command 'replya'" in result.output


def test_what_the_output_cannot_show_is_escaped(tmp_path: Path) -> None:
    sample = tmp_path / "sample.jsonl"
    sample.write_text(
        '{"wholecall": {"evidence": "synthetic", "about": "\u8868"}}\n[DONE]\n', encoding="utf-8"
    )
    done = run("replay", str(sample), PYTHONIOENCODING="latin-1")

    assert (done.returncode, done.stderr) == (1, "")
    assert "\\u8868" in done.stdout


EXPLORER = {
    f"wholecall.{name}"
    for name in (
        *("effects", "engine", "guards", "syntax", "text", "explore"),
        *(f"explore.{path.stem}" for path in (ROOT / "model/wholecall/explore").glob("[!_]*.py")),
    )
}
"""What `check` explores with; no more of it than that reads a frame or a print."""


@pytest.mark.parametrize("command", ["check", "build --check --out", "explain I14"])
def test_a_command_about_the_tables_imports_neither_the_print_nor_the_runtime(
    command: str, tmp_path: Path
) -> None:
    args = [*command.split(), *([str(tmp_path)] if command.endswith("--out") else [])]
    program = (
        "import json, sys\n"
        "from wholecall.command import cli\n"
        f"cli({args!r}, standalone_mode=False)\n"
        "print(json.dumps(sorted(sys.modules)))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    loaded = json.loads(done.stdout.splitlines()[-1])
    ours = {name for name in loaded if name.split(".")[0] in ("wholecall", "wholecall_generated")}
    rooms = {name for name in ours if not name.startswith(("wholecall.press", "wholecall.command"))}

    assert rooms - (EXPLORER if command == "check" else set()) == {"wholecall", "wholecall.errors"}
    assert not {"msgspec", "jsonschema_rs", "transitions", "wholecall_generated"} & set(loaded)


@pytest.mark.parametrize("args", [["--help"], ["check"], ["build", "--help"], ["explain", "I14"]])
def test_a_broken_print_stops_no_command_about_the_tables(args: list[str], broken: list[str]) -> None:
    assert run(*args, paths=broken).returncode == 0


def test_a_broken_print_is_repaired_by_build(broken: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    built = run("build", "--out", str(out), paths=broken)
    again = run("build", "--check", "--out", str(out), paths=broken)

    assert (built.returncode, again.stdout) == (0, "nothing is stale\n")
    assert run("replay", os.devnull, paths=[str(out / "generated"), *PATHS]).returncode == 1


def test_a_command_that_needs_the_print_says_how_to_repair_it(broken: list[str]) -> None:
    done = run("replay", os.devnull, paths=broken)

    assert done.returncode == 2
    assert done.stderr == (
        "Error: the compiled tables cannot be imported; `wholecall build` prints them again\n"
    )


@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError(name="wholecall_generated"),
        ImportError(name="wholecall_generated.tables"),
        SyntaxError("no", ("/x/wholecall_generated/tables.py", 1, 1, "")),
    ],
)
def test_a_print_can_be_broken_in_several_ways(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken_import(_: str) -> None:
        raise error

    monkeypatch.setattr("wholecall.command.import_module", broken_import)
    result = CliRunner().invoke(cli, ["replay", os.devnull])

    assert result.exit_code == 2
    assert "`wholecall build` prints them again" in result.stderr


def test_an_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: str) -> None:
        raise ModuleNotFoundError(name="hypothesis.stateful")

    monkeypatch.setattr("wholecall.command.import_module", missing)
    result = CliRunner().invoke(cli, ["fuzz"])

    assert (result.exit_code, result.stderr) == (2, "Error: wholecall[fuzz] is not installed\n")


def test_an_import_that_fails_for_another_reason_is_not_called_a_broken_print(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "wholecall.command.replay", None)
    result = CliRunner().invoke(cli, ["replay", os.devnull])

    assert isinstance(result.exception, ImportError)
