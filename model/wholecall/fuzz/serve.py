"""The far side of a target: answers one stream a line, as JSON on standard input and output.

`python -m wholecall.fuzz.serve MODULE:CALLABLE` serves a callable. It imports nothing but the standard
library and what the callable needs.

A request is `{"seq": N, "chunks": [...]}`; the answer to it is one line with the same number:
`{"seq": N, "calls": [{"id", "name", "arguments"}...]}`, `{"seq": N, "refused": true}` or
`{"seq": N, "skip": true}`.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, TextIO

from wholecall.errors import Skip

Assemble = Callable[[list[Any]], Iterable[Any]]
"""A target: from the chunks of a stream to its calls. It raises where it refuses the stream."""


def find(target: str) -> Assemble:
    """The callable named `MODULE:CALLABLE`; the folder one stands in is searched for the module too.

    Errors:
        ValueError: The name is not of this form.
        ImportError: There is no such module.
        AttributeError: The module has no such name.
    """
    module, colon, name = target.partition(":")
    if not (module and colon and name):
        raise ValueError(f"a target is MODULE:CALLABLE, not {target!r}")
    if "" not in sys.path:
        sys.path.insert(0, "")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    assemble: Assemble = found
    return assemble


def answer(assemble: Assemble, chunks: list[Any]) -> dict[str, Any]:
    """What a callable answers to a stream, without the number."""
    try:
        calls = list(assemble(chunks))
        json.dumps(calls)
    except Skip:
        return {"skip": True}
    except Exception:
        return {"refused": True}
    return {"calls": calls}


def serve(assemble: Assemble, requests: TextIO, answers: TextIO) -> None:
    """Answer every request until there are no more."""
    for line in requests:
        request = json.loads(line)
        told = {"seq": request["seq"], **answer(assemble, request["chunks"])}
        answers.write(f"{json.dumps(told)}\n")
        answers.flush()


def main(target: str) -> None:
    """Serve a callable on standard input and output; whatever else it prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(find(target), sys.stdin, answers)


if __name__ == "__main__":
    main(sys.argv[1])
