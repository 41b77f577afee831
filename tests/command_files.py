"""Replays as a program reads them, and files of frames in each form."""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner, Result

from wholecall.command import cli

ARGUMENTS = '{"page":1}'
CALL = {"index": 0, "id": "call-x", "function": {"name": "read_page", "arguments": ARGUMENTS}}
FRAME = {"choices": [{"index": 0, "delta": {"tool_calls": [CALL]}}]}
FINISH = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
TEXT = {"choices": [{"index": 0, "delta": {"content": "hunter2"}, "finish_reason": "stop"}]}
WHOLE = [FRAME, FINISH, "[DONE]"]


def replay(*args: object, given: bytes | None = None) -> Result:
    return CliRunner().invoke(cli, ["replay", *map(str, args)], input=given)


def records(*args: object, given: bytes | None = None) -> list[dict[str, Any]]:
    result = replay("--json", *args, given=given)
    return [json.loads(line) for line in result.stdout.splitlines()]


def lines(*frames: object) -> bytes:
    texts = [frame if isinstance(frame, str) else json.dumps(frame) for frame in frames]
    return "\n".join(texts).encode()


def events(*frames: object) -> bytes:
    texts = lines(*frames).split(b"\n")
    return b"".join(b"data: " + text + b"\n\n" for text in texts)


def array(*frames: object) -> bytes:
    return json.dumps(frames).encode()
