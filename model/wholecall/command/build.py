"""`wholecall build`: print everything that is derived from the tables, or say what is stale."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

import wholecall_spec
from wholecall.command import FINDINGS, Unusable, tables_option
from wholecall.press import outputs
from wholecall.press.outputs import PressError, Stale
from wholecall.press.render import RendererMissingError
from wholecall_spec.load import SpecError, load


@click.command()
@click.option("--check", "only_check", is_flag=True, help="Write nothing; print what is stale, and exit 1.")
@tables_option
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Print below this folder instead of the project that wholecall is installed from.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def build(ctx: click.Context, only_check: bool, tables: Path | None, out: Path | None, as_json: bool) -> None:
    """Print the compiled tables, tests, pages and diagrams again.

    All are functions of the tables, and the same tables give the same bytes. Formatting and drawing need the
    extra wholecall[build].
    """
    root = out or project()
    if root is None:
        raise Unusable("wholecall is not installed from a project (pip install -e); give --out DIR")
    stale: list[Stale] = []
    changed: list[str] = []
    trouble = ""
    try:
        spec = load(tables)
        if only_check:
            stale = outputs.stale(spec, root)
        else:
            changed = outputs.write(spec, root)
    except SpecError as error:
        click.echo(str(error))
        ctx.exit(FINDINGS)
    except (PressError, RendererMissingError) as error:
        trouble = str(error)
    except OSError as error:
        trouble = f"{error.filename or root}: {error.strerror}"
    if trouble:
        raise Unusable(trouble)
    if as_json:
        click.echo(json.dumps({"stale": [asdict(file) for file in stale], "changed": changed}))
    elif only_check:
        for file in stale:
            click.echo(f"{file}\n")
        click.echo(f"{len(stale)} stale: run `wholecall build`" if stale else "nothing is stale")
    else:
        for path in changed:
            click.echo(path)
        click.echo(f"{len(changed)} changed")
    if stale:
        ctx.exit(FINDINGS)


def project() -> Path | None:
    """The project that the packages are imported from, where they are installed in editable mode."""
    package = Path(wholecall_spec.__file__).resolve().parent
    root = package.parents[1]
    return root if package.parent.name == "spec" and (root / "pyproject.toml").is_file() else None
