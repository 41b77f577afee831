"""`make clients`: makes the environments of `clients.toml`, and says which client could not be installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from wholecall.clients.registry import ROOT, Environment, environments

_UV: Final = (sys.executable, "-m", "uv")


def main(root: Path = ROOT, project: Path = Path()) -> None:
    """Make each environment, or bring it up to date, and print a line for each client.

    Args:
        root: The folder of the environments.
        project: The folder of this project; each environment of Python gets it without its dependencies.
    """
    for environment in environments().values():
        _make(environment, root / environment.name, project)
        for client in environment.clients:
            versions = ", ".join(f"{name} {version}" for name, version in client.versions(root).items())
            print(f"{client.name}: {versions or 'NOT INSTALLED'}")  # noqa: T201 - what `make clients` says


def _make(environment: Environment, folder: Path, project: Path) -> None:
    if environment.tool == "npm" and not shutil.which("npm"):
        print(f"{environment.name}: there is no npm on the PATH")  # noqa: T201
        return
    folder.mkdir(parents=True, exist_ok=True)
    if environment.tool == "npm":
        (folder / "package.json").write_text("{}", encoding="utf-8")
    else:
        _run(*_UV, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(folder))
        _run(*_UV, "pip", "install", *_into(folder), "--no-deps", "--editable", str(project))
    # Together, so that they agree. Where one stops all, the others are installed without it.
    if not _install(
        environment, folder, (package for one in environment.clients for package in one.packages)
    ):
        for client in environment.clients:
            _install(environment, folder, client.packages)


def _install(environment: Environment, folder: Path, packages: Iterable[str]) -> bool:
    """Install pinned packages beside those that the environment has anyway; whether that was possible."""
    pinned = dict.fromkeys((*environment.packages, *packages))
    if environment.tool == "npm":
        return _run(
            "npm", "install", "--prefix", str(folder), "--loglevel=error", "--no-package-lock", *pinned
        )
    return _run(*_UV, "pip", "install", *_into(folder), *pinned)


def _into(folder: Path) -> tuple[str, ...]:
    return "--quiet", "--python", str(folder / "bin" / "python")


def _run(*command: str) -> bool:
    """Whether a command succeeded; what it says of errors is shown."""
    return not subprocess.run(command, check=False).returncode  # noqa: S603 - the commands are ours
