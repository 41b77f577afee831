\* Written by `wholecall build` from spec/wholecall_spec; edits are lost.
\* To check it beside `wholecall explore`: make formal
---------------------------------- MODULE wholecall ----------------------------
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    CHOICES,   \* choices of a response
    CALLS,     \* calls of a choice
    ATTEMPTS,  \* requests of one run of a turn
    QUERIES,   \* queries of an operation in one run
    TRIES,     \* tries of an operation under its key
    IDS,       \* how many different ids a stream may send, at most four
    WHOLE,     \* whether each call comes whole in one fragment, and nothing comes to it after that
    TOOLS      \* how many kinds of tools there are, of six

--------------------------------------------------------------------------------

\* Nothing is done, refused or said.
Nothing == "nothing"

\* Where a machine rests that was not begun.
Absent == "absent"

\* A fault that came with its input, and is passed on.
Carried == "carried"

\* What a row prescribes: where its machine goes, what is done, and why it is refused.
Step(next, effect, fault) == [next |-> next, effect |-> effect, fault |-> fault]
Goes(next) == Step(next, Nothing, Nothing)
Does(next, effect) == Step(next, effect, Nothing)
Fails(next, fault) == Step(next, Nothing, fault)

\* A row is the set of the steps that it allows: one where it holds, else none.
When(holds, step) == IF holds THEN {step} ELSE {}

--------------------------------------------------------------------------------

\* routing, one per choice. Which call a fragment speaks for: the index decides, and nothing else.
\* guard calls_left: one more call stays within the limit of calls
\* effect open_call: open a call at this index
\* effect route: hand the fragment to the call at this index

RoutingStates == {
    "none",      \* no call is open in this choice
    "one",       \* one call is open
    "many",      \* two or more calls are open
    "closed",    \* the stream completed; no fragment can come
    "rejected"   \* a fragment could not be routed
}
RoutingFinals == {"closed", "rejected"}
RoutingGood == {"closed"}
RoutingInitial == "none"

RoutingInputs == {
    "new",      \* the index is an integer >= 0 that this choice has not seen
    "known",    \* the index is one that this choice has seen
    "missing",  \* the fragment has no index, or it is null
    "other",    \* the index is negative, a boolean, a string, a float or anything else
    "end"       \* the stream completed
}

\* the first index seen opens the first call
R01(state, input) == When(state = "none" /\ input = "new", Does("one", "open_call"))

\* without an index no call can be named, and none is guessed
R03(state, input) == When(state = "none" /\ input = "missing", Fails("rejected", "index.missing"))

\* an index is an integer >= 0; nothing is coerced into one
R04(state, input) == When(state = "none" /\ input = "other", Fails("rejected", "index.type"))

\* the stream completed without any call
R05(state, input) == When(state = "none" /\ input = "end", Goes("closed"))

\* a second index opens a second call; gaps between indices are legal
R06(state, input, calls_left) ==
    When(state = "one" /\ input = "new" /\ calls_left, Does("many", "open_call"))

\* a choice may not open more calls than the limit
R07(state, input, calls_left) ==
    When(state = "one" /\ input = "new" /\ ~calls_left, Fails("rejected", "limit.calls"))

\* a seen index continues its own call
R08(state, input) == When(state = "one" /\ input = "known", Does("one", "route"))

\* even a single open call is not guessed: a fragment must say whose it is
R09(state, input) == When(state = "one" /\ input = "missing", Fails("rejected", "index.missing"))

\* an index is an integer >= 0; nothing is coerced into one
R10(state, input) == When(state = "one" /\ input = "other", Fails("rejected", "index.type"))

\* the stream completed with one call
R11(state, input) == When(state = "one" /\ input = "end", Goes("closed"))

\* each new index opens one more call
R12(state, input, calls_left) ==
    When(state = "many" /\ input = "new" /\ calls_left, Does("many", "open_call"))

\* a choice may not open more calls than the limit
R13(state, input, calls_left) ==
    When(state = "many" /\ input = "new" /\ ~calls_left, Fails("rejected", "limit.calls"))

\* interleaved fragments go each to its own call
R14(state, input) == When(state = "many" /\ input = "known", Does("many", "route"))

\* among parallel calls a guess would put arguments on the wrong call
R15(state, input) == When(state = "many" /\ input = "missing", Fails("rejected", "index.missing"))

\* an index is an integer >= 0; nothing is coerced into one
R16(state, input) == When(state = "many" /\ input = "other", Fails("rejected", "index.type"))

\* the stream completed with several calls
R17(state, input) == When(state = "many" /\ input = "end", Goes("closed"))

\* Of the rows of one state and input exactly one holds, so their order does not matter.
Routing ==
    [state \in RoutingStates, input \in RoutingInputs, calls_left \in BOOLEAN |->
        CASE state = "none" -> UNION {
                R01(state, input), R03(state, input), R04(state, input), R05(state, input)}
          [] state = "one" -> UNION {
                R06(state, input, calls_left), R07(state, input, calls_left), R08(state, input),
                R09(state, input), R10(state, input), R11(state, input)}
          [] state = "many" -> UNION {
                R12(state, input, calls_left), R13(state, input, calls_left), R14(state, input),
                R15(state, input), R16(state, input), R17(state, input)}
          [] OTHER -> {}]
ASSUME \A cell \in DOMAIN Routing : Cardinality(Routing[cell]) <= 1

--------------------------------------------------------------------------------

\* identity, one per call. Which call a fragment belongs to, and whether later fragments may change
\* that.
\* guard same_id: the text equals the established id
\* effect set_id: the text becomes the id of this call

IdentityStates == {
    "unknown",      \* no id has arrived at this index
    "blank",        \* only an empty id has arrived
    "established",  \* a non-empty id has arrived, and stands
    "fixed",        \* the call ended with its id
    "rejected"      \* the call has no id that can be trusted
}
IdentityFinals == {"fixed", "rejected"}
IdentityGood == {"fixed"}
IdentityInitial == "unknown"

IdentityInputs == {
    "omitted",  \* the fragment has no id field
    "null",     \* the id field is null
    "empty",    \* the id field is the empty string
    "text",     \* the id field is a non-empty string
    "other",    \* the id field is a number, a boolean, an array or an object
    "end"       \* the stream completed
}

\* the id may still come in a later fragment
I01(state, input) == When(state = "unknown" /\ input = "omitted", Goes("unknown"))

\* null can keep an identity but not create one
I02(state, input) ==
    When(state = "unknown" /\ input = "null", Fails("rejected", "identity.null_first"))

\* an early empty id may be filled by a later one
I03(state, input) == When(state = "unknown" /\ input = "empty", Goes("blank"))

\* the first non-empty id names the call
I04(state, input) == When(state = "unknown" /\ input = "text", Does("established", "set_id"))

\* an id is a string; a number is not turned into one
I05(state, input) == When(state = "unknown" /\ input = "other", Fails("rejected", "identity.type"))

\* the call ended without an id, and none is invented
I06(state, input) == When(state = "unknown" /\ input = "end", Fails("rejected", "identity.missing"))

\* the id may still come in a later fragment
I07(state, input) == When(state = "blank" /\ input = "omitted", Goes("blank"))

\* an empty id is no established identity that null could keep
I08(state, input) ==
    When(state = "blank" /\ input = "null", Fails("rejected", "identity.null_first"))

