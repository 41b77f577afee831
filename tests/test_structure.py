"""Do arguments have the shape that the tool's own schema asks for? Expected from JSON Schema 2020-12."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wholecall.errors import WholecallError
from wholecall.structure import Structure, Toolset, ToolsetError, check_object
from wholecall.syntax import read_syntax

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PLANTED = "sk-planted-7431"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def tool(name: object, parameters: object = None) -> dict[str, object]:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def found(schema: object, value: object) -> Structure:
    return Toolset.from_openai([tool("search", schema)]).check("search", value)


def failing(keyword: str | None, location: str | None) -> Structure:
    return Structure("structure.schema", keyword, location)


def refusal(*tools: Any) -> ToolsetError:
    with pytest.raises(ToolsetError) as caught:
        Toolset.from_openai(list(tools))
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    return caught.value


# -- the order of the questions ---------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "{}", [], [{}]])
def test_what_is_no_object_is_refused_before_anything_else(value: object) -> None:
    tools = Toolset.from_openai([tool("search", False)])

    assert check_object(value) == Structure("structure.not_object")
    assert tools.check("search", value) == Structure("structure.not_object")
    assert tools.check("unknown", value) == Structure("structure.not_object")


def test_an_unknown_tool_is_refused_whatever_the_object() -> None:
    tools = Toolset.from_openai([tool("search", False)])

    assert tools.check("Search", {}) == Structure("structure.unknown_tool")
    assert tools.check("", {"a": 1}) == Structure("structure.unknown_tool")
    assert Toolset.from_openai([]).check("search", {}) == Structure("structure.unknown_tool")


def test_without_a_toolset_any_object_will_do() -> None:
    assert check_object({}) == Structure(None)
    assert check_object({"a": [1]}) == Structure(None)


ABSENT = {"type": "function", "function": {"name": "now", "strict": True}}


@pytest.mark.parametrize("entry", [ABSENT, tool("now", None), tool("now", True), tool("now", {})])
def test_a_tool_without_parameters_accepts_any_object(entry: dict[str, object]) -> None:
    tools = Toolset.from_openai([entry])

    assert tools.check("now", {}) == Structure(None)
    assert tools.check("now", {"anything": [None]}) == Structure(None)


def test_parameters_false_accept_no_object() -> None:
    assert found(False, {}) == failing(None, "")


# -- schemas ----------------------------------------------------------------------------------------

PAGE = {"type": "object", "properties": {"page": {"type": "integer", "minimum": 1}}, "required": ["page"]}
CLOSED = {"type": "object", "properties": {}, "additionalProperties": False}
REFERRING = {"properties": {"page": {"$ref": "#/$defs/positive"}}, "$defs": {"positive": {"minimum": 1}}}
RECURSIVE = {"additionalProperties": {"$ref": "#"}, "items": {"$ref": "#"}, "type": ["object", "array"]}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (PAGE, {"page": 1}),
        (PAGE, {"page": 1.0}),  # a number without a fraction is an integer (§6.1.1)
        (PAGE, {"page": 2, "more": None}),
        (REFERRING, {"page": 1}),
        (RECURSIVE, {"a": {"b": {}}}),
        ({"properties": {"day": {"format": "date"}}}, {"day": "no date"}),  # an annotation (§7.2.1)
        ({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}, {}),
        ({"$schema": DRAFT_7, "properties": {"a": {"items": [{}, {"type": "null"}]}}}, {"a": [1, None]}),
        ({"const": {"$ref": "http://127.0.0.1:9/x"}}, {"$ref": "http://127.0.0.1:9/x"}),
        ({"properties": {"$ref": {"type": "string"}}}, {"$ref": "http://127.0.0.1:9/x"}),
        ({"$id": "https://a.example/x", "$ref": "y", "$defs": {"y": {"$id": "y"}}}, {}),
        ({"$ref": "#"}, {}),
    ],
)
def test_what_a_schema_allows_has_no_fault(schema: object, value: object) -> None:
    assert found(schema, value) == Structure(None)


@pytest.mark.parametrize(
    ("schema", "value", "keyword", "location"),
    [
        (PAGE, {}, "required", "/required"),
        (PAGE, {"page": "1"}, "type", "/properties/page/type"),
        (PAGE, {"page": True}, "type", "/properties/page/type"),
        (PAGE, {"page": 0}, "minimum", "/properties/page/minimum"),
        (CLOSED, {"a": 1}, "additionalProperties", "/additionalProperties"),
        (REFERRING, {"page": 0}, "minimum", "/$defs/positive/minimum"),
        (RECURSIVE, {"a": {"b": 1}}, "type", "/type"),
        ({"properties": {"a/b~": {"type": "null"}}}, {"a/b~": 0}, "type", "/properties/a~1b~0/type"),
        ({"allOf": [{}, {"required": ["a"]}]}, {}, "required", "/allOf/1/required"),
        ({"anyOf": [{"required": ["a"]}, False]}, {}, "anyOf", "/anyOf"),
        ({"patternProperties": {"^x": {"type": "null"}}}, {"xy": 1}, "type", "/patternProperties/^x/type"),
        ({"$schema": DRAFT_7, "dependencies": {"a": ["b"]}}, {"a": 1}, "required", "/dependencies"),
    ],
)
def test_a_failure_names_the_keyword_and_its_place_in_the_schema(
    schema: object, value: object, keyword: str, location: str
) -> None:
    assert found(schema, value) == failing(keyword, location)


@pytest.mark.parametrize(
    ("schema", "value", "keyword", "location"),
    [
        ({"additionalProperties": False}, {"a": 1}, "additionalProperties", "/additionalProperties"),
        ({"propertyNames": False}, {"a": 1}, "propertyNames", "/propertyNames"),
        ({"properties": {"items": False}}, {"items": 1}, "properties", "/properties/items"),
        ({"properties": {"a": {"items": False}}}, {"a": [1]}, "items", "/properties/a/items"),
        ({"allOf": [True, False]}, {}, "allOf", "/allOf/1"),
        (
            {"properties": {"a": {"$ref": "#/$defs/no"}}, "$defs": {"no": False}},
            {"a": 1},
            "$ref",
            "/$defs/no",
        ),
    ],
)
def test_where_false_refuses_the_keyword_that_applied_it_is_named(
    schema: object, value: object, keyword: str, location: str
) -> None:
    assert found(schema, value) == failing(keyword, location)


MANY = {
    "required": ["z", "a"],
    "minProperties": 19,
    "properties": {name: {"type": "null", "minLength": 9, "enum": [0]} for name in "qwertyuiop"},
    "patternProperties": {f"^{name}": {"type": "array"} for name in "qwertyuiop"},
    "dependentRequired": {name: ["k"] for name in "qwertyuiop"},
    "additionalProperties": {"type": "object"},
}
VALUE = dict.fromkeys("poiuytrewqm", "x")


def test_of_many_failures_the_same_one_is_reported_in_every_process() -> None:
    tools = [tool("search", MANY)]
    program = (
        "from wholecall.structure import Toolset\n"
        f"print(Toolset.from_openai({tools!r}).check('search', {VALUE!r}))"
    )
    prints = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }

    assert prints == {str(found(MANY, VALUE))}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"maximum": 2**64}, 2**64 + 1),
        ({"maximum": 10**30}, 10**30 + 1),
        ({"maximum": 1.5}, 2**70),
        ({"minimum": -1.5e300}, -(10**301)),
        ({"const": 2**64}, 2**64 + 1),
        ({"enum": [2**64]}, -(2**64)),
        ({"multipleOf": 3}, 10**30),
        ({"type": "string"}, 2**70),
        ({"type": "integer"}, 1e-7),
        ({"uniqueItems": True}, [2**70, 2**70]),
        ({"exclusiveMinimum": 0.0}, -0.0),
    ],
)
def test_numbers_beyond_64_bits_are_judged_exactly(schema: dict[str, object], value: object) -> None:
    (keyword,) = schema

    assert found({"properties": {"n": schema}}, {"n": value}) == failing(keyword, f"/properties/n/{keyword}")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"maximum": 2**64}, 2**64),
        ({"const": 10**300}, 10**300),
        ({"multipleOf": 3}, 3 * 10**30),
        ({"multipleOf": 0.01}, 19.99),
        ({"type": "integer"}, 1e30),
        ({"type": "integer"}, -(10**308)),
        ({"enum": [1]}, 1.0),
        ({"minimum": 0}, -0.0),
    ],
)
def test_numbers_beyond_64_bits_are_accepted_where_they_fit(schema: object, value: object) -> None:
    assert found({"properties": {"n": schema}}, {"n": value}) == Structure(None)


# -- depth: the validator recurses ------------------------------------------------------------------


def nested(levels: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def lists(levels: int) -> list[object]:
    value: list[object] = []
    for _ in range(levels - 1):
        value = [[], value]
    return value


def test_what_is_nested_too_deep_for_the_validator_is_refused_and_does_not_end_the_process() -> None:
    assert found(RECURSIVE, nested(1000)) == Structure(None)
    assert found(RECURSIVE, nested(1001)) == failing(None, None)
    assert found(RECURSIVE, nested(100_000)) == failing(None, None)
    assert found(RECURSIVE, {"a": 1, "b": nested(999)}) == failing("type", "/type")
    assert found(RECURSIVE, {"a": lists(999)}) == Structure(None)
    assert found(RECURSIVE, {"a": lists(1000)}) == failing(None, None)


def test_what_the_validator_gives_up_on_is_refused() -> None:
    assert found({"properties": {"a": {"enum": [1]}}}, {"a": nested(900)}) == failing(None, None)


# -- nothing of the arguments -----------------------------------------------------------------------

EVERY_KEYWORD = {
    "propertyNames": {"maxLength": 30},
    "patternProperties": {"^s": {"type": ["string", "array"]}, "^n": {"not": {"type": "null"}}},
    "properties": {"e": {"enum": [1]}, "o": {"oneOf": [{"minLength": 9}, {"minItems": 2}]}},
    "dependentRequired": {"d": ["e"]},
    "maxProperties": 3,
    "additionalProperties": {"items": {"pattern": "^x"}, "type": "array", "uniqueItems": True},
}
KEYS = st.sampled_from(["s", "n", "e", "o", "d", "x"]).map(lambda first: first + PLANTED) | st.sampled_from(
    "sneodx"
)
VALUES = st.sampled_from([PLANTED, None, 1, [PLANTED], [PLANTED] * 2, {PLANTED: PLANTED}])


@given(st.dictionaries(KEYS, VALUES, max_size=5))
@settings(max_examples=100, deadline=None)
def test_no_key_and_no_value_of_the_arguments_shows(value: dict[str, object]) -> None:
    judged = found(EVERY_KEYWORD, value)

    assert PLANTED not in repr(judged)
    assert found(EVERY_KEYWORD, value) == judged


def test_a_toolset_shows_names_only_and_does_not_change() -> None:
    tools = Toolset.from_openai([tool("search", {"description": PLANTED}), tool("save")])

    assert repr(tools) == "Toolset(names=('search', 'save'))"
    assert tools.names == ("search", "save")
    assert len(tools) == 2
    assert "search" in tools
    assert "find" not in tools
    with pytest.raises(AttributeError):
        tools.names = ()  # type: ignore[misc]
    with pytest.raises(TypeError):
        tools._validators["save"] = None  # type: ignore[index]


def test_a_schema_changed_by_the_host_afterwards_changes_nothing() -> None:
    schema = {"required": ["a"]}
    tools = Toolset.from_openai([tool("search", schema)])
    schema["required"].append("b")

    assert tools.check("search", {"a": 1}) == Structure(None)


# -- lists that calls cannot be held to -------------------------------------------------------------


@pytest.mark.parametrize("tools", [None, 7, "[]", b"[]", {"type": "function"}])
def test_a_toolset_needs_a_list(tools: Any) -> None:
    with pytest.raises(ToolsetError) as caught:
        Toolset.from_openai(tools)

    assert (caught.value.position, caught.value.name) == (None, None)
    assert str(caught.value).startswith("tools: a list of objects is needed, not ")


def test_any_iterable_of_entries_will_do() -> None:
    assert Toolset.from_openai(entry for entry in [tool("a"), tool("b")]).names == ("a", "b")


GOOD = tool("good")


@pytest.mark.parametrize(
    ("entry", "name", "what"),
    [
        ("search", None, "an entry must be an object, not a value of type str"),
        ({"function": {"name": "search"}}, None, 'its "type" must be "function"'),
        ({"type": "custom", "custom": {"name": "search"}}, None, 'its "type" must be "function"'),
        ({"type": "function", "name": "search"}, None, 'its "function" must be an object'),
        (tool(None), None, "must be a non-empty string"),
        (tool(""), None, "must be a non-empty string"),
        (tool(7), None, "must be a non-empty string"),
        (GOOD, "good", "its name is taken"),
        (tool("search", []), "search", "must be an object or a boolean, not a value of type list"),
        (tool("search", "{}"), "search", "must be an object or a boolean, not a value of type str"),
    ],
)
def test_an_entry_that_is_not_as_described_is_refused(entry: object, name: str | None, what: str) -> None:
    error = refusal(GOOD, entry)

    assert isinstance(error, WholecallError)
    assert (error.position, error.name) == (1, name)
    assert what in error.what
    assert str(error) == f"tools[1]{'' if name is None else f' {name!r}'}: {error.what}"


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"type": "strin"}, "#/type"),
        ({"properties": {"a": {"minLength": -1}}}, "#/properties/a/minLength"),
        ({"properties": {"a/b": {"pattern": "("}}}, "#/properties/a~1b/pattern"),
        ({"required": "page"}, "#/required"),
        ({"$schema": DRAFT_7, "items": 7}, "#/items"),
    ],
)
def test_an_invalid_schema_is_refused_with_its_place(schema: object, place: str) -> None:
    error = refusal(tool("search", schema))

    assert (error.position, error.name) == (0, "search")
    assert error.what == f"its parameters must be a valid JSON Schema, and are not at {place}"


@pytest.mark.parametrize("schema", [{"const": {1}}, {1: 2}, {"const": "\ud800"}, {"not": nested(300)}])
def test_a_schema_that_is_no_json_is_refused(schema: object) -> None:
    assert refusal(tool("search", schema)).what.startswith("its parameters must be JSON values")


@pytest.mark.parametrize(
    "draft",
    [
        "",
        "http://json-schema.org/draft-03/schema#",
        "https://json-schema.org/draft/2020-12/schema/x",
        "2020-12",
        7,
        None,
        ["a"],
    ],
)
def test_an_unknown_draft_is_refused(draft: object) -> None:
    error = refusal(tool("search", {"$schema": draft}))

    assert error.what == 'the "$schema" of its parameters must name draft 2020-12, 2019-09, 7, 6 or 4'


# -- nothing is fetched -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "https://a.example/x"},
        {"$ref": "file:///etc/hostname"},
        {"$ref": "other.json"},
        {"$ref": "#/$defs/missing"},
        {"$ref": "#missing"},
        {"$dynamicRef": "https://a.example/x"},
        {"$defs": {"unused": {"$ref": "https://a.example/x"}}},
        {"properties": {"a": {"items": {"$ref": "urn:a:b"}}}},
        {"$id": "file:///etc/", "$ref": "hostname"},
        {"$schema": DRAFT_7, "definitions": {"a": {"$ref": "https://a.example/x"}}},
    ],
)
def test_a_reference_that_leads_outside_is_refused(schema: object) -> None:
    error = refusal(tool("search", schema))

    assert error.what == 'each "$ref" in its parameters must resolve inside them: nothing is fetched'


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The address of a real server, then the paths asked of it."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    seen: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: object) -> None:
            """Keep the output of the tests clean."""

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        seen.append(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield seen
        server.shutdown()
        thread.join()


def test_no_server_is_asked(requests: list[str]) -> None:
    address = requests.pop()
    refusal(tool("search", {"$ref": f"{address}/by-us"}))

    # The validator itself would have asked: so the list above it is a proof.
    jsonschema_rs.validator_for({"$ref": f"{address}/by-default"})
    assert requests == ["/by-default"]


def test_no_file_is_opened(tmp_path: Path) -> None:
    schema = {"$ref": (tmp_path / "schema.json").as_uri()}
    missing = refusal(tool("search", schema))
    (tmp_path / "schema.json").write_text("{}")
    there = refusal(tool("search", schema))

    # The validator itself reads it now.
    assert jsonschema_rs.validator_for(schema).is_valid({})
    assert str(missing) == str(there)


# -- with the text ----------------------------------------------------------------------------------


def test_what_the_text_says_is_what_the_schema_judges() -> None:
    schema = {"properties": {"n": {"const": 12345678901234567890123}}}

    assert found(schema, read_syntax('{"n": 12345678901234567890123}').value) == Structure(None)
    assert found(schema, read_syntax('{"n": 12345678901234567890124}').value).keyword == "const"


def test_an_error_keeps_its_facts_when_it_is_rebuilt_from_them() -> None:
    error = refusal(tool("search", []))
    again = copy.copy(error)

    assert (again.position, again.name, again.what) == (error.position, error.name, error.what)
    assert str(again) == str(error)
