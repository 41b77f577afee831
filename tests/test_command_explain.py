"""`wholecall explain` says of a row why it is so, who says it and where it stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wholecall.command import cli
from wholecall_spec.load import line_of, load

SPEC = load()
IDS = [row.id for table in SPEC.tables for row in table.rows]
IDS += [row.id for join in SPEC.joins for row in join.rows]


def explain(*words: str) -> Result:
    return CliRunner().invoke(cli, ["explain", *words])


def squeezed(text: str) -> str:
    """The text without its layout."""
    return " ".join(text.split())


def test_a_refusing_row_is_explained() -> None:
    result = explain("I15")
    place = line_of("I15").removeprefix(f"{Path.cwd()}/")
    told = [
        "I15 an empty id contradicts the established one",
        "state established: a non-empty id has arrived, and stands",
        "input empty: the id field is the empty string",
        "next rejected: the call has no id that can be trusted",
        "fault identity.conflict: an id contradicts the one already established",
        "recovery regenerate: nothing ran: ask for the response again, within the limit of attempts",
        "source article-1 §2 (synthetic)",
        f"at {place}",
    ]

    assert result.exit_code == 0
    assert [part for part in told if part not in squeezed(result.output)] == []


def test_a_place_below_another_folder_is_told_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert f"at {line_of('I15')}" in squeezed(explain("I15").output)


def test_effect_and_guards_are_explained() -> None:
    told = squeezed(explain("R06").output)

    assert "effect open_call: open a call at this index" in told
    assert "when calls_left (calls_left: one more call stays within the limit of calls)" in told


def test_a_carried_fault_is_the_one_that_came() -> None:
    assert "fault carried: the one that came with the input" in squeezed(explain("S02").output)


def test_a_row_of_a_join_is_explained() -> None:
    told = squeezed(explain("J09").output)

    assert "join gathered: What the finals of every choice and field say to the proposal." in told
    assert "where identity: some rejected" in told
    assert "gives field_fault to proposal" in told


def test_a_cell_is_explained_by_all_its_rows() -> None:
    result = explain("identity", "established", "text")

    assert [line.split()[0] for line in result.output.splitlines() if line[:1] not in ("", " ")] == [
        "I16",
        "I17",
    ]


def test_every_row_can_be_explained_within_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wholecall.command.explain.load", lambda: SPEC)
    monkeypatch.setattr("wholecall.command.explain.line_of", lambda row_id: f"{row_id}.toml:1")
    for row_id in IDS:
        lines = explain(row_id.lower()).output.splitlines()

        assert lines[0].startswith(f"{row_id}  ")
        assert lines[-1].endswith(f"{row_id}.toml:1")
        assert [line for line in lines if len(line) > 80 or line != line.rstrip()] == []


@pytest.mark.parametrize("row_id", ["R01", "S02", "O05", "J01"])
def test_a_program_can_read_a_row(row_id: str) -> None:
    record = json.loads(explain("--json", row_id).stdout)

    assert record["id"] == row_id
    assert f"{record['file']}:{record['line']}" == line_of(row_id)
    assert record["evidence"] in ("synthetic", "reconstructed")


def test_the_record_of_a_row_holds_its_fault_in_full() -> None:
    refusing, plain, carried = (
        json.loads(explain("--json", row).stdout)["fault"] for row in ("I15", "I14", "S02")
    )

    assert refusing == {
        "name": "identity.conflict",
        "kind": "regenerate",
        "about": "an id contradicts the one already established",
    }
    assert (plain, carried) == (None, "carried")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("I99", "unknown row I99 (did you mean I19?)"),
        ("Q1", "unknown row Q1 (the id of a row is a letter and a number, such as R01)"),
        ("identity.conflict", "unknown row identity.conflict (the id of a row is a letter and a number"),
        ("identty established null", "unknown machine identty (did you mean identity?)"),
        ("identity estblished null", "unknown state of identity estblished (did you mean established?)"),
        ("identity established nul", "unknown input of identity nul (did you mean null?)"),
        (
            "identity fixed null",
            "nothing leaves fixed, a final state of identity: the call ended with its id",
        ),
        ("routing none known", "routing never sees known in none, only new, missing, other, end"),
        ("identity null", "give the id of a row, or a machine, a state and an input"),
    ],
)
def test_what_is_not_there_is_answered_with_what_is(words: str, said: str) -> None:
    result = explain(*words.split())

    assert result.exit_code == 2
    assert said in result.stderr