\* still no identity, and still none is refused
I09(state, input) == When(state = "blank" /\ input = "empty", Goes("blank"))

\* a valid id fills the early empty one
I10(state, input) == When(state = "blank" /\ input = "text", Does("established", "set_id"))

\* an id is a string; a number is not turned into one
I11(state, input) == When(state = "blank" /\ input = "other", Fails("rejected", "identity.type"))

\* the id was still empty at the end
I12(state, input) == When(state = "blank" /\ input = "end", Fails("rejected", "identity.missing"))

\* an omitted id updates nothing
I13(state, input) == When(state = "established" /\ input = "omitted", Goes("established"))

\* a null continuation updates nothing
I14(state, input) == When(state = "established" /\ input = "null", Goes("established"))

\* an empty id contradicts the established one
I15(state, input) ==
    When(state = "established" /\ input = "empty", Fails("rejected", "identity.conflict"))

\* the same id again confirms the call
I16(state, input, same_id) ==
    When(state = "established" /\ input = "text" /\ same_id, Goes("established"))

\* a different id contradicts the established one, and neither is chosen
I17(state, input, same_id) ==
    When(state = "established" /\ input = "text" /\ ~same_id,
         Fails("rejected", "identity.conflict"))

\* an id is a string; a number is not turned into one
I18(state, input) ==
    When(state = "established" /\ input = "other", Fails("rejected", "identity.type"))

\* the call ends with the id that arrived
I19(state, input) == When(state = "established" /\ input = "end", Goes("fixed"))

\* Of the rows of one state and input exactly one holds, so their order does not matter.
Identity ==
    [state \in IdentityStates, input \in IdentityInputs, same_id \in BOOLEAN |->
        CASE state = "unknown" -> UNION {
                I01(state, input), I02(state, input), I03(state, input), I04(state, input),
                I05(state, input), I06(state, input)}
          [] state = "blank" -> UNION {
                I07(state, input), I08(state, input), I09(state, input), I10(state, input),
                I11(state, input), I12(state, input)}
          [] state = "established" -> UNION {
                I13(state, input), I14(state, input), I15(state, input), I16(state, input, same_id),
                I17(state, input, same_id), I18(state, input), I19(state, input)}
          [] OTHER -> {}]
ASSUME \A cell \in DOMAIN Identity : Cardinality(Identity[cell]) <= 1

--------------------------------------------------------------------------------

\* name, one per call. Which tool the call names; pieces are joined as arguments are.
\* guard name_fits: the name with this text stays within the limit of characters
\* effect append_name: add the text at the end of the name

NameStates == {
    "unnamed",   \* no piece of the name has arrived
    "named",     \* some text of the name has arrived
    "fixed",     \* the call ended with a name
    "rejected"   \* the call has no name that can be used
}
NameFinals == {"fixed", "rejected"}
NameGood == {"fixed"}
NameInitial == "unnamed"

NameInputs == {
    "omitted",  \* the fragment has no name
    "null",     \* the name is null
    "empty",    \* the name is the empty string
    "text",     \* the name is a non-empty string
    "other",    \* the name is a number, a boolean, an array or an object
    "end"       \* the stream completed
}

\* the name may still come
N01(state, input) == When(state = "unnamed" /\ input = "omitted", Goes("unnamed"))

\* a null name adds nothing
N02(state, input) == When(state = "unnamed" /\ input = "null", Goes("unnamed"))

\* an empty name adds nothing
N03(state, input) == When(state = "unnamed" /\ input = "empty", Goes("unnamed"))

\* the first text begins the name
N04(state, input, name_fits) ==
    When(state = "unnamed" /\ input = "text" /\ name_fits, Does("named", "append_name"))

\* a name may not be longer than the limit
N05(state, input, name_fits) ==
    When(state = "unnamed" /\ input = "text" /\ ~name_fits, Fails("rejected", "limit.name"))

\* a name is a string; nothing is coerced into one
N06(state, input) == When(state = "unnamed" /\ input = "other", Fails("rejected", "name.type"))

\* the call ended without a name, and none is guessed
N07(state, input) == When(state = "unnamed" /\ input = "end", Fails("rejected", "name.missing"))

\* an omitted name adds nothing
N08(state, input) == When(state = "named" /\ input = "omitted", Goes("named"))

\* a null name adds nothing
N09(state, input) == When(state = "named" /\ input = "null", Goes("named"))

\* an empty name adds nothing
N10(state, input) == When(state = "named" /\ input = "empty", Goes("named"))

\* names are joined as arguments are
N11(state, input, name_fits) ==
    When(state = "named" /\ input = "text" /\ name_fits, Does("named", "append_name"))

\* a name may not be longer than the limit
N12(state, input, name_fits) ==
    When(state = "named" /\ input = "text" /\ ~name_fits, Fails("rejected", "limit.name"))

\* a name is a string; nothing is coerced into one
N13(state, input) == When(state = "named" /\ input = "other", Fails("rejected", "name.type"))

\* the call ends with the name that arrived
N14(state, input) == When(state = "named" /\ input = "end", Goes("fixed"))

\* Of the rows of one state and input exactly one holds, so their order does not matter.
Name ==
    [state \in NameStates, input \in NameInputs, name_fits \in BOOLEAN |->
        CASE state = "unnamed" -> UNION {
                N01(state, input), N02(state, input), N03(state, input),
                N04(state, input, name_fits), N05(state, input, name_fits), N06(state, input),
                N07(state, input)}
          [] state = "named" -> UNION {
                N08(state, input), N09(state, input), N10(state, input),
                N11(state, input, name_fits), N12(state, input, name_fits), N13(state, input),
                N14(state, input)}
          [] OTHER -> {}]
ASSUME \A cell \in DOMAIN Name : Cardinality(Name[cell]) <= 1

--------------------------------------------------------------------------------

\* arguments, one per call. The raw argument text, kept verbatim until the whole proposal is
\* checked.
\* guard arguments_fit: the arguments with this text stay within the limit of characters
\* effect append_arguments: add the text, verbatim, at the end of the arguments

ArgumentsStates == {
    "absent",      \* no argument text has arrived
    "collecting",  \* some argument text has arrived
    "collected",   \* the text is as it arrived; whether it is whole is judged next
    "rejected"     \* the arguments could not be collected as text
}
ArgumentsFinals == {"collected", "rejected"}
ArgumentsGood == {"collected"}
ArgumentsInitial == "absent"

ArgumentsInputs == {
    "omitted",  \* the fragment has no arguments
    "null",     \* the arguments are null
    "empty",    \* the arguments are the empty string
    "text",     \* the arguments are a non-empty string
    "other",    \* the arguments are a number, a boolean, an array or an object
    "end"       \* the stream completed
}

\* the arguments may still come
A01(state, input) == When(state = "absent" /\ input = "omitted", Goes("absent"))

\* null arguments add nothing
A02(state, input) == When(state = "absent" /\ input = "null", Goes("absent"))

\* empty arguments add nothing, and are not an empty object
A03(state, input) == When(state = "absent" /\ input = "empty", Goes("absent"))

\* the first text begins the arguments
A04(state, input, arguments_fit) ==
    When(state = "absent" /\ input = "text" /\ arguments_fit,
         Does("collecting", "append_arguments"))

\* arguments may not be longer than the limit
A05(state, input, arguments_fit) ==
    When(state = "absent" /\ input = "text" /\ ~arguments_fit, Fails("rejected", "limit.arguments"))

