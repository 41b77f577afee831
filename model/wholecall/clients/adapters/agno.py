"""agno: `OpenAIChat.invoke_stream`, `parse_tool_calls` and `get_function_call_for_tool_call`.

A function call that bears an error is not run. Where it gives nothing but such, that is a refusal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx
from agno.models.message import Message
from agno.models.openai import OpenAIChat
from agno.tools.function import Function
from agno.utils.tools import get_function_call_for_tool_call

from wholecall.clients.transport import BASE_URL, KEY, MODEL, Refused, Wire, call, tools

WIRE = Wire(httpx)
CLIENT = OpenAIChat(MODEL, api_key=KEY, base_url=BASE_URL, http_client=WIRE.http_client(), max_retries=0)


def assemble(chunks: Sequence[object]) -> list[dict[str, object]]:
    """The calls that the client gives its user."""
    WIRE.carry(chunks)
    functions = {name: Function(name=name) for name in (one["function"]["name"] for one in tools(chunks))}
    fragments: list[Any] = []
    for response in CLIENT.invoke_stream([Message(role="user", content="go")], Message(role="assistant")):
        fragments += response.tool_calls or ()
    found = [get_function_call_for_tool_call(one, functions) for one in CLIENT.parse_tool_calls(fragments)]
    runnable = [one for one in found if one and not one.error]
    if found and not runnable:
        raise Refused
    return [call(one.call_id, one.function.name, one.arguments or {}) for one in runnable]
