"""What must hold: each statement with its name, its sentence and, where single facts decide it, its function.

The functions know no more than those facts, so that a model and the real code can be asked the same: whoever
explores asks them of every move, and whoever fuzzes of what the world saw.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVarTuple

Facts = TypeVarTuple("Facts")

USABLE: Final = ("whole", "answered")
"""The outcomes of a response that may be used; every other one is a refusal."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that is claimed.

    Attributes:
        name: Its name.
        kind: `always`: in every state and every move. `sometimes`: something that must be possible.
            `always_ends`: no run goes on for ever.
        sentence: What is claimed.
        asked_of: What real code it is asked of too, by fuzzing: `responses`, `turns`, or neither.
        explored: Whether it can be asked of a model; one that is not is held by fuzzing alone.
    """

    name: str
    kind: str
    sentence: str
    asked_of: tuple[str, ...] = ()
    explored: bool = True


@dataclass(frozen=True, slots=True)
class Invariant(Statement, Generic[*Facts]):
    """A statement that single facts decide.

    Attributes:
        holds: Whether it holds of such facts.
    """

    holds: Callable[[*Facts], bool] = field(kw_only=True)

    def broken(self, *facts: *Facts) -> tuple[str, ...]:
        """Its name where these facts break it; else nothing."""
        return () if self.holds(*facts) else (self.name,)


def _claim(
    sentence: str, *asked_of: str, kind: str = "always", explored: bool = True
) -> Callable[[Callable[[*Facts], bool]], Invariant[*Facts]]:
    """Make the function below an invariant of its name."""

    def named(holds: Callable[[*Facts], bool]) -> Invariant[*Facts]:
        return Invariant(holds.__name__, kind, sentence, asked_of, explored, holds=holds)

    return named


# -- a response ------------------------------------------------------------------------------------------


@_claim("an established id never changes or clears within its response", "responses")
def identity_kept(before: str | None, now: str | None) -> bool:
    """The id of a call before something came and after it; None where none was established."""
    return before is None or now == before


@_claim("every id of a proposal arrived verbatim at that index of that response", "responses")
def no_invented_id(id: str | None, arrived: Collection[str]) -> bool:
    """The id of a call, and every id text that arrived at its index."""
    return id is None or id in arrived


@_claim("a call's arguments are exactly its own fragments, in order", "responses")
def no_borrowing(text: str, grown: Collection[str]) -> bool:
    """The arguments of a call, and the texts that its own fragments make, one after the other."""
    return text in grown


@_claim("raw text is never altered, repaired or replaced", "responses")
def raw_preserved(text: str, sent: str) -> bool:
    """The arguments of a call that was not refused, and all that was sent of them."""
    return text == sent


@_claim("calls, names and arguments stay within their limits", "responses")
def limits_kept(size: int, limit: int) -> bool:
    """How many calls, or how many characters, and how many there may be."""
    return size <= limit


# -- a turn and its operations ---------------------------------------------------------------------------


@_claim("nothing starts unless every call is permitted and the batch authorized", "turns")
def whole_batch_first(permitted: bool, authorized: bool) -> bool:
    """Of a batch of which a call runs: whether each of its calls is permitted, and the host allowed it."""
    return permitted and authorized


@_claim("a call that failed a check is executed zero times", "turns")
def corrupt_never_runs(sound: bool, times: int) -> bool:
    """Whether a call passes every check, and how often it was executed."""
    return sound or times == 0


@_claim("requests, queries per run and tries per key stay within their limits", "turns")
def bounded_attempts(made: int, limit: int) -> bool:
    """How many of one of these were made, and how many may be."""
    return made <= limit


@_claim("once an operation of a turn id started, that turn makes no request", "turns")
def no_regeneration_after_start(started: bool, requests: int) -> bool:
    """Whether an operation had started, and how many requests were made then."""
    return not started or requests == 0


@_claim("an uncertain operation is queried, or retried under its key, or left unresolved", "turns")
def unknown_never_blindly_retried(effect: str, earlier: int, absent: int, recorded: bool) -> bool:
    """Of a run of a tool: its effect, the tries before it, how many of them are known absent, and its record.

    It has one where it is the only run of a try of its own under the key.
    """
    return recorded and (effect != "once" or absent >= earlier)


@_claim("an operation ends succeeded, failed or cancelled only where its effect is known", "turns")
def no_false_certainty(state: str, effect: str, happened: bool, ran: bool) -> bool:
    """Where an operation is, its tool's effect, whether that happened, and whether the tool ever ran."""
    known = {"succeeded": happened, "failed": not happened or effect == "none", "cancelled": not ran}
    return known.get(state, True)


@_claim("at most one effect per idempotency key, through crashes and concurrent workers", "turns")
def one_effect_per_key(effect: str, times: int) -> bool:
    """The tool's effect, and how often it happened under the key."""
    return effect == "none" or times <= 1


@_claim(
    "nothing of a refused, incomplete or rejected response runs, or makes a turn end settled or answered",
    *("responses", "turns"),
)
def refusal_is_not_success(success: bool, refused: bool) -> bool:
    """Whether something is told as a success, and whether the response that it stands on is refused."""
    return not (success and refused)


@_claim("every end but a good one carries a fault", "responses", "turns")
def every_end_explained(good: bool, faults: Collection[str], known: Collection[str]) -> bool:
    """Whether an end is a good one, the faults that it carries, and those that there are."""
    return good or (bool(faults) and all(fault in known for fault in faults))


@_claim(
    "no secret planted in arguments, ids or content appears in any diagnostic, log, message or repr",
    *("responses", "turns"),
    explored=False,
)
def diagnostics_bounded(secrets: Collection[str], shown: Collection[str]) -> bool:
    """Texts that may not be shown, and all texts that were. A model has none, so only fuzzing asks this."""
    return not any(secret in text for secret in secrets for text in shown)


@_claim(
    "every response and every turn with a finite environment reaches a final state",
    *("responses", "turns"),
    kind="always_ends",
)
def always_ends(rests: str, ends: Collection[str]) -> bool:
    """Where a run went no further, and where it may. That none goes on for ever, only an explorer sees."""
    return rests in ends


# -- what must be possible -------------------------------------------------------------------------------

EVERY_ROW: Final = Statement("every_row", "sometimes", "every row of every table and join fires in some run")
EVERY_FINAL: Final = Statement(
    "every_final", "sometimes", "every final state of every machine is reached in some run"
)
SETTLED_AFTER_NULL: Final = Statement(
    "settled_after_null", "sometimes", "a turn settles whose response had a null continuation"
)
SETTLED_AFTER_REGENERATION: Final = Statement(
    "settled_after_regeneration", "sometimes", "a turn settles whose first response could not be used"
)

STATEMENTS: Final[tuple[Statement, ...]] = (
    *(identity_kept, no_invented_id, no_borrowing, raw_preserved, limits_kept),
    *(whole_batch_first, corrupt_never_runs, bounded_attempts, no_regeneration_after_start),
    *(unknown_never_blindly_retried, no_false_certainty, one_effect_per_key),
    *(refusal_is_not_success, every_end_explained, diagnostics_bounded),
    *(EVERY_ROW, EVERY_FINAL, SETTLED_AFTER_NULL, SETTLED_AFTER_REGENERATION),
    always_ends,
)
"""Everything that is claimed."""


def sentence_of(name: str) -> str:
    """The sentence of a statement (KeyError: there is none of this name)."""
    return {statement.name: statement.sentence for statement in STATEMENTS}[name]