\* arguments stream as text; an object is not turned into text
A06(state, input) == When(state = "absent" /\ input = "other", Fails("rejected", "arguments.type"))

\* no text came; the syntax check will judge the empty text
A07(state, input) == When(state = "absent" /\ input = "end", Goes("collected"))

\* omitted arguments add nothing
A08(state, input) == When(state = "collecting" /\ input = "omitted", Goes("collecting"))

\* null arguments add nothing
A09(state, input) == When(state = "collecting" /\ input = "null", Goes("collecting"))

\* empty arguments add nothing
A10(state, input) == When(state = "collecting" /\ input = "empty", Goes("collecting"))

\* text is joined in the order it arrives
A11(state, input, arguments_fit) ==
    When(state = "collecting" /\ input = "text" /\ arguments_fit,
         Does("collecting", "append_arguments"))

\* arguments may not be longer than the limit
A12(state, input, arguments_fit) ==
    When(state = "collecting" /\ input = "text" /\ ~arguments_fit,
         Fails("rejected", "limit.arguments"))

\* arguments stream as text; an object is not turned into text
A13(state, input) ==
    When(state = "collecting" /\ input = "other", Fails("rejected", "arguments.type"))

\* the text is kept as it arrived and judged with the whole proposal
A14(state, input) == When(state = "collecting" /\ input = "end", Goes("collected"))

\* Of the rows of one state and input exactly one holds, so their order does not matter.
Arguments ==
    [state \in ArgumentsStates, input \in ArgumentsInputs, arguments_fit \in BOOLEAN |->
        CASE state = "absent" -> UNION {
                A01(state, input), A02(state, input), A03(state, input),
                A04(state, input, arguments_fit), A05(state, input, arguments_fit),
                A06(state, input), A07(state, input)}
          [] state = "collecting" -> UNION {
                A08(state, input), A09(state, input), A10(state, input),
                A11(state, input, arguments_fit), A12(state, input, arguments_fit),
                A13(state, input), A14(state, input)}
          [] OTHER -> {}]
ASSUME \A cell \in DOMAIN Arguments : Cardinality(Arguments[cell]) <= 1

--------------------------------------------------------------------------------

\* stream, one per choice. Did the stream of this choice end properly?
\* effect note_finish: keep the first finish reason of the choice

StreamStates == {
    "open",        \* no finish reason has arrived
    "finished",    \* a finish reason has arrived; the end may come
    "complete",    \* the choice ended properly
    "incomplete",  \* the output stopped before its end
    "refused",     \* upstream refused or failed the request
    "rejected"     \* the stream broke a rule
}
StreamFinals == {"complete", "incomplete", "refused", "rejected"}
StreamGood == {"complete"}
StreamInitial == "open"

StreamInputs == {
    "fragment",          \* a delta with a tool-call fragment
    "fragment_refused",  \* routing, identity, name or arguments refused the fragment
    "content",           \* any other delta, empty choices, or usage
    "finish_normal",     \* a finish reason that announces a proper end
    "finish_length",     \* the finish reason says that the output was cut at a length limit
    "finish_filter",     \* the finish reason says that a filter stopped the output
    "finish_other",      \* any other finish reason
    "error",             \* an upstream error object or event
    "done",              \* [DONE]; nothing after it is read
    "eof",               \* the transport closed cleanly
    "abort",             \* the transport failed
    "bad_frame"          \* a frame outside this specification
}

\* a fragment goes on to its call
S01(state, input) == When(state = "open" /\ input = "fragment", Goes("open"))

\* one refused fragment refuses the response
S02(state, input) == When(state = "open" /\ input = "fragment_refused", Fails("rejected", Carried))

\* text and usage say nothing about calls
S03(state, input) == When(state = "open" /\ input = "content", Goes("open"))

\* the choice announces a proper end
S04(state, input) ==
    When(state = "open" /\ input = "finish_normal", Does("finished", "note_finish"))

\* output cut at a limit is not whole, even where it happens to parse
S05(state, input) ==
    When(state = "open" /\ input = "finish_length", Fails("incomplete", "stream.cut_short"))

\* filtered output is a refusal by the provider
S06(state, input) ==
    When(state = "open" /\ input = "finish_filter", Fails("refused", "stream.filtered"))

\* an unknown finish reason promises nothing
S07(state, input) ==
    When(state = "open" /\ input = "finish_other", Fails("rejected", "stream.unknown_finish"))

\* an upstream error ends the response; it is never success
S08(state, input) == When(state = "open" /\ input = "error", Fails("refused", "upstream.error"))

\* the end marker came without any finish reason
S09(state, input) == When(state = "open" /\ input = "done", Fails("incomplete", "stream.no_finish"))

\* the stream closed without any finish reason
S10(state, input) == When(state = "open" /\ input = "eof", Fails("incomplete", "stream.no_finish"))

\* the transport failed before the end
S11(state, input) == When(state = "open" /\ input = "abort", Fails("incomplete", "stream.aborted"))

\* a frame outside this specification is not guessed at
S12(state, input) ==
    When(state = "open" /\ input = "bad_frame", Fails("rejected", "stream.bad_frame"))

\* a fragment after the finish reason belongs to no call
S13(state, input) ==
    When(state = "finished" /\ input = "fragment", Fails("rejected", "stream.after_finish"))

\* usage and empty deltas may follow
S14(state, input) == When(state = "finished" /\ input = "content", Goes("finished"))

\* a repeated proper end changes nothing
S15(state, input) == When(state = "finished" /\ input = "finish_normal", Goes("finished"))

\* a proper end was announced before; neither is chosen
S16(state, input) ==
    When(state = "finished" /\ input = "finish_length",
         Fails("rejected", "stream.conflicting_finish"))

\* a proper end was announced before; neither is chosen
S17(state, input) ==
    When(state = "finished" /\ input = "finish_filter",
         Fails("rejected", "stream.conflicting_finish"))

\* a proper end was announced before; neither is chosen
S18(state, input) ==
    When(state = "finished" /\ input = "finish_other",
         Fails("rejected", "stream.conflicting_finish"))

\* an upstream error after the finish reason is still an error
S19(state, input) == When(state = "finished" /\ input = "error", Fails("refused", "upstream.error"))

\* finish reason and end marker: the choice ended properly
S20(state, input) == When(state = "finished" /\ input = "done", Goes("complete"))

\* some providers send no end marker; the finish reason suffices
S21(state, input) == When(state = "finished" /\ input = "eof", Goes("complete"))

\* the transport failed, so what was lost is not known
S22(state, input) ==
    When(state = "finished" /\ input = "abort", Fails("incomplete", "stream.aborted"))

\* a frame outside this specification is not guessed at
S23(state, input) ==
    When(state = "finished" /\ input = "bad_frame", Fails("rejected", "stream.bad_frame"))

\* Of the rows of one state and input exactly one holds, so their order does not matter.
Stream ==
    [state \in StreamStates, input \in StreamInputs |->
        CASE state = "open" -> UNION {
                S01(state, input), S02(state, input), S03(state, input), S04(state, input),
                S05(state, input), S06(state, input), S07(state, input), S08(state, input),
                S09(state, input), S10(state, input), S11(state, input), S12(state, input)}
          [] state = "finished" -> UNION {
                S13(state, input), S14(state, input), S15(state, input), S16(state, input),
                S17(state, input), S18(state, input), S19(state, input), S20(state, input),
                S21(state, input), S22(state, input), S23(state, input)}
          [] OTHER -> {}]
