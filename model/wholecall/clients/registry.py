"""Which clients there are, in which environment each lives, and how one is run: read from `clients.toml`."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distributions
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

ROOT: Final = Path(".clients")
"""The folder in which `make clients` makes environments."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What clients share.

    Attributes:
        name: Its name, and that of its folder.
        tool: What installs its packages: `pip` or `npm`.
        packages: What it has besides its clients, pinned.
        clients: Its clients.
    """

    name: str
    tool: str
    packages: Sequence[str]
    clients: Sequence[Client]


@dataclass(frozen=True, slots=True)
class Client:
    """A client that can be driven.

    Attributes:
        name: Its name; `adapters` has a file of that name.
        environment: The name of the environment in which it lives.
        packages: What it needs, pinned; the first is the client.
        drives: What of its public surface is driven.
    """

    name: str
    environment: str
    packages: Sequence[str]
    drives: str

    @property
    def module(self) -> str:
        """The module of its adapter."""
        return f"wholecall.clients.adapters.{self.name.replace('-', '_')}"

    def versions(self, root: Path = ROOT) -> Mapping[str, str]:
        """The installed versions of its packages, the client first, and of what its environment has besides.

        Empty where it is not installed.
        """
        installed = _installed(root / self.environment)
        wanted = [_name(package) for package in self.packages]
        if not installed.keys() >= set(wanted):
            return {}
        shared = (_name(package) for package in environments()[self.environment].packages)
        return {name: installed[name] for name in dict.fromkeys((*wanted, *shared))}

    def command(self, root: Path = ROOT) -> list[str]:
        """What runs its adapter as a target of JSON lines; no variable of ours reaches its Python."""
        folder = (root / self.environment).absolute()
        if environments()[self.environment].tool == "npm":
            return ["node", str(files("wholecall.clients.adapters") / f"{self.name}.mjs"), str(folder)]
        return [str(folder / "bin" / "python"), "-I", "-m", "wholecall.clients", self.name]


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads((files("wholecall.clients") / "clients.toml").read_text(encoding="utf-8"))


@cache
def clients() -> Mapping[str, Client]:
    """Every client by its name."""
    return MappingProxyType({name: Client(name, **facts) for name, facts in _read()["clients"].items()})


@cache
def environments() -> Mapping[str, Environment]:
    """Every environment by its name."""
    return MappingProxyType(
        {
            name: Environment(
                name, tool, packages, [one for one in clients().values() if one.environment == name]
            )
            for name, facts in _read()["environments"].items()
            for tool, packages in facts.items()
        }
    )


def quiet() -> Mapping[str, str]:
    """The environment variables under which no client sends anything home or fetches anything."""
    return MappingProxyType(_read()["quiet"])


def _name(package: str) -> str:
    """The name of a pinned package, of `name[extra]==version` or `@scope/name@version`."""
    return package.partition("==")[0].partition("[")[0] if "==" in package else package.rpartition("@")[0]


def _installed(folder: Path) -> Mapping[str, str]:
    """The version of each package in an environment."""
    sites = [str(site) for site in folder.glob("lib/python*/site-packages")]
    found = {one.metadata["Name"].lower(): one.version for one in distributions(path=sites)} if sites else {}
    for file in (*folder.glob("node_modules/*/package.json"), *folder.glob("node_modules/@*/*/package.json")):
        package = json.loads(file.read_text(encoding="utf-8"))
        found[package["name"]] = package["version"]
    return found
