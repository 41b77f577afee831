"""The streams that are read: one call, or many that take turns, in the frames of Chat Completions.

A frame has the fields of a recorded one (id, model, created, fingerprint, logprobs), and a fragment adds 4 to
12 characters to the text of a document that a tool is to write. The text is the same in each process.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

Frame = dict[str, Any]

CHUNK = 4096
"""Bytes that the transport hands over at once: about fourteen frames."""

_PROSE = """A call is whole, or it is none \u2014 "nearly" is no state of it.
Whoever runs one half has run something that nobody asked for.
"""
_HEAD: Frame = {
    "id": "chatcmpl-CMKAtIAKW1eiFzDAZmCcrbvHgyoSw",
    "object": "chat.completion.chunk",
    "created": 1759436803,
    "model": "gpt-4o-2024-08-06",
    "system_fingerprint": "fp_cbf1785567",
}


@dataclass(frozen=True)
class Stream:
    """One response, in the two forms in which it is read.

    Attributes:
        name: What the table calls it.
        fragments: How many pieces of argument text it has, those of all calls together.
        wire: Its frames, each as JSON; `[DONE]` is not among them.
        expected: The argument text of each call, by index.
    """

    name: str
    fragments: int
    wire: tuple[bytes, ...]
    expected: dict[int, str]

    def dicts(self) -> list[Frame]:
        """The frames as dicts that nobody has read or changed yet."""
        return [orjson.loads(frame) for frame in self.wire]

    def chunks(self) -> list[bytes]:
        """The body of the HTTP response, in the chunks of a transport."""
        body = b"".join(b"data: %s\n\n" % frame for frame in (*self.wire, b"[DONE]"))
        return [body[at : at + CHUNK] for at in range(0, len(body), CHUNK)]


def make_stream(fragments: int, calls: int = 1) -> Stream:
    """A stream of so many fragments a call; those of many calls take turns.

    Args:
        fragments: Pieces of argument text of each call.
        calls: How many calls there are.
    """
    texts = [list(_pieces(fragments, random.Random(call))) for call in range(calls)]  # noqa: S311 - no secret
    openings = [_opening(call) for call in range(calls)]
    more = [
        {"index": call, "function": {"arguments": texts[call][piece]}}
        for piece in range(fragments)
        for call in range(calls)
    ]
    frames = [
        _frame({"role": "assistant", "content": None}),
        *(_frame({"tool_calls": [fragment]}) for fragment in (*openings, *more)),
        _frame({}, "tool_calls"),
        {**_HEAD, "choices": [], "usage": {"prompt_tokens": 398, "completion_tokens": len(more)}},
    ]
    name = f"{fragments // 1000}k fragments" if calls == 1 else f"{calls} calls x {fragments}"
    expected = {call: "".join(pieces) for call, pieces in enumerate(texts)}
    return Stream(name, len(more), tuple(map(orjson.dumps, frames)), expected)


def _frame(delta: Frame, finish: str | None = None) -> Frame:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {**_HEAD, "choices": [choice]}


def _opening(call: int) -> Frame:
    function = {"name": "write_document", "arguments": ""}
    return {"index": call, "id": f"call_{call:024}", "type": "function", "function": function}


def _pieces(count: int, rng: random.Random) -> Iterator[str]:
    """A JSON object with one long string, cut anywhere into so many pieces."""
    sizes = [rng.randint(4, 12) for _ in range(count)]
    empty, prose = json.dumps({"text": ""}), json.dumps(_PROSE, ensure_ascii=False)[1:-1]
    times, rest = divmod(sum(sizes) - len(empty), len(prose))
    text = f"{empty[:-2]}{prose * times}{'.' * rest}{empty[-2:]}"
    at = 0
    for size in sizes:
        yield text[at : at + size]
        at += size
