"""How fast the tables are checked and explored, beside TLC (`make bench`).

`wholecall check` is timed as a process of its own, its start included; the target is one second. So are both
explorers, on the same scopes, in states a second: the explorer runs on one core, TLC on all that it is given.
The target is to be ahead at the default scope.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import asdict
from statistics import median
from typing import Final

from formal import missing, second_opinion

from wholecall.explore.scope import COVERING, Scope
from wholecall_spec.load import load

RUNS: Final = 5
WORKERS: Final = 2
SCOPES: Final = (COVERING[0], Scope(calls=1), Scope())
EXPLORE: Final = """
import json, sys
from wholecall.explore.scope import Scope
from wholecall.explore.search import Search
from wholecall_spec.load import load
search = Search(load(), Scope(**json.loads(sys.argv[1])))
search.run()
print(len(search.states))
"""


def timed(*command: str) -> tuple[float, str]:
    """How long a program of ours took, its start included, and what it printed."""
    begun = time.perf_counter()
    done = subprocess.run([sys.executable, *command], check=True, capture_output=True, text=True)
    return time.perf_counter() - begun, done.stdout


def line(scope: Scope) -> str:
    """Both on one scope."""
    seconds, said = timed("-c", EXPLORE, json.dumps(asdict(scope)))
    ours = int(said) / seconds
    told = f"{scope!s:<58} {int(said):>8,} {seconds:>8.2f} {ours:>9,.0f}"
    if missing():
        return told
    other = second_opinion(load(), scope, WORKERS)
    theirs = other.states / other.seconds
    met = "" if scope != Scope() else "  >= 1  met" if ours >= theirs else "  >= 1  MISSED"
    return f"{told} {other.seconds:>8.2f} {theirs:>9,.0f} {ours / theirs:>6.2f}{met}"


def main() -> None:
    """Print both."""
    took = median(timed("-m", "wholecall", "check")[0] for _ in range(RUNS))
    print(f"wholecall check: {took:.2f} s, start included   <= 1 s  {'met' if took <= 1 else 'MISSED'}\n")
    head = f"{'scope':<58} {'states':>8} {'seconds':>8} {'states/s':>9}"
    print(head if missing() else f"{head} {'TLC s':>8} {'states/s':>9} {'ratio':>6}")
    for scope in SCOPES:
        print(line(scope), flush=True)
    print()
    print(f"without TLC, which needs {missing()}" if missing() else f"TLC on {WORKERS} workers, ours on one")


if __name__ == "__main__":
    main()
