"""Only whole calls run: a formal, executable state model of streamed LLM tool calls.

Everything a program needs is importable from here, and each name is imported when it is first asked for, so
that `import wholecall` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wholecall.assemble import Assembler as Assembler
    from wholecall.assemble import Call as Call
    from wholecall.assemble import ProfileError as ProfileError
    from wholecall.assemble import Response as Response
    from wholecall.assemble import Sink as Sink
    from wholecall.assemble import read as read
    from wholecall.diagnose import Diagnostic as Diagnostic
    from wholecall.diagnose import DigestKeyError as DigestKeyError
    from wholecall.errors import Skip as Skip
    from wholecall.errors import WholecallError as WholecallError
    from wholecall.limits import LimitError as LimitError
    from wholecall.limits import Limits as Limits
    from wholecall.structure import ToolLookupError as ToolLookupError
    from wholecall.structure import Toolset as Toolset
    from wholecall.structure import ToolsetError as ToolsetError
    from wholecall.turn.declare import tool as tool
    from wholecall.turn.evidence import Evidence as Evidence
    from wholecall.turn.evidence import EvidenceDigestError as EvidenceDigestError
    from wholecall.turn.evidence import EvidenceError as EvidenceError
    from wholecall.turn.evidence import EvidenceLimitError as EvidenceLimitError
    from wholecall.turn.feedback import Feedback as Feedback
    from wholecall.turn.ledger import Ledger as Ledger
    from wholecall.turn.ledger_records import LedgerMoveError as LedgerMoveError
    from wholecall.turn.ledger_records import LedgerUnavailableError as LedgerUnavailableError
    from wholecall.turn.ledger_records import LedgerUrlError as LedgerUrlError
    from wholecall.turn.ledger_records import LedgerVersionError as LedgerVersionError
    from wholecall.turn.openai_client import openai_request as openai_request
    from wholecall.turn.otel import OpenTelemetry as OpenTelemetry
    from wholecall.turn.otel import OpenTelemetryMissingError as OpenTelemetryMissingError
    from wholecall.turn.policy import Policy as Policy
    from wholecall.turn.policy import PolicyError as PolicyError
    from wholecall.turn.result import Attempt as Attempt
    from wholecall.turn.result import Ran as Ran
    from wholecall.turn.result import Result as Result
    from wholecall.turn.run import Turn as Turn
    from wholecall.turn.tools import ABSENT as ABSENT
    from wholecall.turn.tools import UNKNOWN as UNKNOWN
    from wholecall.turn.tools import Applied as Applied
    from wholecall.turn.tools import Context as Context
    from wholecall.turn.tools import Tool as Tool
    from wholecall.turn.tools import ToolFailed as ToolFailed
    from wholecall.turn.upstream import RequestTypeError as RequestTypeError
    from wholecall.turn.upstream import TransportFailed as TransportFailed
    from wholecall.turn.upstream import Unreachable as Unreachable
    from wholecall.turn.upstream import UpstreamRefused as UpstreamRefused
    from wholecall.wire import FrameTypeError as FrameTypeError

_HOMES = {
    "ABSENT": "turn.tools",
    "Applied": "turn.tools",
    "Assembler": "assemble",
    "Attempt": "turn.result",
    "Call": "assemble",
    "Context": "turn.tools",
    "Diagnostic": "diagnose",
    "DigestKeyError": "diagnose",
    "Evidence": "turn.evidence",
    "EvidenceDigestError": "turn.evidence",
    "EvidenceError": "turn.evidence",
    "EvidenceLimitError": "turn.evidence",
    "Feedback": "turn.feedback",
    "FrameTypeError": "wire",
    "Ledger": "turn.ledger",
    "LedgerMoveError": "turn.ledger_records",
    "LedgerUnavailableError": "turn.ledger_records",
    "LedgerUrlError": "turn.ledger_records",
    "LedgerVersionError": "turn.ledger_records",
    "LimitError": "limits",
    "Limits": "limits",
    "OpenTelemetry": "turn.otel",
    "OpenTelemetryMissingError": "turn.otel",
    "Policy": "turn.policy",
    "PolicyError": "turn.policy",
    "ProfileError": "assemble",
    "Ran": "turn.result",
    "RequestTypeError": "turn.upstream",
    "Response": "assemble",
    "Result": "turn.result",
    "Sink": "assemble",
    "Skip": "errors",
    "Tool": "turn.tools",
    "ToolFailed": "turn.tools",
    "ToolLookupError": "structure",
    "Toolset": "structure",
    "ToolsetError": "structure",
    "TransportFailed": "turn.upstream",
    "Turn": "turn.run",
    "UNKNOWN": "turn.tools",
    "Unreachable": "turn.upstream",
    "UpstreamRefused": "turn.upstream",
    "WholecallError": "errors",
    "openai_request": "turn.openai_client",
    "read": "assemble",
    "tool": "turn.declare",
}

__version__ = "0.1.0"
__all__ = tuple(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted((*globals(), *_HOMES))
