"""Prints the specification for implementers in other languages: one JSON file, and the schema that tells it.

Both follow the types of `wholecall_spec`: a field is a member, and what a docstring says of the field
describes it. Said here is only what JSON has in another form, and how the tables are run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Literal, get_args, get_origin, get_type_hints

from wholecall.press.prose import LEVELS, ROW_ORDER, SETTLED, TRAVELS, WRITTEN, members_of
from wholecall_spec.join import Column, Fact, Join, JoinRow
from wholecall_spec.spec import Fault, Spec
from wholecall_spec.table import Evidence, Input, Row, State, Table, evidence_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FORMAT = 1
"""The form of the JSON file; it counts up when a reader of the old form would go wrong."""

_MACHINES = (
    "A machine begins in `initial`. On an input, take the rows of its state and that input: exactly one "
    "has a `when` that holds. Judge `when` before anything changes; then do the effect, keep the fault "
    "and go to `next`. Nothing leaves a final state. After a machine moved, read the joins that look at "
    "it, when their `about` says so: the first row that holds gives its input to the machines in `to`. "
    "Whether any other input came, and whether a guard or a fact holds, is judged by what is said of it."
)

_RESPONSE = (
    "A frame is judged whole first: is it an upstream error, and then, is it a bad frame? Then come its "
    "choices in order; in a choice its fragments in order, each seen by stream, routing, identity, name "
    "and arguments; then its finish reason. What concerns the whole response goes to its choices in "
    "ascending order of their index. The first fault ends the response: later input changes nothing."
)

_KINDS: dict[str, type[DataclassInstance]] = {
    "machine": Table,
    "state": State,
    "input": Input,
    "row": Row,
    "join": Join,
    "column": Column,
    "fact": Fact,
    "join_row": JoinRow,
    "fault": Fault,
}

_ID = "Permanent and never reused; unique among the rows of all machines and joins."

_SAID = {
    "state.sees": "The inputs that can arrive here, written out; none in a final state. No other ever does.",
    "input.values": (
        "The wire texts of this class, where it is defined by listing them; a text that no input lists "
        "belongs to the input whose name ends in `_other`."
    ),
    "row.id": _ID,
    "row.when": (
        "A conjunction: it holds where each guard named here has the truth given here. A guard left out "
        f"does not matter, and an empty object always holds. {SETTLED}"
    ),
    "row.effect": "What is done: a name of `effects`; null means nothing.",
    "row.fault": (
        "Why it is refused: a name of `faults`, or `carried` for the fault that came with the input; "
        "null where nothing is refused."
    ),
    "row.evidence": LEVELS,
    "join.rows": f"The first row of which every cell holds decides. {TRAVELS}",
    "column.machine": "The machine's name.",
    "column.of": "`one`: at most one instance is looked at. `each`: all are, and there may be none.",
    "column.states": "Where an instance may rest when the join is read.",
    "join_row": "One row of a join: where every cell holds, it gives its input.",
    "join_row.id": _ID,
    "join_row.cells": "What must hold, all of it; a column or fact without a cell does not matter.",
    "join_row.gives": (
        "An input of the machines in `to`, or an outcome where `to` is `response`; `nothing` where they "
        "hear nothing yet."
    ),
    "join_row.why": members_of(Row)[1]["why"],
    "join_row.source": members_of(Row)[1]["source"],
    "join_row.evidence": LEVELS,
    "fault.name": "The fault's name.",
    "fault.kind": "Which recovery fits: a name of `kinds`.",
    "fault.about": "The fault in one sentence.",
}
"""What a docstring does not say of a member, or says of another form than JSON has."""

_QUANTIFIERS = {
    "is": "the one instance rests in one of the states, where `absent` is one that was not begun",
    "is_not": "the one instance rests in none of the states",
    "some": "at least one instance rests in one of the states",
    "all": "no instance rests outside the states, so it holds where there is no instance",
    "none": "there is no instance",
}


def wholecall_json(spec: Spec) -> str:
    """The text of `generated/wholecall.json`: everything, a row a line, in the order of the files."""
    whole = {
        "$schema": "wholecall.schema.json",
        "$comment": WRITTEN,
        "format": FORMAT,
        "machines": [_machine(table) for table in spec.tables],
        "joins": [_join(join) for join in spec.joins],
        "outcomes": _named(spec.outcomes),
        "kinds": _named(spec.kinds),
        "faults": [_members(fault) for fault in spec.faults],
    }
    return _lay(whole) + "\n"


def wholecall_schema_json() -> str:
    """The text of `generated/wholecall.schema.json`: JSON Schema draft 2020-12, strict, every member told."""
    spec = members_of(Spec)[1]
    lists = {
        "machines": ("machine", "Every machine, in the order in which they are read."),
        "joins": ("join", f"{spec['joins']} {members_of(Join)[0]}"),
        "outcomes": ("named", spec["outcomes"]),
        "kinds": ("named", spec["kinds"]),
        "faults": ("fault", f"{spec['faults']} {members_of(Fault)[0]}"),
    }
    properties: dict[str, dict[str, object]] = {
        "$schema": {"type": "string", "description": "The schema beside the file."},
        "$comment": {"type": "string", "description": "What wrote the file."},
        "format": {"const": FORMAT, "description": "Counts up when a reader of the old form would go wrong."},
    }
    for name, (kind, about) in lists.items():
        properties[name] = {**_array({"$ref": f"#/$defs/{kind}"}), "description": about}
    root = _object(f"{members_of(Spec)[0]} {_MACHINES} {_RESPONSE}", properties)
    defs = {name: _definition(name, cls) for name, cls in _KINDS.items()} | _forms()
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": WRITTEN,
        "title": "Wholecall",
        **root,
        "$defs": defs,
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _members(value: DataclassInstance) -> dict[str, object]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _named(pairs: Iterable[tuple[str, str]]) -> list[dict[str, object]]:
    return [{"name": name, "about": about} for name, about in pairs]


def _machine(table: Table) -> dict[str, object]:
    return _members(table) | {
        "states": [_members(state) | {"sees": table.sees(state.name)} for state in table.states],
        "inputs": [_members(input) for input in table.inputs],
        "guards": _named(table.guards),
        "effects": _named(table.effects),
        "rows": [_row(row) for row in table.rows],
    }


def _row(row: Row) -> dict[str, object]:
    members = _members(row) | {
        "when": row.guards,
        "effect": row.effect or None,
        "fault": row.fault or None,
        "evidence": row.evidence,
    }
    return {name: members[name] for name in ROW_ORDER}


def _join(join: Join) -> dict[str, object]:
    of = {column.machine: column.of for column in join.reads}
    rows = [
        _members(row)
        | {
            "cells": [_cell(name, of.get(name), text) for name, text in row.cells],
            "evidence": evidence_of(row.source),
        }
        for row in join.rows
    ]
    return _members(join) | {
        "reads": [_members(column) for column in join.reads],
        "facts": [_members(fact) for fact in join.facts],
        "rows": rows,
    }


def _cell(name: str, of: str | None, text: str) -> dict[str, object]:
    if of is None:
        return {"fact": name, "holds": text == "yes"}
    if of == "each":
        quantifier, *states = text.split()
    else:
        quantifier, states = "is_not" if text.startswith("!") else "is", text.removeprefix("!").split()
    return {"column": name, "quantifier": quantifier, "states": states}


def _lay(value: object, indent: str = "") -> str:
    """JSON in which whatever holds rows opens up, and all else stands on one line."""
    deeper = f"{indent}  "
    if isinstance(value, dict) and (not indent or "rows" in value):
        lines = [f"{json.dumps(name)}: {_lay(item, deeper)}" for name, item in value.items()]
        return "{\n" + ",\n".join(deeper + line for line in lines) + f"\n{indent}}}"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(deeper + _lay(item, deeper) for item in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)


def _definition(name: str, cls: type[DataclassInstance]) -> dict[str, object]:
    about, told = members_of(cls)
    hints = {**get_type_hints(cls)}
    if cls in (Row, JoinRow):
        hints["evidence"] = Evidence
    order = ROW_ORDER if cls is Row else tuple(hints)
    properties = {
        member: {
            **_form(name, member, hints[member]),
            "description": _SAID.get(f"{name}.{member}") or told[member],
        }
        for member in order
    }
    return _object(_SAID.get(name, about), properties)


def _form(name: str, member: str, hint: object) -> dict[str, object]:
    """What JSON has for a field: what its type says, or another form where JSON has a better one."""
    other: dict[str, dict[str, object]] = {
        "row.when": {"type": "object", "additionalProperties": {"type": "boolean"}},
        "row.effect": {"type": ["string", "null"], "minLength": 1},
        "row.fault": {"type": ["string", "null"], "minLength": 1},
        "join_row.cells": _array({"oneOf": [{"$ref": "#/$defs/cell"}, {"$ref": "#/$defs/fact_cell"}]}),
    }
    return other.get(f"{name}.{member}") or _type(hint)


def _type(hint: object) -> dict[str, object]:
    arguments = get_args(hint)
    if get_origin(hint) is Literal:
        return {"enum": list(arguments)}
    if hint == tuple[str, str]:
        return {"$ref": "#/$defs/named"}
    if get_origin(hint) is tuple:
        return _array(_type(arguments[0]))
    if hint is bool:
        return {"type": "boolean"}
    if hint is str:
        return {"type": "string", "minLength": 1}
    kind = next(kind for kind, cls in _KINDS.items() if cls is hint)
    return {"$ref": f"#/$defs/{kind}"}


def _array(items: dict[str, object]) -> dict[str, object]:
    return {"type": "array", "uniqueItems": True, "items": items}


def _object(about: str, properties: Mapping[str, object]) -> dict[str, object]:
    return {
        "description": about,
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def _forms() -> dict[str, object]:
    """What has no type of its own in the specification: names with a meaning, and the cells of joins."""
    text = {"type": "string", "minLength": 1}
    meanings = " ".join(f"`{name}`: {about}." for name, about in _QUANTIFIERS.items())
    return {
        "named": _object(
            "A name and its meaning.",
            {"name": {**text, "description": "The name."}, "about": {**text, "description": "Its meaning."}},
        ),
        "cell": _object(
            "What a row of a join asks of the machine of one column.",
            {
                "column": {**text, "description": "A machine of `reads`."},
                "quantifier": {"enum": list(_QUANTIFIERS), "description": meanings},
                "states": {**_array(text), "description": "The states; empty with the quantifier `none`."},
            },
        ),
        "fact_cell": _object(
            "What a row of a join asks of a fact.",
            {
                "fact": {**text, "description": "A fact of `facts`."},
                "holds": {"type": "boolean", "description": "The truth that the fact must have."},
            },
        ),
    }