ASSUME \A cell \in DOMAIN Stream : Cardinality(Stream[cell]) <= 1

--------------------------------------------------------------------------------

\* proposal, one per response. Is the whole batch fit to run? Each stage looks at all calls before
\* the next begins.

ProposalStates == {
    "gathered",   \* every choice completed
    "filled",     \* every call has its id and name
    "distinct",   \* no id stands twice
    "parsed",     \* every argument text is whole, strict JSON
    "shaped",     \* every call fits its tool's schema
    "answered",   \* a response without calls: text for the user
    "permitted",  \* every call passed every check
    "rejected",   \* the calls do not make a batch
    "malformed",  \* an argument text is not whole, strict JSON
    "invalid",    \* a call does not fit a tool
    "denied"      \* a tool's own check said no
}
ProposalFinals == {"answered", "permitted", "rejected", "malformed", "invalid", "denied"}
ProposalGood == {"answered", "permitted"}
ProposalInitial == "gathered"

ProposalInputs == {
    "many_choices",        \* calls stand in more than one choice
    "field_fault",         \* an identity or a name was refused at the end
    "no_calls_announced",  \* no calls, but a finish reason announced some
    "no_calls",            \* no calls, and none announced
    "fields_fixed",        \* every call has its id and its name
    "duplicate_id",        \* two calls bear one id
    "distinct_ids",        \* every id stands once
    "bad_syntax",          \* an argument text is not whole, strict JSON
    "syntax_ok",           \* every argument text is whole, strict JSON
    "bad_structure",       \* a call is no object, names no tool, or breaks its schema
    "structure_ok",        \* every call fits its tool
    "business_no",         \* a tool's own check refused a call
    "business_ok"          \* every tool's own check agreed
}

\* calls in two choices are alternatives, and none is chosen
P01(state, input) ==
    When(state = "gathered" /\ input = "many_choices", Fails("rejected", "proposal.many_choices"))

\* one call without id or name refuses the batch
P02(state, input) == When(state = "gathered" /\ input = "field_fault", Fails("rejected", Carried))

\* calls were announced and none came
P03(state, input) ==
    When(state = "gathered" /\ input = "no_calls_announced", Fails("rejected", "proposal.no_calls"))

\* a response without calls is an answer
P04(state, input) == When(state = "gathered" /\ input = "no_calls", Goes("answered"))

\* every call can be named
P05(state, input) == When(state = "gathered" /\ input = "fields_fixed", Goes("filled"))

\* two calls with one id cannot be told apart afterwards
P06(state, input) ==
    When(state = "filled" /\ input = "duplicate_id", Fails("rejected", "proposal.duplicate_id"))

\* every id stands once
P07(state, input) == When(state = "filled" /\ input = "distinct_ids", Goes("distinct"))

\* a text that is not whole JSON is never completed or replaced
P08(state, input) == When(state = "distinct" /\ input = "bad_syntax", Fails("malformed", Carried))

\* every text parsed whole
P09(state, input) == When(state = "distinct" /\ input = "syntax_ok", Goes("parsed"))

\* valid JSON that does not fit the tool's schema must not run
P10(state, input) == When(state = "parsed" /\ input = "bad_structure", Fails("invalid", Carried))

\* every call fits its tool
P11(state, input) == When(state = "parsed" /\ input = "structure_ok", Goes("shaped"))

\* the reason goes back to the planner; the same call is not retried
P12(state, input) ==
    When(state = "shaped" /\ input = "business_no", Fails("denied", "business.denied"))

\* the batch is whole; running it is still the host's decision
P13(state, input) == When(state = "shaped" /\ input = "business_ok", Goes("permitted"))

\* Of the rows of one state and input exactly one holds, so their order does not matter.
Proposal ==
    [state \in ProposalStates, input \in ProposalInputs |->
        CASE state = "gathered" -> UNION {
                P01(state, input), P02(state, input), P03(state, input), P04(state, input),
                P05(state, input)}
          [] state = "filled" -> UNION {
                P06(state, input), P07(state, input)}
          [] state = "distinct" -> UNION {
                P08(state, input), P09(state, input)}
          [] state = "parsed" -> UNION {
                P10(state, input), P11(state, input)}
          [] state = "shaped" -> UNION {
                P12(state, input), P13(state, input)}
          [] OTHER -> {}]
ASSUME \A cell \in DOMAIN Proposal : Cardinality(Proposal[cell]) <= 1

--------------------------------------------------------------------------------

\* turn, one per task step. Requests are repeated only while nothing has happened; then the batch is
\* run once.
\* guard attempts_left: another request stays within the limit of attempts
\* guard any_uncertain: the effect of an operation is not known
\* effect next_attempt: begin the next attempt, which starts from nothing

TurnStates == {
    "requesting",   \* a request is about to be made
    "receiving",    \* a response is being read
    "checking",     \* the whole proposal is being checked
    "authorizing",  \* the host is asked about the whole batch
    "dispatching",  \* the operations run
    "reconciling",  \* operations with an unknown effect are looked up
    "answered",     \* the response was text for the user
    "settled",      \* every operation succeeded or failed, and is recorded
    "returned",     \* a tool's own check refused; the planner gets the reasons
    "declined",     \* the host refused the batch
    "refused",      \* upstream refused
    "exhausted",    \* no attempt is left
    "unresolved",   \* the effect of an operation stays unknown
    "cancelled"     \* the turn was cancelled
}
TurnFinals == {"answered", "settled", "returned", "declined", "refused", "exhausted", "unresolved",
    "cancelled"}
TurnGood == {"answered", "settled"}
TurnInitial == "requesting"

TurnInputs == {
    "started",           \* the response begins to arrive
    "resumed",           \* the ledger holds started operations of this turn id
    "unreachable",       \* no answer came
    "upstream_refused",  \* upstream refused, before or within the stream; status and reason are kept
    "incomplete",        \* the response is incomplete
    "complete",          \* every choice completed
    "answered",          \* the response has no calls
    "rejected",          \* the response or its batch is rejected
    "malformed",         \* an argument text is not whole, strict JSON
    "invalid",           \* a call does not fit a tool
    "denied",            \* a tool's own check refused a call
    "permitted",         \* every call passed every check
    "authorized",        \* the host allows the whole batch
    "unauthorized",      \* the host does not allow the batch
    "all_known",         \* every operation succeeded or failed
    "some_uncertain",    \* the effect of an operation is not known
    "some_cancelled",    \* an operation was cancelled before it started
    "some_unresolved",   \* the effect of an operation cannot be found out; none is uncertain
    "cancel"             \* the host cancels the turn
}

\* the response is read frame by frame
T01(state, input) == When(state = "requesting" /\ input = "started", Goes("receiving"))

\* what an earlier run started is reconciled, and no request is made
T02(state, input) == When(state = "requesting" /\ input = "resumed", Goes("reconciling"))

\* no answer came and nothing ran: ask again
T03(state, input, attempts_left) ==
    When(state = "requesting" /\ input = "unreachable" /\ attempts_left,
         Step("requesting", "next_attempt", "turn.unreachable"))

\* the limit of attempts is reached
T04(state, input, attempts_left) ==
    When(state = "requesting" /\ input = "unreachable" /\ ~attempts_left,
         Fails("exhausted", "turn.unreachable"))

