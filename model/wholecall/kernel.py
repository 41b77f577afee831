"""The compiled kernel: frames in, and the cells of the product machine that fire.

What a fragment does is one lookup in the product (`product`), and what to do then is what its cell says;
`reference` walks the same machines one by one through `transitions`, and tests hold the two together. What
this room does not do: it decodes no frame (`wire`), judges no batch (`batch`) and words no diagnostic
(`diagnose`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final

from msgspec import UNSET

from wholecall import effects
from wholecall.engine import Fired
from wholecall.guards import arguments_fit, calls_left, name_fits, same_id
from wholecall.limits import Limits
from wholecall.product import (
    EMPTY,
    KNOWN,
    MACHINES,
    MISSING,
    NEW,
    NEW_AND_GUARD,
    NO_INDEX,
    NULL,
    OTHER,
    TEXT,
    TEXT_AND_GUARD,
    Cell,
    ChoiceNode,
    Node,
    Rules,
)
from wholecall.text import NO_TEXT, Rope, settle
from wholecall.wire import Choice, Control, Frame, Function, decode, is_error

_NO_FUNCTION: Final = Function()
_FIRST: Final = 0
_ROWS: Final = attrgetter("rows")
_UNCOMMON: Final = (KeyError, TypeError, ValueError)


class CallSlot:
    """One call being assembled: where its machines are, and what arrived.

    Attributes:
        choice: The choice, by its index.
        index: The index of the call.
        node: Where its machines are.
        id: The id, once there is one.
        name: The name so far.
        size: How long the arguments are by the plain count of their pieces.
        add: Takes one more piece of text. It is joined to the arguments when they are next asked for; `size`
            counts it at once.
    """

    __slots__ = ("_arguments", "_more", "add", "choice", "id", "index", "name", "node", "size")

    def __init__(self, choice: int, index: int, node: Node) -> None:
        self.choice = choice
        self.index = index
        self.node = node
        self.id: str | None = None
        self.name = ""
        self.size = 0
        self._arguments: Rope = NO_TEXT
        self._more: list[str] = []
        self.add = self._more.append

    @property
    def arguments(self) -> Rope:
        """The arguments so far."""
        if self._more:
            self._arguments = effects.append_arguments(self._arguments, "".join(self._more))
            self._more.clear()
        return self._arguments

    @arguments.setter
    def arguments(self, arguments: Rope) -> None:
        self._arguments = arguments
        self.size = arguments[2]


Calls = dict[int, CallSlot]


class ChoiceSlot:
    """One choice being read: where its machines are, its calls, and its first finish reason."""

    __slots__ = ("calls", "finish", "index", "node")

    def __init__(self, index: int, node: ChoiceNode) -> None:
        self.index = index
        self.node = node
        self.calls: Calls = {}
        self.finish: str | None = None

    def move(self, node: ChoiceNode) -> None:
        """Stream and routing are somewhere else now, and every call of the choice is with them."""
        if node is not self.node:
            self.node = node
            for call in self.calls.values():
                call.node = node.node(call.node.fields)


@dataclass(frozen=True, slots=True)
class Refusal:
    """What ended the response: the row, and what it was about.

    Attributes:
        fired: The row that refused.
        choice: The choice it happened in.
        call: The call, where the fragment reached one.
        value: What was refused, for its class only; never in the repr.
        fragment: The ordinal of the fragment in the response, from 1; 0 where it was none.
    """

    fired: Fired
    choice: ChoiceSlot = field(repr=False)
    call: CallSlot | None = field(default=None, repr=False)
    value: object = field(default=UNSET, repr=False)
    fragment: int = 0


class Kernel:
    """Reads frames of one response until the first fault or the end.

    Args:
        rules: The specification, ready to run.
        limits: What the response may hold.
    """

    def __init__(self, rules: Rules, limits: Limits) -> None:
        self.rules = rules
        self.limits = limits
        self.refusal: Refusal | None = None
        self.ended = False
        self.text: list[str] = []
        self._choices = {0: ChoiceSlot(0, rules.begin)}
        self._fired: list[Cell] = []
        self._note = self._fired.append
        self._drained = 0
        self._lane: Calls = {}

    def choices(self) -> list[ChoiceSlot]:
        """The choices so far, in ascending order."""
        return [self._choices[index] for index in sorted(self._choices)]

    def fired(self) -> tuple[tuple[str, ...], ...]:
        """The ids of the rows that fired since the last drain, in their order; a tuple for each input."""
        return tuple(map(_ROWS, self._fired))

    def drain(self) -> list[Cell]:
        """The cells that fired since the last drain, which are then forgotten, and so is the content."""
        cells = self._fired.copy()
        self._drained += sum(cell.is_fragment for cell in cells)
        self._fired.clear()
        self.text.clear()
        return cells

    def feed(self, frame: object) -> None:
        """Read one frame; nothing is read after a fault or after `[DONE]`.

        Args:
            frame: A dict, JSON text or bytes, or an SDK object with `model_dump`.

        Errors:
            FrameTypeError: It is none of these.
        """
        self.feed_all((frame,))

    def feed_all(self, frames: Iterable[object]) -> None:
        """Read frames as long as there are any, and no more of them after a fault or after `[DONE]`.

        Args:
            frames: As `feed` takes them, in their order.

        Errors:
            FrameTypeError: One is none that can be read.
        """
        # Nearly every frame adds one piece of text to a call of choice 0, and nothing else. Such a frame is
        # told by its shape, and what it does, the steady cell of its call, is done right here: to call a
        # function for each step would double its cost. Every other takes the long way and ends the same.
        note, limit, lane = self._note, self.limits.arguments, self._lane
        for frame in () if self.ended else frames:
            call = read = None
            if type(frame) is dict:
                try:
                    (part,) = frame["choices"]
                    delta = part["delta"]
                    (fragment,) = delta["tool_calls"]
                    function = fragment["function"]
                    if (
                        len(function) == 1
                        and len(fragment) == 2
                        and len(delta) == 1
                        and part["index"] is _FIRST
                        and part["finish_reason"] is None
                        and "message" not in part
                        and "error" not in frame
                    ):
                        text = function["arguments"]
                        index = fragment["index"]
                        call = lane[index]
                except _UNCOMMON:
                    pass
            else:
                read = decode(frame)
                if type(read) is Frame and read.error is UNSET and read.choices and len(read.choices) == 1:
                    part = read.choices[0]
                    delta = part.delta
                    if delta and not part.index and not part.finish_reason and not delta.content:
                        fragments = delta.tool_calls
                        if fragments and len(fragments) == 1:
                            fragment = fragments[0]
                            index = fragment.index
                            function = fragment.function
                            if (
                                function
                                and function.name is UNSET
                                and fragment.id is UNSET
                                and type(index) is int
                            ):
                                text = function.arguments
                                call = lane.get(index)
            # An index is the call's own object where it is a small integer; True and 1.0 only equal one.
            if call is not None and call.index is index and type(text) is str and text:
                cell = call.node.steady
                size = call.size + len(text)
                if cell is not None and size <= limit:
                    note(cell)
                    call.add(text)
                    call.size = size
                    continue
            self._read(decode(frame) if read is None else read)
            if self.ended:
                break
            lane = self._lane

    def _read(self, frame: Frame | Control) -> None:
        if isinstance(frame, Control):
            self.tell_all(frame.value)
        elif is_error(frame.error):
            self.tell_all("error", frame.error)
        elif not frame.choices:
            self.tell_all("content")
        else:
            for part in frame.choices:
                self._read_choice(part)
                if self.ended:
                    break

    def tell_all(self, input: str, value: object = UNSET) -> None:
        """What concerns the response goes to its choices in ascending order, until the first fault."""
        for choice in self.choices():
            self._tell(choice, input, value)
            if self.refusal is not None:
                break
        self.ended = self.ended or input in ("done", "eof", "abort")

    def _read_choice(self, part: Choice) -> None:
        choice = self._choice(part.index or 0)
        delta = part.delta
        if delta:
            for fragment in delta.tool_calls or ():
                function = fragment.function or _NO_FUNCTION
                self._read_fragment(choice, fragment.index, fragment.id, function.name, function.arguments)
                if self.ended:
                    return
            if not delta.tool_calls:
                self._tell(choice, "content")
            if isinstance(delta.content, str) and choice.index == 0:
                self.text.append(delta.content)
        else:
            self._tell(choice, "content")
        reason = part.finish_reason
        if reason:
            self._tell(choice, self.rules.classify_finish(reason), reason)

    def _choice(self, index: int) -> ChoiceSlot:
        choice = self._choices.get(index)
        if choice is None:
            choice = self._choices[index] = ChoiceSlot(index, self.rules.begin)
        return choice

    def _tell(self, choice: ChoiceSlot, input: str, value: object = UNSET) -> None:
        cell = choice.node[input]
        self._note(cell)
        choice.move(cell.next.choice)
        if cell.refusal is not None:
            self._refuse(Refusal(cell.refusal, choice, value=value))
        elif cell.fired[0].step.effect and isinstance(value, str):
            choice.finish = getattr(effects, cell.fired[0].step.effect)(choice.finish, value)

    def _refuse(self, refusal: Refusal) -> None:
        self.refusal = refusal
        self.ended = True

    def _read_fragment(
        self, choice: ChoiceSlot, index: object, given: object, name: object, text: object
    ) -> None:
        """One fragment: its index, id, name and arguments, each `UNSET` where it was omitted."""
        call = choice.calls.get(index) if type(index) is int else None
        if call is None:
            call, symbols = self._open(choice, index)
        else:
            symbols = KNOWN
        if isinstance(text, str):
            # Within the limit by the plain count is within it; only beyond it the exact count decides.
            if not text:
                symbols += EMPTY
            elif call.size + len(text) <= self.limits.arguments or self._fit(call, text):
                symbols += TEXT_AND_GUARD
            else:
                symbols += TEXT
        elif text is not UNSET:
            symbols += NULL if text is None else OTHER
        if given is not UNSET:
            symbols += 36 * self._id_symbol(call, given)
        if name is not UNSET:
            symbols += 6 * self._name_symbol(call, name)
        cell = call.node[symbols]
        self._note(cell)
        call.node = cell.next
        if cell.on_calls is not None:
            choice.calls = cell.on_calls(choice.calls, call)
            if choice.index == _FIRST:
                self._lane = choice.calls
        if cell.next.choice is not choice.node:
            choice.move(cell.next.choice)
        if cell.on_id is not None:
            call.id = cell.on_id(call.id, given)
        if cell.on_name is not None:
            call.name = cell.on_name(call.name, name)
        if cell.on_arguments is not None:
            call.arguments = cell.on_arguments(call.arguments, text)
        if cell.refusal is not None:
            self._refuse_fragment(cell, choice, call, (index, given, name, text))

    @staticmethod
    def _id_symbol(call: CallSlot, given: object) -> int:
        if not isinstance(given, str):
            return NULL if given is None else OTHER
        return TEXT + same_id(call.id, given) if given else EMPTY

    def _name_symbol(self, call: CallSlot, name: object) -> int:
        if not isinstance(name, str):
            return NULL if name is None else OTHER
        return TEXT + name_fits(call.name, name, self.limits.name) if name else EMPTY

    def _fit(self, call: CallSlot, text: str) -> bool:
        call.arguments = settle(call.arguments)
        return arguments_fit(call.arguments, text, self.limits.arguments)

    def _open(self, choice: ChoiceSlot, index: object) -> tuple[CallSlot, int]:
        """A call for an index that has none, and the symbol of that index; kept only if it is a new one."""
        fresh = CallSlot(choice.index, -1, choice.node.node(self.rules.initial))
        if index is UNSET or index is None:
            return fresh, MISSING
        if type(index) is not int or index < 0:
            return fresh, NO_INDEX
        if not calls_left(len(choice.calls), self.limits.calls):
            return fresh, NEW
        fresh.index = index
        return fresh, NEW_AND_GUARD

    def _refuse_fragment(
        self, cell: Cell, choice: ChoiceSlot, call: CallSlot, parts: tuple[object, ...]
    ) -> None:
        assert cell.refusal is not None
        if cell.tells:
            self._tell(choice, cell.tells)
        asked = dict(zip(MACHINES[1:], parts, strict=True))
        value = asked.get(cell.refusal.machine, UNSET)
        ordinal = self._drained + sum(cell.is_fragment for cell in self._fired)
        reached = call if call.index >= 0 else None
        self._refuse(Refusal(cell.refusal, choice, reached, value, ordinal))
