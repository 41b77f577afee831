"""Prints what is asked of somebody else's assembler: the tests, and the plugin with the option for them."""

from __future__ import annotations

from wholecall_spec.spec import Spec

_TESTS = '''"""What the tables say, asked of an assembler that is not ours.

pytest --pyargs wholecall_generated --wholecall-target MODULE:CALLABLE
"""

import pytest

from wholecall.fuzz.asked import ask_relation, ask_responses, ask_row
from wholecall.fuzz.target import Target
from wholecall.relations import RELATIONS, Relation

RESPONSES = 100
RELATED = 100
'''

_ASKS = '''

@pytest.mark.parametrize("row", ROWS)
def test_row(row: str, wholecall_target: Target) -> None:
    """Streams in which this row decides come to what the tables say."""
    ask_row(row, wholecall_target)


def test_responses(wholecall_target: Target) -> None:
    """Whole responses, drawn at random."""
    ask_responses(wholecall_target, RESPONSES)


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.name)
def test_relation(relation: Relation, wholecall_target: Target) -> None:
    """Streams that say the same come to the same, whatever the tables say."""
    ask_relation(relation, wholecall_target, RELATED)
'''

_PLUGIN = '''"""The option `--wholecall-target`, and the tests that it turns on.

It is loaded with every pytest, so it imports nothing until it is asked.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TESTS = "test_target.py"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    about = "ask this assembler, instead of wholecall itself, what the tables say"
    parser.getgroup("wholecall").addoption("--wholecall-target", metavar="MODULE:CALLABLE", help=about)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With a target its tests alone are collected of this package, and without one all others."""
    here = Path(__file__).parent
    if collection_path.parent != here or collection_path.suffix != ".py":
        return None
    asks = config.getoption("--wholecall-target") is not None
    return True if (collection_path.name == TESTS) is not asks else None


@pytest.fixture(scope="session")
def wholecall_target(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The target that the option names, started once."""
    from wholecall.fuzz.target import TargetName, try_out

    name = TargetName(request.config.getoption("--wholecall-target"))
    try_out(name)
    target = name.open()
    yield target
    target.close()
'''


def target_py(spec: Spec) -> str:
    """The text of `wholecall_generated/test_target.py`, before it is formatted."""
    rows = (row for table in spec.tables if table.of_response for row in table.rows)
    listed = "".join(f'    "{row.id}",  # {row.why}\n' for row in rows)
    return f"{_TESTS}\nROWS = (\n{listed})\n{_ASKS}"


def plugin_py() -> str:
    """The text of `wholecall_generated/plugin.py`, before it is formatted."""
    return _PLUGIN
