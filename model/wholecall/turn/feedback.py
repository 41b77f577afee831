"""What a model is told of its last response when another is asked for: what was wrong, where, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from wholecall.diagnose import UNCLASSIFIED, Diagnostic
from wholecall_generated.tables import SPEC

_CALLS: Final = 8
"""Faulty calls that are told one by one."""

_LOCATION: Final = 200
"""Characters of a place in a schema that are told."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """Why the attempt before gave nothing to run. Made of diagnostics, so it holds nothing of the response.

    Attributes:
        fault: The first fault.
        attempt: The attempt that failed, from 1.
        calls: The faulty calls, by index.
        offset: Where the first faulty argument text goes wrong, in characters from 0.
        depth: How deep it is nested there.
        in_string: Whether it ends or fails inside a string.
        text: All of it as one short message.
    """

    fault: str
    attempt: int | None = None
    calls: tuple[int, ...] = ()
    offset: int | None = None
    depth: int | None = None
    in_string: bool | None = None
    text: str = field(default="", repr=False)

    @classmethod
    def of(cls, diagnostics: Sequence[Diagnostic]) -> Feedback:
        """The feedback on one attempt.

        Args:
            diagnostics: The faults of the attempt, the first of them first; at least one.
        """
        first = diagnostics[0]
        findings = [_finding(diagnostic) for diagnostic in diagnostics]
        more = len(findings) - _CALLS
        told = "; ".join(findings[:_CALLS]) + (f"; and {more} more" if more > 0 else "")
        return cls(
            fault=first.fault,
            attempt=first.attempt,
            calls=tuple(d.index for d in diagnostics if d.index is not None),
            offset=first.offset,
            depth=first.depth,
            in_string=first.in_string,
            text=f"Your last response could not be used, and nothing of it was run: {told}. "
            "Give the whole response again.",
        )


def _finding(diagnostic: Diagnostic) -> str:
    known = diagnostic.fault != UNCLASSIFIED
    about = SPEC.fault(diagnostic.fault).about if known else diagnostic.why
    where = ", ".join(_place(diagnostic))
    finding = f"{about} ({where})" if where else about
    if diagnostic.index is None:
        return finding
    tool = "" if diagnostic.tool is None else f" ({diagnostic.tool})"
    return f"call {diagnostic.index}{tool}: {finding}"


def _place(diagnostic: Diagnostic) -> list[str]:
    """Where it went wrong, in the text of the arguments or in the tool's schema."""
    place = []
    if diagnostic.offset is not None:
        place.append(f"at character {diagnostic.offset}")
    if diagnostic.depth is not None:
        place.append(f"at depth {diagnostic.depth}")
    if diagnostic.in_string:
        place.append("inside a string")
    if diagnostic.schema_keyword is not None:
        at = f"#{diagnostic.schema_location or ''}"[:_LOCATION]
        place.append(f"the schema's {diagnostic.schema_keyword} at {at}")
    return place
