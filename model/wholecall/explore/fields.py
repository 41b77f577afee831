"""One field of a call, its id, name or arguments: what it does with a value of each class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from wholecall import effects, guards
from wholecall.explore.machines import NOWHERE, Machines
from wholecall.explore.scope import LIMIT, Value
from wholecall.text import NO_TEXT, Rope, joined
from wholecall_spec.statements import identity_kept, limits_kept, no_borrowing, no_invented_id, raw_preserved

FIELDS: Final = ("identity", "name", "arguments")
"""The machines of a call, in the order in which a fragment meets them."""


class Taken(NamedTuple):
    """What a field does with a value.

    Attributes:
        value: The value.
        row: The id of the row; empty where there is none.
        state: Where its machine is then.
        text: What it holds then.
        fault: The fault, where it refuses.
        broken: The invariants that this breaks.
    """

    value: Value
    row: str
    state: str
    text: str
    fault: str
    broken: tuple[str, ...]


class Fields:
    """What every field does with every value, each worked out once.

    Args:
        machines: Run the tables.
        every: Whether values that come to the same are all told.
        limit: Characters of a name, and of the arguments of a call.
    """

    def __init__(self, machines: Machines, every: bool = False, limit: int = LIMIT) -> None:
        self.machines = machines
        self.every = every
        self.limit = limit
        self._taken: dict[tuple[str, str, str, Value], Taken] = {}
        self._distinct: dict[tuple[str, str, str, tuple[Value, ...]], list[Taken]] = {}

    def distinct(self, machine: str, state: str, text: str, values: tuple[Value, ...]) -> list[Taken]:
        """What a field does with these values; of several that come to the same, the first."""
        key = (machine, state, text, values)
        found = self._distinct.get(key)
        if found is None:
            every = [self.take(machine, state, text, value) for value in values]
            first = list({one[2:]: one for one in reversed(every)}.values())[::-1]
            found = self._distinct[key] = every if self.every else first
        return found

    def take(self, machine: str, state: str, text: str, value: Value) -> Taken:
        """What a field does with one value.

        Args:
            machine: The field, by its machine.
            state: Where the machine is.
            text: What the field holds.
            value: What came.
        """
        key = (machine, state, text, value)
        found = self._taken.get(key)
        if found is None:
            step = self.machines.step(machine, state, value.input, _truths(text, value.text, self.limit))
            refused = step is NOWHERE or self.machines.refusal(machine, step.state)
            after = _effect(step.effect, text, value.text) if step.effect and not refused else text
            broken = tuple(_broken(machine, text, after, value.text, bool(refused)))
            found = Taken(value, step.row, step.state, after, step.fault, broken)
            self._taken[key] = found
        return found

    def fragments(
        self, states: tuple[str, ...], texts: tuple[str, ...], values: tuple[tuple[Value, ...], ...]
    ) -> list[tuple[Taken, ...]]:
        """What the fields of a call do with each fragment, up to the field that refuses.

        Args:
            states: Where the machine of each field is.
            texts: What each field holds.
            values: What may come to each field.
        """
        found: list[tuple[Taken, ...]] = [()]
        for column in zip(FIELDS, states, texts, values, strict=True):
            longer = []
            for taken in found:
                over = taken and (taken[-1].fault or not taken[-1].row)
                longer += [taken] if over else [(*taken, one) for one in self.distinct(*column)]
            found = longer
        return found


def _truths(text: str, more: str, limit: int) -> dict[str, bool]:
    """The guards of every field; each row asks for its own."""
    return {
        "same_id": guards.same_id(text, more),
        "name_fits": guards.name_fits(text, more, limit),
        "arguments_fit": guards.arguments_fit(_rope(text), more, limit),
    }


def _effect(name: str, text: str, more: str) -> str:
    if name == "append_arguments":
        return joined(effects.append_arguments(_rope(text), more))
    after = getattr(effects, name)(text, more)
    assert isinstance(after, str)
    return after


def _rope(text: str) -> Rope:
    return effects.append_arguments(NO_TEXT, text) if text else NO_TEXT


def _broken(machine: str, text: str, after: str, more: str, refused: bool) -> Iterator[str]:
    if machine == "identity":
        yield from identity_kept.broken(text or None, after)
        yield from no_invented_id.broken(after, (text, more))
        return
    yield from limits_kept.broken(len(after), LIMIT)
    if machine == "arguments":
        yield from no_borrowing.broken(after, (text, text + more))
        if not refused:
            yield from raw_preserved.broken(after, text + more)
