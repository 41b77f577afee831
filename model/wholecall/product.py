"""The product machine: stream, routing, identity, name and arguments as one, composed lazily.

A fragment is seen by five machines. Walking them one by one is five lookups, so they are composed into one:
a cell of the product is made from the cells of the tables when it is first met, and met again it is found
in a dict. Everything that decides is still a row of a table or of a join.

An input symbol is a class together with the truth of its machine's guard, which covers every row that the
table can have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from wholecall import effects
from wholecall.engine import NO_GUARDS, Engine, Fired
from wholecall.text import Rope
from wholecall_spec.join import ABSENT, NOTHING

MACHINES: Final = ("stream", "routing", "identity", "name", "arguments")
"""The machines of a fragment, in the order in which it meets them."""

FIELDS: Final = MACHINES[2:]
"""Those of one call; the two before are of its choice."""

# The input symbols: of routing in steps of six to the third, so that with those of id, name and arguments
# they make one number in base six.
_ROUTES: Final = ("known", "new", "new", "missing", "other")
KNOWN, NEW, NEW_AND_GUARD, MISSING, NO_INDEX = range(0, 5 * 216, 216)
_CLASSES: Final = ("omitted", "null", "empty", "other", "text", "text")
OMITTED, NULL, EMPTY, OTHER, TEXT, TEXT_AND_GUARD = range(6)
MORE: Final = KNOWN + TEXT_AND_GUARD
"""A known index, and nothing but argument text that fits."""

_GUARDS: Final = ("calls_left", "same_id", "name_fits", "arguments_fit")


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
        rows: The ids of the rows, told once, since a response asks for them fragment by fragment.
    """

    fired: tuple[Fired, ...]
    next: Node
    refusal: Fired | None = None
    tells: str = ""
    on_calls: Callable[[dict[int, Any], Any], dict[int, Any]] | None = None
    on_id: Callable[[str | None, Any], str] | None = None
    on_name: Callable[[str, Any], str] | None = None
    on_arguments: Callable[[Rope, Any], Rope] | None = None
    rows: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.rows = tuple(one.step.row for one in self.fired)

    @property
    def appends(self) -> bool:
        """Whether it refuses nothing, and its one effect is to append to the arguments."""
        others = (self.refusal, self.on_calls, self.on_id, self.on_name)
        return self.on_arguments is effects.append_arguments and others == (None,) * 4

    @property
    def is_fragment(self) -> bool:
        """Whether a fragment made it fire, and not an input of the stream alone."""
        return self.fired[0].input == "fragment"


class Node(dict[int, Cell]):
    """One state of the product: the cells for fragments met in it so far, by input symbols.

    The symbols of index, id, name and arguments make one number, in base six.

    Attributes:
        choice: The part of the state that belongs to the choice.
        fields: Where identity, name and arguments are.
        steady: The cell for a piece of text that fits, once it was met, where it changes no state.
    """

    def __init__(self, rules: Rules, choice: ChoiceNode, fields: tuple[str, ...]) -> None:
        self.rules = rules
        self.choice = choice
        self.fields = fields
        self.steady: Cell | None = None

    def __missing__(self, symbols: int) -> Cell:
        """Compose the cell of these symbols."""
        cell = self[symbols] = self.rules.compose(self, symbols)
        if symbols == MORE and cell.appends and cell.next is self:
            self.steady = cell
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
        truths = (route * 216 == NEW_AND_GUARD, *(part == TEXT_AND_GUARD for part in parts))
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
        on_calls, on_id, on_name, on_arguments = (does.get(machine) for machine in MACHINES[1:])
        return Cell(tuple(fired), after, refusal, tells, on_calls, on_id, on_name, on_arguments)

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