\* a clear refusal is not retried as if it had succeeded
T05(state, input) ==
    When(state = "requesting" /\ input = "upstream_refused", Fails("refused", "upstream.refused"))

\* nothing ran yet
T06(state, input) ==
    When(state = "requesting" /\ input = "cancel", Fails("cancelled", "turn.cancelled"))

\* status and reason are kept; it is not success
T07(state, input) ==
    When(state = "receiving" /\ input = "upstream_refused", Fails("refused", Carried))

\* nothing ran: generate the response again
T08(state, input, attempts_left) ==
    When(state = "receiving" /\ input = "incomplete" /\ attempts_left,
         Step("requesting", "next_attempt", Carried))

\* the limit of attempts is reached
T09(state, input, attempts_left) ==
    When(state = "receiving" /\ input = "incomplete" /\ ~attempts_left, Fails("exhausted", Carried))

\* nothing ran: generate the response again
T10(state, input, attempts_left) ==
    When(state = "receiving" /\ input = "rejected" /\ attempts_left,
         Step("requesting", "next_attempt", Carried))

\* the limit of attempts is reached
T11(state, input, attempts_left) ==
    When(state = "receiving" /\ input = "rejected" /\ ~attempts_left, Fails("exhausted", Carried))

\* the stream ended properly; now the whole proposal is checked
T12(state, input) == When(state = "receiving" /\ input = "complete", Goes("checking"))

\* nothing ran yet
T13(state, input) ==
    When(state = "receiving" /\ input = "cancel", Fails("cancelled", "turn.cancelled"))

\* the response is text for the user
T14(state, input) == When(state = "checking" /\ input = "answered", Goes("answered"))

\* nothing ran: generate the response again
T15(state, input, attempts_left) ==
    When(state = "checking" /\ input = "rejected" /\ attempts_left,
         Step("requesting", "next_attempt", Carried))

\* the limit of attempts is reached
T16(state, input, attempts_left) ==
    When(state = "checking" /\ input = "rejected" /\ ~attempts_left, Fails("exhausted", Carried))

\* generating clear arguments again is safer than a guess
T17(state, input, attempts_left) ==
    When(state = "checking" /\ input = "malformed" /\ attempts_left,
         Step("requesting", "next_attempt", Carried))

\* the limit of attempts is reached
T18(state, input, attempts_left) ==
    When(state = "checking" /\ input = "malformed" /\ ~attempts_left, Fails("exhausted", Carried))

\* nothing ran: generate the response again
T19(state, input, attempts_left) ==
    When(state = "checking" /\ input = "invalid" /\ attempts_left,
         Step("requesting", "next_attempt", Carried))

\* the limit of attempts is reached
T20(state, input, attempts_left) ==
    When(state = "checking" /\ input = "invalid" /\ ~attempts_left, Fails("exhausted", Carried))

\* the reasons go to the planner, never the same request again
T21(state, input) ==
    When(state = "checking" /\ input = "denied", Fails("returned", "business.denied"))

\* whole and checked is not yet allowed
T22(state, input) == When(state = "checking" /\ input = "permitted", Goes("authorizing"))

\* nothing ran yet
T23(state, input) ==
    When(state = "checking" /\ input = "cancel", Fails("cancelled", "turn.cancelled"))

\* the host allows the whole batch
T24(state, input) == When(state = "authorizing" /\ input = "authorized", Goes("dispatching"))

\* the host refuses, and nothing runs
T25(state, input) ==
    When(state = "authorizing" /\ input = "unauthorized", Fails("declined", "host.unauthorized"))

\* nothing ran yet
T26(state, input) ==
    When(state = "authorizing" /\ input = "cancel", Fails("cancelled", "turn.cancelled"))

\* every operation succeeded or failed, and is recorded
T27(state, input) == When(state = "dispatching" /\ input = "all_known", Goes("settled"))

\* no success received is not the same as no effect
T28(state, input) == When(state = "dispatching" /\ input = "some_uncertain", Goes("reconciling"))

\* an operation never started; the others say how they ended
T29(state, input) ==
    When(state = "dispatching" /\ input = "some_cancelled", Fails("cancelled", "turn.interrupted"))

\* cancelled while the effect of an operation is not known
T30(state, input, any_uncertain) ==
    When(state = "dispatching" /\ input = "cancel" /\ any_uncertain,
         Fails("unresolved", "turn.cancelled"))

\* cancelled; the operations say which ran
T31(state, input, any_uncertain) ==
    When(state = "dispatching" /\ input = "cancel" /\ ~any_uncertain,
         Fails("cancelled", "turn.cancelled"))

\* every effect is known now
T32(state, input) == When(state = "reconciling" /\ input = "all_known", Goes("settled"))

\* an effect is still unknown: ask again within the limits
T33(state, input) == When(state = "reconciling" /\ input = "some_uncertain", Goes("reconciling"))

\* an operation never started; the others say how they ended
T34(state, input) ==
    When(state = "reconciling" /\ input = "some_cancelled", Fails("cancelled", "turn.interrupted"))

\* an effect cannot be found out, and is not guessed
T35(state, input) ==
    When(state = "reconciling" /\ input = "some_unresolved",
         Fails("unresolved", "operation.unresolved"))

\* cancelled while the effect of an operation is not known
T36(state, input, any_uncertain) ==
    When(state = "reconciling" /\ input = "cancel" /\ any_uncertain,
         Fails("unresolved", "turn.cancelled"))

\* cancelled; the operations say which ran
T37(state, input, any_uncertain) ==
    When(state = "reconciling" /\ input = "cancel" /\ ~any_uncertain,
         Fails("cancelled", "turn.cancelled"))

\* Of the rows of one state and input exactly one holds, so their order does not matter.
Turn ==
    [state \in TurnStates, input \in TurnInputs, attempts_left, any_uncertain \in BOOLEAN |->
        CASE state = "requesting" -> UNION {
                T01(state, input), T02(state, input), T03(state, input, attempts_left),
                T04(state, input, attempts_left), T05(state, input), T06(state, input)}
          [] state = "receiving" -> UNION {
                T07(state, input), T08(state, input, attempts_left),
                T09(state, input, attempts_left), T10(state, input, attempts_left),
                T11(state, input, attempts_left), T12(state, input), T13(state, input)}
          [] state = "checking" -> UNION {
                T14(state, input), T15(state, input, attempts_left),
                T16(state, input, attempts_left), T17(state, input, attempts_left),
                T18(state, input, attempts_left), T19(state, input, attempts_left),
                T20(state, input, attempts_left), T21(state, input), T22(state, input),
                T23(state, input)}
          [] state = "authorizing" -> UNION {
                T24(state, input), T25(state, input), T26(state, input)}
          [] state = "dispatching" -> UNION {
                T27(state, input), T28(state, input), T29(state, input),
                T30(state, input, any_uncertain), T31(state, input, any_uncertain)}
          [] state = "reconciling" -> UNION {
                T32(state, input), T33(state, input), T34(state, input), T35(state, input),
                T36(state, input, any_uncertain), T37(state, input, any_uncertain)}
          [] OTHER -> {}]
ASSUME \A cell \in DOMAIN Turn : Cardinality(Turn[cell]) <= 1

--------------------------------------------------------------------------------

