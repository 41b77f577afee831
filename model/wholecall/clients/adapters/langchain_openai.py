"""langchain-openai: `ChatOpenAI.stream`, its chunks summed as its users sum them; `tool_calls` of the sum.

What it puts among `invalid_tool_calls` is no call. Where it gives nothing but such, that is a refusal: a host
can run none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from wholecall.clients.transport import BASE_URL, KEY, MODEL, Refused, Wire, call

WIRE = Wire()
CLIENT = ChatOpenAI(
    model=MODEL, api_key=SecretStr(KEY), base_url=BASE_URL, http_client=WIRE.http_client(), max_retries=0
)


def assemble(chunks: Sequence[object]) -> list[dict[str, object]]:
    """The calls that the client gives its user."""
    WIRE.carry(chunks)
    message: Any = reduce(add, CLIENT.stream("go"))
    if message.invalid_tool_calls and not message.tool_calls:
        raise Refused
    return [call(one["id"], one["name"], one["args"]) for one in message.tool_calls]
