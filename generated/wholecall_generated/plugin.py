# Printed from spec/wholecall_spec/tables/*.toml; do not edit.
# To print it again: wholecall build
"""The option `--wholecall-target`, and the tests that it turns on.

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
