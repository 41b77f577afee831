"""Lives of turns: a process that forks another for each run of a turn, and kills that one in the middle.

It reads one `Life` a line, as JSON, and answers each with a line. It has imported everything before it forks
and never has a thread, so a life begins at once and is nothing but a turn.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from turns import CUT, says

from wholecall.turn.ledger import Ledger
from wholecall.turn.policy import Policy
from wholecall.turn.run import Turn
from wholecall.turn.tools import ABSENT, UNKNOWN, Applied, Context, Effect, Found, Tool, ToolFailed

EFFECTS: dict[str, Effect] = {"post": "once", "order": "once", "put": "idempotent", "look": "none"}
"""The tools, and what each does to the world; of the two that do it once, `order` can be asked."""

LEASE, PAUSE = 0.06, 0.005
PATIENCE = 60.0
"""Seconds after which a life is taken to be endless."""

OPENED = b"\n"


@dataclass(frozen=True, kw_only=True)
class Life:
    """One run of a turn in a process of its own.

    Attributes:
        url: The ledger.
        world: The file that the turn leaves its marks in.
        turn: The turn id.
        calls: The calls of the response, each as a tool and what it does try after try: the last for ever.
        cut_first: The first response is cut.
        concurrency: Operations that run at the same time.
        timeout: For a try of a tool.
        tries: Tries of an operation.
        kill_after: Seconds until it is killed, if it lives so long; None where it is not.
        from_birth: They are counted from when its process begins, not from when its ledger is open.
    """

    url: str
    world: str
    turn: str
    calls: tuple[tuple[str, tuple[str, ...]], ...]
    cut_first: bool = False
    concurrency: int = 1
    timeout: float = 0.03
    tries: int = 3
    kill_after: float | None = None
    from_birth: bool = False


class World:
    """A file to which everybody appends whole lines, and which outlives them all."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, *words: object) -> None:
        """Append one line, and have it on disk."""
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(file, (json.dumps(words) + "\n").encode())
        os.fsync(file)
        os.close(file)

    def add_once(self, *words: object) -> None:
        """Append this line if it is not there: one effect, however often and by however many it is tried."""
        with self._alone():
            if list(words) not in self.lines():
                self.add(*words)

    def lines(self) -> list[list[Any]]:
        """Every line, as the words that were added."""
        text = self.path.read_text() if self.path.exists() else ""
        return [json.loads(line) for line in text.splitlines()]

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with self.path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def die() -> None:
    """Be gone, as if the machine had stopped."""
    os.kill(os.getpid(), signal.SIGKILL)


class Tools:
    """The tools of one life: what each call does is told by its index."""

    def __init__(self, life: Life, world: World) -> None:
        self.life = life
        self.world = world

    def list(self) -> list[Tool]:
        # What can be asked runs in the loop: a thread that was left behind could make a liar of the query.
        asks: dict[str, Any] = {"order": self.query}
        runs: dict[str, Any] = {"order": self.act}
        return [
            Tool(
                name,
                None,
                runs.get(name, partial(self.act_in_thread, name)),
                query=asks.get(name),
                effect=effect,
                timeout=self.life.timeout,
            )
            for name, effect in EFFECTS.items()
        ]

    async def query(self, key: str) -> Found:
        self.world.add("queried", key)
        asked = sum(line == ["queried", key] for line in self.world.lines())
        if asked % 4 == 1:
            return UNKNOWN
        return Applied("found") if ["did", key] in self.world.lines() else ABSENT

    async def act(self, arguments: dict[str, Any], context: Context) -> str:
        what = self.begin("order", arguments, context)
        if what == "is late":  # and then it never comes, for here it can be stopped
            await anyio.sleep(2 * self.life.timeout)
        self.effect(what, context.key)
        if what == "hangs":
            await anyio.sleep(2 * self.life.timeout)
        return self.answer(what)

    def act_in_thread(self, name: str, arguments: dict[str, Any], context: Context) -> str:
        what = self.begin(name, arguments, context)
        if what == "is late":
            time.sleep(2 * self.life.timeout)
        self.effect(what, context.key, idempotent=EFFECTS[name] == "idempotent")
        if what == "hangs":
            time.sleep(2 * self.life.timeout)
        if what == "is silent":  # until it is killed: what came late would be heard
            time.sleep(PATIENCE)
        return self.answer(what)

    def begin(self, name: str, arguments: dict[str, Any], context: Context) -> str:
        self.world.add("ran", context.key, context.try_number, f"{name} {json.dumps(arguments)}")
        _, acts = self.life.calls[int(arguments["call"])]
        return acts[min(context.try_number, len(acts)) - 1]

    def effect(self, what: str, key: str, *, idempotent: bool = False) -> None:
        if what == "dies first":
            die()
        if what == "fails":
            raise ToolFailed
        (self.world.add_once if idempotent else self.world.add)("did", key)

    def answer(self, what: str) -> str:
        if what == "dies":
            die()
        if what == "raises":
            raise RuntimeError
        return "done"


def live(life: Life, opened: Callable[[], object] = lambda: None) -> dict[str, Any]:
    """Run the turn to its end; what it came to."""
    world = World(Path(life.world))
    calls = [(name, json.dumps({"call": at})) for at, (name, _) in enumerate(life.calls)]
    replies = [says(("post", CUT)), says(*calls)][not life.cut_first :]

    def request(_: object) -> list[object]:
        world.add("requested")
        return replies.pop(0)

    def authorize(batch: Any) -> bool:
        world.add("allowed", *(f"{call.name} {call.arguments}" for call in batch))
        return True

    with Ledger(life.url) as ledger:
        opened()
        policy = Policy(
            tries=life.tries, pause=PAUSE, lease=LEASE, concurrency=life.concurrency, deadline=PATIENCE
        )
        tools = Tools(life, world).list()
        result = Turn(tools, request, life.turn, policy, ledger=ledger, authorize=authorize).run_sync()
    return {"end": result.end, "states": {one.key: one.state for one in result.operations}}


def fork(life: Life) -> dict[str, Any]:
    """Live once, and perhaps not to the end: `told` is None where it was gone before it could tell."""
    hears, tells = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            opened = partial(os.write, tells, b"" if life.from_birth else OPENED)
            os.write(tells, json.dumps(live(life, opened)).encode())
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    os.close(tells)
    if not life.from_birth:
        os.read(hears, len(OPENED))
    begun = time.perf_counter()
    patience = PATIENCE if life.kill_after is None else life.kill_after
    too_long = not select.select([hears], [], [], patience)[0]
    if too_long:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    seconds = time.perf_counter() - begun
    with os.fdopen(hears) as pipe:
        told = pipe.read()
    return {
        "killed": os.WIFSIGNALED(status),
        "endless": too_long and life.kill_after is None,
        "seconds": seconds,
        "told": json.loads(told) if told else None,
    }


def warm() -> None:
    """Import what is imported at first use, and leave no thread behind: only then can lives be forked."""
    with tempfile.TemporaryDirectory() as folder:
        live(Life(url="sqlite://", world=f"{folder}/world", turn="warm", calls=(("post", ("works",)),)))
    for thread in set(threading.enumerate()) - {threading.main_thread()}:
        thread.join(PATIENCE)
    if threading.active_count() > 1:
        raise RuntimeError("a thread is left, which no fork would have")


if __name__ == "__main__":
    warm()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(fork(Life(**json.loads(line)))) + "\n")
        sys.stdout.flush()
