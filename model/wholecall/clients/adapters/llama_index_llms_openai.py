"""llama-index: `OpenAI.stream_chat`, then `get_tool_calls_from_response` of its last response."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai import OpenAI

from wholecall.clients.transport import KEY, MODEL, Wire, call

WIRE = Wire()
CLIENT = OpenAI(model=MODEL, api_key=KEY, openai_client=WIRE.client(), max_retries=0)


def assemble(chunks: Sequence[object]) -> list[dict[str, object]]:
    """The calls that the client gives its user."""
    WIRE.carry(chunks)
    last = deque(CLIENT.stream_chat([ChatMessage(content="go")]), 1)
    return [
        call(one.tool_id, one.tool_name, one.tool_kwargs)
        for response in last
        for one in CLIENT.get_tool_calls_from_response(response, error_on_no_tool_call=False)
    ]
