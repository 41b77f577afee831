"""A JSON array read piece by piece: each element as soon as its end was read, and the rest not held."""

from __future__ import annotations

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import Final

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_AFTER: Final = frozenset(" \t\n\r,]")


def elements(pieces: Iterator[bytes]) -> Iterator[object]:
    """The elements of the array that these bytes are.

    Args:
        pieces: UTF-8 text, cut anywhere.

    Errors:
        ValueError: The bytes are no JSON array. What came before was given all the same.
    """
    window = _Window(pieces)
    mark = window.next("[")
    if window.peek() == "]":
        mark = window.next("]")
    while mark != "]":
        yield window.value()
        mark = window.next(",]")
    if window.peek():
        raise ValueError("something stands after the array")


class _Window:
    """The part of the text that was read and not yet used."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces = pieces
        self.decoder = getincrementaldecoder("utf-8")()
        self.scan = json.JSONDecoder(parse_constant=_refuse).raw_decode
        self.text = ""
        self.at = 0
        self.ended = False

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            found = _SPACE.match(self.text, self.at)
            assert found is not None
            self.at = found.end()
            if self.at < len(self.text) or self.ended:
                return self.text[self.at : self.at + 1]
            self._grow()

    def next(self, marks: str) -> str:
        """The next character, which must be one of these."""
        mark = self.peek()
        if not mark or mark not in marks:
            raise ValueError(f"{' or '.join(map(repr, marks))} is missing")
        self.at += 1
        return mark

    def value(self) -> object:
        """The next value. A number may go on in the next piece: it ends where something else is seen."""
        self.peek()
        while True:
            value, end = self._scan()
            open_end = type(value) in (int, float) and self.text[end : end + 1] not in _AFTER
            if end and (self.ended or not open_end):
                self.at = end
                return value
            if self.ended:
                raise ValueError("a value is no JSON")
            self._grow()

    def _scan(self) -> tuple[object, int]:
        try:
            return self.scan(self.text, self.at)
        except json.JSONDecodeError:
            return None, 0
        except RecursionError:
            pass
        raise ValueError("a value is nested too deeply")

    def _grow(self) -> None:
        """Read on, at least as much as is held, so that a long value is not scanned again too often."""
        held = [self.text[self.at :]]
        wanted = len(held[0])
        while wanted >= 0 and not self.ended:
            piece = next(self.pieces, b"")
            self.ended = not piece
            held.append(self.decoder.decode(piece, self.ended))
            wanted -= len(held[-1]) or 1
        self.text, self.at = "".join(held), 0


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no JSON")
