"""The schema of the JSON is strict, tells every member, and accepts nothing that a reader could not run."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from wholecall.press.interchange import FORMAT, wholecall_json, wholecall_schema_json
from wholecall_spec.load import load

Json = dict[str, Any]

WHOLE: Json = json.loads(wholecall_json(load()))
SCHEMA: Json = json.loads(wholecall_schema_json())


def objects_of(schema: object) -> Iterator[Json]:
    """Every schema of an object within a schema."""
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        schema = list(schema.values())
    for item in schema if isinstance(schema, list) else ():
        yield from objects_of(item)


def test_the_json_fits_its_schema() -> None:
    """And the schema is one, of draft 2020-12."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(WHOLE)

    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert (WHOLE["$schema"], WHOLE["format"]) == ("wholecall.schema.json", FORMAT)


def test_every_object_is_strict_and_every_member_is_described() -> None:
    """A reader in another language has the descriptions, and no more."""
    found = list(objects_of(SCHEMA))

    assert len(SCHEMA["$defs"]) + 1 == len(found)
    for schema in found:
        assert schema["additionalProperties"] is False
        assert list(schema["properties"]) == schema["required"]
        assert schema["description"].endswith(".")
        for name, member in schema["properties"].items():
            assert member["description"].endswith("."), name


SMALL = {
    **WHOLE,
    "machines": [WHOLE["machines"][0] | {"rows": WHOLE["machines"][0]["rows"][:1]}],
    "joins": [WHOLE["joins"][2] | {"rows": WHOLE["joins"][2]["rows"][:2]}],
}
"""One of each, so that it is judged quickly."""

PLACES: dict[str, tuple[str | int, ...]] = {
    "root": (),
    "machine": ("machines", 0),
    "state": ("machines", 0, "states", 0),
    "input": ("machines", 0, "inputs", 0),
    "guard": ("machines", 0, "guards", 0),
    "row": ("machines", 0, "rows", 0),
    "join": ("joins", 0),
    "column": ("joins", 0, "reads", 0),
    "fact": ("joins", 0, "facts", 0),
    "join_row": ("joins", 0, "rows", 0),
    "fact_cell": ("joins", 0, "rows", 0, "cells", 0),
    "cell": ("joins", 0, "rows", 1, "cells", 0),
    "outcome": ("outcomes", 0),
    "kind": ("kinds", 0),
    "fault": ("faults", 0),
}


def spoiled(place: str) -> Iterator[tuple[str, Json]]:
    """The small JSON, each time with one thing wrong at this place."""

    def whole_and_part() -> tuple[Json, Json]:
        whole = copy.deepcopy(SMALL)
        part: Any = whole
        for step in PLACES[place]:
            part = part[step]
        return whole, part

    whole, part = whole_and_part()
    part["unknown"] = "x"
    yield "one too many", whole
    for member in whole_and_part()[1]:
        whole, part = whole_and_part()
        part[member] = 7
        yield f"another {member}", whole
        whole, part = whole_and_part()
        del part[member]
        yield f"no {member}", whole


@pytest.mark.parametrize("place", PLACES)
def test_the_schema_refuses_what_is_missing_of_another_type_or_too_much(place: str) -> None:
    """No member may be left out, added, or filled with what it is not."""
    validator = jsonschema.Draft202012Validator(SCHEMA)
    validator.validate(SMALL)

    accepted = [name for name, whole in spoiled(place) if validator.is_valid(whole)]

    assert accepted == []
