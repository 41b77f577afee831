"""autogen-ext: `OpenAIChatCompletionClient.create_stream`, and the function calls of its last result."""

from __future__ import annotations

from collections.abc import Sequence

from autogen_core.models import CreateResult, UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient

from wholecall.clients.transport import BASE_URL, KEY, MODEL, Wire, call, wait

WIRE = Wire()
CLIENT = OpenAIChatCompletionClient(
    model=MODEL, api_key=KEY, base_url=BASE_URL, http_client=WIRE.async_http_client(), max_retries=0
)


def assemble(chunks: Sequence[object]) -> list[dict[str, object]]:
    """The calls that the client gives its user."""
    WIRE.carry(chunks)
    return wait(_assemble())


async def _assemble() -> list[dict[str, object]]:
    stream = CLIENT.create_stream([UserMessage(content="go", source="user")])
    results = [result async for result in stream if isinstance(result, CreateResult)]
    return [
        call(one.id, one.name, one.arguments)
        for result in results
        if not isinstance(result.content, str)
        for one in result.content
    ]
