"""`wholecall replay` judges what stands in files, and tells a program all that it may know."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_files import ARGUMENTS, CALL, FINISH, FRAME, TEXT, WHOLE, array, events, lines, records, replay

SAMPLES = Path(__file__).with_name("samples")
TOOL = {
    "type": "function",
    "function": {"name": "read_page", "parameters": {"properties": {"page": {"type": "string"}}}},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("sample", "outcome", "fault", "row"),
    [
        ("null-continuation.jsonl", "whole", None, None),
        ("parallel.jsonl", "whole", None, None),
        ("null-first.jsonl", "rejected", "identity.null_first", "I02"),
        ("cut-arguments.jsonl", "rejected", "syntax.incomplete", "P08"),
        ("upstream-error.sse", "refused", "upstream.error", "S08"),
    ],
)
def test_the_samples_are_judged_and_state_their_level(
    sample: str, outcome: str, fault: str | None, row: str | None
) -> None:
    (record,) = records(SAMPLES / sample)

    assert (record["outcome"], record["fault"]) == (outcome, fault)
    assert [found["row"] for found in record["faults"]] == ([row] if row else [])
    assert record["evidence"] == "synthetic"


def test_a_record_holds_what_the_design_says_and_no_content(folder: Path) -> None:
    (folder / "x.jsonl").write_bytes(lines(*WHOLE))
    result = replay("--json", "x.jsonl")
    record = json.loads(result.stdout)
    digest = record["calls"][0].pop("digest")

    assert result.exit_code == 0
    assert record == {
        "file": "x.jsonl",
        "profile": "core",
        "dialect": "chat",
        "evidence": "not stated",
        "outcome": "whole",
        "fault": None,
        "faults": [],
        "calls": [{"choice": 0, "index": 0, "name": None, "parsed": True, "length": len(ARGUMENTS)}],
    }
    assert len(digest) == 16


def test_calls_of_a_rejected_response_are_told_and_a_digest_is_that_of_the_diagnostic(folder: Path) -> None:
    cut = {"choices": [{"delta": {"tool_calls": [{**CALL, "function": {"name": "f", "arguments": "{"}}]}}]}
    (folder / "x.jsonl").write_bytes(lines(cut, FINISH))
    (record,) = records("x.jsonl")

    assert record["calls"][0]["parsed"] is False
    assert record["calls"][0]["digest"] == record["faults"][0]["text_digest"]


def test_raw_adds_what_arrived(folder: Path) -> None:
    (folder / "x.jsonl").write_bytes(lines(*WHOLE))
    (record,) = records("--raw", "x.jsonl")
    call = record["calls"][0]

    assert (call["id"], call["name"], call["arguments"]) == ("call-x", "read_page", ARGUMENTS)


def test_the_tools_judge_and_their_names_are_told(folder: Path) -> None:
    (folder / "x.jsonl").write_bytes(lines(*WHOLE))
    (folder / "tools.json").write_text(json.dumps([TOOL]), encoding="utf-8")
    (record,) = records("--tools", "tools.json", "x.jsonl")

    assert (record["fault"], record["faults"][0]["schema_location"]) == (
        "structure.schema",
        "/properties/page/type",
    )
    assert record["calls"][0]["name"] == record["faults"][0]["tool"] == "read_page"


@pytest.mark.parametrize(
    ("frames", "outcomes"),
    [
        ([*WHOLE, TEXT], ["whole", "answered"]),
        ([*WHOLE, TEXT, "[DONE]"], ["whole", "answered"]),
        ([*WHOLE, "[DONE]", TEXT], ["whole", "answered"]),
        ([*WHOLE, "[DONE]"], ["whole"]),
        (["[DONE]"], ["incomplete"]),
        ([], ["incomplete"]),
        (["nonsense", FRAME, "[DONE]", TEXT], ["rejected", "answered"]),
        ([FRAME, "nonsense", FINISH], ["rejected"]),
        ([*WHOLE, FRAME], ["whole", "incomplete"]),
    ],
)
def test_one_file_is_one_response_unless_done_ends_one_and_frames_follow(
    frames: list[object], outcomes: list[str], folder: Path
) -> None:
    (folder / "x.jsonl").write_bytes(lines(*frames))
    result = replay("--json", "x.jsonl")

    assert [json.loads(line)["outcome"] for line in result.stdout.splitlines()] == outcomes
    assert result.exit_code == int(not {*outcomes} <= {"whole", "answered"})


@pytest.mark.parametrize(
    ("kind", "dialect"),
    [
        ("message_start", "anthropic"),
        ("content_block_delta", "anthropic"),
        ("response.created", "responses"),
    ],
)
def test_another_dialect_is_refused_and_never_guessed(kind: str, dialect: str, folder: Path) -> None:
    frame = {"type": kind, "secret": "hunter2"}
    (folder / "x.jsonl").write_bytes(lines("", frame))
    (folder / "later.jsonl").write_bytes(lines(*WHOLE, frame))
    (folder / "x.sse").write_bytes(b"event: " + kind.encode() + b"\n" + events(frame))
    (folder / "x.json").write_bytes(array({"wholecall": {}}, frame))
    (folder / "good.jsonl").write_bytes(lines(*WHOLE))
    result = replay("--json", "x.jsonl", "later.jsonl", "x.sse", "x.json", "good.jsonl")
    what = f"a frame of the dialect {dialect}; only chat is built"

    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        f"Error: x.jsonl:2: {what}",
        f"Error: later.jsonl:4: {what}",
        f"Error: x.sse: frame 1: {what}",
        f"Error: x.json: frame 2: {what}",
    ]
    assert [json.loads(line)["file"] for line in result.stdout.splitlines()] == ["later.jsonl", "good.jsonl"]


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "message_start", "choices": []},
        {"type": "error", "error": {"message": "no"}},
        {"type": 7},
        {"object": "chat.completion.chunk"},
        ["response.created"],
    ],
)
def test_what_is_not_clearly_of_another_dialect_is_judged(frame: object, folder: Path) -> None:
    (folder / "x.json").write_bytes(array(frame))

    assert len(records("x.json")) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}", "the tools must be a list of objects"),
        ("[1]", "tools[0]"),
        ("[\n1,", ":2: is no JSON: Expecting value at column 3"),
        (None, "No such file or directory"),
    ],
)
def test_tools_that_cannot_be_used_are_unreadable(content: str | None, said: str, folder: Path) -> None:
    if content is not None:
        (folder / "tools.json").write_text(content, encoding="utf-8")
    result = replay("--tools", "tools.json", SAMPLES / "parallel.jsonl")

    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""


def test_an_unknown_profile_is_a_usage_error() -> None:
    result = replay("--profile", "nope", SAMPLES / "parallel.jsonl")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "no profile 'nope'" in result.stderr


def test_without_a_file_it_is_a_usage_error() -> None:
    assert replay().exit_code == 2
