"""The JSON Schemas for editors agree with the loader about the form of the tables.

What the words of a table mean together is beyond a schema; of its form, both refuse the same mistakes.
"""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from wholecall_spec.join import Column, Fact, Join, JoinRow
from wholecall_spec.load import FAULTS, FILES, JOINS, load, packaged, read_faults, read_joins, read_table
from wholecall_spec.page import Page
from wholecall_spec.table import MACHINES, ROW_COLUMNS, ROW_MANDATORY, Input, State

TABLES = Path(str(packaged()))
SCHEMAS = {
    kind: json.loads((TABLES.parent / "schemas" / f"{kind}.schema.json").read_text(encoding="utf-8"))
    for kind in ("table", "joins", "faults")
}
VALIDATORS = {kind: Draft202012Validator(schema) for kind, schema in SCHEMAS.items()}
READ = {table.machine: table for table in load().tables}

KIND = {JOINS: "joins", FAULTS: "faults"}


def properties(kind: str, *path: str) -> dict[str, Any]:
    found = SCHEMAS[kind]
    for step in path:
        found = found[step]
    return dict(found["properties"])


@pytest.mark.parametrize("kind", SCHEMAS)
def test_a_schema_is_itself_valid(kind: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[kind])


@pytest.mark.parametrize("name", FILES)
def test_a_real_file_names_its_schema_and_fits_it(name: str) -> None:
    text = (TABLES / name).read_text(encoding="utf-8")
    directive, _, path = text.split("\n")[0].partition(" ")

    assert directive == "#:schema"
    assert (TABLES / path).resolve().name == f"{KIND.get(name, 'table')}.schema.json"
    assert (TABLES / path).exists()
    assert list(VALIDATORS[KIND.get(name, "table")].iter_errors(tomllib.loads(text))) == []


def nodes(schema: object) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from nodes(part)


@pytest.mark.parametrize("kind", SCHEMAS)
def test_an_editor_can_explain_every_column_and_underline_every_unknown_key(kind: str) -> None:
    closed = [node for node in nodes(SCHEMAS[kind]) if node.get("type") == "object"]

    assert all("additionalProperties" in node for node in closed)
    for node in closed:
        for name, own in node.get("properties", {}).items():
            reference = own.get("$ref", "").removeprefix("#/$defs/")
            about = own if "description" in own else SCHEMAS[kind]["$defs"].get(reference, {})
            assert "description" in about, name


def test_the_columns_of_a_row_are_the_fields_of_a_row() -> None:
    row = SCHEMAS["table"]["$defs"]["row"]

    assert set(row["properties"]) == set(ROW_COLUMNS)
    assert tuple(row["required"]) == ROW_MANDATORY


@pytest.mark.parametrize(
    ("kind", "path", "type_"),
    [
        ("table", ("$defs", "state", "anyOf", "1"), State),
        ("table", ("$defs", "final", "anyOf", "1"), State),
        ("table", ("$defs", "input", "anyOf", "1"), Input),
        ("joins", ("$defs", "join"), Join),
        ("joins", ("$defs", "column"), Column),
        ("joins", ("$defs", "fact"), Fact),
        ("joins", ("$defs", "row"), JoinRow),
    ],
)
def test_the_keys_of_an_entry_are_fields_of_its_type(kind: str, path: tuple[str, ...], type_: type) -> None:
    found: Any = SCHEMAS[kind]
    for step in path:
        found = found[int(step) if step.isdigit() else step]

    assert set(found["properties"]) <= {field.name for field in fields(type_)}
    assert set(found["required"]) <= set(found["properties"])


def test_the_machines_are_those_of_the_loader() -> None:
    defs = SCHEMAS["joins"]["$defs"]

    assert tuple(properties("table")["machine"]["enum"]) == MACHINES
    assert tuple(defs["column"]["properties"]["machine"]["enum"]) == MACHINES
    assert tuple(defs["join"]["properties"]["to"]["items"]["enum"]) == (*MACHINES, "response")


