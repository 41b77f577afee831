"""The two assemblers on the shared cases and recorded streams, and what the cases expect.

They are taken from beside this repository where they are there, or from the folder that WHOLECALL_SHARED
names, which then must have them.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

import pytest
from both import compare
from frames import Fields

from wholecall import Limits, Toolset

CONTROLS: dict[str, bool] = {'{"eof": true}': False, '{"abort": true}': True}
"""The ends of a case, and whether the transport failed."""


GIVEN = os.environ.get("WHOLECALL_SHARED")
SHARED = Path(GIVEN) if GIVEN else Path(__file__).parents[2] / "shared"


@cache
def cases() -> tuple[Fields, ...]:
    """The Chat Completions cases of every file."""
    lines = [
        line for path in sorted(SHARED.glob("cases/*.jsonl")) for line in path.read_text("utf-8").splitlines()
    ]
    return tuple(case for case in map(json.loads, lines) if case["dialect"] == "chat")


def streams() -> list[Path]:
    return sorted(SHARED.glob("streams/chat/*.jsonl"))


@pytest.mark.parametrize("kind", ["cases", "streams"])
def test_what_is_shared_is_there(kind: str) -> None:
    """Without WHOLECALL_SHARED it need not be."""
    found = cases() if kind == "cases" else streams()
    if GIVEN is None and not found:
        pytest.skip(f"no shared {kind} beside this repository")
    assert found


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_both_assemblers_agree_on_a_shared_case_and_with_what_it_expects(case: Fields) -> None:
    tools = Toolset.from_openai(case["tools"]) if "tools" in case else None
    ends = [CONTROLS[text] for text in map(json.dumps, case["chunks"]) if text in CONTROLS]
    chunks = [chunk for chunk in case["chunks"] if json.dumps(chunk) not in CONTROLS]
    response = compare(chunks, Limits(), tools, any(ends))
    wanted = case["expect"]
    calls = [{"index": c.index, "id": c.id, "name": c.name, "arguments": c.arguments} for c in response.calls]

    assert (response.outcome, response.fault) == (wanted["outcome"], wanted.get("fault"))
    assert calls == wanted.get("calls", calls)


@pytest.mark.parametrize("path", streams(), ids=lambda path: path.stem)
def test_both_assemblers_agree_on_a_recorded_stream(path: Path) -> None:
    """Whatever comes of it: recorded runs show only that nothing broke."""
    lines = path.read_text("utf-8").splitlines()
    response = compare([(line, line.encode()) for line in lines], Limits())

    assert response.outcome in ("whole", "answered", "rejected", "incomplete", "refused")
