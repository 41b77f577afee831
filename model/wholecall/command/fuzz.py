"""`wholecall fuzz`: an assembler, ours or yours, against streams made from the tables."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from wholecall.assemble import CORE, rules_of
from wholecall.command import FINDINGS, Unusable
from wholecall.command.target import target_name, target_options
from wholecall.fuzz.campaign import Budget, Campaign
from wholecall.fuzz.cluster import connected
from wholecall.fuzz.report import lines, record, save
from wholecall.fuzz.rows import reachable

_SECONDS: Final = 60.0
_EVERY: Final = 0.2
"""Seconds between two progress lines."""


@click.command()
@target_options
@click.option("--profile", default=CORE, show_default=True, metavar="NAME", help="How to read.")
@click.option(
    "--seconds",
    metavar="S",
    type=click.FloatRange(0, min_open=True),
    help="How long to send streams; 60 by default.",
)
@click.option("--examples", metavar="N", type=click.IntRange(1), help="How many streams.")
@click.option(
    "--seed", metavar="N", type=click.IntRange(0), default=0, show_default=True, help="Of the choices."
)
@click.option(
    "--workers", metavar="N", type=click.IntRange(1), help="How many processes; one a core by default."
)
@click.option("--cluster", metavar="ADDRESS", help="Use the workers of the Dask scheduler at this address.")
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("wholecall-fuzz"),
    show_default=True,
    help="Where findings are kept, and looked for at first.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def fuzz(
    ctx: click.Context,
    /,
    target: str | None,
    target_cmd: str | None,
    timeout: float,
    profile: str,
    seconds: float | None,
    examples: int | None,
    seed: int,
    workers: int | None,
    cluster: str | None,
    out: Path,
    as_json: bool,
) -> None:
    """Send streams made from the tables to an assembler, and compare what it makes of them.

    Without a target it is wholecall itself. A callable gets the chunks of a stream as a list and returns the
    calls as a list of {"id", "name", "arguments"}; where it refuses the stream, it raises. README.md has both
    protocols.

    Streams are steered to rows, and to pairs of rows, that were not met yet. What differs is made small and
    kept in DIR as a case; Ctrl-C ends the campaign with its report.

    Exit status: 1 where something was found, 2 where the target cannot be used.
    """
    rules_of(profile)
    name = target_name(target, target_cmd, timeout)
    campaign = Campaign(name, seed, out / "examples")
    if seconds is None and examples is None:
        seconds = _SECONDS
    progress = Progress(campaign) if sys.stderr.isatty() and not as_json else lambda: None
    trouble = ""
    with _executor(workers, cluster) as (executor, number):
        campaign.run(Budget(seconds, examples), executor, number, progress)
    try:
        files = save(campaign, out)
    except OSError as error:
        trouble = f"findings cannot be kept in {out}: {error.strerror}"
    if trouble:
        raise Unusable(trouble)
    if as_json:
        click.echo(json.dumps(record(campaign, files)))
    else:
        click.echo("\n".join(lines(campaign, files)))
    if campaign.findings:
        ctx.exit(FINDINGS)


@contextmanager
def _executor(workers: int | None, cluster: str | None) -> Iterator[tuple[Executor, int]]:
    """What runs the walks, and how many at once."""
    if cluster:
        with connected(cluster) as (executor, number):
            yield executor, workers or number
        return
    number = workers or os.cpu_count() or 1
    context = multiprocessing.get_context("spawn")
    # Ctrl-C is for the process that makes the report.
    with ProcessPoolExecutor(number, context, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as executor:
        try:
            yield executor, number
        finally:
            executor.shutdown(cancel_futures=True)


class Progress:
    """Says on one line how far a campaign is."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._of = reachable(campaign.target.own)
        self._last = 0.0

    def __call__(self) -> None:
        """Say it, if enough time has passed."""
        now = time.monotonic()
        if now - self._last < _EVERY:
            return
        self._last = now
        campaign = self._campaign
        met = campaign.walked.coverage
        rows = sorted((met.rows[row], row) for row in self._of.rows)
        hit = sum(count > 0 for count, _ in rows)
        pairs = sum(met.pairs[pair] > 0 for pair in self._of.pairs)
        rate = campaign.walked.steps / max(campaign.seconds, 1e-9)
        click.echo(
            f"\r\x1b[Krows {hit}/{len(rows)}, rarest {rows[0][1]} {rows[0][0]}x, "
            f"pairs {pairs}/{len(self._of.pairs)}, {rate:,.0f} steps/s, "
            f"new {campaign.seconds - campaign.news:.0f} s ago, findings {len(campaign.findings)}",
            nl=False,
            err=True,
        )
