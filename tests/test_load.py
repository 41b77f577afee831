"""The loader refuses every mistake of the format: each at its line, in words that help, and all at once.

`mistakes.md` lists them with all that is said of each. Here stands what one edit cannot say, and the reader
of that list.
"""

from __future__ import annotations

import functools
import re
import shutil
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from wholecall_spec.load import FILES, SpecError, examine, line_of, load, packaged
from wholecall_spec.table import MACHINES

MISTAKES = Path(__file__).with_name("mistakes.md")


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """A copy of the real tables, to be spoiled."""
    shutil.copytree(str(packaged()), tmp_path / "tables")
    return tmp_path / "tables"


parse_once = functools.cache(tomllib.loads)


@pytest.fixture(autouse=True)
def unspoiled_files_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test spoils one file or two of ten, and reading TOML is most of the work."""
    monkeypatch.setattr("wholecall_spec.page.tomllib.loads", parse_once)


def told(folder: Path) -> list[str]:
    """Every problem as it is printed, but for the name of the folder."""
    return [str(problem).replace(f"{folder}/", "") for problem in examine(folder)[1]]


def line_with(path: Path, anchor: str) -> int:
    lines = path.read_text(encoding="utf-8").split("\n")
    (found,) = (number for number, line in enumerate(lines, 1) if anchor in line)
    return found


def blocks() -> Iterator[tuple[str, list[str]]]:
    """The title and the lines of every block of the page."""
    page = MISTAKES.read_text(encoding="utf-8")
    for section, body in re.findall(r"## (\w+)\n\n```text\n(.+?)\n```", page, re.DOTALL):
        for block in body.split("\n\n"):
            title, *lines = block.split("\n")
            yield f"{section}: {title}", lines


def edit(folder: Path, line: str) -> None:
    """Do what one line of a block says."""
    found = re.fullmatch(r"(\S+), (.+?): (?:(--)|\+\+ (.+)|(.+) => (.+))", line)
    assert found, line
    name, anchor, cut, added, old, new = found.groups()
    path = folder / name
    lines = path.read_text(encoding="utf-8").split("\n")
    place = line_with(path, anchor) - 1
    if cut:
        del lines[place]
    elif added:
        lines.insert(place + 1, added)
    else:
        assert lines[place].count(old) == 1, line
        lines[place] = lines[place].replace(old, new.replace("(nothing)", ""))
    path.write_text("\n".join(lines), encoding="utf-8")


def expected(folder: Path, line: str) -> str:
    """A problem of a block, with its anchors counted in the edited files."""
    return re.sub(
        r"(\w+\.toml):\{(.+?)\}", lambda at: f"{at[1]}:{line_with(folder / at[1], at[2])}", line.strip()
    )


@pytest.mark.parametrize("lines", [pytest.param(lines, id=title) for title, lines in blocks()])
def test_a_mistake_is_told_at_its_line_and_nothing_else_is(tables: Path, lines: list[str]) -> None:
    edits = [line for line in lines if not line.startswith("  ")]
    for line in edits:
        edit(tables, line)

    assert told(tables) == [expected(tables, line) for line in lines[len(edits) :]]


def test_the_real_tables_have_no_problem_and_load_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    begun = time.process_time()

    spec, problems = examine()

    assert time.process_time() - begun < 1
    assert problems == []
    assert spec == load()
    assert tuple(table.machine for table in load().tables) == MACHINES


def test_a_copy_of_the_tables_is_the_same_specification(tables: Path) -> None:
    assert load(tables) == load()


def test_a_refusal_lists_every_problem_a_line_each(tables: Path) -> None:
    edit(tables, 'identity.toml, "I08": "null" => "nul"')
    edit(tables, 'name.toml, "N01": "omitted" => "omited"')

    with pytest.raises(SpecError) as caught:
        load(tables)

    assert [problem.where for problem in caught.value.problems] == ["I08", "N01"]
    assert str(caught.value).replace(f"{tables}/", "").split("\n") == [
        expected(tables, 'identity.toml:{"I08"}: I08: unknown input nul (did you mean null?)'),
        expected(tables, 'name.toml:{"N01"}: N01: unknown input omited (did you mean omitted?)'),
    ]


@pytest.mark.parametrize(
    ("change", "at"),
    [
        ('"I08": "I08", => "I08,', '"I08,'),
        ('"I08": state = => state', '"I08"'),
        ('"I08": "null", => "null"', '"I08"'),
        ('"I08": id = "I08", => id = "I08", id = "I09",', '"I08"'),
        ("[guards]: [guards] => [guards", "[guards"),
        ("null    =: ++ null = 5", "null = 5"),
        ("[effects]: [effects] => [guards] # twice", "# twice"),
        ("machine =: = => :", "machine :"),
    ],
)
def test_a_syntax_error_of_toml_is_told_at_its_line_and_hides_no_other_file(
    tables: Path, change: str, at: str
) -> None:
    edit(tables, f"identity.toml, {change}")
    edit(tables, 'name.toml, "N06": name.type => name.tipe')

    syntax, other = told(tables)

    assert syntax.startswith(expected(tables, f"identity.toml:{{{at}}}: not TOML: "))
    assert other == expected(
        tables, 'name.toml:{"N06"}: N06: unknown fault name.tipe (did you mean name.type?)'
    )


def test_a_list_that_is_never_closed_is_told_at_the_last_line(tables: Path) -> None:
    path = tables / "identity.toml"
    path.write_text(path.read_text(encoding="utf-8").rstrip("]\n") + "\n\n\n", encoding="utf-8")

    (problem,) = told(tables)

    assert problem.startswith(expected(tables, 'identity.toml:{"I19"}: not TOML: '))


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_told_once(tables: Path, name: str) -> None:
    (tables / name).unlink()

    assert told(tables) == [f"{name}:1: is missing"]


@pytest.mark.parametrize("name", FILES)
def test_an_empty_file_is_told_once(tables: Path, name: str) -> None:
    (tables / name).write_text("# nothing yet\n")

    assert told(tables) == [f"{name}:1: is empty"]


def test_a_file_that_cannot_be_read_is_told(tables: Path) -> None:
    (tables / "name.toml").unlink()
    (tables / "name.toml").mkdir()

    assert told(tables) == ["name.toml:1: cannot be read: IsADirectoryError"]


def test_text_that_is_not_utf_8_is_told_at_its_line(tables: Path) -> None:
    path = tables / "name.toml"
    line = line_with(path, "the name is null")
    path.write_bytes(path.read_bytes().replace(b"the name is null", b"the name is \xff"))

    assert told(tables) == [f"name.toml:{line}: is not UTF-8"]


def test_an_extra_table_is_told_and_other_files_are_let_be(tables: Path) -> None:
    shutil.copy(tables / "identity.toml", tables / "identiy.toml")
    (tables / "README.md").write_text("a folder may have other files")

    assert told(tables) == ["identiy.toml:1: there is no such table (did you mean identity.toml?)"]


def test_a_folder_that_is_not_there_is_told_once(tmp_path: Path) -> None:
    spec, problems = examine(tmp_path / "nowhere")

    assert spec is None
    assert list(map(str, problems)) == [f"{tmp_path}/nowhere:1: there is no such folder"]


def test_lines_are_counted_as_editors_count_them(tables: Path) -> None:
    """A line separator of Unicode within a text, and the line ends of Windows, move nothing."""
    path = tables / "identity.toml"
    line = line_with(path, '"I08"')
    edit(tables, 'identity.toml, "I08": "blank" => "blnk"')
    text = path.read_text(encoding="utf-8").replace("the id field is null", "the id field\u2028is\u0085null")
    path.write_bytes(text.replace("\n", "\r\n").encode())

    assert told(tables) == [f"identity.toml:{line}: I08: unknown state blnk (did you mean blank?)"]


def test_a_problem_stays_on_one_line_whatever_a_file_says(tables: Path) -> None:
    edit(tables, r'identity.toml, "I08": "I08" => "I\n08"')
    edit(tables, r'identity.toml, [inputs]: ++ "a\nb" = "c"')

    assert all("\n" not in problem for problem in told(tables))
    assert len(told(tables)) == 3


@pytest.mark.parametrize("row_id", ["R01", "I14", "O30", "J01", "J37"])
def test_the_place_of_a_row_is_found_by_its_id(row_id: str) -> None:
    file, _, line = line_of(row_id).rpartition(":")

    assert f'{{ id = "{row_id}"' in Path(file).read_text(encoding="utf-8").split("\n")[int(line) - 1]


def test_the_place_of_an_unknown_row_is_the_folder(tables: Path) -> None:
    assert line_of("I99") == str(packaged())
    assert line_of("I99", tables) == str(tables)
