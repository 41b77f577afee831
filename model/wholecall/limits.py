"""How much one response may hold."""

from __future__ import annotations

from dataclasses import dataclass, fields

from wholecall.errors import WholecallError


class LimitError(WholecallError, ValueError):
    """A limit is not an integer of at least 1.

    Attributes:
        name: Which limit.
        value: What was given.
    """

    def __init__(self, name: str, value: object) -> None:
        self.name = name
        self.value = value
        super().__init__(f"the limit {name} must be an integer of at least 1, not {value!r}")


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
                raise LimitError(field.name, value)
