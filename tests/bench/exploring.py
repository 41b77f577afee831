"""How fast the tables are checked and explored (`make bench`).

`wholecall check` is timed as a process of its own, its start included; the target is one second. What is
explored is told in states a second.
"""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import median
from typing import Final

from wholecall.explore.scope import COVERING, Scope
from wholecall.explore.search import Search
from wholecall_spec.load import load

RUNS: Final = 5
SCOPES: Final = (COVERING[0], Scope(calls=1), Scope())


def check_seconds() -> float:
    """The median of several runs of `wholecall check`."""
    runs = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-m", "wholecall", "check"], check=True, stdout=subprocess.DEVNULL)
        runs.append(time.perf_counter() - begun)
    return median(runs)


def main() -> None:
    """Print both."""
    took = check_seconds()
    print(f"wholecall check: {took:.2f} s, start included   <= 1 s  {'met' if took <= 1 else 'MISSED'}\n")
    print(f"{'scope':<58} {'states':>8} {'seconds':>8} {'states/s':>9}")
    spec = load()
    for scope in SCOPES:
        search = Search(spec, scope)
        search.run()
        states = len(search.states)
        print(f"{scope!s:<58} {states:>8,} {search.seconds:>8.2f} {states / search.seconds:>9,.0f}")


if __name__ == "__main__":
    main()
