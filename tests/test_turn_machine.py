"""A Hypothesis machine for whole turns: whatever upstream, tools, queries, ledger and host do, §5 holds.

One example is one turn id, run again and again: each run scripts the upstream, the tools and the queries, may
crash the process before or after an effect, fail the ledger at a call, and cancel the task at an await.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any, ClassVar

import anyio
import pytest
import virtual
from hypothesis import HealthCheck, currently_in_test_context, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from turns import (
    ARGUMENTS,
    CUT,
    ERROR,
    GOOD,
    HALF,
    LENGTH,
    NO_ID,
    NULL_FIRST,
    SECRET,
    TEXT,
    TWO,
    Script,
    Shaky,
    hang,
    of,
    says,
    stall,
)
from virtual import Awaits

from wholecall.turn.invariants import OF_TURN, RanTool, RunRecord, TurnRecord
from wholecall.turn.observe import Event, RowFired
from wholecall.turn.policy import Policy
from wholecall.turn.run import Turn
from wholecall.turn.tools import ABSENT, UNKNOWN, Applied, Context, Tool, ToolFailed
from wholecall.turn.upstream import Unreachable, UpstreamRefused
from wholecall_generated.tables import SPEC

POLICY = Policy(
    attempts=2, queries=2, tries=2, pause=0.5, tool_timeout=5, lease=30, stream_idle=5, deadline=100
)
TURN = SPEC.table("turn")
DEALT = 450
LATER = 1000.0
"""Seconds that pass between two runs: longer than any lease."""

REPLIES: dict[str, Any] = {
    "good": GOOD,
    "two": TWO,
    "text": TEXT,
    "cut": HALF,
    "misfit": says("{}"),
    "half of two": says(ARGUMENTS, ("other", '{"a":')),
    "no id": NO_ID,
    "null first": NULL_FIRST,
    "length": LENGTH,
    "error": ERROR,
    "refused": UpstreamRefused(429, SECRET),
    "unreachable": Unreachable(SECRET),
    "hangs": hang,
    "stalls": stall,
}
ACTS = {"works", "fails", "raises", "raises after", "hangs", "hangs after", "crashes", "crashes after"}
STORIES = sorted((first, then) for first in ACTS for then in ("works", "fails", "raises", "hangs after"))
STORIES += [("raises", "fails"), ("fails", "fails")] * 5  # they lead to the rarest rows
"""What the tools do: at first, and then for ever."""

ANSWERS = sorted(
    (first, then) for first in ("tells", "unknown", "raises", "hangs") for then in ("tells", "unknown")
)
"""What a query gives: at first, and then for ever."""

MISCHIEF = [
    "none",
    "none",
    "fails",
    "fails after",
    "goes away",
    "is full",
    "steals",
    "overtakes",
    "forgets",
    "forgets",
]
CORRUPT = frozenset((f"save {CUT}", "save {}", 'other {"a":'))
WRITES = ("plan", "claim", "retry", "record", "mark_absent", "extend", "take_over")


BATCH: dict[str, Sequence[Any]] = {
    "replies": [("two",), ("good",), ("cut", "two")],
    "effect": ["once", "idempotent", "none"],
    "asks": [False, True],
    "acts": STORIES,
    "answers": ANSWERS,
    "cancel_at": [0] * 30 + list(range(1, 40)),
    "mischief": MISCHIEF,
    "number": range(2, 15),
    "waits": [False, False, True],
    "deadline": [100, 100, 12, 3],
}
RESPONSE: dict[str, Sequence[Any]] = {
    "replies": sorted((first, then) for first in REPLIES for then in ("good", first)),
    "check": ["yes", "yes", "no", "hangs"],
    "host": ["yes", "no", "raises", "hangs"],
    "cancel_at": [0] * 20 + list(range(1, 20)),
    "deadline": [3, 20],
}


def drawn(facts: dict[str, Sequence[Any]]) -> dict[str, Any]:
    return {name: st.sampled_from(values) for name, values in facts.items()}


class Crash(BaseException):
    """The process is gone."""


class TurnMachine(RuleBasedStateMachine):
    """One turn id in a world of its own, which keeps the record."""

    rows: ClassVar[Counter[str]] = Counter()
    runs: ClassVar[Counter[str]] = Counter()

    @initialize()
    def begin(self) -> None:
        self.now = 0.0
        self.loop: asyncio.AbstractEventLoop | None = None
        self.ledger = Shaky(clock=self.clock)
        self.turns = 0
        self.begin_again("once", False)
        TurnMachine.runs["examples"] += 1

    def begin_again(self, effect: str, asks: bool) -> None:
        """The next turn is another one, with other tools."""
        self.asks = asks
        self.turns += 1
        self.id = f"turn-{self.turns}"
        self.record = TurnRecord(POLICY, effect, CORRUPT, frozenset((SECRET,)))
        TurnMachine.runs["turns"] += 1

    @rule(**drawn(BATCH))
    def run_batch(self, **facts: Any) -> None:
        """The response can be used; what the tools, the ledger and the host do then is open."""
        self.run_turn(check="yes", host="yes", **facts)

    @precondition(lambda self: not self.ledger.recover())
    @rule(**drawn(RESPONSE))
    def run_response(self, **facts: Any) -> None:
        """Upstream, the checks and the host may say anything."""
        usual = {"acts": ("works",), "answers": ("tells",), "mischief": "none", "number": 2}
        self.run_turn(effect="once", asks=False, waits=False, **usual, **facts)

    def run_turn(self, **facts: Any) -> None:
        """Run the turn once, in a process that may not live to its end."""
        self.say(json.dumps(facts))
        if not self.ledger.recover() and not (self.record.kept and facts["waits"]):
            self.begin_again(facts["effect"], facts["asks"])
        self.now += 0 if facts["waits"] else LATER
        self.acts, self.answers = list(facts["acts"]), list(facts["answers"])
        self.check, self.host, self.crashed = facts["check"], facts["host"], False
        policy = replace(POLICY, deadline=facts["deadline"])
        run = RunRecord(resumed=any(one.tries for one in self.ledger.of_turn(self.id)))
        self.record.runs.append(run)
        self.ledger.made.clear()
        self.ledger.fails = self.mischief(facts["mischief"], facts["number"])
        script = Script([REPLIES[name] for name in facts["replies"]])
        events: list[Event] = []
        turn = Turn(
            self.tools(run),
            self.requesting(script),
            self.id,
            policy,
            ledger=self.ledger,
            authorize=self.authorize,
            observe=events.append,
        )
        errors = virtual.run(self.live, turn, facts["cancel_at"])
        self.ledger.fails = lambda _, __: None
        self.look(turn, run, script, events, errors)

    async def live(self, turn: Turn, cancel_at: int) -> list[str]:
        """Run it in a task; what it raised."""
        loop = self.loop = asyncio.get_running_loop()
        awaits = Awaits(cancel_at, lambda: task.cancel())
        loop.set_task_factory(awaits.factory)
        task = loop.create_task(turn.run())
        await asyncio.wait([task])
        loop.set_task_factory(None)
        self.now += loop.time()
        self.loop = None
        if task.cancelled() or task.exception() is None:
            return []
        return [repr(task.exception()), str(task.exception())]

    def look(
        self, turn: Turn, run: RunRecord, script: Script, events: list[Event], errors: list[str]
    ) -> None:
        result = turn.result()
        run.requests, run.ran = len(script.told), len(self.record.ran)
        run.result = None if self.crashed else result
        rows = [event.row for event in events if isinstance(event, RowFired)]
        self.say(f"{' '.join(rows)} -> {result.end}")
        TurnMachine.rows.update(rows)
        TurnMachine.runs.update(["runs", f"end {result.end}", *(["crashes"] if self.crashed else [])])
        self.record.shown += [repr(events), repr(result), repr(script.told), *errors]
        self.record.shown += [json.dumps(found.to_record()) for found in result.diagnostics]
        self.record.kept = self.ledger.of_turn(self.id)
        self.record.tries = {one.key: self.ledger.tries(one.key) for one in self.record.kept}

    @invariant()
    def invariants_hold(self) -> None:
        """Every invariant that concerns a turn."""
        for one in OF_TURN:
            assert one.holds(self.record), f"{one.name}: {one.sentence}"

    def say(self, text: str) -> None:
        if currently_in_test_context():
            note(text)

    def clock(self) -> float:
        """Seconds of the world: those of all runs, and of this one so far."""
        return self.now + (self.loop.time() if self.loop else 0)

    # -- the world -----------------------------------------------------------------------------------

    def requesting(self, script: Script) -> Any:
        async def request(feedback: Any) -> Any:
            self.record.late += bool(self.record.ran)
            return await script(feedback)

        return request

    def tools(self, run: RunRecord) -> list[Tool]:
        async def query(key: str) -> object:
            run.queries[key] = run.queries.get(key, 0) + 1
            match self.next(self.answers):
                case "tells":
                    return Applied("found") if self.record.effects.get(key) else ABSENT
                case "raises":
                    raise RuntimeError(SECRET)
                case "hangs":
                    await hang()
            return UNKNOWN

        async def check(_: object) -> object:
            if self.check == "hangs":
                await hang()
            return SECRET if self.check == "no" else None

        schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
        more: dict[str, Any] = {"query": query if self.asks else None, "effect": self.record.effect}
        return [
            Tool("save", schema, partial(self.act, "save"), check=check, **more),
            Tool("other", None, partial(self.act, "other"), **more),
        ]

    async def authorize(self, batch: Any) -> bool:
        if self.host == "hangs":
            await hang()
        if self.host == "raises":
            raise RuntimeError(SECRET)
        if self.host == "yes":
            self.record.allowed.append(tuple(f"{call.name} {call.arguments}" for call in batch))
        return bool(self.host == "yes")

    async def act(self, tool: str, arguments: Any, context: Context) -> str:
        """What the tool does now; its effect is the world's, and outlives the process."""
        self.record.ran.append(RanTool(context.key, context.try_number, f"{tool} {json.dumps(arguments)}"))
        act = self.next(self.acts)
        await anyio.sleep(0)
        if act in ("works", "raises after", "hangs after", "crashes after"):
            happened = self.record.effects.get(context.key, 0)
            self.record.effects[context.key] = 1 if self.record.effect != "once" else happened + 1
        if act.startswith("crashes"):
            self.crashed = True
            self.ledger.fails = lambda _, __: "before"
            raise Crash
        if act == "fails":
            raise ToolFailed(SECRET)
        if act.startswith("raises"):
            raise RuntimeError(SECRET)
        if act.startswith("hangs"):
            await hang()
        return f"saved {SECRET}"

    def next(self, acts: list[str]) -> str:
        return acts.pop(0) if len(acts) > 1 else acts[0]

    def mischief(self, kind: str, number: int) -> Any:
        """What happens to the ledger in this run."""

        def steal(_: int, name: str) -> None:
            if name == "claim":
                self.ledger.fails = lambda _, __: None
                planned = [one for one in self.ledger.of_turn(self.id) if one.state == "planned"]
                self.ledger.claim(planned[0].key, owner="other", lease=0)

        def overtake(_: int, name: str) -> str | None:
            if name != "record":
                return None
            self.ledger.fails = lambda _, __: None
            for one in self.ledger.of_turn(self.id):
                if one.state == "started" and self.record.effect != "once":
                    self.ledger.extend(one.key, owner=one.owner or "", number=one.tries, lease=0)
                    self.ledger.take_over(one, owner="other", lease=0)
                    if one.tries < POLICY.tries:
                        self.ledger.retry(one.key, owner="other", number=one.tries, lease=0)
            return "before"

        at = {"fails": "before", "fails after": "after"}
        return {
            "none": lambda _, __: None,
            "goes away": lambda made, _: "before" if made >= number else None,
            "is full": lambda made, name: "before" if name in WRITES and made >= number else None,
            "forgets": of("record", 1 + number % 3),
            "steals": steal,
            "overtakes": overtake,
        }.get(kind, lambda made, _: at[kind] if made == number else None)


