"""The ledger fails at each of its calls, or for good: no tool runs unrecorded, and no result is lost."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from turns import BROKEN, FAILED, FAST, TWO, Acts, Script, Stage, hang, left, nth

from wholecall.turn.ledger_records import LedgerUnavailableError
from wholecall.turn.result import Ran, Result
from wholecall.turn.tools import ABSENT, UNKNOWN, Applied
from wholecall_generated.tables import SPEC

pytestmark = pytest.mark.usefixtures("untraced")

SITUATIONS: dict[str, dict[str, Any]] = {
    "runs": {},
    "two run": {"replies": [TWO]},
    "two run at once": {"replies": [TWO], "policy": replace(FAST, concurrency=2)},
    "fails": {"save": [FAILED]},
    "is found": {"save": [BROKEN], "query": [Applied("found")]},
    "is retried": {"save": [BROKEN, "saved"], "query": [ABSENT]},
    "is absent, and no try is left": {"save": [BROKEN], "query": [ABSENT]},
    "is unknown": {"save": [BROKEN], "query": [UNKNOWN]},
    "is idempotent": {"save": [BROKEN, "saved"], "effect": "idempotent"},
    "two, and one is retried": {"replies": [TWO], "save": [BROKEN, "saved"], "query": [ABSENT]},
    "only reads": {"save": ["saved"], "effect": "none"},
    "is interrupted": {"replies": [TWO], "save": [hang], "interrupted": True},
    "was started": {"left": ["started"], "query": [Applied("found")]},
    "was started, and is retried": {"left": ["started"], "query": [ABSENT]},
    "was uncertain, and is repeated": {"left": ["uncertain"], "effect": "idempotent"},
    "was started beside one that ended": {"left": ["succeeded", "started"]},
    "was started beside one that was not": {"left": ["started", "planned"], "query": [Applied("found")]},
    "was planned": {"left": ["planned", "planned"]},
    "was a read": {"left": ["started"], "effect": "none"},
}
OPERATION = SPEC.table("operation")


def situation(name: str) -> Stage:
    facts: dict[str, Any] = dict(SITUATIONS[name])
    facts |= {key: Acts(facts[key]) for key in ("save", "query") if key in facts}
    ledger = left(*facts.pop("left", ()))
    now = itertools.count(2_000_000_000, 1000)  # whoever looks finds every lease run out
    ledger._clock = lambda: next(now)
    return Stage(**facts, ledger=ledger)


def ran(stage: Stage) -> list[Any]:
    return [call[1] for acts in (stage.save, stage.other) for call in acts.calls]


def check(stage: Stage, fails: Callable[[int, str], str | None]) -> Result:
    """Run the turn on a ledger that fails; what must hold in any case, now and when it is run again."""
    stage.ledger.fails = fails
    asked = False
    try:
        stage.run()
    except LedgerUnavailableError as error:
        asked = error.attempted == "of_turn"
    assert stage.turn is not None
    result = stage.turn.result()
    stage.ledger.fails = lambda _, __: None
    kept = {one.key: one for one in stage.on_record}
    tries = {(key, one.number) for key in kept for one in stage.ledger.tries(key)}
    ended = SPEC.table("turn").state(result.end)

    assert ended.final
    assert ended.good or result.fault
    assert not asked or (stage.requests, ran(stage)) == (0, [])
    assert {(context.key, context.try_number) for context in ran(stage)} <= tries
    for one in result.operations:
        assert one.fault or one.state == "succeeded"
        if one.state == "succeeded":
            assert kept[one.key].state == "succeeded"
    runs = stage.save.count
    if stage.interrupted:
        stage.save.acts = ["saved"]
    again = stage.run(script=Script([TWO]), interrupted=False)

    assert not tries or stage.requests == 0
    assert "started" not in [one.state for one in stage.on_record]
    assert all(one.state == kept.state for one, kept in zip(again.operations, last_batch(stage), strict=True))
    if stage.effect == "once" and not (stage.query and ABSENT in stage.query.acts) and tries:
        assert stage.save.count == runs
    return result


def last_batch(stage: Stage) -> list[Any]:
    last = max((one.attempt for one in stage.on_record), default=0)
    return [one for one in stage.on_record if one.attempt == last]


@pytest.mark.parametrize("how", ["before", "after"])
@pytest.mark.parametrize("name", SITUATIONS)
def test_the_ledger_fails_at_each_call(name: str, how: str) -> None:
    """Once, before or after it was stored: what is known in the end is what is on record."""
    whole = situation(name)
    whole.run()
    for number in range(1, len(whole.ledger.made) + 1):
        stage = situation(name)
        result = check(stage, nth(number, how=how))
        call = stage.ledger.made[number - 1]  # where two run at once, it may be another than before

        if call == "of_turn":
            assert (result.end, result.operations) == ("cancelled", ())
        if call in ("plan", "claim"):
            assert "ledger.unavailable" in faults(result)
        if call == "record" and name not in ("was planned", "is interrupted") and stage.effect != "none":
            assert [one.state for one in result.operations] == ends(whole)
            assert [one.result for one in result.operations] == results(whole)


def faults(result: Result) -> set[str | None]:
    return {one.fault for one in result.operations}


def of(stage: Stage) -> tuple[Ran, ...]:
    assert stage.turn is not None
    return stage.turn.result().operations


def ends(stage: Stage) -> list[str]:
    return [one.state for one in of(stage)]


def results(stage: Stage) -> list[object]:
    return [one.result for one in of(stage)]


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_ledger_that_goes_away_for_good_ends_the_turn(name: str) -> None:
    """Nothing waits for ever; and what started is in the ledger for whoever resumes the turn."""
    whole = situation(name)
    whole.run()
    for after in range(1, len(whole.ledger.made) + 1):
        check(situation(name), lambda number, _, after=after: "before" if number >= after else None)  # type: ignore[misc]


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_disk_that_is_full_ends_the_turn_too(name: str) -> None:
    """It can still be read, and nothing can be written, from any write on."""
    writes = ("plan", "claim", "retry", "record", "mark_absent", "extend", "take_over")
    whole = situation(name)
    whole.run()
    for after in range(1, 1 + sum(made in writes for made in whole.ledger.made)):
        seen = itertools.count(1)

        def full(_: int, made: str, seen: Any = seen, after: int = after) -> str | None:
            return "before" if made in writes and next(seen) >= after else None

        check(situation(name), full)


@pytest.mark.parametrize("name", ["runs", "two run", "fails"])
def test_what_a_try_said_and_nobody_could_store_is_uncertain_and_says_why(name: str) -> None:
    """The host is told that it is the ledger, where it is all that is known."""
    stage = situation(name)

    def fails(_: int, made: str) -> str | None:
        return "before" if made in ("record", "get") else None

    result = check(stage, fails)

    assert result.operations[0].state == "unresolved"
    assert ("O18" in stage.rows, "ledger.unavailable" in str(stage.events)) == (True, True)


def test_a_batch_that_could_not_be_planned_says_why() -> None:
    result = check(situation("two run"), lambda _, made: "before" if made == "plan" else None)

    assert (result.end, result.fault) == ("cancelled", "turn.interrupted")
    assert [one.fault for one in result.operations] == ["ledger.unavailable"] * 2
    assert [message["role"] for message in result.messages] == ["assistant", "tool", "tool"]
