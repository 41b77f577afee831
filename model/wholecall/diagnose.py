"""What may be said of a refusal: everything that tells cases apart, and nothing of the content.

A diagnostic names the row, so it says the exact relation of state and input. It never holds arguments, ids,
names that the host did not give, or content; lengths and keyed digests stand for them (article 1 §5).
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from typing import Any, Final

from wholecall.errors import WholecallError
from wholecall_generated.tables import SPEC
from wholecall_spec.table import CARRIED, Row, Table

UNCLASSIFIED: Final = "unclassified"
"""The fault of a stored record that lacks the facts to tell; it stays so."""

_PLAIN = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_REASON_LIMIT: Final = 2000
_STATUSES: Final = range(100, 600)
_PROCESS_KEY: Final = secrets.token_bytes(32)
_KEY_LIMIT: Final = blake2b.MAX_KEY_SIZE


class DigestKeyError(WholecallError, ValueError):
    """A key of digests is not 1 to 64 bytes; an empty one would be no key at all. It is never shown."""

    def __init__(self) -> None:
        super().__init__(f"a digest key is 1 to {_KEY_LIMIT} bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """Why something was not accepted (design §4). Every attribute is None where it does not apply.

    Attributes:
        fault: The named reason, or `unclassified` of a record that lacks the facts to tell.
        row: The row that decided.
        machine: The machine it moved.
        state: Where the machine was.
        input: The class of what arrived.
        json_type: Of an input of class `other`, its JSON type.
        had_id: Whether a non-empty id was established before.
        choice: The choice, by its index.
        index: The call, by its index.
        fragment: The ordinal of the fragment in the response, from 1.
        attempt: The attempt of the turn, from 1.
        profile: The profile that judged.
        tables: The digest of the tables that judged.
        finish: The class of the first finish reason of the choice.
        length: Characters of the argument text that had arrived.
        id_digest: Keyed digest of the id.
        text_digest: Keyed digest of the argument text.
        parsed: Whether the argument text was whole, strict JSON.
        offset: Where the argument text goes wrong, in characters from 0.
        depth: How deep the argument text is nested there.
        in_string: Whether the argument text ends or fails inside a string.
        schema_keyword: The keyword of the tool's schema that failed.
        schema_location: Where it stands in the schema, a JSON pointer.
        upstream_status: The HTTP status that upstream gave.
        upstream_code: The code that upstream gave, where it is a plain word or number.
        correlation_id: The host's, or minted; never a call's.
        tool: The tool's name, where the host's own toolset has it.
        hint: The overlays that would accept this.
        reason: What upstream or a check said: data for the host alone, in no record and no repr.
    """

    fault: str
    row: str | None = None
    machine: str | None = None
    state: str | None = None
    input: str | None = None
    json_type: str | None = None
    had_id: bool | None = None
    choice: int | None = None
    index: int | None = None
    fragment: int | None = None
    attempt: int | None = None
    profile: str | None = None
    tables: str | None = None
    finish: str | None = None
    length: int | None = None
    id_digest: str | None = None
    text_digest: str | None = None
    parsed: bool | None = None
    offset: int | None = None
    depth: int | None = None
    in_string: bool | None = None
    schema_keyword: str | None = None
    schema_location: str | None = None
    upstream_status: int | None = None
    upstream_code: str | None = None
    correlation_id: str | None = None
    tool: str | None = None
    hint: tuple[str, ...] = ()
    reason: str | None = field(default=None, repr=False, compare=False)

    @property
    def why(self) -> str:
        """One sentence: the row's, or the fault's, or that the facts are missing."""
        if self.fault == UNCLASSIFIED:
            return "the record lacks the facts to tell"
        known = {row.id: row.why for table in SPEC.tables for row in table.rows}
        return known.get(self.row or "") or SPEC.fault(self.fault).about

    def to_record(self) -> dict[str, object]:
        """A JSON object of everything but the reason, in the order of the attributes."""
        record = {name: getattr(self, name) for name in _RECORDED}
        return {**record, "hint": list(self.hint)}

    @classmethod
    def load(cls, record: Mapping[str, object] | str | bytes) -> Diagnostic:
        """Read a stored record.

        What lacks the facts to tell is `unclassified` and stays so: a known fault must stand beside a row of
        the tables that raises it, or beside machine, state and input. A later judgement is a new record.

        Args:
            record: What `to_record` gave, an older or foreign record, or the JSON text of one. Facts of the
                wrong type, and unknown ones, are left out.

        Errors:
            ValueError: It is no JSON object.
        """
        data = _object(record)
        given = {name: data[name] for name in _RECORDED if _fits(name, data.get(name))}
        hint = data.get("hint")
        names = tuple(h for h in hint if isinstance(h, str)) if isinstance(hint, list) else ()
        fault = given.pop("fault", UNCLASSIFIED)
        if not _tells(str(fault), given):
            fault = UNCLASSIFIED
        return cls(fault=str(fault), hint=names, **given)  # type: ignore[arg-type]  # each of them fits


_RECORDED: Final = tuple(f.name for f in fields(Diagnostic) if f.name not in ("reason", "hint"))
_TYPES: Final = {
    f.name: next(kind for word, kind in (("str", str), ("bool", bool), ("int", int)) if word in str(f.type))
    for f in fields(Diagnostic)
}


def _object(record: Mapping[str, object] | str | bytes) -> Mapping[str, object]:
    if isinstance(record, Mapping):
        return record
    try:
        data = json.loads(record)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise ValueError("a diagnostic record is one JSON object")
    return data


def _fits(name: str, value: object) -> bool:
    return type(value) is _TYPES[name]


def _tells(fault: str, given: Mapping[str, object]) -> bool:
    """Whether the record names one relation of state and input, and it can raise this fault."""
    if fault not in {known.name for known in SPEC.faults}:
        return False
    relation = {name: given[name] for name in ("machine", "state", "input") if name in given}
    rows = [(table, row) for table in SPEC.tables for row in table.rows]
    named = [(table, row) for table, row in rows if row.id == given.get("row")]
    if not named and "row" in given:
        return len(relation) == 3  # a row of other tables, of which these say nothing
    return (bool(named) or len(relation) == 3) and any(
        relation.items() <= {"machine": table.machine, "state": row.state, "input": row.input}.items()
        and _raises(table, row, fault)
        for table, row in named or rows
    )


def _raises(table: Table, row: Row, fault: str) -> bool:
    if row.fault != CARRIED:
        return row.fault == fault
    carries = table.input(row.input).carries
    return not carries or fault in carries


@dataclass(frozen=True, slots=True)
class Origin:
    """What every diagnostic of one response says of where it comes from.

    Attributes:
        profile: The profile that judges.
        tables: The digest of its tables.
        attempt: The attempt of the turn, from 1.
        correlation_id: The host's, or minted.
        key: The key of digests; never shown.
    """

    profile: str
    tables: str
    attempt: int
    correlation_id: str
    key: bytes = field(repr=False)

    @classmethod
    def of(
        cls, profile: str, tables: str, attempt: int, correlation_id: str | None, key: bytes | None
    ) -> Origin:
        """An origin with its id minted and the process's key used where none is given.

        Errors:
            DigestKeyError: The key is not 1 to 64 bytes.
        """
        minted = secrets.token_hex(8) if correlation_id is None else correlation_id
        if key is not None and not (isinstance(key, bytes) and 1 <= len(key) <= _KEY_LIMIT):
            raise DigestKeyError
        return cls(profile, tables, attempt, minted, key or _PROCESS_KEY)

    def digest(self, text: str | None) -> str | None:
        """A keyed digest of a text: equal texts of one key can be told, and nothing else."""
        if text is None:
            return None
        return blake2b(text.encode("utf-8", "surrogatepass"), key=self.key, digest_size=8).hexdigest()

    def diagnostic(self, **facts: Any) -> Diagnostic:
        """A diagnostic of these facts."""
        return Diagnostic(
            attempt=self.attempt,
            profile=self.profile,
            tables=self.tables,
            correlation_id=self.correlation_id,
            **facts,
        )


def upstream_facts(error: object) -> dict[str, object]:
    """What an upstream error states: a status and a code where they are plain, and its message as reason."""
    facts: dict[str, object] = {"reason": _reason(error)}
    if not isinstance(error, Mapping):
        return facts
    for name in ("status", "status_code", "code"):
        value = error.get(name)
        if type(value) is int and value in _STATUSES:
            facts.setdefault("upstream_status", value)
    for name in ("code", "type"):
        value = error.get(name)
        if type(value) is int and value not in _STATUSES and abs(value) < 10**18:
            value = str(value)
        if isinstance(value, str) and _PLAIN.fullmatch(value):
            facts.setdefault("upstream_code", value)
    return facts


def _reason(error: object) -> str | None:
    text = error.get("message") if isinstance(error, Mapping) else error
    return text[:_REASON_LIMIT] if isinstance(text, str) else None
