"""What is fuzzed: a callable or a command, in a process of its own, or wholecall itself."""

from __future__ import annotations

import json
import os
import queue
import shlex
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from wholecall.assemble import Assembler
from wholecall.cases import ABORT, EOF
from wholecall.errors import WholecallError
from wholecall.fuzz import values
from wholecall.limits import Limits

TIMEOUT: Final = 20.0
"""Seconds that a target has for one stream; its first may take ten times as long, for it has to start."""

_STARTING: Final = 10


class TargetError(WholecallError):
    """A target cannot be used.

    Attributes:
        target: Which.
        what: What is wrong, in one line.
    """

    def __init__(self, target: str, what: str) -> None:
        self.target = target
        self.what = what
        super().__init__(f"the target {target} {what}")

    def __reduce__(self) -> tuple[type[TargetError], tuple[str, str]]:
        """It may come out of another process."""
        return type(self), (self.target, self.what)


@dataclass(frozen=True, slots=True)
class Got:
    """What a target made of a stream.

    Attributes:
        calls: Its calls as it gave them; None where it refused the stream.
        skipped: Whether it said that it cannot express the stream.
        trouble: What went wrong with the target itself, where something did; it then counts as refused.
        verdict: Outcome, fault and rows, of wholecall alone.
    """

    calls: tuple[Any, ...] | None = field(default=None, repr=False)
    skipped: bool = False
    trouble: str = ""
    verdict: tuple[str, str | None, tuple[str, ...]] | None = None


class Target(Protocol):
    """Whatever is fuzzed."""

    def ask(self, chunks: Sequence[Any], limits: Limits | None = None) -> Got:
        """What it makes of a stream.

        Args:
            chunks: The stream, as the `chunks` of a case.
            limits: What wholecall itself is to read with; others have limits of their own.
        """

    def close(self) -> None:
        """It is asked no more."""


@dataclass(frozen=True, slots=True)
class TargetName:
    """Which target, so that each process can open its own.

    Attributes:
        callable: `MODULE:CALLABLE`, where it is one.
        command: A command line, where it is one. Where neither is, the target is wholecall itself.
        timeout: Seconds that it has for one stream.
    """

    callable: str = ""
    command: str = ""
    timeout: float = TIMEOUT

    def __str__(self) -> str:
        return self.callable or self.command or "wholecall"

    @property
    def own(self) -> bool:
        """Whether it is wholecall itself."""
        return not (self.callable or self.command)

    def open(self) -> Target:
        """The target, as if nothing had been asked of it before."""
        if self.own:
            return Own()
        serve = [sys.executable, "-m", "wholecall.fuzz.serve", self.callable]
        return Process(str(self), shlex.split(self.command) or serve, self.timeout)


def try_out(target: TargetName) -> None:
    """See that a target answers at all.

    Errors:
        TargetError: It cannot be started, or does not answer as the protocol has it.
    """
    asked = target.open()
    try:
        got = asked.ask([values.DONE])
        words = getattr(asked, "last_words", "")
    finally:
        asked.close()
    if got.trouble:
        raise TargetError(str(target), f"{got.trouble}{f': {words}' if words else ''}")


class Own:
    """Wholecall itself."""

    def ask(self, chunks: Sequence[Any], limits: Limits | None = None) -> Got:
        """See `Target.ask`."""
        assembler = Assembler(limits=limits)
        aborted = chunks[-1:] == [ABORT]
        assembler.feed_all(chunk for chunk in chunks if chunk not in (EOF, ABORT))
        response = assembler.close(aborted)
        calls = [call for call in response.calls if response.outcome == "whole"]
        told = tuple({"id": c.id, "name": c.name, "arguments": c.arguments} for c in calls)
        return Got(told, verdict=(response.outcome, response.fault, response.rows))

    def close(self) -> None:
        """Nothing is open."""


class Process:
    """A target that answers lines of JSON (see `wholecall.fuzz.serve`). It is started when it is asked.

    Args:
        name: How it is told of.
        command: The program and its arguments.
        timeout: Seconds that it has for one stream.

    Attributes:
        last_words: The last line that it wrote to standard error before it failed to answer.
    """

    def __init__(self, name: str, command: Sequence[str], timeout: float = TIMEOUT) -> None:
        self.name = name
        self.last_words = ""
        self._command = list(command)
        self._timeout = timeout
        self._asked = 0
        self._running: _Running | None = None

    def ask(self, chunks: Sequence[Any], limits: Limits | None = None) -> Got:  # noqa: ARG002 - see `Target`
        """See `Target.ask`; where it dies or does not answer, it is started again when it is next asked."""
        self._asked += 1
        wait = self._timeout
        if self._running is None:
            self._running = _Running(self.name, self._command)
            wait *= _STARTING
        line = self._running.ask(json.dumps({"seq": self._asked, "chunks": list(chunks)}), wait)
        told = _read(line, self._asked)
        if told.trouble:
            self.last_words = self._running.end(dies=line == "")
            self._running = None
        return told

    def close(self) -> None:
        """End the process."""
        if self._running is not None:
            self._running.end()
            self._running = None


class _Running:
    """A process, and what it said."""

    def __init__(self, name: str, command: list[str]) -> None:
        trouble = ""
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the target that the user named
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,  # an interrupt is for the campaign
            )
        except OSError as error:
            trouble = error.strerror or type(error).__name__
        if trouble:
            raise TargetError(name, f"cannot be started: {trouble}")
        self._requests: queue.Queue[str] = queue.Queue()
        self._lines: queue.Queue[str] = queue.Queue()
        self._said: deque[str] = deque(maxlen=1)
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._overhear, self._listen, self._talk)
        ]
        for thread in self._threads:
            thread.start()

    def _talk(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # it takes no more
            while request := self._requests.get():
                self._process.stdin.write(f"{request}\n")
                self._process.stdin.flush()
            return
        self._lines.put("")

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def _overhear(self) -> None:
        assert self._process.stderr is not None
        self._said.extend(line.strip() for line in self._process.stderr if line.strip())

    def ask(self, request: str, wait: float) -> str | None:
        """The line that answers; empty where it died, None where it did not answer in time."""
        self._requests.put(request)
        try:
            return self._lines.get(timeout=wait)
        except queue.Empty:
            return None

    def end(self, dies: bool = False) -> str:
        """End it and what it started, and whoever talks or listens to it.

        Args:
            dies: Whether it seems to end by itself; then it has a second to say why.

        Returns:
            The last line that it wrote to standard error.
        """
        if dies:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1)
        with suppress(ProcessLookupError, PermissionError):  # of what has just ended, macOS says the latter
            _END(self._process.pid, _AT_ONCE)
        self._process.wait()
        self._requests.put("")
        for thread in self._threads:
            thread.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert pipe is not None
            with suppress(OSError):  # what it did not take is of no use any more
                pipe.close()
        return "".join(self._said)


_END: Final = getattr(os, "killpg", os.kill)
"""Ends a process, and with it, where the system knows groups of them, whatever it started."""

_AT_ONCE: Final = 9


def _read(line: str | None, number: int) -> Got:
    """What a line says."""
    if not line:
        return Got(trouble="died" if line == "" else "gave no answer in time")
    try:
        told = json.loads(line)
    except ValueError:
        told = None
    if not isinstance(told, dict) or told.get("seq") != number:
        return Got(trouble="gave no answer of the protocol")
    if told.get("skip") is True:
        return Got(skipped=True)
    if told.get("refused") is True:
        return Got()
    calls = told.get("calls")
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        return Got(trouble="gave no list of calls")
    return Got(tuple(calls))
