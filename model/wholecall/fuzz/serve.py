"""`python -m wholecall.fuzz.serve MODULE:CALLABLE`: serve a callable as a target.

It imports nothing but the standard library and what the callable needs.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from wholecall.clients.serve import Assemble, serve_here


def find(target: str) -> Assemble:
    """The callable named `MODULE:CALLABLE`; the folder one stands in is searched for the module too.

    Errors:
        ValueError: The name is not of this form.
        ImportError: There is no such module.
        AttributeError: The module has no such name.
    """
    module, colon, name = target.partition(":")
    if not (module and colon and name):
        raise ValueError(f"a target is MODULE:CALLABLE, not {target!r}")
    if "" not in sys.path:
        sys.path.insert(0, "")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    assemble: Assemble = found
    return assemble


if __name__ == "__main__":
    serve_here(find(sys.argv[1]))