\* operation, one per permitted call. Did the effect of this call happen? At most once under its
\* key, and never guessed.
\* guard latest: the answer is of the latest try
\* guard others_absent: every earlier try of this key is known absent by a query
\* guard effectless: the tool only reads
\* guard idempotent: repeating the tool under one key is one effect
\* guard tries_left: another try stays within the limit
\* guard queries_left: another query stays within the limit
\* effect open_try: record the next try, durably, before the tool runs
\* effect record_result: record the result at once
\* effect ask_again: pause, then query again

OperationStates == {
    "planned",     \* it never started
    "started",     \* its record is durable, and the tool may have run
    "uncertain",   \* whether its effect happened is not known
    "succeeded",   \* the effect happened, and its result is recorded
    "failed",      \* the effect is known not to have happened, or there was none to have
    "cancelled",   \* it never started, and will not
    "unresolved"   \* its effect stays unknown; a person must look
}
OperationFinals == {"succeeded", "failed", "cancelled", "unresolved"}
OperationGood == {"succeeded"}
OperationInitial == "planned"

OperationInputs == {
    "start",             \* the record of this try is durable
    "taken",             \* another worker holds this key
    "cancel",            \* the turn is cancelled
    "unrecorded",        \* the ledger could not store the record
    "result",            \* the tool gave a result, of any try, also a late one
    "declared_failure",  \* the tool promises that this try wrote nothing
    "raised",            \* the tool raised anything else
    "timeout",           \* the tool gave no answer in time
    "lost",              \* the lease of its worker ran out
    "found_applied",     \* a query found the effect
    "found_absent",      \* a query promises that the effect has not happened and never will under this key
    "unanswerable"       \* there is no query, or it failed, or it does not know
}

\* the record is durable before the tool runs
O01(state, input) == When(state = "planned" /\ input = "start", Does("started", "open_try"))

\* another worker may be running it
O02(state, input) ==
    When(state = "planned" /\ input = "taken", Fails("uncertain", "operation.uncertain"))

\* it never started
O03(state, input) ==
    When(state = "planned" /\ input = "cancel", Fails("cancelled", "operation.cancelled"))

\* a tool does not run without its record
O04(state, input) ==
    When(state = "planned" /\ input = "unrecorded", Fails("cancelled", "ledger.unavailable"))

\* the result is recorded at once
O05(state, input) == When(state = "started" /\ input = "result", Does("succeeded", "record_result"))

\* this try wrote nothing, and no earlier one did
O06(state, input, latest, others_absent) ==
    When(state = "started" /\ input = "declared_failure" /\ latest /\ others_absent,
         Fails("failed", "operation.failed"))

\* this try wrote nothing, but an earlier one may have
O07(state, input, latest, others_absent) ==
    When(state = "started" /\ input = "declared_failure" /\ latest /\ ~others_absent,
         Fails("uncertain", "operation.uncertain"))

\* a late answer of an earlier try says nothing about this one
O08(state, input, latest) ==
    When(state = "started" /\ input = "declared_failure" /\ ~latest, Goes("started"))

\* the tool raised, and a tool that only reads has no effect to look for
O09(state, input, effectless) ==
    When(state = "started" /\ input = "raised" /\ effectless, Fails("failed", "operation.failed"))

\* the tool raised; whether it wrote is not known
O10(state, input, effectless) ==
    When(state = "started" /\ input = "raised" /\ ~effectless,
         Fails("uncertain", "operation.uncertain"))

\* the tool gave no answer in time, and a tool that only reads has no effect to look for
O11(state, input, effectless) ==
    When(state = "started" /\ input = "timeout" /\ effectless, Fails("failed", "operation.failed"))

\* the tool gave no answer in time; whether it wrote is not known
O12(state, input, effectless) ==
    When(state = "started" /\ input = "timeout" /\ ~effectless,
         Fails("uncertain", "operation.uncertain"))

\* it was cancelled while it ran, and a tool that only reads has no effect to look for
O13(state, input, effectless) ==
    When(state = "started" /\ input = "cancel" /\ effectless, Fails("failed", "operation.failed"))

\* it was cancelled while it ran; whether it wrote is not known
O14(state, input, effectless) ==
    When(state = "started" /\ input = "cancel" /\ ~effectless,
         Fails("uncertain", "operation.uncertain"))

\* its worker's lease ran out, and a tool that only reads has no effect to look for
O15(state, input, effectless) ==
    When(state = "started" /\ input = "lost" /\ effectless, Fails("failed", "operation.failed"))

\* its worker's lease ran out; whether it wrote is not known
O16(state, input, effectless) ==
    When(state = "started" /\ input = "lost" /\ ~effectless,
         Fails("uncertain", "operation.uncertain"))

\* its result could not be recorded, and a tool that only reads has no effect to look for
O17(state, input, effectless) ==
    When(state = "started" /\ input = "unrecorded" /\ effectless,
         Fails("failed", "operation.failed"))

\* its result could not be recorded; whether it wrote is not known
O18(state, input, effectless) ==
    When(state = "started" /\ input = "unrecorded" /\ ~effectless,
         Fails("uncertain", "ledger.unavailable"))

\* a late result is still a result
O19(state, input) ==
    When(state = "uncertain" /\ input = "result", Does("succeeded", "record_result"))

\* this try wrote nothing, and no earlier one did
O20(state, input, latest, others_absent) ==
    When(state = "uncertain" /\ input = "declared_failure" /\ latest /\ others_absent,
         Fails("failed", "operation.failed"))

\* this try wrote nothing, but an earlier one may have
O21(state, input, latest, others_absent) ==
    When(state = "uncertain" /\ input = "declared_failure" /\ latest /\ ~others_absent,
         Fails("uncertain", "operation.uncertain"))

\* a late answer of an earlier try says nothing about this one
O22(state, input, latest) ==
    When(state = "uncertain" /\ input = "declared_failure" /\ ~latest,
         Fails("uncertain", "operation.uncertain"))

\* the query found the effect
O23(state, input) ==
    When(state = "uncertain" /\ input = "found_applied", Does("succeeded", "record_result"))

\* the effect is known absent: try again under the same key
O24(state, input, tries_left) ==
    When(state = "uncertain" /\ input = "found_absent" /\ tries_left, Does("started", "open_try"))

\* the effect is known absent, and no try is left
O25(state, input, tries_left) ==
    When(state = "uncertain" /\ input = "found_absent" /\ ~tries_left,
         Fails("failed", "operation.failed"))

\* pause, then ask again
O26(state, input, queries_left) ==
    When(state = "uncertain" /\ input = "unanswerable" /\ queries_left,
         Step("uncertain", "ask_again", "operation.uncertain"))

\* a repeat under the same key is one effect
O27(state, input, idempotent, tries_left, queries_left) ==
    When(state = "uncertain" /\ input = "unanswerable" /\ ~queries_left /\ idempotent /\ tries_left,
         Does("started", "open_try"))

\* a repeat could be a second effect, so a person must look
O28(state, input, idempotent, queries_left) ==
    When(state = "uncertain" /\ input = "unanswerable" /\ ~queries_left /\ ~idempotent,
         Fails("unresolved", "operation.unresolved"))

\* no try is left, so a person must look
O29(state, input, idempotent, tries_left, queries_left) ==
    When(state = "uncertain" /\ input = "unanswerable" /\ ~queries_left /\ idempotent /\ ~tries_left,
         Fails("unresolved", "operation.unresolved"))

\* cancelling does not undo what may have happened
O30(state, input) ==
    When(state = "uncertain" /\ input = "cancel", Fails("uncertain", "operation.uncertain"))

