"""Everything the press prints: which file, from which function, and whether what stands there is stale.

To add an output is to add a line to `outputs`. Python is formatted by the pinned ruff, and pictures are drawn
by the pinned graphviz, so both are part of what is compared.
"""

from __future__ import annotations

import difflib
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from wholecall.press.compiled import compiled_py
from wholecall.press.dot import machine_dot
from wholecall.press.interchange import wholecall_json, wholecall_schema_json
from wholecall.press.machines import machines_py
from wholecall.press.overview import overview_dot
from wholecall.press.reference import reference_md
from wholecall.press.render import render
from wholecall.press.rows import rows_py
from wholecall.press.target import plugin_py, target_py
from wholecall.press.tla import wholecall_cfg, wholecall_tla
from wholecall_spec.spec import Spec

_PYTHON_HEADER = (
    "# Printed from spec/wholecall_spec/tables/*.toml; do not edit.\n# To print it again: wholecall build\n"
)
_DIFF_LINES = 20


class PressError(Exception):
    """A tool that the press needs is missing or failed; the message names it and the extra that brings it."""


@dataclass(frozen=True, slots=True)
class Stale:
    """A file that is not what the press would print.

    Attributes:
        path: Relative to the project.
        diff: A short unified diff from what stands there to what should.
    """

    path: str
    diff: str

    def __str__(self) -> str:
        return f"{self.path}\n{self.diff}"


def outputs(spec: Spec) -> dict[str, str]:
    """Every printed file of a project, by its path, in a fixed order."""
    package = "generated/wholecall_generated"
    printed = {
        f"{package}/tables.py": _python(compiled_py(spec)),
        f"{package}/test_rows.py": _python(rows_py(spec)),
        f"{package}/test_machines.py": _python(machines_py(spec)),
        f"{package}/test_target.py": _python(target_py(spec)),
        f"{package}/plugin.py": _python(plugin_py()),
        "generated/reference.md": reference_md(spec),
        "generated/wholecall.json": wholecall_json(spec),
        "generated/wholecall.schema.json": wholecall_schema_json(),
        "generated/wholecall.tla": wholecall_tla(spec),
        "generated/wholecall.cfg": wholecall_cfg(),
    }
    pictures = {"overview": overview_dot(spec)}
    pictures |= {table.machine: machine_dot(table) for table in spec.tables}
    for name, dot in pictures.items():
        printed[f"diagrams/{name}.dot"] = dot
        printed[f"diagrams/{name}.svg"] = render(dot)
    return printed


def stale(spec: Spec, root: Path) -> list[Stale]:
    """The files below `root` that are not what the press would print."""
    return [
        Stale(path, _diff(path, standing, text))
        for path, text in outputs(spec).items()
        if (standing := _read(root / path)) != text
    ]


def write(spec: Spec, root: Path) -> list[str]:
    """Print every file below `root`, and tell which changed."""
    changed = []
    for path, text in outputs(spec).items():
        target = root / path
        if _read(target) != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode())
            changed.append(path)
    return changed


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None


def _diff(path: str, standing: str | None, text: str) -> str:
    lines = list(
        difflib.unified_diff(
            (standing or "").splitlines(), text.splitlines(), path, "as printed", n=1, lineterm=""
        )
    ) or ["(they differ in the ends of their lines)"]
    cut = [line[:200] for line in lines[:_DIFF_LINES]]
    more = len(lines) - len(cut)
    return "\n".join([*cut, f"... {more} more lines"] if more else cut)


def _python(text: str) -> str:
    beside = Path(sys.executable).with_name("ruff")
    ruff = str(beside) if beside.exists() else shutil.which("ruff")
    if ruff is None:
        raise PressError("ruff is needed to format what is printed: pip install 'wholecall[build]'")
    done = subprocess.run(  # noqa: S603 - the formatter this project pins, on text of our own
        [ruff, "format", "--isolated", "--line-length=200", "--target-version=py311", "-"],
        input=_PYTHON_HEADER + text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise PressError(f"ruff could not format what is printed: {done.stderr.strip()}")
    return done.stdout
