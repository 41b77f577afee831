"""A Hypothesis machine for a whole response: wire frames built from input classes, two indices and choices.

The assembler is compared with the reference after every frame, and the invariants are asked. What a failing
run prints is what one can replay: the frames, and the rows that fired.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import note
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from wholecall.assemble import Assembler
from wholecall.invariants import OF_RESPONSE, Place, Record
from wholecall.limits import Limits
from wholecall.product import MACHINES
from wholecall.reference import ReferenceAssembler
from wholecall.text import joined
from wholecall_generated.tables import SPEC

LIMITS = Limits(calls=2, name=12, arguments=40, depth=3)
"""Small enough that both sides of every guard are met."""

TEXTS: Mapping[str, tuple[str, ...]] = {
    "id": ("id-SECRET-1", "id-SECRET-2"),
    "name": ("look", "up", "save_report"),
    "arguments": ('{"SECRET":', '"SECRET"', "}", "{}", " ", "1}", "[[[[", '"\ud83d', '\ude00"', "]" * 30),
}
"""What a field of class `text` may hold: enough to make whole, cut, wrong, deep and long arguments."""

OTHERS: tuple[Any, ...] = (0, True, 1.5, [], {}, ["SECRET"], {"SECRET": 1})
"""What a field of class `other` may hold."""

INDICES: Mapping[str, tuple[Any, ...]] = {
    "missing": ("omitted", None),
    "other": (-1, True, "0", 0.0, [], {}),
}
"""What an index may hold where it is no integer >= 0; `omitted` leaves it out."""


class ResponseMachine(RuleBasedStateMachine):
    """Sends frames to the assembler and to the reference. The printed subclass draws the input classes."""

    def __init__(self) -> None:
        super().__init__()
        self.begin_again()

    @precondition(lambda self: self.record.response is not None)
    @rule()
    def begin_again(self) -> None:
        """The response is closed: begin the next, of which nothing of the last is left."""
        self.assembler = Assembler(limits=LIMITS)
        self.reference = ReferenceAssembler(limits=LIMITS)
        self.record = Record(secrets={"SECRET"})

    def send_fragment(self, choice: int, number: int, classes: Mapping[str, str]) -> None:
        """Send one fragment whose index, id, name and arguments are of these classes.

        Args:
            choice: The choice's index.
            number: Picks a value within each class.
            classes: An input class by field; of `index`, an input of routing.
        """
        fragment: dict[str, Any] = {}
        function: dict[str, Any] = {}
        index = self._index(choice, classes["index"], number)
        if index != "omitted":
            fragment["index"] = index
        for field, holder in (("id", fragment), ("name", function), ("arguments", function)):
            if classes[field] != "omitted":
                holder[field] = _value(field, classes[field], number)
        if function or number % 2:
            fragment["function"] = function
        if type(index) is int and index >= 0 and not self.assembler.ended:
            self._note_sent((choice, index), fragment.get("id"), function.get("arguments"))
        self.send({"choices": [{"index": choice, "delta": {"tool_calls": [fragment]}}]})

    def send_input(self, choice: int, number: int, input: str) -> None:
        """Send what makes the stream see this input; what ends the transport also closes the response."""
        if input in ("eof", "abort"):
            self.close(aborted=input == "abort")
        elif input == "done":
            self.send("[DONE]")
            self.close()
        elif input == "error":
            self.send({"error": {"message": "SECRET", "code": 500}})
        elif input == "bad_frame":
            self.send(("not JSON", [], {"choices": {}}, {"choices": [{"index": "0"}]})[number % 4])
        elif input == "content":
            self.send({"choices": [{"index": choice, "delta": {"content": "SECRET"}}][: number % 2]})
        else:
            values = SPEC.table("stream").input(input).values or ("whatever",)
            reason = values[number % len(values)]
            self.send({"choices": [{"index": choice, "delta": {}, "finish_reason": reason}]})

    def send(self, frame: Any) -> None:
        """Give one frame to both, and compare where their machines are."""
        note(f"frame {json.dumps(frame)}")
        self.assembler.feed(frame)
        self.reference.feed(frame)
        note(f"      {' '.join(self.reference.rows)}")

        assert self._expected() == self._actual()

    def close(self, aborted: bool = False) -> None:
        """End the transport, and compare the verdicts."""
        note("abort" if aborted else "eof")
        response = self.assembler.close(aborted)
        outcome = self.reference.close(aborted)
        note(f"      {' '.join(self.reference.rows)}")
        self.record.response = response

        assert (outcome, self.reference.fault) == (response.outcome, response.fault)
        assert self.reference.rows == list(response.rows)

    @invariant()
    def invariants_hold(self) -> None:
        """Every invariant that concerns a response."""
        calls = {(c.choice, c.index): c for end in self.assembler.choices() for c in end.calls.values()}
        self.record.now = {place: (call.id, joined(call.arguments)) for place, call in calls.items()}
        self.record.sizes = [(len(end.calls), LIMITS.calls) for end in self.assembler.choices()]
        self.record.sizes += [(len(call.name), LIMITS.name) for call in calls.values()]
        self.record.sizes += [(len(text), LIMITS.arguments) for _, text in self.record.now.values()]
        for one in OF_RESPONSE:
            assert one.holds(self.record), f"{one.name}: {one.sentence}"
        self.record.kept = {place: id for place, (id, _) in self.record.now.items() if id is not None}

    def _index(self, choice: int, wanted: str, number: int) -> Any:
        if wanted in INDICES:
            return INDICES[wanted][number % len(INDICES[wanted])]
        seen = self.reference.choices.get(choice)
        known = sorted(seen.calls) if seen else []
        if wanted == "known" and known:
            return known[number % len(known)]
        return (known[-1] + 1 if known else 0) + number % 3

    def _note_sent(self, place: Place, id: Any, text: Any) -> None:
        if isinstance(id, str):
            self.record.ids.setdefault(place, []).append(id)
        if isinstance(text, str):
            self.record.pieces.setdefault(place, []).append(text)

    def _expected(self) -> dict[Any, tuple[str, ...]]:
        states: dict[Any, tuple[str, ...]] = {}
        for choice in self.reference.choices.values():
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


def _value(field: str, wanted: str, number: int) -> Any:
    fixed = {"null": None, "empty": ""}
    if wanted in fixed:
        return fixed[wanted]
    pool = TEXTS[field] if wanted == "text" else OTHERS
    return pool[number % len(pool)]
