# Printed from spec/wholecall_spec/tables/*.toml; do not edit.
# To print it again: wholecall build
"""Every row of every table, driven through both engines, and every input a state must not see.

The id of a test is the id of its row. What a test expects is printed from the tables, so it
proves that the engines are the tables; that the tables are right rests on tests that people wrote.
"""

import pytest

from wholecall.engine import Compiled, Engine, NoRowError, Step
from wholecall.machines import Reference
from wholecall_generated.tables import SPEC

ENGINES: tuple[Engine, ...] = (Compiled(SPEC), Reference(SPEC))

ROWS = [
    # the first index seen opens the first call
    pytest.param("routing", "none", "new", ({},), Step("R01", "one", "open_call", ""), id="R01"),
    # without an index no call can be named, and none is guessed
    pytest.param("routing", "none", "missing", ({},), Step("R03", "rejected", "", "index.missing"), id="R03"),
    # an index is an integer >= 0; nothing is coerced into one
    pytest.param("routing", "none", "other", ({},), Step("R04", "rejected", "", "index.type"), id="R04"),
    # the stream completed without any call
    pytest.param("routing", "none", "end", ({},), Step("R05", "closed", "", ""), id="R05"),
    # a second index opens a second call; gaps between indices are legal
    pytest.param("routing", "one", "new", ({"calls_left": True},), Step("R06", "many", "open_call", ""), id="R06"),
    # a choice may not open more calls than the limit
    pytest.param("routing", "one", "new", ({"calls_left": False},), Step("R07", "rejected", "", "limit.calls"), id="R07"),
    # a seen index continues its own call
    pytest.param("routing", "one", "known", ({},), Step("R08", "one", "route", ""), id="R08"),
    # even a single open call is not guessed: a fragment must say whose it is
    pytest.param("routing", "one", "missing", ({},), Step("R09", "rejected", "", "index.missing"), id="R09"),
    # an index is an integer >= 0; nothing is coerced into one
    pytest.param("routing", "one", "other", ({},), Step("R10", "rejected", "", "index.type"), id="R10"),
    # the stream completed with one call
    pytest.param("routing", "one", "end", ({},), Step("R11", "closed", "", ""), id="R11"),
    # each new index opens one more call
    pytest.param("routing", "many", "new", ({"calls_left": True},), Step("R12", "many", "open_call", ""), id="R12"),
    # a choice may not open more calls than the limit
    pytest.param("routing", "many", "new", ({"calls_left": False},), Step("R13", "rejected", "", "limit.calls"), id="R13"),
    # interleaved fragments go each to its own call
    pytest.param("routing", "many", "known", ({},), Step("R14", "many", "route", ""), id="R14"),
    # among parallel calls a guess would put arguments on the wrong call
    pytest.param("routing", "many", "missing", ({},), Step("R15", "rejected", "", "index.missing"), id="R15"),
    # an index is an integer >= 0; nothing is coerced into one
    pytest.param("routing", "many", "other", ({},), Step("R16", "rejected", "", "index.type"), id="R16"),
    # the stream completed with several calls
    pytest.param("routing", "many", "end", ({},), Step("R17", "closed", "", ""), id="R17"),
    # the id may still come in a later fragment
    pytest.param("identity", "unknown", "omitted", ({},), Step("I01", "unknown", "", ""), id="I01"),
    # null can keep an identity but not create one
    pytest.param("identity", "unknown", "null", ({},), Step("I02", "rejected", "", "identity.null_first"), id="I02"),
    # an early empty id may be filled by a later one
    pytest.param("identity", "unknown", "empty", ({},), Step("I03", "blank", "", ""), id="I03"),
    # the first non-empty id names the call
    pytest.param("identity", "unknown", "text", ({},), Step("I04", "established", "set_id", ""), id="I04"),
    # an id is a string; a number is not turned into one
    pytest.param("identity", "unknown", "other", ({},), Step("I05", "rejected", "", "identity.type"), id="I05"),
    # the call ended without an id, and none is invented
    pytest.param("identity", "unknown", "end", ({},), Step("I06", "rejected", "", "identity.missing"), id="I06"),
    # the id may still come in a later fragment
    pytest.param("identity", "blank", "omitted", ({},), Step("I07", "blank", "", ""), id="I07"),
    # an empty id is no established identity that null could keep
    pytest.param("identity", "blank", "null", ({},), Step("I08", "rejected", "", "identity.null_first"), id="I08"),
    # still no identity, and still none is refused
    pytest.param("identity", "blank", "empty", ({},), Step("I09", "blank", "", ""), id="I09"),
    # a valid id fills the early empty one
    pytest.param("identity", "blank", "text", ({},), Step("I10", "established", "set_id", ""), id="I10"),
    # an id is a string; a number is not turned into one
    pytest.param("identity", "blank", "other", ({},), Step("I11", "rejected", "", "identity.type"), id="I11"),
    # the id was still empty at the end
    pytest.param("identity", "blank", "end", ({},), Step("I12", "rejected", "", "identity.missing"), id="I12"),
    # an omitted id updates nothing
    pytest.param("identity", "established", "omitted", ({},), Step("I13", "established", "", ""), id="I13"),
    # a null continuation updates nothing
    pytest.param("identity", "established", "null", ({},), Step("I14", "established", "", ""), id="I14"),
    # an empty id contradicts the established one
    pytest.param("identity", "established", "empty", ({},), Step("I15", "rejected", "", "identity.conflict"), id="I15"),
    # the same id again confirms the call
    pytest.param("identity", "established", "text", ({"same_id": True},), Step("I16", "established", "", ""), id="I16"),
    # a different id contradicts the established one, and neither is chosen
    pytest.param("identity", "established", "text", ({"same_id": False},), Step("I17", "rejected", "", "identity.conflict"), id="I17"),
    # an id is a string; a number is not turned into one
    pytest.param("identity", "established", "other", ({},), Step("I18", "rejected", "", "identity.type"), id="I18"),
    # the call ends with the id that arrived
    pytest.param("identity", "established", "end", ({},), Step("I19", "fixed", "", ""), id="I19"),
    # the name may still come
    pytest.param("name", "unnamed", "omitted", ({},), Step("N01", "unnamed", "", ""), id="N01"),
    # a null name adds nothing
    pytest.param("name", "unnamed", "null", ({},), Step("N02", "unnamed", "", ""), id="N02"),
    # an empty name adds nothing
    pytest.param("name", "unnamed", "empty", ({},), Step("N03", "unnamed", "", ""), id="N03"),
    # the first text begins the name
    pytest.param("name", "unnamed", "text", ({"name_fits": True},), Step("N04", "named", "append_name", ""), id="N04"),
    # a name may not be longer than the limit
    pytest.param("name", "unnamed", "text", ({"name_fits": False},), Step("N05", "rejected", "", "limit.name"), id="N05"),
    # a name is a string; nothing is coerced into one
    pytest.param("name", "unnamed", "other", ({},), Step("N06", "rejected", "", "name.type"), id="N06"),
    # the call ended without a name, and none is guessed
    pytest.param("name", "unnamed", "end", ({},), Step("N07", "rejected", "", "name.missing"), id="N07"),
    # an omitted name adds nothing
    pytest.param("name", "named", "omitted", ({},), Step("N08", "named", "", ""), id="N08"),
    # a null name adds nothing
    pytest.param("name", "named", "null", ({},), Step("N09", "named", "", ""), id="N09"),
    # an empty name adds nothing
    pytest.param("name", "named", "empty", ({},), Step("N10", "named", "", ""), id="N10"),
    # names are joined as arguments are
    pytest.param("name", "named", "text", ({"name_fits": True},), Step("N11", "named", "append_name", ""), id="N11"),
    # a name may not be longer than the limit
    pytest.param("name", "named", "text", ({"name_fits": False},), Step("N12", "rejected", "", "limit.name"), id="N12"),
    # a name is a string; nothing is coerced into one
    pytest.param("name", "named", "other", ({},), Step("N13", "rejected", "", "name.type"), id="N13"),
    # the call ends with the name that arrived
    pytest.param("name", "named", "end", ({},), Step("N14", "fixed", "", ""), id="N14"),
    # the arguments may still come
    pytest.param("arguments", "absent", "omitted", ({},), Step("A01", "absent", "", ""), id="A01"),
    # null arguments add nothing
    pytest.param("arguments", "absent", "null", ({},), Step("A02", "absent", "", ""), id="A02"),
    # empty arguments add nothing, and are not an empty object
    pytest.param("arguments", "absent", "empty", ({},), Step("A03", "absent", "", ""), id="A03"),
    # the first text begins the arguments
    pytest.param("arguments", "absent", "text", ({"arguments_fit": True},), Step("A04", "collecting", "append_arguments", ""), id="A04"),
    # arguments may not be longer than the limit
    pytest.param("arguments", "absent", "text", ({"arguments_fit": False},), Step("A05", "rejected", "", "limit.arguments"), id="A05"),
    # arguments stream as text; an object is not turned into text
    pytest.param("arguments", "absent", "other", ({},), Step("A06", "rejected", "", "arguments.type"), id="A06"),
    # no text came; the syntax check will judge the empty text
    pytest.param("arguments", "absent", "end", ({},), Step("A07", "collected", "", ""), id="A07"),
    # omitted arguments add nothing
    pytest.param("arguments", "collecting", "omitted", ({},), Step("A08", "collecting", "", ""), id="A08"),
    # null arguments add nothing
    pytest.param("arguments", "collecting", "null", ({},), Step("A09", "collecting", "", ""), id="A09"),
    # empty arguments add nothing
    pytest.param("arguments", "collecting", "empty", ({},), Step("A10", "collecting", "", ""), id="A10"),
    # text is joined in the order it arrives
    pytest.param("arguments", "collecting", "text", ({"arguments_fit": True},), Step("A11", "collecting", "append_arguments", ""), id="A11"),
    # arguments may not be longer than the limit
    pytest.param("arguments", "collecting", "text", ({"arguments_fit": False},), Step("A12", "rejected", "", "limit.arguments"), id="A12"),
    # arguments stream as text; an object is not turned into text
    pytest.param("arguments", "collecting", "other", ({},), Step("A13", "rejected", "", "arguments.type"), id="A13"),
    # the text is kept as it arrived and judged with the whole proposal
    pytest.param("arguments", "collecting", "end", ({},), Step("A14", "collected", "", ""), id="A14"),
    # a fragment goes on to its call
    pytest.param("stream", "open", "fragment", ({},), Step("S01", "open", "", ""), id="S01"),
    # one refused fragment refuses the response
    pytest.param("stream", "open", "fragment_refused", ({},), Step("S02", "rejected", "", "carried"), id="S02"),
    # text and usage say nothing about calls
    pytest.param("stream", "open", "content", ({},), Step("S03", "open", "", ""), id="S03"),
    # the choice announces a proper end
    pytest.param("stream", "open", "finish_normal", ({},), Step("S04", "finished", "note_finish", ""), id="S04"),
    # output cut at a limit is not whole, even where it happens to parse
    pytest.param("stream", "open", "finish_length", ({},), Step("S05", "incomplete", "", "stream.cut_short"), id="S05"),
    # filtered output is a refusal by the provider
    pytest.param("stream", "open", "finish_filter", ({},), Step("S06", "refused", "", "stream.filtered"), id="S06"),
    # an unknown finish reason promises nothing
    pytest.param("stream", "open", "finish_other", ({},), Step("S07", "rejected", "", "stream.unknown_finish"), id="S07"),
    # an upstream error ends the response; it is never success
    pytest.param("stream", "open", "error", ({},), Step("S08", "refused", "", "upstream.error"), id="S08"),
    # the end marker came without any finish reason
    pytest.param("stream", "open", "done", ({},), Step("S09", "incomplete", "", "stream.no_finish"), id="S09"),
    # the stream closed without any finish reason
    pytest.param("stream", "open", "eof", ({},), Step("S10", "incomplete", "", "stream.no_finish"), id="S10"),
    # the transport failed before the end
    pytest.param("stream", "open", "abort", ({},), Step("S11", "incomplete", "", "stream.aborted"), id="S11"),
    # a frame outside this specification is not guessed at
    pytest.param("stream", "open", "bad_frame", ({},), Step("S12", "rejected", "", "stream.bad_frame"), id="S12"),
    # a fragment after the finish reason belongs to no call
    pytest.param("stream", "finished", "fragment", ({},), Step("S13", "rejected", "", "stream.after_finish"), id="S13"),
    # usage and empty deltas may follow
    pytest.param("stream", "finished", "content", ({},), Step("S14", "finished", "", ""), id="S14"),
    # a repeated proper end changes nothing
    pytest.param("stream", "finished", "finish_normal", ({},), Step("S15", "finished", "", ""), id="S15"),
    # a proper end was announced before; neither is chosen
    pytest.param("stream", "finished", "finish_length", ({},), Step("S16", "rejected", "", "stream.conflicting_finish"), id="S16"),
    # a proper end was announced before; neither is chosen
    pytest.param("stream", "finished", "finish_filter", ({},), Step("S17", "rejected", "", "stream.conflicting_finish"), id="S17"),
    # a proper end was announced before; neither is chosen
    pytest.param("stream", "finished", "finish_other", ({},), Step("S18", "rejected", "", "stream.conflicting_finish"), id="S18"),
    # an upstream error after the finish reason is still an error
    pytest.param("stream", "finished", "error", ({},), Step("S19", "refused", "", "upstream.error"), id="S19"),
    # finish reason and end marker: the choice ended properly
    pytest.param("stream", "finished", "done", ({},), Step("S20", "complete", "", ""), id="S20"),
    # some providers send no end marker; the finish reason suffices
    pytest.param("stream", "finished", "eof", ({},), Step("S21", "complete", "", ""), id="S21"),
    # the transport failed, so what was lost is not known
    pytest.param("stream", "finished", "abort", ({},), Step("S22", "incomplete", "", "stream.aborted"), id="S22"),
    # a frame outside this specification is not guessed at
    pytest.param("stream", "finished", "bad_frame", ({},), Step("S23", "rejected", "", "stream.bad_frame"), id="S23"),
    # calls in two choices are alternatives, and none is chosen
    pytest.param("proposal", "gathered", "many_choices", ({},), Step("P01", "rejected", "", "proposal.many_choices"), id="P01"),
    # one call without id or name refuses the batch
    pytest.param("proposal", "gathered", "field_fault", ({},), Step("P02", "rejected", "", "carried"), id="P02"),
    # calls were announced and none came
    pytest.param("proposal", "gathered", "no_calls_announced", ({},), Step("P03", "rejected", "", "proposal.no_calls"), id="P03"),
    # a response without calls is an answer
    pytest.param("proposal", "gathered", "no_calls", ({},), Step("P04", "answered", "", ""), id="P04"),
    # every call can be named
    pytest.param("proposal", "gathered", "fields_fixed", ({},), Step("P05", "filled", "", ""), id="P05"),
    # two calls with one id cannot be told apart afterwards
    pytest.param("proposal", "filled", "duplicate_id", ({},), Step("P06", "rejected", "", "proposal.duplicate_id"), id="P06"),
    # every id stands once
    pytest.param("proposal", "filled", "distinct_ids", ({},), Step("P07", "distinct", "", ""), id="P07"),
    # a text that is not whole JSON is never completed or replaced
    pytest.param("proposal", "distinct", "bad_syntax", ({},), Step("P08", "malformed", "", "carried"), id="P08"),
    # every text parsed whole
    pytest.param("proposal", "distinct", "syntax_ok", ({},), Step("P09", "parsed", "", ""), id="P09"),
    # valid JSON that does not fit the tool's schema must not run
    pytest.param("proposal", "parsed", "bad_structure", ({},), Step("P10", "invalid", "", "carried"), id="P10"),
    # every call fits its tool
    pytest.param("proposal", "parsed", "structure_ok", ({},), Step("P11", "shaped", "", ""), id="P11"),
    # the reason goes back to the planner; the same call is not retried
    pytest.param("proposal", "shaped", "business_no", ({},), Step("P12", "denied", "", "business.denied"), id="P12"),
    # the batch is whole; running it is still the host's decision
    pytest.param("proposal", "shaped", "business_ok", ({},), Step("P13", "permitted", "", ""), id="P13"),
    # the response is read frame by frame
    pytest.param("turn", "requesting", "started", ({},), Step("T01", "receiving", "", ""), id="T01"),
    # what an earlier run started is reconciled, and no request is made
    pytest.param("turn", "requesting", "resumed", ({},), Step("T02", "reconciling", "", ""), id="T02"),
    # no answer came and nothing ran: ask again
    pytest.param("turn", "requesting", "unreachable", ({"attempts_left": True},), Step("T03", "requesting", "next_attempt", "turn.unreachable"), id="T03"),
    # the limit of attempts is reached
    pytest.param("turn", "requesting", "unreachable", ({"attempts_left": False},), Step("T04", "exhausted", "", "turn.unreachable"), id="T04"),
    # a clear refusal is not retried as if it had succeeded
    pytest.param("turn", "requesting", "upstream_refused", ({},), Step("T05", "refused", "", "upstream.refused"), id="T05"),
    # nothing ran yet
    pytest.param("turn", "requesting", "cancel", ({},), Step("T06", "cancelled", "", "turn.cancelled"), id="T06"),
    # status and reason are kept; it is not success
    pytest.param("turn", "receiving", "upstream_refused", ({},), Step("T07", "refused", "", "carried"), id="T07"),
    # nothing ran: generate the response again
    pytest.param("turn", "receiving", "incomplete", ({"attempts_left": True},), Step("T08", "requesting", "next_attempt", "carried"), id="T08"),
    # the limit of attempts is reached
    pytest.param("turn", "receiving", "incomplete", ({"attempts_left": False},), Step("T09", "exhausted", "", "carried"), id="T09"),
    # nothing ran: generate the response again
    pytest.param("turn", "receiving", "rejected", ({"attempts_left": True},), Step("T10", "requesting", "next_attempt", "carried"), id="T10"),
    # the limit of attempts is reached
    pytest.param("turn", "receiving", "rejected", ({"attempts_left": False},), Step("T11", "exhausted", "", "carried"), id="T11"),
    # the stream ended properly; now the whole proposal is checked
    pytest.param("turn", "receiving", "complete", ({},), Step("T12", "checking", "", ""), id="T12"),
    # nothing ran yet
    pytest.param("turn", "receiving", "cancel", ({},), Step("T13", "cancelled", "", "turn.cancelled"), id="T13"),
    # the response is text for the user
    pytest.param("turn", "checking", "answered", ({},), Step("T14", "answered", "", ""), id="T14"),
    # nothing ran: generate the response again
    pytest.param("turn", "checking", "rejected", ({"attempts_left": True},), Step("T15", "requesting", "next_attempt", "carried"), id="T15"),
    # the limit of attempts is reached
    pytest.param("turn", "checking", "rejected", ({"attempts_left": False},), Step("T16", "exhausted", "", "carried"), id="T16"),
    # generating clear arguments again is safer than a guess
    pytest.param("turn", "checking", "malformed", ({"attempts_left": True},), Step("T17", "requesting", "next_attempt", "carried"), id="T17"),
    # the limit of attempts is reached
    pytest.param("turn", "checking", "malformed", ({"attempts_left": False},), Step("T18", "exhausted", "", "carried"), id="T18"),
    # nothing ran: generate the response again
    pytest.param("turn", "checking", "invalid", ({"attempts_left": True},), Step("T19", "requesting", "next_attempt", "carried"), id="T19"),
    # the limit of attempts is reached
    pytest.param("turn", "checking", "invalid", ({"attempts_left": False},), Step("T20", "exhausted", "", "carried"), id="T20"),
    # the reasons go to the planner, never the same request again
    pytest.param("turn", "checking", "denied", ({},), Step("T21", "returned", "", "business.denied"), id="T21"),
    # whole and checked is not yet allowed
    pytest.param("turn", "checking", "permitted", ({},), Step("T22", "authorizing", "", ""), id="T22"),
    # nothing ran yet
    pytest.param("turn", "checking", "cancel", ({},), Step("T23", "cancelled", "", "turn.cancelled"), id="T23"),
    # the host allows the whole batch
    pytest.param("turn", "authorizing", "authorized", ({},), Step("T24", "dispatching", "", ""), id="T24"),
    # the host refuses, and nothing runs
    pytest.param("turn", "authorizing", "unauthorized", ({},), Step("T25", "declined", "", "host.unauthorized"), id="T25"),
    # nothing ran yet
    pytest.param("turn", "authorizing", "cancel", ({},), Step("T26", "cancelled", "", "turn.cancelled"), id="T26"),
    # every operation succeeded or failed, and is recorded
    pytest.param("turn", "dispatching", "all_known", ({},), Step("T27", "settled", "", ""), id="T27"),
    # no success received is not the same as no effect
    pytest.param("turn", "dispatching", "some_uncertain", ({},), Step("T28", "reconciling", "", ""), id="T28"),
    # an operation never started; the others say how they ended
    pytest.param("turn", "dispatching", "some_cancelled", ({},), Step("T29", "cancelled", "", "turn.interrupted"), id="T29"),
    # cancelled while the effect of an operation is not known
    pytest.param("turn", "dispatching", "cancel", ({"any_uncertain": True},), Step("T30", "unresolved", "", "turn.cancelled"), id="T30"),
    # cancelled; the operations say which ran
    pytest.param("turn", "dispatching", "cancel", ({"any_uncertain": False},), Step("T31", "cancelled", "", "turn.cancelled"), id="T31"),
    # every effect is known now
    pytest.param("turn", "reconciling", "all_known", ({},), Step("T32", "settled", "", ""), id="T32"),
    # an effect is still unknown: ask again within the limits
    pytest.param("turn", "reconciling", "some_uncertain", ({},), Step("T33", "reconciling", "", ""), id="T33"),
    # an operation never started; the others say how they ended
    pytest.param("turn", "reconciling", "some_cancelled", ({},), Step("T34", "cancelled", "", "turn.interrupted"), id="T34"),
    # an effect cannot be found out, and is not guessed
    pytest.param("turn", "reconciling", "some_unresolved", ({},), Step("T35", "unresolved", "", "operation.unresolved"), id="T35"),
    # cancelled while the effect of an operation is not known
    pytest.param("turn", "reconciling", "cancel", ({"any_uncertain": True},), Step("T36", "unresolved", "", "turn.cancelled"), id="T36"),
    # cancelled; the operations say which ran
    pytest.param("turn", "reconciling", "cancel", ({"any_uncertain": False},), Step("T37", "cancelled", "", "turn.cancelled"), id="T37"),
    # the record is durable before the tool runs
    pytest.param("operation", "planned", "start", ({},), Step("O01", "started", "open_try", ""), id="O01"),
    # another worker may be running it
    pytest.param("operation", "planned", "taken", ({},), Step("O02", "uncertain", "", "operation.uncertain"), id="O02"),
    # it never started
    pytest.param("operation", "planned", "cancel", ({},), Step("O03", "cancelled", "", "operation.cancelled"), id="O03"),
    # a tool does not run without its record
    pytest.param("operation", "planned", "unrecorded", ({},), Step("O04", "cancelled", "", "ledger.unavailable"), id="O04"),
    # the result is recorded at once
    pytest.param("operation", "started", "result", ({},), Step("O05", "succeeded", "record_result", ""), id="O05"),
    # this try wrote nothing, and no earlier one did
    pytest.param("operation", "started", "declared_failure", ({"latest": True, "others_absent": True},), Step("O06", "failed", "", "operation.failed"), id="O06"),
    # this try wrote nothing, but an earlier one may have
    pytest.param("operation", "started", "declared_failure", ({"latest": True, "others_absent": False},), Step("O07", "uncertain", "", "operation.uncertain"), id="O07"),
    # a late answer of an earlier try says nothing about this one
    pytest.param("operation", "started", "declared_failure", ({"latest": False, "others_absent": True}, {"latest": False, "others_absent": False}), Step("O08", "started", "", ""), id="O08"),
    # the tool raised, and a tool that only reads has no effect to look for
    pytest.param("operation", "started", "raised", ({"effectless": True},), Step("O09", "failed", "", "operation.failed"), id="O09"),
    # the tool raised; whether it wrote is not known
    pytest.param("operation", "started", "raised", ({"effectless": False},), Step("O10", "uncertain", "", "operation.uncertain"), id="O10"),
    # the tool gave no answer in time, and a tool that only reads has no effect to look for
    pytest.param("operation", "started", "timeout", ({"effectless": True},), Step("O11", "failed", "", "operation.failed"), id="O11"),
    # the tool gave no answer in time; whether it wrote is not known
    pytest.param("operation", "started", "timeout", ({"effectless": False},), Step("O12", "uncertain", "", "operation.uncertain"), id="O12"),
    # it was cancelled while it ran, and a tool that only reads has no effect to look for
    pytest.param("operation", "started", "cancel", ({"effectless": True},), Step("O13", "failed", "", "operation.failed"), id="O13"),
    # it was cancelled while it ran; whether it wrote is not known
    pytest.param("operation", "started", "cancel", ({"effectless": False},), Step("O14", "uncertain", "", "operation.uncertain"), id="O14"),
    # its worker's lease ran out, and a tool that only reads has no effect to look for
    pytest.param("operation", "started", "lost", ({"effectless": True},), Step("O15", "failed", "", "operation.failed"), id="O15"),
    # its worker's lease ran out; whether it wrote is not known
    pytest.param("operation", "started", "lost", ({"effectless": False},), Step("O16", "uncertain", "", "operation.uncertain"), id="O16"),
    # its result could not be recorded, and a tool that only reads has no effect to look for
    pytest.param("operation", "started", "unrecorded", ({"effectless": True},), Step("O17", "failed", "", "operation.failed"), id="O17"),
    # its result could not be recorded; whether it wrote is not known
    pytest.param("operation", "started", "unrecorded", ({"effectless": False},), Step("O18", "uncertain", "", "ledger.unavailable"), id="O18"),
    # a late result is still a result
    pytest.param("operation", "uncertain", "result", ({},), Step("O19", "succeeded", "record_result", ""), id="O19"),
    # this try wrote nothing, and no earlier one did
    pytest.param("operation", "uncertain", "declared_failure", ({"latest": True, "others_absent": True},), Step("O20", "failed", "", "operation.failed"), id="O20"),
    # this try wrote nothing, but an earlier one may have
    pytest.param("operation", "uncertain", "declared_failure", ({"latest": True, "others_absent": False},), Step("O21", "uncertain", "", "operation.uncertain"), id="O21"),
    # a late answer of an earlier try says nothing about this one
    pytest.param(
        "operation",
        "uncertain",
        "declared_failure",
        ({"latest": False, "others_absent": True}, {"latest": False, "others_absent": False}),
        Step("O22", "uncertain", "", "operation.uncertain"),
        id="O22",
    ),
    # the query found the effect
    pytest.param("operation", "uncertain", "found_applied", ({},), Step("O23", "succeeded", "record_result", ""), id="O23"),
    # the effect is known absent: try again under the same key
    pytest.param("operation", "uncertain", "found_absent", ({"tries_left": True},), Step("O24", "started", "open_try", ""), id="O24"),
    # the effect is known absent, and no try is left
    pytest.param("operation", "uncertain", "found_absent", ({"tries_left": False},), Step("O25", "failed", "", "operation.failed"), id="O25"),
    # pause, then ask again
    pytest.param(
        "operation",
        "uncertain",
        "unanswerable",
        (
            {"idempotent": True, "tries_left": True, "queries_left": True},
            {"idempotent": True, "tries_left": False, "queries_left": True},
            {"idempotent": False, "tries_left": True, "queries_left": True},
            {"idempotent": False, "tries_left": False, "queries_left": True},
        ),
        Step("O26", "uncertain", "ask_again", "operation.uncertain"),
        id="O26",
    ),
    # a repeat under the same key is one effect
    pytest.param("operation", "uncertain", "unanswerable", ({"idempotent": True, "tries_left": True, "queries_left": False},), Step("O27", "started", "open_try", ""), id="O27"),
    # a repeat could be a second effect, so a person must look
    pytest.param(
        "operation",
        "uncertain",
        "unanswerable",
        ({"idempotent": False, "tries_left": True, "queries_left": False}, {"idempotent": False, "tries_left": False, "queries_left": False}),
        Step("O28", "unresolved", "", "operation.unresolved"),
        id="O28",
    ),
    # no try is left, so a person must look
    pytest.param("operation", "uncertain", "unanswerable", ({"idempotent": True, "tries_left": False, "queries_left": False},), Step("O29", "unresolved", "", "operation.unresolved"), id="O29"),
    # cancelling does not undo what may have happened
    pytest.param("operation", "uncertain", "cancel", ({},), Step("O30", "uncertain", "", "operation.uncertain"), id="O30"),
]

