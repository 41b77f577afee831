"""haystack-ai: `OpenAIChatGenerator(streaming_callback=...)`, and the tool calls of its replies."""

from __future__ import annotations

from collections.abc import Sequence

import httpx
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret

from wholecall.clients.transport import BASE_URL, KEY, MODEL, Wire, call

WIRE = Wire(httpx)
CLIENT = OpenAIChatGenerator(
    Secret.from_token(KEY),
    MODEL,
    streaming_callback=lambda _: None,
    api_base_url=BASE_URL,
    max_retries=0,
    http_client_kwargs={"transport": WIRE.transport()},
)


def assemble(chunks: Sequence[object]) -> list[dict[str, object]]:
    """The calls that the client gives its user."""
    WIRE.carry(chunks)
    replies = CLIENT.run([ChatMessage.from_user("go")])["replies"]
    return [call(one.id, one.tool_name, one.arguments) for reply in replies for one in reply.tool_calls]
