"""instructor: `create_partial`, and its last object.

It hands out the arguments of one call, and neither id nor name. So a stream of no call or of several is not
expressible here, and the id and the name that are answered are those that were sent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import instructor
from pydantic import BaseModel, ConfigDict

from wholecall.clients.transport import MODEL, Wire, call, sent
from wholecall.errors import Skip

WIRE = Wire()
CLIENT = instructor.from_openai(WIRE.client())


class Arguments(BaseModel):
    """Any object."""

    model_config = ConfigDict(extra="allow")


def assemble(chunks: Sequence[object]) -> list[dict[str, object]]:
    """The calls that the client gives its user."""
    if len(told := sent(chunks)) != 1:
        raise Skip
    ((id, name),) = told
    WIRE.carry(chunks)
    partials = CLIENT.create_partial(
        Arguments, [{"role": "user", "content": "go"}], max_retries=0, model=MODEL
    )
    return [call(id, name, one.model_dump()) for one in deque(partials, 1)]
