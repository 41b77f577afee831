"""The part of the TLA+ module that is about the turn: variables, actions, and the whole."""

from __future__ import annotations

from typing import Final

TURN: Final = r"""
--------------------------------------------------------------------------------
VARIABLES
    turn,        \* where the turn is
    run,         \* the first run of the turn, or the second, after a crash
    attempts,    \* requests of this run
    fault,       \* the fault that the last step left
    response,    \* the response that is read, or what is left of it
    proposal,    \* where the proposal is
    authorized,  \* whether the host allowed the batch
    tool,        \* the tool that the operations run
    operations   \* the operations of the batch; none before it is dispatched

vars == <<turn, run, attempts, fault, response, proposal, authorized, tool, operations>>

\* A response is kept as far as the turn still needs it: its choices while it is read and checked, then
\* how many calls its batch has and whether each may run. Of a refused one, or once the turn is over,
\* nothing is left but where its streams are.
NoResponse == [kind |-> "none"]
Reading(choices) == [kind |-> "reading", choices |-> choices]
Over(choices) == [kind |-> "over", streams |-> [c \in DOMAIN choices |-> choices[c].stream]]
Batch(calls, sound) == [kind |-> "batch", calls |-> calls, sound |-> sound]

Streams == CASE response.kind = "reading" -> {choice.stream : choice \in Range(response.choices)}
             [] response.kind = "over" -> Range(response.streams)
             [] response.kind = "batch" -> {"complete"}
             [] OTHER -> {}

Calls(choices) == Flat([c \in DOMAIN choices |-> choices[c].calls])

DistinctIds(calls) == Cardinality({call.identity.text : call \in Range(calls)}) = Len(calls)

\* Whether every call is one that may run, as nobody but the sender knows before the checks.
Sound(calls) ==
    /\ DistinctIds(calls)
    /\ \A call \in Range(calls) :
        /\ call.identity.text # <<>>
        /\ Syntax(call.arguments.text) = Nothing
        /\ Structure(call) = Nothing

\* What is left of the response where the turn goes to this state.
Rest(next) ==
    IF response.kind # "reading" \/ next \in {"receiving", "checking"} THEN response
    ELSE IF next \in TurnFinals THEN Over(response.choices)
    ELSE Batch(Len(Calls(response.choices)), Sound(Calls(response.choices)))

\* Whether the ledger holds an operation that was started.
AnyStarted(ops) == \E op \in Range(ops) : op.tries # <<>>

AnyUncertain(ops) == \E op \in Range(ops) : op.state = "uncertain"

States(ops) == {op.state : op \in Range(ops)}

Init ==
    /\ turn = TurnInitial
    /\ run = 1
    /\ attempts = 0
    /\ fault = Nothing
    /\ response = NoResponse
    /\ proposal = Absent
    /\ authorized = FALSE
    /\ tool = NoTool
    /\ operations = <<>>

--------------------------------------------------------------------------------
\* The turn sees an input, with which a fault may come.

TurnStep(input) == Turn[turn, input, attempts' < ATTEMPTS, AnyUncertain(operations')]

TurnSees(input, carried) ==
    \E step \in TurnStep(input) :
        /\ turn' = step.next
        \* It travels on until the turn is over.
        /\ fault' = IF step.fault = Nothing /\ step.next \notin TurnFinals THEN carried
                    ELSE FaultOf(step, carried)
        /\ response' = IF step.effect = "next_attempt" THEN NoResponse ELSE Rest(step.next)
        /\ proposal' = IF step.effect = "next_attempt" THEN Absent ELSE proposal
        /\ UNCHANGED <<run, tool>>

\* The operations see something first, each what is said to it; then the turn sees its input.
AfterOperations(input) ==
    /\ operations' = [k \in DOMAIN operations |-> Told(tool, operations[k], input)]
    /\ UNCHANGED <<attempts, authorized>>
    /\ TurnSees(input, Nothing)

TurnAlone(input, carried) ==
    /\ UNCHANGED <<attempts, authorized, operations>>
    /\ TurnSees(input, carried)

--------------------------------------------------------------------------------
\* Requesting.

Unasked == turn = "requesting" /\ (attempts > 0 \/ ~AnyStarted(operations))

Resume ==
    /\ turn = "requesting"
    /\ ~Unasked
    /\ AfterOperations("resumed")

\* A request, of which this comes.
Request(input, answer) ==
    /\ Unasked
    /\ attempts' = attempts + 1
    /\ UNCHANGED <<run, authorized, tool, operations>>
    /\ \E step \in TurnStep(input) :
        /\ turn' = step.next
        /\ fault' = step.fault
        /\ response' = answer
        /\ proposal' = Absent

Ask ==
    \/ Request("started", Reading(<<NewChoice>>))
    \/ Request("unreachable", NoResponse)
    \/ Request("upstream_refused", NoResponse)

--------------------------------------------------------------------------------
\* Receiving.

Verdict == Outcome(Streams, proposal)
AllComplete == FieldsEnd(Streams) # Nothing
Receives == turn = "receiving" /\ Verdict = Nothing /\ ~AllComplete
Judges == turn = "receiving" /\ Verdict = Nothing /\ AllComplete

\* The response is over, and the turn is told.
Received ==
    /\ turn = "receiving"
    /\ Verdict # Nothing
    /\ TurnAlone(TurnReceives(Streams), fault)

\* A frame was read, and this is what the choices are then. A refused response is forgotten.
WasRead(choices, why) ==
    /\ response' = IF why = Nothing THEN Reading(choices) ELSE Over(choices)
    /\ fault' = why
    /\ UNCHANGED <<turn, run, attempts, proposal, authorized, tool, operations>>

\* A frame of one choice, be it a new one.
ReadFrame ==
    /\ Receives
    /\ \E c \in 1..CHOICES :
        /\ c <= Len(response.choices) + 1
        /\ LET choices == IF c \in DOMAIN response.choices THEN response.choices
                          ELSE Append(response.choices, NewChoice)
           IN  \E after \in Fragments(choices[c]) \cup Contents(choices[c]) :
                    WasRead([choices EXCEPT ![c] = after.choice], after.fault)

\* What comes to every choice, up to the first that it refuses.
ReadByAll ==
    /\ Receives
    /\ \E input \in OfAll :
        LET choices == response.choices
            step == [c \in DOMAIN choices |-> The(Stream[choices[c].stream, input])]
            taken == {c \in DOMAIN choices : \A d \in 1..(c - 1) : step[d].fault = Nothing}
        IN  WasRead([c \in DOMAIN choices |->
                    IF c \in taken THEN [choices[c] EXCEPT !.stream = step[c].next] ELSE choices[c]],
                 FirstOf([c \in DOMAIN choices |-> step[c].fault]))

\* The fields of every call end.
EndOf(call) ==
    [identity  |-> The(Identity[call.identity.state, "end", FALSE]),
     name      |-> The(Name[call.name.state, "end", FALSE]),
     arguments |-> The(Arguments[call.arguments.state, "end", FALSE])]

Ended(call) ==
    [identity  |-> [call.identity EXCEPT !.state = EndOf(call).identity.next],
     name      |-> [call.name EXCEPT !.state = EndOf(call).name.next],
     arguments |-> [call.arguments EXCEPT !.state = EndOf(call).arguments.next]]

EndFaults(call) == <<EndOf(call).identity.fault, EndOf(call).name.fault, EndOf(call).arguments.fault>>

EndFields ==
    /\ Judges
    /\ proposal = Absent
    /\ response' = Reading([c \in DOMAIN response.choices |->
            [response.choices[c] EXCEPT
                !.routing = The(Routing[@, "end", FALSE]).next,
                !.calls = [k \in DOMAIN @ |-> Ended(@[k])]]])
    /\ proposal' = ProposalInitial
    /\ LET calls == Calls(response.choices)
       IN  fault' = FirstOf(Flat([k \in DOMAIN calls |-> EndFaults(calls[k])]))
    /\ UNCHANGED <<turn, run, attempts, authorized, tool, operations>>

\* What the calls say to the proposal at this stage, and why.
Judgement(calls) ==
    CASE proposal = "gathered" ->
            <<Gathered({call.identity.state : call \in Range(calls)},
                       {call.name.state : call \in Range(calls)},
                       Cardinality({c \in DOMAIN response.choices : response.choices[c].calls # <<>>}) > 1,
                       \E choice \in Range(response.choices) : choice.finish \in Announcing),
              fault>>
      [] proposal = "filled" ->
            <<IF DistinctIds(calls) THEN "distinct_ids" ELSE "duplicate_id", fault>>
      [] proposal = "distinct" ->
            LET why == FirstOf([k \in DOMAIN calls |-> Syntax(calls[k].arguments.text)])
            IN  IF why = Nothing THEN <<"syntax_ok", fault>> ELSE <<"bad_syntax", why>>
      [] proposal = "parsed" ->
            LET why == FirstOf([k \in DOMAIN calls |-> Structure(calls[k])])
            IN  IF why = Nothing THEN <<"structure_ok", fault>> ELSE <<"bad_structure", why>>

\* The proposal sees an input, with which a fault may come.
ProposalSees(input, carried) ==
    /\ \E step \in Proposal[proposal, input] :
        /\ proposal' = step.next
        /\ fault' = FaultOf(step, carried)
    /\ UNCHANGED <<turn, run, attempts, response, authorized, tool, operations>>

Judge ==
    /\ Judges
    /\ proposal \in {"gathered", "filled", "distinct", "parsed"}
    /\ LET judgement == Judgement(Calls(response.choices))
       IN  ProposalSees(judgement[1], judgement[2])

--------------------------------------------------------------------------------
\* Checking, authorizing, dispatching and reconciling.

Checked ==
    /\ turn = "checking"
    /\ TurnChecks(proposal) # Nothing
    /\ TurnAlone(TurnChecks(proposal), fault)

Unchecked == turn = "checking" /\ TurnChecks(proposal) = Nothing

Check ==
    /\ Unchecked
    /\ \E input \in {"business_ok", "business_no"} : ProposalSees(input, Nothing)

Authorize ==
    /\ turn = "authorizing"
    /\ UNCHANGED <<attempts, operations>>
    /\ \/ authorized' = TRUE /\ TurnSees("authorized", Nothing)
       \/ UNCHANGED authorized /\ TurnSees("unauthorized", Nothing)

Plan ==
    /\ turn = "dispatching"
    /\ operations = <<>>
    /\ tool' \in Tools
    /\ operations' = [k \in 1..response.calls |-> Planned]
    /\ UNCHANGED <<turn, run, attempts, fault, response, proposal, authorized>>

Works == (turn = "dispatching" /\ operations # <<>>) \/ turn = "reconciling"

Worked ==
    /\ Works
    /\ States(operations) \cap {"planned", "started"} = {}
    /\ TurnAlone(Operations(States(operations)), Nothing)

Operate ==
    /\ Works \/ turn \in TurnFinals
    /\ \E k \in DOMAIN operations :
        \E op \in Runs(tool, operations[k], turn = "reconciling") :
            operations' = [operations EXCEPT ![k] = op]
    /\ UNCHANGED <<turn, run, attempts, fault, response, proposal, authorized, tool>>

--------------------------------------------------------------------------------
\* What the world can do, and may never do.

Write ==
    /\ Works \/ turn \in TurnFinals
    /\ \E k \in DOMAIN operations :
        \E op \in Writes(tool, operations[k]) : operations' = [operations EXCEPT ![k] = op]
    /\ UNCHANGED <<turn, run, attempts, fault, response, proposal, authorized, tool>>

Cancel ==
    /\ Unasked \/ Receives \/ Unchecked \/ turn = "authorizing" \/ Works
    /\ AfterOperations("cancel")

\* The process is gone, and the turn is run again on the ledger that it left.
RunAgain ==
    /\ run = 1
    /\ AnyStarted(operations)
    /\ turn' = TurnInitial
    /\ run' = 2
    /\ attempts' = 0
    /\ fault' = Nothing
    /\ response' = NoResponse
    /\ proposal' = Absent
    /\ authorized' = FALSE
    /\ operations' = [k \in DOMAIN operations |-> Left(operations[k])]
    /\ UNCHANGED tool

Comes ==
    \/ Resume \/ Ask
    \/ Received \/ ReadByAll \/ ReadFrame \/ EndFields \/ Judge
    \/ Checked \/ Check \/ Authorize
    \/ Plan \/ Worked \/ Operate

Next == Comes \/ Write \/ Cancel \/ RunAgain

Spec == Init /\ [][Next]_vars
"""
"""The turn and all that it holds together."""
