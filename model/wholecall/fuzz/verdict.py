"""Is what a target made of a stream what the tables say?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from wholecall.fuzz.reading import Expected, SentCall
from wholecall.fuzz.target import Got
from wholecall.text import join_halves

KINDS: Final = {
    "corrupts": "it gives other calls than were sent",
    "accepts": "it gives calls where the tables refuse the stream",
    "refuses": "it refuses a stream that the tables take",
    "differs": "its outcome, fault or rows are not those of the tables",
}
"""What a finding can be, the gravest first; only of wholecall itself is more known than its calls."""


def judge(expected: Expected, got: Got) -> str:
    """The kind of the difference, one of `KINDS`; empty where there is none."""
    if got.skipped:
        return ""
    if got.verdict is not None and got.verdict != (expected.outcome, expected.fault, expected.rows):
        return "differs"
    if not expected.legal:
        return "accepts" if got.calls else ""
    if got.calls is None:
        return "refuses"
    return "corrupts" if unlike(expected.calls, got.calls) else ""


def unlike(expected: Sequence[SentCall], got: Sequence[Any]) -> list[str]:
    """In what calls are not those that were sent, in any order; empty where they are.

    Calls that have no like among the others are held against each other as they come. No value is told.
    """
    lost, rest = [], list(got)
    for number, call in enumerate(expected, 1):
        at = next((at for at, one in enumerate(rest) if not _other_keys(call, one)), None)
        if at is None:
            lost.append((number, call))
        else:
            del rest[at]
    found = [f"{len(got)} calls instead of {len(expected)}"] if len(got) != len(expected) else []
    for (number, call), one in zip(lost, rest, strict=False):
        found += [f"{key} of call {number}" for key in _other_keys(call, one)]
    return found


def _other_keys(call: SentCall, got: dict[str, Any]) -> list[str]:
    found = [key for key in ("id", "name") if got.get(key) != getattr(call, key)]
    arguments = got.get("arguments")
    if isinstance(arguments, str):
        same = join_halves(arguments) == call.arguments
    else:
        same = same_value(json.loads(call.arguments), arguments)
    return found if same else [*found, "arguments"]


def same_value(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same; a number is its value, however it is spelled."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_value(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_value, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)
