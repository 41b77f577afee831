"""What one machine tells another: decision tables over the states in which machines rest.

No `if` in the code decides it; whoever runs the machines asks the join for its row.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from wholecall_spec.table import assignments

NOTHING = "nothing"
"""What a join gives where the other machine hears nothing yet."""

ABSENT = "absent"
"""Where a machine rests that was not begun."""


@dataclass(frozen=True, slots=True)
class Column:
    """A machine that a join reads: `each` of its instances or the `one`, and where it may rest."""

    machine: str
    of: Literal["one", "each"]
    states: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """A yes or no that a join reads beside the states.

    Attributes:
        name: The fact's name, a column of the join.
        about: What is true where the fact holds.
        values: The wire texts that make it true, where it is defined by listing them.
    """

    name: str
    about: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JoinRow:
    """One row of a join; `cells` maps a column's name to its text, and a column left out is free."""

    id: str
    cells: tuple[tuple[str, str], ...]
    gives: str
    why: str
    source: str


Seen = Mapping[str, frozenset[str]]
"""The states in which the instances of each machine rest; none, where there is no instance."""


@dataclass(frozen=True, slots=True)
class Join:
    """What one machine tells another: a decision table, its rows tried in the order they stand.

    Attributes:
        name: The join's name.
        about: When it is read and what it says.
        to: The machines that hear it, or `response` for an outcome.
        reads: The machines it looks at.
        facts: What else it asks.
        rows: The first row that holds decides.
    """

    name: str
    about: str
    to: tuple[str, ...]
    reads: tuple[Column, ...]
    facts: tuple[Fact, ...]
    rows: tuple[JoinRow, ...]

    def holds(self, row: JoinRow, seen: Seen, facts: Mapping[str, bool]) -> bool:
        """Whether every cell of the row agrees with what is seen."""
        of = {column.machine: column.of for column in self.reads}
        for name, text in row.cells:
            if name not in of:
                agrees = facts[name] is (text == "yes")
            elif of[name] == "each":
                agrees = _agrees_each(text, seen[name])
            else:
                agrees = _agrees_one(text, next(iter(seen[name]), ABSENT))
            if not agrees:
                return False
        return True

    def decide(self, seen: Seen, facts: Mapping[str, bool] | None = None) -> JoinRow:
        """The first row that holds (LookupError: none does, which a checked join excludes)."""
        for row in self.rows:
            if self.holds(row, seen, facts or {}):
                return row
        raise LookupError(f"no row of the join {self.name} holds")

    def situations(self) -> Iterator[tuple[dict[str, frozenset[str]], dict[str, bool]]]:
        """Everything the join can see, so that "complete" is proved, not sampled."""
        ranges: list[list[frozenset[str]]] = []
        for column in self.reads:
            singles = [frozenset((s,)) for s in column.states]
            ranges.append([frozenset(), *singles] if column.of == "one" else list(_subsets(column.states)))
        for states in itertools.product(*ranges):
            seen = {c.machine: s for c, s in zip(self.reads, states, strict=True)}
            for facts in assignments(tuple(fact.name for fact in self.facts)):
                yield seen, facts


def _agrees_one(text: str, state: str) -> bool:
    wanted = text.removeprefix("!").split()
    return (state in wanted) is not text.startswith("!")


def _agrees_each(text: str, states: frozenset[str]) -> bool:
    quantifier, *wanted = text.split()
    if quantifier == "none":
        return not states
    return bool(states & set(wanted)) if quantifier == "some" else states <= set(wanted)


def _subsets(names: tuple[str, ...]) -> Iterator[frozenset[str]]:
    for size in range(len(names) + 1):
        yield from map(frozenset, itertools.combinations(names, size))
