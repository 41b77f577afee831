"""Server-Sent Events as they come off the wire: bytes in, frames out. No I/O.

The grammar is the standard's (WHATWG HTML, "Server-sent events"): a line ends with LF, CR or CRLF, a blank
line ends an event, `data` lines of one event are joined by LF, and a line that begins with a colon says
nothing. Two things are ours:

- **An unfinished last event is not thrown away.** The standard discards it, as browsers and the openai client
  do, and for a call that is a loss in silence. Here it is given as it stands. Where it is whole, nothing was
  guessed: no JSON object is the beginning of another. Where it was cut, it is no JSON, and so a bad frame:
  the response is refused and not merely shortened.
- **`event: error` is an error, whatever its data looks like.** Other names of events are not looked at.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from wholecall.wire import is_error

SseFrame = bytes | dict[str, object]
"""What `Assembler.feed` takes: the data of an event as it came, or `{"error": ...}`."""

_BOM: Final = b"\xef\xbb\xbf"
_DATA: Final = b"data: "
_NEXT_DATA: Final = b"\n\ndata: "


class SSE:
    """Decodes one event stream: `feed` its bytes as they come, then `close`.

    What is held between two calls is the event that has not ended, and nothing else.
    """

    def __init__(self) -> None:
        self._head: bytes | None = b""  # what may yet be a byte order mark; None once that is known
        self._after_cr = False
        self._pending: list[bytes] = []  # since the last blank line; every line end in it is LF

    def feed(self, data: bytes) -> Sequence[SseFrame]:
        """The frames that these bytes complete, in order.

        Args:
            data: The next bytes, cut anywhere, also within a character or a line end.
        """
        if self._head is not None or self._after_cr or b"\r" in data:
            data = self._with_lf(data)
        end = data.rfind(b"\n\n") + 2
        if end < 2 and not (end := self._ends_by(data)):
            if data:
                self._pending.append(data)
            return ()
        block = data[:end]
        if self._pending:
            block = b"".join((*self._pending, block))
            self._pending.clear()
        if end < len(data):
            self._pending.append(data[end:])
        # Nearly every event is one line `data: ...`, and a block of such is cut in one go.
        if block.startswith(_DATA):
            frames = block[len(_DATA) : -2].split(_NEXT_DATA)
            if block.count(b"\n") == 2 * len(frames):  # so no event has another line
                return frames
        return list(_events(block))

    def close(self) -> Sequence[SseFrame]:
        """The transport has ended: what stands of an unfinished event, as it stands; nothing where none does.

        Where the transport failed, say so to the assembler as well (`close(aborted=True)`).
        """
        text = b"".join((*self._pending, self._head or b""))
        self._pending.clear()
        self._head = None
        if all(not line.strip() or line.startswith(b":") for line in text.split(b"\n")):
            return ()
        last = text.rpartition(b"\n")[2]
        if last.strip() and b":" not in last:
            # The name of a field was cut. What it would have been is not known, so it is part of the frame.
            text = text.removesuffix(last) + _DATA + last
        # An event that was cut before its data still was one: the empty text is a bad frame.
        return list(_events(text + b"\n\n")) or (b"",)

    def _with_lf(self, data: bytes) -> bytes:
        """The bytes with every line end as LF, and without the mark that may stand before the first."""
        if self._head is not None:
            data = self._head + data
            undecided = len(data) < len(_BOM) and _BOM.startswith(data)
            self._head = data if undecided else None
            data = b"" if undecided else data.removeprefix(_BOM)
        if self._after_cr and data:
            data, self._after_cr = data.removeprefix(b"\n"), False
        if b"\r" in data:
            self._after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return data

    def _ends_by(self, data: bytes) -> int:
        """How much of these bytes, that hold no blank line, ends the pending event: its first LF or none."""
        return int(data.startswith(b"\n") and bool(self._pending) and self._pending[-1].endswith(b"\n"))


def event_frames(chunks: Iterable[bytes]) -> Iterator[SseFrame]:
    """The frames of an event stream whose bytes come in chunks, each as soon as it is complete.

    Args:
        chunks: The bytes, cut anywhere. What reading them raises is passed on, and the unfinished event is
            then not given: the transport failed, and the assembler is told that instead.
    """
    sse = SSE()
    for chunk in chunks:
        yield from sse.feed(chunk)
    yield from sse.close()


def _events(block: bytes) -> Iterator[SseFrame]:
    """The frames of whole events, line by line, as the standard tells it."""
    event, data = b"", []
    for line in block.split(b"\n"):
        name, _, value = line.partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
        elif name == b"event":
            event = value.removeprefix(b" ")
        elif not line:
            if data:
                yield _frame(event, b"\n".join(data))
            event, data = b"", []


def _frame(event: bytes, data: bytes) -> SseFrame:
    if event != b"error":
        return data
    text = data.decode(errors="replace")
    error: object
    try:
        error = json.loads(text)
    except (ValueError, RecursionError):
        error = text
    if isinstance(error, dict) and is_error(error.get("error")):
        return data
    return {"error": error or {}}  # an event that names no reason is still an error
