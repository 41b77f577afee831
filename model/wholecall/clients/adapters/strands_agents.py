"""strands-agents: `OpenAIModel.stream` through `event_loop.streaming.process_stream`; its tool uses."""

from __future__ import annotations

from collections.abc import Sequence

from strands.event_loop.streaming import process_stream
from strands.models.openai import OpenAIModel

from wholecall.clients.transport import MODEL, Wire, call, wait

WIRE = Wire()
CLIENT = OpenAIModel(WIRE.async_client(), model_id=MODEL)


def assemble(chunks: Sequence[object]) -> list[dict[str, object]]:
    """The calls that the client gives its user."""
    WIRE.carry(chunks)
    return wait(_assemble())


async def _assemble() -> list[dict[str, object]]:
    stream = CLIENT.stream([{"role": "user", "content": [{"text": "go"}]}])
    stops = [event["stop"] async for event in process_stream(stream) if "stop" in event]
    uses = [
        block["toolUse"] for _, message, *_ in stops for block in message["content"] if "toolUse" in block
    ]
    return [call(one["toolUseId"], one["name"], one["input"]) for one in uses]
