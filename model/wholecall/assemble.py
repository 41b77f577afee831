"""The assembler: frames in, one judged response out. No I/O, and no client is known here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import Protocol

from wholecall.batch import ChoiceEnd, Finding, Judgement, Part, judge
from wholecall.diagnose import Diagnostic, Origin, upstream_facts
from wholecall.engine import Compiled, Fired
from wholecall.errors import WholecallError
from wholecall.kernel import Kernel, Refusal
from wholecall.limits import Limits
from wholecall.product import FIELDS, Rules
from wholecall.structure import Toolset
from wholecall.text import join_halves, joined
from wholecall.wire import json_type
from wholecall_generated.tables import SPEC

CORE = "core"
"""The one profile there is."""


class ProfileError(WholecallError, LookupError):
    """There is no such profile.

    Attributes:
        profile: What was asked for.
        allowed: The profiles there are.
    """

    def __init__(self, profile: str, allowed: tuple[str, ...]) -> None:
        self.profile = profile
        self.allowed = allowed
        super().__init__(f"no profile {profile!r}; allowed: {', '.join(allowed)}")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a response, with its text as it arrived.

    It may run only where the response's outcome is `whole`. The repr shows no id, name or argument.

    Attributes:
        choice: The choice, by its index.
        index: The call, by its index on the wire.
        id: The id, verbatim; None where none was established.
        name: The joined name; None where none came.
        arguments: The joined argument text, verbatim.
        value: The parsed object; None where the text was not parsed, or is no object.
        parsed: Whether the argument text was whole, strict JSON.
    """

    choice: int
    index: int
    id: str | None = field(repr=False)
    name: str | None = field(repr=False)
    arguments: str = field(repr=False)
    value: dict[str, object] | None = field(default=None, repr=False)
    parsed: bool = False


@dataclass(frozen=True, slots=True)
class Response:
    """What one response amounts to.

    Attributes:
        outcome: `whole`, `answered`, `rejected`, `incomplete` or `refused`.
        fault: The first fault; None where the response is whole or answered.
        faults: A diagnostic for each call found faulty at the stage that refused.
        calls: Every call that was begun, in ascending order of choice and index, also of a refused response.
        content: The text of choice 0.
        fired: The ids of the rows that fired, in their order; a tuple for each input, since there are many.
    """

    outcome: str
    fault: str | None
    faults: tuple[Diagnostic, ...]
    calls: tuple[Call, ...]
    content: str = field(repr=False)
    fired: tuple[tuple[str, ...], ...] = field(repr=False)

    @property
    def rows(self) -> tuple[str, ...]:
        """The ids of the rows that fired, in their order."""
        return tuple(chain.from_iterable(self.fired))


class Sink(Protocol):
    """Keeps the raw argument text of refused calls, where a host asks for it; `Evidence` is one."""

    def keep(self, digest: str, text: str) -> object:
        """Keep a text under the digest that diagnostics show. To fail is no reason to raise."""


