"""The command line: one file a command, each imported when it is asked for and not before.

`check` and `build` must be able to repair a broken print, so neither they nor this file import
`wholecall_generated` or anything that stands upon it.
"""

from __future__ import annotations

import io
import sys
from importlib import import_module
from pathlib import Path
from typing import Final

import click

import wholecall
from wholecall.errors import WholecallError

COMMANDS: Final = {
    "replay": "Judge recorded streams, and name the rows that decided.",
    "cases": "Run cases, and print each that is not as expected.",
    "explain": "Explain a row of the tables.",
    "check": "Check the tables.",
    "fuzz": "Send streams made from the tables to an assembler, ours or yours.",
    "matrix": "Compare what real clients make of streams with the tables.",
    "explore": "Visit every state that the machines can reach together.",
    "build": "Print again what is derived from the tables.",
}
"""The commands with their help in one line; each is the function of its name in the module of its name."""

GOOD, FINDINGS, UNREADABLE = 0, 1, 2
"""What a command exits with; usage errors, which click tells, are 2 as well."""

_BROKEN: Final = "the compiled tables cannot be imported; `wholecall build` prints them again"


tables_option = click.option(
    "--tables",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Read the tables in this folder instead of the packaged ones.",
)
"""The option of every command that reads tables."""

_EXTRAS: Final = {"hypothesis": "fuzz"}
"""What a command needs beyond what every installation has, and the extra that brings it."""


class Unusable(click.ClickException):
    """What was given cannot be used: the message is printed, and the command exits with 2."""

    exit_code = UNREADABLE


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"{__name__}.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except WholecallError as error:
            refusal = str(error)
        except (ImportError, SyntaxError) as error:
            refusal = _missing(error)
            if not refusal:
                raise
        raise Unusable(refusal)


def _missing(error: ImportError | SyntaxError) -> str:
    """What is to be told of what could not be imported; empty where that is not known."""
    name = getattr(error, "name", None) or ""
    extra = _EXTRAS.get(name.partition(".")[0])
    if extra:
        return f"wholecall[{extra}] is not installed"
    return _BROKEN if "wholecall_generated" in f"{name} {getattr(error, 'filename', '')}" else ""


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(wholecall.__version__, prog_name="wholecall")
def cli() -> None:
    """Judge streamed LLM tool calls by a table: only whole calls run.

    Every command exits with 0 (good), 1 (findings) or 2 (usage, or unreadable input).
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # the name of a file may be no text


def main() -> None:
    """Run the command line."""
    cli(prog_name="wholecall")
