# Printed from spec/wholecall_spec/tables/*.toml; do not edit.
# To print it again: wholecall build
"""Random walks: a machine for each table, with one rule a row, and one for a whole response.

A failing walk prints the rules it took, which are rows, or the wire frames and the rows that fired.
"""

from hypothesis import settings
from hypothesis.stateful import precondition, rule
from hypothesis.strategies import sampled_from

from wholecall.engine import Step
from wholecall.fuzz.response import ResponseMachine
from wholecall.fuzz.table import TableMachine, at

WALK = settings(max_examples=20, stateful_step_count=50, deadline=None)
RESPONSES = settings(max_examples=100, stateful_step_count=50, deadline=None)


class Routing(TableMachine):
    """Which call a fragment speaks for: the index decides, and nothing else."""

    machine = "routing"

    @precondition(at("none"))
    @rule(guards=sampled_from(({},)))
    def R01_none_new(self, guards: dict[str, bool]) -> None:
        """The first index seen opens the first call."""
        self.fire("new", guards, Step("R01", "one", "open_call", ""))

    @precondition(at("none"))
    @rule(guards=sampled_from(({},)))
    def R03_none_missing(self, guards: dict[str, bool]) -> None:
        """Without an index no call can be named, and none is guessed."""
        self.fire("missing", guards, Step("R03", "rejected", "", "index.missing"))

    @precondition(at("none"))
    @rule(guards=sampled_from(({},)))
    def R04_none_other(self, guards: dict[str, bool]) -> None:
        """An index is an integer >= 0; nothing is coerced into one."""
        self.fire("other", guards, Step("R04", "rejected", "", "index.type"))

    @precondition(at("none"))
    @rule(guards=sampled_from(({},)))
    def R05_none_end(self, guards: dict[str, bool]) -> None:
        """The stream completed without any call."""
        self.fire("end", guards, Step("R05", "closed", "", ""))

    @precondition(at("one"))
    @rule(guards=sampled_from(({"calls_left": True},)))
    def R06_one_new(self, guards: dict[str, bool]) -> None:
        """A second index opens a second call; gaps between indices are legal."""
        self.fire("new", guards, Step("R06", "many", "open_call", ""))

    @precondition(at("one"))
    @rule(guards=sampled_from(({"calls_left": False},)))
    def R07_one_new(self, guards: dict[str, bool]) -> None:
        """A choice may not open more calls than the limit."""
        self.fire("new", guards, Step("R07", "rejected", "", "limit.calls"))

    @precondition(at("one"))
    @rule(guards=sampled_from(({},)))
    def R08_one_known(self, guards: dict[str, bool]) -> None:
        """A seen index continues its own call."""
        self.fire("known", guards, Step("R08", "one", "route", ""))

    @precondition(at("one"))
    @rule(guards=sampled_from(({},)))
    def R09_one_missing(self, guards: dict[str, bool]) -> None:
        """Even a single open call is not guessed: a fragment must say whose it is."""
        self.fire("missing", guards, Step("R09", "rejected", "", "index.missing"))

    @precondition(at("one"))
    @rule(guards=sampled_from(({},)))
    def R10_one_other(self, guards: dict[str, bool]) -> None:
        """An index is an integer >= 0; nothing is coerced into one."""
        self.fire("other", guards, Step("R10", "rejected", "", "index.type"))

    @precondition(at("one"))
    @rule(guards=sampled_from(({},)))
    def R11_one_end(self, guards: dict[str, bool]) -> None:
        """The stream completed with one call."""
        self.fire("end", guards, Step("R11", "closed", "", ""))

    @precondition(at("many"))
    @rule(guards=sampled_from(({"calls_left": True},)))
    def R12_many_new(self, guards: dict[str, bool]) -> None:
        """Each new index opens one more call."""
        self.fire("new", guards, Step("R12", "many", "open_call", ""))

    @precondition(at("many"))
    @rule(guards=sampled_from(({"calls_left": False},)))
    def R13_many_new(self, guards: dict[str, bool]) -> None:
        """A choice may not open more calls than the limit."""
        self.fire("new", guards, Step("R13", "rejected", "", "limit.calls"))

    @precondition(at("many"))
    @rule(guards=sampled_from(({},)))
    def R14_many_known(self, guards: dict[str, bool]) -> None:
        """Interleaved fragments go each to its own call."""
        self.fire("known", guards, Step("R14", "many", "route", ""))

    @precondition(at("many"))
    @rule(guards=sampled_from(({},)))
    def R15_many_missing(self, guards: dict[str, bool]) -> None:
        """Among parallel calls a guess would put arguments on the wrong call."""
        self.fire("missing", guards, Step("R15", "rejected", "", "index.missing"))

    @precondition(at("many"))
    @rule(guards=sampled_from(({},)))
    def R16_many_other(self, guards: dict[str, bool]) -> None:
        """An index is an integer >= 0; nothing is coerced into one."""
        self.fire("other", guards, Step("R16", "rejected", "", "index.type"))

    @precondition(at("many"))
    @rule(guards=sampled_from(({},)))
    def R17_many_end(self, guards: dict[str, bool]) -> None:
        """The stream completed with several calls."""
        self.fire("end", guards, Step("R17", "closed", "", ""))


TestRouting = Routing.TestCase
TestRouting.settings = WALK


