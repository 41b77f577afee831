"""What a diagnostic says (design §4), which of it where, and how a stored one is read back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from frames import FINISH, Fields, frame

from wholecall import Assembler, Diagnostic, DigestKeyError, Limits, Response, WholecallError
from wholecall.diagnose import UNCLASSIFIED, Origin, upstream_facts
from wholecall_spec.load import load

SPEC = load()
PAGE: Fields = {"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]}
TOOLS = [{"type": "function", "function": {"name": "read_page", "parameters": PAGE}}]


def call(index: int = 3, id: object = "a", name: object = "read_page", arguments: object = "{}") -> Fields:
    return {"index": index, "id": id, "function": {"name": name, "arguments": arguments}}


def respond(*frames: object, tools: Any = TOOLS, **options: Any) -> Response:
    assembler = Assembler(tools=tools, **options)
    for each in frames:
        assembler.feed(each)
    return assembler.close()


ORIGIN = ("attempt", "profile", "tables", "correlation_id")
DIGESTS = ("id_digest", "text_digest")

# -- which facts, and where ------------------------------------------------------------------------

CALL: Fields = {"choice": 0, "index": 3}
STOP: Fields = {"finish": "finish_normal"}

SAID: dict[str, tuple[list[object], str, Fields]] = {
    "no index": (
        [frame({"id": "a"})],
        "index.missing R03 routing none missing",
        {"choice": 0, "fragment": 1},
    ),
    "an index that is text, in another choice": (
        [frame(call()), frame({"index": "3"}, at=1)],
        "index.type R04 routing none other",
        {"choice": 1, "fragment": 2, "json_type": "string"},
    ),
    "null first": (
        [frame(call(id=None))],
        "identity.null_first I02 identity unknown null",
        CALL | {"fragment": 1, "had_id": False, "length": 0},
    ),
    "a number after an id": (
        [frame(call(arguments='{"page"')), frame(call(id=7))],
        "identity.type I18 identity established other",
        CALL | {"fragment": 2, "had_id": True, "length": 7, "json_type": "number", "tool": "read_page"},
    ),
    "a name that is an array": (
        [frame(call(name=[]))],
        "name.type N06 name unnamed other",
        CALL | {"fragment": 1, "had_id": True, "length": 0, "json_type": "array"},
    ),
    "arguments that are an object": (
        [frame(call(arguments={}))],
        "arguments.type A06 arguments absent other",
        CALL | {"fragment": 1, "had_id": True, "length": 0, "json_type": "object", "tool": "read_page"},
    ),
    "a fragment after the end": (
        [frame(call()), FINISH, frame(call())],
        "stream.after_finish S13 stream finished fragment",
        CALL | STOP | {"fragment": 2, "had_id": True, "length": 2, "tool": "read_page"},
    ),
    "a length": (
        [frame(call(), finish="length")],
        "stream.cut_short S05 stream open finish_length",
        {"choice": 0},
    ),
    "a length after the end": (
        [FINISH, frame(finish="length")],
        "stream.conflicting_finish S16 stream finished finish_length",
        STOP | {"choice": 0},
    ),
    "an error": (
        [frame(call()), {"error": {"status": 503, "type": "overloaded", "message": "later"}}],
        "upstream.error S08 stream open error",
        {"choice": 0, "upstream_status": 503, "upstream_code": "overloaded"},
    ),
    "no calls": (
        [FINISH],
        "proposal.no_calls P03 proposal gathered no_calls_announced",
        {},
    ),
    "no id at the end": (
        [frame(call(id="")), FINISH],
        "identity.missing I12 identity blank end",
        CALL | STOP | {"had_id": False, "length": 2, "tool": "read_page"},
    ),
    "one id twice": (
        [frame(call(), call(4)), FINISH],
        "proposal.duplicate_id P06 proposal filled duplicate_id",
        CALL | STOP | {"had_id": True, "length": 2, "tool": "read_page"},
    ),
    "cut arguments": (
        [frame(call(arguments='{"page":["1')), FINISH],
        "syntax.incomplete P08 proposal distinct bad_syntax",
        CALL
        | STOP
        | {"had_id": True, "length": 11, "tool": "read_page"}
        | {"parsed": False, "offset": 11, "depth": 2, "in_string": True},
    ),
    "a key twice, which is wrong in no single place": (
        [frame(call(arguments='{"page":1,"page":2}')), FINISH],
        "syntax.duplicate_key P08 proposal distinct bad_syntax",
        CALL | STOP | {"had_id": True, "length": 19, "tool": "read_page", "parsed": False},
    ),
    "an unknown tool": (
        [frame(call(name="other")), FINISH],
        "structure.unknown_tool P10 proposal parsed bad_structure",
        CALL | STOP | {"had_id": True, "length": 2, "parsed": True},
    ),
    "a wrong type": (
        [frame(call(arguments='{"page":"1"}')), FINISH],
        "structure.schema P10 proposal parsed bad_structure",
        CALL
        | STOP
        | {"had_id": True, "length": 12, "tool": "read_page", "parsed": True}
        | {"schema_keyword": "type", "schema_location": "/properties/page/type"},
    ),
}


def first(frames: list[object]) -> Diagnostic:
    return respond(*frames).faults[0]


@pytest.mark.parametrize(("frames", "relation", "facts"), SAID.values(), ids=SAID)
def test_a_diagnostic_says_what_applies_and_nothing_else(
    frames: list[object], relation: str, facts: Fields
) -> None:
    record = first(frames).to_record()
    said = {name: value for name, value in record.items() if value is not None and value != []}
    names = ("fault", "row", "machine", "state", "input")

    assert [said.pop(name) for name in names] == relation.split()
    assert said.keys() >= set(ORIGIN)
    digests = {name for name in DIGESTS if name in said}
    assert digests == ({"text_digest"} if "had_id" in facts else set()) | (
        {"id_digest"} if facts.get("had_id") else set()
    )
    assert {name: value for name, value in said.items() if name not in (*ORIGIN, *DIGESTS)} == facts


@pytest.mark.parametrize("id", [b"a", ("a",), object()], ids=lambda value: type(value).__name__)
def test_a_value_that_no_json_has_is_of_another_class_and_of_no_json_type(id: object) -> None:
    """Only an object built by hand can hold one."""
    (found,) = respond(frame(call(id=id))).faults

    assert (found.fault, found.row, found.input, found.json_type) == ("identity.type", "I05", "other", None)


def test_a_tool_is_named_only_where_the_hosts_own_toolset_has_it() -> None:
    def tool(name: str, tools: object) -> str | None:
        (found,) = respond(frame(call(name=name)), FINISH, tools=tools).faults
        return found.tool

    assert tool("read_page", TOOLS) == "read_page"
    assert tool("read_pages", TOOLS) is None
    cut = respond(frame(call(arguments="{")), FINISH, tools=None)
    assert (cut.fault, cut.faults[0].tool) == ("syntax.incomplete", None)


def test_every_diagnostic_says_where_it_comes_from() -> None:
    response = respond(frame(call(), call(4)), FINISH, attempt=2, correlation_id="job-7")
    seen = {(found.attempt, found.profile, found.tables, found.correlation_id) for found in response.faults}

    assert len(response.faults) == 2
    assert seen == {(2, "core", SPEC.digest, "job-7")}


def test_a_correlation_id_is_minted_where_none_is_given_and_never_twice() -> None:
    ids = {respond("{").faults[0].correlation_id for _ in range(20)}

    assert len(ids) == 20
    assert all(isinstance(id, str) and len(id) == 16 for id in ids)


def test_why_is_the_sentence_of_the_row_of_the_fault_or_that_facts_are_missing() -> None:
    (found,) = respond(frame(call(id=None))).faults

    assert found.why == "null can keep an identity but not create one"
    assert Diagnostic(fault="identity.type").why == SPEC.fault("identity.type").about
    assert Diagnostic(fault=UNCLASSIFIED, row="I02").why == "the record lacks the facts to tell"


# -- what upstream states --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "status", "code", "reason"),
    [
        ("overloaded", None, None, "overloaded"),
        ({"message": "m"}, None, None, "m"),
        ({"code": 429, "message": "m"}, 429, None, "m"),
        ({"status": 500, "code": 429}, 500, None, None),
        ({"status_code": 400, "code": "bad_request", "type": "invalid"}, 400, "bad_request", None),
        ({"code": None, "type": "server_error"}, None, "server_error", None),
        ({"code": "two words", "type": "plain"}, None, "plain", None),
        ({"code": "x" * 65}, None, None, None),
        ({"code": 1301}, None, "1301", None),
        ({"code": -32000}, None, "-32000", None),
        ({"code": 10**5000, "status": True}, None, None, None),
        ({"status": "429", "code": 99.0, "message": ["m"]}, None, None, None),
        (["overloaded"], None, None, None),
        (7, None, None, None),
        ({}, None, None, None),
    ],
)
def test_status_and_code_are_kept_where_they_are_plain_and_the_message_as_reason(
    error: object, status: int | None, code: str | None, reason: str | None
) -> None:
    facts = upstream_facts(error)

    assert (facts.get("upstream_status"), facts.get("upstream_code"), facts["reason"]) == (
        status,
        code,
        reason,
    )


def test_a_reason_is_bounded_and_stands_in_no_record_repr_or_comparison() -> None:
    (found,) = respond({"error": {"message": "sorry " * 1000}}).faults
    (other,) = respond({"error": {"message": "no"}}, correlation_id=found.correlation_id).faults

    assert (found.reason, other.reason) == (("sorry " * 1000)[:2000], "no")
    assert "sorry" not in repr(found) + json.dumps(found.to_record())
    assert found == other


# -- digests ---------------------------------------------------------------------------------------


def origin(key: bytes | None) -> Origin:
    return Origin.of("core", "0", 1, None, key)


def test_a_digest_is_equal_for_equal_text_under_one_key_and_for_nothing_else() -> None:
    one, same, other, ours = (origin(key) for key in (b"k", b"k", b"l", None))
    texts = ["", "a", "b", "\ud83d", "\U0001f600", "a" * 10_000]
    digests = [each.digest(text) for each in (one, other, ours) for text in texts]

    assert [one.digest(text) for text in texts] == [same.digest(text) for text in texts]
    assert ours.digest("a") == origin(None).digest("a")
    assert len(set(digests)) == len(digests)
    assert {len(digest or "") for digest in digests} == {16}
    assert one.digest(None) is None


def test_a_host_can_tell_equal_ids_and_texts_of_two_responses_by_its_key() -> None:
    def seen(id: str, key: bytes) -> tuple[str | None, str | None]:
        (found,) = respond(frame(call(id=id, arguments="{")), FINISH, digest_key=key).faults
        return found.id_digest, found.text_digest

    assert seen("a", b"k") == seen("a", b"k")
    assert seen("a", b"k")[0] != seen("b", b"k")[0]
    assert seen("a", b"k")[1] == seen("b", b"k")[1]
    assert not set(seen("a", b"k")) & set(seen("a", b"l"))


@pytest.mark.parametrize("key", [b"", b"x" * 65, "key", 7], ids=repr)
def test_a_key_that_is_no_key_is_refused_at_once_and_never_shown(key: Any) -> None:
    """Under an empty key a digest could be made by anyone."""
    with pytest.raises(DigestKeyError) as caught:
        Assembler(digest_key=key)
    assert isinstance(caught.value, (WholecallError, ValueError))
    assert str(caught.value) == "a digest key is 1 to 64 bytes"
    assert Assembler(digest_key=b"x" * 64, limits=Limits()).close().faults[0].fault == "stream.no_finish"
