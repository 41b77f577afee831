"""`wholecall explore`: every state that the machines can reach together, and what must hold in each."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from wholecall.command import FINDINGS, Unusable, tables_option
from wholecall.explore.frames import lines
from wholecall.explore.machines import Move, RowError
from wholecall.explore.scope import BOUNDS, Scope
from wholecall.explore.search import Exploration, Violation
from wholecall.explore.search import explore as search
from wholecall_spec.load import SpecError, load, problem_of_row, problem_of_state
from wholecall_spec.statements import sentence_of

_BOUNDS = {
    "choices": "Choices of a response.",
    "calls": "Calls of a choice.",
    "attempts": "Requests of one run of a turn.",
    "queries": "Queries of an operation in one run.",
    "tries": "Tries of an operation under its key.",
}


def _bounds(command: Any) -> Any:
    """An option for each bound of a scope."""
    for name in reversed(BOUNDS):
        default = getattr(Scope(), name)
        option = click.option(
            f"--{name}", type=click.IntRange(1), default=default, show_default=True, help=_BOUNDS[name]
        )
        command = option(command)
    return command


@click.command()
@_bounds
@tables_option
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="Where the frames of a run that breaks something are saved; here by default.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def explore(ctx: click.Context, /, tables: Path | None, out: Path, as_json: bool, **bounds: Any) -> None:
    """Visit every state that the machines can reach together, breadth first, and look at what must hold.

    Within the bounds nothing is sampled. What breaks a statement is shown as the shortest run that does, and
    its frames are saved for `wholecall replay`. One turn is explored, with its responses, its operations, and
    one more run of it after a crash; the k-th call of a choice has index k.
    """
    progress = Progress() if sys.stderr.isatty() and not as_json else lambda _, __: None
    trouble = ""
    try:
        found = search(load(tables), replace(Scope(), **bounds), progress)
        saved = dict(_save(found, out))
    except SpecError as error:
        trouble = str(error)
    except RowError as error:
        trouble = str(problem_of_row(error.row, error.what, tables))
    except OSError as error:
        trouble = f"{error.filename or out}: {error.strerror}"
    if trouble:
        raise Unusable(trouble)
    if as_json:
        click.echo(json.dumps(_record(found, saved)))
    else:
        _show(found, saved, tables)
    if found.violations or found.unseen:
        ctx.exit(FINDINGS)


class Progress:
    """Says on one line how far it is."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    def __call__(self, states: int, waiting: int) -> None:
        """So many states were found, and so many of them wait; the line goes away with the last."""
        rate = states / max(time.perf_counter() - self._began, 1e-9)
        ended = "\r\x1b[K" if waiting == 1 else ""
        click.echo(
            f"\r\x1b[K{states:,} states, {waiting:,} waiting, {rate:,.0f} states/s{ended}", nl=False, err=True
        )


def _save(found: Exploration, out: Path) -> Iterator[tuple[str, str]]:
    """Save the frames of each run that has any; the name of the statement, and of the file."""
    for violation in found.violations:
        frames = lines(violation.run)
        if frames:
            out.mkdir(parents=True, exist_ok=True)
            path = out / f"{violation.name}.jsonl"
            path.write_text("".join(f"{frame}\n" for frame in frames), encoding="utf-8")
            yield violation.name, str(path)


def _show(found: Exploration, saved: dict[str, str], tables: Path | None) -> None:
    click.echo(f"scope: {found.scope}")
    click.echo(f"{found.states:,} states, {found.transitions:,} transitions, {found.seconds:.1f} s\n")
    for name, kind, holds in found.invariants:
        click.echo(f"{'holds' if holds else 'BROKEN':<7} {kind:<11} {name}")
    for machine, state, input in found.unseen:
        click.echo(
            f"\n{problem_of_state(machine, state, f'it gets {input}, which it claims not to see', tables)}"
        )
    for violation in found.violations:
        click.echo(f"\n{violation.name}: {sentence_of(violation.name)}")
        if violation.rows:
            click.echo(f"  never: {' '.join(violation.rows)}")
        for number, move in enumerate(violation.run, 1):
            click.echo(f"  {number:>3}  {told(move)}")
        if violation.name in saved:
            click.echo(f"  frames: wholecall replay {saved[violation.name]}")


def told(move: Move) -> str:
    """A move in one line: what came, and the rows that fired."""
    words = [getattr(fact, "text", "") or getattr(fact, "input", str(fact)) for fact in move.event]
    return f"{' '.join(words)}  {' '.join(move.rows)}".rstrip()


def _record(found: Exploration, saved: dict[str, str]) -> dict[str, Any]:
    return {
        "scope": {name: getattr(found.scope, name) for name in BOUNDS},
        "states": found.states,
        "transitions": found.transitions,
        "seconds": round(found.seconds, 3),
        "invariants": [
            {"name": name, "kind": kind, "holds": holds} for name, kind, holds in found.invariants
        ],
        "unseen": [one._asdict() for one in found.unseen],
        "violations": [_violation(one, saved) for one in found.violations],
    }


def _violation(one: Violation, saved: dict[str, str]) -> dict[str, Any]:
    return {
        "name": one.name,
        "sentence": sentence_of(one.name),
        "run": [{"event": told(move._replace(rows=())), "rows": move.rows} for move in one.run],
        "never": one.rows,
        "file": saved.get(one.name),
    }
