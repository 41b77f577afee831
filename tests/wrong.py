"""Assemblers as people really write them, each wrong in one way, and one that is right."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from wholecall import Skip
from wholecall.cases import ABORT, EOF, read_chunks

Call = dict[str, Any]
Target = Callable[[list[Any]], list[Call]]


def right(chunks: list[Any]) -> list[Call]:
    """Wholecall itself."""
    response = read_chunks(chunks)
    if response.outcome not in ("whole", "answered"):
        raise ValueError(response.outcome)
    return [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in response.calls]


def _fragments(chunks: list[Any]) -> list[dict[str, Any]]:
    """The fragments of a stream that is legal; of others, an error."""
    right(chunks)
    frames = [json.loads(c) if isinstance(c, str) and c != "[DONE]" else c for c in chunks]
    choices = [choice for frame in frames if isinstance(frame, dict) for choice in frame.get("choices") or []]
    return [fragment for c in choices for fragment in (c.get("delta") or {}).get("tool_calls") or []]


def _assembled(fragments: list[dict[str, Any]], key: str = "index", id: str = "first") -> list[Call]:
    calls: dict[Any, Call] = {}
    for fragment in fragments:
        function = fragment.get("function") or {}
        place = function.get("name") or next(reversed(calls), "") if key == "name" else fragment["index"]
        call = calls.setdefault(place, {"id": "", "name": "", "arguments": ""})
        came = fragment.get("id") or ""
        if id == "added":
            call["id"] += came
        elif id == "cleared" and "id" in fragment:
            call["id"] = fragment["id"]
        elif came and not call["id"]:
            call["id"] = came
        call["name"] += "" if key == "name" and call["name"] else function.get("name") or ""
        call["arguments"] += function.get("arguments") or ""
    return list(calls.values())


def keyed_by_name(chunks: list[Any]) -> list[Call]:
    """Finds the call by the name, and by the last call where there is none."""
    return _assembled(_fragments(chunks), key="name")


def ids_added(chunks: list[Any]) -> list[Call]:
    """Adds ids up, as it does names and arguments."""
    return _assembled(_fragments(chunks), id="added")


def null_clears(chunks: list[Any]) -> list[Call]:
    """Takes a null id for the id."""
    return _assembled(_fragments(chunks), id="cleared")


def first_of_chunk(chunks: list[Any]) -> list[Call]:
    """Looks at the first fragment of a chunk only."""
    right(chunks)
    found: list[Call] = []
    for chunk in chunks:
        for choice in chunk.get("choices") or () if isinstance(chunk, dict) else ():
            found += ((choice.get("delta") or {}).get("tool_calls") or [])[:1]
    return _assembled(found)


def _lenient(chunks: list[Any], changed: Callable[[dict[str, Any], list[str]], None]) -> list[Call]:
    """Right, but that each fragment is changed before it is looked at."""
    ids: list[str] = []
    copy = json.loads(json.dumps(chunks))
    for chunk in copy:
        try:
            fragments = [f for choice in chunk["choices"] for f in choice["delta"]["tool_calls"]]
        except (KeyError, TypeError):
            continue
        for fragment in fragments:
            if isinstance(fragment, dict):
                changed(fragment, ids)
    return right(copy)


def last_id_borrowed(chunks: list[Any]) -> list[Call]:
    """Gives a call that has no id the last one that was seen."""

    def borrow(fragment: dict[str, Any], ids: list[str]) -> None:
        if isinstance(fragment.get("id"), str) and fragment["id"]:
            ids.append(fragment["id"])
        elif not fragment.get("id") and ids:
            fragment["id"] = ids[-1]

    return _lenient(chunks, borrow)


def ids_coerced(chunks: list[Any]) -> list[Call]:
    """Makes text of whatever the id is."""

    def coerce(fragment: dict[str, Any], _: list[str]) -> None:
        if fragment.get("id") is not None:
            fragment["id"] = str(fragment["id"])

    return _lenient(chunks, coerce)


def null_dropped(chunks: list[Any]) -> list[Call]:
    """Takes a null id for one that is omitted, wherever it stands."""

    def drop(fragment: dict[str, Any], _: list[str]) -> None:
        if fragment.get("id", "") is None:
            del fragment["id"]

    return _lenient(chunks, drop)


def last_id_wins(chunks: list[Any]) -> list[Call]:
    """Keeps the id that came last."""
    last: dict[Any, str] = {}

    def note(fragment: dict[str, Any], _: list[str]) -> None:
        index = fragment.get("index")
        if isinstance(fragment.get("id"), str) and fragment["id"] and type(index) is int:
            fragment["id"] = last.setdefault(index, fragment["id"])

    return _lenient(chunks, note)


def brackets_repaired(chunks: list[Any]) -> list[Call]:
    """Closes what is open in arguments that were cut."""
    calls = []
    for call in _ended(chunks):
        for end in ("", "}", '"}', "]}"):
            try:
                value = json.loads(call["arguments"] + end)
            except ValueError:
                continue
            if isinstance(value, dict):
                calls.append({**call, "arguments": value})
                break
        else:
            raise ValueError(call)
    return calls


def _ended(chunks: list[Any]) -> list[Call]:
    """Calls of a stream that ended properly, whatever their arguments are."""
    kept: dict[int, list[str]] = {}
    copy = json.loads(json.dumps(chunks))
    for chunk in copy:
        try:
            ((fragment,),) = [choice["delta"]["tool_calls"] for choice in chunk["choices"]]
            kept.setdefault(fragment["index"], []).append(fragment["function"]["arguments"] or "")
            fragment["function"]["arguments"] = "" if kept[fragment["index"]][1:] else "{}"
        except (KeyError, TypeError, ValueError):
            continue
    return [
        {**call, "arguments": "".join(kept.get(index, []))}
        for call, index in zip(right(copy), sorted(kept), strict=True)
    ]


_SEEN: list[str] = []


def remembers(chunks: list[Any]) -> list[Call]:
    """Refuses a call whose name an earlier response had."""
    calls = right(chunks)
    again = [call for call in calls if call["name"] in _SEEN]
    _SEEN.extend(call["name"] for call in calls)
    if again:
        raise ValueError
    return calls


_TIMES = [0]


def flaky(chunks: list[Any]) -> list[Call]:
    """Refuses the sixtieth stream that it is asked, whatever that is."""
    _TIMES[0] += 1
    return [{"id": "", "name": "", "arguments": ""}] if _TIMES[0] == 60 else right(chunks)


def dies(chunks: list[Any]) -> list[Call]:
    """Ends its process where the transport fails."""
    if ABORT in chunks:
        raise SystemExit(1)
    return right([chunk for chunk in chunks if chunk != EOF])


def gives_always(_: list[Any]) -> list[Call]:
    """Gives the same call whatever comes."""
    return [{"id": "a", "name": "look", "arguments": "{}"}]


class Ways:
    """A callable may stand within something."""

    right = staticmethod(right)


def skips(_: list[Any]) -> list[Call]:
    """Cannot express anything."""
    raise Skip