class Assembler(Kernel):
    """Assembles one response from its frames; `feed` each, then `close`.

    Args:
        profile: How strictly the wire is read; there is one, `core`.
        limits: What the response may hold.
        tools: The toolset, or the `tools=[...]` list that the host sends to the model; without one, arguments
            need only be objects.
        correlation_id: The host's own id of this response, for diagnostics; minted where none is given.
        attempt: Which attempt of a turn this is, from 1, for diagnostics.
        digest_key: The key of digests in diagnostics, up to 64 bytes; random in each process by default.
        evidence: Is given the raw argument text of each call of which a diagnostic has the digest.

    Errors:
        DigestKeyError: The key of digests is not 1 to 64 bytes.
        ProfileError: There is no such profile.
        ToolsetError: The list of tools cannot be used.
    """

    def __init__(
        self,
        profile: str = CORE,
        limits: Limits | None = None,
        *,
        tools: Toolset | Iterable[Mapping[str, object]] | None = None,
        correlation_id: str | None = None,
        attempt: int = 1,
        digest_key: bytes | None = None,
        evidence: Sink | None = None,
    ) -> None:
        rules = rules_of(profile)
        super().__init__(rules, limits or Limits())
        self.tools = tools if tools is None or isinstance(tools, Toolset) else Toolset.from_openai(tools)
        self.origin = Origin.of(profile, digest_of(profile), attempt, correlation_id, digest_key)
        self.evidence = evidence
        self.proposal = ""
        self._response: Response | None = None

    def close(self, aborted: bool = False) -> Response:
        """The transport has ended: judge what arrived. Later frames change nothing, nor does a second call.

        Args:
            aborted: The transport failed; otherwise it closed cleanly.
        """
        if self._response is None:
            if not self.ended:
                self.tell_all("abort" if aborted else "eof")
            self._response = self._judge()
            self._keep_evidence(self._response)
        return self._response

    def _keep_evidence(self, judged: Response) -> None:
        if self.evidence is None:
            return
        texts: dict[tuple[int | None, int | None], str]
        texts = {(call.choice, call.index): call.arguments for call in judged.calls}
        for found in judged.faults:
            if found.text_digest is not None:
                self.evidence.keep(found.text_digest, texts[found.choice, found.index])

    def _judge(self) -> Response:
        choices = self.choices()
        parts = [
            Part(call.choice, call.index, call.id, call.name, joined(call.arguments), fields)
            for choice in choices
            for call in sorted(choice.calls.values(), key=lambda call: call.index)
            for fields in (dict(zip(FIELDS, call.node.fields, strict=True)),)
        ]
        ends = [ChoiceEnd(c.index, *c.node.states, c.finish) for c in choices]
        judged = judge(self.rules.engine, ends, parts, self.tools, self.limits.depth)
        self.proposal = judged.state
        if self.refusal is not None:
            faults = [self._of_refusal(self.refusal, parts)]
        else:
            faults = [self._of_finding(finding, ends) for finding in judged.findings]
        return Response(
            outcome=self._outcome(ends, judged),
            fault=faults[0].fault if faults else None,
            faults=tuple(faults),
            calls=tuple(map(_call, parts)),
            content=join_halves("".join(self.text)),
            fired=(*self.fired(), *((fired.step.row,) for fired in judged.fired)),
        )

    def _outcome(self, ends: list[ChoiceEnd], judged: Judgement) -> str:
        seen = {
            "stream": frozenset(end.stream for end in ends),
            "proposal": frozenset(filter(None, (judged.state,))),
        }
        return self.rules.spec.join("outcome").decide(seen).gives

    def _of_refusal(self, refusal: Refusal, parts: list[Part]) -> Diagnostic:
        fired, slot = refusal.fired, refusal.call
        part = next((p for p in parts if slot and (p.choice, p.index) == (slot.choice, slot.index)), None)
        facts = {
            **self._where(fired, part),
            "choice": refusal.choice.index,
            "fragment": refusal.fragment or None,
            "finish": self._finish(refusal.choice.finish),
        }
        if fired.input == "other":
            facts["json_type"] = json_type(refusal.value)
        if fired.input == "error":
            facts |= upstream_facts(refusal.value)
        return self.origin.diagnostic(fault=fired.step.fault, **facts)

    def _of_finding(self, finding: Finding, ends: list[ChoiceEnd]) -> Diagnostic:
        part = finding.part
        facts = self._where(finding.fired, part)
        if part is not None:
            facts["finish"] = self._finish(next(e.finish for e in ends if e.index == part.choice))
        return self.origin.diagnostic(fault=finding.fault, **facts)

    def _finish(self, reason: str | None) -> str | None:
        return None if reason is None else self.rules.classify_finish(reason)

    def _where(self, fired: Fired, part: Part | None) -> dict[str, object]:
        facts: dict[str, object] = {
            "row": fired.step.row,
            "machine": fired.machine,
            "state": fired.state,
            "input": fired.input,
        }
        if part is None:
            return facts
        facts |= {
            "choice": part.choice,
            "index": part.index,
            "had_id": part.id is not None,
            "length": len(part.text),
            "id_digest": self.origin.digest(part.id),
            "text_digest": self.origin.digest(part.text),
            "tool": part.name if self.tools is not None and part.name in self.tools else None,
        }
        if part.syntax is not None:
            syntax = part.syntax
            facts["parsed"] = syntax.fault is None
            if syntax.offset is not None:
                facts |= {"offset": syntax.offset, "depth": syntax.depth, "in_string": syntax.in_string}
        if part.structure is not None:
            facts |= {
                "schema_keyword": part.structure.keyword,
                "schema_location": part.structure.location,
            }
        return facts


def _call(part: Part) -> Call:
    parsed = part.syntax is not None and part.syntax.fault is None
    value = part.syntax.value if part.syntax is not None else None
    return Call(
        part.choice,
        part.index,
        part.id,
        part.name or None,
        part.text,
        value if isinstance(value, dict) else None,
        parsed,
    )


@cache
def rules_of(profile: str) -> Rules:
    """The rules of a profile, made once (ProfileError: there is none)."""
    if profile != CORE:
        raise ProfileError(profile, (CORE,))
    return Rules(Compiled(SPEC))


@cache
def digest_of(profile: str) -> str:
    """The digest of the tables of a profile, made once."""
    return rules_of(profile).spec.digest


def read(
    frames: Iterable[object],
    tools: Toolset | Iterable[Mapping[str, object]] | None = None,
    profile: str = CORE,
    limits: Limits | None = None,
) -> Response:
    """Assemble and judge one whole response.

    Args:
        frames: The frames in order; `[DONE]` may end them. Where the iterable ends, the transport closed.
        tools: See `Assembler`.
        profile: See `Assembler`.
        limits: See `Assembler`.

    Errors:
        FrameTypeError: A frame is none that can be read.
        ProfileError: There is no such profile.
        ToolsetError: The list of tools cannot be used.
    """
    assembler = Assembler(profile, limits, tools=tools)
    assembler.feed_all(frames)
    return assembler.close()
