# Printed from spec/wholecall_spec/tables/*.toml; do not edit.
# To print it again: wholecall build
"""What the tables say, asked of an assembler that is not ours.

pytest --pyargs wholecall_generated --wholecall-target MODULE:CALLABLE
"""

import pytest

from wholecall.fuzz.asked import ask_relation, ask_responses, ask_row
from wholecall.fuzz.target import Target
from wholecall.relations import RELATIONS, Relation

RESPONSES = 100
RELATED = 100

ROWS = (
    "R01",  # the first index seen opens the first call
    "R03",  # without an index no call can be named, and none is guessed
    "R04",  # an index is an integer >= 0; nothing is coerced into one
    "R05",  # the stream completed without any call
    "R06",  # a second index opens a second call; gaps between indices are legal
    "R07",  # a choice may not open more calls than the limit
    "R08",  # a seen index continues its own call
    "R09",  # even a single open call is not guessed: a fragment must say whose it is
    "R10",  # an index is an integer >= 0; nothing is coerced into one
    "R11",  # the stream completed with one call
    "R12",  # each new index opens one more call
    "R13",  # a choice may not open more calls than the limit
    "R14",  # interleaved fragments go each to its own call
    "R15",  # among parallel calls a guess would put arguments on the wrong call
    "R16",  # an index is an integer >= 0; nothing is coerced into one
    "R17",  # the stream completed with several calls
    "I01",  # the id may still come in a later fragment
    "I02",  # null can keep an identity but not create one
    "I03",  # an early empty id may be filled by a later one
    "I04",  # the first non-empty id names the call
    "I05",  # an id is a string; a number is not turned into one
    "I06",  # the call ended without an id, and none is invented
    "I07",  # the id may still come in a later fragment
    "I08",  # an empty id is no established identity that null could keep
    "I09",  # still no identity, and still none is refused
    "I10",  # a valid id fills the early empty one
    "I11",  # an id is a string; a number is not turned into one
    "I12",  # the id was still empty at the end
    "I13",  # an omitted id updates nothing
    "I14",  # a null continuation updates nothing
    "I15",  # an empty id contradicts the established one
    "I16",  # the same id again confirms the call
    "I17",  # a different id contradicts the established one, and neither is chosen
    "I18",  # an id is a string; a number is not turned into one
    "I19",  # the call ends with the id that arrived
    "N01",  # the name may still come
    "N02",  # a null name adds nothing
    "N03",  # an empty name adds nothing
    "N04",  # the first text begins the name
    "N05",  # a name may not be longer than the limit
    "N06",  # a name is a string; nothing is coerced into one
    "N07",  # the call ended without a name, and none is guessed
    "N08",  # an omitted name adds nothing
    "N09",  # a null name adds nothing
    "N10",  # an empty name adds nothing
    "N11",  # names are joined as arguments are
    "N12",  # a name may not be longer than the limit
    "N13",  # a name is a string; nothing is coerced into one
    "N14",  # the call ends with the name that arrived
    "A01",  # the arguments may still come
    "A02",  # null arguments add nothing
    "A03",  # empty arguments add nothing, and are not an empty object
    "A04",  # the first text begins the arguments
    "A05",  # arguments may not be longer than the limit
    "A06",  # arguments stream as text; an object is not turned into text
    "A07",  # no text came; the syntax check will judge the empty text
    "A08",  # omitted arguments add nothing
    "A09",  # null arguments add nothing
    "A10",  # empty arguments add nothing
    "A11",  # text is joined in the order it arrives
    "A12",  # arguments may not be longer than the limit
    "A13",  # arguments stream as text; an object is not turned into text
    "A14",  # the text is kept as it arrived and judged with the whole proposal
    "S01",  # a fragment goes on to its call
    "S02",  # one refused fragment refuses the response
    "S03",  # text and usage say nothing about calls
    "S04",  # the choice announces a proper end
    "S05",  # output cut at a limit is not whole, even where it happens to parse
    "S06",  # filtered output is a refusal by the provider
    "S07",  # an unknown finish reason promises nothing
    "S08",  # an upstream error ends the response; it is never success
    "S09",  # the end marker came without any finish reason
    "S10",  # the stream closed without any finish reason
    "S11",  # the transport failed before the end
    "S12",  # a frame outside this specification is not guessed at
    "S13",  # a fragment after the finish reason belongs to no call
    "S14",  # usage and empty deltas may follow
    "S15",  # a repeated proper end changes nothing
    "S16",  # a proper end was announced before; neither is chosen
    "S17",  # a proper end was announced before; neither is chosen
    "S18",  # a proper end was announced before; neither is chosen
    "S19",  # an upstream error after the finish reason is still an error
    "S20",  # finish reason and end marker: the choice ended properly
    "S21",  # some providers send no end marker; the finish reason suffices
    "S22",  # the transport failed, so what was lost is not known
    "S23",  # a frame outside this specification is not guessed at
    "P01",  # calls in two choices are alternatives, and none is chosen
    "P02",  # one call without id or name refuses the batch
    "P03",  # calls were announced and none came
    "P04",  # a response without calls is an answer
    "P05",  # every call can be named
    "P06",  # two calls with one id cannot be told apart afterwards
    "P07",  # every id stands once
    "P08",  # a text that is not whole JSON is never completed or replaced
    "P09",  # every text parsed whole
    "P10",  # valid JSON that does not fit the tool's schema must not run
    "P11",  # every call fits its tool
    "P12",  # the reason goes back to the planner; the same call is not retried
    "P13",  # the batch is whole; running it is still the host's decision
)


@pytest.mark.parametrize("row", ROWS)
def test_row(row: str, wholecall_target: Target) -> None:
    """Streams in which this row decides come to what the tables say."""
    ask_row(row, wholecall_target)


def test_responses(wholecall_target: Target) -> None:
    """Whole responses, drawn at random."""
    ask_responses(wholecall_target, RESPONSES)


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.name)
def test_relation(relation: Relation, wholecall_target: Target) -> None:
    """Streams that say the same come to the same, whatever the tables say."""
    ask_relation(relation, wholecall_target, RELATED)
