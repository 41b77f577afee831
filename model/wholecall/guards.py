"""What a row may ask beside its input, one small pure function a name."""

from __future__ import annotations

from wholecall.effects import append_arguments
from wholecall.text import Rope, join_halves, settle


def calls_left(calls: int, limit: int) -> bool:
    """One more call stays within the limit of calls (routing)."""
    return calls < limit


def same_id(established: str | None, text: str) -> bool:
    """The text equals the established id (identity)."""
    return join_halves(text) == established


def name_fits(name: str, text: str, limit: int) -> bool:
    """The name with this text stays within the limit of characters (name)."""
    return len(join_halves(name + text)) <= limit


def arguments_fit(arguments: Rope, text: str, limit: int) -> bool:
    """The arguments with this text stay within the limit of characters (arguments)."""
    more = append_arguments(arguments, text)
    return more[2] <= limit or settle(more)[2] <= limit
