"""`wholecall fuzz` tells what a target does, keeps it as cases, and ends in order whatever happens."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from wholecall.command import cli
from wholecall.command import fuzz as rooms
from wholecall.command.fuzz import Progress
from wholecall.fuzz import cluster
from wholecall.fuzz.campaign import Campaign
from wholecall.fuzz.target import TargetName

HERE = Path(__file__).parent
FEW = ["--examples", "100", "--workers", "1"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(HERE))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


@pytest.fixture
def found() -> dict[str, Any]:
    """What a campaign finds of an assembler that takes a null id for the id."""
    result = run("fuzz", "--target", "wrong:null_clears", *FEW, "--json")
    assert result.exit_code == 1
    told: dict[str, Any] = json.loads(result.stdout)
    return told


def test_findings_are_kept_as_cases_that_ask_again(found: dict[str, Any]) -> None:
    """The target fails its case, wholecall passes it, and so does whoever is right."""
    (finding,) = found["findings"]
    file = finding["file"]
    target = ["--target", "wrong:null_clears"]

    assert finding["kind"] == "corrupts"
    assert {"row", "frames", "expected", "got", "before"} < finding.keys()
    assert run("cases", file).output.endswith("1 passed, 0 failed\n")
    assert run("cases", "--target", "wrong:right", file).exit_code == 0
    again = run("cases", *target, file)
    assert again.exit_code == 1
    first, second, *_ = again.output.splitlines()
    assert first.endswith("(synthetic) differs in id of call 1")
    assert second == "  corrupts: expected whole 1 call; got 1 call"
    told = json.loads(run("cases", *target, "--json", file).output)
    assert (told["result"], told["kind"], told["differs"]) == ("failed", "corrupts", ["id of call 1"])


def test_findings_are_tests(found: dict[str, Any], tmp_path: Path) -> None:
    out = str(tmp_path / "wholecall-fuzz")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", out]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert found["findings"]
    assert done.returncode == 1
    assert "it corrupts; expected" in done.stdout
    assert "1 failed" in done.stdout


def test_a_person_reads_what_was_found() -> None:
    result = run("fuzz", "--target", "wrong:null_clears", *FEW)
    lines = result.output.splitlines()

    assert lines[0] == "target: wrong:null_clears (profile core, seed 0)"
    assert lines[1].startswith("100 streams, ")
    assert lines[2] == "evidence: synthetic (made from the tables)"
    assert [line.split(":")[0] for line in lines[3:6]] == ["rows", "pairs", "findings"]
    assert " missed: " in lines[4]
    assert " and " in lines[4], "not every missed pair is named"
    assert any(line.startswith("  frame  ") for line in lines)
    assert lines[-1].startswith(
        "  again: wholecall cases --target wrong:null_clears wholecall-fuzz/corrupts-"
    )


def test_a_program_in_any_language_is_a_target() -> None:
    code = 'from runpy import run_module; run_module("wholecall.fuzz.serve", run_name="__main__")'
    command = shlex.join([sys.executable, "-c", code, "wrong:remembers"])
    few = ["--examples", "16", "--workers", "1"]
    result = run("fuzz", "--target-cmd", command, "--timeout", "30", *few)
    shown = result.output

    assert result.exit_code == 1
    assert "  before  " in shown
    again = next(line for line in shown.splitlines() if line.startswith("  again: wholecall "))
    assert run(*shlex.split(again.removeprefix("  again: wholecall "))).exit_code == 1


def test_wholecall_itself_errs_in_nothing() -> None:
    result = run("fuzz", "--examples", "300", "--workers", "2", "--seed", "7", "--json")
    told = json.loads(result.stdout)

    assert (result.exit_code, told["findings"], told["target"]) == (0, [], "wholecall")
    assert (told["streams"], told["seed"], told["profile"], told["evidence"]) == (300, 7, "core", "synthetic")
    assert told["rows"]["hit"] + len(told["rows"]["missed"]) == told["rows"]["of"]
    assert not Path("wholecall-fuzz").exists(), "nothing is kept where nothing was found"


def test_without_a_budget_it_takes_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "_SECONDS", 0.5)
    told = json.loads(run("fuzz", "--workers", "1", "--json").stdout)

    assert 0.5 <= told["seconds"] < 60


def test_a_case_that_a_target_cannot_express_is_skipped() -> None:
    Path("case.jsonl").write_text(
        json.dumps(
            {
                "id": "x",
                "dialect": "chat",
                "evidence": "synthetic",
                "chunks": [],
                "expect": {"outcome": "incomplete"},
            }
        )
        + '\n{"id": "y", "dialect": "anthropic", "evidence": "synthetic"}\n'
    )
    result = run("cases", "--target", "wrong:skips", "case.jsonl")

    assert result.output.endswith("0 passed, 0 failed, 2 skipped\n")


REFUSED = {
    ("--target", "a:b", "--target-cmd", "c"): "give --target or --target-cmd, not both",
    ("--target", "wrong:nothing_such"): "has no attribute 'nothing_such'",
    ("--target-cmd", "no-such-program"): "cannot be started: No such file or directory",
    ("--profile", "no-such"): "no-such",
    ("--seconds", "0"): "0",
    ("--cluster", "tcp://127.0.0.1:9"): "the cluster at tcp://127.0.0.1:9 cannot be used",
}


@pytest.mark.parametrize("arguments", REFUSED)
def test_what_cannot_be_is_told_in_one_line(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", "1s")
    result = run("fuzz", *arguments)

    assert result.exit_code == 2
    assert REFUSED[arguments] in result.output
    assert "Traceback" not in result.output


def test_findings_that_cannot_be_kept_are_told() -> None:
    Path("file").write_text("")
    result = run("fuzz", "--target", "wrong:null_clears", *FEW, "--out", "file/below")

    assert result.exit_code == 2
    assert result.output.endswith("Error: findings cannot be kept in file/below: Not a directory\n")


def test_without_hypothesis_the_extra_is_named() -> None:
    code = "import sys; sys.modules['hypothesis'] = None; from wholecall.command import main; main()"
    command = [sys.executable, "-c", code, "fuzz", "--examples", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (2, "Error: wholecall[fuzz] is not installed\n")


@pytest.mark.skipif(os.name == "nt", reason="there is no such signal")
def test_an_interrupt_ends_it_with_the_report() -> None:
    command = [sys.executable, "-m", "wholecall", "fuzz", "--seconds", "600", "--workers", "1"]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(4)
    started.send_signal(signal.SIGINT)
    said, complained = started.communicate(timeout=60)

    assert (started.returncode, complained) == (0, "")
    assert said.startswith("target: wholecall ")
    assert "findings: 0" in said


def test_a_terminal_hears_how_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    """Now and then, on one line."""
    campaign = Campaign(TargetName())
    campaign.walked.coverage.rows.update(["I14", "I14"])
    campaign.walked.coverage.pairs.update([("I04", "I14")])
    progress = Progress(campaign)
    progress()
    progress()
    told = capsys.readouterr().err

    assert told.count("\r") == 1
    assert told.startswith("\rrows 1/97, rarest ")
    assert "pairs 1/255" in told
    assert told.endswith("findings 0")
