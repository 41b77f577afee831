"""One operation in its world: what the ledger has of it, and what really happened.

The world is what the machine cannot see. A try that was begun may write, once, at any time until it is known
never to; it may answer after it was given up; and a process that is gone leaves its tries to the world.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from wholecall.explore.machines import Machines, Move, RowError
from wholecall.explore.scope import Scope
from wholecall_spec.statements import (
    bounded_attempts,
    no_false_certainty,
    one_effect_per_key,
    unknown_never_blindly_retried,
)

RUNS, WROTE, ADRIFT, OVER = "runs", "wrote", "adrift", "over"
"""A try: it runs and has not written; it has written and not answered;
it may still write, and will not answer; nothing comes of it any more."""

_MAY_WRITE: Final = (RUNS, ADRIFT)


class Tool(NamedTuple):
    """What a tool declares: its effect, and whether it has a query."""

    effect: str
    query: bool


TOOLS: Final = tuple(
    Tool(effect, query) for effect in ("once", "idempotent", "none") for query in (True, False)
)


class Operation(NamedTuple):
    """One operation.

    Attributes:
        state: Where its machine is.
        queries: How often it was asked about in this run.
        absent: How many of its tries, from the first, a query promised never to happen.
        tries: What is with each try that was begun.
        effects: How often its effect really happened.
    """

    state: str
    queries: int = 0
    absent: int = 0
    tries: tuple[str, ...] = ()
    effects: int = 0


class Operations:
    """What can come to an operation, and what it then is.

    Args:
        machines: Run the tables.
        scope: The bounds.
    """

    def __init__(self, machines: Machines, scope: Scope) -> None:
        self.machines = machines
        self.scope = scope
        self.begin = Operation(machines.initial("operation"))
        self._moves: dict[tuple[Tool, Operation, bool], list[Move]] = {}

    def moves(self, tool: Tool, one: Operation, asks: bool) -> list[Move]:
        """Every move of one operation.

        Args:
            tool: Its tool.
            one: The operation.
            asks: Whether the turn reconciles; only then it asks about an effect that is not known.
        """
        found = self._moves.get((tool, one, asks))
        if found is None:
            moves = (self.checked(tool, one, move) for move in self._all(tool, one, asks))
            found = self._moves[tool, one, asks] = list(dict.fromkeys(m for m in moves if "" not in m.rows))
        return found

    def _all(self, tool: Tool, one: Operation, asks: bool) -> Iterator[Move]:
        yield from self._writes(tool, one)
        if one.state == self.machines.initial("operation"):
            yield self.step(tool, one, "start")
            yield self.step(tool, one._replace(tries=(*one.tries, ADRIFT)), "taken")
            yield self.step(tool, one, "unrecorded")
        elif one.state == "started":
            yield from self._answers(tool, one)
            yield from self._ends_of_try(tool, one)
        elif one.state == "uncertain":
            yield from self._answers(tool, one)
            if asks:
                yield from self._queries(tool, one)

    def _writes(self, tool: Tool, one: Operation) -> Iterator[Move]:
        """A try writes; nobody sees it."""
        for at, status in enumerate(one.tries):
            if status in _MAY_WRITE and tool.effect != "none":
                effects = one.effects + 1 if tool.effect == "once" else 1
                after = _with(one, at, WROTE if status == RUNS else OVER)._replace(effects=effects)
                yield Move(("writes", at + 1), (), after)

    def _answers(self, tool: Tool, one: Operation) -> Iterator[Move]:
        """A try answers, be it late: its result, or its promise that it wrote nothing."""
        for at, status in enumerate(one.tries):
            if status == WROTE or (status == RUNS and tool.effect == "none"):
                yield self.step(tool, _with(one, at, OVER), "result", at + 1)
            if status == RUNS:
                yield self.step(tool, _with(one, at, OVER), "declared_failure", at + 1)

    def _ends_of_try(self, tool: Tool, one: Operation) -> Iterator[Move]:
        """The latest try ends without an answer."""
        at = len(one.tries) - 1
        status = one.tries[at]
        yield self.step(tool, _with(one, at, ADRIFT if status == RUNS else OVER), "raised")
        yield self.step(tool, one, "timeout")
        if status == WROTE or (status == RUNS and tool.effect == "none"):
            yield self.step(tool, one, "unrecorded")  # it may be recorded later

    def _queries(self, tool: Tool, one: Operation) -> Iterator[Move]:
        """It is asked whether the effect happened, as long as that may be asked."""
        if not tool.query or one.queries >= self.scope.queries:
            yield self.step(tool, one, "unanswerable")
            return
        one = one._replace(queries=one.queries + 1)
        if one.effects:
            yield self.step(tool, one, "found_applied")
        else:
            never = one._replace(tries=(OVER,) * len(one.tries), absent=len(one.tries))
            yield self.step(tool, never, "found_absent")
        yield self.step(tool, one, "unanswerable")

    def step(self, tool: Tool, one: Operation, input: str, number: int = 0) -> Move:
        """The operation sees an input; of try `number`, where it is an answer."""
        tries = len(one.tries)
        truths = {
            "latest": number == tries,
            "others_absent": one.absent >= tries - 1,
            "effectless": tool.effect == "none",
            "idempotent": tool.effect != "once",  # what only reads can be repeated too
            "tries_left": tries < self.scope.tries,
            "queries_left": tool.query and one.queries < self.scope.queries,
        }
        step = self.machines.step("operation", one.state, input, truths)
        after = one._replace(state=step.state)
        if step.effect == "open_try":
            after = after._replace(tries=(*one.tries, RUNS))
        if after.state == "started" and not after.tries:
            raise RowError(step.row, "it leads to started, and no try was begun")
        return Move((input, number) if number else (input,), (step.row,), after, step.fault)

    def checked(self, tool: Tool, before: Operation, move: Move) -> Move:
        """The move, with the invariants that it breaks."""
        return move._replace(broken=tuple(self._broken(tool, before, move.after)))

    def _broken(self, tool: Tool, before: Operation, one: Operation) -> Iterator[str]:
        earlier, tries = len(before.tries), len(one.tries)
        yield from bounded_attempts.broken(one.queries, self.scope.queries)
        yield from bounded_attempts.broken(tries, self.scope.tries)
        if tries > earlier:
            yield from unknown_never_blindly_retried.broken(tool.effect, earlier, one.absent, True)
        yield from one_effect_per_key.broken(tool.effect, one.effects)
        # Of a tool that only reads nothing is left that could tell whether it did.
        happened = one.effects > 0 or tool.effect == "none"
        yield from no_false_certainty.broken(one.state, tool.effect, happened, tries > 0)

    def adrift(self, one: Operation) -> Operation:
        """The same for whoever comes after: the process that ran it is gone, or no longer listens."""
        left = {RUNS: ADRIFT, WROTE: OVER}
        return one._replace(queries=0, tries=tuple(left.get(status, status) for status in one.tries))


def _with(one: Operation, at: int, status: str) -> Operation:
    return one._replace(tries=(*one.tries[:at], status, *one.tries[at + 1 :]))
