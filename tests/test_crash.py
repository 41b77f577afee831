"""A process that is killed at any moment of a turn: whoever runs it again finds out, and does nothing twice.

The turn, its ledger and its tools are real, and so is the kill. What happened is told by a file to which the
tools append, not by the turn.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import pytest
from crash_child import EFFECTS, Life, World

from wholecall.turn.invariants import OF_TURN, RanTool, RunRecord, TurnRecord
from wholecall.turn.ledger import Ledger
from wholecall.turn.ledger_records import Operation, Try
from wholecall.turn.policy import Policy
from wholecall_generated.tables import SPEC

TABLE = SPEC.table("operation")
KILLS = 26
"""Of each case."""

MOST = 20 * KILLS
"""Turns in which a case must have them: on a busy machine, many live on."""

AGAIN = 2
"""How often a turn may be killed again, before it is left alone."""

GOLDEN = 0.618034
"""Multiples of it, without their whole part, lie evenly between 0 and 1, however many there are."""

WORKS = ("works",)
CASES: dict[str, dict[str, Any]] = {
    "once": {"calls": (("post", WORKS),)},
    "once, and can be asked": {"calls": (("order", ("hangs", "raises", "works")),)},
    "idempotent": {"calls": (("put", WORKS),)},
    "idempotent, timeout, retry": {"calls": (("put", ("hangs", "is late", "works")),)},
    "reads": {"calls": (("look", ("raises", "works")),), "cut_first": True},
    "one of each": {"calls": (("post", WORKS), ("order", WORKS), ("put", WORKS), ("look", WORKS))},
    "three at a time": {
        "calls": (
            ("order", ("raises", "works")),
            ("put", ("is late", "works")),
            ("look", WORKS),
            ("post", ("hangs",)),
            ("order", ("fails",)),
            ("put", WORKS),
        ),
        "concurrency": 3,
    },
    "three at a time, after a cut response": {
        "calls": (("order", WORKS), ("put", ("raises", "works")), ("order", WORKS)),
        "concurrency": 3,
        "cut_first": True,
    },
}

Live = Callable[[Life], dict[str, Any]]


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """Lets a life be lived, and tells what became of it."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("crash_child.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    sends, hears = process.stdin, process.stdout

    def live(life: Life) -> dict[str, Any]:
        sends.write(json.dumps(asdict(life)) + "\n")
        sends.flush()
        answer: dict[str, Any] = json.loads(hears.readline())
        return answer

    yield live
    process.communicate()
    assert process.returncode == 0


@dataclass
class Watched:
    """One turn id, watched from outside through all its lives.

    Attributes:
        life: What each of its lives is like.
        let: Lets it be lived.
        runs: Of each life, what the world saw.
        lines: What is in the world.
        kept: The operations on record.
        tries: Their tries, by key.
    """

    life: Life
    let: Live
    runs: list[RunRecord] = field(default_factory=list)
    lines: list[list[Any]] = field(default_factory=list)
    kept: tuple[Operation, ...] = ()
    tries: dict[str, tuple[Try, ...]] = field(default_factory=dict)

    def live(self, kill_after: float | None = None, *, from_birth: bool = False) -> dict[str, Any]:
        """Live once more, and see that the ledger agrees with the world afterwards."""
        resumed = any(one.tries for one in self.kept)
        answer = self.let(replace(self.life, kill_after=kill_after, from_birth=from_birth))
        assert not answer["endless"]
        assert answer["killed"] or answer["told"] is not None
        before, self.lines = len(self.lines), World(Path(self.life.world)).lines()
        new = self.lines[before:]
        queries = Counter(line[1] for line in new if line[0] == "queried")
        self.runs.append(RunRecord(resumed, new.count(["requested"]), queries))
        self.look()
        if answer["told"] is not None:
            assert answer["told"]["states"].items() <= {one.key: one.state for one in self.kept}.items()
        return answer

    def look(self) -> None:
        """See that every invariant holds, and that nothing is lost."""
        was = self.kept
        with Ledger(self.life.url) as ledger:
            self.kept = ledger.of_turn(self.life.turn)
            self.tries = {one.key: ledger.tries(one.key) for one in self.kept}
            left = [one for one, _ in ledger.recover() if one.turn_id == self.life.turn]
        assert left == [one for one in self.kept if not TABLE.state(one.state).final]
        assert {one.key for one in was} <= self.tries.keys()
        assert [one for one in was if TABLE.state(one.state).final and one not in self.kept] == []
        started = {one.key for one in self.kept if one.tries}
        assert started >= {line[1] for line in self.lines if line[0] in ("ran", "did")}
        assert {key: len(tries) for key, tries in self.tries.items()} == {
            one.key: one.tries for one in self.kept
        }
        for effect in set(EFFECTS.values()):
            record = self.record(effect)
            for invariant in OF_TURN:
                assert invariant.holds(record), f"{invariant.name}: {invariant.sentence}"

    def record(self, effect: str) -> TurnRecord:
        """What became of the calls with this effect, and of the turn's requests."""
        kept = tuple(one for one in self.kept if one.effect == effect)
        keys = {one.key for one in kept}
        words = [line[0] for line in self.lines]
        ran_at = words.index("ran") if "ran" in words else len(words)
        return TurnRecord(
            Policy(tries=self.life.tries),
            effect,
            frozenset(),
            frozenset(),
            runs=self.runs,
            allowed=[tuple(line[1:]) for line in self.lines if line[0] == "allowed"],
            ran=[RanTool(*line[1:]) for line in self.lines if line[0] == "ran" and line[1] in keys],
            late=words[ran_at:].count("requested"),
            effects=Counter(line[1] for line in self.lines if line[0] == "did" and line[1] in keys),
            kept=kept,
            tries={key: self.tries[key] for key in keys},
        )

    def moment(self) -> str:
        """How far it came, by what is on record."""
        if any(not TABLE.state(one.state).final for one in self.kept if one.tries):
            return "running"
        return "over" if any(one.tries for one in self.kept) else "nothing has run"

    def ended_by(self) -> list[str | None]:
        """What ended each try of its one operation."""
        (tries,) = self.tries.values()
        return [one.ended_by for one in tries]


