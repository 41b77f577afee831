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
    from wholecall.assemble import read as read
    from wholecall.diagnose import Diagnostic as Diagnostic
    from wholecall.diagnose import DigestKeyError as DigestKeyError
    from wholecall.errors import WholecallError as WholecallError
    from wholecall.limits import LimitError as LimitError
    from wholecall.limits import Limits as Limits
    from wholecall.structure import Toolset as Toolset
    from wholecall.structure import ToolsetError as ToolsetError
    from wholecall.wire import FrameTypeError as FrameTypeError

_HOMES = {
    "Assembler": "assemble",
    "Call": "assemble",
    "Diagnostic": "diagnose",
    "DigestKeyError": "diagnose",
    "FrameTypeError": "wire",
    "LimitError": "limits",
    "Limits": "limits",
    "ProfileError": "assemble",
    "Response": "assemble",
    "Toolset": "structure",
    "ToolsetError": "structure",
    "WholecallError": "errors",
    "read": "assemble",
}

__version__ = "0.1.0"
__all__ = tuple(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted((*globals(), *_HOMES))
