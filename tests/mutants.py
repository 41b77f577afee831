"""Every single-row mutant of the machines of a response: does a campaign tell it from the tables?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from wholecall.cases import ABORT, EOF
from wholecall.engine import NO_GUARDS, Compiled, Step, step_of
from wholecall.fuzz.reading import MACHINES, Expected, Reading
from wholecall.fuzz.sender import Sender
from wholecall.fuzz.walk import Coverage, Dealer, limits_of
from wholecall.limits import Limits
from wholecall.text import joined
from wholecall_generated.tables import SPEC
from wholecall_spec.table import CARRIED, Row, Table


class Mutant(NamedTuple):
    """A row, and what is done instead of what it says.

    Attributes:
        table: Its table.
        row: The row.
        what: What is changed: next, effect, fault or guard.
        step: What is done instead.
        anyway: Whether it is done wherever its cell is asked, whatever the guards say.
    """

    table: Table
    row: Row
    what: str
    step: Step
    anyway: bool = False

    def __str__(self) -> str:
        told = {"next": self.step.state, "effect": self.step.effect, "fault": self.step.fault}
        return f"{self.row.id} {self.what} {told.get(self.what, '')}".strip()


def mutants() -> Iterator[Mutant]:
    """Each row of a machine of a response with one thing changed."""
    for machine in MACHINES:
        table = SPEC.table(machine)
        for row in table.rows:
            yield from _of_row(table, row)


def _of_row(table: Table, row: Row) -> Iterator[Mutant]:
    step = step_of(row)
    for state in table.states:
        if state.name != row.next:
            yield Mutant(table, row, "next", step._replace(state=state.name))
    for effect in ("", *(name for name, _ in table.effects)):
        if effect != row.effect:
            yield Mutant(table, row, "effect", step._replace(effect=effect))
    others = {r.fault for r in table.rows} - {row.fault}
    for fault in sorted(others):
        yield Mutant(table, row, "fault", step._replace(fault=fault))
    if row.when:
        yield Mutant(table, row, "guard", step, anyway=True)


class Engine(Compiled):
    """The compiled engine with one step changed."""

    def __init__(self, mutant: Mutant) -> None:
        super().__init__(SPEC)
        cell = (mutant.table.machine, mutant.row.state, mutant.row.input)
        guards, steps = self._cells[cell]
        self._cells[cell] = (
            guards,
            {
                truths: mutant.step if mutant.anyway or step.row == mutant.row.id else step
                for truths, step in steps.items()
            },
        )
        self.left = 0

    def step(self, machine: str, state: str, input: str, guards: Mapping[str, bool] = NO_GUARDS) -> Step:
        """See `Engine.step`; a mutant may go in circles."""
        self.left -= 1
        if self.left < 0:
            raise RecursionError
        return super().step(machine, state, input, guards)


_STEPS = 2000
_STREAMS = 100
"""Streams in which a row fires that are looked at, where there is a reason why none tells its mutant."""


def told(engine: Engine, chunks: Sequence[Any], limits: Limits) -> tuple[Any, ...] | None:
    """Outcome, fault and calls of a stream, as this engine has them; None where it fails."""
    engine.left = _STEPS
    assembler = Reading(limits, engine)
    try:
        for chunk in chunks:
            if chunk not in (EOF, ABORT):
                assembler.feed(chunk)
        outcome = assembler.close(chunks[-1] == ABORT)
    except Exception:
        return None
    calls = [
        (call.id or "", call.name, joined(call.arguments))
        for _, choice in sorted(assembler.choices.items())
        for _, call in sorted(choice.calls.items())
    ]
    return outcome, assembler.fault, calls if assembler.fault is None else []


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream of the campaign."""

    chunks: list[Any]
    limits: Limits
    expected: Expected
    steps: int

    @property
    def told(self) -> tuple[Any, ...]:
        """What the tables say."""
        return self.expected.outcome, self.expected.fault, [tuple(call) for call in self.expected.calls]


