"""The options that name a target, for the commands that ask one."""

from __future__ import annotations

from typing import Any

import click

from wholecall.fuzz.target import TIMEOUT, TargetName, try_out


def target_options(command: Any) -> Any:
    """`--target`, `--target-cmd` and `--timeout`."""
    options = [
        click.option("--target", metavar="MODULE:CALLABLE", help="A Python callable from chunks to calls."),
        click.option("--target-cmd", metavar="COMMAND", help="A program that answers lines of JSON."),
        click.option(
            "--timeout",
            metavar="S",
            type=click.FloatRange(0, min_open=True),
            default=TIMEOUT,
            show_default=True,
            help="Seconds that the target has for one stream.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def target_name(target: str | None, command: str | None, timeout: float) -> TargetName:
    """The target that the options name, once it was seen to answer; without any, wholecall itself.

    Errors:
        UsageError: Two are named.
        TargetError: It cannot be used.
    """
    if target and command:
        raise click.UsageError("give --target or --target-cmd, not both")
    name = TargetName(target or "", command or "", timeout)
    try_out(name)
    return name
