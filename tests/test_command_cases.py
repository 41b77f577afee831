"""`wholecall cases` prints each case that is not as expected, and then how many passed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from wholecall.command import cli

CONTENT = '{"password":"hunter2"}'
FRAME = {
    "choices": [
        {
            "delta": {
                "tool_calls": [
                    {"index": 0, "id": "call-x", "function": {"name": "tool-x", "arguments": CONTENT}}
                ]
            }
        }
    ]
}
CASE: dict[str, Any] = {
    "id": "good",
    "dialect": "chat",
    "evidence": "synthetic",
    "chunks": [FRAME, {"choices": [{"finish_reason": "stop"}]}, "[DONE]"],
    "expect": {
        "outcome": "whole",
        "calls": [{"index": 0, "id": "call-x", "name": "tool-x", "arguments": CONTENT}],
    },
    "unknown": "keys are ignored",
}
BAD = {**CASE, "id": "bad", "evidence": "recorded", "chunks": [FRAME]}
OTHER = {"id": "other", "dialect": "anthropic", "evidence": "reconstructed"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cases.jsonl"


def run(file: Path, *records: object, options: tuple[str, ...] = ()) -> Result:
    lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
    file.write_text("\n".join(lines), encoding="utf-8")
    return CliRunner().invoke(cli, ["cases", str(file), *options])


def test_good_cases_pass(file: Path) -> None:
    result = run(file, CASE, "", {**CASE, "evidence": "recorded"}, CASE)

    assert result.exit_code == 0
    assert result.output == "evidence: 2 synthetic, 1 recorded\n3 passed, 0 failed\n"


def test_a_case_that_differs_is_printed_with_its_level_and_without_content(file: Path) -> None:
    calls = [{"index": 0, "id": "call-y", "name": "tool-y", "arguments": "{}"}]
    expect = {"outcome": "whole", "fault": None, "calls": calls}
    result = run(file, CASE, {**BAD, "expect": expect})

    assert result.exit_code == 1
    assert result.output == (
        f"{file}:2: bad (recorded) differs in"
        " outcome, fault, id of call 1, name of call 1, arguments of call 1\n"
        "  expected whole; got incomplete stream.no_finish\n"
        "evidence: 1 synthetic, 1 recorded\n"
        "1 passed, 1 failed\n"
    )


def test_dialects_not_built_are_skipped(file: Path) -> None:
    result = run(file, CASE, OTHER)

    assert result.exit_code == 0
    assert result.output.splitlines()[-1] == "1 passed, 0 failed, 1 skipped"


def test_a_line_that_is_no_case_is_named_and_the_others_are_run(file: Path) -> None:
    tools = {**CASE, "tools": [{"type": "function"}]}
    result = run(file, CASE, "{", {**CASE, "chunks": 1}, tools, "[" * 100_000, BAD)

    assert result.exit_code == 2
    assert result.stdout.splitlines()[-1] == "1 passed, 1 failed"
    errors = result.stderr.splitlines()
    assert errors[:2] == [
        f"Error: {file}:2: is no JSON: Expecting property name enclosed in double quotes at column 2",
        f"Error: {file}:3: chunks must be a list",
    ]
    assert errors[2].startswith(f"Error: {file}:4: tools[0]")
    assert errors[3] == (
        f"Error: {file}:5: is JSON that cannot be read: a number is too long, or it is nested too deeply"
    )


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_run(file: Path, tmp_path: Path) -> None:
    file.write_text(json.dumps(CASE), encoding="utf-8")
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\n")
    result = CliRunner().invoke(cli, ["cases", "no-such-file", str(tmp_path), str(binary), str(file)])

    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "Error: no-such-file: No such file or directory",
        f"Error: {tmp_path}: Is a directory",
        f"Error: {binary}:1: is no UTF-8 text",
    ]
    assert result.stdout.splitlines()[-1] == "1 passed, 0 failed"


def test_nothing_is_no_case(file: Path) -> None:
    assert run(file).output == "0 passed, 0 failed\n"


def test_standard_input_is_read() -> None:
    result = CliRunner().invoke(cli, ["cases", "-"], input=json.dumps(CASE))

    assert result.output.splitlines()[-1] == "1 passed, 0 failed"


def test_a_program_can_read_it(file: Path) -> None:
    result = run(file, CASE, BAD, OTHER, options=("--json",))
    records = [json.loads(line) for line in result.stdout.splitlines()]

    assert result.exit_code == 1
    assert [(record["case"], record["result"], record["fault"]) for record in records] == [
        ("good", "passed", None),
        ("bad", "failed", "stream.no_finish"),
        ("other", "skipped", None),
    ]
    assert records[1]["differs"] == ["outcome"]
    assert records[1]["at"] == f"{file}:2"
    assert "hunter2" not in result.stdout


def test_an_unknown_profile_is_a_usage_error(file: Path) -> None:
    result = run(file, CASE, options=("--profile", "nope"))

    assert result.exit_code == 2
    assert "no profile 'nope'" in result.stderr
