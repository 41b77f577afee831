"""Frames as they come: what a Chat Completions chunk may be, and which class a value falls in.

The types below are the rule for `bad_frame`: a frame that does not decode into `Frame` is one. They name
only the fields that the machines read; others are skipped undecoded. Every field may be `UNSET`, so that
omitted and null stay different facts.
"""

from __future__ import annotations

import json
from enum import Enum
from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from wholecall.errors import WholecallError

NoForm = UnsetType | None
"""A tool-call form outside this specification: it may only be null or omitted."""

EmptyList = Annotated[list[object], Meta(max_length=0)] | UnsetType | None


class Function(Struct, gc=False):
    """The `function` of a fragment."""

    name: object = UNSET
    arguments: object = UNSET


class Fragment(Struct, gc=False):
    """One element of `delta.tool_calls[]`."""

    index: object = UNSET
    id: object = UNSET
    function: Function | UnsetType | None = UNSET
    type: Literal["function", ""] | UnsetType | None = UNSET


class Delta(Struct, gc=False):
    """The `delta` of a choice."""

    tool_calls: list[Fragment] | UnsetType | None = UNSET
    content: object = UNSET
    function_call: NoForm = UNSET


class Message(Struct, gc=False):
    """A whole `message` is no part of a stream; calls in it would be lost, so it may have none."""

    tool_calls: EmptyList = UNSET
    function_call: NoForm = UNSET


class Choice(Struct, gc=False):
    """One element of `choices[]`."""

    index: Annotated[int, Meta(ge=0)] | UnsetType | None = UNSET
    delta: Delta | UnsetType | None = UNSET
    finish_reason: str | UnsetType | None = UNSET
    message: Message | UnsetType | None = UNSET


class Frame(Struct, gc=False):
    """One chunk of a response."""

    choices: list[Choice] | UnsetType | None = UNSET
    error: object = UNSET


class Control(Enum):
    """What a frame is that holds no choices: its value is the input that the stream sees."""

    DONE = "done"
    BAD = "bad_frame"


class FrameTypeError(WholecallError, TypeError):
    """What was fed is no frame of any kind.

    Attributes:
        type_name: The name of its type.
    """

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name
        super().__init__(
            f"a frame is a dict, JSON text, bytes or an SDK object with `model_dump`, not {type_name}"
        )


_DECODE: Final = msgspec.json.Decoder(Frame).decode
_BAD: Final = (msgspec.DecodeError, UnicodeError, RecursionError, ValueError, TypeError)


def decode(frame: object) -> Frame | Control:
    """One frame, judged whole: its `error` first, then its form.

    Args:
        frame: A dict, JSON text or bytes, an SDK object, or any other JSON value (which is a bad frame).

    Errors:
        FrameTypeError: It is none of these.
    """
    if type(frame) is bytes and frame.isascii():
        try:
            return _DECODE(frame)
        except _BAD:
            pass
    if isinstance(frame, (bytes, str, bytearray)):
        return _from_text(frame)
    if isinstance(frame, dict):
        return _from_dict(frame)
    if frame is None or isinstance(frame, (list, int, float)):
        return Control.BAD
    dump = getattr(frame, "model_dump", None)
    if dump is None or isinstance(frame, type):
        raise FrameTypeError(type(frame).__name__)
    # `exclude_unset` follows `model_fields_set`: a field that was absent on the wire stays absent.
    value = dump(exclude_unset=True, warnings=False)
    return _from_dict(value) if isinstance(value, dict) else Control.BAD


def _from_text(text: bytes | bytearray | str) -> Frame | Control:
    try:
        # The decoder passes over strings it skips, and they must be UTF-8 too.
        if not text.isascii() and not isinstance(text, str):
            text.decode()
        return _DECODE(text)
    except _BAD:
        pass
    try:
        text = text if isinstance(text, str) else text.decode()
        if text.strip(" \t\n\r") == "[DONE]":
            return Control.DONE
        value = json.loads(text, parse_constant=_refuse)
    except _BAD:
        return Control.BAD
    return _from_dict(value) if isinstance(value, dict) else Control.BAD


def _refuse(_: str) -> object:
    raise ValueError


def _from_dict(frame: dict[object, object]) -> Frame | Control:
    try:
        return msgspec.convert(frame, Frame)
    except _BAD:
        pass
    error = frame.get("error", UNSET)
    return Frame(error=error) if is_error(error) else Control.BAD


def is_error(error: object) -> bool:
    """Whether the `error` of a frame reports one; absent, null and "" are none."""
    return error is not UNSET and error is not None and error != ""


def json_type(value: object) -> str | None:
    """The JSON type of a value of class `other`, as a diagnostic names it; never the value."""
    for name, types in _JSON_TYPES:
        if isinstance(value, types):
            return name
    return None


_JSON_TYPES: Final[tuple[tuple[str, type | tuple[type, ...]], ...]] = (
    ("string", str),
    ("boolean", bool),
    ("number", (int, float)),
    ("array", list),
    ("object", dict),
)
