r"""Is a text whole, strict JSON? Nothing is repaired, coerced or logged.

The measure is I-JSON (RFC 7493) over RFC 8259, asked in a fixed order, so that a text has one fault:

1. half of a surrogate pair in the text itself    syntax.invalid
2. nesting beyond the limit, anywhere             limit.depth
3. a proper prefix of some JSON text              syntax.incomplete
4. anything else that is no JSON text             syntax.invalid
5. a key twice in one object                      syntax.duplicate_key
6. half of a surrogate pair written as an escape,
   or a number beyond any double                  syntax.invalid

`jiter` tells in one pass what is whole, but not cut from wrong: of `"\u12g` it says that it ends too
early, of `{"a":1,"a":2` that a key comes twice. What it refuses is read again by the grammar below,
which keeps its own stack: it never recurses, and reads each character once.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import jiter

from wholecall.text import has_half

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Syntax", "read_syntax"]


@dataclass(frozen=True, slots=True)
class Syntax:
    """What was found of one text.

    Attributes:
        fault: `syntax.incomplete`, `syntax.invalid`, `syntax.duplicate_key` or `limit.depth`; None
            where the text is whole.
        value: The value of a whole text, else None. Never in the repr.
        offset: Characters before the fault: up to there, the text is the beginning of some JSON text
            (half of a pair and `limit.depth` are looked for first, so it may be wrong before). The
            length of the text where it is incomplete; None where it is whole, or wrong in no single
            place.
        depth: How many arrays and objects are open there; with `limit.depth`, the one too many
            counts.
        in_string: Whether a string is open there.
    """

    fault: str | None
    value: object = field(default=None, repr=False)
    offset: int | None = None
    depth: int = 0
    in_string: bool = False


def read_syntax(text: str, depth: int = 128) -> Syntax:
    """Judge one text, in time proportional to its length.

    Args:
        text: Characters of the joined text. Half of a surrogate pair in it stands alone: whoever
            calls has joined the pairs.
        depth: How many arrays and objects may be open at once.

    Returns:
        The verdict, for any text: no text raises an error, which could carry it away.
    """
    half: int | None = None
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        half = error.start
    if half is not None:
        return _fault("syntax.invalid", text, half)
    # With no more brackets than levels, no order of them goes too deep.
    if text.count("[") + text.count("{") > depth:
        offset, reached, _ = _nesting(text, depth)
        if offset is not None:
            return Syntax("limit.depth", None, offset, reached)
    value: object = _REFUSED
    with suppress(ValueError):
        value = jiter.from_json(
            data,
            allow_inf_nan=False,
            cache_mode="none",  # a cache would keep pieces of the arguments alive
            catch_duplicate_keys=True,
            partial_mode=False,
        )
    if value is _REFUSED:
        offset = _first_wrong(text)
        if offset == len(text):
            return _fault("syntax.incomplete", text, offset)
        if offset is not None:
            return _fault("syntax.invalid", text, offset)
        value, repeats = _build(text)
        if repeats:
            return Syntax("syntax.duplicate_key")
    if not _interoperable(value):
        return Syntax("syntax.invalid")
    return Syntax(None, value)


_REFUSED: Final = object()


def _fault(name: str, text: str, offset: int) -> Syntax:
    _, depth, in_string = _nesting(text[:offset], offset)
    return Syntax(name, None, offset, depth, in_string)


# -- nesting: brackets outside strings, in right and in wrong texts alike --------------------------

_BRACKET = re.compile(
    r'(?P<open>[\[{])|(?P<close>[\]}])|"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|(?P<cut>\\?\Z))', re.DOTALL
)


def _nesting(text: str, limit: int) -> tuple[int | None, int, bool]:
    """Return where the nesting exceeds `limit`, the depth there or at the end, and `in_string`."""
    depth = 0
    for found in _BRACKET.finditer(text):
        if found.lastgroup == "open":
            depth += 1
            if depth > limit:
                return found.start(), depth, False
        elif found.lastgroup == "close":
            depth = max(depth - 1, 0)
        elif found.lastgroup == "cut":
            return None, depth, True
    return None, depth, False


# -- the grammar of RFC 8259 -----------------------------------------------------------------------


def _value(then: str) -> dict[str, str]:
    return dict.fromkeys(["string", "number", "literal", "[", "{"], then)


_BRACKETS: Final = ("[", "{")
# The state: the kind of token that may follow, and the state after it; after a bracket that opens,
# the state once its partner has closed.
_CLOSED: Final = "where the partner of this bracket left off"
_GRAMMAR = {
    "text": _value("end"),
    "[": _value("item") | {"]": _CLOSED},
    "item": {",": "item,", "]": _CLOSED},
    "item,": _value("item"),
    "{": {"string": "key", "}": _CLOSED},
    "key": {":": "key:"},
    "key:": _value("member"),
    "member": {",": "member,", "}": _CLOSED},
    "member,": {"string": "key"},
    "end": {},
}

_SPACE = r"[ \t\n\r]*+"
# A whole token in the group of its kind, and the space behind it. Otherwise, in no group, the
# longest beginning of a token, which is empty where no token begins so.
_TOKEN = re.compile(
    r'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*+'
    rf'(?:(?P<string>"){_SPACE}|\\(?:u[0-9A-Fa-f]{{0,3}})?+)?+'
    r"|(?=[-0-9])-?+(?:(?:0|[1-9][0-9]*+)(?:\.[0-9]*+)?+(?:(?<=[0-9])[eE][+-]?+[0-9]*+)?+)?+"
    rf"(?:(?P<number>(?<=[0-9])){_SPACE})?+"
    rf"|(?P<literal>true|false|null){_SPACE}|t(?:ru?+)?+|f(?:a(?:ls?+)?+)?+|n(?:ul?+)?+"
    rf"|(?P<mark>[\[\]{{}},:]){_SPACE}"
    r"|(?!\Z)"
)
_BEGINS = {'"': "string"} | dict.fromkeys("-0123456789", "number") | dict.fromkeys("tfn", "literal")


def _tokens(text: str) -> Iterator[tuple[str | None, re.Match[str]]]:
    """Yield the kind of each token (of a mark, itself; None where it is not whole) and its match."""
    after_space = len(text) - len(text.lstrip(" \t\n\r"))
    for token in _TOKEN.finditer(text, after_space):
        kind = token.lastgroup
        yield token["mark"] if kind == "mark" else kind, token


def _first_wrong(text: str) -> int | None:
    """Return how much of the text begins some JSON text, or None where all of it is one."""
    state = "text"
    open_brackets: list[str] = []
    for kind, token in _tokens(text):
        if kind is None:
            begins = _BEGINS.get(text[token.start()])
            return token.end() if begins in _GRAMMAR[state] else token.start()
        then = _GRAMMAR[state].get(kind)
        if then is None:
            return token.start()
        if kind in _BRACKETS:
            open_brackets.append(then)
            state = kind
        else:
            state = open_brackets.pop() if then is _CLOSED else then
    return None if state == "end" else len(text)


# -- the value of a text that the grammar found whole ----------------------------------------------


def _integer(digits: str) -> int | float:
    # Python refuses to convert some thousands of digits; past 309, only infinity is left anyway.
    return int(digits) if len(digits) <= 310 else float(digits)


_scalar = json.JSONDecoder(parse_int=_integer).decode


def _build(text: str) -> tuple[object, bool]:
    """Return the value of a whole text, and whether a key comes twice in one of its objects."""
    repeats = False
    # An object is a flat list of keys and values until it closes.
    open_lists: list[list[object]] = [[]]
    for kind, token in _tokens(text):
        if kind in _BRACKETS:
            open_lists.append([])
        elif kind == "]":
            items = open_lists.pop()
            open_lists[-1].append(items)
        elif kind == "}":
            items = open_lists.pop()
            members = dict(zip(items[::2], items[1::2], strict=True))
            repeats = repeats or len(members) * 2 < len(items)
            open_lists[-1].append(members)
        elif kind not in (",", ":"):
            open_lists[-1].append(_scalar(token[0]))
    return open_lists[0][0], repeats


_OVERFLOW: Final = 2**1024 - 2**970
"""The least number that rounds to no double: halfway from the greatest double to 2**1024."""


def _interoperable(value: object) -> bool:
    """Return whether strings are Unicode text and numbers fit a double (RFC 7493 §2.1, §2.2)."""
    waiting: list[Iterable[object]] = [[value]]
    while waiting:
        for item in waiting.pop():
            if isinstance(item, str):
                if has_half(item):
                    return False
            elif isinstance(item, (int, float)):
                if not -_OVERFLOW < item < _OVERFLOW:
                    return False
            elif isinstance(item, list):
                waiting.append(item)
            elif isinstance(item, dict):
                waiting += item.keys(), item.values()
    return True