class Identity(TableMachine):
    """Which call a fragment belongs to, and whether later fragments may change that."""

    machine = "identity"

    @precondition(at("unknown"))
    @rule(guards=sampled_from(({},)))
    def I01_unknown_omitted(self, guards: dict[str, bool]) -> None:
        """The id may still come in a later fragment."""
        self.fire("omitted", guards, Step("I01", "unknown", "", ""))

    @precondition(at("unknown"))
    @rule(guards=sampled_from(({},)))
    def I02_unknown_null(self, guards: dict[str, bool]) -> None:
        """Null can keep an identity but not create one."""
        self.fire("null", guards, Step("I02", "rejected", "", "identity.null_first"))

    @precondition(at("unknown"))
    @rule(guards=sampled_from(({},)))
    def I03_unknown_empty(self, guards: dict[str, bool]) -> None:
        """An early empty id may be filled by a later one."""
        self.fire("empty", guards, Step("I03", "blank", "", ""))

    @precondition(at("unknown"))
    @rule(guards=sampled_from(({},)))
    def I04_unknown_text(self, guards: dict[str, bool]) -> None:
        """The first non-empty id names the call."""
        self.fire("text", guards, Step("I04", "established", "set_id", ""))

    @precondition(at("unknown"))
    @rule(guards=sampled_from(({},)))
    def I05_unknown_other(self, guards: dict[str, bool]) -> None:
        """An id is a string; a number is not turned into one."""
        self.fire("other", guards, Step("I05", "rejected", "", "identity.type"))

    @precondition(at("unknown"))
    @rule(guards=sampled_from(({},)))
    def I06_unknown_end(self, guards: dict[str, bool]) -> None:
        """The call ended without an id, and none is invented."""
        self.fire("end", guards, Step("I06", "rejected", "", "identity.missing"))

    @precondition(at("blank"))
    @rule(guards=sampled_from(({},)))
    def I07_blank_omitted(self, guards: dict[str, bool]) -> None:
        """The id may still come in a later fragment."""
        self.fire("omitted", guards, Step("I07", "blank", "", ""))

    @precondition(at("blank"))
    @rule(guards=sampled_from(({},)))
    def I08_blank_null(self, guards: dict[str, bool]) -> None:
        """An empty id is no established identity that null could keep."""
        self.fire("null", guards, Step("I08", "rejected", "", "identity.null_first"))

    @precondition(at("blank"))
    @rule(guards=sampled_from(({},)))
    def I09_blank_empty(self, guards: dict[str, bool]) -> None:
        """Still no identity, and still none is refused."""
        self.fire("empty", guards, Step("I09", "blank", "", ""))

    @precondition(at("blank"))
    @rule(guards=sampled_from(({},)))
    def I10_blank_text(self, guards: dict[str, bool]) -> None:
        """A valid id fills the early empty one."""
        self.fire("text", guards, Step("I10", "established", "set_id", ""))

    @precondition(at("blank"))
    @rule(guards=sampled_from(({},)))
    def I11_blank_other(self, guards: dict[str, bool]) -> None:
        """An id is a string; a number is not turned into one."""
        self.fire("other", guards, Step("I11", "rejected", "", "identity.type"))

    @precondition(at("blank"))
    @rule(guards=sampled_from(({},)))
    def I12_blank_end(self, guards: dict[str, bool]) -> None:
        """The id was still empty at the end."""
        self.fire("end", guards, Step("I12", "rejected", "", "identity.missing"))

    @precondition(at("established"))
    @rule(guards=sampled_from(({},)))
    def I13_established_omitted(self, guards: dict[str, bool]) -> None:
        """An omitted id updates nothing."""
        self.fire("omitted", guards, Step("I13", "established", "", ""))

    @precondition(at("established"))
    @rule(guards=sampled_from(({},)))
    def I14_established_null(self, guards: dict[str, bool]) -> None:
        """A null continuation updates nothing."""
        self.fire("null", guards, Step("I14", "established", "", ""))

    @precondition(at("established"))
    @rule(guards=sampled_from(({},)))
    def I15_established_empty(self, guards: dict[str, bool]) -> None:
        """An empty id contradicts the established one."""
        self.fire("empty", guards, Step("I15", "rejected", "", "identity.conflict"))

    @precondition(at("established"))
    @rule(guards=sampled_from(({"same_id": True},)))
    def I16_established_text(self, guards: dict[str, bool]) -> None:
        """The same id again confirms the call."""
        self.fire("text", guards, Step("I16", "established", "", ""))

    @precondition(at("established"))
    @rule(guards=sampled_from(({"same_id": False},)))
    def I17_established_text(self, guards: dict[str, bool]) -> None:
        """A different id contradicts the established one, and neither is chosen."""
        self.fire("text", guards, Step("I17", "rejected", "", "identity.conflict"))

    @precondition(at("established"))
    @rule(guards=sampled_from(({},)))
    def I18_established_other(self, guards: dict[str, bool]) -> None:
        """An id is a string; a number is not turned into one."""
        self.fire("other", guards, Step("I18", "rejected", "", "identity.type"))

    @precondition(at("established"))
    @rule(guards=sampled_from(({},)))
    def I19_established_end(self, guards: dict[str, bool]) -> None:
        """The call ends with the id that arrived."""
        self.fire("end", guards, Step("I19", "fixed", "", ""))


TestIdentity = Identity.TestCase
TestIdentity.settings = WALK


class Name(TableMachine):
    """Which tool the call names; pieces are joined as arguments are."""

    machine = "name"

    @precondition(at("unnamed"))
    @rule(guards=sampled_from(({},)))
    def N01_unnamed_omitted(self, guards: dict[str, bool]) -> None:
        """The name may still come."""
        self.fire("omitted", guards, Step("N01", "unnamed", "", ""))

    @precondition(at("unnamed"))
    @rule(guards=sampled_from(({},)))
    def N02_unnamed_null(self, guards: dict[str, bool]) -> None:
        """A null name adds nothing."""
        self.fire("null", guards, Step("N02", "unnamed", "", ""))

    @precondition(at("unnamed"))
    @rule(guards=sampled_from(({},)))
    def N03_unnamed_empty(self, guards: dict[str, bool]) -> None:
        """An empty name adds nothing."""
        self.fire("empty", guards, Step("N03", "unnamed", "", ""))

    @precondition(at("unnamed"))
    @rule(guards=sampled_from(({"name_fits": True},)))
    def N04_unnamed_text(self, guards: dict[str, bool]) -> None:
        """The first text begins the name."""
        self.fire("text", guards, Step("N04", "named", "append_name", ""))

    @precondition(at("unnamed"))
    @rule(guards=sampled_from(({"name_fits": False},)))
    def N05_unnamed_text(self, guards: dict[str, bool]) -> None:
        """A name may not be longer than the limit."""
        self.fire("text", guards, Step("N05", "rejected", "", "limit.name"))

    @precondition(at("unnamed"))
    @rule(guards=sampled_from(({},)))
    def N06_unnamed_other(self, guards: dict[str, bool]) -> None:
        """A name is a string; nothing is coerced into one."""
        self.fire("other", guards, Step("N06", "rejected", "", "name.type"))

    @precondition(at("unnamed"))
    @rule(guards=sampled_from(({},)))
    def N07_unnamed_end(self, guards: dict[str, bool]) -> None:
        """The call ended without a name, and none is guessed."""
        self.fire("end", guards, Step("N07", "rejected", "", "name.missing"))

    @precondition(at("named"))
    @rule(guards=sampled_from(({},)))
    def N08_named_omitted(self, guards: dict[str, bool]) -> None:
        """An omitted name adds nothing."""
        self.fire("omitted", guards, Step("N08", "named", "", ""))

    @precondition(at("named"))
    @rule(guards=sampled_from(({},)))
    def N09_named_null(self, guards: dict[str, bool]) -> None:
        """A null name adds nothing."""
        self.fire("null", guards, Step("N09", "named", "", ""))

    @precondition(at("named"))
    @rule(guards=sampled_from(({},)))
    def N10_named_empty(self, guards: dict[str, bool]) -> None:
        """An empty name adds nothing."""
        self.fire("empty", guards, Step("N10", "named", "", ""))

    @precondition(at("named"))
    @rule(guards=sampled_from(({"name_fits": True},)))
    def N11_named_text(self, guards: dict[str, bool]) -> None:
        """Names are joined as arguments are."""
        self.fire("text", guards, Step("N11", "named", "append_name", ""))

    @precondition(at("named"))
    @rule(guards=sampled_from(({"name_fits": False},)))
    def N12_named_text(self, guards: dict[str, bool]) -> None:
        """A name may not be longer than the limit."""
        self.fire("text", guards, Step("N12", "rejected", "", "limit.name"))

    @precondition(at("named"))
    @rule(guards=sampled_from(({},)))
    def N13_named_other(self, guards: dict[str, bool]) -> None:
        """A name is a string; nothing is coerced into one."""
        self.fire("other", guards, Step("N13", "rejected", "", "name.type"))

    @precondition(at("named"))
    @rule(guards=sampled_from(({},)))
    def N14_named_end(self, guards: dict[str, bool]) -> None:
        """The call ends with the name that arrived."""
        self.fire("end", guards, Step("N14", "fixed", "", ""))


