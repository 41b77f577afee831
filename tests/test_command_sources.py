"""Frames stand in files of three forms, which may state their level of evidence, and may be none at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from command_files import FINISH, FRAME, TEXT, WHOLE, array, events, lines, records, replay

from wholecall.command import cli


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "form"), [("x.jsonl", lines), ("x.sse", events), ("x.json", array)])
@pytest.mark.parametrize("by", ["name", "first bytes", "standard input"])
def test_frames_stand_in_three_forms(name: str, form: Any, by: str, folder: Path) -> None:
    content = form(*WHOLE)
    file = {"name": name, "first bytes": "x.recording", "standard input": "-"}[by]
    (folder / file).write_bytes(content)
    found = records("--rows", file, given=content)

    assert [(record["file"], record["outcome"]) for record in found] == [(file, "whole")]
    assert found[0]["rows"][:5] == ["S01", "R01", "I04", "N04", "A04"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.jsonl", lines({"wholecall": {"evidence": "recorded"}}, TEXT)),
        ("x.json", array({"wholecall": {"evidence": "recorded", "about": "x"}}, TEXT)),
        ("x.sse", b': {"wholecall": {"evidence": "recorded"}}\r\n\r\n' + events(TEXT)),
        ("bom.jsonl", b"\xef\xbb\xbf" + lines({"wholecall": {"evidence": "recorded"}}, TEXT)),
    ],
)
def test_a_file_may_state_its_level_of_evidence(name: str, content: bytes, folder: Path) -> None:
    (folder / name).write_bytes(content)
    (record,) = records("--rows", name)

    assert (record["evidence"], record["outcome"]) == ("recorded", "answered")
    assert len(record["rows"]) == 5


@pytest.mark.parametrize(
    "first",
    [
        {"wholecall": {}},
        {"wholecall": "recorded"},
        {"wholecall": {"evidence": "not stated"}},
        {"wholecall": {"evidence": "recorded"}, "choices": []},
        '{"wholecall": {"evidence": "recorded"}',
        '{"x": "\\"wholecall\\""}',
    ],
)
def test_a_level_that_is_not_stated_is_not_taken_for_one(first: object, folder: Path) -> None:
    (folder / "x.jsonl").write_bytes(lines(first, TEXT))

    assert [record["evidence"] for record in records("x.jsonl")] == ["not stated"]


def test_only_the_first_line_states_it(folder: Path) -> None:
    (folder / "x.jsonl").write_bytes(lines(TEXT, {"wholecall": {"evidence": "recorded"}}))
    (folder / "x.json").write_bytes(array(TEXT, {"wholecall": {"evidence": "recorded"}}))
    (folder / "x.sse").write_bytes(b": not json\n" + events(TEXT))

    assert {record["evidence"] for record in records("x.jsonl", "x.json", "x.sse")} == {"not stated"}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.jsonl", b"\x89PNG\0\0", "x.jsonl: is no UTF-8 text"),
        ("x.txt", b"prose", "x.txt: begins neither with a frame nor with an array nor as an event stream"),
        ("x.json", b'{"choices":[]}', "x.json: is no JSON array: '[' is missing"),
        ("x.json", b"", "x.json: is no JSON array: '[' is missing"),
        ("x.json", b"[{} {}]", "x.json: is no JSON array: ',' or ']' is missing after frame 1"),
        ("x.json", b"[{},\xff]", "x.json: is no JSON array: what stands there is no UTF-8 text"),
        ("x.jsonl", b'{"wholecall":{"evidence":"recored"}}', "x.jsonl:1: unknown level of evidence recored"),
        ("", b"", ".: Is a directory"),
        ("none.jsonl", b"", "none.jsonl: No such file or directory"),
        ("nul\0.jsonl", b"", "nul\0.jsonl: embedded null byte"),
    ],
)
def test_what_is_no_stream_is_unreadable(name: str, content: bytes, said: str, folder: Path) -> None:
    if name.startswith("x."):
        (folder / name).write_bytes(content)
    result = replay("--json", name or ".")

    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {said}")


def test_a_file_that_fails_while_it_is_read_is_unreadable() -> None:
    """The memory of this process begins with pages that cannot be read."""
    result = replay("/proc/self/mem")
    cases = CliRunner().invoke(cli, ["cases", "/proc/self/mem"])

    assert (result.exit_code, result.stderr) == (2, "Error: /proc/self/mem: Input/output error\n")
    assert cases.stderr == result.stderr


@pytest.mark.parametrize(
    "content",
    [
        lines(FRAME, "{", FINISH),
        lines(FRAME, "\x00"[1:] + "nonsense"),
        lines("<html>"),
        b"\xff\xfe\n",
        lines(FRAME) + b"\n" + b"[" * 100_000,
        lines(FRAME)[:-3],
    ],
)
def test_a_broken_line_is_a_bad_frame_and_no_crash(content: bytes, folder: Path) -> None:
    (folder / "x.jsonl").write_bytes(content)
    result = replay("--json", "x.jsonl")

    assert result.exit_code == 1
    assert json.loads(result.stdout)["fault"] == "stream.bad_frame"
