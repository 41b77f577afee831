"""The part of the TLA+ module that is about one operation in its world."""

from __future__ import annotations

from typing import Final

OPERATIONS: Final = r"""
--------------------------------------------------------------------------------
\* A tool declares its effect, and whether it has a query. All operations of a batch run one tool.

AllTools == <<[effect |-> "once", query |-> TRUE], [effect |-> "once", query |-> FALSE],
              [effect |-> "idempotent", query |-> TRUE], [effect |-> "idempotent", query |-> FALSE],
              [effect |-> "none", query |-> TRUE], [effect |-> "none", query |-> FALSE]>>
Tools == {AllTools[n] : n \in 1..TOOLS}
NoTool == [effect |-> Nothing, query |-> FALSE]

\* An operation is where its machine is, how often it was asked about in this run, how many of its
\* tries, from the first, a query promised never to happen, what is with each try, and how often its
\* effect really happened. Of the tries and the effect the machine sees nothing. A try
\*   runs     and has not written,
\*   wrote    and has not answered,
\*   adrift   may still write, and will not answer, or is
\*   over     so that nothing comes of it any more.

Planned == [state |-> OperationInitial, queries |-> 0, absent |-> 0, tries |-> <<>>, effects |-> 0]

\* An answer is of some try; what is none is of no try.
NoTry == 0

\* The operation sees an input.
Sees(with, op, input, try) ==
    LET tries == Len(op.tries)
        latest == try = tries
        others_absent == op.absent + 1 >= tries
        effectless == with.effect = "none"
        idempotent == with.effect # "once"  \* what only reads can be repeated too
        tries_left == tries < TRIES
        queries_left == with.query /\ op.queries < QUERIES
    IN  {[op EXCEPT !.state = step.next,
                    !.tries = IF step.effect = "open_try" THEN Append(@, "runs") ELSE @] :
            step \in Operation[op.state, input,
                               latest, others_absent, effectless, idempotent, tries_left, queries_left]}

\* A try writes; nobody sees it. Under one key an idempotent tool has one effect, however often it runs.
Writes(with, op) ==
    {[op EXCEPT !.tries[n] = IF @ = "runs" THEN "wrote" ELSE "over",
                !.effects = IF with.effect = "once" THEN @ + 1 ELSE 1] :
        n \in {m \in DOMAIN op.tries : with.effect # "none" /\ op.tries[m] \in {"runs", "adrift"}}}

\* A try that may have nothing left to do but to answer.
MayAnswer(with, status) == status = "wrote" \/ (status = "runs" /\ with.effect = "none")

\* A try answers, be it late: its result, or its promise that it wrote nothing.
Answers(with, op) ==
    UNION {
        LET over == [op EXCEPT !.tries[n] = "over"]
        IN  (IF MayAnswer(with, op.tries[n]) THEN Sees(with, over, "result", n) ELSE {})
                \cup (IF op.tries[n] = "runs" THEN Sees(with, over, "declared_failure", n) ELSE {})
        : n \in DOMAIN op.tries}

\* The latest try ends without an answer.
EndsOfTry(with, op) ==
    LET n == Len(op.tries)
    IN  Sees(with, [op EXCEPT !.tries[n] = IF @ = "runs" THEN "adrift" ELSE "over"], "raised", NoTry)
            \cup Sees(with, op, "timeout", NoTry)
            \cup (IF MayAnswer(with, op.tries[n])
                  THEN Sees(with, op, "unrecorded", NoTry)  \* it may be recorded later
                  ELSE {})

\* It is asked whether the effect happened, as long as that may be asked. A query that finds no effect
\* promises that there never will be one.
Queries(with, op) ==
    IF ~with.query \/ op.queries >= QUERIES
    THEN Sees(with, op, "unanswerable", NoTry)
    ELSE LET asked == [op EXCEPT !.queries = @ + 1]
             never == [asked EXCEPT !.tries = [n \in DOMAIN @ |-> "over"], !.absent = Len(op.tries)]
         IN  Sees(with, asked, "unanswerable", NoTry)
                \cup (IF op.effects > 0
                      THEN Sees(with, asked, "found_applied", NoTry)
                      ELSE Sees(with, never, "found_absent", NoTry))

\* What comes to an operation, but for writes. Only a turn that reconciles asks.
Runs(with, op, asks) ==
    CASE op.state = "planned" ->
            Sees(with, op, "start", NoTry)
                \cup Sees(with, [op EXCEPT !.tries = Append(@, "adrift")], "taken", NoTry)
                \cup Sees(with, op, "unrecorded", NoTry)
      [] op.state = "started" -> Answers(with, op) \cup EndsOfTry(with, op)
      [] op.state = "uncertain" -> Answers(with, op) \cup (IF asks THEN Queries(with, op) ELSE {})
      [] OTHER -> {}

\* What a cancelled turn, and a run that finds what an earlier one left, say to an operation.
Told(with, op, input) ==
    CASE op.state \in OperationFinals -> op
      [] input = "cancel" \/ op.tries = <<>> -> The(Sees(with, op, "cancel", NoTry))
      [] op.state = "started" -> The(Sees(with, op, "lost", NoTry))
      [] OTHER -> op

\* The same for whoever comes after: the process that ran it is gone.
Left(op) ==
    [op EXCEPT !.queries = 0,
               !.tries = [n \in DOMAIN @ |-> CASE @[n] = "runs" -> "adrift"
                                               [] @[n] = "wrote" -> "over"
                                               [] OTHER -> @[n]]]
"""
"""What can come to an operation, and what it then is."""
