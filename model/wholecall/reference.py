"""The reference: one response, each machine walked by itself through `transitions`, nothing composed.

Slow, and obviously the table. Tests compare the assembler with it after every frame; it is also what to
read first to see what the tables mean together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from msgspec import UNSET

from wholecall import effects, guards
from wholecall.batch import ChoiceEnd, Judgement, Part, judge
from wholecall.engine import Engine
from wholecall.limits import Limits
from wholecall.machines import Reference
from wholecall.product import FIELDS
from wholecall.structure import Toolset
from wholecall.text import NO_TEXT, Rope, joined
from wholecall.wire import Choice, Control, Fragment, Function, decode, is_error
from wholecall_generated.tables import SPEC
from wholecall_spec.join import ABSENT, NOTHING
from wholecall_spec.spec import Spec


@dataclass
class ReferenceCall:
    """One call: where its machines are, and what arrived."""

    index: int
    states: dict[str, str]
    id: str | None = field(default=None, repr=False)
    name: str = field(default="", repr=False)
    arguments: Rope = field(default=NO_TEXT, repr=False)


@dataclass
class ReferenceChoice:
    """One choice: where its machines are, its calls, and its first finish reason."""

    index: int
    states: dict[str, str]
    calls: dict[int, ReferenceCall] = field(default_factory=dict)
    finish: str | None = None


@cache
def reference_engine() -> Engine:
    """The engine on `transitions` for the packaged tables, made once."""
    return Reference(SPEC)


class ReferenceAssembler:
    """Reads one response as `Assembler` does, and says the same: rows, states, outcome and fault."""

    def __init__(
        self, engine: Engine | None = None, limits: Limits | None = None, tools: Toolset | None = None
    ) -> None:
        self.engine = engine or reference_engine()
        self.spec: Spec = self.engine.spec
        self.limits = limits or Limits()
        self.tools = tools
        self.rows: list[str] = []
        self.fault: str | None = None
        self.ended = False
        self.choices: dict[int, ReferenceChoice] = {}
        self._choice(0)

    def feed(self, frame: object) -> None:
        """Read one frame."""
        if self.ended:
            return
        read = decode(frame)
        if isinstance(read, Control):
            self._tell_all(read.value)
        elif is_error(read.error):
            self._tell_all("error")
        elif not read.choices:
            self._tell_all("content")
        else:
            for part in read.choices:
                if not self.ended:
                    self._read(part)

    def close(self, aborted: bool = False) -> str:
        """The transport has ended: judge what arrived, and give the outcome."""
        if not self.ended:
            self._tell_all("abort" if aborted else "eof")
        judged = self._judge()
        self.rows += [fired.step.row for fired in judged.fired]
        if self.fault is None and judged.findings:
            self.fault = judged.findings[0].fault
        seen = {
            "stream": frozenset(choice.states["stream"] for choice in self.choices.values()),
            "proposal": frozenset(filter(None, (judged.state,))),
        }
        return self.spec.join("outcome").decide(seen).gives

    def _judge(self) -> Judgement:
        choices = [self.choices[index] for index in sorted(self.choices)]
        ends = [ChoiceEnd(c.index, c.states["stream"], c.states["routing"], c.finish) for c in choices]
        parts = [
            Part(c.index, call.index, call.id, call.name, joined(call.arguments), dict(call.states))
            for c in choices
            for _, call in sorted(c.calls.items())
        ]
        return judge(self.engine, ends, parts, self.tools, self.limits.depth)

    def _choice(self, index: int) -> ReferenceChoice:
        states = {machine: self.spec.table(machine).initial for machine in ("stream", "routing")}
        return self.choices.setdefault(index, ReferenceChoice(index, states))

    def _step(
        self, states: dict[str, str], machine: str, input: str, truths: Mapping[str, bool]
    ) -> tuple[str, str]:
        """Move one machine; the effect and the fault of its row."""
        step = self.engine.step(machine, states[machine], input, truths)
        self.rows.append(step.row)
        states[machine] = step.state
        return step.effect, step.fault

    def _tell(self, choice: ReferenceChoice, input: str, reason: str = "", carried: str = "") -> None:
        effect, fault = self._step(choice.states, "stream", input, {})
        if fault:
            self.fault = carried if fault == "carried" else fault
            self.ended = True
        elif effect:
            choice.finish = getattr(effects, effect)(choice.finish, reason)

    def _tell_all(self, input: str) -> None:
        for index in sorted(self.choices):
            if self.fault is None:
                self._tell(self.choices[index], input)
        self.ended = self.ended or input in ("done", "eof", "abort")

    def _read(self, part: Choice) -> None:
        choice = self._choice(part.index or 0)
        fragments = (part.delta.tool_calls if part.delta else None) or []
        for fragment in fragments:
            if not self.ended:
                self._tell(choice, "fragment")
            if not self.ended:
                self._read_fragment(choice, fragment)
        if not fragments:
            self._tell(choice, "content")
        if part.finish_reason and not self.ended:
            reason = part.finish_reason
            self._tell(choice, self.spec.table("stream").classify(reason), reason)

    def _read_fragment(self, choice: ReferenceChoice, fragment: Fragment) -> None:
        index, input = fragment.index, _index_class(fragment.index, choice.calls)
        truths = {"calls_left": guards.calls_left(len(choice.calls), self.limits.calls)}
        effect, fault = self._step(choice.states, "routing", input, truths)
        if self._refused(choice, "routing", choice.states["routing"], fault):
            return
        assert isinstance(index, int)
        if effect == "open_call":
            fresh = {machine: self.spec.table(machine).initial for machine in FIELDS}
            choice.calls = effects.open_call(choice.calls, ReferenceCall(index, fresh))
        call = choice.calls[index]
        function = fragment.function or Function()
        values = {"identity": fragment.id, "name": function.name, "arguments": function.arguments}
        for machine, value in values.items():
            effect, fault = self._step(
                call.states, machine, field_class(value), self._truths(call, machine, value)
            )
            if self._refused(choice, machine, call.states[machine], fault):
                return
            if effect:
                slot = {"identity": "id"}.get(machine, machine)
                setattr(call, slot, getattr(effects, effect)(getattr(call, slot), value))

    def _truths(self, call: ReferenceCall, machine: str, value: object) -> dict[str, bool]:
        if not isinstance(value, str):
            return {}
        if machine == "identity":
            return {"same_id": guards.same_id(call.id, value)}
        if machine == "name":
            return {"name_fits": guards.name_fits(call.name, value, self.limits.name)}
        fits = guards.arguments_fit(call.arguments, value, self.limits.arguments)
        return {"arguments_fit": fits}

    def _refused(self, choice: ReferenceChoice, machine: str, state: str, fault: str) -> bool:
        """Whether the stream is told of a refusal; then it is told."""
        gives = self.said(machine, state)
        if gives != NOTHING:
            self._tell(choice, gives, carried=fault)
        return gives != NOTHING

    def said(self, machine: str, state: str) -> str:
        """What the stream is told where this machine is in this state."""
        join = self.spec.join("field_refusal")
        seen = {c.machine: frozenset((ABSENT,)) for c in join.reads} | {machine: frozenset((state,))}
        return join.decide(seen).gives


def field_class(value: object) -> str:
    """The class in which the value of a field falls (design §3)."""
    if value is UNSET:
        return "omitted"
    if value is None:
        return "null"
    if isinstance(value, str):
        return "text" if value else "empty"
    return "other"


def _index_class(index: object, calls: Mapping[int, object]) -> str:
    if index is UNSET or index is None:
        return "missing"
    if type(index) is not int or index < 0:
        return "other"
    return "known" if index in calls else "new"
