"""What `import wholecall` costs: milliseconds, and which heavy modules came with it (there must be none).

Each import runs in a child process, and what Python itself imports at its start does not count. The median
of five.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from statistics import median
from typing import Final

HEAVY: Final = ("hypothesis", "pytest", "graphviz", "rich", "typer", "click", "sqlalchemy")
"""What the runtime may never import."""

WHAT: Final = ("import wholecall", "from wholecall import Assembler", "from wholecall import read, Toolset")
RUNS: Final = 5


def imported(statement: str) -> tuple[float, set[str]]:
    """Milliseconds that a statement imports for, and the modules that it imports."""
    command = [sys.executable, "-X", "importtime", "-c", statement]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stderr.splitlines()
    own, modules, at_start = 0, set(), True
    for line in lines:
        if line.startswith("import time:") and not line.endswith("imported package"):
            microseconds, _, module = line.removeprefix("import time:").split("|")
            if not at_start:
                own += int(microseconds)
                modules.add(module.strip())
            at_start = at_start and module.strip() != "site"
    return own / 1000, modules


def lines() -> Iterator[str]:
    """One line a statement."""
    for statement in WHAT:
        runs = [imported(statement) for _ in range(RUNS)]
        modules = runs[0][1]
        heavy = sorted({module.split(".")[0] for module in modules} & set(HEAVY))
        yield (
            f"{statement:<40} {median(time for time, _ in runs):7.1f} ms {len(modules):4} modules, "
            f"heavy: {', '.join(heavy) or 'none'}"
        )


def main() -> None:
    """Print what importing costs."""
    print("Importing (median of five processes, without Python's own start):")
    print("\n".join(lines()))


if __name__ == "__main__":
    main()
