"""Reads frames with the compiled assembler and with the reference, and compares them after every one."""

from __future__ import annotations

from itertools import chain
from typing import Any

from frames import Fields

from wholecall import Assembler, Limits, Response, Toolset
from wholecall.reference import ReferenceAssembler
from wholecall.text import joined


def one(assembler: Assembler) -> Fields:
    """Where every machine of the compiled assembler is, and what its calls hold."""
    return {
        "ended": assembler.ended,
        "rows": list(chain.from_iterable(assembler.fired())),
        "choices": {c.index: (c.node.states, c.finish) for c in assembler.choices()},
        "calls": {
            (c.index, call.index): (call.node.fields, call.id, call.name, joined(call.arguments))
            for c in assembler.choices()
            for call in c.calls.values()
        },
    }


def other(reference: ReferenceAssembler) -> Fields:
    """The same of the reference."""
    choices = sorted(reference.choices.items())
    return {
        "ended": reference.ended,
        "rows": reference.rows,
        "choices": {index: ((c.states["stream"], c.states["routing"]), c.finish) for index, c in choices},
        "calls": {
            (index, call.index): (tuple(call.states.values()), call.id, call.name, joined(call.arguments))
            for index, c in choices
            for call in c.calls.values()
        },
    }


def compare(
    frames: list[Any], limits: Limits, tools: Toolset | None = None, aborted: bool = False
) -> Response:
    """Feed both, compare after every frame and at the end; the response.

    A frame is a pair where it is fed to the compiled assembler in another form.
    """
    assembler = Assembler(limits=limits, tools=tools)
    reference = ReferenceAssembler(limits=limits, tools=tools)
    assert one(assembler) == other(reference)
    for frame in frames:
        mine, theirs = frame if isinstance(frame, tuple) else (frame, frame)
        assembler.feed(mine)
        reference.feed(theirs)

        assert one(assembler) == other(reference)
    response, outcome = assembler.close(aborted), reference.close(aborted)

    assert (response.outcome, response.fault) == (outcome, reference.fault)
    assert list(response.rows) == reference.rows
    return response
