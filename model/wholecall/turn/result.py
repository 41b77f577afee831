"""What a turn comes to, and what an agent appends to its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from wholecall.assemble import Response
from wholecall.diagnose import Diagnostic
from wholecall.text import join_halves
from wholecall.turn.operation import OperationRun
from wholecall.turn.operation_state import json_text
from wholecall_generated.tables import SPEC


@dataclass(frozen=True, slots=True)
class Ran:
    """One operation of a turn, as it ended.

    Attributes:
        call_id: The call's id, as it arrived.
        tool: The tool's name.
        state: Where the operation is: a state of the operation table.
        fault: The fault of the row that led there; None where it has none.
        result: What the tool gave, where it succeeded, as it is on record: what JSON has no form for, such as
            NaN or a date, is its own text.
        reason: Why it failed, as the tool said it: data for the host.
        key: The idempotency key.
    """

    call_id: str = field(repr=False)
    tool: str
    state: str
    fault: str | None
    result: object = field(repr=False)
    reason: str | None = field(repr=False)
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request of a turn.

    Attributes:
        number: From 1, counted on from what the ledger knows of earlier runs of the turn.
        outcome: The outcome of its response; None where none came.
        fault: The first fault; None where the response could be used.
    """

    number: int
    outcome: str | None
    fault: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a turn came to.

    Attributes:
        turn_id: The host's name of the turn, or the one that was minted.
        end: The final state of the turn.
        fault: The fault that it ended with; None where it ended answered or settled.
        operations: One for each permitted call, in the order of the batch.
        attempts: Every request that was made, with what became of it.
        diagnostics: Every fault of every attempt, in order.
        messages: What an agent appends to its history: the assistant's message as the API wants it back, then
            one tool message for each call. Any client can send them (`sendable`). Data: never in the repr.
    """

    turn_id: str
    end: str
    fault: str | None
    operations: tuple[Ran, ...]
    attempts: tuple[Attempt, ...]
    diagnostics: tuple[Diagnostic, ...]
    messages: tuple[dict[str, Any], ...] = field(repr=False)


def ran(run: OperationRun) -> Ran:
    """An operation as a result shows it."""
    record = run.record
    fault = run.fault or None
    return Ran(record.call_id, record.tool, run.state, fault, run.result, run.reason, record.key)


def answer_message(content: str) -> dict[str, Any]:
    """The assistant's message of a response without calls."""
    return {"role": "assistant", "content": sendable(content)}


def calls_message(content: str, calls: Sequence[tuple[str, str, str]]) -> dict[str, Any]:
    """The assistant's message that asks for calls, verbatim: (id, name, argument text) of each."""
    return {
        "role": "assistant",
        "content": sendable(content) or None,
        "tool_calls": [
            {
                "id": sendable(id),
                "type": "function",
                "function": {"name": sendable(name), "arguments": arguments},
            }
            for id, name, arguments in calls
        ],
    }


def tool_message(call_id: str, content: str) -> dict[str, Any]:
    """What became of one call."""
    return {"role": "tool", "tool_call_id": sendable(call_id), "content": sendable(content)}


def sendable(text: str) -> str:
    """Text that UTF-8 can hold: half of a character that stands alone is spelled out as its escape.

    No client could send it, nor any later request with this history. The record keeps it as it arrived, and
    argument text that may run has none.
    """
    return join_halves(text).encode("utf-8", "backslashreplace").decode()


def said_of(one: Ran) -> str:
    """What a model is told of an operation: its result as JSON, or why there is none."""
    if SPEC.table("operation").state(one.state).good:
        return one.result if isinstance(one.result, str) else json_text(one.result)
    about = SPEC.fault(one.fault).about if one.fault else f"the operation is {one.state}"
    return f"{about}: {one.reason}" if one.reason else about


def refused_messages(response: Response, reasons: Sequence[str]) -> list[dict[str, Any]]:
    """The message of a batch that did not run, and for each call the reason why not."""
    said = zip(response.calls, reasons, strict=True)
    return [asked_message(response), *(tool_message(call.id or "", reason) for call, reason in said)]


def asked_message(response: Response) -> dict[str, Any]:
    """The assistant's message of a response with calls."""
    calls = [(call.id or "", call.name or "", call.arguments) for call in response.calls]
    return calls_message(response.content, calls)
