"""What streams are made of: ids, names and argument texts, and frames of every kind that is no fragment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

MARK: Final = "opal"
"""Stands in ids, argument texts and content, and nowhere else: a diagnostic that shows it has leaked one."""

NAMES: Final = ("look", "save_report", "up")

ANOTHER_ID: Final = f"{MARK}-another"

OBJECTS: Final = (
    "{}",
    f'{{"{MARK}": 1}}',
    f'{{"a": "{MARK}\\n \\"b\\" \\\\"}}',
    '{"a": "\\ud83d\\ude00"}',
    '{"a": "\U0001f600\u00e9"}',
    ' {"a": [1, 2.5e3, null, {"b": "{}"}]}\n',
    f'{{"{MARK}": true, "b": ""}}',
    '{"n": 12345678901234567890}',
)
"""Whole arguments, to be cut inside an escape, between halves of a character, or after what is whole."""

NO_OBJECTS: Final = (
    "[]",
    "1",
    "null",
    f'"{MARK}"',
    '{"a": 1',
    f'{{"a": "{MARK}',
    '{"a": 1}}',
    "{'a': 1}",
    '{"a": NaN}',
    '{"a": 1,}',
    '{"a": 1, "a": 2}',
    "{}{}",
    '{"a": "\\ud83d"}',
    '{"a": 1e999}',
    '{"a": "\ud83d"}',
    "[[[[[0]]]]]",
)
"""What must not be taken for arguments: of another type, cut, wrong, or of two meanings."""

PIECES: Final = ("{}", " ", '"', "}")
"""Text that comes where none is missing."""

OTHERS: Final[tuple[Any, ...]] = (0, True, 1.5, [], {}, [MARK], {MARK: 1})
"""What a field holds that is neither null nor text."""

INDICES: Final[Mapping[str, tuple[Any, ...]]] = {
    "missing": ("omitted", None),
    "other": (-1, "0", True, 0.5, [], {}),
}
"""What an index is where it is no integer >= 0; `omitted` leaves it out."""

OTHER_FINISH: Final = "whatever"
"""A finish reason that no table lists."""

CONTENT: Final[tuple[Any, ...]] = (
    {"choices": []},
    {"choices": [], "usage": {"completion_tokens": 1}},
    {},
)
"""Frames without a choice."""

DELTAS: Final[tuple[Any, ...]] = ({}, {"content": MARK}, {"role": "assistant", "content": None}, None)
"""Deltas without tool calls."""

ERRORS: Final[tuple[Any, ...]] = ({"error": {"message": MARK, "code": 500}}, {"error": MARK})

BAD_FRAMES: Final[tuple[Any, ...]] = (
    "not JSON",
    [],
    {"choices": {}},
    {"choices": [{"index": "0"}]},
    {"choices": [{"index": 0, "delta": []}]},
    {"choices": [{"index": 0, "delta": {"tool_calls": {}}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": 1}]},
    {"choices": [{"index": 0, "delta": {"function_call": {"name": NAMES[0], "arguments": "{}"}}}]},
)
"""Frames outside the specification."""

DONE: Final = "[DONE]"
