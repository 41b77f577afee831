"""semantic-kernel: `get_streaming_chat_message_contents`, reduced with `+`; its function calls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion, OpenAIChatPromptExecutionSettings
from semantic_kernel.contents import ChatHistory, FunctionCallContent

from wholecall.clients.transport import MODEL, Wire, call, wait

WIRE = Wire()
CLIENT = OpenAIChatCompletion(ai_model_id=MODEL, async_client=WIRE.async_client())


def assemble(chunks: Sequence[object]) -> list[dict[str, object]]:
    """The calls that the client gives its user."""
    WIRE.carry(chunks)
    return wait(_assemble())


async def _assemble() -> list[dict[str, object]]:
    asked = ChatHistory()
    asked.add_user_message("go")
    by_choice: dict[int, list[Any]] = {}
    stream = CLIENT.get_streaming_chat_message_contents(asked, OpenAIChatPromptExecutionSettings())
    async for messages in stream:
        for message in messages:
            by_choice.setdefault(message.choice_index, []).append(message)
    return [
        call(one.id, one.name, one.arguments)
        for messages in by_choice.values()
        for one in reduce(add, messages).items
        if isinstance(one, FunctionCallContent)
    ]