\* Of the rows of one state and input exactly one holds, so their order does not matter.
Operation ==
    [state \in OperationStates, input \in OperationInputs, latest, others_absent, effectless, idempotent,
     tries_left, queries_left \in BOOLEAN |->
        CASE state = "planned" -> UNION {
                O01(state, input), O02(state, input), O03(state, input), O04(state, input)}
          [] state = "started" -> UNION {
                O05(state, input), O06(state, input, latest, others_absent),
                O07(state, input, latest, others_absent), O08(state, input, latest),
                O09(state, input, effectless), O10(state, input, effectless),
                O11(state, input, effectless), O12(state, input, effectless),
                O13(state, input, effectless), O14(state, input, effectless),
                O15(state, input, effectless), O16(state, input, effectless),
                O17(state, input, effectless), O18(state, input, effectless)}
          [] state = "uncertain" -> UNION {
                O19(state, input), O20(state, input, latest, others_absent),
                O21(state, input, latest, others_absent), O22(state, input, latest),
                O23(state, input), O24(state, input, tries_left), O25(state, input, tries_left),
                O26(state, input, queries_left),
                O27(state, input, idempotent, tries_left, queries_left),
                O28(state, input, idempotent, queries_left),
                O29(state, input, idempotent, tries_left, queries_left), O30(state, input)}
          [] OTHER -> {}]
ASSUME \A cell \in DOMAIN Operation : Cardinality(Operation[cell]) <= 1

--------------------------------------------------------------------------------

\* Joins: what one machine tells another. The first row that holds decides.
\* With a refusal travels the fault that caused it: of several, that of the lowest index, and there
\* of the machine whose column stands first.

\* Of the states in which the instances of a machine rest.
Some(states, wanted) == states \cap wanted # {}
All(states, wanted) == states \subseteq wanted

\* A refused fragment refuses its stream. Read after each machine that saw the fragment; those not
\* yet asked are absent.
FieldRefusal(routing, identity, name, arguments) ==
    \* J01: the fragment could not be routed
    IF routing = "rejected" THEN "fragment_refused"
    \* J02: the fragment spoiled the identity of its call
    ELSE IF identity = "rejected" THEN "fragment_refused"
    \* J03: the fragment spoiled the name of its call
    ELSE IF name = "rejected" THEN "fragment_refused"
    \* J04: the fragment spoiled the arguments of its call
    ELSE IF arguments = "rejected" THEN "fragment_refused"
    \* J05: the fragment was taken
    ELSE IF routing # "rejected" /\ identity # "rejected" /\ name # "rejected" /\ arguments # "rejected"
        THEN "nothing"
    ELSE Nothing

\* The fields of every call end when every choice has completed.
FieldsEnd(stream) ==
    \* J06: every choice completed, so no fragment can come
    IF All(stream, {"complete"}) THEN "end"
    \* J07: a response that did not complete has no batch to judge
    ELSE IF Some(stream, {"open", "finished", "incomplete", "refused", "rejected"}) THEN "nothing"
    ELSE Nothing

\* What the finals of every choice and field say to the proposal.
\* many_choices: calls stand in more than one choice
\* announced: the first finish reason of a choice announced calls
Gathered(identity, name, many_choices, announced) ==
    \* J08: calls in two choices are alternatives, and none is chosen
    IF many_choices THEN "many_choices"
    \* J09: a call ended without an id
    ELSE IF Some(identity, {"rejected"}) THEN "field_fault"
    \* J10: a call ended without a name
    ELSE IF Some(name, {"rejected"}) THEN "field_fault"
    \* J11: calls were announced and none came
    ELSE IF identity = {} /\ announced THEN "no_calls_announced"
    \* J12: no calls, and none announced
    ELSE IF identity = {} /\ ~announced THEN "no_calls"
    \* J13: every call has its id and its name
    ELSE IF All(identity, {"fixed"}) /\ All(name, {"fixed"}) THEN "fields_fixed"
    ELSE Nothing

\* The outcome of one response. The three checks are over where the proposal rests at shaped;
\* business belongs to the turn.
Outcome(stream, proposal) ==
    \* J14: upstream refused, so nothing of the response counts
    IF Some(stream, {"refused"}) THEN "refused"
    \* J15: a choice broke a rule
    ELSE IF Some(stream, {"rejected"}) THEN "rejected"
    \* J16: a choice stopped before its end
    ELSE IF Some(stream, {"incomplete"}) THEN "incomplete"
    \* J17: the response is still being read
    ELSE IF Some(stream, {"open", "finished"}) THEN "nothing"
    \* J18: a complete response without calls
    ELSE IF All(stream, {"complete"}) /\ proposal = "answered" THEN "answered"
    \* J19: every call is whole and fits its tool
    ELSE IF All(stream, {"complete"}) /\ proposal \in {"shaped", "permitted", "denied"} THEN "whole"
    \* J20: the batch failed a check
    ELSE IF All(stream, {"complete"}) /\ proposal \in {"rejected", "malformed", "invalid"}
        THEN "rejected"
    \* J21: the proposal is still being checked
    ELSE IF All(stream, {"complete"}) /\ proposal \in {"absent", "gathered", "filled", "distinct", "parsed"}
        THEN "nothing"
    ELSE Nothing

\* What the choices of a response say to the turn that reads it.
TurnReceives(stream) ==
    \* J22: a refusal within the stream is a refusal
    IF Some(stream, {"refused"}) THEN "upstream_refused"
    \* J23: a choice broke a rule
    ELSE IF Some(stream, {"rejected"}) THEN "rejected"
    \* J24: a choice stopped before its end
    ELSE IF Some(stream, {"incomplete"}) THEN "incomplete"
    \* J25: the response is still being read
    ELSE IF Some(stream, {"open", "finished"}) THEN "nothing"
    \* J26: every choice completed
    ELSE IF All(stream, {"complete"}) THEN "complete"
    ELSE Nothing

\* What the proposal says to the turn that checks it.
TurnChecks(proposal) ==
    \* J27: the response is text for the user
    IF proposal = "answered" THEN "answered"
    \* J28: the calls do not make a batch
    ELSE IF proposal = "rejected" THEN "rejected"
    \* J29: an argument text is not whole, strict JSON
    ELSE IF proposal = "malformed" THEN "malformed"
    \* J30: a call does not fit a tool
    ELSE IF proposal = "invalid" THEN "invalid"
    \* J31: a tool's own check refused a call
    ELSE IF proposal = "denied" THEN "denied"
    \* J32: every call passed every check
    ELSE IF proposal = "permitted" THEN "permitted"
    \* J33: the proposal is still being checked
    ELSE IF proposal \in {"absent", "gathered", "filled", "distinct", "parsed", "shaped"}
        THEN "nothing"
    ELSE Nothing

\* What the operations say to the turn once none of them is running.
Operations(operation) ==
    \* J34: an unknown effect is looked up before anything else is said
    IF Some(operation, {"uncertain"}) THEN "some_uncertain"
    \* J35: an effect cannot be found out
    ELSE IF Some(operation, {"unresolved"}) THEN "some_unresolved"
    \* J36: an operation never started
    ELSE IF Some(operation, {"cancelled"}) THEN "some_cancelled"
    \* J37: every operation succeeded or failed
    ELSE IF All(operation, {"succeeded", "failed"}) THEN "all_known"
    ELSE Nothing