UNSEEN = [
    pytest.param("routing", "none", "known", id="routing-none-known"),
    pytest.param("routing", "closed", "new", id="routing-closed-new"),
    pytest.param("routing", "closed", "known", id="routing-closed-known"),
    pytest.param("routing", "closed", "missing", id="routing-closed-missing"),
    pytest.param("routing", "closed", "other", id="routing-closed-other"),
    pytest.param("routing", "closed", "end", id="routing-closed-end"),
    pytest.param("routing", "rejected", "new", id="routing-rejected-new"),
    pytest.param("routing", "rejected", "known", id="routing-rejected-known"),
    pytest.param("routing", "rejected", "missing", id="routing-rejected-missing"),
    pytest.param("routing", "rejected", "other", id="routing-rejected-other"),
    pytest.param("routing", "rejected", "end", id="routing-rejected-end"),
    pytest.param("identity", "fixed", "omitted", id="identity-fixed-omitted"),
    pytest.param("identity", "fixed", "null", id="identity-fixed-null"),
    pytest.param("identity", "fixed", "empty", id="identity-fixed-empty"),
    pytest.param("identity", "fixed", "text", id="identity-fixed-text"),
    pytest.param("identity", "fixed", "other", id="identity-fixed-other"),
    pytest.param("identity", "fixed", "end", id="identity-fixed-end"),
    pytest.param("identity", "rejected", "omitted", id="identity-rejected-omitted"),
    pytest.param("identity", "rejected", "null", id="identity-rejected-null"),
    pytest.param("identity", "rejected", "empty", id="identity-rejected-empty"),
    pytest.param("identity", "rejected", "text", id="identity-rejected-text"),
    pytest.param("identity", "rejected", "other", id="identity-rejected-other"),
    pytest.param("identity", "rejected", "end", id="identity-rejected-end"),
    pytest.param("name", "fixed", "omitted", id="name-fixed-omitted"),
    pytest.param("name", "fixed", "null", id="name-fixed-null"),
    pytest.param("name", "fixed", "empty", id="name-fixed-empty"),
    pytest.param("name", "fixed", "text", id="name-fixed-text"),
    pytest.param("name", "fixed", "other", id="name-fixed-other"),
    pytest.param("name", "fixed", "end", id="name-fixed-end"),
    pytest.param("name", "rejected", "omitted", id="name-rejected-omitted"),
    pytest.param("name", "rejected", "null", id="name-rejected-null"),
    pytest.param("name", "rejected", "empty", id="name-rejected-empty"),
    pytest.param("name", "rejected", "text", id="name-rejected-text"),
    pytest.param("name", "rejected", "other", id="name-rejected-other"),
    pytest.param("name", "rejected", "end", id="name-rejected-end"),
    pytest.param("arguments", "collected", "omitted", id="arguments-collected-omitted"),
    pytest.param("arguments", "collected", "null", id="arguments-collected-null"),
    pytest.param("arguments", "collected", "empty", id="arguments-collected-empty"),
    pytest.param("arguments", "collected", "text", id="arguments-collected-text"),
    pytest.param("arguments", "collected", "other", id="arguments-collected-other"),
    pytest.param("arguments", "collected", "end", id="arguments-collected-end"),
    pytest.param("arguments", "rejected", "omitted", id="arguments-rejected-omitted"),
    pytest.param("arguments", "rejected", "null", id="arguments-rejected-null"),
    pytest.param("arguments", "rejected", "empty", id="arguments-rejected-empty"),
    pytest.param("arguments", "rejected", "text", id="arguments-rejected-text"),
    pytest.param("arguments", "rejected", "other", id="arguments-rejected-other"),
    pytest.param("arguments", "rejected", "end", id="arguments-rejected-end"),
    pytest.param("stream", "finished", "fragment_refused", id="stream-finished-fragment_refused"),
    pytest.param("stream", "complete", "fragment", id="stream-complete-fragment"),
    pytest.param("stream", "complete", "fragment_refused", id="stream-complete-fragment_refused"),
    pytest.param("stream", "complete", "content", id="stream-complete-content"),
    pytest.param("stream", "complete", "finish_normal", id="stream-complete-finish_normal"),
    pytest.param("stream", "complete", "finish_length", id="stream-complete-finish_length"),
    pytest.param("stream", "complete", "finish_filter", id="stream-complete-finish_filter"),
    pytest.param("stream", "complete", "finish_other", id="stream-complete-finish_other"),
    pytest.param("stream", "complete", "error", id="stream-complete-error"),
    pytest.param("stream", "complete", "done", id="stream-complete-done"),
    pytest.param("stream", "complete", "eof", id="stream-complete-eof"),
    pytest.param("stream", "complete", "abort", id="stream-complete-abort"),
    pytest.param("stream", "complete", "bad_frame", id="stream-complete-bad_frame"),
    pytest.param("stream", "incomplete", "fragment", id="stream-incomplete-fragment"),
    pytest.param("stream", "incomplete", "fragment_refused", id="stream-incomplete-fragment_refused"),
    pytest.param("stream", "incomplete", "content", id="stream-incomplete-content"),
    pytest.param("stream", "incomplete", "finish_normal", id="stream-incomplete-finish_normal"),
    pytest.param("stream", "incomplete", "finish_length", id="stream-incomplete-finish_length"),
    pytest.param("stream", "incomplete", "finish_filter", id="stream-incomplete-finish_filter"),
    pytest.param("stream", "incomplete", "finish_other", id="stream-incomplete-finish_other"),
    pytest.param("stream", "incomplete", "error", id="stream-incomplete-error"),
    pytest.param("stream", "incomplete", "done", id="stream-incomplete-done"),
    pytest.param("stream", "incomplete", "eof", id="stream-incomplete-eof"),
    pytest.param("stream", "incomplete", "abort", id="stream-incomplete-abort"),
    pytest.param("stream", "incomplete", "bad_frame", id="stream-incomplete-bad_frame"),
    pytest.param("stream", "refused", "fragment", id="stream-refused-fragment"),
    pytest.param("stream", "refused", "fragment_refused", id="stream-refused-fragment_refused"),
    pytest.param("stream", "refused", "content", id="stream-refused-content"),
    pytest.param("stream", "refused", "finish_normal", id="stream-refused-finish_normal"),
    pytest.param("stream", "refused", "finish_length", id="stream-refused-finish_length"),
    pytest.param("stream", "refused", "finish_filter", id="stream-refused-finish_filter"),
    pytest.param("stream", "refused", "finish_other", id="stream-refused-finish_other"),
    pytest.param("stream", "refused", "error", id="stream-refused-error"),
    pytest.param("stream", "refused", "done", id="stream-refused-done"),
    pytest.param("stream", "refused", "eof", id="stream-refused-eof"),
    pytest.param("stream", "refused", "abort", id="stream-refused-abort"),
    pytest.param("stream", "refused", "bad_frame", id="stream-refused-bad_frame"),
    pytest.param("stream", "rejected", "fragment", id="stream-rejected-fragment"),
    pytest.param("stream", "rejected", "fragment_refused", id="stream-rejected-fragment_refused"),
    pytest.param("stream", "rejected", "content", id="stream-rejected-content"),
    pytest.param("stream", "rejected", "finish_normal", id="stream-rejected-finish_normal"),
    pytest.param("stream", "rejected", "finish_length", id="stream-rejected-finish_length"),
    pytest.param("stream", "rejected", "finish_filter", id="stream-rejected-finish_filter"),
    pytest.param("stream", "rejected", "finish_other", id="stream-rejected-finish_other"),
    pytest.param("stream", "rejected", "error", id="stream-rejected-error"),
    pytest.param("stream", "rejected", "done", id="stream-rejected-done"),
    pytest.param("stream", "rejected", "eof", id="stream-rejected-eof"),
    pytest.param("stream", "rejected", "abort", id="stream-rejected-abort"),
    pytest.param("stream", "rejected", "bad_frame", id="stream-rejected-bad_frame"),
    pytest.param("proposal", "gathered", "duplicate_id", id="proposal-gathered-duplicate_id"),
    pytest.param("proposal", "gathered", "distinct_ids", id="proposal-gathered-distinct_ids"),
    pytest.param("proposal", "gathered", "bad_syntax", id="proposal-gathered-bad_syntax"),
    pytest.param("proposal", "gathered", "syntax_ok", id="proposal-gathered-syntax_ok"),
    pytest.param("proposal", "gathered", "bad_structure", id="proposal-gathered-bad_structure"),
    pytest.param("proposal", "gathered", "structure_ok", id="proposal-gathered-structure_ok"),
    pytest.param("proposal", "gathered", "business_no", id="proposal-gathered-business_no"),
    pytest.param("proposal", "gathered", "business_ok", id="proposal-gathered-business_ok"),
    pytest.param("proposal", "filled", "many_choices", id="proposal-filled-many_choices"),
    pytest.param("proposal", "filled", "field_fault", id="proposal-filled-field_fault"),
    pytest.param("proposal", "filled", "no_calls_announced", id="proposal-filled-no_calls_announced"),
    pytest.param("proposal", "filled", "no_calls", id="proposal-filled-no_calls"),
    pytest.param("proposal", "filled", "fields_fixed", id="proposal-filled-fields_fixed"),
    pytest.param("proposal", "filled", "bad_syntax", id="proposal-filled-bad_syntax"),
    pytest.param("proposal", "filled", "syntax_ok", id="proposal-filled-syntax_ok"),
    pytest.param("proposal", "filled", "bad_structure", id="proposal-filled-bad_structure"),
    pytest.param("proposal", "filled", "structure_ok", id="proposal-filled-structure_ok"),
    pytest.param("proposal", "filled", "business_no", id="proposal-filled-business_no"),
    pytest.param("proposal", "filled", "business_ok", id="proposal-filled-business_ok"),
    pytest.param("proposal", "distinct", "many_choices", id="proposal-distinct-many_choices"),
    pytest.param("proposal", "distinct", "field_fault", id="proposal-distinct-field_fault"),
    pytest.param("proposal", "distinct", "no_calls_announced", id="proposal-distinct-no_calls_announced"),
    pytest.param("proposal", "distinct", "no_calls", id="proposal-distinct-no_calls"),
    pytest.param("proposal", "distinct", "fields_fixed", id="proposal-distinct-fields_fixed"),
    pytest.param("proposal", "distinct", "duplicate_id", id="proposal-distinct-duplicate_id"),
    pytest.param("proposal", "distinct", "distinct_ids", id="proposal-distinct-distinct_ids"),
    pytest.param("proposal", "distinct", "bad_structure", id="proposal-distinct-bad_structure"),
    pytest.param("proposal", "distinct", "structure_ok", id="proposal-distinct-structure_ok"),
    pytest.param("proposal", "distinct", "business_no", id="proposal-distinct-business_no"),
    pytest.param("proposal", "distinct", "business_ok", id="proposal-distinct-business_ok"),
    pytest.param("proposal", "parsed", "many_choices", id="proposal-parsed-many_choices"),
    pytest.param("proposal", "parsed", "field_fault", id="proposal-parsed-field_fault"),
    pytest.param("proposal", "parsed", "no_calls_announced", id="proposal-parsed-no_calls_announced"),
    pytest.param("proposal", "parsed", "no_calls", id="proposal-parsed-no_calls"),
    pytest.param("proposal", "parsed", "fields_fixed", id="proposal-parsed-fields_fixed"),
    pytest.param("proposal", "parsed", "duplicate_id", id="proposal-parsed-duplicate_id"),
    pytest.param("proposal", "parsed", "distinct_ids", id="proposal-parsed-distinct_ids"),
    pytest.param("proposal", "parsed", "bad_syntax", id="proposal-parsed-bad_syntax"),
    pytest.param("proposal", "parsed", "syntax_ok", id="proposal-parsed-syntax_ok"),
    pytest.param("proposal", "parsed", "business_no", id="proposal-parsed-business_no"),
    pytest.param("proposal", "parsed", "business_ok", id="proposal-parsed-business_ok"),
    pytest.param("proposal", "shaped", "many_choices", id="proposal-shaped-many_choices"),
    pytest.param("proposal", "shaped", "field_fault", id="proposal-shaped-field_fault"),
    pytest.param("proposal", "shaped", "no_calls_announced", id="proposal-shaped-no_calls_announced"),
    pytest.param("proposal", "shaped", "no_calls", id="proposal-shaped-no_calls"),
    pytest.param("proposal", "shaped", "fields_fixed", id="proposal-shaped-fields_fixed"),
    pytest.param("proposal", "shaped", "duplicate_id", id="proposal-shaped-duplicate_id"),
    pytest.param("proposal", "shaped", "distinct_ids", id="proposal-shaped-distinct_ids"),
    pytest.param("proposal", "shaped", "bad_syntax", id="proposal-shaped-bad_syntax"),
    pytest.param("proposal", "shaped", "syntax_ok", id="proposal-shaped-syntax_ok"),
    pytest.param("proposal", "shaped", "bad_structure", id="proposal-shaped-bad_structure"),
    pytest.param("proposal", "shaped", "structure_ok", id="proposal-shaped-structure_ok"),
    pytest.param("proposal", "answered", "many_choices", id="proposal-answered-many_choices"),
    pytest.param("proposal", "answered", "field_fault", id="proposal-answered-field_fault"),
    pytest.param("proposal", "answered", "no_calls_announced", id="proposal-answered-no_calls_announced"),
    pytest.param("proposal", "answered", "no_calls", id="proposal-answered-no_calls"),
    pytest.param("proposal", "answered", "fields_fixed", id="proposal-answered-fields_fixed"),
    pytest.param("proposal", "answered", "duplicate_id", id="proposal-answered-duplicate_id"),
    pytest.param("proposal", "answered", "distinct_ids", id="proposal-answered-distinct_ids"),
    pytest.param("proposal", "answered", "bad_syntax", id="proposal-answered-bad_syntax"),
    pytest.param("proposal", "answered", "syntax_ok", id="proposal-answered-syntax_ok"),
    pytest.param("proposal", "answered", "bad_structure", id="proposal-answered-bad_structure"),
    pytest.param("proposal", "answered", "structure_ok", id="proposal-answered-structure_ok"),
    pytest.param("proposal", "answered", "business_no", id="proposal-answered-business_no"),
    pytest.param("proposal", "answered", "business_ok", id="proposal-answered-business_ok"),
    pytest.param("proposal", "permitted", "many_choices", id="proposal-permitted-many_choices"),
    pytest.param("proposal", "permitted", "field_fault", id="proposal-permitted-field_fault"),
    pytest.param("proposal", "permitted", "no_calls_announced", id="proposal-permitted-no_calls_announced"),
    pytest.param("proposal", "permitted", "no_calls", id="proposal-permitted-no_calls"),
    pytest.param("proposal", "permitted", "fields_fixed", id="proposal-permitted-fields_fixed"),
    pytest.param("proposal", "permitted", "duplicate_id", id="proposal-permitted-duplicate_id"),
    pytest.param("proposal", "permitted", "distinct_ids", id="proposal-permitted-distinct_ids"),
    pytest.param("proposal", "permitted", "bad_syntax", id="proposal-permitted-bad_syntax"),
    pytest.param("proposal", "permitted", "syntax_ok", id="proposal-permitted-syntax_ok"),
    pytest.param("proposal", "permitted", "bad_structure", id="proposal-permitted-bad_structure"),
    pytest.param("proposal", "permitted", "structure_ok", id="proposal-permitted-structure_ok"),
    pytest.param("proposal", "permitted", "business_no", id="proposal-permitted-business_no"),
    pytest.param("proposal", "permitted", "business_ok", id="proposal-permitted-business_ok"),
    pytest.param("proposal", "rejected", "many_choices", id="proposal-rejected-many_choices"),
    pytest.param("proposal", "rejected", "field_fault", id="proposal-rejected-field_fault"),
    pytest.param("proposal", "rejected", "no_calls_announced", id="proposal-rejected-no_calls_announced"),
    pytest.param("proposal", "rejected", "no_calls", id="proposal-rejected-no_calls"),
    pytest.param("proposal", "rejected", "fields_fixed", id="proposal-rejected-fields_fixed"),
    pytest.param("proposal", "rejected", "duplicate_id", id="proposal-rejected-duplicate_id"),
    pytest.param("proposal", "rejected", "distinct_ids", id="proposal-rejected-distinct_ids"),
    pytest.param("proposal", "rejected", "bad_syntax", id="proposal-rejected-bad_syntax"),
    pytest.param("proposal", "rejected", "syntax_ok", id="proposal-rejected-syntax_ok"),
    pytest.param("proposal", "rejected", "bad_structure", id="proposal-rejected-bad_structure"),
    pytest.param("proposal", "rejected", "structure_ok", id="proposal-rejected-structure_ok"),
    pytest.param("proposal", "rejected", "business_no", id="proposal-rejected-business_no"),
    pytest.param("proposal", "rejected", "business_ok", id="proposal-rejected-business_ok"),
    pytest.param("proposal", "malformed", "many_choices", id="proposal-malformed-many_choices"),
    pytest.param("proposal", "malformed", "field_fault", id="proposal-malformed-field_fault"),
    pytest.param("proposal", "malformed", "no_calls_announced", id="proposal-malformed-no_calls_announced"),
    pytest.param("proposal", "malformed", "no_calls", id="proposal-malformed-no_calls"),
    pytest.param("proposal", "malformed", "fields_fixed", id="proposal-malformed-fields_fixed"),
    pytest.param("proposal", "malformed", "duplicate_id", id="proposal-malformed-duplicate_id"),
    pytest.param("proposal", "malformed", "distinct_ids", id="proposal-malformed-distinct_ids"),
    pytest.param("proposal", "malformed", "bad_syntax", id="proposal-malformed-bad_syntax"),
    pytest.param("proposal", "malformed", "syntax_ok", id="proposal-malformed-syntax_ok"),
    pytest.param("proposal", "malformed", "bad_structure", id="proposal-malformed-bad_structure"),
    pytest.param("proposal", "malformed", "structure_ok", id="proposal-malformed-structure_ok"),
    pytest.param("proposal", "malformed", "business_no", id="proposal-malformed-business_no"),
    pytest.param("proposal", "malformed", "business_ok", id="proposal-malformed-business_ok"),
    pytest.param("proposal", "invalid", "many_choices", id="proposal-invalid-many_choices"),
    pytest.param("proposal", "invalid", "field_fault", id="proposal-invalid-field_fault"),
    pytest.param("proposal", "invalid", "no_calls_announced", id="proposal-invalid-no_calls_announced"),
    pytest.param("proposal", "invalid", "no_calls", id="proposal-invalid-no_calls"),
    pytest.param("proposal", "invalid", "fields_fixed", id="proposal-invalid-fields_fixed"),
    pytest.param("proposal", "invalid", "duplicate_id", id="proposal-invalid-duplicate_id"),
    pytest.param("proposal", "invalid", "distinct_ids", id="proposal-invalid-distinct_ids"),
    pytest.param("proposal", "invalid", "bad_syntax", id="proposal-invalid-bad_syntax"),
    pytest.param("proposal", "invalid", "syntax_ok", id="proposal-invalid-syntax_ok"),
    pytest.param("proposal", "invalid", "bad_structure", id="proposal-invalid-bad_structure"),
    pytest.param("proposal", "invalid", "structure_ok", id="proposal-invalid-structure_ok"),
    pytest.param("proposal", "invalid", "business_no", id="proposal-invalid-business_no"),
    pytest.param("proposal", "invalid", "business_ok", id="proposal-invalid-business_ok"),
    pytest.param("proposal", "denied", "many_choices", id="proposal-denied-many_choices"),
    pytest.param("proposal", "denied", "field_fault", id="proposal-denied-field_fault"),
    pytest.param("proposal", "denied", "no_calls_announced", id="proposal-denied-no_calls_announced"),
    pytest.param("proposal", "denied", "no_calls", id="proposal-denied-no_calls"),
    pytest.param("proposal", "denied", "fields_fixed", id="proposal-denied-fields_fixed"),
    pytest.param("proposal", "denied", "duplicate_id", id="proposal-denied-duplicate_id"),
    pytest.param("proposal", "denied", "distinct_ids", id="proposal-denied-distinct_ids"),
    pytest.param("proposal", "denied", "bad_syntax", id="proposal-denied-bad_syntax"),
    pytest.param("proposal", "denied", "syntax_ok", id="proposal-denied-syntax_ok"),
    pytest.param("proposal", "denied", "bad_structure", id="proposal-denied-bad_structure"),
    pytest.param("proposal", "denied", "structure_ok", id="proposal-denied-structure_ok"),
    pytest.param("proposal", "denied", "business_no", id="proposal-denied-business_no"),
    pytest.param("proposal", "denied", "business_ok", id="proposal-denied-business_ok"),
    pytest.param("turn", "requesting", "incomplete", id="turn-requesting-incomplete"),
    pytest.param("turn", "requesting", "complete", id="turn-requesting-complete"),
    pytest.param("turn", "requesting", "answered", id="turn-requesting-answered"),
    pytest.param("turn", "requesting", "rejected", id="turn-requesting-rejected"),
    pytest.param("turn", "requesting", "malformed", id="turn-requesting-malformed"),
    pytest.param("turn", "requesting", "invalid", id="turn-requesting-invalid"),
    pytest.param("turn", "requesting", "denied", id="turn-requesting-denied"),
    pytest.param("turn", "requesting", "permitted", id="turn-requesting-permitted"),
    pytest.param("turn", "requesting", "authorized", id="turn-requesting-authorized"),
    pytest.param("turn", "requesting", "unauthorized", id="turn-requesting-unauthorized"),
    pytest.param("turn", "requesting", "all_known", id="turn-requesting-all_known"),
    pytest.param("turn", "requesting", "some_uncertain", id="turn-requesting-some_uncertain"),
    pytest.param("turn", "requesting", "some_cancelled", id="turn-requesting-some_cancelled"),
    pytest.param("turn", "requesting", "some_unresolved", id="turn-requesting-some_unresolved"),
    pytest.param("turn", "receiving", "started", id="turn-receiving-started"),
    pytest.param("turn", "receiving", "resumed", id="turn-receiving-resumed"),
    pytest.param("turn", "receiving", "unreachable", id="turn-receiving-unreachable"),
    pytest.param("turn", "receiving", "answered", id="turn-receiving-answered"),
    pytest.param("turn", "receiving", "malformed", id="turn-receiving-malformed"),
    pytest.param("turn", "receiving", "invalid", id="turn-receiving-invalid"),
    pytest.param("turn", "receiving", "denied", id="turn-receiving-denied"),
    pytest.param("turn", "receiving", "permitted", id="turn-receiving-permitted"),
    pytest.param("turn", "receiving", "authorized", id="turn-receiving-authorized"),
    pytest.param("turn", "receiving", "unauthorized", id="turn-receiving-unauthorized"),
    pytest.param("turn", "receiving", "all_known", id="turn-receiving-all_known"),
    pytest.param("turn", "receiving", "some_uncertain", id="turn-receiving-some_uncertain"),
    pytest.param("turn", "receiving", "some_cancelled", id="turn-receiving-some_cancelled"),
    pytest.param("turn", "receiving", "some_unresolved", id="turn-receiving-some_unresolved"),
    pytest.param("turn", "checking", "started", id="turn-checking-started"),
    pytest.param("turn", "checking", "resumed", id="turn-checking-resumed"),
    pytest.param("turn", "checking", "unreachable", id="turn-checking-unreachable"),
    pytest.param("turn", "checking", "upstream_refused", id="turn-checking-upstream_refused"),
    pytest.param("turn", "checking", "incomplete", id="turn-checking-incomplete"),
    pytest.param("turn", "checking", "complete", id="turn-checking-complete"),
    pytest.param("turn", "checking", "authorized", id="turn-checking-authorized"),
    pytest.param("turn", "checking", "unauthorized", id="turn-checking-unauthorized"),
    pytest.param("turn", "checking", "all_known", id="turn-checking-all_known"),
    pytest.param("turn", "checking", "some_uncertain", id="turn-checking-some_uncertain"),
    pytest.param("turn", "checking", "some_cancelled", id="turn-checking-some_cancelled"),
    pytest.param("turn", "checking", "some_unresolved", id="turn-checking-some_unresolved"),
    pytest.param("turn", "authorizing", "started", id="turn-authorizing-started"),
    pytest.param("turn", "authorizing", "resumed", id="turn-authorizing-resumed"),
    pytest.param("turn", "authorizing", "unreachable", id="turn-authorizing-unreachable"),
    pytest.param("turn", "authorizing", "upstream_refused", id="turn-authorizing-upstream_refused"),
    pytest.param("turn", "authorizing", "incomplete", id="turn-authorizing-incomplete"),
    pytest.param("turn", "authorizing", "complete", id="turn-authorizing-complete"),
    pytest.param("turn", "authorizing", "answered", id="turn-authorizing-answered"),
    pytest.param("turn", "authorizing", "rejected", id="turn-authorizing-rejected"),
    pytest.param("turn", "authorizing", "malformed", id="turn-authorizing-malformed"),
    pytest.param("turn", "authorizing", "invalid", id="turn-authorizing-invalid"),
    pytest.param("turn", "authorizing", "denied", id="turn-authorizing-denied"),
    pytest.param("turn", "authorizing", "permitted", id="turn-authorizing-permitted"),
    pytest.param("turn", "authorizing", "all_known", id="turn-authorizing-all_known"),
    pytest.param("turn", "authorizing", "some_uncertain", id="turn-authorizing-some_uncertain"),
    pytest.param("turn", "authorizing", "some_cancelled", id="turn-authorizing-some_cancelled"),
    pytest.param("turn", "authorizing", "some_unresolved", id="turn-authorizing-some_unresolved"),
    pytest.param("turn", "dispatching", "started", id="turn-dispatching-started"),
    pytest.param("turn", "dispatching", "resumed", id="turn-dispatching-resumed"),
    pytest.param("turn", "dispatching", "unreachable", id="turn-dispatching-unreachable"),
    pytest.param("turn", "dispatching", "upstream_refused", id="turn-dispatching-upstream_refused"),
    pytest.param("turn", "dispatching", "incomplete", id="turn-dispatching-incomplete"),
    pytest.param("turn", "dispatching", "complete", id="turn-dispatching-complete"),
    pytest.param("turn", "dispatching", "answered", id="turn-dispatching-answered"),
    pytest.param("turn", "dispatching", "rejected", id="turn-dispatching-rejected"),
    pytest.param("turn", "dispatching", "malformed", id="turn-dispatching-malformed"),
    pytest.param("turn", "dispatching", "invalid", id="turn-dispatching-invalid"),
    pytest.param("turn", "dispatching", "denied", id="turn-dispatching-denied"),
    pytest.param("turn", "dispatching", "permitted", id="turn-dispatching-permitted"),
    pytest.param("turn", "dispatching", "authorized", id="turn-dispatching-authorized"),
    pytest.param("turn", "dispatching", "unauthorized", id="turn-dispatching-unauthorized"),
    pytest.param("turn", "dispatching", "some_unresolved", id="turn-dispatching-some_unresolved"),
    pytest.param("turn", "reconciling", "started", id="turn-reconciling-started"),
    pytest.param("turn", "reconciling", "resumed", id="turn-reconciling-resumed"),
    pytest.param("turn", "reconciling", "unreachable", id="turn-reconciling-unreachable"),
    pytest.param("turn", "reconciling", "upstream_refused", id="turn-reconciling-upstream_refused"),
    pytest.param("turn", "reconciling", "incomplete", id="turn-reconciling-incomplete"),
    pytest.param("turn", "reconciling", "complete", id="turn-reconciling-complete"),
    pytest.param("turn", "reconciling", "answered", id="turn-reconciling-answered"),
    pytest.param("turn", "reconciling", "rejected", id="turn-reconciling-rejected"),
    pytest.param("turn", "reconciling", "malformed", id="turn-reconciling-malformed"),
    pytest.param("turn", "reconciling", "invalid", id="turn-reconciling-invalid"),
    pytest.param("turn", "reconciling", "denied", id="turn-reconciling-denied"),
    pytest.param("turn", "reconciling", "permitted", id="turn-reconciling-permitted"),
    pytest.param("turn", "reconciling", "authorized", id="turn-reconciling-authorized"),
    pytest.param("turn", "reconciling", "unauthorized", id="turn-reconciling-unauthorized"),
    pytest.param("turn", "answered", "started", id="turn-answered-started"),
    pytest.param("turn", "answered", "resumed", id="turn-answered-resumed"),
    pytest.param("turn", "answered", "unreachable", id="turn-answered-unreachable"),
    pytest.param("turn", "answered", "upstream_refused", id="turn-answered-upstream_refused"),
    pytest.param("turn", "answered", "incomplete", id="turn-answered-incomplete"),
    pytest.param("turn", "answered", "complete", id="turn-answered-complete"),
    pytest.param("turn", "answered", "answered", id="turn-answered-answered"),
    pytest.param("turn", "answered", "rejected", id="turn-answered-rejected"),
    pytest.param("turn", "answered", "malformed", id="turn-answered-malformed"),
    pytest.param("turn", "answered", "invalid", id="turn-answered-invalid"),
    pytest.param("turn", "answered", "denied", id="turn-answered-denied"),
    pytest.param("turn", "answered", "permitted", id="turn-answered-permitted"),
    pytest.param("turn", "answered", "authorized", id="turn-answered-authorized"),
    pytest.param("turn", "answered", "unauthorized", id="turn-answered-unauthorized"),
    pytest.param("turn", "answered", "all_known", id="turn-answered-all_known"),
    pytest.param("turn", "answered", "some_uncertain", id="turn-answered-some_uncertain"),
    pytest.param("turn", "answered", "some_cancelled", id="turn-answered-some_cancelled"),
    pytest.param("turn", "answered", "some_unresolved", id="turn-answered-some_unresolved"),
    pytest.param("turn", "answered", "cancel", id="turn-answered-cancel"),
    pytest.param("turn", "settled", "started", id="turn-settled-started"),
    pytest.param("turn", "settled", "resumed", id="turn-settled-resumed"),
    pytest.param("turn", "settled", "unreachable", id="turn-settled-unreachable"),
    pytest.param("turn", "settled", "upstream_refused", id="turn-settled-upstream_refused"),
    pytest.param("turn", "settled", "incomplete", id="turn-settled-incomplete"),
    pytest.param("turn", "settled", "complete", id="turn-settled-complete"),
    pytest.param("turn", "settled", "answered", id="turn-settled-answered"),
    pytest.param("turn", "settled", "rejected", id="turn-settled-rejected"),
    pytest.param("turn", "settled", "malformed", id="turn-settled-malformed"),
    pytest.param("turn", "settled", "invalid", id="turn-settled-invalid"),
    pytest.param("turn", "settled", "denied", id="turn-settled-denied"),
    pytest.param("turn", "settled", "permitted", id="turn-settled-permitted"),
    pytest.param("turn", "settled", "authorized", id="turn-settled-authorized"),
    pytest.param("turn", "settled", "unauthorized", id="turn-settled-unauthorized"),
    pytest.param("turn", "settled", "all_known", id="turn-settled-all_known"),
    pytest.param("turn", "settled", "some_uncertain", id="turn-settled-some_uncertain"),
    pytest.param("turn", "settled", "some_cancelled", id="turn-settled-some_cancelled"),
    pytest.param("turn", "settled", "some_unresolved", id="turn-settled-some_unresolved"),
    pytest.param("turn", "settled", "cancel", id="turn-settled-cancel"),
    pytest.param("turn", "returned", "started", id="turn-returned-started"),
    pytest.param("turn", "returned", "resumed", id="turn-returned-resumed"),
    pytest.param("turn", "returned", "unreachable", id="turn-returned-unreachable"),
    pytest.param("turn", "returned", "upstream_refused", id="turn-returned-upstream_refused"),
    pytest.param("turn", "returned", "incomplete", id="turn-returned-incomplete"),
    pytest.param("turn", "returned", "complete", id="turn-returned-complete"),
    pytest.param("turn", "returned", "answered", id="turn-returned-answered"),
    pytest.param("turn", "returned", "rejected", id="turn-returned-rejected"),
    pytest.param("turn", "returned", "malformed", id="turn-returned-malformed"),
    pytest.param("turn", "returned", "invalid", id="turn-returned-invalid"),
    pytest.param("turn", "returned", "denied", id="turn-returned-denied"),
    pytest.param("turn", "returned", "permitted", id="turn-returned-permitted"),
    pytest.param("turn", "returned", "authorized", id="turn-returned-authorized"),
    pytest.param("turn", "returned", "unauthorized", id="turn-returned-unauthorized"),
    pytest.param("turn", "returned", "all_known", id="turn-returned-all_known"),
    pytest.param("turn", "returned", "some_uncertain", id="turn-returned-some_uncertain"),
    pytest.param("turn", "returned", "some_cancelled", id="turn-returned-some_cancelled"),
    pytest.param("turn", "returned", "some_unresolved", id="turn-returned-some_unresolved"),
    pytest.param("turn", "returned", "cancel", id="turn-returned-cancel"),
    pytest.param("turn", "declined", "started", id="turn-declined-started"),
    pytest.param("turn", "declined", "resumed", id="turn-declined-resumed"),
    pytest.param("turn", "declined", "unreachable", id="turn-declined-unreachable"),
    pytest.param("turn", "declined", "upstream_refused", id="turn-declined-upstream_refused"),
    pytest.param("turn", "declined", "incomplete", id="turn-declined-incomplete"),
    pytest.param("turn", "declined", "complete", id="turn-declined-complete"),
    pytest.param("turn", "declined", "answered", id="turn-declined-answered"),
    pytest.param("turn", "declined", "rejected", id="turn-declined-rejected"),
    pytest.param("turn", "declined", "malformed", id="turn-declined-malformed"),
    pytest.param("turn", "declined", "invalid", id="turn-declined-invalid"),
    pytest.param("turn", "declined", "denied", id="turn-declined-denied"),
    pytest.param("turn", "declined", "permitted", id="turn-declined-permitted"),
    pytest.param("turn", "declined", "authorized", id="turn-declined-authorized"),
    pytest.param("turn", "declined", "unauthorized", id="turn-declined-unauthorized"),
    pytest.param("turn", "declined", "all_known", id="turn-declined-all_known"),
    pytest.param("turn", "declined", "some_uncertain", id="turn-declined-some_uncertain"),
    pytest.param("turn", "declined", "some_cancelled", id="turn-declined-some_cancelled"),
    pytest.param("turn", "declined", "some_unresolved", id="turn-declined-some_unresolved"),
    pytest.param("turn", "declined", "cancel", id="turn-declined-cancel"),
    pytest.param("turn", "refused", "started", id="turn-refused-started"),
    pytest.param("turn", "refused", "resumed", id="turn-refused-resumed"),
    pytest.param("turn", "refused", "unreachable", id="turn-refused-unreachable"),
    pytest.param("turn", "refused", "upstream_refused", id="turn-refused-upstream_refused"),
    pytest.param("turn", "refused", "incomplete", id="turn-refused-incomplete"),
    pytest.param("turn", "refused", "complete", id="turn-refused-complete"),
    pytest.param("turn", "refused", "answered", id="turn-refused-answered"),
    pytest.param("turn", "refused", "rejected", id="turn-refused-rejected"),
    pytest.param("turn", "refused", "malformed", id="turn-refused-malformed"),
    pytest.param("turn", "refused", "invalid", id="turn-refused-invalid"),
    pytest.param("turn", "refused", "denied", id="turn-refused-denied"),
    pytest.param("turn", "refused", "permitted", id="turn-refused-permitted"),
    pytest.param("turn", "refused", "authorized", id="turn-refused-authorized"),
    pytest.param("turn", "refused", "unauthorized", id="turn-refused-unauthorized"),
    pytest.param("turn", "refused", "all_known", id="turn-refused-all_known"),
    pytest.param("turn", "refused", "some_uncertain", id="turn-refused-some_uncertain"),
    pytest.param("turn", "refused", "some_cancelled", id="turn-refused-some_cancelled"),
    pytest.param("turn", "refused", "some_unresolved", id="turn-refused-some_unresolved"),
    pytest.param("turn", "refused", "cancel", id="turn-refused-cancel"),
    pytest.param("turn", "exhausted", "started", id="turn-exhausted-started"),
    pytest.param("turn", "exhausted", "resumed", id="turn-exhausted-resumed"),
    pytest.param("turn", "exhausted", "unreachable", id="turn-exhausted-unreachable"),
    pytest.param("turn", "exhausted", "upstream_refused", id="turn-exhausted-upstream_refused"),
    pytest.param("turn", "exhausted", "incomplete", id="turn-exhausted-incomplete"),
    pytest.param("turn", "exhausted", "complete", id="turn-exhausted-complete"),
    pytest.param("turn", "exhausted", "answered", id="turn-exhausted-answered"),
    pytest.param("turn", "exhausted", "rejected", id="turn-exhausted-rejected"),
    pytest.param("turn", "exhausted", "malformed", id="turn-exhausted-malformed"),
    pytest.param("turn", "exhausted", "invalid", id="turn-exhausted-invalid"),
    pytest.param("turn", "exhausted", "denied", id="turn-exhausted-denied"),
    pytest.param("turn", "exhausted", "permitted", id="turn-exhausted-permitted"),
    pytest.param("turn", "exhausted", "authorized", id="turn-exhausted-authorized"),
    pytest.param("turn", "exhausted", "unauthorized", id="turn-exhausted-unauthorized"),
    pytest.param("turn", "exhausted", "all_known", id="turn-exhausted-all_known"),
    pytest.param("turn", "exhausted", "some_uncertain", id="turn-exhausted-some_uncertain"),
    pytest.param("turn", "exhausted", "some_cancelled", id="turn-exhausted-some_cancelled"),
    pytest.param("turn", "exhausted", "some_unresolved", id="turn-exhausted-some_unresolved"),
    pytest.param("turn", "exhausted", "cancel", id="turn-exhausted-cancel"),
    pytest.param("turn", "unresolved", "started", id="turn-unresolved-started"),
    pytest.param("turn", "unresolved", "resumed", id="turn-unresolved-resumed"),
    pytest.param("turn", "unresolved", "unreachable", id="turn-unresolved-unreachable"),
    pytest.param("turn", "unresolved", "upstream_refused", id="turn-unresolved-upstream_refused"),
    pytest.param("turn", "unresolved", "incomplete", id="turn-unresolved-incomplete"),
    pytest.param("turn", "unresolved", "complete", id="turn-unresolved-complete"),
    pytest.param("turn", "unresolved", "answered", id="turn-unresolved-answered"),
    pytest.param("turn", "unresolved", "rejected", id="turn-unresolved-rejected"),
    pytest.param("turn", "unresolved", "malformed", id="turn-unresolved-malformed"),
    pytest.param("turn", "unresolved", "invalid", id="turn-unresolved-invalid"),
    pytest.param("turn", "unresolved", "denied", id="turn-unresolved-denied"),
    pytest.param("turn", "unresolved", "permitted", id="turn-unresolved-permitted"),
    pytest.param("turn", "unresolved", "authorized", id="turn-unresolved-authorized"),
    pytest.param("turn", "unresolved", "unauthorized", id="turn-unresolved-unauthorized"),
    pytest.param("turn", "unresolved", "all_known", id="turn-unresolved-all_known"),
    pytest.param("turn", "unresolved", "some_uncertain", id="turn-unresolved-some_uncertain"),
    pytest.param("turn", "unresolved", "some_cancelled", id="turn-unresolved-some_cancelled"),
    pytest.param("turn", "unresolved", "some_unresolved", id="turn-unresolved-some_unresolved"),
    pytest.param("turn", "unresolved", "cancel", id="turn-unresolved-cancel"),
    pytest.param("turn", "cancelled", "started", id="turn-cancelled-started"),
    pytest.param("turn", "cancelled", "resumed", id="turn-cancelled-resumed"),
    pytest.param("turn", "cancelled", "unreachable", id="turn-cancelled-unreachable"),
    pytest.param("turn", "cancelled", "upstream_refused", id="turn-cancelled-upstream_refused"),
    pytest.param("turn", "cancelled", "incomplete", id="turn-cancelled-incomplete"),
    pytest.param("turn", "cancelled", "complete", id="turn-cancelled-complete"),
    pytest.param("turn", "cancelled", "answered", id="turn-cancelled-answered"),
    pytest.param("turn", "cancelled", "rejected", id="turn-cancelled-rejected"),
    pytest.param("turn", "cancelled", "malformed", id="turn-cancelled-malformed"),
    pytest.param("turn", "cancelled", "invalid", id="turn-cancelled-invalid"),
    pytest.param("turn", "cancelled", "denied", id="turn-cancelled-denied"),
    pytest.param("turn", "cancelled", "permitted", id="turn-cancelled-permitted"),
    pytest.param("turn", "cancelled", "authorized", id="turn-cancelled-authorized"),
    pytest.param("turn", "cancelled", "unauthorized", id="turn-cancelled-unauthorized"),
    pytest.param("turn", "cancelled", "all_known", id="turn-cancelled-all_known"),
    pytest.param("turn", "cancelled", "some_uncertain", id="turn-cancelled-some_uncertain"),
    pytest.param("turn", "cancelled", "some_cancelled", id="turn-cancelled-some_cancelled"),
    pytest.param("turn", "cancelled", "some_unresolved", id="turn-cancelled-some_unresolved"),
    pytest.param("turn", "cancelled", "cancel", id="turn-cancelled-cancel"),
    pytest.param("operation", "planned", "result", id="operation-planned-result"),
    pytest.param("operation", "planned", "declared_failure", id="operation-planned-declared_failure"),
    pytest.param("operation", "planned", "raised", id="operation-planned-raised"),
    pytest.param("operation", "planned", "timeout", id="operation-planned-timeout"),
    pytest.param("operation", "planned", "lost", id="operation-planned-lost"),
    pytest.param("operation", "planned", "found_applied", id="operation-planned-found_applied"),
    pytest.param("operation", "planned", "found_absent", id="operation-planned-found_absent"),
    pytest.param("operation", "planned", "unanswerable", id="operation-planned-unanswerable"),
    pytest.param("operation", "started", "start", id="operation-started-start"),
    pytest.param("operation", "started", "taken", id="operation-started-taken"),
    pytest.param("operation", "started", "found_applied", id="operation-started-found_applied"),
    pytest.param("operation", "started", "found_absent", id="operation-started-found_absent"),
    pytest.param("operation", "started", "unanswerable", id="operation-started-unanswerable"),
    pytest.param("operation", "uncertain", "start", id="operation-uncertain-start"),
    pytest.param("operation", "uncertain", "taken", id="operation-uncertain-taken"),
    pytest.param("operation", "uncertain", "unrecorded", id="operation-uncertain-unrecorded"),
    pytest.param("operation", "uncertain", "raised", id="operation-uncertain-raised"),
    pytest.param("operation", "uncertain", "timeout", id="operation-uncertain-timeout"),
    pytest.param("operation", "uncertain", "lost", id="operation-uncertain-lost"),
    pytest.param("operation", "succeeded", "start", id="operation-succeeded-start"),
    pytest.param("operation", "succeeded", "taken", id="operation-succeeded-taken"),
    pytest.param("operation", "succeeded", "cancel", id="operation-succeeded-cancel"),
    pytest.param("operation", "succeeded", "unrecorded", id="operation-succeeded-unrecorded"),
    pytest.param("operation", "succeeded", "result", id="operation-succeeded-result"),
    pytest.param("operation", "succeeded", "declared_failure", id="operation-succeeded-declared_failure"),
    pytest.param("operation", "succeeded", "raised", id="operation-succeeded-raised"),
    pytest.param("operation", "succeeded", "timeout", id="operation-succeeded-timeout"),
    pytest.param("operation", "succeeded", "lost", id="operation-succeeded-lost"),
    pytest.param("operation", "succeeded", "found_applied", id="operation-succeeded-found_applied"),
    pytest.param("operation", "succeeded", "found_absent", id="operation-succeeded-found_absent"),
    pytest.param("operation", "succeeded", "unanswerable", id="operation-succeeded-unanswerable"),
    pytest.param("operation", "failed", "start", id="operation-failed-start"),
    pytest.param("operation", "failed", "taken", id="operation-failed-taken"),
    pytest.param("operation", "failed", "cancel", id="operation-failed-cancel"),
    pytest.param("operation", "failed", "unrecorded", id="operation-failed-unrecorded"),
    pytest.param("operation", "failed", "result", id="operation-failed-result"),
    pytest.param("operation", "failed", "declared_failure", id="operation-failed-declared_failure"),
    pytest.param("operation", "failed", "raised", id="operation-failed-raised"),
    pytest.param("operation", "failed", "timeout", id="operation-failed-timeout"),
    pytest.param("operation", "failed", "lost", id="operation-failed-lost"),
    pytest.param("operation", "failed", "found_applied", id="operation-failed-found_applied"),
    pytest.param("operation", "failed", "found_absent", id="operation-failed-found_absent"),
    pytest.param("operation", "failed", "unanswerable", id="operation-failed-unanswerable"),
    pytest.param("operation", "cancelled", "start", id="operation-cancelled-start"),
    pytest.param("operation", "cancelled", "taken", id="operation-cancelled-taken"),
    pytest.param("operation", "cancelled", "cancel", id="operation-cancelled-cancel"),
    pytest.param("operation", "cancelled", "unrecorded", id="operation-cancelled-unrecorded"),
    pytest.param("operation", "cancelled", "result", id="operation-cancelled-result"),
    pytest.param("operation", "cancelled", "declared_failure", id="operation-cancelled-declared_failure"),
    pytest.param("operation", "cancelled", "raised", id="operation-cancelled-raised"),
    pytest.param("operation", "cancelled", "timeout", id="operation-cancelled-timeout"),
    pytest.param("operation", "cancelled", "lost", id="operation-cancelled-lost"),
    pytest.param("operation", "cancelled", "found_applied", id="operation-cancelled-found_applied"),
    pytest.param("operation", "cancelled", "found_absent", id="operation-cancelled-found_absent"),
    pytest.param("operation", "cancelled", "unanswerable", id="operation-cancelled-unanswerable"),
    pytest.param("operation", "unresolved", "start", id="operation-unresolved-start"),
    pytest.param("operation", "unresolved", "taken", id="operation-unresolved-taken"),
    pytest.param("operation", "unresolved", "cancel", id="operation-unresolved-cancel"),
    pytest.param("operation", "unresolved", "unrecorded", id="operation-unresolved-unrecorded"),
    pytest.param("operation", "unresolved", "result", id="operation-unresolved-result"),
    pytest.param("operation", "unresolved", "declared_failure", id="operation-unresolved-declared_failure"),
    pytest.param("operation", "unresolved", "raised", id="operation-unresolved-raised"),
    pytest.param("operation", "unresolved", "timeout", id="operation-unresolved-timeout"),
    pytest.param("operation", "unresolved", "lost", id="operation-unresolved-lost"),
    pytest.param("operation", "unresolved", "found_applied", id="operation-unresolved-found_applied"),
    pytest.param("operation", "unresolved", "found_absent", id="operation-unresolved-found_absent"),
    pytest.param("operation", "unresolved", "unanswerable", id="operation-unresolved-unanswerable"),
]


@pytest.mark.parametrize(("machine", "state", "input", "guards", "expected"), ROWS)
def test_row(machine: str, state: str, input: str, guards: tuple[dict[str, bool], ...], expected: Step) -> None:
    """In this state, on this input, wherever its guards hold, both engines do what the row says."""
    for engine in ENGINES:
        for truths in guards:
            actual = engine.step(machine, state, input, truths)

            assert actual == expected


@pytest.mark.parametrize(("machine", "state", "input"), UNSEEN)
def test_unseen(machine: str, state: str, input: str) -> None:
    """What a state must not see is refused by both engines, whatever the guards."""
    for engine in ENGINES:
        with pytest.raises(NoRowError):
            engine.step(machine, state, input, {name: True for name, _ in SPEC.table(machine).guards})
