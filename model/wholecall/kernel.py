"""The compiled kernel: five machines see a fragment, and it costs one lookup.

A fragment is seen by stream, routing, identity, name and arguments. Walking them one by one is five lookups,
so they are composed into one product machine, and lazily: a cell of the product is made from the cells of
the tables when it is first met, and met again it is found in a dict. Everything that decides is still a row
of a table or of a join; `reference` walks the same machines one by one through `transitions`, and tests hold
the two together.

An input symbol of a field is its class together with the truth of its machine's guard, which covers every
row that its table can have. What this room does not do: it reads no bytes (`wire`), judges no batch
(`batch`) and words no diagnostic (`diagnose`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from msgspec import UNSET

from wholecall import effects
from wholecall.engine import NO_GUARDS, Engine, Fired
from wholecall.guards import arguments_fit, calls_left, name_fits, same_id
from wholecall.limits import Limits
from wholecall.text import NO_TEXT, Rope, settle
from wholecall.wire import Choice, Control, Frame, Function, decode, is_error
from wholecall_spec.join import ABSENT, NOTHING

MACHINES: Final = ("stream", "routing", "identity", "name", "arguments")
"""The machines of a fragment, in the order in which it meets them."""

FIELDS: Final = MACHINES[2:]
"""Those of one call; the two before are of its choice."""

_ROUTES: Final = ("known", "new", "new", "missing", "other")
_KNOWN, _NEW, _NEW_AND_GUARD, _MISSING, _NO_INDEX = range(0, 5 * 216, 216)
_CLASSES: Final = ("omitted", "null", "empty", "other", "text", "text")
_OMITTED, _NULL, _EMPTY, _OTHER, _TEXT, _TEXT_AND_GUARD = range(6)
_MORE: Final = _KNOWN + _TEXT_AND_GUARD
"""A known index, and nothing but argument text that fits."""

_GUARDS: Final = ("calls_left", "same_id", "name_fits", "arguments_fit")


_NO_FUNCTION: Final = Function()
_UNCOMMON: Final = (KeyError, TypeError, ValueError)


@dataclass(slots=True)
class Cell:
    """What the product does on one input: the rows that fire, one after the other, and what they leave.

    Attributes:
        fired: The rows.
        next: The node of the states afterwards.
        refusal: The row that refused, if one did; it is the last that fired.
        tells: What the stream is told because of it; empty means nothing.
        on_calls: The effect on the calls of the choice, if there is one.
        on_id: The effect on the id of the call.
        on_name: The effect on its name.
        on_arguments: The effect on its arguments.
        steady: No state changes, and the only effect is to append to the arguments.
    """

    fired: tuple[Fired, ...]
    next: Node
    refusal: Fired | None = None
    tells: str = ""
    on_calls: Callable[[Calls, CallSlot], Calls] | None = None
    on_id: Callable[[str | None, Any], str] | None = None
    on_name: Callable[[str, Any], str] | None = None
    on_arguments: Callable[[Rope, Any], Rope] | None = None
    steady: bool = False

    @property
    def is_fragment(self) -> bool:
        """Whether a fragment made it fire, and not an input of the stream alone."""
        return self.fired[0].input == "fragment"


class Node(dict[int, Cell]):
    """One state of the product: the cells for fragments met in it so far, by input symbols.

    The symbols of index, id, name and arguments make one number, in base six.
    """

    def __init__(self, rules: Rules, choice: ChoiceNode, fields: tuple[str, ...]) -> None:
        self.rules = rules
        self.choice = choice
        self.fields = fields

    def __missing__(self, symbols: int) -> Cell:
        """Compose the cell of these symbols."""
        cell = self[symbols] = self.rules.compose(self, symbols)
        return cell


class ChoiceNode(dict[str, Cell]):
    """The part of a product state that belongs to the choice: the cells for what is no fragment, by input."""

    def __init__(self, rules: Rules, states: tuple[str, str]) -> None:
        self.rules = rules
        self.states = states
        self.nodes: dict[tuple[str, ...], Node] = {}

    def __missing__(self, input: str) -> Cell:
        """Compose the cell of this input of stream."""
        fired = self.rules.fire("stream", self.states[0], input)
        after = self.rules.choice_node((fired.step.state, self.states[1]))
        refusal = fired if fired.step.fault else None
        cell = self[input] = Cell((fired,), after.node(self.rules.initial), refusal)
        return cell

    def node(self, fields: tuple[str, ...]) -> Node:
        """The product state of this choice with these states of identity, name and arguments."""
        node = self.nodes.get(fields)
        if node is None:
            node = self.nodes[fields] = Node(self.rules, self, fields)
        return node


class Rules:
    """One specification, ready to run: the engine, and the product machine that grows from it.

    They hold nothing of any response, so one is shared by all responses of a profile.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.spec = engine.spec
        self._refusal = self.spec.join("field_refusal")
        self._choices: dict[tuple[str, str], ChoiceNode] = {}
        initial = tuple(self.spec.table(machine).initial for machine in MACHINES)
        self.initial = initial[2:]
        self.begin = self.choice_node((initial[0], initial[1]))
        self.classify_finish = self.spec.table("stream").classify

    def choice_node(self, states: tuple[str, str]) -> ChoiceNode:
        """The node of these states of stream and routing."""
        node = self._choices.get(states)
        if node is None:
            node = self._choices[states] = ChoiceNode(self, states)
        return node

    def compose(self, node: Node, symbols: int) -> Cell:
        """Walk the five machines; the first that refuses is the last that is asked."""
        route, rest = divmod(symbols, 216)
        parts = (rest // 36, rest // 6 % 6, rest % 6)
        inputs = ("fragment", _ROUTES[route], *(_CLASSES[part] for part in parts))
        truths = (route * 216 == _NEW_AND_GUARD, *(part == _TEXT_AND_GUARD for part in parts))
        guards = dict(zip(_GUARDS, truths, strict=True))
        states = [*node.choice.states, *node.fields]
        fired: list[Fired] = []
        does: dict[str, Any] = {}
        refusal, tells = None, ""
        for at, (machine, input) in enumerate(zip(MACHINES, inputs, strict=True)):
            row = self.fire(machine, states[at], input, guards)
            fired.append(row)
            states[at] = row.step.state
            tells = self.tells(machine, row.step.state)
            if tells or (machine == "stream" and row.step.fault):
                refusal = row
                break
            does[machine] = getattr(effects, row.step.effect, None)
        after = self.choice_node((states[0], states[1])).node(tuple(states[2:]))
        # What rows did before one refused is done; the refusing row itself has no effect.
        cell = Cell(tuple(fired), after, refusal, tells, *(does.get(m) for m in MACHINES[1:]))
        others = (cell.refusal, cell.on_calls, cell.on_id, cell.on_name)
        appends = cell.on_arguments is effects.append_arguments and others == (None,) * 4
        cell.steady = appends and after is node
        return cell

    def tells(self, machine: str, state: str) -> str:
        """What the stream is told where this machine is in this state and the others are not asked."""
        seen = {
            column.machine: frozenset((state if column.machine == machine else ABSENT,))
            for column in self._refusal.reads
        }
        gives = self._refusal.decide(seen).gives
        return "" if gives == NOTHING else gives

    def fire(self, machine: str, state: str, input: str, guards: Mapping[str, bool] = NO_GUARDS) -> Fired:
        """One step of one machine, with where it came from."""
        return Fired(machine, state, input, self.engine.step(machine, state, input, guards))


class CallSlot:
    """One call being assembled: where its machines are, and what arrived."""

    __slots__ = ("arguments", "choice", "id", "index", "name", "node")

    def __init__(self, choice: int, index: int, node: Node) -> None:
        self.choice = choice
        self.index = index
        self.node = node
        self.id: str | None = None
        self.name = ""
        self.arguments: Rope = NO_TEXT


Calls = dict[int, CallSlot]


class ChoiceSlot:
    """One choice being read: where its machines are, its calls, and its first finish reason."""

    __slots__ = ("calls", "finish", "index", "node")

    def __init__(self, index: int, node: ChoiceNode) -> None:
        self.index = index
        self.node = node
        self.calls: Calls = {}
        self.finish: str | None = None


class Refusal(NamedTuple):
    """What ended the response: the row, and what it was about.

    Attributes:
        fired: The row that refused.
        choice: The choice it happened in.
        call: The call, where the fragment reached one.
        value: What was refused, for its class and digest only.
        fragment: The ordinal of the fragment in the response, from 1; 0 where it was none.
    """

    fired: Fired
    choice: ChoiceSlot
    call: CallSlot | None = None
    value: object = UNSET
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
        self._arguments_limit = limits.arguments

    def choices(self) -> list[ChoiceSlot]:
        """The choices so far, in ascending order."""
        return [self._choices[index] for index in sorted(self._choices)]

    def fired(self) -> list[Fired]:
        """The rows that fired since the last drain, in their order."""
        return [fired for cell in self._fired for fired in cell.fired]

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
        if self.ended:
            return
        # Nearly every frame of a call adds one piece of text to it, and nothing else. Such a frame is told by
        # its shape, and what it does, the steady cell of its call, is done right here: to call a function for
        # each step would double its cost. Every other frame takes the long way, which decides the same.
        index = text = None
        at: int | None = None
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
                    and part["finish_reason"] is None
                    and "message" not in part
                    and "error" not in frame
                ):
                    at, index, text = part["index"], fragment["index"], function["arguments"]
            except _UNCOMMON:
                pass
            read = None
        else:
            read = decode(frame)
            if type(read) is Frame and read.error is UNSET and read.choices and len(read.choices) == 1:
                part = read.choices[0]
                delta = part.delta
                if delta and not part.finish_reason and not delta.content:
                    fragments = delta.tool_calls
                    if fragments and len(fragments) == 1:
                        fragment = fragments[0]
                        function = fragment.function
                        if function and function.name is UNSET and fragment.id is UNSET:
                            at, index, text = part.index or 0, fragment.index, function.arguments
        if type(text) is str and text and type(index) is int:
            choice = self._choices.get(at) if at is not None else None
            call = choice.calls.get(index) if choice is not None and choice.index is at else None
            if choice is not None and call is not None and call.node.choice is choice.node:
                rope = call.arguments
                size = rope[2] + len(text)
                cell = call.node[_MORE]
                if cell.steady and size <= self._arguments_limit:
                    note = self._note
                    note(cell)
                    call.arguments = (rope, text, size)
                    return
        self._read(decode(frame) if read is None else read)

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
            if type(delta.content) is str and choice.index == 0:
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
        choice.node = cell.next.choice
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
            symbols = _KNOWN
            if call.node.choice is not choice.node:
                call.node = choice.node.node(call.node.fields)
        if type(text) is str:
            # Within the limit by the plain count is within it; only beyond it the exact count decides.
            if not text:
                symbols += _EMPTY
            elif call.arguments[2] + len(text) <= self._arguments_limit or self._fit(call, text):
                symbols += _TEXT_AND_GUARD
            else:
                symbols += _TEXT
        elif text is not UNSET:
            symbols += _NULL if text is None else _OTHER
        if given is not UNSET:
            symbols += 36 * self._id_symbol(call, given)
        if name is not UNSET:
            symbols += 6 * self._name_symbol(call, name)
        cell = call.node[symbols]
        self._note(cell)
        call.node = cell.next
        choice.node = cell.next.choice
        if cell.on_calls is not None:
            choice.calls = cell.on_calls(choice.calls, call)
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
        if type(given) is not str:
            return _NULL if given is None else _OTHER
        return _TEXT + same_id(call.id, given) if given else _EMPTY

    def _name_symbol(self, call: CallSlot, name: object) -> int:
        if type(name) is not str:
            return _NULL if name is None else _OTHER
        return _TEXT + name_fits(call.name, name, self.limits.name) if name else _EMPTY

    def _fit(self, call: CallSlot, text: str) -> bool:
        call.arguments = settle(call.arguments)
        return arguments_fit(call.arguments, text, self._arguments_limit)

    def _open(self, choice: ChoiceSlot, index: object) -> tuple[CallSlot, int]:
        """A call for an index that has none, and the symbol of that index; kept only if it is a new one."""
        fresh = CallSlot(choice.index, -1, choice.node.node(self.rules.initial))
        if index is UNSET or index is None:
            return fresh, _MISSING
        if type(index) is not int or index < 0:
            return fresh, _NO_INDEX
        if not calls_left(len(choice.calls), self.limits.calls):
            return fresh, _NEW
        fresh.index = index
        return fresh, _NEW_AND_GUARD

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
