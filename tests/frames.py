"""Frames and fragments as several tests build them, and how tests on random ones are run."""

from __future__ import annotations

from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st

Fields = dict[str, Any]

RANDOM = st.randoms(use_true_random=True)
"""A generator seeded by Hypothesis: what it makes is spread evenly, and made fast."""

SPREAD = settings(deadline=None, phases=(Phase.reuse, Phase.generate))
"""For what is made from a seed: of two seeds none is simpler, so there is nothing to shrink."""


def fragment(index: int, **fields: object) -> Fields:
    """A fragment with these fields and no other; name and arguments stand in its function."""
    function = {name: fields.pop(name) for name in ("name", "arguments") if name in fields}
    return {"index": index, **fields, "function": function}


def frame(*fragments: Fields, finish: object = None, at: int = 0) -> Fields:
    """A chunk with one choice; without fragments, its delta is empty."""
    delta = {"tool_calls": list(fragments)} if fragments else {}
    return {"choices": [{"index": at, "delta": delta, "finish_reason": finish}]}


FINISH = frame(finish="tool_calls")


def units(text: str) -> list[str]:
    """The UTF-16 code units of a text; those of a character beyond U+FFFF are two halves."""
    data = text.encode("utf-16-be", "surrogatepass")
    return [chr(data[at] << 8 | data[at + 1]) for at in range(0, len(data), 2)]