TestName = Name.TestCase
TestName.settings = WALK


class Arguments(TableMachine):
    """The raw argument text, kept verbatim until the whole proposal is checked."""

    machine = "arguments"

    @precondition(at("absent"))
    @rule(guards=sampled_from(({},)))
    def A01_absent_omitted(self, guards: dict[str, bool]) -> None:
        """The arguments may still come."""
        self.fire("omitted", guards, Step("A01", "absent", "", ""))

    @precondition(at("absent"))
    @rule(guards=sampled_from(({},)))
    def A02_absent_null(self, guards: dict[str, bool]) -> None:
        """Null arguments add nothing."""
        self.fire("null", guards, Step("A02", "absent", "", ""))

    @precondition(at("absent"))
    @rule(guards=sampled_from(({},)))
    def A03_absent_empty(self, guards: dict[str, bool]) -> None:
        """Empty arguments add nothing, and are not an empty object."""
        self.fire("empty", guards, Step("A03", "absent", "", ""))

    @precondition(at("absent"))
    @rule(guards=sampled_from(({"arguments_fit": True},)))
    def A04_absent_text(self, guards: dict[str, bool]) -> None:
        """The first text begins the arguments."""
        self.fire("text", guards, Step("A04", "collecting", "append_arguments", ""))

    @precondition(at("absent"))
    @rule(guards=sampled_from(({"arguments_fit": False},)))
    def A05_absent_text(self, guards: dict[str, bool]) -> None:
        """Arguments may not be longer than the limit."""
        self.fire("text", guards, Step("A05", "rejected", "", "limit.arguments"))

    @precondition(at("absent"))
    @rule(guards=sampled_from(({},)))
    def A06_absent_other(self, guards: dict[str, bool]) -> None:
        """Arguments stream as text; an object is not turned into text."""
        self.fire("other", guards, Step("A06", "rejected", "", "arguments.type"))

    @precondition(at("absent"))
    @rule(guards=sampled_from(({},)))
    def A07_absent_end(self, guards: dict[str, bool]) -> None:
        """No text came; the syntax check will judge the empty text."""
        self.fire("end", guards, Step("A07", "collected", "", ""))

    @precondition(at("collecting"))
    @rule(guards=sampled_from(({},)))
    def A08_collecting_omitted(self, guards: dict[str, bool]) -> None:
        """Omitted arguments add nothing."""
        self.fire("omitted", guards, Step("A08", "collecting", "", ""))

    @precondition(at("collecting"))
    @rule(guards=sampled_from(({},)))
    def A09_collecting_null(self, guards: dict[str, bool]) -> None:
        """Null arguments add nothing."""
        self.fire("null", guards, Step("A09", "collecting", "", ""))

    @precondition(at("collecting"))
    @rule(guards=sampled_from(({},)))
    def A10_collecting_empty(self, guards: dict[str, bool]) -> None:
        """Empty arguments add nothing."""
        self.fire("empty", guards, Step("A10", "collecting", "", ""))

    @precondition(at("collecting"))
    @rule(guards=sampled_from(({"arguments_fit": True},)))
    def A11_collecting_text(self, guards: dict[str, bool]) -> None:
        """Text is joined in the order it arrives."""
        self.fire("text", guards, Step("A11", "collecting", "append_arguments", ""))

    @precondition(at("collecting"))
    @rule(guards=sampled_from(({"arguments_fit": False},)))
    def A12_collecting_text(self, guards: dict[str, bool]) -> None:
        """Arguments may not be longer than the limit."""
        self.fire("text", guards, Step("A12", "rejected", "", "limit.arguments"))

    @precondition(at("collecting"))
    @rule(guards=sampled_from(({},)))
    def A13_collecting_other(self, guards: dict[str, bool]) -> None:
        """Arguments stream as text; an object is not turned into text."""
        self.fire("other", guards, Step("A13", "rejected", "", "arguments.type"))

    @precondition(at("collecting"))
    @rule(guards=sampled_from(({},)))
    def A14_collecting_end(self, guards: dict[str, bool]) -> None:
        """The text is kept as it arrived and judged with the whole proposal."""
        self.fire("end", guards, Step("A14", "collected", "", ""))


TestArguments = Arguments.TestCase
TestArguments.settings = WALK


