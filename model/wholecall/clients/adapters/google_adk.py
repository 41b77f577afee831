"""google-adk: `LiteLlm.generate_content_async(stream=True)`; the function calls of what is not partial."""

from __future__ import annotations

from collections.abc import Sequence

from google.adk.models import LlmRequest
from google.adk.models.lite_llm import LiteLlm
from google.genai import types

from wholecall.clients.transport import MODEL, Wire, call, wait

WIRE = Wire()
CLIENT = LiteLlm(f"openai/{MODEL}", client=WIRE.async_client(), num_retries=0)


def assemble(chunks: Sequence[object]) -> list[dict[str, object]]:
    """The calls that the client gives its user."""
    WIRE.carry(chunks)
    return wait(_assemble())


async def _assemble() -> list[dict[str, object]]:
    request = LlmRequest(contents=[types.Content(role="user", parts=[types.Part(text="go")])])
    calls = []
    async for response in CLIENT.generate_content_async(request, stream=True):
        if response.content and not response.partial:
            calls += [part.function_call for part in response.content.parts or () if part.function_call]
    return [call(one.id, one.name, one.args) for one in calls]
