"""Cases: a stream written down with what must come of it (design §7).

A case states its dialect and its level of evidence. It is read here, run, and held to what it expects; how
that is printed is the business of the command. What is said of a difference never holds an id, a name or
argument text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final, cast, get_args

from wholecall.assemble import CORE, Assembler, Call, Response
from wholecall.errors import WholecallError
from wholecall.limits import LimitError, Limits
from wholecall.structure import Toolset
from wholecall_spec.page import unknown
from wholecall_spec.table import Evidence

DIALECTS: Final = ("chat",)
"""The dialects that are built."""

EOF: Final = {"eof": True}
ABORT: Final = {"abort": True}
"""Chunks that are no frames: the transport closed cleanly, or failed."""


class CaseError(WholecallError, ValueError):
    """A record is no case.

    Attributes:
        what: What is wrong, in one line.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(what)


def read_chunks(
    chunks: Iterable[object],
    tools: Toolset | Iterable[Mapping[str, object]] | None = None,
    profile: str = CORE,
    limits: Limits | None = None,
) -> Response:
    """Assemble the `chunks` of a case.

    Args:
        chunks: Frames. Of the control frames, `{"eof": true}` closes the stream and `{"abort": true}` fails
            it; `"[DONE]"` is what it is on the wire, and any other string is the raw text of a frame. The end
            of the list closes the stream.
        tools: See `Assembler`.
        profile: See `Assembler`.
        limits: See `Assembler`.

    Errors:
        FrameTypeError: A chunk is no JSON value.
        ProfileError: There is no such profile.
        ToolsetError: The list of tools cannot be used.
    """
    assembler = Assembler(profile, limits, tools=tools)
    for chunk in chunks:
        if chunk == EOF:
            break
        if chunk == ABORT:
            return assembler.close(aborted=True)
        assembler.feed(chunk)
    return assembler.close()


@dataclass(frozen=True, slots=True)
class Case:
    """One stream and what must come of it.

    Attributes:
        id: Its name, for reports.
        dialect: How the wire speaks; only a case of a dialect that is built can be run.
        evidence: How it came to be known.
        chunks: The stream; see `read_chunks`.
        expect: What core must make of it: `outcome`, and perhaps `fault` and `calls`.
        tools: The `tools=[...]` list, where it has one.
        overlays: The overlays with which it was wished to be whole, where it was.
        wanted: The calls that were wished for then.
        limits: What it is judged with, where that is not the usual.
        before: Earlier streams that whoever is asked it is to have read.
    """

    id: str
    dialect: str
    evidence: Evidence
    chunks: Sequence[object]
    expect: Mapping[str, object]
    tools: Sequence[Mapping[str, object]] | None = None
    overlays: frozenset[str] = frozenset()
    wanted: Sequence[object] = ()
    limits: Limits | None = None
    before: Sequence[Sequence[object]] = ()

    @property
    def built(self) -> bool:
        """Whether its dialect is built."""
        return self.dialect in DIALECTS

    @classmethod
    def load(cls, record: object) -> Case:
        """Read a record; keys not named in design §7 are ignored, and of an unbuilt dialect nearly all are.

        Errors:
            CaseError: It is no case.
        """
        if not isinstance(record, dict):
            raise CaseError("a case is a JSON object")
        name, dialect, level = (_text(record, key) for key in ("id", "dialect", "evidence"))
        if level not in get_args(Evidence):
            raise CaseError(unknown("level of evidence", level, get_args(Evidence)))
        evidence = cast(Evidence, level)
        if dialect not in DIALECTS:
            return cls(name, dialect, evidence, (), {})
        expect = record.get("expect")
        if not isinstance(expect, dict):
            raise CaseError("expect must be an object")
        _text(expect, "outcome")
        _calls(expect, "calls")
        chunks, tools = record.get("chunks"), record.get("tools")
        if not isinstance(chunks, list):
            raise CaseError("chunks must be a list")
        overlays = record.get("wanted_overlays", [])
        if not isinstance(overlays, list) or not all(isinstance(overlay, str) for overlay in overlays):
            raise CaseError("wanted_overlays must be a list of names")
        wanted = _calls(record, "wanted_calls")
        before = record.get("before", [])
        if not isinstance(before, list) or not all(isinstance(earlier, list) for earlier in before):
            raise CaseError("before must be a list of lists of chunks")
        limits = _limits(record.get("limits"))
        of = frozenset(overlays)
        return cls(name, dialect, evidence, chunks, expect, tools, of, wanted, limits, before)

    def expected(self, profile: str = CORE) -> Mapping[str, object]:
        """What must come of it under this profile: the calls wished for, if it is the one wished for."""
        if not self.overlays or self.overlays != frozenset(profile.split(",")):
            return self.expect
        return {"outcome": "whole" if self.wanted else "answered", "calls": self.wanted}

    def run(self, profile: str = CORE) -> Response:
        """What comes of it (errors: see `read_chunks`)."""
        return read_chunks(self.chunks, self.tools, profile, self.limits)


def differences(expected: Mapping[str, object], response: Response) -> list[str]:
    """In what a response is not as expected; only what is expected is looked at.

    Args:
        expected: `outcome`, and perhaps `fault` and `calls`, of each of which only the given keys count.
        response: What came.
    """
    found = []
    if response.outcome != expected["outcome"]:
        found.append("outcome")
    if "fault" in expected and response.fault != expected["fault"]:
        found.append("fault")
    if "calls" in expected:
        calls = _calls(expected, "calls")
        if len(calls) != len(response.calls):
            found.append(f"{len(response.calls)} calls instead of {len(calls)}")
        for number, (call, got) in enumerate(zip(calls, response.calls, strict=False), 1):
            found += [f"{key} of call {number}" for key in _CALL_KEYS if _differs(call, got, key)]
    return found


_CALL_KEYS: Final = ("index", "id", "name", "arguments")


def _differs(call: Mapping[str, object], got: Call, key: str) -> bool:
    return key in call and call[key] != getattr(got, key)


def _text(record: Mapping[str, object], key: str) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        raise CaseError(f"{key} must be text")
    return value


def _limits(value: object) -> Limits | None:
    if value is None:
        return None
    names = [field.name for field in fields(Limits)]
    if not isinstance(value, dict) or not value.keys() <= {*names}:
        raise CaseError(f"limits must be an object of {', '.join(names)}")
    trouble = ""
    try:
        return Limits(**value)
    except LimitError as error:
        trouble = str(error)
    raise CaseError(trouble)


def _calls(record: Mapping[str, object], key: str) -> Sequence[Mapping[str, object]]:
    value = record.get(key, [])
    if not isinstance(value, list) or not all(isinstance(call, dict) for call in value):
        raise CaseError(f"{key} must be a list of objects")
    return value
