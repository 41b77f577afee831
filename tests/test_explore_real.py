"""The model and the assembler agree: the frames of a walk through the one take the other the same way."""

from __future__ import annotations

from collections import Counter
from functools import cache
from random import Random

import pytest
from real import of_assembler

from wholecall import Assembler, Limits
from wholecall.explore.batches import Batches
from wholecall.explore.frames import lines
from wholecall.explore.machines import Machines, Move
from wholecall.explore.responses import Over, Response, Responses
from wholecall.explore.scope import LIMIT, Scope
from wholecall_spec.load import load

pytestmark = pytest.mark.usefixtures("untraced")

SPEC = load()
SCOPES = {Scope(calls=1): 2500, Scope(): 300, Scope(choices=2, calls=3): 100}
"""How often to walk in each."""

PATIENCE = 0.9
"""How often a move that would end the walk is passed over."""
BEGIN = Move(("started",), (), None)
TOOLS = [{"type": "function", "function": {"name": "t", "parameters": {}}}]


@cache
def kinds(model: Responses, response: Response) -> dict[str, list[Move]]:
    """The moves of a response by what comes, so that what comes in few ways comes as often."""
    found: dict[str, list[Move]] = {}
    for move in model.moves(response):
        found.setdefault(move.event[0], []).append(move)
    return found


def walk(model: Responses, seed: int, seen: Counter[str]) -> None:
    """Go through the model at random, and through the assembler with the same frames."""
    deal = Random(seed)  # noqa: S311 - a choice of cases
    scope = model.scope
    assembler = Assembler(limits=Limits(calls=scope.calls, name=LIMIT, arguments=LIMIT), tools=TOOLS)
    response: Response | Over = model.begin
    rows: list[str] = []
    while isinstance(response, tuple) and not isinstance(response, Over) and not assembler.ended:
        by_kind = kinds(model, response)
        move = deal.choice(by_kind[deal.choice([*sorted(by_kind), *["fragment"] * 12])])
        if move.fault and deal.random() < PATIENCE:
            continue
        response, fault = move.after, move.fault
        rows += move.rows
        if move.event[0] in ("eof", "abort"):
            assembler.close(aborted=move.event[0] == "abort")
        else:
            (frame,) = lines([BEGIN, move])
            assembler.feed(frame)
        if isinstance(response, Over):
            assert tuple(choice.node.states[0] for choice in assembler.choices()) == response.streams
            assert assembler.close().fault == fault
        else:
            assert of_assembler(assembler) == response
    if not isinstance(response, Over):
        rows += judged(Batches(model.machines), response, assembler)
    assert list(assembler.close().rows) == rows
    seen.update(rows)


def judged(batches: Batches, response: Response, assembler: Assembler) -> list[str]:
    """Judge a response that was read whole, as the assembler does."""
    rows: list[str] = []
    proposal = fault = ""
    while move := batches.judge(response, proposal, fault):
        (response, proposal), fault = move.after, move.fault
        rows += move.rows
    assert (assembler.close().fault or "", assembler.proposal) == (fault, proposal)
    return rows


def test_the_assembler_goes_where_the_model_goes() -> None:
    seen: Counter[str] = Counter()
    for scope, walks in SCOPES.items():
        model = Responses(Machines(SPEC), scope, every=True)
        for seed in range(walks):
            walk(model, seed, seen)
    machines = ("stream", "identity", "name", "arguments")
    rows = {row.id for machine in machines for row in SPEC.table(machine).rows}

    assert rows <= set(seen), "the walks meet every row of a response"
