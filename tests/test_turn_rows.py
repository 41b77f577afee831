"""Each row of turn and operation is reached through a real turn, one scenario a row."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest
from anyio import from_thread
from turns import (
    BROKEN,
    ERROR,
    FAILED,
    FAST,
    GOOD,
    HALF,
    LENGTH,
    NO_ID,
    NULL_FIRST,
    SECRET,
    TEXT,
    TWO,
    Acts,
    Shaky,
    Stage,
    hang,
    interrupt,
    left,
    of,
    says,
    stall,
)

from wholecall.turn.tools import ABSENT, UNKNOWN, Applied, Context
from wholecall.turn.upstream import Unreachable, UpstreamRefused
from wholecall_generated.tables import SPEC

QUICK = replace(FAST, tool_timeout=0.02)
ONE_TRY = replace(FAST, tries=1)
NOWHERE = Unreachable("SECRET")


def stages(**kinds: Callable[[], Stage]) -> dict[str, Callable[[], Stage]]:
    return kinds


def taken() -> Stage:
    """Another worker claims the key between the plan and the claim, and never comes back."""
    ledger = Shaky()

    def steal(_: int, name: str) -> None:
        if name == "claim":
            ledger.fails = lambda _, __: None
            (one,) = ledger.of_turn("turn")
            ledger.claim(one.key, owner="other", lease=0)

    ledger.fails = steal
    return Stage(ledger=ledger)


def overtaken() -> Stage:
    """A promise of the first try cannot be stored, and meanwhile another worker opened a second one."""
    ledger = Shaky()

    def overtake(_: int, name: str) -> str | None:
        if name != "record":
            return None
        ledger.fails = lambda _, __: None
        (one,) = ledger.of_turn("turn")
        ledger.extend(one.key, owner=one.owner or "", number=1, lease=0)
        ledger.take_over(one, owner="other", lease=0)
        ledger.retry(one.key, owner="other", number=1, lease=0)
        return "before"

    ledger.fails = overtake
    return Stage(save=Acts([FAILED]), ledger=ledger)


def waiting() -> Stage:
    """Interrupted while another worker, who lives, runs a tool that only reads."""
    ledger = left("started", lease=60)

    def stop(_: int, name: str) -> None:
        if name == "take_over":
            from_thread.run_sync(interrupt)

    ledger.fails = stop
    return Stage(ledger=ledger, effect="none", interrupted=True)


class Late:
    """A sync tool: its first try is given up, and promises while the second runs that it wrote nothing."""

    def __init__(self) -> None:
        self.count = 0
        self.second = threading.Event()
        self.first = threading.Event()

    def __call__(self, _: object, context: Context) -> str:
        self.count += 1
        if context.try_number == 1:
            self.second.wait(5)
            self.first.set()
            raise FAILED
        self.second.set()
        self.first.wait(5)
        time.sleep(0.05)  # until what it raised is heard
        return "saved"


STAGES = stages(
    T01=Stage,
    T02=lambda: Stage(ledger=left("started")),
    T03=lambda: Stage([NOWHERE, GOOD]),
    T04=lambda: Stage([NOWHERE]),
    T05=lambda: Stage([UpstreamRefused(429, "SECRET")]),
    T06=lambda: Stage([hang], interrupted=True),
    T07=lambda: Stage([ERROR]),
    T08=lambda: Stage([LENGTH, GOOD]),
    T09=lambda: Stage([LENGTH]),
    T10=lambda: Stage([NULL_FIRST, GOOD]),
    T11=lambda: Stage([NULL_FIRST]),
    T12=Stage,
    T13=lambda: Stage([stall], interrupted=True),
    T14=lambda: Stage([TEXT]),
    T15=lambda: Stage([NO_ID, GOOD]),
    T16=lambda: Stage([NO_ID]),
    T17=lambda: Stage([HALF, GOOD]),
    T18=lambda: Stage([HALF]),
    T19=lambda: Stage([says("{}"), GOOD]),
    T20=lambda: Stage([says("{}")]),
    T21=lambda: Stage(check=Acts(["no"])),
    T22=Stage,
    T23=lambda: Stage(check=Acts([hang]), interrupted=True),
    T24=Stage,
    T25=lambda: Stage(options={"authorize": lambda _: False}),
    T26=lambda: Stage(options={"authorize": hang}, interrupted=True),
    T27=Stage,
    T28=lambda: Stage(save=Acts([BROKEN])),
    T29=lambda: Stage(ledger=Shaky(of("plan"))),
    T30=lambda: Stage(save=Acts([hang]), interrupted=True),
    T31=lambda: Stage(save=Acts([hang]), effect="none", interrupted=True),
    T32=lambda: Stage(save=Acts([BROKEN]), query=Acts([Applied("found")])),
    T33=lambda: Stage(save=Acts([BROKEN]), query=Acts([UNKNOWN, Applied("found")])),
    T34=lambda: Stage(
        [TWO], save=Acts([BROKEN]), query=Acts([Applied("found")]), ledger=Shaky(of("claim", 2))
    ),
    T35=lambda: Stage(save=Acts([BROKEN])),
    T36=lambda: Stage(save=Acts([BROKEN]), query=Acts([hang]), interrupted=True),
    T37=waiting,
    O01=Stage,
    O02=taken,
    O03=lambda: Stage([TWO], save=Acts([hang]), interrupted=True),
    O04=lambda: Stage(ledger=Shaky(of("claim"))),
    O05=Stage,
    O06=lambda: Stage(save=Acts([FAILED])),
    O07=lambda: Stage(save=Acts([BROKEN, FAILED]), effect="idempotent"),
    O08=lambda: Stage(save=cast(Any, Late()), effect="idempotent", timeout=0.5),
    O09=lambda: Stage(save=Acts([BROKEN]), effect="none"),
    O10=lambda: Stage(save=Acts([BROKEN])),
    O11=lambda: Stage(save=Acts([hang]), effect="none", policy=QUICK),
    O12=lambda: Stage(save=Acts([hang]), policy=QUICK),
    O13=lambda: Stage(save=Acts([hang]), effect="none", interrupted=True),
    O14=lambda: Stage(save=Acts([hang]), interrupted=True),
    O15=lambda: Stage(ledger=left("started"), effect="none"),
    O16=lambda: Stage(ledger=left("started")),
    O17=lambda: Stage(ledger=Shaky(of("record", 1)), effect="none"),
    O18=lambda: Stage(ledger=Shaky(of("record", 1))),
    O19=lambda: Stage(ledger=Shaky(of("record", 1))),
    O20=lambda: Stage(save=Acts([FAILED]), ledger=Shaky(of("record", 1))),
    O21=lambda: Stage(save=Acts([BROKEN, FAILED]), effect="idempotent", ledger=Shaky(of("record", 2))),
    O22=overtaken,
    O23=lambda: Stage(save=Acts([BROKEN]), query=Acts([Applied("found")])),
    O24=lambda: Stage(save=Acts([BROKEN, "saved"]), query=Acts([ABSENT])),
    O25=lambda: Stage(save=Acts([BROKEN]), query=Acts([ABSENT]), policy=ONE_TRY),
    O26=lambda: Stage(save=Acts([BROKEN]), query=Acts([UNKNOWN])),
    O27=lambda: Stage(save=Acts([BROKEN, "saved"]), effect="idempotent"),
    O28=lambda: Stage(save=Acts([BROKEN])),
    O29=lambda: Stage(save=Acts([BROKEN]), effect="idempotent"),
    O30=lambda: Stage(save=Acts([BROKEN]), query=Acts([hang]), interrupted=True),
)

TURN, OPERATION = SPEC.table("turn"), SPEC.table("operation")
ROWS = {row.id for table in (TURN, OPERATION) for row in table.rows}
FINAL = {row.id: row.next for row in TURN.rows if TURN.state(row.next).final}


@pytest.mark.parametrize("row", STAGES)
def test_a_row_is_reached_and_shows_no_secret(row: str) -> None:
    """The turn ends where the table says, and neither event, repr nor diagnostic record tells the content."""
    stage = STAGES[row]()
    result = stage.run()
    shown = [repr(stage.events), repr(result), repr(stage.turn), repr(stage.script.told)]
    shown += [repr(found.to_record()) for found in result.diagnostics]

    assert row in stage.rows
    assert result.end in {state.name for state in SPEC.table("turn").finals}
    if row in FINAL:
        assert result.end == FINAL[row]
    assert [text for text in shown if SECRET in text] == []


def test_every_row_has_a_scenario() -> None:
    assert set(STAGES) == ROWS
