"""One response as the tables read it: a call, a choice of calls, all choices, and what can come to each.

A fragment is one move, in which stream, routing, identity, name and arguments each fire a row, up to the one
that refuses. What a call does with a fragment depends on nothing but the call, and what a choice does on
nothing but the choice, so each is worked out once and looked up from then on. A refused response is forgotten
but for where its streams are: nothing of it is ever used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from wholecall import effects, guards
from wholecall.engine import Step
from wholecall.explore.fields import FIELDS, Fields, Taken
from wholecall.explore.machines import NOWHERE, Machines, Move, RowError, fault_of
from wholecall.explore.scope import IDS, NAMES, NO_TEXT, TEXTS, Scope, Value
from wholecall_spec.spec import Spec
from wholecall_spec.statements import limits_kept

_BY_FRAGMENT: Final = ("fragment", "fragment_refused")
_NOTHING: Final = (NO_TEXT[0],) * 3
_NO_VALUES: Final = (NO_TEXT[:1],) * 3
_OTHER_FINISH: Final = "no finish reason that is listed"


class Call(NamedTuple):
    """One call: where its machines are, and what arrived."""

    identity: str
    name: str
    arguments: str
    id: str = ""
    named: str = ""
    text: str = ""


class Choice(NamedTuple):
    """One choice: where its machines are, its first finish reason, and its calls; the k-th has index k."""

    stream: str
    routing: str
    finish: str = ""
    calls: tuple[Call, ...] = ()


Response = tuple[Choice, ...]
"""A response that is being read, or was read whole."""


class Over(NamedTuple):
    """A response of which nothing is left but where its streams are."""

    streams: tuple[str, ...]


class Responses:
    """What can come to a response, and what it then is.

    Args:
        machines: Run the tables.
        scope: The bounds.
        every: Whether moves that come to the same are all told, and not only the first of them.
    """

    def __init__(self, machines: Machines, scope: Scope, every: bool = False) -> None:
        self.machines = machines
        self.scope = scope
        self.every = every
        self.begin: Response = (self._choice(),)
        self._fresh = Call(*map(machines.initial, FIELDS))
        texts = [Value("text", id) for id in IDS[: scope.ids]]
        names = [Value("text", name) for name in NAMES]
        pieces = [Value("text", text) for text in TEXTS]
        self._values: tuple[tuple[Value, ...], ...]
        if scope.whole:
            self._values = (tuple(texts), tuple(names[:1]), tuple(pieces[:1]))
        else:
            self._values = ((*NO_TEXT, *texts), (*NO_TEXT, *names), (*NO_TEXT, *pieces))
        self._fields = Fields(machines, every)
        stream = machines.spec.table("stream")
        announcing = announced_by(machines.spec)
        self._finishes: list[tuple[str, str]] = []
        self._of_all: list[str] = []
        for input in stream.inputs:
            if input.values:
                plain = [value for value in input.values if value not in announcing]
                loud = [value for value in input.values if value in announcing]
                self._finishes += [(input.name, value) for value in (*plain[:1], *loud[:1])]
            elif input.name.endswith("_other"):
                self._finishes.append((input.name, _OTHER_FINISH))
            elif input.name not in (*_BY_FRAGMENT, "content"):
                self._of_all.append(input.name)
        self._call_moves: dict[Call, list[Move]] = {}
        self._choice_moves: dict[Choice, list[Move]] = {}

    def _choice(self) -> Choice:
        return Choice(self.machines.initial("stream"), self.machines.initial("routing"))

    # -- what can come -------------------------------------------------------------------------------

    def moves(self, response: Response) -> Iterator[Move]:
        """Every move of a response that is being read; an event names the choice."""
        places = list(enumerate(response))
        if len(response) < self.scope.choices:
            places.append((len(response), self._choice()))
        for at, choice in places:
            for event, rows, after, fault, broken in self.choice_moves(choice):
                changed = (*response[:at], after, *response[at + 1 :])
                yield Move((event[0], at, *event[1:]), rows, _left(changed, fault), fault, broken)
        for input in self._of_all:
            yield self._tell_all(response, input)

    def choice_moves(self, choice: Choice) -> list[Move]:
        """Every move of one choice."""
        found = self._choice_moves.get(choice)
        if found is None:
            found = self._choice_moves[choice] = self._told(self._of_choice(choice))
        return found

    def _of_choice(self, choice: Choice) -> Iterator[Move]:
        for index in (*range(len(choice.calls)), "new", "missing", "other"):
            yield from self._fragments(choice, index)
        # A frame without tool calls is content; a finish reason comes in such a frame, after it.
        content = self._step(choice, "content")
        after = choice._replace(stream=content.state)
        yield Move(("content",), (content.row,), after, content.fault)
        for input, reason in self._finishes if not content.fault else ():
            step = self._step(after, input)
            finish = choice.finish
            if step.effect:
                finish = getattr(effects, step.effect)(finish or None, reason)
            ended = after._replace(stream=step.state, finish=finish)
            yield Move((input, reason), (content.row, step.row), ended, step.fault)

    def _tell_all(self, response: Response, input: str) -> Move:
        rows, after, fault = [], list(response), ""
        for at, choice in enumerate(response):
            step = self._step(choice, input)
            rows.append(step.row)
            after[at] = choice._replace(stream=step.state)
            fault = step.fault
            if fault:
                break
        return Move((input,), tuple(rows), _left(tuple(after), fault), fault)

    def _fragments(self, choice: Choice, index: int | str) -> Iterator[Move]:
        """Every fragment with this index."""
        shown = len(choice.calls) if index == "new" else index
        stream = self._step(choice, "fragment")
        choice = choice._replace(stream=stream.state)
        if stream.fault or stream is NOWHERE:
            yield Move(("fragment", shown, *_NOTHING), (stream.row,), choice, stream.fault)
            return
        input = "known" if isinstance(index, int) else index
        truths = {"calls_left": guards.calls_left(len(choice.calls), self.scope.calls)}
        route = self.machines.step("routing", choice.routing, input, truths)
        if route is NOWHERE:
            yield Move(("fragment", shown, *_NOTHING), (route.row,), choice)
            return
        rows = (stream.row, route.row)
        choice = choice._replace(routing=route.state)
        if self.machines.refusal("routing", route.state):
            yield self._refused(("fragment", shown, *_NOTHING), rows, choice, route.fault)
            return
        calls = choice.calls
        if route.effect == "open_call":
            calls = (*calls, self._fresh)
        at = index if isinstance(index, int) else len(calls) - 1
        if not calls:
            raise RowError(route.row, "it takes a fragment, and there is no call to take it")
        for event, more, call, fault, broken in self.call_moves(calls[at]):
            after = choice._replace(calls=(*calls[:at], call, *calls[at + 1 :]))
            broken = (*broken, *limits_kept.broken(len(calls), self.scope.calls))
            move = Move(("fragment", at, *event), (*rows, *more), after, "", broken)
            yield self._refused(*move[:3], fault)._replace(broken=broken) if fault else move

    def _refused(self, event: tuple[Any, ...], rows: tuple[str, ...], choice: Choice, fault: str) -> Move:
        step = self._step(choice, "fragment_refused")
        return Move(event, (*rows, step.row), choice._replace(stream=step.state), fault_of(step, fault))

    def null_continuation(self, response: Response) -> Move | None:
        """A fragment with a null id that changes nothing of a call that has one; None where there is none."""
        for at, choice in enumerate(response):
            for index, call in enumerate(choice.calls if not self._step(choice, "fragment").fault else ()):
                null = Value("null")
                taken = self._fields.take("identity", call.identity, call.id, null)
                if call.id and (taken.state, taken.text) == (call.identity, call.id):
                    return Move(("fragment", at, index, null, *_NOTHING[1:]), (taken.row,), response)
        return None

    def _told(self, moves: Iterator[Move]) -> list[Move]:
        found = [move for move in moves if "" not in move.rows]
        return found if self.every else list({move[2:]: move for move in reversed(found)}.values())[::-1]

    def _step(self, choice: Choice, input: str) -> Step:
        return self.machines.step("stream", choice.stream, input)

    def call_moves(self, call: Call) -> list[Move]:
        """Every move of one call: id, name and text of a fragment, each of any class."""
        found = self._call_moves.get(call)
        if found is None:
            values = self._values if call == self._fresh or not self.scope.whole else _NO_VALUES
            fragments = self._fields.fragments(call[:3], call[3:], values)
            found = self._call_moves[call] = self._told(_taken(call, *taken) for taken in fragments)
        return found


def announced_by(spec: Spec) -> tuple[str, ...]:
    """The finish reasons that announce calls."""
    return next(fact.values for fact in spec.join("gathered").facts if fact.name == "announced")


def _left(response: Response, fault: str) -> Response | Over:
    return Over(tuple(choice.stream for choice in response)) if fault else response


def _taken(call: Call, *taken: Taken) -> Move:
    """A fragment that was taken by the fields of a call, or by those up to the one that refused."""
    states = [*(one.state for one in taken), *call[len(taken) : 3]]
    texts = [*(one.text for one in taken), *call[3 + len(taken) :]]
    event = [*(one.value for one in taken), *_NOTHING[len(taken) :]]
    broken = [name for one in taken for name in one.broken]
    return Move(
        tuple(event), tuple(one.row for one in taken), Call(*states, *texts), taken[-1].fault, tuple(broken)
    )
