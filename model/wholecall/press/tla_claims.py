"""The part of the TLA+ module that says what must hold, under the names that each claim has everywhere."""

from __future__ import annotations

from typing import Final, NamedTuple

from wholecall_spec.statements import sentence_of


class Claim(NamedTuple):
    """One thing that must hold.

    Attributes:
        name: Its name: that of a statement, or one that only TLC is asked.
        kind: How a configuration lists it: `INVARIANTS` of each state, `PROPERTIES` of steps and runs.
        formula: It in TLA+, below its name.
    """

    name: str
    kind: str
    formula: str

    @property
    def sentence(self) -> str:
        """What is claimed."""
        return _OF_TLC.get(self.name) or sentence_of(self.name)


_STATE: Final = "INVARIANTS"
_STEPS: Final = "PROPERTIES"

_OF_TLC: Final = {
    "types_kept": "every variable holds what it may hold",
    "never_stuck": "where a turn is not over, something comes that leads on, and that need not be hoped for",
}
"""What only TLC is asked: what our types hold, and the other half of `always_ends`."""

CLAIMS: Final = (
    Claim(
        "types_kept",
        _STATE,
        r"""
    /\ turn \in TurnStates
    /\ run \in 1..2
    /\ attempts \in Nat
    /\ fault \in FaultNames \cup {Nothing}
    /\ response.kind \in {"none", "reading", "over", "batch"}
    /\ proposal \in ProposalStates \cup {Absent}
    /\ authorized \in BOOLEAN
    /\ tool \in Tools \cup {NoTool}
    /\ \A op \in Range(operations) : op.state \in OperationStates
""",
    ),
    Claim(
        "identity_kept",
        _STEPS,
        r"""
    [][ReadsOn =>
        \A c \in DOMAIN response.choices : \A k \in DOMAIN response.choices[c].calls :
            \/ response.choices[c].calls[k].identity.text = <<>>
            \/ response'.choices[c].calls[k].identity.text = response.choices[c].calls[k].identity.text
      ]_vars
""",
    ),
    Claim(
        "no_invented_id",
        _STATE,
        r"""
    \A call \in Read : \A came \in IdsFor(call) : \A taken \in TakeId(call.identity, came) :
        taken.field.text \in {call.identity.text, came.text}
""",
    ),
    Claim(
        "no_borrowing",
        _STEPS,
        r"""
    [][ReadsOn => \A c \in DOMAIN response.choices :
        LET before == response.choices[c].calls
            after  == response'.choices[c].calls
        IN  after = before \/ OneFragment(before, after)
      ]_vars
""",
    ),
    Claim(
        "raw_preserved",
        _STATE,
        r"""
    \A call \in Read : \A came \in PiecesFor(call) : \A taken \in TakeArguments(call.arguments, came) :
        \/ FieldRefusal(Absent, Absent, Absent, taken.field.state) # Nothing
        \/ taken.field.text = call.arguments.text \o came.text
""",
    ),
    Claim(
        "limits_kept",
        _STATE,
        r"""
    response.kind = "reading" => \A choice \in Range(response.choices) :
        /\ Len(choice.calls) <= CALLS
        /\ \A call \in Range(choice.calls) :
            Len(call.name.text) <= LIMIT /\ Len(call.arguments.text) <= LIMIT
""",
    ),
    Claim(
        "whole_batch_first",
        _STATE,
        r"""
    run = 1 /\ AnyStarted(operations) => proposal = "permitted" /\ authorized
""",
    ),
    Claim(
        "corrupt_never_runs",
        _STATE,
        r"""
    run = 1 /\ AnyStarted(operations) => response.kind = "batch" /\ response.sound
""",
    ),
    Claim(
        "bounded_attempts",
        _STATE,
        r"""
    /\ attempts <= ATTEMPTS
    /\ \A op \in Range(operations) : op.queries <= QUERIES /\ Len(op.tries) <= TRIES
""",
    ),
    Claim(
        "no_regeneration_after_start",
        _STEPS,
        r"""
    [][attempts' > attempts => ~AnyStarted(operations)]_vars
""",
    ),
    Claim(
        "unknown_never_blindly_retried",
        _STEPS,
        r"""
    [][tool.effect = "once" => \A k \in DOMAIN operations :
        LET tries == Len(operations[k].tries)
        IN  tries > 0 /\ Len(operations'[k].tries) > tries => operations'[k].absent >= tries]_vars
""",
    ),
    Claim(
        "no_false_certainty",
        _STATE,
        r"""
    \A op \in Range(operations) :
        /\ op.state = "succeeded" => op.effects > 0 \/ tool.effect = "none"
        /\ op.state = "failed" => op.effects = 0 \/ tool.effect = "none"
        /\ op.state = "cancelled" => op.tries = <<>>
""",
    ),
    Claim(
        "one_effect_per_key",
        _STATE,
        r"""
    \A op \in Range(operations) : op.effects <= 1
""",
    ),
    Claim(
        "refusal_is_not_success",
        _STATE,
        r"""
    run = 1 /\ turn \in TurnGood => Verdict \in {"whole", "answered"}
""",
    ),
    Claim(
        "every_end_explained",
        _STATE,
        r"""
    turn \in TurnFinals \ TurnGood => fault # Nothing
""",
    ),
    Claim(
        "never_stuck",
        _STATE,
        r"""
    turn \in TurnFinals \/ ENABLED <<Comes>>_vars
""",
    ),
    Claim(
        "always_ends",
        _STEPS,
        r"""
    <>[][FALSE]_vars
""",
    ),
)
"""What must hold. That rows and ends can be reached, and that nothing leaks, is shown elsewhere."""

ABOVE: Final = r"""
\* What must hold. That every run ends is told in two: always_ends, that none goes on for ever, and
\* never_stuck, that none stops where the turn is not over.

\* The calls of the response that is being read. Of what may come to each, all is looked at, be it that
\* it leads to no other state.
Read == IF turn = "receiving" /\ response.kind = "reading" THEN Range(Calls(response.choices)) ELSE {}

\* Both before and after this step there is a response that is not forgotten; it is the same one.
ReadsOn == response.kind = "reading" /\ response'.kind = "reading"

\* Nothing but the arguments of one call changed, and those by one piece at their end.
OneFragment(before, after) ==
    \E one \in DOMAIN after : \A k \in DOMAIN after :
        LET text == IF k \in DOMAIN before THEN before[k].arguments.text ELSE <<>>
        IN  \/ after[k].arguments.text = text
            \/ k = one /\ \E piece \in Pieces : after[k].arguments.text = text \o piece.text
"""
"""What the claims are told in."""
