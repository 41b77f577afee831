"""Do the arguments have the shape that the tool's own JSON Schema asks for?

The schemas are those of the `tools=[...]` list that the host sends to the model: what the model was
told is what its calls are held to. They are checked and compiled once, and nothing is fetched.

The validator's messages quote keys and values of the arguments. None is used: a finding names only
the keyword that failed, and where it stands in the host's own schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from jsonschema_rs import ValidationError, ValidationErrorKind, Validator, validator_for

from wholecall.errors import WholecallError

if TYPE_CHECKING:
    from wholecall.turn.tools import Tool

__all__ = ["Structure", "ToolLookupError", "Toolset", "ToolsetError", "check_object"]


class ToolsetError(WholecallError):
    """A `tools=[...]` list that calls cannot be held to, or a tool that cannot stand in one.

    Attributes:
        position: Which entry, from 0; None where it is the list itself, or a tool in no list.
        name: The tool's name, where it has one.
        what: What is wrong with it, and what is allowed.
    """

    def __init__(self, position: int | None, name: str | None, what: str) -> None:
        super().__init__(position, name, what)
        self.position = position
        self.name = name
        self.what = what

    def __str__(self) -> str:
        entry = "tools" if self.position is None else f"tools[{self.position}]"
        if self.name is None:
            return f"{entry}: {self.what}"
        return f"{'tool' if self.position is None else entry} {self.name!r}: {self.what}"


class ToolLookupError(ToolsetError, LookupError):
    """A toolset was asked for a tool that it does not have, or that cannot run.

    The name asked for may be a model's own, so it is kept only where it is one of the toolset's.
    """


@dataclass(frozen=True, slots=True)
class Structure:
    """What was found of one call's arguments.

    Attributes:
        fault: `structure.not_object`, `structure.unknown_tool` or `structure.schema`, judged in
            this order; None where the arguments have the shape asked for.
        keyword: The schema keyword that failed, such as `required`. Where a schema `false` refused,
            the keyword that applied it. None where no keyword did: `parameters` is `false`, or the
            value is beyond what a validator can judge.
        location: JSON Pointer to it in the tool's `parameters`, such as `/properties/page/type`;
            inside a schema with its own `$id`, in that schema. Never a key or value of the
            arguments.
    """

    fault: str | None
    keyword: str | None = None
    location: str | None = None


def check_object(value: object) -> Structure:
    """Hold a value to what every call must have: it is a JSON object.

    Args:
        value: A parsed JSON value.
    """
    return Structure(None if isinstance(value, dict) else "structure.not_object")


@dataclass(frozen=True, slots=True, eq=False)
class Toolset:
    """The tools that the model was told of, and the schema of each; immutable.

    Attributes:
        names: The tools' names, in the order of the list.
    """

    names: tuple[str, ...]
    _validators: Mapping[str, Validator] = field(repr=False)
    _entries: tuple[dict[str, object], ...] = field(repr=False)
    _tools: Mapping[str, Tool] = field(repr=False)

    @classmethod
    def of(cls, tools: Iterable[Tool]) -> Toolset:
        """Compile the schemas of tools that can run.

        Args:
            tools: The tools, each with a name of its own.

        Raises:
            ToolsetError: This is no list of tools, two have one name, or a schema cannot be used.
        """
        if isinstance(tools, (str, bytes, Mapping)) or not isinstance(tools, Iterable):
            raise ToolsetError(None, None, f"a list of tools is needed, {_type(tools)}")
        given = list(tools)
        for position, tool in enumerate(given):
            if not hasattr(tool, "to_openai"):
                raise ToolsetError(position, None, f"an entry must be a Tool, {_type(tool)}")
        declared = cls.from_openai(tool.to_openai() for tool in given)
        runnable = MappingProxyType(dict(zip(declared.names, given, strict=True)))
        return cls(declared.names, declared._validators, declared._entries, runnable)

    @classmethod
    def from_openai(cls, tools: Iterable[Mapping[str, object]]) -> Toolset:
        """Compile the list that the host sends to the model. Its tools cannot run (`of` makes such).

        Args:
            tools: Entries `{"type": "function", "function": {"name": ..., "parameters": ...}}`,
                other members ignored. `parameters` is a JSON Schema, of draft 2020-12 unless its
                `$schema` names draft 4, 6, 7 or 2019-09; absent or null, it accepts any object.

        Raises:
            ToolsetError: The list, an entry, a name or a schema is not as described, or a schema
                refers to something outside itself.
        """
        if isinstance(tools, (str, bytes, Mapping)) or not isinstance(tools, Iterable):
            raise ToolsetError(None, None, f"a list of objects is needed, {_type(tools)}")
        validators: dict[str, Validator] = {}
        entries: list[dict[str, object]] = []
        for position, entry in enumerate(tools):
            name, parameters = _declaration(position, entry)
            if name in validators:
                raise ToolsetError(position, name, "its name is taken; each tool needs its own")
            compiled = _compile(parameters)
            if isinstance(compiled, str):
                raise ToolsetError(position, name, compiled)
            validators[name] = compiled
            entries.append(_copy(entry))
        return cls(tuple(validators), MappingProxyType(validators), tuple(entries), MappingProxyType({}))

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __len__(self) -> int:
        return len(self.names)

    def to_openai(self) -> list[dict[str, object]]:
        """The list that the host sends to the model: a new one each time, the same in content."""
        return [_copy(entry) for entry in self._entries]

    def tool(self, name: str) -> Tool:
        """The tool of this name, which can run.

        Raises:
            ToolLookupError: There is none, or it was only declared (`from_openai`).
        """
        if name in self._tools:
            return self._tools[name]
        if name in self.names:
            raise ToolLookupError(None, name, "it was declared only; a toolset that runs is made of Tools")
        raise ToolLookupError(None, None, "no tool of this toolset has the name asked for")

    def check(self, name: str, value: object) -> Structure:
        """Hold the arguments of one call to the schema of its tool.

        Args:
            name: The name that the call gives.
            value: The parsed arguments, of a text that is whole (`read_syntax`).

        Returns:
            What was found: the same for the same schema and value.
        """
        found = check_object(value)
        if found.fault is not None:
            return found
        if name not in self._validators:
            return Structure("structure.unknown_tool")
        return _judge(self._validators[name], value)


# -- the list --------------------------------------------------------------------------------------


def _type(value: object) -> str:
    return f"not a value of type {type(value).__name__}"


def _copy(value: Any) -> Any:
    """The same JSON value in objects and arrays of its own, so that no later change to either is seen."""
    if isinstance(value, Mapping):
        return {name: _copy(member) for name, member in value.items()}
    return [_copy(element) for element in value] if isinstance(value, (list, tuple)) else value


def _declaration(position: int, entry: object) -> tuple[str, dict[str, object] | bool]:
    """Return the name and the schema that one entry of the list declares."""
    if not isinstance(entry, Mapping):
        raise ToolsetError(position, None, f"an entry must be an object, {_type(entry)}")
    if entry.get("type") != "function":
        raise ToolsetError(position, None, 'its "type" must be "function"')
    function = entry.get("function")
    if not isinstance(function, Mapping):
        raise ToolsetError(position, None, f'its "function" must be an object, {_type(function)}')
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise ToolsetError(position, None, "the name of its function must be a non-empty string")
    parameters = function.get("parameters")
    if parameters is None:
        return name, True
    if not isinstance(parameters, (dict, bool)):
        what = f'its "parameters" must be an object or a boolean, {_type(parameters)}'
        raise ToolsetError(position, name, what)
    return name, parameters


# -- one schema ------------------------------------------------------------------------------------

_DRAFT: Final = re.compile(r"https?://json-schema\.org/(?:draft-0[467]|draft/2019-09|draft/2020-12)/schema#?")


def _compile(schema: dict[str, object] | bool) -> Validator | str:
    """Return the validator of a schema, or what is wrong with the schema."""
    if isinstance(schema, dict) and "$schema" in schema:
        draft = schema["$schema"]
        if not isinstance(draft, str) or not _DRAFT.fullmatch(draft):
            return 'the "$schema" of its parameters must name draft 2020-12, 2019-09, 7, 6 or 4'
    try:
        return validator_for(schema, offline=True)
    except ValidationError as error:
        if isinstance(error.kind, ValidationErrorKind.Referencing):
            return 'each "$ref" in its parameters must resolve inside them: nothing is fetched'
        place = _pointer(error.instance_path)
        return f"its parameters must be a valid JSON Schema, and are not at #{place}"
    except ValueError:
        return "its parameters must be JSON values, nested no deeper than a validator can follow"


_DEEPEST: Final = 1000
"""Levels. Where a schema refers to itself, the validator recurses on the stack of the process, and
some ten thousand levels would end it."""


def _judge(validator: Validator, value: object) -> Structure:
    if _too_deep(value):
        return Structure("structure.schema")
    try:
        # The first failure in the validator's own fixed order. Asked for all of them, it would
        # spell out a message for each before it returned.
        validator.validate(value)
    except ValidationError as error:
        return Structure("structure.schema", _keyword(error), _pointer(error.schema_path))
    except ValueError:
        return Structure("structure.schema")
    return Structure(None)


def _too_deep(value: object) -> bool:
    level: list[Iterable[object]] = [[value]]
    for _ in range(_DEEPEST + 1):
        level = [
            child.values() if isinstance(child, dict) else child
            for children in level
            for child in children
            if isinstance(child, (dict, list))
        ]
        if not level:
            return False
    return True


_NAMING: Final = ("properties", "patternProperties", "dependentSchemas", "dependencies")
"""Keywords whose members are named by the host, so that such a name is no keyword."""


def _keyword(error: ValidationError) -> str | None:
    if not isinstance(error.kind, ValidationErrorKind.FalseSchema):
        return error.kind.name
    # A schema `false` fails without a keyword of its own.
    path = [None, *error.evaluation_path]
    keywords = [step for before, step in pairwise(path) if isinstance(step, str) and before not in _NAMING]
    return keywords[-1] if keywords else None


def _pointer(path: list[str | int]) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