class Stream(TableMachine):
    """Did the stream of this choice end properly?"""

    machine = "stream"

    @precondition(at("open"))
    @rule(guards=sampled_from(({},)))
    def S01_open_fragment(self, guards: dict[str, bool]) -> None:
        """A fragment goes on to its call."""
        self.fire("fragment", guards, Step("S01", "open", "", ""))

    @precondition(at("open"))
    @rule(guards=sampled_from(({},)))
    def S02_open_fragment_refused(self, guards: dict[str, bool]) -> None:
        """One refused fragment refuses the response."""
        self.fire("fragment_refused", guards, Step("S02", "rejected", "", "carried"))

    @precondition(at("open"))
    @rule(guards=sampled_from(({},)))
    def S03_open_content(self, guards: dict[str, bool]) -> None:
        """Text and usage say nothing about calls."""
        self.fire("content", guards, Step("S03", "open", "", ""))

    @precondition(at("open"))
    @rule(guards=sampled_from(({},)))
    def S04_open_finish_normal(self, guards: dict[str, bool]) -> None:
        """The choice announces a proper end."""
        self.fire("finish_normal", guards, Step("S04", "finished", "note_finish", ""))

    @precondition(at("open"))
    @rule(guards=sampled_from(({},)))
    def S05_open_finish_length(self, guards: dict[str, bool]) -> None:
        """Output cut at a limit is not whole, even where it happens to parse."""
        self.fire("finish_length", guards, Step("S05", "incomplete", "", "stream.cut_short"))

    @precondition(at("open"))
    @rule(guards=sampled_from(({},)))
    def S06_open_finish_filter(self, guards: dict[str, bool]) -> None:
        """Filtered output is a refusal by the provider."""
        self.fire("finish_filter", guards, Step("S06", "refused", "", "stream.filtered"))

    @precondition(at("open"))
    @rule(guards=sampled_from(({},)))
    def S07_open_finish_other(self, guards: dict[str, bool]) -> None:
        """An unknown finish reason promises nothing."""
        self.fire("finish_other", guards, Step("S07", "rejected", "", "stream.unknown_finish"))

    @precondition(at("open"))
    @rule(guards=sampled_from(({},)))
    def S08_open_error(self, guards: dict[str, bool]) -> None:
        """An upstream error ends the response; it is never success."""
        self.fire("error", guards, Step("S08", "refused", "", "upstream.error"))

    @precondition(at("open"))
    @rule(guards=sampled_from(({},)))
    def S09_open_done(self, guards: dict[str, bool]) -> None:
        """The end marker came without any finish reason."""
        self.fire("done", guards, Step("S09", "incomplete", "", "stream.no_finish"))

    @precondition(at("open"))
    @rule(guards=sampled_from(({},)))
    def S10_open_eof(self, guards: dict[str, bool]) -> None:
        """The stream closed without any finish reason."""
        self.fire("eof", guards, Step("S10", "incomplete", "", "stream.no_finish"))

    @precondition(at("open"))
    @rule(guards=sampled_from(({},)))
    def S11_open_abort(self, guards: dict[str, bool]) -> None:
        """The transport failed before the end."""
        self.fire("abort", guards, Step("S11", "incomplete", "", "stream.aborted"))

    @precondition(at("open"))
    @rule(guards=sampled_from(({},)))
    def S12_open_bad_frame(self, guards: dict[str, bool]) -> None:
        """A frame outside this specification is not guessed at."""
        self.fire("bad_frame", guards, Step("S12", "rejected", "", "stream.bad_frame"))

    @precondition(at("finished"))
    @rule(guards=sampled_from(({},)))
    def S13_finished_fragment(self, guards: dict[str, bool]) -> None:
        """A fragment after the finish reason belongs to no call."""
        self.fire("fragment", guards, Step("S13", "rejected", "", "stream.after_finish"))

    @precondition(at("finished"))
    @rule(guards=sampled_from(({},)))
    def S14_finished_content(self, guards: dict[str, bool]) -> None:
        """Usage and empty deltas may follow."""
        self.fire("content", guards, Step("S14", "finished", "", ""))

    @precondition(at("finished"))
    @rule(guards=sampled_from(({},)))
    def S15_finished_finish_normal(self, guards: dict[str, bool]) -> None:
        """A repeated proper end changes nothing."""
        self.fire("finish_normal", guards, Step("S15", "finished", "", ""))

    @precondition(at("finished"))
    @rule(guards=sampled_from(({},)))
    def S16_finished_finish_length(self, guards: dict[str, bool]) -> None:
        """A proper end was announced before; neither is chosen."""
        self.fire("finish_length", guards, Step("S16", "rejected", "", "stream.conflicting_finish"))

    @precondition(at("finished"))
    @rule(guards=sampled_from(({},)))
    def S17_finished_finish_filter(self, guards: dict[str, bool]) -> None:
        """A proper end was announced before; neither is chosen."""
        self.fire("finish_filter", guards, Step("S17", "rejected", "", "stream.conflicting_finish"))

    @precondition(at("finished"))
    @rule(guards=sampled_from(({},)))
    def S18_finished_finish_other(self, guards: dict[str, bool]) -> None:
        """A proper end was announced before; neither is chosen."""
        self.fire("finish_other", guards, Step("S18", "rejected", "", "stream.conflicting_finish"))

    @precondition(at("finished"))
    @rule(guards=sampled_from(({},)))
    def S19_finished_error(self, guards: dict[str, bool]) -> None:
        """An upstream error after the finish reason is still an error."""
        self.fire("error", guards, Step("S19", "refused", "", "upstream.error"))

    @precondition(at("finished"))
    @rule(guards=sampled_from(({},)))
    def S20_finished_done(self, guards: dict[str, bool]) -> None:
        """Finish reason and end marker: the choice ended properly."""
        self.fire("done", guards, Step("S20", "complete", "", ""))

    @precondition(at("finished"))
    @rule(guards=sampled_from(({},)))
    def S21_finished_eof(self, guards: dict[str, bool]) -> None:
        """Some providers send no end marker; the finish reason suffices."""
        self.fire("eof", guards, Step("S21", "complete", "", ""))

    @precondition(at("finished"))
    @rule(guards=sampled_from(({},)))
    def S22_finished_abort(self, guards: dict[str, bool]) -> None:
        """The transport failed, so what was lost is not known."""
        self.fire("abort", guards, Step("S22", "incomplete", "", "stream.aborted"))

    @precondition(at("finished"))
    @rule(guards=sampled_from(({},)))
    def S23_finished_bad_frame(self, guards: dict[str, bool]) -> None:
        """A frame outside this specification is not guessed at."""
        self.fire("bad_frame", guards, Step("S23", "rejected", "", "stream.bad_frame"))


TestStream = Stream.TestCase
TestStream.settings = WALK