WHOLE: dict[str, dict[str, Any]] = {
    "name.toml": {
        "machine": "name",
        "scope": "s",
        "about": "a",
        "initial": "a",
        "states": {"a": {"about": "t", "sees": ["x"]}, "b": "t"},
        "finals": {"z": {"about": "t", "good": True}},
        "inputs": {"x": {"about": "t", "values": ["v"], "carries": ["f"]}, "y": "t"},
        "guards": {"g": "t"},
        "effects": {"e": {"about": "t"}},
        "transitions": {"rows": [dict.fromkeys(ROW_COLUMNS, "t")]},
    },
    JOINS: {
        "outcomes": {"whole": "t"},
        "tried": {
            "about": "t",
            "to": ["turn"],
            "reads": [
                {"machine": "stream", "of": "each", "states": ["open"]},
                {"machine": "proposal", "of": "one", "states": "any"},
            ],
            "facts": [{"name": "f", "about": "t", "values": ["v"]}],
            "rows": [{"id": "J", "stream": "some open", "f": "yes", "gives": "g", "why": "w", "source": "s"}],
        },
    },
    FAULTS: {"kinds": {"stop": "t"}, "faults": {"a.b": {"kind": "stop", "about": "t"}}},
}

WRONG: tuple[Any, ...] = (5, True, "", "two\nlines", [], {}, ["t"], [5])


def spoiled(value: Any) -> Iterator[Any]:
    """The value with one thing of it missing, renamed, added or of another type, in every way."""
    if isinstance(value, dict):
        yield {**value, "extra": "t"}
        for key in value:
            yield {other: kept for other, kept in value.items() if other != key}
            for name in (f"{key}x", "No-Name"):
                yield {name if other == key else other: kept for other, kept in value.items()}
            for new in (*spoiled(value[key]), *WRONG):
                yield {**value, key: new}
    if isinstance(value, list):
        yield [*value, 5]
        for new in spoiled(value[0]):
            yield [new, *value[1:]]


def inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {inline(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value)


def lines_of(key: str, value: Any) -> str:
    """One key of a section; rows stand one a line."""
    rows = isinstance(value, list) and any(isinstance(item, dict) for item in value)
    end = "[\n" + "".join(f"{inline(item)},\n" for item in value) + "]" if rows else inline(value)
    return f"{json.dumps(key)} = {end}\n"


def text_of(data: dict[str, Any]) -> str:
    keys = (lines_of(key, value) for key, value in data.items() if not isinstance(value, dict))
    sections = (
        f"[{key}]\n" + "".join(lines_of(*entry) for entry in value.items())
        for key, value in data.items()
        if isinstance(value, dict)
    )
    return "".join((*keys, *sections))


MEANING = ("unknown kind", "a row must begin its own line")
"""What the reader says of a file whose form is right."""


def loader_refuses(name: str, data: dict[str, Any]) -> bool:
    page = Page(name, text_of(data))
    assert page.data == data, "the text says what was meant"
    if name == JOINS:
        read_joins(page, READ)
    elif name == FAULTS:
        read_faults(page)
    else:
        read_table(page, "name")
    return any(not problem.what.startswith(MEANING) for problem in page.problems)


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_file_is_taken_by_both(name: str) -> None:
    assert not loader_refuses(name, WHOLE[name])
    assert VALIDATORS[KIND.get(name, "table")].is_valid(WHOLE[name])


@pytest.mark.parametrize("name", WHOLE)
def test_each_mistake_of_form_is_refused_by_both_or_by_neither(name: str) -> None:
    validator = VALIDATORS[KIND.get(name, "table")]
    tried = [copy.deepcopy(data) for data in spoiled(WHOLE[name]) if data and data != WHOLE[name]]

    verdicts = [(validator.is_valid(data), not loader_refuses(name, data)) for data in tried]

    differing = [data for data, (schema, loader) in zip(tried, verdicts, strict=True) if schema != loader]
    assert differing == []
    assert verdicts.count((False, False)) > 20
    assert (True, True) in verdicts
