"""What a row does, one small pure function a name: what a call has, and the text that came, give what it has.

Nothing here decides anything; the row that names an effect has decided. Effects of the turn and of its
operations act on the world, and are not here. `route` is no function: to look a call up by its index is all
there is to it.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from wholecall.text import Rope, join_halves


class Indexed(Protocol):
    """Whatever an engine keeps of one call."""

    index: int


Call = TypeVar("Call", bound=Indexed)


def open_call(calls: dict[int, Call], call: Call) -> dict[int, Call]:
    """Open a call at its index (routing)."""
    return {**calls, call.index: call}


def set_id(_: str | None, text: str) -> str:
    """The text becomes the id of this call (identity)."""
    return join_halves(text)


def append_name(name: str, text: str) -> str:
    """Add the text at the end of the name (name)."""
    return join_halves(name + text)


def append_arguments(arguments: Rope, text: str) -> Rope:
    """Add the text, verbatim, at the end of the arguments (arguments)."""
    return arguments, text, arguments[2] + len(text)


def note_finish(finish: str | None, reason: str) -> str:
    """Keep the first finish reason of the choice (stream)."""
    return reason if finish is None else finish
