"""A Hypothesis machine for a whole response: one step draws one more chunk of what a sender sends.

The assembler is compared with the reference after every chunk, and the invariants are asked. What a failing
run prints is what one can replay: the chunks, and the rows that fired.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

from hypothesis import note
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from hypothesis.strategies import binary, sampled_from

from wholecall.assemble import Assembler
from wholecall.cases import ABORT, EOF
from wholecall.fuzz.sender import SMALL, Cell, Cells, Sender
from wholecall.fuzz.values import MARK
from wholecall.invariants import OF_RESPONSE, Place, Record
from wholecall.limits import Limits
from wholecall.product import MACHINES
from wholecall.text import joined

Option = TypeVar("Option")

CHOICES: Final = binary(min_size=8, max_size=24)
"""The choices of one step."""


class Bytes:
    """Chooses by bytes, one a choice, and the first option where there are no more; see `Chooser`."""

    def __init__(self) -> None:
        self._rest: Iterator[int] = iter(())

    def take(self, choices: bytes) -> None:
        """Choose by these from now on."""
        self._rest = iter(choices)

    def pick(self, options: Sequence[Option]) -> Option:
        """See `Chooser.pick`."""
        return options[next(self._rest, 0) % len(options)]

    def pick_cell(self, cells: Cells, after: str) -> Cell:  # noqa: ARG002 - it is not steered
        """See `Chooser.pick_cell`."""
        return self.pick(cells)


class SendingMachine(RuleBasedStateMachine):
    """Sends responses, one after the other; what is done with them is the business of who derives from it."""

    limits: Sequence[Limits] = (Limits(),)

    def __init__(self) -> None:
        super().__init__()
        self.begin(self.limits[0])

    @precondition(lambda self: self.sender.over)
    @rule(number=sampled_from(range(12)))
    def begin_again(self, number: int) -> None:
        """The response is over: begin the next, of which nothing of the last is left."""
        self.begin(self.limits[number % len(self.limits)])

    @precondition(lambda self: not self.sender.over)
    @rule(choices=CHOICES)
    def send(self, choices: bytes) -> None:
        """Send one more chunk."""
        self.bytes.take(choices)
        read = len(self.sender.reading.rows)
        chunk = self.sender.step()
        note(f"chunk {json.dumps(chunk)}")
        note(f"      {' '.join(self.sender.reading.rows[read:])}")
        self.sent(chunk)

    def begin(self, limits: Limits) -> None:
        """A response begins."""
        self.bytes = Bytes()
        self.sender = Sender(self.bytes, limits)

    def sent(self, chunk: object) -> None:
        """A chunk was sent; what is made of it is told elsewhere."""


class ResponseMachine(SendingMachine):
    """Sends responses to the assembler, and compares it with the reference."""

    limits = SMALL

    def begin(self, limits: Limits) -> None:
        """See `SendingMachine.begin`."""
        super().begin(limits)
        self.assembler = Assembler(limits=limits)
        self.record = Record(secrets={MARK})

    def sent(self, chunk: object) -> None:
        """Compare where the machines are, and the verdicts if it was the last chunk."""
        self._note_sent(chunk)
        reading = self.sender.reading
        if chunk not in (EOF, ABORT):
            self.assembler.feed(chunk)

            assert self._actual() == self._expected()
        if self.sender.over:
            response = self.assembler.close(aborted=chunk == ABORT)
            outcome = reading.close(aborted=chunk == ABORT)
            self.record.response = response

            assert (outcome, reading.fault) == (response.outcome, response.fault)
            assert reading.rows == list(response.rows)

    @invariant()
    def invariants_hold(self) -> None:
        """Every invariant that concerns a response."""
        calls = {(c.choice, c.index): c for end in self.assembler.choices() for c in end.calls.values()}
        self.record.now = {place: (call.id, joined(call.arguments)) for place, call in calls.items()}
        limits = self.sender.limits
        self.record.sizes = [(len(end.calls), limits.calls) for end in self.assembler.choices()]
        self.record.sizes += [(len(call.name), limits.name) for call in calls.values()]
        self.record.sizes += [(len(text), limits.arguments) for _, text in self.record.now.values()]
        for one in OF_RESPONSE:
            assert one.holds(self.record), f"{one.name}: {one.sentence}"
        self.record.kept = {place: id for place, (id, _) in self.record.now.items() if id is not None}

    def _note_sent(self, chunk: Any) -> None:
        """What was sent at each place, whether or not it is taken."""
        for place, fragment in _fragments(chunk):
            id, text = fragment.get("id"), fragment.get("function", {}).get("arguments")
            self.record.ids.setdefault(place, []).extend([id] if isinstance(id, str) else [])
            self.record.pieces.setdefault(place, []).extend([text] if isinstance(text, str) else [])

    def _expected(self) -> dict[Any, tuple[str, ...]]:
        states: dict[Any, tuple[str, ...]] = {}
        for choice in self.sender.reading.choices.values():
            states[choice.index] = tuple(choice.states.values())
            for call in choice.calls.values():
                states[choice.index, call.index] = tuple(call.states[m] for m in MACHINES[2:])
        return states

    def _actual(self) -> dict[Any, tuple[str, ...]]:
        states: dict[Any, tuple[str, ...]] = {}
        for choice in self.assembler.choices():
            states[choice.index] = choice.node.states
            for call in choice.calls.values():
                states[choice.index, call.index] = call.node.fields
        return states


def _fragments(chunk: Any) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Every fragment of a chunk that has an index, with its place."""
    try:
        parts = [(part["index"], part["delta"]["tool_calls"]) for part in chunk["choices"]]
    except (KeyError, TypeError):
        return
    for choice, fragments in parts:
        for fragment in fragments if isinstance(fragments, list) else ():
            if type(fragment.get("index")) is int:
                yield (choice, fragment["index"]), fragment
