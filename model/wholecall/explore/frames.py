"""The frames of a run: what one would have had to send, as `wholecall replay` reads it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from wholecall.explore.machines import Move
from wholecall.explore.scope import Value

_OTHER: Final = 7
"""What stands for a value of the class `other`."""

_TEXTS: Final[dict[str, Any]] = {"null": None, "empty": "", "other": _OTHER}
_INDICES: Final = {"other": -1}
_WHOLE: Final[dict[str, Any]] = {"error": {"error": {"code": "synthetic"}}, "bad_frame": [], "done": "[DONE]"}


def last_response(run: Iterable[Move]) -> list[Move]:
    """The moves of the last response that a run reads; none where it reads none."""
    found: list[Move] = []
    for move in run:
        if move.event == ("started",):
            found = [move]
        elif found:
            found.append(move)
    return found[1:]


def lines(run: Iterable[Move]) -> list[str]:
    """The frames of the last response of a run, one a line."""
    frames = (_frame(*move.event) for move in last_response(run))
    return [frame if isinstance(frame, str) else json.dumps(frame) for frame in frames if frame is not None]


def _frame(kind: str, *facts: Any) -> Any:
    """The frame of one event; None where it is none."""
    if kind in _WHOLE:
        return _WHOLE[kind]
    if kind == "fragment":
        choice, index, id, name, text = facts
        function = {**_field("name", name), **_field("arguments", text)}
        fragment = {**_index(index), **_field("id", id), **({"function": function} if function else {})}
        return {"choices": [{"index": choice, "delta": {"tool_calls": [fragment]}}]}
    if kind == "content":
        return {"choices": [{"index": facts[0], "delta": {}}]}
    if kind.startswith("finish"):
        return {"choices": [{"index": facts[0], "delta": {}, "finish_reason": facts[1]}]}
    return None


def _field(name: str, value: Value) -> dict[str, Any]:
    return {} if value.input == "omitted" else {name: _TEXTS.get(value.input, value.text)}


def _index(index: int | str) -> dict[str, Any]:
    return {} if index == "missing" else {"index": _INDICES.get(str(index), index)}
