"""The sentences that more than one output prints: those of docstrings, and those that no docstring says."""

from __future__ import annotations

import inspect
import re

from wholecall_spec.table import Evidence

WRITTEN = "Written by `wholecall build` from spec/wholecall_spec; edits are lost."
"""Source and command, for outputs that are no Python."""

ROW_ORDER = ("id", "state", "input", "when", "next", "effect", "fault", "why", "source", "evidence")
"""The members of a row as a reader asks for them: where, what then, why."""

LEVELS = "How strong the source is; a level never passes for another."

EVIDENCE: dict[Evidence, str] = {
    "synthetic": "made to test a boundary",
    "reconstructed": "a shape rebuilt from a public report",
    "recorded": "a stream of a provider, as it came",
    "live": "a run against a provider",
}
"""What each level of evidence means."""

SETTLED = "Of the rows of one state and input exactly one holds, so their order does not matter."
"""What the loader proves of a machine, so that a reader need not try rows in turn."""

TRAVELS = (
    "With a refusal travels the fault that caused it: of several, that of the lowest index, and there of the "
    "machine whose column stands first."
)
"""How a fault crosses a join."""


def members_of(cls: type) -> tuple[str, dict[str, str]]:
    """What the docstring of a type says of it, and of each of its fields."""
    about, _, rest = inspect.cleandoc(cls.__doc__ or "").partition("\n\nAttributes:\n")
    found = re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", rest, re.MULTILINE)
    return " ".join(about.split()), {name: " ".join(text.split()) for name, text in found}
