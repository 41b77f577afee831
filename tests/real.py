"""A real assembler, seen as the model sees a response."""

from __future__ import annotations

from wholecall import Assembler
from wholecall.explore.responses import Call, Choice, Response
from wholecall.kernel import CallSlot
from wholecall.text import joined


def fields_of(call: CallSlot) -> tuple[str, str, str]:
    identity, name, arguments = call.node.fields
    return identity, name, arguments


def of_assembler(assembler: Assembler) -> Response:
    """Where the machines of the assembler are, and what its calls hold, as the model has it."""
    found = []
    for choice in assembler.choices():
        calls = [
            Call(*states, call.id or "", call.name, joined(call.arguments))
            for call in choice.calls.values()
            for states in (fields_of(call),)
        ]
        stream, routing = choice.node.states
        found.append(Choice(stream, routing, choice.finish or "", tuple(calls)))
    return tuple(found)