def campaign(streams: int, seed: int = 0) -> list[Stream]:
    """The streams of a campaign, each with the steps that were taken up to its end."""
    random, known, steps = Random(seed), Coverage(), 0  # noqa: S311 - a choice of streams
    found = []
    for number in range(streams):
        sender = Sender(Dealer(random, known), limits_of(number, own=True))
        sender.send_all()
        known.pairs.update(sender.reading.pairs())
        steps += len(sender.chunks)
        found.append(Stream(sender.chunks, sender.limits, sender.expected, steps))
    return found


def killed(mutant: Mutant, streams: Mapping[str, Sequence[Stream]]) -> int:
    """The steps that the campaign takes until it tells the mutant from the tables; 0 where it never does.

    Args:
        mutant: The mutant.
        streams: Those of the campaign by the rows that fire in them; in others it changes nothing.
    """
    engine = Engine(mutant)
    most = _STREAMS if reason(mutant) else None
    cell = {row.id for row in mutant.table.cell(mutant.row.state, mutant.row.input)}
    rows = cell - {mutant.row.id} if mutant.anyway else {mutant.row.id}
    firing = {id(stream): stream for row in rows for stream in streams.get(row, ())}
    for stream in sorted(firing.values(), key=lambda stream: stream.steps)[:most]:
        if told(engine, stream.chunks, stream.limits) != stream.told:
            return stream.steps
    return 0


def by_row(streams: Sequence[Stream]) -> dict[str, list[Stream]]:
    """The streams by the rows that fire in them."""
    found: dict[str, list[Stream]] = {}
    for stream in streams:
        for row in {*stream.expected.rows}:
            found.setdefault(row, []).append(stream)
    return found


def reason(mutant: Mutant) -> str:
    """Why no stream can tell the mutant from the tables by outcome, fault and calls; empty where one can."""
    table, row, what = mutant.table, mutant.row, mutant.what
    refuses = table.state(row.next).final and not table.state(row.next).good
    if row.state == "shaped":
        return "a tool's own check is asked by a turn"
    if what == "effect":
        return _of_effect(mutant, refuses)
    if what == "fault":
        if row.fault or table.machine == "stream":
            return ""
        if table.machine == "proposal":
            nothing = mutant.step.fault == CARRIED and row.state == table.initial
            return "nothing came that could be carried" if nothing else ""
        if table.machine == "routing" or row.input != "end":
            return "a fault is told only with a refusal"
        return ""
    if what == "guard":
        return ""
    if row.input == "end" and table.machine in ("routing", "arguments"):
        return "no join reads where this machine ends"
    if table.machine == "proposal":
        return _of_proposal(row.next, mutant.step.state)
    return "the states answer every input alike" if alike(table, row.next, mutant.step.state) else ""


def _of_effect(mutant: Mutant, refuses: bool) -> str:
    row, effect = mutant.row, mutant.step.effect
    if refuses:
        return "what a refusing row does to a call is never used"
    if row.input == "end":
        return "an end brings no value"
    if row.input == "empty" and effect:
        return "an empty text adds nothing"
    if row.when == "same_id" and effect == "set_id":
        return "it is the same id"
    if row.effect == "route" and not effect:
        return "routing hands the fragment on; the effect names that"
    if effect == "note_finish" and row.state != mutant.table.initial:
        return "the first finish reason is kept"
    if effect == "note_finish" and row.input == "fragment":
        return "a finish reason decides only where there are no calls"
    return ""


def _of_proposal(state: str, instead: str) -> str:
    """Finals of which the outcome is the same."""
    outcome = SPEC.join("outcome")
    both = [
        outcome.decide({"stream": frozenset(("complete",)), "proposal": frozenset((one,))}).gives
        for one in (state, instead)
    ]
    stages = {row.state for row in SPEC.table("proposal").rows} - {"shaped"}
    return "both give the same outcome" if both[0] == both[1] and not {state, instead} & stages else ""


def alike(table: Table, one: str, other: str) -> bool:
    """Whether two live states answer every input with the same effect and fault, and go to the same state."""
    if table.state(one).final or table.state(other).final or table.sees(one) != table.sees(other):
        return False
    answers = []
    for state in (one, other):
        rows = [(i, tuple(g.items()), row) for s, i, g, row in table.cells() if s == state]
        answers.append(
            [(i, g, row.effect, row.fault, one if row.next == other else row.next) for i, g, row in rows]
        )
    return answers[0] == answers[1]