def test_the_kills_are_many() -> None:
    assert len(CASES) * KILLS >= 200


@pytest.mark.parametrize("name", CASES)
def test_a_turn_that_is_killed_at_any_moment_does_nothing_twice(
    name: str, tmp_path: Path, live: Live
) -> None:
    """Killed at moments spread evenly over its life; so is who runs it again; the last of them lives."""
    chance = Random(name)  # noqa: S311 - a choice of moments
    moments, lives = Counter[str](), list[float]()

    def watched(turn: int) -> Watched:
        url = f"sqlite:///{tmp_path / f'{turn % 5}.db'}"
        world = str(tmp_path / f"{turn}.world")
        return Watched(Life(url=url, world=world, turn=f"turn {turn}", **CASES[name]), live)

    for turn in range(MOST):
        one = watched(turn)
        # After three that show how long it lives, each is killed at another part of that time.
        answer = one.live(median(lives) * (turn * GOLDEN % 1) if turn > 2 else None, from_birth=turn % 6 == 5)
        lives += [] if answer["killed"] else [answer["seconds"]]
        for _ in range(AGAIN):
            if answer["killed"]:
                moments[one.moment()] += 1
                answer = one.live(chance.choice([None, median(lives) * chance.random()]))
        if answer["killed"]:
            moments[one.moment()] += 1
            answer = one.live()

        assert SPEC.table("turn").state(answer["told"]["end"]).final
        assert all(TABLE.state(kept.state).final for kept in one.kept)
        if moments.total() >= KILLS and {"nothing has run", "running"} <= moments.keys():
            break
    else:
        pytest.fail(f"{moments} in {MOST} turns")


@pytest.mark.parametrize("dies", ["dies first", "dies"])
@pytest.mark.parametrize(
    ("tries", "state", "ended_by"),
    [(3, "succeeded", ["timeout", "lost", "result"]), (2, "unresolved", ["timeout", "lost"])],
)
def test_effect_timeout_retry_crash(
    tries: int, state: str, ended_by: list[str], dies: str, tmp_path: Path, live: Live
) -> None:
    """The effect is written, no answer comes, it is tried again under its key, and then the process dies."""
    acts = ("is silent", dies, "works")
    one = Watched(alone(tmp_path, "put", acts, tries=tries), live)
    assert one.live()["killed"]
    assert one.ended_by() == ["timeout", None]
    assert [kept.state for kept in one.kept] == ["started"]

    assert one.live()["told"]["states"] == {kept.key: state for kept in one.kept}
    assert one.ended_by() == ended_by
    assert [line[0] for line in one.lines if line[0] != "ran"] == ["requested", "allowed", "did"]


def test_timeout_absence_retry_effect_crash(tmp_path: Path, live: Live) -> None:
    """Known to be absent, it is tried again; after the crash it is asked about, and not repeated."""
    one = Watched(alone(tmp_path, "order", ("is late", "dies")), live)
    assert one.live()["killed"]
    assert one.ended_by() == ["timeout", None]

    assert one.live()["told"]["end"] == "settled"
    assert one.ended_by() == ["timeout", "lost"]
    assert [line[0] for line in one.lines].count("ran") == 2
    assert [line[0] for line in one.lines].count("did") == 1


def alone(folder: Path, tool: str, acts: tuple[str, ...], tries: int = 3) -> Life:
    """A turn with one call, which has time."""
    return Life(
        url=f"sqlite:///{folder / 'ledger.db'}",
        world=str(folder / "world"),
        turn="turn",
        calls=((tool, acts),),
        timeout=2.0,
        tries=tries,
    )
