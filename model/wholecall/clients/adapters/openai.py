"""The openai client: `chat.completions.stream`, and the tool calls of its final completion."""

from __future__ import annotations

from collections.abc import Sequence

from wholecall.clients.transport import MODEL, Wire, call

WIRE = Wire()
CLIENT = WIRE.client()


def assemble(chunks: Sequence[object]) -> list[dict[str, object]]:
    """The calls that the client gives its user."""
    WIRE.carry(chunks)
    with CLIENT.chat.completions.stream(model=MODEL, messages=[{"role": "user", "content": "go"}]) as stream:
        completion = stream.get_final_completion()
    return [
        call(one.id, one.function.name, one.function.arguments)
        for choice in completion.choices
        for one in choice.message.tool_calls or ()
    ]