class Proposal(TableMachine):
    """Is the whole batch fit to run? Each stage looks at all calls before the next begins."""

    machine = "proposal"

    @precondition(at("gathered"))
    @rule(guards=sampled_from(({},)))
    def P01_gathered_many_choices(self, guards: dict[str, bool]) -> None:
        """Calls in two choices are alternatives, and none is chosen."""
        self.fire("many_choices", guards, Step("P01", "rejected", "", "proposal.many_choices"))

    @precondition(at("gathered"))
    @rule(guards=sampled_from(({},)))
    def P02_gathered_field_fault(self, guards: dict[str, bool]) -> None:
        """One call without id or name refuses the batch."""
        self.fire("field_fault", guards, Step("P02", "rejected", "", "carried"))

    @precondition(at("gathered"))
    @rule(guards=sampled_from(({},)))
    def P03_gathered_no_calls_announced(self, guards: dict[str, bool]) -> None:
        """Calls were announced and none came."""
        self.fire("no_calls_announced", guards, Step("P03", "rejected", "", "proposal.no_calls"))

    @precondition(at("gathered"))
    @rule(guards=sampled_from(({},)))
    def P04_gathered_no_calls(self, guards: dict[str, bool]) -> None:
        """A response without calls is an answer."""
        self.fire("no_calls", guards, Step("P04", "answered", "", ""))

    @precondition(at("gathered"))
    @rule(guards=sampled_from(({},)))
    def P05_gathered_fields_fixed(self, guards: dict[str, bool]) -> None:
        """Every call can be named."""
        self.fire("fields_fixed", guards, Step("P05", "filled", "", ""))

    @precondition(at("filled"))
    @rule(guards=sampled_from(({},)))
    def P06_filled_duplicate_id(self, guards: dict[str, bool]) -> None:
        """Two calls with one id cannot be told apart afterwards."""
        self.fire("duplicate_id", guards, Step("P06", "rejected", "", "proposal.duplicate_id"))

    @precondition(at("filled"))
    @rule(guards=sampled_from(({},)))
    def P07_filled_distinct_ids(self, guards: dict[str, bool]) -> None:
        """Every id stands once."""
        self.fire("distinct_ids", guards, Step("P07", "distinct", "", ""))

    @precondition(at("distinct"))
    @rule(guards=sampled_from(({},)))
    def P08_distinct_bad_syntax(self, guards: dict[str, bool]) -> None:
        """A text that is not whole JSON is never completed or replaced."""
        self.fire("bad_syntax", guards, Step("P08", "malformed", "", "carried"))

    @precondition(at("distinct"))
    @rule(guards=sampled_from(({},)))
    def P09_distinct_syntax_ok(self, guards: dict[str, bool]) -> None:
        """Every text parsed whole."""
        self.fire("syntax_ok", guards, Step("P09", "parsed", "", ""))

    @precondition(at("parsed"))
    @rule(guards=sampled_from(({},)))
    def P10_parsed_bad_structure(self, guards: dict[str, bool]) -> None:
        """Valid JSON that does not fit the tool's schema must not run."""
        self.fire("bad_structure", guards, Step("P10", "invalid", "", "carried"))

    @precondition(at("parsed"))
    @rule(guards=sampled_from(({},)))
    def P11_parsed_structure_ok(self, guards: dict[str, bool]) -> None:
        """Every call fits its tool."""
        self.fire("structure_ok", guards, Step("P11", "shaped", "", ""))

    @precondition(at("shaped"))
    @rule(guards=sampled_from(({},)))
    def P12_shaped_business_no(self, guards: dict[str, bool]) -> None:
        """The reason goes back to the planner; the same call is not retried."""
        self.fire("business_no", guards, Step("P12", "denied", "", "business.denied"))

    @precondition(at("shaped"))
    @rule(guards=sampled_from(({},)))
    def P13_shaped_business_ok(self, guards: dict[str, bool]) -> None:
        """The batch is whole; running it is still the host's decision."""
        self.fire("business_ok", guards, Step("P13", "permitted", "", ""))


TestProposal = Proposal.TestCase
TestProposal.settings = WALK


