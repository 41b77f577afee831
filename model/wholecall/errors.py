"""The root of every error this package raises, and what several of them are."""

from __future__ import annotations

from typing import ClassVar, Final

AT_LEAST_1: Final = "an integer of at least 1"
"""What most bounds may be."""


class WholecallError(Exception):
    """Something was used wrongly or could not be done; its facts are its attributes.

    What a stream does is never an error here: a refused response is an answer.
    """


class BoundError(WholecallError, ValueError):
    """A bound that was given cannot be used.

    Attributes:
        called: How the message calls a bound, by its name.
        name: Which bound.
        value: What was given.
        allowed: What is allowed, in words.
    """

    called: ClassVar = "the bound {}"

    def __init__(self, name: str, value: object, allowed: str) -> None:
        self.name = name
        self.value = value
        self.allowed = allowed
        super().__init__(f"{self.called.format(name)} must be {allowed}, not {value!r}")


class Skip(Exception):  # noqa: N818 - it is raised to say something, and nothing is wrong
    """A target cannot express this stream; it is not counted."""
