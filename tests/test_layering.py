"""One rule: spec <- generated tables <- model <- {generated machines, tests}; the press imports spec only."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STANDARD = {*sys.stdlib_module_names, "_typeshed"}
LIBRARIES = {"click", "jiter", "jsonschema_rs", "msgspec", "rich", "transitions"}
"""What the runtime may import."""
FUZZ = {"distributed", "hypothesis", "msgspec", "pytest"}
"""What fuzzing may import; the first is imported only where a cluster is named."""
TURN = {"anyio", "sqlalchemy", "openai", "pydantic", "opentelemetry"}
"""What the turn may import; the last three are other people's, and imported only where they are used."""

OURS = ("wholecall", "wholecall_spec", "wholecall_generated")
LIGHT = {
    "wholecall.errors",
    "wholecall.clients",
    *(f"wholecall.clients.{m}" for m in ("registry", "serve", "transport")),
}
"""What the clients' room may import of ours: it runs beside a client, where no dependency of ours is."""


def imports(path: Path) -> Iterator[str]:
    """The modules that a file imports anywhere, also within functions."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""


def allowed(path: Path, module: str) -> bool:
    """Whether the room in which a file stands may import a module."""
    top = module.split(".")[0]
    if top in STANDARD:
        return True
    match path.relative_to(ROOT).parts:
        case ("spec", *_):
            return top == "wholecall_spec"
        case ("generated", _, "tables.py"):
            return top == "wholecall_spec"
        case ("model", _, "press", *_):
            return module.startswith(("wholecall_spec", "wholecall.press")) or top == "graphviz"
        case ("model", _, "turn", *_):
            return top in {"wholecall", "wholecall_spec", *TURN} or module == "wholecall_generated.tables"
        case ("model", _, "clients", "adapters", *_):
            return (
                not module.startswith(OURS) or module in LIGHT
            )  # beside these, its client and what that brings
        case ("model", _, "clients", *_):
            return module in LIGHT or top == "openai"
        case ("model", _, "fuzz", *_):
            return top in {"wholecall", "wholecall_spec", "wholecall_generated", *FUZZ}
        case ("model", *_):
            printed = module == "wholecall_generated.tables"
            return top in {"wholecall", "wholecall_spec", *LIBRARIES} or printed
        case _:
            return True


FILES = sorted(path for room in ("spec", "model", "generated") for path in (ROOT / room).rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_room_imports_only_what_stands_before_it(path: Path) -> None:
    assert [module for module in imports(path) if not allowed(path, module)] == []


def test_the_rule_can_be_broken() -> None:
    table = ROOT / "spec" / "wholecall_spec" / "table.py"
    press = ROOT / "model" / "wholecall" / "press" / "rows.py"

    assert not allowed(table, "wholecall.kernel")
    assert not allowed(press, "wholecall_generated.tables")
    assert not allowed(ROOT / "model" / "wholecall" / "kernel.py", "wholecall_generated.test_rows")
    assert len(FILES) > 40
