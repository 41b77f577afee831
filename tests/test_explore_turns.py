"""The model and the real turn agree: a path through the one is played on the other, and each state compared.

See `walks` for which paths can be played, and `world` for how the world is held to them. Where the turn waits
for the world, everything is compared: where the turn is, its requests, the response as far as it was read,
and of each operation its state, its tries, its queries, and what the ledger has of it. Of each machine, the
rows that fired are those of the path, in its order, with their faults. Of two machines the order is not
compared: a turn that is resumed fires its own row before those of what was lost, and the model after them.

A real operation knows less than the model's until its next step where it was lost, or is late to hear an
answer. Its rows are compared when it takes that step. And a cancellation may fire one row more, or less, that
leads where it began and changes nothing (O30). Where it cuts a try, the operation hears it twice: as the end
of the try, and from the turn. Where it comes to a try of an earlier run before this run took that up, all
that the operation hears is that it was lost.

The ledger fails where the model's does: at a claim, and when a result is to be recorded.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random
from typing import Any, Final

import pytest
from player import Player
from turns import Shaky
from virtual import VirtualLoop
from walks import Front, Walk
from world import World, doors

from wholecall.explore.machines import Machines
from wholecall.explore.operations import TOOLS
from wholecall.explore.scope import Scope
from wholecall.explore.turns import Turns
from wholecall_spec.load import load

pytestmark = pytest.mark.usefixtures("untraced")

SPEC: Final = load()
SCOPES: Final = {
    Scope(whole=True): 300,
    Scope(calls=1): 200,
    Scope(calls=1, attempts=1, queries=1, tries=3, whole=True): 300,
    Scope(choices=2, calls=1, whole=True): 50,
}
"""How many paths of each."""


def test_the_turn_goes_where_the_model_goes() -> None:
    seen: Counter[str] = Counter()
    with doors() as worlds, asyncio.Runner(loop_factory=VirtualLoop) as runner:
        loop: Any = runner.get_loop()
        ledger = Shaky(clock=loop.time)
        for scope, walks in SCOPES.items():
            turns = Turns(Machines(SPEC), scope)
            front = Front(turns)
            for number in range(walks):
                deal = Random(number)  # noqa: S311 - a choice of cases
                tool = TOOLS[number % len(TOOLS)]
                path = list(Walk(front, turns, tool, deal, seen).path())
                worlds.append(World(loop, ledger, f"{scope} {number}", scope, tool))
                try:
                    runner.run(Player(worlds[-1], turns, deal).play(path))
                except AssertionError as error:
                    error.add_note(f"{tool}: {[step.move.event for step in path]}")
                    raise
    rows = {row.id for machine in ("turn", "proposal", "operation") for row in SPEC.table(machine).rows}

    assert rows <= set(seen), "the paths meet every row of a turn and of its operations"
