"""`wholecall matrix`: real clients beside the tables."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

import click

from wholecall.cases import Case, CaseError
from wholecall.clients.registry import ROOT, Client, clients
from wholecall.command import Unusable
from wholecall.command.files import read_file, read_json
from wholecall.fuzz.target import TargetError
from wholecall.matrix.column import Column, ask, cases_of_rows
from wholecall.matrix.report import lines, record, save

_STREAMS: Final = 300
"""As many at random as there are of rows; the slowest client reads them in a quarter of a minute."""


@click.command()
@click.argument("cases", nargs=-1, metavar="[FILE...]")
@click.option(
    "--clients",
    "root",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=ROOT,
    show_default=True,
    help="Where `make clients` installed them.",
)
@click.option(
    "--streams",
    metavar="N",
    type=click.IntRange(1),
    default=_STREAMS,
    show_default=True,
    help="How many at random.",
)
@click.option(
    "--seed", metavar="N", type=click.IntRange(0), default=0, show_default=True, help="Of the streams."
)
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("wholecall-matrix"),
    show_default=True,
    help="Where the page and the streams are written.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def matrix(cases: tuple[str, ...], root: Path, streams: int, seed: int, out: Path, as_json: bool) -> None:
    """Ask every client that is installed what it makes of streams, and compare that with the tables.

    The streams are made from the tables, a few for each row and N at random; FILE holds cases besides, one a
    line. DIR gets index.html,
    matrix.json, and a file for each stream that a client reads otherwise, which `wholecall cases
    --target-cmd` asks again.

    Exit status: 2 where no client is installed; else 0, for what others do is no failure of ours.
    """
    told = [case for name in cases for case in _cases(name)]
    installed = [client for client in clients().values() if client.versions(root)]
    if not installed:
        raise Unusable(f"no client is installed in {root}; `make clients` installs them")
    columns, troubles = _ask(installed, root, told, streams, seed)
    missing = {client.name: "not installed" for client in clients().values() if client not in installed}
    made = streams + len(cases_of_rows())
    matrix = record(columns, missing | troubles, made, seed, sum(case.built for case in told))
    trouble = ""
    try:
        save(columns, matrix, out)
    except OSError as error:
        trouble = f"the matrix cannot be written to {out}: {error.strerror}"
    if trouble:
        raise Unusable(trouble)
    if as_json:
        click.echo(json.dumps(matrix))
    else:
        click.echo("\n".join(lines(matrix)))
        click.echo(f"\nthe streams behind each cell: {out / 'index.html'}")


def _cases(name: str) -> Iterator[Case]:
    """The cases of a file."""
    for number, line in enumerate(read_file(name).split(b"\n"), 1):
        trouble = ""
        if line.strip():
            try:
                yield Case.load(read_json(name, line, number))
            except CaseError as error:
                trouble = f"{name}:{number}: {error}"
        if trouble:
            raise Unusable(trouble)


def _ask(
    installed: list[Client], root: Path, told: list[Case], streams: int, seed: int
) -> tuple[list[Column], dict[str, str]]:
    """What each client makes of them, and what is wrong with those that cannot be asked."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), context) as executor:
        asked = [executor.submit(ask_or_tell, one, root, told, streams, seed) for one in installed]
        answers = [answer.result() for answer in asked]
    troubles = {
        client.name: answer
        for client, answer in zip(installed, answers, strict=True)
        if isinstance(answer, str)
    }
    return [answer for answer in answers if not isinstance(answer, str)], troubles


def ask_or_tell(client: Client, root: Path, told: list[Case], streams: int, seed: int) -> Column | str:
    """What a client makes of them (see `ask`), or why it cannot be asked; runs in a process of its own."""
    try:
        return ask(client, root, told, streams, seed)
    except TargetError as error:
        return error.what
