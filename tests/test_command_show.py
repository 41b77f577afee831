"""What people see of a response: a short table of what came, and of the row that decided."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from command_output import CONTENT, DONE, WHY, call, cells, ending, finish, fragment, show

from wholecall.command import cli
from wholecall.command.trace import MOST_LINES

SAMPLES = Path(__file__).with_name("samples")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only file of a folder to work in."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    return Path("x.jsonl")


def test_calls_that_come_interleaved(file: Path) -> None:
    output = show(file, *(SAMPLES / "parallel.jsonl").read_text(encoding="utf-8").splitlines())
    name, about, stated = output.splitlines()[:3]

    assert name == str(file)
    assert about == "two calls come interleaved, each with its own arguments"
    assert stated == "chat, core, 5 frames, evidence synthetic"
    assert cells(output, "frame", "call") == [
        ("1", "0", "index new", "R01"),
        ("id text", "I04"),
        ("name text", "N04"),
        ("arguments empty", "A03"),
        ("2", "1", "index new", "R06"),
        ("id text", "I04"),
        ("name text", "N04"),
        ("arguments text", "A04"),
        ("3", "0", "arguments text", "A04"),
        ("1", "arguments text", "A11"),
        ("4", "content", "S03"),
        ("finish_normal", "S04"),
        ("5", "done", "S20"),
        ("end", "fields_fixed", "P05"),
        ("distinct_ids", "P07"),
        ("syntax_ok", "P09"),
        ("structure_ok", "P11"),
    ]
    assert ending(output) == "whole, 2 calls"


def test_what_happens_on_end_is_told_once(file: Path) -> None:
    output = show(
        file, CONTENT, CONTENT, CONTENT, call(arguments="{"), fragment(arguments="}"), finish(), DONE
    )

    assert cells(output, "frame", "call")[0] == ("1-3", "content", "S03")
    assert f"{WHY['S03']} (3 times)" in " ".join(output.split())


def test_a_fragment_with_nothing_in_it_is_seen_to_continue_its_call(file: Path) -> None:
    output = show(file, call(), fragment())

    assert cells(output, "frame", "call")[4] == ("2", "0", "index known", "R08")


def test_choices_are_told_apart(file: Path) -> None:
    content = {"choices": [{"index": 1, "delta": {"content": "x"}}]}
    output = show(file, call(choice=1), content, finish(choice=1), finish(), DONE)
    table = cells(output, "frame", "call")

    assert table[0] == ("1", "1:0", "index new", "R01")
    assert ("2-3", "1:", "content", "S03") in table
    assert ("3", "1:", "finish_normal", "S04") in table
    assert [row for row in table if "done" in row] == [("5", "done", "S20")]
    assert f"{WHY['S20']} (2 times)" in " ".join(output.split())


def test_what_one_frame_holds_is_told_in_its_order(file: Path) -> None:
    parts = [{"index": 3, "id": "a"}, {"index": 4, "id": ""}]
    first = {"index": 1, "delta": {}}
    second = {"index": 0, "delta": {"tool_calls": parts}, "finish_reason": "stop"}
    output = show(file, {"choices": [first, second]}, {"choices": [], "usage": {}})

    assert cells(output, "frame", "call") == [
        ("1", "1:", "content", "S03"),
        ("3", "index new", "R01"),
        ("id text", "I04"),
        ("4", "index new", "R06"),
        ("id empty", "I03"),
        ("finish_normal", "S04"),
        ("2", "content", "S14"),
        ("content", "S03"),
        ("end", "eof", "S21"),
        ("eof", "S10"),
    ]


def test_what_a_refusal_tells_the_stream_belongs_to_no_other_fragment(file: Path) -> None:
    parts = [{"index": 3, "id": None}, {"index": 4, "id": "a"}]
    output = show(file, {"choices": [{"delta": {"tool_calls": parts}}]})

    assert cells(output, "frame", "call")[1:] == [("id null", "I02"), ("fragment_refused", "S02")]


@pytest.mark.parametrize(
    ("index", "kind"), [(None, "missing"), (-1, "other"), ("0", "other"), (True, "other")]
)
def test_a_fragment_that_reaches_no_call_has_none(index: object, kind: str, file: Path) -> None:
    output = show(file, fragment(index))

    assert cells(output, "frame", "call")[0][:3] == ("1", "?", f"index {kind}")
    assert "Frame 1: " in output


def test_nothing_at_all_is_a_response_too(file: Path) -> None:
    output = show(file)

    assert "chat, core, 0 frames, evidence not stated" in output
    assert cells(output, "frame", "call") == [("end", "eof", "S10")]


def test_the_second_response_of_a_file_is_numbered(file: Path) -> None:
    output = show(file, finish(), DONE, finish(), DONE)

    assert output.splitlines()[0] == str(file)
    assert f"\n{file}, response 2\n" in output
    assert output.count("answered\n") == 2


def test_a_response_with_too_many_lines_is_summarised(file: Path) -> None:
    """Of two calls in turns no two lines on end are the same."""
    turns = [fragment(index % 2, arguments=" ") for index in range(2, MOST_LINES + 2)]
    output = show(file, call(0), call(1), *turns, finish(), DONE)
    counts = {row[-1]: row[0] for row in cells(output, "times")}

    assert f"{MOST_LINES + 4} frames (summarised)" in output
    assert (counts["R01"], counts["R06"], counts["A11"], counts["P11"]) == ("1", "1", "200", "1")
    assert ending(output) == "whole, 2 calls"


@pytest.mark.parametrize("more", range(10))
def test_a_response_with_as_many_lines_as_can_be_read_is_not(more: int, file: Path) -> None:
    """Two calls, the end of the choice, that of the stream and the proposal are nine lines."""
    turns = [fragment(index % 2, arguments=" ") for index in range(MOST_LINES - 9 + more)]
    output = show(file, call(0), call(1), *turns, finish(), DONE)

    assert ("(summarised)" in output) is (more > 0)


def test_a_long_response_is_summarised_and_nothing_of_it_is_lost(file: Path) -> None:
    """Beyond a million bytes; and what is forgotten on the way is counted, and kept where it is asked for."""
    padding = {"padding": "x" * 200}
    pieces = [{**fragment(arguments="0123456789"), **padding} for _ in range(5_000)]
    frames = [call(arguments='{"a":"'), *pieces, fragment(arguments='"}'), finish(), DONE]
    output = show(file, *frames, options=("--rows", "--raw"))
    counts = {row[-1]: row[0] for row in cells(output, "times")}
    (rows,) = (line for line in ending(output).split(" call 0 ") if "rows:" in line)

    assert "chat, core, 5,004 frames (summarised), evidence not stated" in output
    assert (counts["A04"], counts["A11"], counts["S20"]) == ("1", "5,001", "1")
    assert rows.split().count("A11") == 5_001
    assert "0123456789" * 5_000 in "".join(output.split())


def test_on_a_terminal_a_long_file_has_a_bar(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    file.write_text(f"{json.dumps(finish())}{' ' * 1_500_000}\n", encoding="utf-8")
    result = CliRunner().invoke(cli, ["replay", "--json", str(file)])

    assert json.loads(result.stdout)["outcome"] == "answered"
    assert "x.jsonl" in result.stderr
    assert "/1.5 MB" in result.stderr
