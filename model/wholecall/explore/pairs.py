"""Which rows can fire directly one after the other in one machine of a response, found by exhaustion.

What a field does depends on nothing but the field, so each is explored alone. Stream and routing of one
choice are explored together, as a fragment moves both. The proposal follows from what was read.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

from wholecall.explore.batches import Batches
from wholecall.explore.fields import FIELDS, Fields
from wholecall.explore.machines import Machines
from wholecall.explore.responses import Over, Response, Responses
from wholecall.explore.scope import COVERING, IDS, LIMIT, NAMES, NO_TEXT, TEXTS, Scope, Value
from wholecall_spec.spec import Spec

Pair = tuple[str, str]
"""A row, and the row that fires next in the same machine."""

State = TypeVar("State", bound=Hashable)

_CALLS: Final = tuple(Scope(calls=calls, ids=1, whole=True) for calls in (1, 2, 4))
"""So many calls that each row of routing can fire twice, and so few that the limit is met after each."""

_LIMITS: Final = (LIMIT, LIMIT + 1)
"""Limits of name and arguments: one that a first piece can pass, and one within which two pieces fit."""


class Feasible(NamedTuple):
    """What can fire while one response is read.

    Attributes:
        rows: The rows of its machines.
        pairs: Every two rows that can fire directly one after the other in one machine.
    """

    rows: frozenset[str]
    pairs: frozenset[Pair]


def feasible(spec: Spec) -> Feasible:
    """What can fire while one response is read."""
    machines = Machines(spec)
    trails: list[tuple[str, ...]] = []
    for machine, told in zip(FIELDS, (IDS[:2], NAMES, TEXTS), strict=True):
        for limit in _LIMITS:
            trails += _of_field(Fields(machines, limit=limit), machine, told)
    for scope in _CALLS:
        trails += _of_choice(machines, scope)
    for scope in COVERING:
        trails += _of_proposals(machines, scope)
    pairs = {pair for trail in trails for pair in pairwise(trail) if all(pair)}
    return Feasible(frozenset(row for trail in trails for row in trail if row), frozenset(pairs))


def _of_field(fields: Fields, machine: str, texts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """From every state of a field: the row before, and the row of each value and of the end."""
    values = [*NO_TEXT, *(Value("text", text) for text in texts)]

    def after(state: tuple[str, str, str]) -> Iterator[tuple[str, str, str]]:
        taken = (fields.take(machine, state[0], state[1], value) for value in values)
        return ((one.state, one.text, one.row) for one in taken if not one.fault)

    for at, text, last in _reached((fields.machines.initial(machine), "", ""), after):
        yield last, fields.machines.step(machine, at, "end").row
        for value in values:
            yield last, fields.take(machine, at, text, value).row


def _of_choice(machines: Machines, scope: Scope) -> Iterator[tuple[str, ...]]:
    """Of stream and routing, from every state of a choice: the row before, and the rows of each move."""
    model, batches = Responses(machines, scope, every=True), Batches(machines)
    of = {row.id: table.machine for table in machines.spec.tables for row in table.rows}
    finishes = [row for row in machines.spec.table("stream").rows if row.input.startswith("finish")]

    def moves(state: tuple[Response, str, str]) -> Iterator[tuple[Response | Over, list[str], list[str]]]:
        response, stream, routing = state
        for move in () if _whole(machines, response) else model.moves(response):
            streams, routes = ([row for row in move.rows if of[row] == m] for m in ("stream", "routing"))
            yield move.after, [stream, *streams], [routing, *routes]

    def after(state: tuple[Response, str, str]) -> Iterator[tuple[Response, str, str]]:
        for response, streams, routes in moves(state):
            if not isinstance(response, Over):
                yield response, streams[-1], routes[-1]

    for state in _reached((model.begin, "", ""), after):
        for response, streams, routes in moves(state):
            yield from (tuple(streams), tuple(routes))
            if routes[1:] and not isinstance(response, Over):
                # A finish reason may come in the frame of a fragment, which the model has as two moves.
                yield from ((streams[-1], row.id) for row in finishes if row.state == response[0].stream)
        if _whole(machines, state[0]):
            end = batches.judge(state[0], "", "")
            assert end is not None
            yield state[2], end.rows[0]


def _of_proposals(machines: Machines, scope: Scope) -> Iterator[tuple[str, ...]]:
    """The rows of the proposal, for every response that was read whole."""
    model, batches = Responses(machines, scope), Batches(machines)

    def after(response: Response) -> Iterator[Response]:
        moves = () if _whole(machines, response) else model.moves(response)
        return (move.after for move in moves if not isinstance(move.after, Over))

    for response in _reached(model.begin, after):
        if _whole(machines, response):
            rows: list[str] = []
            proposal = ""
            while move := batches.judge(response, proposal, ""):
                rows += move.rows if proposal else ()
                response, proposal = move.after
            yield tuple(rows)


def _whole(machines: Machines, response: Response) -> bool:
    """Whether a response was read whole."""
    return bool(machines.decide("fields_end", stream=frozenset(choice.stream for choice in response)))


def _reached(begin: State, after: Callable[[State], Iterable[State]]) -> Iterator[State]:
    """Every state that is reached, each once."""
    seen = {begin}
    open_ = [begin]
    while open_:
        state = open_.pop()
        yield state
        for one in after(state):
            if one not in seen:
                seen.add(one)
                open_.append(one)
