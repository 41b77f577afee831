"""Sends one stream, chunk by chunk: what comes next is chosen among what the tables have a row for.

Whoever chooses is told, for each option, which row it would make fire; the order and number of options depend
on the stream so far and on nothing else, so that the same choices send the same stream. The first option is
the plainest, so that smaller choices send a plainer stream.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from wholecall.cases import ABORT, EOF
from wholecall.fuzz import values
from wholecall.fuzz.reading import Expected, Reading
from wholecall.limits import Limits
from wholecall.product import FIELDS
from wholecall.reference import ReferenceCall, ReferenceChoice
from wholecall.text import has_half, join_halves
from wholecall_generated.tables import SPEC

Option = TypeVar("Option")

SMALL: Final = tuple(Limits(calls=calls, name=24, arguments=40, depth=3) for calls in (2, 1, 4))
"""Limits so small that streams meet both sides of each."""

STEPS: Final = 40
"""The longest stream, in chunks."""

_SELDOM: Final = (False,) * 15 + (True,)
_DARES: Final = (False,) * 9 + (True,)
_RARELY: Final = (False,) * 60 + (True,)
_AT_TIMES: Final = (False,) * 5 + (True,)
_MACHINES: Final = ("identity", "name", "arguments", "routing", "stream")
_GOES_ON: Final = (False, True, True, True)
_CALLS: Final = 4
"""Calls of a choice, where no limit is lower: as many as each row of routing needs to fire twice."""

_GAPS: Final = (0, 0, 0, 0, 1, 2)
_CUTS: Final = ("all", "all", "all", "half", "awkward", "awkward", "one")
_OMITTED: Final = object()


class Cell(NamedTuple):
    """An input of a machine, the truth of its guard where one decides, and the row that answers."""

    input: str
    holds: bool
    row: str
    fault: str


Cells = tuple[Cell, ...]
Likely = tuple[tuple[str, int], ...]
"""How often an input is to come, by name; the empty name stands for all others, which come twice else."""


class Chooser(Protocol):
    """Whoever chooses."""

    def pick(self, options: Sequence[Option]) -> Option:
        """One of at least one and at most 256; what stands there twice is to come twice as often."""

    def pick_cell(self, cells: Cells, after: str) -> Cell:
        """One of the cells of a machine, in which the row `after` fired last."""


@dataclass(slots=True)
class Plan:
    """What is still to come of a call: its id, name, and argument text in code units."""

    id: str
    name: str
    text: str

    @property
    def sent(self) -> bool:
        """Whether nothing is missing."""
        return not (self.id or self.name or self.text)


class Sender:
    """Sends one stream.

    Args:
        chooser: Chooses.
        limits: What the stream is judged with. Only those of `SMALL` are ever passed.

    Attributes:
        chunks: What was sent, as the `chunks` of a case.
        reading: The tables, as far as they have read it.
        expected: What must come of it, once all of it was sent.
    """

    expected: Expected

    def __init__(self, chooser: Chooser, limits: Limits = SMALL[0]) -> None:
        self.chooser = chooser
        self.pick = chooser.pick
        self.limits = limits
        self.chunks: list[Any] = []
        self.reading = Reading(limits)
        self._plans: dict[tuple[int, int], Plan] = {}
        self._dares = ""
        self._rest: list[Any] | None = None

    @property
    def over(self) -> bool:
        """Whether nothing more can be sent."""
        return not self._rest and (self.reading.ended or len(self.chunks) >= STEPS or self._closed)

    @property
    def _closed(self) -> bool:
        return self.chunks[-1:] in ([EOF], [ABORT])

    def send_all(self) -> None:
        """Send a whole stream."""
        while not self.over:
            self.step()
        self.expected = self.reading.expected(aborted=self.chunks[-1] == ABORT)

    def step(self) -> object:
        """Send one more chunk, which may be what ends the stream."""
        chunk = self._rest.pop(0) if self._rest else self._chunk()
        self.chunks.append(chunk)
        if chunk not in (EOF, ABORT):
            self.reading.feed(chunk)
        if self._rest is None and self.reading.fault and chunk != values.DONE:
            # Whoever sends does not know that the tables have refused it, and may go on.
            self._rest = self._what_is_missing() if self.pick(_GOES_ON) else []
        return chunk

    def _what_is_missing(self) -> list[Any]:
        """All that was still to come, and a proper end."""
        found: list[Any] = []
        for (choice, index), plan in self._plans.items():
            if not plan.sent:
                function = {"name": plan.name, "arguments": join_halves(plan.text)}
                fragment = {"index": index, "function": {key: text for key, text in function.items() if text}}
                fragment |= {"id": plan.id} if plan.id else {}
                found.append({"choices": [{"index": choice, "delta": {"tool_calls": [fragment]}}]})
        unended = (one.index for one in self.reading.choices.values() if not one.finish)
        found += ({"choices": [{"index": at, "delta": {}, "finish_reason": "tool_calls"}]} for at in unended)
        return [*found, values.DONE]

    # -- a chunk ---------------------------------------------------------------------------------------

    def _chunk(self) -> Any:
        self._dares = self.pick(_MACHINES) if self.pick(_DARES) else ""
        goes_on = [index for index, choice in self.reading.choices.items() if not choice.finish]
        choice = self._choice(1 if self.pick(_RARELY) else self.pick(goes_on or (0,)))
        options = self._stream_cells(choice)
        input = self.chooser.pick_cell(options, self.reading.last(choice.states, "stream")).input
        if input in _CHUNKS:
            return self.pick(_CHUNKS[input])
        if input == "fragment":
            return {"choices": [self._fragments(choice)]}
        if input == "content":
            frame = self.pick((None, *values.CONTENT))
            return frame or {"choices": [{"index": choice.index, "delta": self.pick(values.DELTAS)}]}
        return {"choices": [{"index": choice.index, "delta": {}, "finish_reason": self._reason(input)}]}

    def _choice(self, index: int) -> ReferenceChoice:
        initial = {machine: SPEC.table(machine).initial for machine in ("stream", "routing")}
        return self.reading.choices.get(index) or ReferenceChoice(index, initial)

    def _stream_cells(self, choice: ReferenceChoice) -> Cells:
        """What can come to the stream; its end comes of itself where nothing is missing of any call."""
        plans = self._plans.values()
        whole = all(plan.sent for plan in plans)
        likely: Likely = ("fragment", 12), ("content", 1), ("", int(whole or self._dares == "stream"))
        if choice.finish or (plans and whole):
            likely = ("fragment", 2), ("content", 1), ("finish_normal", 1 if choice.finish else 5), ("", 5)
        return self._cells("stream", choice.states, likely)

    def _cells(self, machine: str, states: Mapping[str, str], likely: Likely, full: bool = False) -> Cells:
        limited = self.limits in SMALL
        return cells(machine, states[machine], self._dares == machine, likely, limited, full)

    def _cell(self, machine: str, states: Mapping[str, str], likely: Likely, full: bool = False) -> Cell:
        options = self._cells(machine, states, likely, full)
        return self.chooser.pick_cell(options, self.reading.last(states, machine))

    def _reason(self, input: str) -> str:
        return self.pick(SPEC.table("stream").input(input).values or (values.OTHER_FINISH,))

    # -- its fragments ---------------------------------------------------------------------------------

    def _fragments(self, choice: ReferenceChoice) -> dict[str, Any]:
        """A choice with one fragment, or with one each for two calls."""
        fragments = [self._fragment(choice, ())]
        first = fragments[0].get("index")
        another = len(choice.calls) > 1 and type(first) is int and self.pick(_AT_TIMES)
        if another:
            fragments.append(self._fragment(choice, (first,)))
        part: dict[str, Any] = {"index": choice.index, "delta": {"tool_calls": fragments}}
        if self.pick(_AT_TIMES):
            finishes = [cell for cell in self._stream_cells(choice) if cell.input.startswith("finish")]
            if finishes:
                part["finish_reason"] = self._reason(self.chooser.pick_cell(tuple(finishes), "").input)
        return part

    def _fragment(self, choice: ReferenceChoice, but: tuple[object, ...]) -> dict[str, Any]:
        known = [index for index in choice.calls if index not in but]
        waits = [index for index in known if not self._plans[choice.index, index].sent]
        likely = (("known", 10 * len(waits) or 1), ("new", int(len(choice.calls) < _CALLS)))
        full = len(choice.calls) >= self.limits.calls
        route = self._cell("routing", choice.states, likely, full)
        input = route.input if route.input != "known" or known else "missing"
        if input in values.INDICES:
            index = self.pick(values.INDICES[input])
            return {"function": {}} if index == "omitted" else {"index": index}
        if input == "known":
            return self._of_call(choice.calls[self.pick(waits or known)], choice)
        at = max(choice.calls, default=-1) + 1 + self.pick(_GAPS)
        fresh = ReferenceCall(at, {machine: SPEC.table(machine).initial for machine in FIELDS})
        return self._of_call(fresh, choice)

    def _of_call(self, call: ReferenceCall, choice: ReferenceChoice) -> dict[str, Any]:
        key = choice.index, call.index
        plan = self._plans.get(key) or self._plans.setdefault(key, self._plan(*key))
        fragment: dict[str, Any] = {"index": call.index}
        function: dict[str, Any] = {}
        wanted = {"identity": plan.id, "name": plan.name, "arguments": plan.text}
        for machine, missing in wanted.items():
            likely = _MISSING if missing else _SENT
            cell = self._cell(machine, call.states, likely)
            value = self._value(machine, cell, call, plan)
            if value is not _OMITTED:
                (fragment if machine == "identity" else function)[_KEYS[machine]] = value
        also_empty: bool = bool(function) or self.pick(_AT_TIMES)
        if also_empty:
            fragment["function"] = function
        return fragment

    def _plan(self, choice: int, index: int) -> Plan:
        own = f"{values.MARK}-{choice}-{index}"
        calls = (call for one in self.reading.choices.values() for call in one.calls.values())
        others = [call.id for call in calls if call.id]
        id = self.pick((own, *others, "")) if self.pick(_SELDOM) else own
        name = "" if self.pick(_SELDOM) else self.pick(values.NAMES)
        text = self.pick(values.NO_OBJECTS if self.pick(_AT_TIMES) else values.OBJECTS)
        text = "" if self.pick(_SELDOM) else text
        return Plan(id, name, _units(text))

    def _value(self, machine: str, cell: Cell, call: ReferenceCall, plan: Plan) -> Any:
        if cell.input == "other":
            setattr(plan, _PLANNED[machine], "")  # whoever sends it takes it for the value
        if cell.input != "text":
            return _OMITTED if cell.input == "omitted" else self.pick(_FIXED[cell.input])
        if machine == "identity":
            id, plan.id = call.id or plan.id or values.ANOTHER_ID, ""
            return id if cell.holds or not call.id else values.ANOTHER_ID
        if not cell.holds:
            return "x" * ((self.limits.name if machine == "name" else self.limits.arguments) + 1)
        if machine == "name":
            name = plan.name or self.pick(values.NAMES)
            piece = name[: self.pick((len(name), len(name) // 2 or 1))]
            plan.name = plan.name[len(piece) :]
            return piece
        if not plan.text:
            return self.pick(values.PIECES)
        size = _cut(plan.text, self.pick(_CUTS))
        piece, plan.text = plan.text[:size], plan.text[size:]
        return join_halves(piece)


_MISSING: Final = (("text", 6),)
_SENT: Final = (("omitted", 12), ("text", 1))
_PLANNED: Final = {"identity": "id", "name": "name", "arguments": "text"}
_KEYS: Final = {"identity": "id", "name": "name", "arguments": "arguments"}
_FIXED: Final[Mapping[str, tuple[Any, ...]]] = {"null": (None,), "empty": ("",), "other": values.OTHERS}
_CHUNKS: Final[Mapping[str, tuple[Any, ...]]] = {
    "eof": (EOF,),
    "abort": (ABORT,),
    "done": (values.DONE,),
    "error": values.ERRORS,
    "bad_frame": values.BAD_FRAMES,
}


@cache
def cells(machine: str, state: str, dares: bool, likely: Likely, limited: bool, full: bool) -> Cells:
    """What can come to a machine, each as often as it is to come, the likeliest first.

    Args:
        machine: The machine.
        state: Where it is.
        dares: Whether what is refused may come too, each three times.
        likely: How often inputs are to come.
        limited: Whether a limit may be passed.
        full: Whether the limit of calls is reached.
    """
    often = dict(likely)
    found: dict[Cell, int] = {}
    for at, input, guards, row in SPEC.table(machine).cells():
        unsent = input in _UNSENT or (row.fault.startswith("limit.") and not limited)
        unmet = guards.get("calls_left") is full
        if at == state and not (unsent or unmet or (row.fault and not dares)):
            times = 3 if row.fault else often.get(input, often.get("", 2))
            found[Cell(input, all(guards.values()), row.id, row.fault)] = times
    ordered = sorted(found, key=lambda cell: -found[cell])
    return tuple(cell for cell in ordered for _ in range(found[cell]))


_UNSENT: Final = ("end", "fragment_refused")
"""What no frame is: the machines say it to each other."""


def _units(text: str) -> str:
    """The text with each character of two code units as two halves, so that it can be cut between them."""
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(chr(int.from_bytes(units[at : at + 2])) for at in range(0, len(units), 2))


def _cut(text: str, how: str) -> int:
    """How many code units of the rest of a text are sent."""
    if how == "awkward":
        at = next((at for at, unit in enumerate(text[:-1], 1) if unit == "\\" or has_half(unit)), 0)
        return at or next((at for at, unit in enumerate(text, 1) if unit in '"}'), 1)
    return {"all": len(text), "one": 1, "half": len(text) // 2 or 1}[how]
