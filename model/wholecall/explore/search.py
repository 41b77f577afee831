"""Breadth first through every state of the whole, so that the first run to anything is a shortest one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from wholecall.explore.machines import Machines, Move, RowError, Unseen
from wholecall.explore.scope import COVERING, Scope
from wholecall.explore.states import State
from wholecall.explore.turns import Turns
from wholecall_spec.load import problem_of_row, problem_of_state
from wholecall_spec.page import Problem
from wholecall_spec.spec import Spec
from wholecall_spec.statements import (
    EVERY_FINAL,
    EVERY_ROW,
    SETTLED_AFTER_NULL,
    SETTLED_AFTER_REGENERATION,
    STATEMENTS,
    Statement,
    always_ends,
    bounded_attempts,
    limits_kept,
    no_invented_id,
)

Progress = Callable[[int, int], object]
"""Is told now and then how many states were found, and how many of them wait."""

Run = tuple[Move, ...]
"""The moves from the beginning."""

_EVERY: Final = 2000
_ENDLESS: Final = frozenset(one.name for one in (bounded_attempts, limits_kept, no_invented_id))
"""A run that breaks one of these goes no further. What is left is finite, whatever the tables say: there are
so many ids, attempts, queries and tries, texts are so long, and a try has one effect at most."""

_NEED_NOT_COME: Final = ("cancel", "run again", "writes")
"""What the world can do, and may never do."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A statement that does not hold.

    Attributes:
        name: The statement.
        run: The shortest run that shows it; empty where it is that there is no run.
        rows: The rows that never fire, where it is about rows.
    """

    name: str
    run: Run = ()
    rows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """What was found.

    Attributes:
        scope: The bounds.
        states: How many states there are.
        transitions: How many moves, those that lead where they began included.
        seconds: How long it took.
        fired: The ids of the rows that fired.
        unseen: Every input that came where there is no row for it.
        looked_at: The statements that were looked at.
        violations: Each of them that does not hold.
    """

    scope: Scope
    states: int
    transitions: int
    seconds: float
    fired: frozenset[str]
    unseen: tuple[Unseen, ...]
    looked_at: tuple[Statement, ...]
    violations: tuple[Violation, ...]

    @property
    def invariants(self) -> tuple[tuple[str, str, bool], ...]:
        """Name and kind of each statement that was looked at, and whether it holds."""
        broken = {one.name for one in self.violations}
        return tuple((one.name, one.kind, one.name not in broken) for one in self.looked_at)


def explore(spec: Spec, scope: Scope, progress: Progress = lambda _, __: None) -> Exploration:
    """Visit every state, and look at every statement.

    Args:
        spec: The tables.
        scope: The bounds. Rows that need others are looked for in the scopes that cover them all.
        progress: Is told how it goes.

    Errors:
        RowError: A row says what cannot be explored.
    """
    search = Search(spec, scope, progress)
    search.run()
    fired, unseen = covered(spec)
    fired |= search.machines.fired
    violations = [*search.broken(), *search.without_end(), *search.impossible(), *_silent(spec, fired)]
    return Exploration(
        scope=scope,
        states=len(search.states),
        transitions=sum(map(len, search.after)),
        seconds=search.seconds,
        fired=frozenset(fired),
        unseen=tuple(dict.fromkeys((*search.machines.unseen, *unseen))),
        looked_at=tuple(filter(search.looks_at, STATEMENTS)),
        violations=tuple(violations),
    )


def covered(spec: Spec) -> tuple[set[str], dict[Unseen, None]]:
    """The rows that fire in the covering scopes, and the inputs that came where there is no row for them.

    Errors:
        RowError: A row says what cannot be explored.
    """
    fired: set[str] = set()
    unseen: dict[Unseen, None] = {}
    for scope in COVERING:
        search = Search(spec, scope)
        search.run()
        fired |= search.machines.fired
        unseen |= search.machines.unseen
    return fired, unseen


def problems(spec: Spec, directory: Path | Traversable | None = None) -> list[Problem]:
    """What the covering scopes show to be wrong with tables that are sound by themselves, each with its line.

    Args:
        spec: The tables.
        directory: The folder they were read from; the packaged one by default.
    """
    try:
        fired, unseen = covered(spec)
    except RowError as error:
        return [problem_of_row(error.row, error.what, directory)]
    never = "it never fires: nothing that can come leads to it"
    found = [problem_of_row(row, never, directory) for row in silent(spec, fired)]
    for machine, state, input in unseen:
        what = f"it gets {input}, which it claims not to see"
        found.append(problem_of_state(machine, state, what, directory))
    return sorted(found)


def silent(spec: Spec, fired: set[str]) -> list[str]:
    """The rows that did not fire, in the order of the tables and joins."""
    rows = [row.id for table in spec.tables for row in table.rows]
    rows += [row.id for join in spec.joins for row in join.rows]
    return [row for row in rows if row not in fired]


def _silent(spec: Spec, fired: set[str]) -> Iterator[Violation]:
    never = silent(spec, fired)
    if never:
        yield Violation(EVERY_ROW.name, rows=tuple(never))
    for table in spec.tables:
        for state in table.finals:
            into = [row.id for row in table.into(state.name)]
            if not fired.intersection(into):
                yield Violation(EVERY_FINAL.name, rows=tuple(into))


class Search:
    """One search.

    Args:
        spec: The tables.
        scope: The bounds.
        progress: Is told how it goes.

    Attributes:
        states: Every state, in the order in which it was found.
        after: For each state, where its moves lead, as places in `states`.
        seconds: How long it took.
    """

    def __init__(self, spec: Spec, scope: Scope, progress: Progress = lambda _, __: None) -> None:
        self.machines = Machines(spec)
        self.turns = Turns(self.machines, scope)
        self.states: list[State] = [self.turns.begin]
        self.after: list[tuple[int, ...]] = []
        self.seconds = 0.0
        self._progress = progress
        self._before = [0]
        self._goes_on = bytearray(1)
        self._broken: dict[str, tuple[int, Move]] = {}

    def run(self) -> None:
        """Visit every state; a run that leaves a bound goes no further."""
        started = time.perf_counter()
        states, before, moves = self.states, self._before, self.turns.moves
        places = {self.turns.begin: 0}
        for here, state in enumerate(states):
            found = []
            for event, _, target, _, broken in moves(state):
                if broken:
                    self._note(here, target)
                    if not _ENDLESS.isdisjoint(broken):
                        continue
                if target != state and event[0] not in _NEED_NOT_COME:
                    self._goes_on[here] = 1
                there = places.setdefault(target, len(states))
                if there == len(states):
                    states.append(target)
                    before.append(here)
                    self._goes_on.append(0)
                found.append(there)
            self.after.append(tuple(found))
            if here % _EVERY == 0:
                self._progress(len(states), len(states) - here)
        self.seconds = time.perf_counter() - started

    def _note(self, here: int, target: State) -> None:
        for move in self.turns.moves(self.states[here]):
            for name in move.broken if move.after == target else ():
                self._broken.setdefault(name, (here, move))

    def run_to(self, here: int) -> Run:
        """A shortest run to a state, by its place."""
        run: list[Move] = []
        while here:
            before = self._before[here]
            state = self.states[here]
            run.append(next(move for move in self.turns.moves(self.states[before]) if move.after == state))
            here = before
        return tuple(reversed(run))

    # -- what was found ----------------------------------------------------------------------------------

    def broken(self) -> Iterator[Violation]:
        """Each invariant that a move breaks, with the shortest run that ends in one."""
        for name, (here, move) in self._broken.items():
            yield Violation(name, (*self.run_to(here), move))

    def without_end(self) -> Iterator[Violation]:
        """A run that goes on for ever, or that stops where the turn is not over: the shortest to that place.

        A move that leads where it began is no run that goes on: whatever came, nothing changed. And nobody
        may have to wait for what need not come.
        """
        finals = self.turns.finals
        stuck = [
            here
            for here, state in enumerate(self.states)
            if not self._goes_on[here] and not always_ends.holds(state.turn, finals)
        ]
        round = self._first_on_a_circle() if not stuck else None
        if stuck or round is not None:
            yield Violation(always_ends.name, self.run_to(stuck[0] if stuck else round or 0))

    def _first_on_a_circle(self) -> int | None:
        """The first state from which a run comes back to it; None where none does."""
        open_: dict[int, Iterator[int]] = {}
        done = bytearray(len(self.states))
        path = [0]
        while path:
            here = path[-1]
            rest = open_.setdefault(here, iter(self.after[here]))
            for there in rest:
                if there in open_ and not done[there] and there != here:
                    return there
                if not done[there] and there not in open_:
                    path.append(there)
                    break
            else:
                done[here] = 1
                path.pop()
        return None

    def impossible(self) -> Iterator[Violation]:
        """What must be possible and is not, beside rows and finals."""
        settled = [here for here, state in enumerate(self.states) if state.turn == "settled"]
        passed = [self.turns.begin, *(move.after for here in settled[:1] for move in self.run_to(here))]
        if not any(map(self.turns.null_continuation, passed)):
            yield Violation(SETTLED_AFTER_NULL.name)
        again = any(self.states[here].attempts > 1 for here in settled)
        if self.looks_at(SETTLED_AFTER_REGENERATION) and not again:
            yield Violation(SETTLED_AFTER_REGENERATION.name)

    def looks_at(self, statement: Statement) -> bool:
        """Whether a statement can both hold here and not hold: within one attempt, none is made again."""
        within = self.turns.scope.attempts
        return statement.explored and (statement != SETTLED_AFTER_REGENERATION or within > 1)
