"""How much one response may hold."""

from __future__ import annotations

from dataclasses import dataclass, fields

from wholecall.errors import AT_LEAST_1, BoundError


class LimitError(BoundError):
    """A limit is not an integer of at least 1."""

    called = "the limit {}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one response may hold; more is refused with `limit.*` (design §7).

    Attributes:
        calls: Calls in one choice.
        name: Characters of one function name.
        arguments: Characters of one argument text.
        depth: Nesting of one argument text, in brackets.

    Errors:
        LimitError: A limit is not an integer of at least 1.
    """

    calls: int = 128
    name: int = 256
    arguments: int = 10_000_000
    depth: int = 128

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is not int or value < 1:
                raise LimitError(field.name, value, AT_LEAST_1)
