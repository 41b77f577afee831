"""How much is explored: the bounds, and the smallest data in which every guard can hold and not hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from wholecall.errors import AT_LEAST_1, BoundError


class ScopeError(BoundError):
    """A bound of an exploration cannot be used."""

    called = "the scope's {}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The bounds of an exploration; each is also the limit that the guards compare with.

    Attributes:
        choices: Choices of a response.
        calls: Calls of a choice.
        attempts: Requests of one run of a turn.
        queries: Queries of an operation in one run.
        tries: Tries of an operation under its key.
        ids: How many different ids a stream may send, at most four; with two, an id can differ from another.
        whole: Whether each call comes whole in one fragment, and nothing comes to it after that.
        tools: How many kinds of tools there are, of six.

    Errors:
        ScopeError: A bound is no integer of at least 1, or above what there is.
    """

    choices: int = 1
    calls: int = 2
    attempts: int = 2
    queries: int = 2
    tries: int = 2
    ids: int = 2
    whole: bool = False
    tools: int = 6

    def __post_init__(self) -> None:
        for name in (*BOUNDS, *_MOST):
            value, most = getattr(self, name), _MOST.get(name)
            if type(value) is not int or value < 1 or (most is not None and value > most):
                raise ScopeError(name, value, f"an integer from 1 to {most}" if most else AT_LEAST_1)

    def __str__(self) -> str:
        return ", ".join(f"{name} {getattr(self, name)}" for name in BOUNDS)


BOUNDS: Final = ("choices", "calls", "attempts", "queries", "tries")
"""The bounds that a scope is told by."""

_MOST: Final = {"ids": 4, "tools": 6}
"""The other bounds, and how many of each there are."""

COVERING: Final = (
    Scope(calls=1, queries=1, tries=1, tools=1),
    Scope(calls=1, whole=True),
    Scope(choices=2, calls=3, attempts=1, ids=1, whole=True, tools=1),
    Scope(calls=2, attempts=1, queries=1, tries=1, whole=True, tools=1),
)
"""Small scopes in which, together, every row fires."""


class Value(NamedTuple):
    """What a field of a fragment holds: its class, and the text where it is one."""

    input: str
    text: str = ""


NO_TEXT: Final = tuple(map(Value, ("omitted", "null", "empty", "other")))
"""Every value that is no text."""

IDS: Final = ("a", "b", "c", "d")
"""The ids that a stream sends, as many of them as the scope has."""

NAME: Final = "t"
"""The one tool there is; twice in a row it names none."""

NAMES: Final = (NAME, NAME * 3)
"""Pieces of names: one that fits, once and twice, and one that is too long wherever it comes."""

WHOLE: Final = "{}"
NUMBER: Final = "0"
"""Alone it is JSON, but no object; twice in a row it is none. No text at all is the beginning of one."""

TEXTS: Final = (WHOLE, NUMBER, "[0]")
"""Pieces of arguments; the last is too long wherever it comes."""

LIMIT: Final = 2
"""Characters of a name, and of the arguments of a call."""