class Turn(TableMachine):
    """Requests are repeated only while nothing has happened; then the batch is run once."""

    machine = "turn"

    @precondition(at("requesting"))
    @rule(guards=sampled_from(({},)))
    def T01_requesting_started(self, guards: dict[str, bool]) -> None:
        """The response is read frame by frame."""
        self.fire("started", guards, Step("T01", "receiving", "", ""))

    @precondition(at("requesting"))
    @rule(guards=sampled_from(({},)))
    def T02_requesting_resumed(self, guards: dict[str, bool]) -> None:
        """What an earlier run started is reconciled, and no request is made."""
        self.fire("resumed", guards, Step("T02", "reconciling", "", ""))

    @precondition(at("requesting"))
    @rule(guards=sampled_from(({"attempts_left": True},)))
    def T03_requesting_unreachable(self, guards: dict[str, bool]) -> None:
        """No answer came and nothing ran: ask again."""
        self.fire("unreachable", guards, Step("T03", "requesting", "next_attempt", "turn.unreachable"))

    @precondition(at("requesting"))
    @rule(guards=sampled_from(({"attempts_left": False},)))
    def T04_requesting_unreachable(self, guards: dict[str, bool]) -> None:
        """The limit of attempts is reached."""
        self.fire("unreachable", guards, Step("T04", "exhausted", "", "turn.unreachable"))

    @precondition(at("requesting"))
    @rule(guards=sampled_from(({},)))
    def T05_requesting_upstream_refused(self, guards: dict[str, bool]) -> None:
        """A clear refusal is not retried as if it had succeeded."""
        self.fire("upstream_refused", guards, Step("T05", "refused", "", "upstream.refused"))

    @precondition(at("requesting"))
    @rule(guards=sampled_from(({},)))
    def T06_requesting_cancel(self, guards: dict[str, bool]) -> None:
        """Nothing ran yet."""
        self.fire("cancel", guards, Step("T06", "cancelled", "", "turn.cancelled"))

    @precondition(at("receiving"))
    @rule(guards=sampled_from(({},)))
    def T07_receiving_upstream_refused(self, guards: dict[str, bool]) -> None:
        """Status and reason are kept; it is not success."""
        self.fire("upstream_refused", guards, Step("T07", "refused", "", "carried"))

    @precondition(at("receiving"))
    @rule(guards=sampled_from(({"attempts_left": True},)))
    def T08_receiving_incomplete(self, guards: dict[str, bool]) -> None:
        """Nothing ran: generate the response again."""
        self.fire("incomplete", guards, Step("T08", "requesting", "next_attempt", "carried"))

    @precondition(at("receiving"))
    @rule(guards=sampled_from(({"attempts_left": False},)))
    def T09_receiving_incomplete(self, guards: dict[str, bool]) -> None:
        """The limit of attempts is reached."""
        self.fire("incomplete", guards, Step("T09", "exhausted", "", "carried"))

    @precondition(at("receiving"))
    @rule(guards=sampled_from(({"attempts_left": True},)))
    def T10_receiving_rejected(self, guards: dict[str, bool]) -> None:
        """Nothing ran: generate the response again."""
        self.fire("rejected", guards, Step("T10", "requesting", "next_attempt", "carried"))

    @precondition(at("receiving"))
    @rule(guards=sampled_from(({"attempts_left": False},)))
    def T11_receiving_rejected(self, guards: dict[str, bool]) -> None:
        """The limit of attempts is reached."""
        self.fire("rejected", guards, Step("T11", "exhausted", "", "carried"))

    @precondition(at("receiving"))
    @rule(guards=sampled_from(({},)))
    def T12_receiving_complete(self, guards: dict[str, bool]) -> None:
        """The stream ended properly; now the whole proposal is checked."""
        self.fire("complete", guards, Step("T12", "checking", "", ""))

    @precondition(at("receiving"))
    @rule(guards=sampled_from(({},)))
    def T13_receiving_cancel(self, guards: dict[str, bool]) -> None:
        """Nothing ran yet."""
        self.fire("cancel", guards, Step("T13", "cancelled", "", "turn.cancelled"))

    @precondition(at("checking"))
    @rule(guards=sampled_from(({},)))
    def T14_checking_answered(self, guards: dict[str, bool]) -> None:
        """The response is text for the user."""
        self.fire("answered", guards, Step("T14", "answered", "", ""))

    @precondition(at("checking"))
    @rule(guards=sampled_from(({"attempts_left": True},)))
    def T15_checking_rejected(self, guards: dict[str, bool]) -> None:
        """Nothing ran: generate the response again."""
        self.fire("rejected", guards, Step("T15", "requesting", "next_attempt", "carried"))

    @precondition(at("checking"))
    @rule(guards=sampled_from(({"attempts_left": False},)))
    def T16_checking_rejected(self, guards: dict[str, bool]) -> None:
        """The limit of attempts is reached."""
        self.fire("rejected", guards, Step("T16", "exhausted", "", "carried"))

    @precondition(at("checking"))
    @rule(guards=sampled_from(({"attempts_left": True},)))
    def T17_checking_malformed(self, guards: dict[str, bool]) -> None:
        """Generating clear arguments again is safer than a guess."""
        self.fire("malformed", guards, Step("T17", "requesting", "next_attempt", "carried"))

    @precondition(at("checking"))
    @rule(guards=sampled_from(({"attempts_left": False},)))
    def T18_checking_malformed(self, guards: dict[str, bool]) -> None:
        """The limit of attempts is reached."""
        self.fire("malformed", guards, Step("T18", "exhausted", "", "carried"))

    @precondition(at("checking"))
    @rule(guards=sampled_from(({"attempts_left": True},)))
    def T19_checking_invalid(self, guards: dict[str, bool]) -> None:
        """Nothing ran: generate the response again."""
        self.fire("invalid", guards, Step("T19", "requesting", "next_attempt", "carried"))

    @precondition(at("checking"))
    @rule(guards=sampled_from(({"attempts_left": False},)))
    def T20_checking_invalid(self, guards: dict[str, bool]) -> None:
        """The limit of attempts is reached."""
        self.fire("invalid", guards, Step("T20", "exhausted", "", "carried"))

    @precondition(at("checking"))
    @rule(guards=sampled_from(({},)))
    def T21_checking_denied(self, guards: dict[str, bool]) -> None:
        """The reasons go to the planner, never the same request again."""
        self.fire("denied", guards, Step("T21", "returned", "", "business.denied"))

    @precondition(at("checking"))
    @rule(guards=sampled_from(({},)))
    def T22_checking_permitted(self, guards: dict[str, bool]) -> None:
        """Whole and checked is not yet allowed."""
        self.fire("permitted", guards, Step("T22", "authorizing", "", ""))

    @precondition(at("checking"))
    @rule(guards=sampled_from(({},)))
    def T23_checking_cancel(self, guards: dict[str, bool]) -> None:
        """Nothing ran yet."""
        self.fire("cancel", guards, Step("T23", "cancelled", "", "turn.cancelled"))

    @precondition(at("authorizing"))
    @rule(guards=sampled_from(({},)))
    def T24_authorizing_authorized(self, guards: dict[str, bool]) -> None:
        """The host allows the whole batch."""
        self.fire("authorized", guards, Step("T24", "dispatching", "", ""))

    @precondition(at("authorizing"))
    @rule(guards=sampled_from(({},)))
    def T25_authorizing_unauthorized(self, guards: dict[str, bool]) -> None:
        """The host refuses, and nothing runs."""
        self.fire("unauthorized", guards, Step("T25", "declined", "", "host.unauthorized"))

    @precondition(at("authorizing"))
    @rule(guards=sampled_from(({},)))
    def T26_authorizing_cancel(self, guards: dict[str, bool]) -> None:
        """Nothing ran yet."""
        self.fire("cancel", guards, Step("T26", "cancelled", "", "turn.cancelled"))

    @precondition(at("dispatching"))
    @rule(guards=sampled_from(({},)))
    def T27_dispatching_all_known(self, guards: dict[str, bool]) -> None:
        """Every operation succeeded or failed, and is recorded."""
        self.fire("all_known", guards, Step("T27", "settled", "", ""))

    @precondition(at("dispatching"))
    @rule(guards=sampled_from(({},)))
    def T28_dispatching_some_uncertain(self, guards: dict[str, bool]) -> None:
        """No success received is not the same as no effect."""
        self.fire("some_uncertain", guards, Step("T28", "reconciling", "", ""))

    @precondition(at("dispatching"))
    @rule(guards=sampled_from(({},)))
    def T29_dispatching_some_cancelled(self, guards: dict[str, bool]) -> None:
        """An operation never started; the others say how they ended."""
        self.fire("some_cancelled", guards, Step("T29", "cancelled", "", "turn.interrupted"))

    @precondition(at("dispatching"))
    @rule(guards=sampled_from(({"any_uncertain": True},)))
    def T30_dispatching_cancel(self, guards: dict[str, bool]) -> None:
        """Cancelled while the effect of an operation is not known."""
        self.fire("cancel", guards, Step("T30", "unresolved", "", "turn.cancelled"))

    @precondition(at("dispatching"))
    @rule(guards=sampled_from(({"any_uncertain": False},)))
    def T31_dispatching_cancel(self, guards: dict[str, bool]) -> None:
        """Cancelled; the operations say which ran."""
        self.fire("cancel", guards, Step("T31", "cancelled", "", "turn.cancelled"))

    @precondition(at("reconciling"))
    @rule(guards=sampled_from(({},)))
    def T32_reconciling_all_known(self, guards: dict[str, bool]) -> None:
        """Every effect is known now."""
        self.fire("all_known", guards, Step("T32", "settled", "", ""))

    @precondition(at("reconciling"))
    @rule(guards=sampled_from(({},)))
    def T33_reconciling_some_uncertain(self, guards: dict[str, bool]) -> None:
        """An effect is still unknown: ask again within the limits."""
        self.fire("some_uncertain", guards, Step("T33", "reconciling", "", ""))

    @precondition(at("reconciling"))
    @rule(guards=sampled_from(({},)))
    def T34_reconciling_some_cancelled(self, guards: dict[str, bool]) -> None:
        """An operation never started; the others say how they ended."""
        self.fire("some_cancelled", guards, Step("T34", "cancelled", "", "turn.interrupted"))

    @precondition(at("reconciling"))
    @rule(guards=sampled_from(({},)))
    def T35_reconciling_some_unresolved(self, guards: dict[str, bool]) -> None:
        """An effect cannot be found out, and is not guessed."""
        self.fire("some_unresolved", guards, Step("T35", "unresolved", "", "operation.unresolved"))

    @precondition(at("reconciling"))
    @rule(guards=sampled_from(({"any_uncertain": True},)))
    def T36_reconciling_cancel(self, guards: dict[str, bool]) -> None:
        """Cancelled while the effect of an operation is not known."""
        self.fire("cancel", guards, Step("T36", "unresolved", "", "turn.cancelled"))

    @precondition(at("reconciling"))
    @rule(guards=sampled_from(({"any_uncertain": False},)))
    def T37_reconciling_cancel(self, guards: dict[str, bool]) -> None:
        """Cancelled; the operations say which ran."""
        self.fire("cancel", guards, Step("T37", "cancelled", "", "turn.cancelled"))


