"""`wholecall check`: is the table complete, unambiguous and sound?"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from wholecall.command import FINDINGS, tables_option
from wholecall.explore.search import problems as explored
from wholecall_spec.load import examine
from wholecall_spec.spec import Spec


@click.command()
@tables_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def check(ctx: click.Context, tables: Path | None, as_json: bool) -> None:
    """Check the tables: every mistake, each with its file and line.

    A state and input without a row, two rows of one cell that can hold together, a state that cannot be
    reached or left, an unknown word: all are found by enumeration, which proves that there are no others.
    Then the machines are explored together, in scopes in which every row can fire: a row that never does, and
    an input that comes where it is claimed not to, are mistakes too.
    """
    spec, problems = examine(tables)
    if spec is not None:
        problems = explored(spec, tables)
    if as_json:
        found = [asdict(problem) for problem in problems]
        click.echo(json.dumps({**(counts(spec) if spec else {}), "problems": found}))
    elif spec is not None and not problems:
        click.echo(f"{', '.join(f'{count} {name}' for name, count in counts(spec).items())}: no problem")
    else:
        for problem in problems:
            click.echo(str(problem))
        click.echo(f"{len(problems)} problem{'s' * (len(problems) > 1)}", err=True)
    if problems:
        ctx.exit(FINDINGS)


def counts(spec: Spec) -> dict[str, int]:
    """How much a specification holds; `rows` are those of machines."""
    return {
        "machines": len(spec.tables),
        "rows": sum(len(table.rows) for table in spec.tables),
        "joins": len(spec.joins),
        "faults": len(spec.faults),
    }