ELSEWHERE = {
    "O08": "only a tool in a thread answers after it was given up, and these run in the loop",
}
"""Rows that are reached elsewhere, and why."""


@pytest.mark.usefixtures("untraced")
def test_whole_turns() -> None:
    """Drawn by Hypothesis, which shrinks what it finds."""
    run_state_machine_as_test(
        TurnMachine,
        settings=settings(
            max_examples=40,
            stateful_step_count=12,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_turns_that_are_dealt_reach_every_row() -> None:
    """Dealt evenly, which Hypothesis does not do: every row of turn and operation, and every end."""
    TurnMachine.rows.clear()
    TurnMachine.runs.clear()
    deal = Random(10)  # noqa: S311 - a choice of cases
    machine = TurnMachine()
    machine.begin()
    for number in range(DEALT):
        facts = RESPONSE if number % 4 == 0 and not machine.ledger.recover() else BATCH
        dealt = {name: deal.choice(values) for name, values in facts.items()}
        (machine.run_response if facts is RESPONSE else machine.run_batch)(**dealt)
        machine.invariants_hold()
    rows = {row.id for table in (TURN, SPEC.table("operation")) for row in table.rows}

    assert sorted(rows - set(TurnMachine.rows)) == sorted(ELSEWHERE)
    assert {f"end {state.name}" for state in TURN.finals} <= set(TurnMachine.runs)
    assert TurnMachine.runs["crashes"] > 20
