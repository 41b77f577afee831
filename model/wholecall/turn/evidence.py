"""Evidence: raw argument text in private files, for whoever must see it, under the digest they were shown.

    evidence = Evidence("/var/lib/agent/evidence", max_age=24 * 3600)
    Turn(tools, request, ledger=ledger, evidence=evidence)
    ...
    text = evidence.get(diagnostic.text_digest)

Diagnostics never hold content; this is the one place that does, and only where a host asks for it. What is
kept is the argument text of a call that was refused, as it had arrived, and no more: ids and content have no
part in it. One item is one file, named by its digest.

The rules of the room:

- The folder is a real folder of this user with mode 0700, or it is refused, each time anew; so nobody else
  can put a link or a file there. Files have mode 0600, whatever the umask.
- An item appears whole or not at all: it is written under another name, made durable, and renamed. What a
  crash left of that is removed once it is `STALE` seconds old.
- The oldest items go first, before a new one comes and once more after it, so that it holds also where other
  processes write: between them, no more can be too much than what they write at that moment.
- An item older than `max_age` is not given, and is removed by the next `keep` or `prune`. A host that keeps
  little calls `prune` now and then. So that a clock that was set back keeps nothing for ever, an item from
  the future counts as old as it is far.
- **To fail to keep evidence changes nothing else**: `keep` answers False and counts, and raises no OSError.

POSIX only, for its permissions. Files that are no items are left alone, and do not count.
"""

from __future__ import annotations

import errno
import math
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import Final, NamedTuple

from wholecall.errors import BoundError, WholecallError

STALE: Final = 60.0
"""Seconds after which a file that was never renamed is what a crash left."""

_DIGEST: Final = re.compile(r"[0-9a-f]{1,128}")
_PART: Final = re.compile(r"\.[0-9a-f]{32}\.part")
_PRIVATE_FOLDER: Final = 0o700
_PRIVATE_FILE: Final = 0o600
_NO_FOLDER: Final = (errno.ENOTDIR, errno.ELOOP)
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


class EvidenceError(WholecallError, OSError):
    """The folder of evidence, or an item in it, cannot be used.

    Attributes:
        folder: The folder.
        problem: What is wrong, in words.
    """

    def __init__(self, folder: Path, problem: str) -> None:
        self.folder = folder
        self.problem = problem
        super().__init__(f"evidence in {folder}: {problem}")


class EvidenceDigestError(WholecallError, ValueError):
    """A key of evidence is not a digest. It is never shown, for it could be the text itself."""

    def __init__(self) -> None:
        super().__init__("a digest is 1 to 128 lowercase hexadecimal digits")


class EvidenceLimitError(BoundError):
    """A bound of evidence cannot be used."""

    called = "the bound {} of evidence"


class _Item(NamedTuple):
    stamped: int
    name: str
    size: int


