"""The part of the TLA+ module that no table says: the world, and how the machines are composed in it.

Written by hand, and apart from what `wholecall explore` runs, so that the two can disagree.
"""

from __future__ import annotations

from typing import Final

from wholecall.press.tla_operations import OPERATIONS
from wholecall.press.tla_turn import TURN

_READING: Final = r"""
--------------------------------------------------------------------------------
\* Texts are sequences of characters. The data is the smallest in which every guard can hold and
\* not hold.

\* Characters of a name, and of the arguments of a call.
LIMIT == 2

Text(text) == [input |-> "text", text |-> text]
NoTexts == {[input |-> input, text |-> <<>>] : input \in {"omitted", "null", "empty", "other"}}
Omitted == {[input |-> "omitted", text |-> <<>>]}

\* The ids that a stream sends.
Ids == {Text(<<(<<"a", "b", "c", "d">>)[n]>>) : n \in 1..IDS}

\* The one tool there is; twice in a row it names none, and three times it is too long.
Tool == <<"t">>
Names == {Text(Tool), Text(Tool \o Tool \o Tool)}

\* Pieces of arguments: an object; a number, which twice in a row is no JSON; and one that is too long.
Object == <<"{", "}">>
Number == <<"0">>
Pieces == {Text(Object), Text(Number), Text(<<"[", "0", "]">>)}

\* Why an argument text is no whole, strict JSON; `Nothing` where it is.
Syntax(text) == CASE text = <<>> -> "syntax.incomplete"
                  [] text \in {Object, Number, <<"[", "0", "]">>} -> Nothing
                  [] OTHER -> "syntax.invalid"

\* Why a call whose text is whole does not fit its tool; `Nothing` where it does.
Structure(call) == CASE call.arguments.text # Object -> "structure.not_object"
                     [] call.name.text # Tool -> "structure.unknown_tool"
                     [] OTHER -> Nothing

--------------------------------------------------------------------------------
\* Of a set with one element, that element. A machine has one step for all that can come to it.
The(set) == CHOOSE one \in set : TRUE

\* What a sequence holds.
Range(sequence) == {sequence[k] : k \in DOMAIN sequence}

\* The fault that a step leaves, where this one came with its input.
FaultOf(step, carried) == IF step.fault = Carried THEN carried ELSE step.fault

\* The lists, one after the other.
RECURSIVE Flat(_)
Flat(lists) == IF lists = <<>> THEN <<>> ELSE Head(lists) \o Flat(Tail(lists))

\* The first fault of a list; `Nothing` where there is none.
FirstOf(faults) ==
    LET found == SelectSeq(faults, LAMBDA one : one # Nothing)
    IN  IF found = <<>> THEN Nothing ELSE Head(found)

--------------------------------------------------------------------------------
\* A call is its three fields; a field is where its machine is, and the text that it holds.

set_id(held, came) == came
append_name(held, came) == held \o came
append_arguments(held, came) == held \o came

Done(effect, held, came) == CASE effect = "set_id" -> set_id(held, came)
                              [] effect = "append_name" -> append_name(held, came)
                              [] effect = "append_arguments" -> append_arguments(held, came)
                              [] OTHER -> held

Fresh == [identity  |-> [state |-> IdentityInitial, text |-> <<>>],
          name      |-> [state |-> NameInitial, text |-> <<>>],
          arguments |-> [state |-> ArgumentsInitial, text |-> <<>>]]

\* What a field is after a value, with the fault of its row; `told` is what its stream is told.
Taken(field, came, step, told) ==
    [field |-> [state |-> step.next,
                text  |-> IF told # Nothing THEN field.text ELSE Done(step.effect, field.text, came.text)],
     fault |-> step.fault]

Fits(field, came) == Len(field.text \o came.text) <= LIMIT

TakeId(field, came) ==
    {Taken(field, came, step, FieldRefusal(Absent, step.next, Absent, Absent)) :
        step \in Identity[field.state, came.input, field.text = came.text]}

TakeName(field, came) ==
    {Taken(field, came, step, FieldRefusal(Absent, Absent, step.next, Absent)) :
        step \in Name[field.state, came.input, Fits(field, came)]}

TakeArguments(field, came) ==
    {Taken(field, came, step, FieldRefusal(Absent, Absent, Absent, step.next)) :
        step \in Arguments[field.state, came.input, Fits(field, came)]}

\* What may come to each field of a call.
IdsFor(call) == IF ~WHOLE THEN NoTexts \cup Ids ELSE IF call = Fresh THEN Ids ELSE Omitted
NamesFor(call) == IF ~WHOLE THEN NoTexts \cup Names ELSE IF call = Fresh THEN {Text(Tool)} ELSE Omitted
PiecesFor(call) == IF ~WHOLE THEN NoTexts \cup Pieces ELSE IF call = Fresh THEN {Text(Object)} ELSE Omitted

Faults(taken) == {one.fault : one \in taken} \ {Nothing}
Fields(taken) == {one.field : one \in {some \in taken : some.fault = Nothing}}

\* Every fragment of a call: what the call is then, up to the field that refuses; and why it does.
CallAfter(call) ==
    LET ids   == UNION {TakeId(call.identity, came) : came \in IdsFor(call)}
        names == UNION {TakeName(call.name, came) : came \in NamesFor(call)}
        texts == UNION {TakeArguments(call.arguments, came) : came \in PiecesFor(call)}
        calls == [identity : Fields(ids), name : Fields(names), arguments : Fields(texts)]
        faults == Faults(ids)
            \cup (IF Fields(ids) = {} THEN {} ELSE Faults(names))
            \cup (IF Fields(ids) = {} \/ Fields(names) = {} THEN {} ELSE Faults(texts))
    IN  [calls |-> calls, faults |-> faults]

--------------------------------------------------------------------------------
\* A choice is where its stream and its routing are, its first finish reason, and its calls; the
\* k-th call that a choice opens has index k.

note_finish(finish, reason) == IF finish = Nothing THEN reason ELSE finish

NewChoice == [stream |-> StreamInitial, routing |-> RoutingInitial, finish |-> Nothing, calls |-> <<>>]

After(choice, fault) == [choice |-> choice, fault |-> fault]

Refused(choice, fault) ==
    {After([choice EXCEPT !.stream = step.next], FaultOf(step, fault)) :
        step \in Stream[choice.stream, "fragment_refused"]}

\* A fragment that its routing took, at call k.
Routed(choice, calls, k) ==
    LET after == CallAfter(calls[k])
    IN  {After([choice EXCEPT !.calls = [calls EXCEPT ![k] = call]], Nothing) : call \in after.calls}
            \cup UNION {Refused(choice, fault) : fault \in after.faults}

\* A fragment whose index is of this class; of call k, where the choice has seen it.
Indexed(choice, input, k) ==
    UNION {
        LET routed == [choice EXCEPT !.routing = step.next]
            calls  == IF step.effect = "open_call" THEN Append(choice.calls, Fresh) ELSE choice.calls
        IN  IF FieldRefusal(step.next, Absent, Absent, Absent) # Nothing
            THEN Refused(routed, step.fault)
            ELSE Routed(routed, calls, k)
        : step \in Routing[choice.routing, input, Len(choice.calls) < CALLS]}

\* A fragment goes through stream, routing, identity, name and arguments, up to the one that refuses.
Fragments(choice) ==
    UNION {
        LET told == [choice EXCEPT !.stream = step.next]
        IN  IF step.fault # Nothing
            THEN {After(told, step.fault)}
            ELSE UNION {Indexed(told, "known", k) : k \in DOMAIN choice.calls}
                    \cup UNION {Indexed(told, input, Len(choice.calls) + 1) :
                                    input \in {"new", "missing", "other"}}
        : step \in Stream[choice.stream, "fragment"]}

Finished(choice, input, reason) ==
    {After([choice EXCEPT !.stream = step.next,
                          !.finish = IF step.effect = "note_finish" THEN note_finish(@, reason) ELSE @],
           step.fault) :
        step \in Stream[choice.stream, input]}

\* A frame without a fragment is content; a finish reason comes in such a frame, after it.
Contents(choice) ==
    UNION {
        LET told == [choice EXCEPT !.stream = step.next]
        IN  {After(told, step.fault)} \cup (IF step.fault # Nothing THEN {} ELSE
                UNION {Finished(told, reason[1], reason[2]) : reason \in FinishReasons})
        : step \in Stream[choice.stream, "content"]}
"""

WORLD: Final = _READING + OPERATIONS + TURN
"""Data, calls, choices, operations and the turn, in the order in which each needs what stands before it."""
