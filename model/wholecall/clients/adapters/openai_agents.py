"""openai-agents: `OpenAIChatCompletionsModel.stream_response`; the function calls of its last event."""

from __future__ import annotations

from collections.abc import Sequence

from agents import ModelSettings, ModelTracing, OpenAIChatCompletionsModel
from openai.types.responses import ResponseCompletedEvent, ResponseFunctionToolCall

from wholecall.clients.transport import MODEL, Wire, call, wait

WIRE = Wire()
CLIENT = OpenAIChatCompletionsModel(MODEL, WIRE.async_client())


def assemble(chunks: Sequence[object]) -> list[dict[str, object]]:
    """The calls that the client gives its user."""
    WIRE.carry(chunks)
    return wait(_assemble())


async def _assemble() -> list[dict[str, object]]:
    stream = CLIENT.stream_response(
        None, "go", ModelSettings(), [], None, [], ModelTracing.DISABLED, None, None, None
    )
    ends = [event async for event in stream if isinstance(event, ResponseCompletedEvent)]
    return [
        call(one.call_id, one.name, one.arguments)
        for end in ends
        for one in end.response.output
        if isinstance(one, ResponseFunctionToolCall)
    ]
