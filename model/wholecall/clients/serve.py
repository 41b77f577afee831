"""Serves a callable to a campaign: JSON lines in, JSON lines out, one request a stream.

A request is `{"seq": N, "chunks": [...]}`; the answer to it is one line with the same number:
`{"seq": N, "calls": [{"id", "name", "arguments"}...]}`, `{"seq": N, "refused": true}` or
`{"seq": N, "skip": true}`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from wholecall.errors import Skip

Assemble = Callable[[list[Any]], Iterable[Any]]
"""What a target is: the calls that come of a stream, and any exception where the client refuses it."""

_REQUEST: Final = 'a request is {"seq": N, "chunks": [...]}'


def serve(assemble: Assemble, requests: Iterable[str]) -> Iterator[str]:
    """The answer to each request, a line each: `calls`, `refused` with what was raised, `skip`, or `error`.

    What is no request is told so, and nothing that a client raises ends the loop. No message of a client is
    passed on, only the name of the type: it may quote the stream.

    Args:
        assemble: The callable.
        requests: Lines.
    """
    for line in requests:
        try:
            request = json.loads(line)
        except ValueError:
            request = None
        if isinstance(request, dict) and "seq" in request and isinstance(request.get("chunks"), list):
            yield _line({"seq": request["seq"], **_answer(assemble, request["chunks"])})
        else:
            yield _line({"seq": None, "error": _REQUEST})


def _answer(assemble: Assemble, chunks: list[Any]) -> dict[str, Any]:
    try:
        calls = list(assemble(chunks))
        json.dumps(calls)  # what cannot be written is no call either
    except Skip:
        return {"skip": True}
    except Exception as error:
        return {"refused": True, "why": f"{type(error).__module__}.{type(error).__qualname__}"}
    return {"calls": calls}


def serve_here(assemble: Assemble) -> None:
    """Answer standard input on standard output; whatever else is printed goes to standard error."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        for line in serve(assemble, sys.stdin):
            answers.write(line)
            answers.flush()


def _line(answer: dict[str, Any]) -> str:
    return f"{json.dumps(answer)}\n"
