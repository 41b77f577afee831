"""Judges the batch: what a response amounts to once its stream has ended.

The fields end, and the proposal goes through its stages, each of which looks at all calls before the next
begins. What a stage finds is an input; what that means is a row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from wholecall.engine import Engine, Fired
from wholecall.structure import Structure, Toolset, check_object
from wholecall.syntax import Syntax, read_syntax
from wholecall_spec.join import NOTHING
from wholecall_spec.table import CARRIED


@dataclass(slots=True)
class Part:
    """One call as it was assembled, and what the checks say of it.

    Attributes:
        choice: The choice, by its index.
        index: The call, by its index.
        id: The id, where one was established.
        name: The joined name; empty where none came.
        text: The joined argument text.
        states: Where the call's machines are, by machine.
        syntax: What the syntax check said, once it was asked.
        structure: What the structure check said, once it was asked.
    """

    choice: int
    index: int
    id: str | None = field(repr=False)
    name: str = field(repr=False)
    text: str = field(repr=False)
    states: dict[str, str]
    syntax: Syntax | None = None
    structure: Structure | None = None


class Finding(NamedTuple):
    """What was found wrong, with the row that refused and the call it concerns."""

    fired: Fired
    fault: str
    part: Part | None = None


@dataclass(slots=True)
class Judgement:
    """The batch as it was judged.

    Attributes:
        fired: The rows that fired, in their order.
        state: Where the proposal rests.
        findings: What was wrong, of one stage; all calls found faulty at it.
    """

    fired: list[Fired] = field(default_factory=list)
    state: str = ""
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ChoiceEnd:
    """One choice once its stream has ended: where stream and routing are, and its first finish reason."""

    index: int
    stream: str
    routing: str
    finish: str | None


def judge(
    engine: Engine,
    choices: Iterable[ChoiceEnd],
    parts: list[Part],
    tools: Toolset | None,
    depth: int,
) -> Judgement:
    """End the fields, then take the proposal through every stage that needs no tool's own check.

    Args:
        engine: Runs the tables.
        choices: The choices in ascending order.
        parts: The calls in ascending order of choice and index; what the checks say is noted in them.
        tools: The toolset; without one, arguments need only be objects.
        depth: The limit of nesting.
    """
    return _Judge(engine, list(choices), parts, tools, depth).run()


class _Judge:
    def __init__(
        self,
        engine: Engine,
        choices: list[ChoiceEnd],
        parts: list[Part],
        tools: Toolset | None,
        depth: int,
    ) -> None:
        self.engine = engine
        self.choices = choices
        self.parts = parts
        self.tools = tools
        self.depth = depth
        self.done = Judgement()
        self.stages: Final[dict[str, Callable[[], tuple[str, list[tuple[Part | None, str]]]]]] = {
            "filled": self._ids,
            "distinct": self._syntax,
            "parsed": self._structure,
        }

    def run(self) -> Judgement:
        """Judge, as far as it goes."""
        ending = self.engine.spec.join("fields_end")
        says = ending.decide({"stream": frozenset(choice.stream for choice in self.choices)}).gives
        if says == NOTHING:
            return self.done
        refused = self._end_fields(says)
        self.done.state = self.engine.spec.table("proposal").initial
        self._step(self._gathered(), [])
        # What was refused at the end is named by the row that refused it, not by the one that carried it.
        if self.done.fired[-1].step.fault == CARRIED:
            self.done.findings = refused
        while self.done.state in self.stages:
            self._step(*self.stages[self.done.state]())
        return self.done

    def _fire(self, machine: str, state: str, input: str) -> Fired:
        fired = Fired(machine, state, input, self.engine.step(machine, state, input))
        self.done.fired.append(fired)
        return fired

    def _end_fields(self, input: str) -> list[Finding]:
        refused = []
        for choice in self.choices:
            self._fire("routing", choice.routing, input)
        for part in self.parts:
            for machine, state in part.states.items():
                fired = self._fire(machine, state, input)
                part.states[machine] = fired.step.state
                if fired.step.fault:
                    refused.append(Finding(fired, fired.step.fault, part))
        return refused

    def _gathered(self) -> str:
        join = self.engine.spec.join("gathered")
        announcing = next(fact.values for fact in join.facts if fact.name == "announced")
        facts = {
            "many_choices": len({part.choice for part in self.parts}) > 1,
            "announced": any(choice.finish in announcing for choice in self.choices),
        }
        seen = {
            column.machine: frozenset(part.states[column.machine] for part in self.parts)
            for column in join.reads
        }
        return join.decide(seen, facts).gives

    def _step(self, input: str, wrong: list[tuple[Part | None, str]]) -> None:
        fired = self._fire("proposal", self.done.state, input)
        self.done.state = fired.step.state
        fault = fired.step.fault
        if fault:
            self.done.findings = [
                Finding(fired, carried if fault == CARRIED else fault, part)
                for part, carried in wrong or [(None, "")]
            ]

    def _ids(self) -> tuple[str, list[tuple[Part | None, str]]]:
        times = Counter(part.id for part in self.parts)
        twice: list[tuple[Part | None, str]] = [(p, "") for p in self.parts if times[p.id] > 1]
        return ("duplicate_id" if twice else "distinct_ids"), twice

    def _syntax(self) -> tuple[str, list[tuple[Part | None, str]]]:
        wrong: list[tuple[Part | None, str]] = []
        for part in self.parts:
            part.syntax = read_syntax(part.text, self.depth)
            if part.syntax.fault:
                wrong.append((part, part.syntax.fault))
        return ("bad_syntax" if wrong else "syntax_ok"), wrong

    def _structure(self) -> tuple[str, list[tuple[Part | None, str]]]:
        wrong: list[tuple[Part | None, str]] = []
        for part in self.parts:
            value = part.syntax.value if part.syntax else None
            checked = check_object(value) if self.tools is None else self.tools.check(part.name, value)
            part.structure = checked
            if checked.fault:
                wrong.append((part, checked.fault))
        return ("bad_structure" if wrong else "structure_ok"), wrong
