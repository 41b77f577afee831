"""What the tables say of a stream: its calls, or the row that refuses it, and every row on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from wholecall.batch import Judgement
from wholecall.cases import ABORT, EOF
from wholecall.engine import Compiled, Engine
from wholecall.limits import Limits
from wholecall.product import FIELDS
from wholecall.reference import ReferenceAssembler
from wholecall.text import joined
from wholecall_generated.tables import SPEC

MACHINES: Final = tuple(table.machine for table in SPEC.tables if table.of_response)
"""The machines that one response moves."""

Pair = tuple[str, str]
"""A row, and the row that fired next in the same machine."""


class SentCall(NamedTuple):
    """A call as it was sent: its id, its name, and its argument text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Expected:
    """What must come of a stream.

    Attributes:
        outcome: The outcome of the response.
        fault: The first fault, where there is one.
        row: The row that refused; empty where none did.
        calls: The calls, where they may run; in ascending order of choice and index.
        rows: The ids of all rows that fired, in order.
    """

    outcome: str
    fault: str | None
    row: str
    calls: tuple[SentCall, ...]
    rows: tuple[str, ...]

    @property
    def legal(self) -> bool:
        """Whether it gives calls, or an answer without any."""
        return self.fault is None


@cache
def compiled() -> Engine:
    """The engine on the packaged tables, made once."""
    return Compiled(SPEC)


@cache
def said(machine: str, state: str) -> str:
    """What the packaged joins tell the stream where a machine is in this state, each decided once."""
    return ReferenceAssembler(compiled()).said(machine, state)


class Reading(ReferenceAssembler):
    """The reference, which also notes what each single machine went through.

    Attributes:
        trails: The rows of each machine of each choice and call, in order.
        row: The id of the row that refused; empty where none did.
    """

    def __init__(self, limits: Limits | None = None, engine: Engine | None = None) -> None:
        self.trails: dict[tuple[int, str], list[str]] = {}
        self.row = ""
        super().__init__(engine or compiled(), limits)

    def last(self, states: Mapping[str, str], machine: str) -> str:
        """The row that one machine fired last; empty where it fired none.

        Args:
            states: The states of its choice or call, which tell whose it is.
            machine: The machine.
        """
        trail = self.trails.get((id(states), machine))
        return trail[-1] if trail else ""

    def pairs(self) -> Iterator[Pair]:
        """Every two rows that fired one directly after the other in one machine."""
        for trail in self.trails.values():
            yield from pairwise(trail)

    def expected(self, aborted: bool = False) -> Expected:
        """Close, and tell what must come of it."""
        outcome = self.close(aborted)
        calls = [
            SentCall(call.id or "", call.name, joined(call.arguments))
            for choice in self.choices.values()
            for _, call in sorted(choice.calls.items())
        ]
        whole = tuple(calls) if self.fault is None else ()
        return Expected(outcome, self.fault, self.row, whole, tuple(self.rows))

    def _step(
        self, states: dict[str, str], machine: str, input: str, truths: Mapping[str, bool]
    ) -> tuple[str, str]:
        found = super()._step(states, machine, input, truths)
        self._trail(id(states), machine, self.rows[-1])
        if found[1] and not self.row:
            self.row = self.rows[-1]
        return found

    def said(self, machine: str, state: str) -> str:
        """See `said`, which is asked again and again."""
        return said(machine, state)

    def _trail(self, whose: int, machine: str, row: str) -> None:
        self.trails.setdefault((whose, machine), []).append(row)

    def _judge(self) -> Judgement:
        judged = super()._judge()
        choices = [self.choices[index] for index in sorted(self.choices)]
        ends = [(id(choice.states), "routing") for choice in choices]
        for choice in choices:
            for _, call in sorted(choice.calls.items()):
                ends += [(id(call.states), machine) for machine in FIELDS]
        for at, fired in enumerate(judged.fired):
            whose = ends[at] if at < len(ends) else (0, fired.machine)
            self._trail(*whose, fired.step.row)
        if judged.findings:
            self.row = judged.findings[0].fired.step.row
        return judged


def expect(chunks: Iterable[object], limits: Limits | None = None) -> Expected:
    """What must come of the `chunks` of a case (errors: see `read_chunks`)."""
    reading = Reading(limits)
    for chunk in chunks:
        if chunk in (EOF, ABORT):
            return reading.expected(aborted=chunk == ABORT)
        reading.feed(chunk)
    return reading.expected()