--------------------------------------------------------------------------------

FaultNames == {
    "index.missing",              \* a fragment has no index, so no call can be named for it
    "index.type",                 \* a fragment's index is not an integer >= 0
    "identity.null_first",        \* an id was null before any non-empty id had arrived
    "identity.conflict",          \* an id contradicts the one already established
    "identity.type",              \* an id is not a string
    "identity.missing",           \* a call ended without a non-empty id
    "name.type",                  \* a function name is not a string
    "name.missing",               \* a call ended without a function name
    "arguments.type",             \* arguments are not text
    "stream.after_finish",        \* a fragment came after the finish reason
    "stream.cut_short",           \* the finish reason says that the output was cut at a length limit
    "stream.filtered",            \* the finish reason says that a filter stopped the output
    "stream.unknown_finish",      \* the finish reason is none of those known
    "stream.conflicting_finish",  \* a second finish reason contradicts the first
    "stream.no_finish",           \* the stream ended without a finish reason
    "stream.aborted",             \* the transport failed before the stream ended
    "stream.bad_frame",           \* a frame is outside this specification
    "upstream.error",             \* upstream sent an error within the stream
    "upstream.refused",           \* upstream refused the request
    "proposal.many_choices",      \* calls stand in more than one choice
    "proposal.no_calls",          \* calls were announced and none came
    "proposal.duplicate_id",      \* two calls bear the same id
    "syntax.incomplete",          \* the arguments stop before their JSON text is whole
    "syntax.invalid",             \* the arguments are not a JSON text
    "syntax.duplicate_key",       \* an object of the arguments has a key twice
    "structure.not_object",       \* the arguments are valid JSON but not an object
    "structure.unknown_tool",     \* no tool has this name
    "structure.schema",           \* the arguments do not fit the tool's schema
    "business.denied",            \* the tool's own check refused the call
    "limit.calls",                \* a choice opens more calls than the limit
    "limit.name",                 \* a function name is longer than the limit
    "limit.arguments",            \* arguments are longer than the limit
    "limit.depth",                \* arguments nest deeper than the limit
    "turn.unreachable",           \* the request got no answer
    "turn.cancelled",             \* the host cancelled the turn
    "turn.interrupted",           \* an operation of the batch was cancelled before it started
    "host.unauthorized",          \* the host did not allow the batch
    "operation.uncertain",        \* whether the effect of an operation happened is not known
    "operation.failed",           \* an operation failed, and its effect is known not to have happened
    "operation.cancelled",        \* an operation was cancelled before it started
    "operation.unresolved",       \* whether the effect of an operation happened could not be found out
    "ledger.unavailable"          \* the ledger could not store a record
}

\* Finish reasons, each with its input: of each class one, and one that announces calls.
FinishReasons == {<<"finish_normal", "stop">>, <<"finish_normal", "tool_calls">>, <<"finish_length",
    "length">>, <<"finish_filter", "content_filter">>, <<"finish_other", "any other">>}

\* Finish reasons that announce calls.
Announcing == {"tool_calls", "function_call"}

\* What comes to every choice of a response at once.
OfAll == {"error", "done", "eof", "abort", "bad_frame"}


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

--------------------------------------------------------------------------------
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

\* every variable holds what it may hold
types_kept ==
    /\ turn \in TurnStates
    /\ run \in 1..2
    /\ attempts \in Nat
    /\ fault \in FaultNames \cup {Nothing}
    /\ response.kind \in {"none", "reading", "over", "batch"}
    /\ proposal \in ProposalStates \cup {Absent}
    /\ authorized \in BOOLEAN
    /\ tool \in Tools \cup {NoTool}
    /\ \A op \in Range(operations) : op.state \in OperationStates

\* an established id never changes or clears within its response
identity_kept ==
    [][ReadsOn =>
        \A c \in DOMAIN response.choices : \A k \in DOMAIN response.choices[c].calls :
            \/ response.choices[c].calls[k].identity.text = <<>>
            \/ response'.choices[c].calls[k].identity.text = response.choices[c].calls[k].identity.text
      ]_vars

\* every id of a proposal arrived verbatim at that index of that response
no_invented_id ==
    \A call \in Read : \A came \in IdsFor(call) : \A taken \in TakeId(call.identity, came) :
        taken.field.text \in {call.identity.text, came.text}

\* a call's arguments are exactly its own fragments, in order
no_borrowing ==
    [][ReadsOn => \A c \in DOMAIN response.choices :
        LET before == response.choices[c].calls
            after  == response'.choices[c].calls
        IN  after = before \/ OneFragment(before, after)
      ]_vars

\* raw text is never altered, repaired or replaced
raw_preserved ==
    \A call \in Read : \A came \in PiecesFor(call) : \A taken \in TakeArguments(call.arguments, came) :
        \/ FieldRefusal(Absent, Absent, Absent, taken.field.state) # Nothing
        \/ taken.field.text = call.arguments.text \o came.text

\* calls, names and arguments stay within their limits
limits_kept ==
    response.kind = "reading" => \A choice \in Range(response.choices) :
        /\ Len(choice.calls) <= CALLS
        /\ \A call \in Range(choice.calls) :
            Len(call.name.text) <= LIMIT /\ Len(call.arguments.text) <= LIMIT

\* nothing starts unless every call is permitted and the batch authorized
whole_batch_first ==
    run = 1 /\ AnyStarted(operations) => proposal = "permitted" /\ authorized

\* a call that failed a check is executed zero times
corrupt_never_runs ==
    run = 1 /\ AnyStarted(operations) => response.kind = "batch" /\ response.sound

\* requests, queries per run and tries per key stay within their limits
bounded_attempts ==
    /\ attempts <= ATTEMPTS
    /\ \A op \in Range(operations) : op.queries <= QUERIES /\ Len(op.tries) <= TRIES

\* once an operation of a turn id started, that turn makes no request
no_regeneration_after_start ==
    [][attempts' > attempts => ~AnyStarted(operations)]_vars

\* an uncertain operation is queried, or retried under its key, or left unresolved
unknown_never_blindly_retried ==
    [][tool.effect = "once" => \A k \in DOMAIN operations :
        LET tries == Len(operations[k].tries)
        IN  tries > 0 /\ Len(operations'[k].tries) > tries => operations'[k].absent >= tries]_vars

\* an operation ends succeeded, failed or cancelled only where its effect is known
no_false_certainty ==
    \A op \in Range(operations) :
        /\ op.state = "succeeded" => op.effects > 0 \/ tool.effect = "none"
        /\ op.state = "failed" => op.effects = 0 \/ tool.effect = "none"
        /\ op.state = "cancelled" => op.tries = <<>>

\* at most one effect per idempotency key, through crashes and concurrent workers
one_effect_per_key ==
    \A op \in Range(operations) : op.effects <= 1

\* nothing of a refused, incomplete or rejected response runs, or makes a turn end settled or
\* answered
refusal_is_not_success ==
    run = 1 /\ turn \in TurnGood => Verdict \in {"whole", "answered"}

\* every end but a good one carries a fault
every_end_explained ==
    turn \in TurnFinals \ TurnGood => fault # Nothing

\* where a turn is not over, something comes that leads on, and that need not be hoped for
never_stuck ==
    turn \in TurnFinals \/ ENABLED <<Comes>>_vars

\* every response and every turn with a finite environment reaches a final state
always_ends ==
    <>[][FALSE]_vars

================================================================================
