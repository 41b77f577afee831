"""litellm: `completion(stream=True)`, then `stream_chunk_builder`; the tool calls of what that builds."""

from __future__ import annotations

from collections.abc import Sequence

import litellm

from wholecall.clients.transport import MODEL, Wire, call

WIRE = Wire()
CLIENT = WIRE.client()


def assemble(chunks: Sequence[object]) -> list[dict[str, object]]:
    """The calls that the client gives its user."""
    WIRE.carry(chunks)
    messages = [{"role": "user", "content": "go"}]
    stream = litellm.completion(f"openai/{MODEL}", messages, stream=True, client=CLIENT, num_retries=0)
    built = litellm.stream_chunk_builder(list(stream), messages)
    return [
        call(one.id, one.function.name, one.function.arguments)
        for choice in built.choices
        for one in choice.message.tool_calls or ()
    ]
