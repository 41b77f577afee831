"""smolagents: `OpenAIModel.generate_stream`, then `agglomerate_stream_deltas`, as its agents do."""

from __future__ import annotations

from collections.abc import Sequence

from smolagents import ChatMessage, MessageRole, OpenAIModel
from smolagents.models import agglomerate_stream_deltas

from wholecall.clients.transport import BASE_URL, KEY, MODEL, Wire, call

WIRE = Wire()
CLIENT = OpenAIModel(
    MODEL, BASE_URL, KEY, client_kwargs={"http_client": WIRE.http_client(), "max_retries": 0}, retry=False
)


def assemble(chunks: Sequence[object]) -> list[dict[str, object]]:
    """The calls that the client gives its user."""
    WIRE.carry(chunks)
    asked = [ChatMessage(role=MessageRole.USER, content="go")]
    message = agglomerate_stream_deltas(list(CLIENT.generate_stream(asked)))
    return [call(one.id, one.function.name, one.function.arguments) for one in message.tool_calls or ()]