TestTurn = Turn.TestCase
TestTurn.settings = WALK


class Operation(TableMachine):
    """Did the effect of this call happen? At most once under its key, and never guessed."""

    machine = "operation"

    @precondition(at("planned"))
    @rule(guards=sampled_from(({},)))
    def O01_planned_start(self, guards: dict[str, bool]) -> None:
        """The record is durable before the tool runs."""
        self.fire("start", guards, Step("O01", "started", "open_try", ""))

    @precondition(at("planned"))
    @rule(guards=sampled_from(({},)))
    def O02_planned_taken(self, guards: dict[str, bool]) -> None:
        """Another worker may be running it."""
        self.fire("taken", guards, Step("O02", "uncertain", "", "operation.uncertain"))

    @precondition(at("planned"))
    @rule(guards=sampled_from(({},)))
    def O03_planned_cancel(self, guards: dict[str, bool]) -> None:
        """It never started."""
        self.fire("cancel", guards, Step("O03", "cancelled", "", "operation.cancelled"))

    @precondition(at("planned"))
    @rule(guards=sampled_from(({},)))
    def O04_planned_unrecorded(self, guards: dict[str, bool]) -> None:
        """A tool does not run without its record."""
        self.fire("unrecorded", guards, Step("O04", "cancelled", "", "ledger.unavailable"))

    @precondition(at("started"))
    @rule(guards=sampled_from(({},)))
    def O05_started_result(self, guards: dict[str, bool]) -> None:
        """The result is recorded at once."""
        self.fire("result", guards, Step("O05", "succeeded", "record_result", ""))

    @precondition(at("started"))
    @rule(guards=sampled_from(({"latest": True, "others_absent": True},)))
    def O06_started_declared_failure(self, guards: dict[str, bool]) -> None:
        """This try wrote nothing, and no earlier one did."""
        self.fire("declared_failure", guards, Step("O06", "failed", "", "operation.failed"))

    @precondition(at("started"))
    @rule(guards=sampled_from(({"latest": True, "others_absent": False},)))
    def O07_started_declared_failure(self, guards: dict[str, bool]) -> None:
        """This try wrote nothing, but an earlier one may have."""
        self.fire("declared_failure", guards, Step("O07", "uncertain", "", "operation.uncertain"))

    @precondition(at("started"))
    @rule(guards=sampled_from(({"latest": False, "others_absent": True}, {"latest": False, "others_absent": False})))
    def O08_started_declared_failure(self, guards: dict[str, bool]) -> None:
        """A late answer of an earlier try says nothing about this one."""
        self.fire("declared_failure", guards, Step("O08", "started", "", ""))

    @precondition(at("started"))
    @rule(guards=sampled_from(({"effectless": True},)))
    def O09_started_raised(self, guards: dict[str, bool]) -> None:
        """The tool raised, and a tool that only reads has no effect to look for."""
        self.fire("raised", guards, Step("O09", "failed", "", "operation.failed"))

    @precondition(at("started"))
    @rule(guards=sampled_from(({"effectless": False},)))
    def O10_started_raised(self, guards: dict[str, bool]) -> None:
        """The tool raised; whether it wrote is not known."""
        self.fire("raised", guards, Step("O10", "uncertain", "", "operation.uncertain"))

    @precondition(at("started"))
    @rule(guards=sampled_from(({"effectless": True},)))
    def O11_started_timeout(self, guards: dict[str, bool]) -> None:
        """The tool gave no answer in time, and a tool that only reads has no effect to look for."""
        self.fire("timeout", guards, Step("O11", "failed", "", "operation.failed"))

    @precondition(at("started"))
    @rule(guards=sampled_from(({"effectless": False},)))
    def O12_started_timeout(self, guards: dict[str, bool]) -> None:
        """The tool gave no answer in time; whether it wrote is not known."""
        self.fire("timeout", guards, Step("O12", "uncertain", "", "operation.uncertain"))

    @precondition(at("started"))
    @rule(guards=sampled_from(({"effectless": True},)))
    def O13_started_cancel(self, guards: dict[str, bool]) -> None:
        """It was cancelled while it ran, and a tool that only reads has no effect to look for."""
        self.fire("cancel", guards, Step("O13", "failed", "", "operation.failed"))

    @precondition(at("started"))
    @rule(guards=sampled_from(({"effectless": False},)))
    def O14_started_cancel(self, guards: dict[str, bool]) -> None:
        """It was cancelled while it ran; whether it wrote is not known."""
        self.fire("cancel", guards, Step("O14", "uncertain", "", "operation.uncertain"))

    @precondition(at("started"))
    @rule(guards=sampled_from(({"effectless": True},)))
    def O15_started_lost(self, guards: dict[str, bool]) -> None:
        """Its worker's lease ran out, and a tool that only reads has no effect to look for."""
        self.fire("lost", guards, Step("O15", "failed", "", "operation.failed"))

    @precondition(at("started"))
    @rule(guards=sampled_from(({"effectless": False},)))
    def O16_started_lost(self, guards: dict[str, bool]) -> None:
        """Its worker's lease ran out; whether it wrote is not known."""
        self.fire("lost", guards, Step("O16", "uncertain", "", "operation.uncertain"))

    @precondition(at("started"))
    @rule(guards=sampled_from(({"effectless": True},)))
    def O17_started_unrecorded(self, guards: dict[str, bool]) -> None:
        """Its result could not be recorded, and a tool that only reads has no effect to look for."""
        self.fire("unrecorded", guards, Step("O17", "failed", "", "operation.failed"))

    @precondition(at("started"))
    @rule(guards=sampled_from(({"effectless": False},)))
    def O18_started_unrecorded(self, guards: dict[str, bool]) -> None:
        """Its result could not be recorded; whether it wrote is not known."""
        self.fire("unrecorded", guards, Step("O18", "uncertain", "", "ledger.unavailable"))

    @precondition(at("uncertain"))
    @rule(guards=sampled_from(({},)))
    def O19_uncertain_result(self, guards: dict[str, bool]) -> None:
        """A late result is still a result."""
        self.fire("result", guards, Step("O19", "succeeded", "record_result", ""))

    @precondition(at("uncertain"))
    @rule(guards=sampled_from(({"latest": True, "others_absent": True},)))
    def O20_uncertain_declared_failure(self, guards: dict[str, bool]) -> None:
        """This try wrote nothing, and no earlier one did."""
        self.fire("declared_failure", guards, Step("O20", "failed", "", "operation.failed"))

    @precondition(at("uncertain"))
    @rule(guards=sampled_from(({"latest": True, "others_absent": False},)))
    def O21_uncertain_declared_failure(self, guards: dict[str, bool]) -> None:
        """This try wrote nothing, but an earlier one may have."""
        self.fire("declared_failure", guards, Step("O21", "uncertain", "", "operation.uncertain"))

    @precondition(at("uncertain"))
    @rule(guards=sampled_from(({"latest": False, "others_absent": True}, {"latest": False, "others_absent": False})))
    def O22_uncertain_declared_failure(self, guards: dict[str, bool]) -> None:
        """A late answer of an earlier try says nothing about this one."""
        self.fire("declared_failure", guards, Step("O22", "uncertain", "", "operation.uncertain"))

    @precondition(at("uncertain"))
    @rule(guards=sampled_from(({},)))
    def O23_uncertain_found_applied(self, guards: dict[str, bool]) -> None:
        """The query found the effect."""
        self.fire("found_applied", guards, Step("O23", "succeeded", "record_result", ""))

    @precondition(at("uncertain"))
    @rule(guards=sampled_from(({"tries_left": True},)))
    def O24_uncertain_found_absent(self, guards: dict[str, bool]) -> None:
        """The effect is known absent: try again under the same key."""
        self.fire("found_absent", guards, Step("O24", "started", "open_try", ""))

    @precondition(at("uncertain"))
    @rule(guards=sampled_from(({"tries_left": False},)))
    def O25_uncertain_found_absent(self, guards: dict[str, bool]) -> None:
        """The effect is known absent, and no try is left."""
        self.fire("found_absent", guards, Step("O25", "failed", "", "operation.failed"))

    @precondition(at("uncertain"))
    @rule(
        guards=sampled_from(
            (
                {"idempotent": True, "tries_left": True, "queries_left": True},
                {"idempotent": True, "tries_left": False, "queries_left": True},
                {"idempotent": False, "tries_left": True, "queries_left": True},
                {"idempotent": False, "tries_left": False, "queries_left": True},
            )
        )
    )
    def O26_uncertain_unanswerable(self, guards: dict[str, bool]) -> None:
        """Pause, then ask again."""
        self.fire("unanswerable", guards, Step("O26", "uncertain", "ask_again", "operation.uncertain"))

    @precondition(at("uncertain"))
    @rule(guards=sampled_from(({"idempotent": True, "tries_left": True, "queries_left": False},)))
    def O27_uncertain_unanswerable(self, guards: dict[str, bool]) -> None:
        """A repeat under the same key is one effect."""
        self.fire("unanswerable", guards, Step("O27", "started", "open_try", ""))

    @precondition(at("uncertain"))
    @rule(guards=sampled_from(({"idempotent": False, "tries_left": True, "queries_left": False}, {"idempotent": False, "tries_left": False, "queries_left": False})))
    def O28_uncertain_unanswerable(self, guards: dict[str, bool]) -> None:
        """A repeat could be a second effect, so a person must look."""
        self.fire("unanswerable", guards, Step("O28", "unresolved", "", "operation.unresolved"))

    @precondition(at("uncertain"))
    @rule(guards=sampled_from(({"idempotent": True, "tries_left": False, "queries_left": False},)))
    def O29_uncertain_unanswerable(self, guards: dict[str, bool]) -> None:
        """No try is left, so a person must look."""
        self.fire("unanswerable", guards, Step("O29", "unresolved", "", "operation.unresolved"))

    @precondition(at("uncertain"))
    @rule(guards=sampled_from(({},)))
    def O30_uncertain_cancel(self, guards: dict[str, bool]) -> None:
        """Cancelling does not undo what may have happened."""
        self.fire("cancel", guards, Step("O30", "uncertain", "", "operation.uncertain"))


TestOperation = Operation.TestCase
TestOperation.settings = WALK


class Response(ResponseMachine):
    """A whole response, in which every machine of a response moves."""


TestResponse = Response.TestCase
TestResponse.settings = RESPONSES
