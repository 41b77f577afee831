"""Long streams, pipes and terminals: memory stays, colours go, and a bar comes only where somebody looks."""

from __future__ import annotations

import fcntl
import json
import os
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SAMPLES = Path(__file__).with_name("samples")
PATHS = os.pathsep.join(str(ROOT / root) for root in ("model", "spec", "generated"))
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")
}
ENVIRONMENT |= {"PYTHONPATH": PATHS, "TERM": "xterm-256color"}
COMMAND = [sys.executable, "-m", "wholecall"]


def chunk(delta: object, finish: str | None = None) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def stream(kind: str, size: int) -> Iterator[str]:
    """The frames of one whole call, about so many bytes: most of them text, or most of them fragments."""
    call = {"index": 0, "id": "call", "function": {"name": "tool", "arguments": '{"a":"'}}
    yield chunk({"tool_calls": [call]})
    piece = {
        "text": {"content": "x" * 1900},
        "fragments": {"tool_calls": [{"index": 0, "function": {"arguments": "xy"}}]},
    }
    frame = chunk(piece[kind])
    yield from (frame for _ in range(size // len(frame)))
    yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": '"}'}}]})
    yield chunk({}, "tool_calls")
    yield "[DONE]"


def write(path: Path, kind: str, size: int) -> Path:
    frames = list(stream(kind, size))
    if path.suffix == ".json":
        path.write_text(f"[{','.join(frames[:-1])}]", encoding="utf-8")
    else:
        form = "data: {}\n\n" if path.suffix == ".sse" else "{}\n"
        path.write_text("".join(form.format(frame) for frame in frames), encoding="utf-8")
    return path


def peak(*args: str) -> int:
    """The most memory that a replay took, in KiB."""
    program = (
        "import re, sys\n"
        "from pathlib import Path\n"
        "from wholecall.command import cli\n"
        f"cli({['replay', *args]!r}, standalone_mode=False)\n"
        "status = Path('/proc/self/status').read_text()\n"
        "print(re.search(r'VmHWM:\\s*(\\d+) kB', status)[1], file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert "whole" in done.stdout
    return int(done.stderr)


@pytest.mark.parametrize(
    ("suffix", "kind", "options"),
    [
        (".jsonl", "text", ["--json"]),
        (".json", "text", []),
        (".sse", "fragments", []),
    ],
)
def test_memory_does_not_grow_with_a_file(suffix: str, kind: str, options: list[str], tmp_path: Path) -> None:
    """Five times the bytes of the same call; a fragment's two characters take no more than a few bytes."""
    small = peak(str(write(tmp_path / f"small{suffix}", kind, 4_000_000)), *options)
    large = peak(str(write(tmp_path / f"large{suffix}", kind, 20_000_000)), *options)

    assert large - small < 3_000


def test_a_long_stream_is_summarised(tmp_path: Path) -> None:
    path = write(tmp_path / "x.sse", "fragments", 1_500_000)
    done = subprocess.run(
        [*COMMAND, "replay", path], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )

    assert "(summarised)" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) < 50


def test_in_a_pipe_there_are_80_columns_and_no_codes() -> None:
    done = subprocess.run(
        [*COMMAND, "replay", SAMPLES / "null-first.jsonl"],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "\x1b" not in done.stdout + done.stderr
    assert max(map(len, done.stdout.splitlines()[1:])) <= 80


def test_a_reader_that_leaves_early_is_no_crash() -> None:
    with subprocess.Popen(
        [*COMMAND, "replay", *[SAMPLES / "parallel.jsonl"] * 200],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


def terminal(*args: object, stdout: int | None = None, **env: str) -> tuple[int, str]:
    """The exit code of a command, and what it writes to a terminal of 80 columns."""
    ours, its = os.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with subprocess.Popen(
        [*COMMAND, *map(str, args)],
        env=ENVIRONMENT | env,
        stdin=its,
        stdout=its if stdout is None else stdout,
        stderr=its,
    ) as process:
        os.close(its)
        seen = b""
        try:
            while piece := os.read(ours, 65536):
                seen += piece
        except OSError:
            pass  # the other end was closed
    os.close(ours)
    return process.returncode, seen.decode()


def test_on_a_terminal_what_was_refused_is_red() -> None:
    code, seen = terminal("replay", SAMPLES / "null-first.jsonl")

    assert code == 1
    assert "\x1b[31mI02\x1b[0m" in seen
    assert "\x1b[1;31mrejected: identity.null_first\x1b[0m" in seen


def test_unless_no_colour_is_wanted() -> None:
    _, seen = terminal("replay", SAMPLES / "null-first.jsonl", NO_COLOR="1")

    assert "I02" in seen
    assert "\x1b[31m" not in seen


def test_a_long_file_has_a_bar_on_a_terminal_which_leaves_the_output_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", "text", 3_000_000)
    out = tmp_path / "out"
    with out.open("wb") as file:
        code, seen = terminal("replay", "--json", path, path, stdout=file.fileno())

    assert code == 0
    assert "x.jsonl" in seen
    assert "/3.0 MB" in seen
    assert [json.loads(line)["outcome"] for line in out.read_text(encoding="utf-8").splitlines()] == [
        "whole"
    ] * 2


def test_a_short_file_has_none() -> None:
    _, seen = terminal("replay", "--json", SAMPLES / "parallel.jsonl")

    assert len(seen.splitlines()) == 1


def test_the_bar_makes_room_for_each_response(tmp_path: Path) -> None:
    """What is printed stands at the beginning of a line that was cleared."""
    path = tmp_path / "x.jsonl"
    path.write_text(
        "".join(f"{frame}\n" for _ in range(3) for frame in stream("text", 1_000_000)), encoding="utf-8"
    )
    _, seen = terminal("replay", "--json", path)

    assert seen.count('\x1b[2K{"file"') == 3
