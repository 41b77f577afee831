"""What is printed is what stands there, and a wrong byte or a changed row shows."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from wholecall.press import outputs
from wholecall.press.outputs import PressError, Stale, stale, write
from wholecall_generated.tables import SPEC
from wholecall_spec.load import load
from wholecall_spec.spec import Spec

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def spec() -> Spec:
    return load()


@pytest.fixture(scope="module")
def printed(spec: Spec) -> dict[str, str]:
    return outputs.outputs(spec)


@pytest.fixture
def quick(printed: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Print once for all tests that only compare."""
    monkeypatch.setattr(outputs, "outputs", lambda _: printed)


@pytest.mark.usefixtures("quick")
def test_nothing_of_the_project_is_stale(spec: Spec) -> None:
    """Drift: whoever changes a row or the press runs `wholecall build`, and commits what it writes."""
    assert [str(one) for one in stale(spec, ROOT)] == []


def test_the_compiled_tables_are_the_tables(spec: Spec) -> None:
    assert spec == SPEC


def test_every_file_in_the_printed_folders_is_printed(printed: dict[str, str]) -> None:
    """A file that the press no longer prints is to be deleted."""
    by_hand = {"generated/ruff.toml", "generated/wholecall_generated/__init__.py"}
    by_hand |= {"generated/wholecall_generated/py.typed"}
    folders = (ROOT / "generated", ROOT / "diagrams")
    standing = {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and not {"__pycache__", ".ruff_cache"} & set(path.parts)
    }

    assert standing == {*printed, *by_hand}


def copy(tmp_path: Path) -> Path:
    for folder in ("generated", "diagrams"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


@pytest.mark.usefixtures("quick")
def test_a_wrong_byte_in_any_printed_file_is_stale(
    spec: Spec, printed: dict[str, str], tmp_path: Path
) -> None:
    root = copy(tmp_path)
    for path in printed:
        target = root / path
        right = target.read_bytes()
        middle = len(right) // 2
        target.write_bytes(right[:middle] + bytes([right[middle] ^ 1]) + right[middle + 1 :])
        found = stale(spec, root)
        target.write_bytes(right)

        assert [one.path for one in found] == [path]
        assert 1 < len(str(found[0]).splitlines()) < 25


@pytest.mark.usefixtures("quick")
def test_a_missing_file_and_another_line_end_are_stale(spec: Spec, tmp_path: Path) -> None:
    root = copy(tmp_path)
    reference = root / "generated" / "reference.md"
    reference.write_bytes(reference.read_bytes().replace(b"\n", b"\r\n"))
    (root / "diagrams" / "name.dot").unlink()

    assert [one.path for one in stale(spec, root)] == ["generated/reference.md", "diagrams/name.dot"]
    assert write(spec, root) == ["generated/reference.md", "diagrams/name.dot"]
    assert stale(spec, root) == []
    assert write(spec, root) == []


def test_a_changed_row_changes_machine_tests_reference_and_diagram_together(
    spec: Spec, printed: dict[str, str]
) -> None:
    table = spec.table("identity")
    rows = tuple(replace(r, next="blank", why="changed") if r.id == "I13" else r for r in table.rows)
    tables = tuple(replace(table, rows=rows) if t is table else t for t in spec.tables)

    changed = outputs.outputs(replace(spec, tables=tables))

    assert {path for path, text in changed.items() if text != printed[path]} == {
        "generated/wholecall_generated/tables.py",
        "generated/wholecall_generated/test_rows.py",
        "generated/wholecall_generated/test_machines.py",
        "generated/wholecall_generated/test_target.py",
        "generated/reference.md",
        "generated/wholecall.json",
        "generated/wholecall.tla",
        "diagrams/identity.dot",
        "diagrams/identity.svg",
    }


def test_a_long_difference_is_cut() -> None:
    diff = outputs._diff("a", "\n".join("abcdefgh" * 9), "\n".join("hgfedcba" * 9))

    assert len(diff.splitlines()) == outputs._DIFF_LINES + 1
    assert diff.splitlines()[-1].endswith("more lines")


def test_equal_lines_with_other_ends_say_so() -> None:
    assert "ends of their lines" in outputs._diff("a", "x\r\n", "x\n")


def test_a_missing_formatter_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(PressError, match=r"wholecall\[build\]"):
        outputs._python("x = 1")


def test_text_that_is_no_python_is_a_clear_error() -> None:
    with pytest.raises(PressError, match="ruff could not format"):
        outputs._python("x = (")


def test_a_stale_file_prints_its_path_and_diff() -> None:
    assert str(Stale("a.md", "-x\n+y")) == "a.md\n-x\n+y"