class Evidence:
    """Raw text under its digest, in a private folder, bounded in bytes, number and age.

    It may be used from many threads, and the folder by many processes.

    Args:
        folder: Made, with mode 0700, where it does not exist; its parent must.
        max_bytes: Of all items together, as UTF-8.
        max_age: Seconds that an item is kept.
        max_items: How many items.
        clock: Seconds since the epoch.

    Attributes:
        failures: How often `keep` could not do its work, because of an OSError.

    Errors:
        EvidenceError: The folder is not private, or no folder.
        EvidenceLimitError: A count is below 1, or the age is not a number above 0.
        OSError: The folder cannot be made or opened.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        max_bytes: int = 10_000_000,
        max_age: float = 7 * 24 * 3600.0,
        max_items: int = 1000,
        clock: Callable[[], float] = time.time,
    ) -> None:
        for name, count in (("max_bytes", max_bytes), ("max_items", max_items)):
            if type(count) is not int or count < 1:
                raise EvidenceLimitError(name, count, "an integer of at least 1")
        if type(max_age) not in (int, float) or not 0 < max_age < math.inf:
            raise EvidenceLimitError("max_age", max_age, "a number of seconds above 0")
        self.folder = Path(folder)
        self.max_bytes = max_bytes
        self.max_age = max_age
        self.max_items = max_items
        self.clock = clock
        self.failures = 0
        self._lock = Lock()
        self._make_folder()
        self.prune()

    def keep(self, digest: str, text: str) -> bool:
        """Keep a text under its digest, and let the oldest go for it. A digest that is known is new again.

        Returns:
            Whether it is kept: False where it alone is more than the bound, or where an OSError, a full disk
            say, was in the way. `failures` counts the latter.

        Errors:
            EvidenceDigestError: It is no digest.
        """
        _checked(digest)
        data = text.encode("utf-8", "surrogatepass")
        if len(data) > self.max_bytes:
            return False
        with self._lock:
            try:
                with self._opened() as folder:
                    self._sweep(folder, digest, len(data))
                    self._write(folder, digest, data)
                    self._sweep(folder, digest, len(data))
            except OSError:
                self.failures += 1
                return False
        return True

    def get(self, digest: str) -> str | None:
        """The text under a digest, exactly as it arrived; None where it is not kept, or no longer.

        Errors:
            EvidenceDigestError: It is no digest.
            EvidenceError: The folder is no longer private, or the file is not what `keep` wrote.
            OSError: It cannot be read.
        """
        _checked(digest)
        with self._opened() as folder:
            try:
                file = os.open(digest, _READ, dir_fd=folder)
            except FileNotFoundError:
                return None
            try:
                found = os.fstat(file)
                if self._is_old(found.st_mtime_ns):
                    return None
                if stat.S_ISREG(found.st_mode):
                    with os.fdopen(file, "rb", closefd=False) as item, suppress(UnicodeDecodeError):
                        return item.read().decode("utf-8", "surrogatepass")
            finally:
                os.close(file)
        raise EvidenceError(self.folder, f"the item {digest} is not what was kept")

    def prune(self) -> None:
        """Remove what is too old or too much, and what a crash left half written.

        Errors:
            EvidenceError: The folder is no longer private.
            OSError: It cannot be read, or an item not be removed.
        """
        with self._lock, self._opened() as folder:
            self._sweep(folder)

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(_PRIVATE_FOLDER)
        except FileExistsError:
            return
        folder = os.open(self.folder, _FOLDER)
        try:
            os.fchmod(folder, _PRIVATE_FOLDER)  # the umask may have taken a bit that is needed
        finally:
            os.close(folder)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """The folder, as a descriptor that nobody can redirect, once it is seen to be private."""
        try:
            folder = os.open(self.folder, _FOLDER)
        except OSError as error:
            if error.errno not in _NO_FOLDER:
                raise
            raise EvidenceError(self.folder, "it is a link, or no folder") from None
        try:
            found = os.fstat(folder)
            if found.st_uid != os.geteuid():
                raise EvidenceError(self.folder, "it belongs to another user")
            mode = found.st_mode & 0o777
            if mode != _PRIVATE_FOLDER:
                raise EvidenceError(self.folder, f"its mode is {mode:04o}, not {_PRIVATE_FOLDER:04o}")
            yield folder
        finally:
            os.close(folder)

    def _write(self, folder: int, digest: str, data: bytes) -> None:
        part = f".{token_hex(16)}.part"
        file = os.open(part, _NEW, _PRIVATE_FILE, dir_fd=folder)
        try:
            with os.fdopen(file, "wb") as item:
                os.fchmod(file, _PRIVATE_FILE)
                item.write(data)
                item.flush()
                stamp = int(self.clock() * 1e9)
                os.utime(file, ns=(stamp, stamp))
                os.fsync(file)
            os.rename(part, digest, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(part, dir_fd=folder)
            raise

    def _sweep(self, folder: int, new: str = "", room: int = 0) -> None:
        """Remove what is old, then the oldest until the rest and the new item are within the bounds."""
        items = []
        for item in self._items(folder):
            if item.name == new:
                continue
            if self._is_old(item.stamped):
                _remove(folder, item.name)
            else:
                items.append(item)
        size = sum(item.size for item in items) + room
        count = len(items) + bool(new)
        for item in sorted(items):
            if size <= self.max_bytes and count <= self.max_items:
                break
            _remove(folder, item.name)
            size -= item.size
            count -= 1

    def _items(self, folder: int) -> Iterator[_Item]:
        """The items that are there; on the way, what a crash left is removed."""
        for name in os.listdir(folder):
            is_part = _PART.fullmatch(name) is not None
            if not is_part and _DIGEST.fullmatch(name) is None:
                continue
            try:
                found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError:
                continue  # another process was faster
            if is_part and time.time() - found.st_ctime > STALE:
                _remove(folder, name)
            elif not is_part and stat.S_ISREG(found.st_mode):
                yield _Item(found.st_mtime_ns, name, found.st_size)

    def _is_old(self, stamped: int) -> bool:
        return abs(self.clock() - stamped / 1e9) > self.max_age


def _checked(digest: str) -> None:
    if not isinstance(digest, str) or _DIGEST.fullmatch(digest) is None:
        raise EvidenceDigestError


def _remove(folder: int, name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
