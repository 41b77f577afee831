"""`python -m wholecall.clients NAME`: serve a client's adapter, in an environment that has the client."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from wholecall.clients.registry import clients, quiet
from wholecall.clients.serve import serve_here


def main(arguments: list[str]) -> str | None:
    """Answer the requests of standard input; what the client prints goes to standard error.

    Returns:
        What is wrong with the arguments, where anything is.
    """
    python = [name for name, client in clients().items() if client.environment != "node"]
    if len(arguments) != 1 or arguments[0] not in python:
        return f"python -m wholecall.clients NAME, of {', '.join(python)}"
    os.environ.update(quiet())
    serve_here(lambda chunks: import_module(clients()[arguments[0]].module).assemble(chunks))
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
