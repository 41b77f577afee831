"""What came of a response, and for a fault why, and where that stands; content only where it is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from command_output import CONTENT, DONE, WHY, call, cells, ending, finish, fragment, show

from wholecall.command import cli


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only file of a folder to work in."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    return Path("x.jsonl")


def test_a_refused_fragment_says_why_and_where_that_stands(file: Path) -> None:
    output = show(file, call(), fragment(id=""), CONTENT, finish())
    place = output.splitlines()[-2].split(" at ")[1]
    table, line = place.rsplit(":", 1)

    assert cells(output, "frame", "call")[-2:] == [("2", "0", "id empty", "I15"), ("fragment_refused", "S02")]
    assert "  2 frames after the fault not read\n" in output
    assert ending(output) == (
        "rejected: identity.conflict, an id contradicts the one already established"
        f" Frame 2, call 0: {WHY['I15']}. I15 at {place}"
    )
    assert 'id = "I15"' in Path(table).read_text(encoding="utf-8").split("\n")[int(line) - 1]


@pytest.mark.parametrize(
    ("frames", "told"),
    [
        ([fragment(id=7)], "(it is of type number)"),
        ([call(arguments='{"a": "b'), finish()], "(at character 8 of 8, inside a string)"),
        ([call(arguments="{]"), finish()], "(at character 1 of 2)"),
        ([{"error": {"code": 503}}], "(upstream status 503)"),
        ([{"error": {"code": "busy"}}], "(upstream code busy)"),
        ([{"error": {"status": 429, "code": "busy"}}], "(upstream status 429; upstream code busy)"),
    ],
)
def test_the_facts_of_a_fault_are_told_without_content(frames: list[object], told: str, file: Path) -> None:
    assert told in ending(show(file, *frames))


def test_the_place_in_the_schema_is_told(file: Path) -> None:
    tools = file.with_name("tools.json")
    parameters = {"required": ["page"]}
    tools.write_text(
        json.dumps([{"type": "function", "function": {"name": "tool", "parameters": parameters}}]),
        encoding="utf-8",
    )
    output = show(file, call(), finish(), options=("--tools", str(tools)))

    assert "(the schema's required at /required)" in ending(output)


def test_what_ends_a_response_after_its_frames_names_no_frame(file: Path) -> None:
    output = show(file, fragment(name="tool"), finish())
    cut = show(file, CONTENT)

    assert cells(output, "frame", "call")[-3:] == [
        ("end", "eof", "S21"),
        ("id end", "I06"),
        ("field_fault", "P02"),
    ]
    assert f"identity.missing, a call ended without a non-empty id Call 0: {WHY['I06']}. I06 at" in ending(
        output
    )
    assert (
        f"incomplete: stream.no_finish, the stream ended without a finish reason {WHY['S10'].capitalize()}."
        in (ending(cut))
    )


def test_every_faulty_call_is_named_and_a_row_once(file: Path) -> None:
    told = ending(show(file, *(call(index, "{") for index in range(12)), finish("tool_calls")))

    assert [f"Call {index}: " in told for index in range(12)] == [True] * 10 + [False] * 2
    assert "And so in 2 more calls." in told
    assert told.count("P08 at ") == 1


def test_a_call_of_another_choice_is_named_with_it(file: Path) -> None:
    assert "Frame 1, choice 2, call 0: " in ending(show(file, fragment(0, 2, id=None)))


def test_content_is_shown_only_when_it_is_asked_for(file: Path) -> None:
    nasty = "\x1b[2J\u202e"
    frames = [fragment(id="call-x", name="tool-x", arguments=f'{{"a":"{nasty}"}}'), CONTENT, finish()]
    plain = show(file, *frames)
    raw = show(file, *frames, options=("--raw",))

    assert [word for word in ("call-x", "tool-x", "hunter2", '"a"') if word in plain] == []
    assert 'call 0 id "call-x" name "tool-x" arguments "{\\"a\\":\\"\\u001b[2J\\u202e\\"}"' in ending(raw)
    assert "\x1b" not in plain + raw


def test_the_name_and_the_words_of_a_file_are_no_commands_to_a_terminal(file: Path) -> None:
    nasty = file.with_name("\x1b[2J.jsonl")
    output = show(nasty, {"wholecall": {"evidence": "synthetic", "about": "\x1b[3J"}}, finish())

    assert output.splitlines()[:2] == ["'\\x1b[2J.jsonl'", "'\\x1b[3J'"]


def test_a_call_of_another_choice_is_shown_raw_with_it(file: Path) -> None:
    assert 'call 1:0 id "call-1-0"' in ending(show(file, call(choice=1), options=("--raw",)))


def test_what_upstream_said_is_shown_only_when_it_is_asked_for(file: Path) -> None:
    error = {"error": {"message": "hunter2"}}

    assert "hunter2" not in show(file, error)
    assert 'Upstream says: "hunter2"' in show(file, error, options=("--raw",))
    assert "Upstream says" not in show(file, {"error": 7}, options=("--raw",))


def test_the_rows_can_be_shown(file: Path) -> None:
    assert "rows: S03 S04 S20 R05 P04" in ending(show(file, finish(), DONE, options=("--rows",)))


def test_on_a_terminal_colour_says_what_was_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    file.write_text(json.dumps(fragment()).replace('"index": 0, "function"', '"function"'), encoding="utf-8")
    result = CliRunner().invoke(cli, ["replay", str(file)], color=True)

    assert "\x1b[31mR03" in result.stdout
