"""Reads the specification: from the text of its files to a `Spec`, or every refusal at once.

This room knows the format. What the words mean together (`check`) is asked only of what could be read: a
table or a join whose own form is wrong is told once, and not again by every row that leans on it.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from wholecall_spec import check
from wholecall_spec.check_joins import RESPONSE
from wholecall_spec.join import Column, Fact, Join, JoinRow
from wholecall_spec.page import Page, Problem, did_you_mean, unknown
from wholecall_spec.spec import Fault, Spec
from wholecall_spec.table import MACHINES, ROW_COLUMNS, ROW_MANDATORY, Input, Row, State, Table

JOINS = "joins.toml"
FAULTS = "faults.toml"
FILES = (*(f"{machine}.toml" for machine in MACHINES), JOINS, FAULTS)
"""Every file of a specification, in the order in which they are read."""

_HEAD = ("machine", "scope", "about", "initial")
_NEEDED = ("states", "finals", "inputs", "transitions")
_OPTIONAL = ("guards", "effects")
_JOIN_KEYS = ("about", "to", "reads", "facts", "rows")
_JOIN_ROW_KEYS = ("id", "gives", "why", "source")

Notes = tuple[tuple[str, str], ...]
"""Name and meaning, in the order of the file."""


class SpecError(Exception):
    """The specification is refused.

    Attributes:
        problems: Every mistake, in the order of files and lines.
    """

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, problems)))


def packaged() -> Traversable:
    """The folder of tables that comes with the package."""
    return files("wholecall_spec") / "tables"


def load(directory: Path | Traversable | None = None) -> Spec:
    """Read and check the specification in a folder (default: the packaged one).

    Errors:
        SpecError: With every problem found, each naming its file and line.
    """
    spec, problems = examine(directory)
    if spec is None:
        raise SpecError(problems)
    return spec


def examine(directory: Path | Traversable | None = None) -> tuple[Spec | None, list[Problem]]:
    """Read and check a folder: the specification where nothing is wrong, and every problem."""
    folder = packaged() if directory is None else directory
    if not folder.is_dir():
        return None, [Problem(str(folder), 1, "", "there is no such folder")]
    pages = {name: _open(folder, name) for name in FILES}
    read = {machine: read_table(pages[f"{machine}.toml"], machine) for machine in MACHINES}
    tables = {machine: table for machine, table in read.items() if table is not None}
    kinds, faults = read_faults(pages[FAULTS])
    outcomes, joins = read_joins(pages[JOINS], tables)
    if len(tables) < len(MACHINES) or not outcomes:
        joins = ()  # they name words of all of these
    spec = Spec(tuple(tables.values()), joins, outcomes, kinds, faults)
    check.check(spec, pages)
    problems = {problem for page in pages.values() for problem in page.problems}
    problems |= {
        Problem(str(folder / entry.name), 1, "", f"there is no such table{did_you_mean(entry.name, FILES)}")
        for entry in folder.iterdir()
        if entry.name.endswith(".toml") and entry.name not in FILES
    }
    return (None if problems else spec), sorted(problems)


def line_of(row_id: str, directory: Path | Traversable | None = None) -> str:
    """`FILE:LINE` of a row, looked up when it is printed; the folder where the row is not found."""
    folder = packaged() if directory is None else directory
    for name in FILES:
        page = _open(folder, name)
        for section in page.data:
            for line, entry in page.entries(section, "rows"):
                if entry.get("id") == row_id:
                    return f"{page.file}:{line}"
    return str(folder)


def problem_of_row(row_id: str, what: str, directory: Path | Traversable | None = None) -> Problem:
    """A problem of a row, at its line."""
    file, _, line = line_of(row_id, directory).rpartition(":")
    return Problem(file, int(line), row_id, what)


def problem_of_state(
    machine: str, state: str, what: str, directory: Path | Traversable | None = None
) -> Problem:
    """A problem of a state of a machine, at its line."""
    page = _open(packaged() if directory is None else directory, f"{machine}.toml")
    section = "states" if state in page.section("states") else "finals"
    return Problem(page.file, page.line(section, state), state, what)


def _open(folder: Path | Traversable, name: str) -> Page:
    path = folder / name
    text, trouble, line = "", "is empty", 1
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        trouble = "is missing"
    except UnicodeDecodeError as error:
        trouble, line = "is not UTF-8", error.object[: error.start].count(b"\n") + 1
    except OSError as error:
        trouble = f"cannot be read: {type(error).__name__}"
    page = Page(str(path), text)
    if not page.data and not page.problems:
        page.say(line, "", trouble)
    return page


def read_table(page: Page, machine: str) -> Table | None:
    """The table on a page; None where its sections are not what a table has."""
    if not page.data:
        return None
    page.known(page.data, (*_HEAD, *_NEEDED, *_OPTIONAL), "")
    for section in (*_NEEDED, *_OPTIONAL):
        page.section(section, section in _NEEDED)
    page.known(page.section("transitions"), ("rows",), "transitions")
    twice = [name for name in page.section("finals") if name in page.section("states")]
    for name in twice:
        page.say(page.line("finals", name), name, "is a live state and a final state at once")
    sound = not page.problems
    head = {key: page.text_of(page.data, key, page.line("", key), "") for key in _HEAD}
    if head["machine"] not in ("", machine):
        page.say(page.line("", "machine"), "", f"this file must name the machine {machine}")
    states = (*_states(page, "states"), *_states(page, "finals"))
    inputs = _inputs(page)
    guards, effects = (_notes(page, section, required=False) for section in _OPTIONAL)
    rows = tuple(_row(page, line, row) for line, row in page.entries("transitions", "rows"))
    if not sound or not rows:
        return None
    return Table(
        machine, head["scope"], head["about"], head["initial"], states, inputs, guards, effects, rows
    )


def _states(page: Page, section: str) -> tuple[State, ...]:
    final = section == "finals"
    states = []
    for name, line, entry in page.named(section, ("about", "good" if final else "sees")):
        good = entry.get("good", False)
        if not isinstance(good, bool):
            page.say(line, name, "good must be true or false")
        about = page.text_of(entry, "about", line, name)
        sees = () if final else page.texts_of(entry, "sees", line, name)
        states.append(State(name, about, final, bool(good), sees))
    return tuple(states)


def _inputs(page: Page) -> tuple[Input, ...]:
    return tuple(
        Input(
            name,
            page.text_of(entry, "about", line, name),
            page.texts_of(entry, "values", line, name),
            page.texts_of(entry, "carries", line, name),
        )
        for name, line, entry in page.named("inputs", ("about", "values", "carries"))
    )


def _notes(page: Page, section: str, required: bool = True) -> Notes:
    return tuple(
        (name, page.text_of(entry, "about", line, name))
        for name, line, entry in page.named(section, ("about",), required)
    )


def _row(page: Page, line: int, entry: dict[str, object]) -> Row:
    where = str(entry.get("id") or f"the row of state {entry.get('state', '?')}")
    page.known(entry, ROW_COLUMNS, where, line)
    return Row(
        **{
            column: page.text_of(entry, column, line, where, column in ROW_MANDATORY)
            for column in ROW_COLUMNS
        }
    )


def read_faults(page: Page) -> tuple[Notes, tuple[Fault, ...]]:
    """The kinds of faults on a page, and the faults."""
    if not page.data:
        return (), ()
    page.known(page.data, ("kinds", "faults"), "")
    kinds = _notes(page, "kinds")
    faults = []
    for name, line, entry in page.named("faults", ("kind", "about"), dotted=True):
        kind = page.text_of(entry, "kind", line, name)
        allowed = [name for name, _ in kinds]
        if kind and kinds and kind not in allowed:
            page.say(line, name, unknown("kind", kind, allowed))
        faults.append(Fault(name, kind, page.text_of(entry, "about", line, name)))
    return kinds, tuple(faults)


def read_joins(page: Page, tables: dict[str, Table]) -> tuple[Notes, tuple[Join, ...]]:
    """The outcomes on a page, and the joins; those are left out whose head is not what a join has."""
    if not page.data:
        return (), ()
    outcomes = _notes(page, "outcomes")
    joins = [_join(page, name, tables) for name in page.data if name != "outcomes"]
    return outcomes, tuple(join for join in joins if join is not None)


def _join(page: Page, name: str, tables: dict[str, Table]) -> Join | None:
    before = len(page.problems)
    entry = page.section(name)
    if not entry:
        return None
    if not {"reads", "rows"} & set(entry):
        page.say(page.line(name), name, "is no join: it has neither reads nor rows")
        return None
    page.known(entry, _JOIN_KEYS, name)
    about = page.text_of(entry, "about", page.line(name, "about"), name)
    to = page.texts_of(entry, "to", page.line(name, "to"), name, required=True)
    for hearer in to:
        if hearer not in (*MACHINES, RESPONSE):
            page.say(page.line(name, "to"), name, unknown("machine", hearer, (*MACHINES, RESPONSE)))
    reads = tuple(_column(page, at, read, name, tables) for at, read in page.entries(name, "reads"))
    facts = [
        _fact(page, at, fact, name) for at, fact in (page.entries(name, "facts") if "facts" in entry else ())
    ]
    sound = len(page.problems) == before
    rows = tuple(_join_row(page, at, row) for at, row in page.entries(name, "rows"))
    return Join(name, about, to, reads, tuple(facts), rows) if sound and rows else None


def _column(page: Page, line: int, entry: dict[str, object], name: str, tables: dict[str, Table]) -> Column:
    page.known(entry, ("machine", "of", "states"), name, line)
    machine = page.text_of(entry, "machine", line, name)
    if machine and machine not in MACHINES:
        page.say(line, name, unknown("machine", machine, MACHINES))
    of = page.text_of(entry, "of", line, name)
    if of not in ("", "one", "each"):
        page.say(line, name, f"of must be one or each: {of}")
    table, states = tables.get(machine), entry.get("states")
    if states in ("any", "finals"):
        found = () if table is None else table.finals if states == "finals" else table.states
        named = tuple(state.name for state in found)
    elif isinstance(states, list):
        named = page.texts_of(entry, "states", line, name)
    else:
        named = ()
        page.say(line, name, "states must be any, finals or a list of states")
    return Column(machine, "each" if of == "each" else "one", named)


def _fact(page: Page, line: int, entry: dict[str, object], name: str) -> Fact:
    page.known(entry, ("name", "about", "values"), name, line)
    return Fact(
        page.text_of(entry, "name", line, name),
        page.text_of(entry, "about", line, name),
        page.texts_of(entry, "values", line, name),
    )


def _join_row(page: Page, line: int, entry: dict[str, object]) -> JoinRow:
    where = str(entry.get("id") or "a row without id")
    cells = tuple((key, page.text_of(entry, key, line, where)) for key in entry if key not in _JOIN_ROW_KEYS)
    return JoinRow(cells=cells, **{key: page.text_of(entry, key, line, where) for key in _JOIN_ROW_KEYS})
