"""The cases and recorded streams beside this repository are judged as they should be.

They are looked for in `../shared`, or in the folder that WHOLECALL_SHARED names, which then must be there.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from wholecall.command import cli
from wholecall_spec.load import load

GIVEN = os.environ.get("WHOLECALL_SHARED")
SHARED = Path(GIVEN) if GIVEN else Path(__file__).parents[2] / "shared"
CHAT = SHARED / "cases" / "chat.jsonl"
FAULTY = {
    "vercel-alibaba-alibaba-tool-call": "identity.conflict",
    "vercel-mistral-mistral-tool-call": "index.missing",
}

pytestmark = pytest.mark.skipif(not GIVEN and not SHARED.is_dir(), reason="the shared data is not here")


def streams(dialect: str) -> list[Path]:
    found = sorted((SHARED / "streams" / dialect).glob("*.jsonl"))
    assert found
    return found


def test_every_case_of_the_chat_dialect_passes() -> None:
    result = CliRunner().invoke(cli, ["cases", str(CHAT)])
    count = len(CHAT.read_text(encoding="utf-8").splitlines())

    assert (result.exit_code, result.output) == (
        0,
        f"evidence: {count} reconstructed\n{count} passed, 0 failed\n",
    )


def test_cases_of_other_dialects_are_skipped() -> None:
    files = [str(SHARED / "cases" / name) for name in ("agent.jsonl", "other-dialects.jsonl")]
    result = CliRunner().invoke(cli, ["cases", *files])

    assert result.exit_code == 0
    assert result.output.splitlines()[-1] == "0 passed, 0 failed, 42 skipped"


def test_every_chat_stream_is_whole_but_for_two() -> None:
    files = streams("chat")
    result = CliRunner().invoke(cli, ["replay", "--json", *map(str, files)])
    records = [json.loads(line) for line in result.stdout.splitlines()]

    assert result.exit_code == 1
    assert [record["file"] for record in records] == [str(file) for file in files]
    for file, record in zip(files, records, strict=True):
        fault = FAULTY.get(file.name.removesuffix("-chunks-txt.jsonl"))
        assert (record["outcome"], record["fault"]) == (("rejected", fault) if fault else ("whole", None))


def test_alibaba_is_rejected_at_the_row_of_an_empty_id_after_an_established_one() -> None:
    (file,) = (file for file in streams("chat") if "alibaba" in file.name)
    result = CliRunner().invoke(cli, ["replay", "--json", str(file)])
    (row,) = load().table("identity").cell("established", "empty")

    assert json.loads(result.stdout)["faults"][0]["row"] == row.id


@pytest.mark.parametrize("dialect", ["anthropic", "responses"])
def test_streams_of_other_dialects_are_refused(dialect: str) -> None:
    """The first line of one of them is no JSON, so nothing says of what dialect it is; it is a bad frame."""
    for file in streams(dialect):
        result = CliRunner().invoke(cli, ["replay", "--json", str(file)])
        if "parallel-tool-call-wrapper" in file.name:
            assert json.loads(result.stdout)["fault"] == "stream.bad_frame"
        else:
            assert result.exit_code == 2
            assert result.stderr == f"Error: {file}:1: a frame of the dialect {dialect}; only chat is built\n"
