"""Files of frames: what they state of themselves, and their frames one after the other.

A file is read in pieces, so its size does not matter. What is wrong within a stream is for the assembler to
judge (a line that is no JSON is a bad frame of its response); only what is no stream at all is refused here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final, get_args

from wholecall.command.array import elements
from wholecall.command.files import Bytes, UnreadableError
from wholecall.sse import event_frames
from wholecall_spec.page import unknown
from wholecall_spec.table import Evidence

FORMS: Final = ("jsonl", "sse", "json")
"""How frames may stand in a file; its name ends so, or else its first bytes tell."""

NOT_STATED: Final = "not stated"
"""The evidence of a file that does not state its level; nothing is concluded from its looks."""

_PIECE: Final = 1 << 16
_SSE: Final = re.compile(rb"(?:data|event|id|retry)?:")
_BOM: Final = b"\xef\xbb\xbf"
_FOREIGN: Final = (("message_", "anthropic"), ("content_block_", "anthropic"), ("response.", "responses"))
"""How the `type` of a frame begins that only another dialect has, and that dialect."""


class Source:
    """One file of frames.

    Args:
        name: What the file is called, for messages.
        file: Its bytes.
        form: One of `FORMS`; anything else lets the first bytes tell.
        advance: Is told of the bytes as they are read.

    Attributes:
        evidence: The level that the file states, or `not stated`; known once a frame was given.
        about: What the file says of itself.
        read: The bytes read so far.
    """

    def __init__(self, name: str, file: Bytes, form: str, advance: Callable[[int], None]) -> None:
        self.name = name
        self.evidence: str = NOT_STATED
        self.about = ""
        self.read = 0
        self._file = file
        self._form = form
        self._advance = advance
        self._at = 0

    @property
    def place(self) -> str:
        """Where the last frame stands: the file with its line, or with the number of the frame."""
        return f"{self.name}:{self._at}" if self._form == "jsonl" else f"{self.name}: frame {self._at}"

    def frames(self) -> Iterator[object]:
        """Every frame, ready for `Assembler.feed`, each as soon as it was read.

        Errors:
            UnreadableError: The file cannot be read, is no text, is no JSON array where it should be one, or
                states a level of evidence that there is not.
        """
        pieces = self._pieces()
        head = _head(pieces)
        if b"\0" in head:
            raise UnreadableError(self.name, "is no UTF-8 text")
        head = head.removeprefix(_BOM)
        if self._form not in FORMS:
            self._form = _form(head.lstrip())
        if not self._form:
            raise UnreadableError(
                self.name, "begins neither with a frame nor with an array nor as an event stream"
            )
        if self._form == "sse" and head.startswith(b":"):
            self._states(_json(head.splitlines()[0][1:]))
        whole = chain((head,), pieces)
        yield from {"jsonl": self._lines, "sse": self._events, "json": self._elements}[self._form](whole)

    def _pieces(self) -> Iterator[bytes]:
        trouble = ""
        try:
            while piece := self._file.read1(_PIECE):
                self.read += len(piece)
                self._advance(len(piece))
                yield piece
        except OSError as error:
            trouble = error.strerror or type(error).__name__
        if trouble:
            raise UnreadableError(self.name, trouble)

    def _lines(self, pieces: Iterator[bytes]) -> Iterator[object]:
        for self._at, line in enumerate(_split(pieces), 1):
            if line and not line.isspace() and not (self._at == 1 and self._is_header(line)):
                yield line

    def _events(self, pieces: Iterator[bytes]) -> Iterator[object]:
        for self._at, frame in enumerate(event_frames(pieces), 1):
            yield frame

    def _elements(self, pieces: Iterator[bytes]) -> Iterator[object]:
        trouble = ""
        values = enumerate(elements(pieces), 1)
        try:
            for self._at, value in values:
                if self._at > 1 or not self._states(value):
                    yield value
        except UnicodeDecodeError:
            trouble = "what stands there is no UTF-8 text"
        except ValueError as error:
            trouble = str(error)
        if trouble:
            after = f" after frame {self._at}" if self._at else ""
            raise UnreadableError(self.name, f"is no JSON array: {trouble}{after}")

    def _is_header(self, line: bytes) -> bool:
        return b'"wholecall"' in line and self._states(_json(line))

    def _states(self, header: object) -> bool:
        """Whether this is no frame but what the file states of itself, which is then taken."""
        if not isinstance(header, dict) or list(header) != ["wholecall"]:
            return False
        stated = header["wholecall"] if isinstance(header["wholecall"], dict) else {}
        self.evidence = str(stated.get("evidence", NOT_STATED))
        self.about = str(stated.get("about", ""))
        if self.evidence not in (*get_args(Evidence), NOT_STATED):
            levels = get_args(Evidence)
            raise UnreadableError(f"{self.name}:1", unknown("level of evidence", self.evidence, levels))
        return True


def foreign_dialect(frame: object) -> str:
    """The dialect that this frame can only be of, where it is another than Chat Completions; else empty."""
    value = _json(frame) if isinstance(frame, (bytes, str)) else frame
    if not isinstance(value, dict) or "choices" in value:
        return ""
    kind = str(value.get("type"))
    return next((dialect for start, dialect in _FOREIGN if kind.startswith(start)), "")


def is_done(frame: object) -> bool:
    """Whether this frame is `[DONE]`, which ends a response."""
    return isinstance(frame, (bytes, str)) and frame.strip() in (b"[DONE]", "[DONE]")


def _head(pieces: Iterator[bytes]) -> bytes:
    """The first bytes of a file: as many as it takes to see a line that is not blank, or a piece of it."""
    head = b""
    while b"\n" not in head.lstrip() and len(head) < _PIECE and (piece := next(pieces, b"")):
        head += piece
    return head


def _form(start: bytes) -> str:
    """How frames stand in a file that begins so; empty where they do not."""
    if _SSE.match(start):
        return "sse"
    if start.startswith(b"[") and not start.startswith(b"[DONE]"):
        return "json"
    return "jsonl" if start[:1] in (b"{", b"[", b"") else ""


def _split(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The lines of a text that comes in pieces."""
    held: list[bytes] = []
    for piece in pieces:
        first, *lines = piece.split(b"\n")
        held.append(first)
        if lines:
            yield b"".join(held)
            yield from lines[:-1]
            held = [lines[-1]]
    yield b"".join(held)


def _json(text: bytes | str) -> object:
    """The value that this text is; None where it is none, which is no value that is asked for."""
    try:
        return json.loads(text if isinstance(text, str) else text.decode())
    except (ValueError, RecursionError):
        return None
