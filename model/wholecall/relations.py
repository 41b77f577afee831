"""What holds for any correct assembler, and needs no table (design §5): streams that must come to the same.

A relation makes of one stream another that says the same in another way. Whoever reads both must give the
same calls, or refuse both.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

Chunks = list[Any]
Pick = Callable[[int], int]
"""Chooses a number below another."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A way to say the same otherwise.

    Attributes:
        name: Its name.
        sentence: What it claims.
        other: Makes the other stream of a stream; None where the stream has no place for it.
    """

    name: str
    sentence: str
    other: Callable[[Chunks, Pick], Chunks | None]


class Place(NamedTuple):
    """A chunk that holds nothing but one fragment of one choice.

    Attributes:
        at: Where the chunk stands.
        call: The choice and the index of the fragment.
        fragment: The fragment.
    """

    at: int
    call: tuple[int, int]
    fragment: dict[str, Any]


def places(chunks: Sequence[Any]) -> Iterator[Place]:
    """Every chunk that holds nothing but one fragment, as a Chat Completions chunk has it."""
    for at, chunk in enumerate(chunks):
        try:
            (part,) = chunk["choices"]
            (fragment,) = part["delta"]["tool_calls"]
            choice, index = part["index"], fragment["index"]
        except (KeyError, TypeError, ValueError):
            continue
        if type(choice) is type(index) is int and min(choice, index) >= 0 and not part.get("finish_reason"):
            yield Place(at, (choice, index), fragment)


def _null_for_omitted(chunks: Chunks, pick: Pick) -> Chunks | None:
    named: set[tuple[int, int]] = set()
    found = []
    for place in places(chunks):
        id = place.fragment.get("id")
        if "id" not in place.fragment and place.call in named:
            found.append(place)
        if isinstance(id, str) and id:
            named.add(place.call)
    if not found:
        return None
    found[pick(len(found))].fragment["id"] = None
    return chunks


def _cut(chunks: Chunks, pick: Pick) -> Chunks | None:
    found = []
    for place in places(chunks):
        function = place.fragment.get("function")
        text = function.get("arguments") if isinstance(function, dict) else None
        if isinstance(text, str) and len(text) > 1:
            found.append((place, text))
    if not found:
        return None
    place, text = found[pick(len(found))]
    size = 1 + pick(len(text) - 1)
    choice, index = place.call
    rest = {"index": index, "function": {"arguments": text[size:]}}
    place.fragment["function"]["arguments"] = text[:size]
    return _with(chunks, place.at + 1, {"choices": [{"index": choice, "delta": {"tool_calls": [rest]}}]})


def _reordered(chunks: Chunks, pick: Pick) -> Chunks | None:
    every = list(places(chunks))
    found = [
        one.at
        for one, next in pairwise(every)
        if next.at == one.at + 1 and one.call[0] == next.call[0] and one.call != next.call
    ]
    if not found:
        return None
    at = found[pick(len(found))]
    chunks[at], chunks[at + 1] = chunks[at + 1], chunks[at]
    return chunks


def _content_between(chunks: Chunks, pick: Pick) -> Chunks | None:
    found = [place.at for place in places(chunks)]
    if not found:
        return None
    delta = {"index": 0, "delta": {"content": "between"}}
    return _with(chunks, found[pick(len(found))], {"choices": [delta]})


def _with(chunks: Chunks, at: int, chunk: Any) -> Chunks:
    return [*chunks[:at], chunk, *chunks[at:]]


RELATIONS: Final = (
    Relation(
        "null_is_omitted",
        "once an id is established, a null and an omitted continuation give the same result",
        _null_for_omitted,
    ),
    Relation("cut_anywhere", "splitting argument text at any point gives the same result", _cut),
    Relation(
        "indices_apart",
        "reordering fragments of different indices gives the same outcome and calls",
        _reordered,
    ),
    Relation("content_between", "content between fragments changes nothing", _content_between),
    Relation(
        "no_memory",
        "what one response did changes nothing in the next",
        lambda chunks, _: chunks,  # asked once more, after whatever was asked in between
    ),
)
"""The relations. Joining text is splitting it, read the other way."""


def other(relation: Relation, chunks: Sequence[Any], pick: Pick) -> Chunks | None:
    """The other stream; the one that is given is left as it is."""
    return relation.other(deepcopy(list(chunks)), pick)


def same(one: Sequence[Any] | None, other: Sequence[Any] | None) -> bool:
    """Whether two answers are the same: both a refusal (None), or the same calls in any order."""
    if one is None or other is None:
        return one is other
    return _counted(one) == _counted(other)


def _counted(calls: Sequence[Any]) -> Counter[str]:
    return Counter(json.dumps(call, sort_keys=True) for call in calls)
