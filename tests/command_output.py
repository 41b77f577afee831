"""What a replay prints for people, and how tests read it: the cells of the table, and what stands below."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from wholecall.command import cli
from wholecall_spec.load import load

WHY = {row.id: row.why for table in load().tables for row in table.rows}
DONE = "[DONE]"


def fragment(index: object = 0, choice: int = 0, **fields: object) -> dict[str, object]:
    """A frame with one fragment."""
    own = {key: fields[key] for key in ("id",) if key in fields}
    function = {key: fields[key] for key in ("name", "arguments") if key in fields}
    part = {"index": index, **own, "function": function}
    return {"choices": [{"index": choice, "delta": {"tool_calls": [part]}}]}


def call(index: int = 0, arguments: object = "{}", choice: int = 0) -> dict[str, object]:
    return fragment(index, choice, id=f"call-{choice}-{index}", name="tool", arguments=arguments)


def finish(reason: str = "stop", choice: int = 0) -> dict[str, object]:
    return {"choices": [{"index": choice, "delta": {}, "finish_reason": reason}]}


CONTENT: dict[str, object] = {"choices": [{"delta": {"content": "hunter2"}}]}


def show(file: Path, *frames: object, options: tuple[str, ...] = ()) -> str:
    texts = (frame if isinstance(frame, str) else json.dumps(frame) for frame in frames)
    file.write_text("\n".join(texts), encoding="utf-8")
    output = CliRunner().invoke(cli, ["replay", str(file), *options]).output
    lines_but_places = (line for line in output.splitlines() if ".toml:" not in line)
    assert [line for line in lines_but_places if len(line) > 80 or line != line.rstrip()] == []
    return output


def cells(output: str, *columns: str) -> list[tuple[str, ...]]:
    """The cells of the table, the lines of what happened joined and held to the row."""
    lines = output.split("\n")
    top = next(at for at, line in enumerate(lines) if line.endswith("what happened"))
    head = lines[top]
    starts = {name: head.index(name) for name in ("input", "row", "what happened")}
    found: list[list[str]] = []
    whys: list[str] = []
    for line in lines[top + 2 :]:
        row = line[starts["row"] : starts["what happened"]].strip()
        if not line or (row and row not in WHY):
            break
        first = line[: starts["input"]].split()
        kind, why = line[starts["input"] : starts["row"]].strip(), line[starts["what happened"] :]
        if line[: starts["what happened"]].strip():
            found.append([*first, kind, row])
            whys.append(why)
        else:
            whys[-1] += f" {why}"
    assert [why.split(" (")[0] for why in whys] == [WHY[row[-1]].split(" (")[0] for row in found]
    assert columns == tuple(head[: starts["input"]].split())
    return [tuple(row) for row in found]


def ending(output: str) -> str:
    """What stands below the table, as one line."""
    return " ".join(output.split("\n\n", 1)[1].split())
