"""One machine as a table: immutable, and ready to be asked.

Nothing here reads a file (`load` does) or judges one (`check` does), and nothing else moves state: whoever
runs a machine asks its table for the row.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Literal

MACHINES = (
    "routing",
    "identity",
    "name",
    "arguments",
    "stream",
    "proposal",
    "turn",
    "operation",
)
"""Every machine, in the order in which they are read and printed. Each is one file."""

CARRIED = "carried"
"""The fault of a row that passes on the fault which came with its input."""

Evidence = Literal["synthetic", "reconstructed", "recorded", "live"]
"""How strong a source is; a level never passes for another (article 1 §4, §6)."""


@dataclass(frozen=True, slots=True)
class State:
    """Where a machine rests.

    Attributes:
        name: The state's name, one word.
        about: What holds in this state, in one line.
        final: Nothing leaves this state.
        good: A final state that is no refusal.
        sees: The inputs that can arrive here; empty means all of them.
    """

    name: str
    about: str
    final: bool = False
    good: bool = False
    sees: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Input:
    """One class of what can arrive; the inputs of a machine are a partition.

    Attributes:
        name: The input's name.
        about: What belongs to this class, in one line.
        values: The wire texts of this class, where it is defined by listing them.
        carries: The faults that can come with this input, where no other machine's row names them.
    """

    name: str
    about: str
    values: tuple[str, ...] = ()
    carries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One transition: in `state`, on `input`, where `when` holds, go to `next`.

    Attributes:
        id: Permanent and never reused.
        state: A live state of the machine.
        input: An input of the machine.
        next: The state afterwards, live or final.
        why: One sentence that a newcomer understands.
        source: `article-1 §2`, `article-2`, `design` or a public report.
        when: A conjunction of guard literals, such as `latest & !others_absent`; empty always holds.
        effect: What is done, by name; empty means nothing.
        fault: Why it is refused, by name, or `carried`; empty where nothing is.
    """

    id: str
    state: str
    input: str
    next: str
    why: str
    source: str
    when: str = ""
    effect: str = ""
    fault: str = ""

    @property
    def guards(self) -> dict[str, bool]:
        """The guards this row asks for and the truth it wants of each."""
        literals = (part.strip() for part in self.when.split("&") if part.strip())
        return {literal.lstrip("! "): not literal.startswith("!") for literal in literals}

    def holds(self, guards: Mapping[str, bool]) -> bool:
        """Whether every guard of this row has the truth it wants (KeyError: a guard is not given)."""
        return all(guards[name] is truth for name, truth in self.guards.items())

    @property
    def evidence(self) -> Evidence:
        """The level of this row's source; see `evidence_of`."""
        return evidence_of(self.source)


def evidence_of(source: str) -> Evidence:
    """The evidence level of a row's source.

    The articles and the design argue from controlled examples; a public report was rebuilt as a shape.
    """
    prose = source.startswith(("article-", "design"))
    return "synthetic" if prose else "reconstructed"


_OF_RESPONSE = ("one per choice", "one per call", "one per response")
"""The scopes of machines that one response moves."""

ROW_COLUMNS = tuple(field.name for field in fields(Row))
ROW_MANDATORY = ("id", "state", "input", "next", "why", "source")


def assignments(guards: Iterator[str] | tuple[str, ...]) -> Iterator[dict[str, bool]]:
    """Every assignment of truth to these guards, so that a claim about guards is proved, not sampled."""
    names = tuple(guards)
    for truths in itertools.product((True, False), repeat=len(names)):
        yield dict(zip(names, truths, strict=True))


@dataclass(frozen=True, slots=True)
class Table:
    """One machine: its states, inputs and rows, in the order of its file.

    Attributes:
        machine: The machine's name, that of its file.
        scope: How many there are, such as "one per call".
        about: The question that the machine answers.
        initial: The live state it begins in.
        states: The live states and then the finals.
        inputs: A partition: exactly one holds of every possible value.
        guards: Name and meaning of each guard.
        effects: Name and meaning of each effect.
        rows: The transitions.
    """

    machine: str
    scope: str
    about: str
    initial: str
    states: tuple[State, ...]
    inputs: tuple[Input, ...]
    guards: tuple[tuple[str, str], ...]
    effects: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]

    def state(self, name: str) -> State:
        """The state of this name (KeyError: there is none)."""
        return {state.name: state for state in self.states}[name]

    def input(self, name: str) -> Input:
        """The input of this name (KeyError: there is none)."""
        return {input.name: input for input in self.inputs}[name]

    @property
    def of_response(self) -> bool:
        """Whether one response moves it: what moves the others comes after a response was read."""
        return self.scope in _OF_RESPONSE

    @property
    def live(self) -> tuple[State, ...]:
        """The states that something can leave."""
        return tuple(state for state in self.states if not state.final)

    @property
    def finals(self) -> tuple[State, ...]:
        """The states that nothing leaves."""
        return tuple(state for state in self.states if state.final)

    def sees(self, state: str) -> tuple[str, ...]:
        """The inputs that can arrive in this state, in the order of the table; none in a final."""
        found = self.state(state)
        names = tuple(input.name for input in self.inputs)
        if found.final:
            return ()
        return tuple(name for name in names if name in found.sees) if found.sees else names

    def cell(self, state: str, input: str) -> tuple[Row, ...]:
        """The rows of one state and input; their guards tell them apart."""
        return tuple(row for row in self.rows if row.state == state and row.input == input)

    def cell_guards(self, state: str, input: str) -> tuple[str, ...]:
        """The guards that decide within one cell, in the order of the table."""
        asked = {name for row in self.cell(state, input) for name in row.guards}
        return tuple(name for name, _ in self.guards if name in asked)

    def into(self, state: str) -> tuple[Row, ...]:
        """The rows that lead into this state."""
        return tuple(row for row in self.rows if row.next == state)

    def cells(self) -> Iterator[tuple[str, str, dict[str, bool], Row]]:
        """Every (state, input, guard assignment) that can be met, with its row."""
        for state in self.live:
            for input in self.sees(state.name):
                rows = self.cell(state.name, input)
                for guards in assignments(self.cell_guards(state.name, input)):
                    yield state.name, input, guards, next(r for r in rows if r.holds(guards))

    def classify(self, value: str) -> str:
        """The input whose listed values hold this wire text; where none does, the one named `*_other`.

        Errors:
            LookupError: No input of this machine lists values.
        """
        for input in self.inputs:
            if value in input.values:
                return input.name
        for input in self.inputs:
            if input.name.endswith("_other"):
                return input.name
        raise LookupError(f"no input of the machine {self.machine} lists values")
