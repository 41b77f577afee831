"""One file says which clients there are and where each lives; they are installed from it, and run by it."""

from __future__ import annotations

import io
import json
import os
import runpy
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import pytest

from wholecall.clients import __main__, install
from wholecall.clients.registry import clients, environments, quiet

ADAPTERS = Path(str(files("wholecall.clients.adapters")))


def test_every_adapter_is_of_a_client_and_every_client_has_one() -> None:
    python = {one.module for one in clients().values() if environments()[one.environment].tool == "pip"}
    found = {f"wholecall.clients.adapters.{path.stem}" for path in ADAPTERS.glob("[!_]*.py")}

    assert found == python
    assert {path.stem for path in ADAPTERS.glob("*.mjs")} == {
        one.name for one in clients().values() if environments()[one.environment].tool == "npm"
    }


def test_every_package_is_pinned_and_every_client_lives_in_one_environment() -> None:
    lived = [client for environment in environments().values() for client in environment.clients]

    assert sorted(client.name for client in lived) == sorted(clients())
    for environment in environments().values():
        mark = {"pip": "==", "npm": "@"}[environment.tool]
        for package in (
            *environment.packages,
            *(one for client in environment.clients for one in client.packages),
        ):
            name, _, version = package.rpartition(mark)
            assert name
            assert version[0].isdigit()


def site(root: Path, environment: str, **versions: str) -> None:
    """Lay packages into an environment, as pip would; `_` stands for `-` in a name."""
    for name, version in versions.items():
        folder = root / environment / "lib" / "python3.11" / "site-packages" / f"{name}-{version}.dist-info"
        folder.mkdir(parents=True)
        metadata = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n"
        (folder / "METADATA").write_text(metadata)


def test_the_versions_are_those_that_are_installed(tmp_path: Path) -> None:
    site(tmp_path, "openai-3", OpenAI="9.1", langchain_openai="1.0")

    assert clients()["openai"].versions(tmp_path) == {"openai": "9.1"}
    assert list(clients()["langchain-openai"].versions(tmp_path).items()) == [
        ("langchain-openai", "1.0"),
        ("openai", "9.1"),
    ]
    assert clients()["litellm"].versions(tmp_path) == {}
    assert clients()["ai"].versions(tmp_path) == {}


def test_the_versions_of_node_are_those_that_are_installed(tmp_path: Path) -> None:
    for name in ("ai", "@ai-sdk/openai-compatible"):
        folder = tmp_path / "node" / "node_modules" / name
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(json.dumps({"name": name, "version": "8.0"}))

    assert clients()["ai"].versions(tmp_path) == {"ai": "8.0", "@ai-sdk/openai-compatible": "8.0"}


def test_a_client_runs_in_its_environment() -> None:
    python, *arguments = clients()["agno"].command(Path("/x"))
    node, script, folder = clients()["ai"].command(Path("/x"))

    assert (python, arguments) == ("/x/openai-3/bin/python", ["-I", "-m", "wholecall.clients", "agno"])
    assert (node, Path(script).is_file(), folder) == ("node", True, "/x/node")


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """The commands that an installation runs; those that would install agno fail."""
    commands: list[Sequence[str]] = []
    monkeypatch.setattr("shutil.which", lambda _: "/bin/npm")

    def run(command: Sequence[str], check: bool) -> SimpleNamespace:
        assert not check
        commands.append(command)
        return SimpleNamespace(returncode=any(word.startswith("agno==") for word in command))

    monkeypatch.setattr("subprocess.run", run)
    return commands


def installed(commands: list[Sequence[str]]) -> list[list[str]]:
    """The pinned packages of each command that installs any."""
    found = ([word for word in command if "==" in word or "@" in word[1:]] for command in commands)
    return [packages for packages in found if packages]


def test_what_cannot_be_installed_is_said_and_stops_no_other(
    tmp_path: Path, ran: list[Sequence[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    site(tmp_path, "openai-3", openai="9.1")

    install.main(tmp_path)

    together, *alone = (packages for packages in installed(ran) if "openai==3.57.0" in packages)
    assert {"agno==3.1.10", "smolagents[openai]==1.26.0"} <= set(together)
    assert len(alone) == len(environments()["openai-3"].clients)
    assert ["openai==3.57.0", "agno==3.1.10"] in alone
    (other,) = (packages for packages in installed(ran) if "instructor==1.17.0" in packages)
    assert other[0] == "openai==2.54.0"
    assert installed(ran)[-1] == list(clients()["ai"].packages)
    said = capsys.readouterr().out
    assert "openai: openai 9.1\n" in said
    assert "agno: NOT INSTALLED\n" in said
    assert (tmp_path / "node" / "package.json").read_text() == "{}"


def test_every_environment_of_python_gets_this_project_and_none_of_its_dependencies(
    tmp_path: Path, ran: list[Sequence[str]]
) -> None:
    install.main(tmp_path, Path("/here"))

    ours = [command for command in ran if "--editable" in command]
    assert [command[-3:] for command in ours] == [("--no-deps", "--editable", "/here")] * 2
    assert {command[command.index("--python") + 1] for command in ours} == {
        str(tmp_path / name / "bin" / "python") for name in ("openai-3", "openai-2")
    }


def test_without_npm_only_its_clients_are_left_out(
    tmp_path: Path,
    ran: list[Sequence[str]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)

    install.main(tmp_path)

    assert not any(command[0] == "npm" for command in ran)
    assert capsys.readouterr().out.endswith("node: there is no npm on the PATH\nai: NOT INSTALLED\n")


def test_nothing_but_answers_comes_out_whatever_the_client_prints(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def assemble(_: object) -> list[object]:
        sys.stdout.write("noise")
        os.write(1, b"more noise")
        return []

    monkeypatch.setattr(__main__, "import_module", lambda name: SimpleNamespace(assemble=assemble, name=name))
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"seq": 1, "chunks": []}\n'))
    monkeypatch.setattr(sys, "stdout", sys.stdout)  # restored afterwards, as these are:
    for name in quiet():
        monkeypatch.setenv(name, "as it was")
    stdout = os.dup(1)
    try:
        assert __main__.main(["openai"]) is None
        assert {name: os.environ[name] for name in quiet()} == quiet()
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)

    out, err = capfd.readouterr()
    assert json.loads(out) == {"seq": 1, "calls": []}
    assert "noise" in err


@pytest.mark.parametrize("arguments", [[], ["nobody"], ["ai"], ["openai", "agno"]])
def test_which_clients_there_are_is_told_to_who_names_none(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["clients", *arguments])
    monkeypatch.delitem(sys.modules, "wholecall.clients.__main__")

    with pytest.raises(SystemExit, match="of openai, langchain-openai, litellm"):
        runpy.run_module("wholecall.clients", run_name="__main__")
