"""pydantic-ai: `OpenAIChatModel.request_stream`, and the tool calls among its final parts."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic_ai.messages import ModelRequest, ToolCallPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from wholecall.clients.transport import MODEL, Wire, call, wait

WIRE = Wire()
CLIENT = OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=WIRE.async_client()))


def assemble(chunks: Sequence[object]) -> list[dict[str, object]]:
    """The calls that the client gives its user."""
    WIRE.carry(chunks)
    return wait(_assemble())


async def _assemble() -> list[dict[str, object]]:
    request = [ModelRequest.user_text_prompt("go")]
    async with CLIENT.request_stream(request, None, ModelRequestParameters()) as stream:
        async for _ in stream:
            pass
    parts = stream.get().parts
    return [call(one.tool_call_id, one.tool_name, one.args) for one in parts if isinstance(one, ToolCallPart)]
