"""Opens what a command is given, and says in one line why that cannot be read."""

from __future__ import annotations

import json
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Protocol, cast

from wholecall.errors import WholecallError


class UnreadableError(WholecallError):
    """A file, or a place in one, cannot be read as what it should be.

    Attributes:
        where: The file, with the line or frame where that is known.
        what: What is wrong.
    """

    def __init__(self, where: str, what: str) -> None:
        self.where = where
        self.what = what
        super().__init__(f"{where}: {what}")


class Bytes(Protocol):
    """A file open for reading."""

    def read1(self, size: int = -1, /) -> bytes:
        """The bytes that are there by now, up to a size; none at the end."""

    def read(self, size: int = -1, /) -> bytes:
        """The bytes up to a size, or all to the end."""

    def fileno(self) -> int:
        """What the system calls it."""


def open_file(name: str) -> AbstractContextManager[Bytes]:
    """A file by its name; `-` is standard input.

    Errors:
        UnreadableError: It cannot be opened.
    """
    if name == "-":
        return nullcontext(cast(Bytes, sys.stdin.buffer))
    try:
        return Path(name).open("rb")
    except OSError as error:
        trouble = error.strerror or type(error).__name__
    except ValueError as error:
        trouble = str(error)
    raise UnreadableError(name, trouble)


def read_file(name: str) -> bytes:
    """All bytes of a file (UnreadableError: it cannot be opened or read)."""
    with open_file(name) as file:
        try:
            return file.read()
        except OSError as error:
            trouble = error.strerror or type(error).__name__
    raise UnreadableError(name, trouble)


def size_of(file: Bytes) -> int | None:
    """How many bytes a file has, where it has a size."""
    try:
        return os.fstat(file.fileno()).st_size or None
    except OSError:
        return None


def read_json(name: str, text: bytes, line: int = 1) -> object:
    """The value that a JSON text is.

    Args:
        name: The file, for messages.
        text: The text.
        line: Where in the file the text begins.

    Errors:
        UnreadableError: It is no JSON text; the message quotes nothing of it.
    """
    trouble = ""
    try:
        return json.loads(text.decode())
    except UnicodeDecodeError:
        trouble = "is no UTF-8 text"
    except json.JSONDecodeError as error:
        trouble, line = f"is no JSON: {error.msg} at column {error.colno}", line + error.lineno - 1
    except (ValueError, RecursionError):
        trouble = "is JSON that cannot be read: a number is too long, or it is nested too deeply"
    raise UnreadableError(f"{name}:{line}", trouble)
