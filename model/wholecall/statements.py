"""What must hold, in one sentence each: the names under which it is explored, proved and fuzzed."""

from __future__ import annotations

from typing import Final, NamedTuple


class Statement(NamedTuple):
    """One thing that is claimed.

    Attributes:
        name: Its name.
        kind: `always`: in every state and every move. `sometimes`: something that must be possible.
            `always_ends`: no run goes on for ever.
        sentence: What is claimed.
    """

    name: str
    kind: str
    sentence: str


ALWAYS: Final = (
    ("identity_kept", "an established id never changes or clears within its response"),
    ("no_invented_id", "every id of a proposal arrived verbatim at that index of that response"),
    ("no_borrowing", "a call's arguments are exactly its own fragments, in order"),
    ("raw_preserved", "raw text is never altered, repaired or replaced"),
    ("limits_kept", "calls, names and arguments stay within their limits"),
    ("whole_batch_first", "nothing starts unless every call is permitted and the batch authorized"),
    ("corrupt_never_runs", "a call that failed a check is executed zero times"),
    ("bounded_attempts", "requests, queries per run and tries per key stay within their limits"),
    (
        "no_regeneration_after_start",
        "once an operation of a turn id started, that turn makes no request",
    ),
    (
        "unknown_never_blindly_retried",
        "an uncertain operation is queried, or retried under its key, or left unresolved",
    ),
    (
        "no_false_certainty",
        "an operation ends succeeded, failed or cancelled only where its effect is known",
    ),
    (
        "one_effect_per_key",
        "at most one effect per idempotency key, through crashes and concurrent workers",
    ),
    (
        "refusal_is_not_success",
        "nothing of a refused, incomplete or rejected response runs, or makes a turn end settled or answered",
    ),
    ("every_end_explained", "every end but a good one carries a fault"),
    (
        "diagnostics_bounded",
        "no secret planted in arguments, ids or content appears in any diagnostic, log, message or repr",
    ),
)

SOMETIMES: Final = (
    ("every_row", "every row of every table and join fires in some run"),
    ("every_final", "every final state of every machine is reached in some run"),
    ("settled_after_null", "a turn settles whose response had a null continuation"),
    ("settled_after_regeneration", "a turn settles whose first response could not be used"),
)

STATEMENTS: Final = (
    *(Statement(name, "always", sentence) for name, sentence in ALWAYS),
    *(Statement(name, "sometimes", sentence) for name, sentence in SOMETIMES),
    Statement(
        "always_ends",
        "always_ends",
        "every response and every turn with a finite environment reaches a final state",
    ),
)
"""Everything that is claimed."""


def sentence_of(name: str) -> str:
    """The sentence of a statement (KeyError: there is none of this name)."""
    return {statement.name: statement.sentence for statement in STATEMENTS}[name]
