"""What people see of a response: a short table, what came of it, and for a fault why, and where it stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from wholecall.command import cli
from wholecall.command.trace import MOST_LINES
from wholecall_spec.load import load

SAMPLES = Path(__file__).with_name("samples")
SPEC = load()
WHY = {row.id: row.why for table in SPEC.tables for row in table.rows}
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


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    return Path("x.jsonl")


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
    first = {"index": 0, "delta": {"tool_calls": parts}, "finish_reason": "stop"}
    second = {"index": 1, "delta": {}, "finish_reason": "stop"}
    output = show(file, {"choices": [first, second]}, {"choices": [], "usage": {}})

    assert cells(output, "frame", "call")[:9] == [
        ("1", "3", "index new", "R01"),
        ("id text", "I04"),
        ("4", "index new", "R06"),
        ("id empty", "I03"),
        ("finish_normal", "S04"),
        ("1:", "content", "S03"),
        ("finish_normal", "S04"),
        ("2", "content", "S14"),
        ("end", "eof", "S21"),
    ]


@pytest.mark.parametrize(
    ("index", "kind"), [(None, "missing"), (-1, "other"), ("0", "other"), (True, "other")]
)
def test_a_fragment_that_reaches_no_call_has_none(index: object, kind: str, file: Path) -> None:
    output = show(file, fragment(index))

    assert cells(output, "frame", "call")[0][:3] == ("1", "?", f"index {kind}")
    assert "Frame 1: " in output


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


def test_nothing_at_all_is_a_response_too(file: Path) -> None:
    output = show(file)

    assert "chat, core, 0 frames, evidence not stated" in output
    assert cells(output, "frame", "call") == [("end", "eof", "S10")]


def test_the_second_response_of_a_file_is_numbered(file: Path) -> None:
    output = show(file, finish(), DONE, finish(), DONE)

    assert output.splitlines()[0] == str(file)
    assert f"\n{file}, response 2\n" in output
    assert output.count("answered\n") == 2


def test_content_is_shown_only_when_it_is_asked_for(file: Path) -> None:
    nasty = "\x1b[2J\u202e"
    frames = [fragment(id="call-x", name="tool-x", arguments=f'{{"a":"{nasty}"}}'), CONTENT, finish()]
    plain = show(file, *frames)
    raw = show(file, *frames, options=("--raw",))

    assert [word for word in ("call-x", "tool-x", "hunter2", '"a"') if word in plain] == []
    assert 'call 0 id "call-x" name "tool-x" arguments "{\\"a\\":\\"\\u001b[2J\\u202e\\"}"' in ending(raw)
    assert "\x1b" not in plain + raw


def test_a_call_of_another_choice_is_shown_raw_with_it(file: Path) -> None:
    assert 'call 1:0 id "call-1-0"' in ending(show(file, call(choice=1), options=("--raw",)))


def test_what_upstream_said_is_shown_only_when_it_is_asked_for(file: Path) -> None:
    error = {"error": {"message": "hunter2"}}

    assert "hunter2" not in show(file, error)
    assert 'Upstream says: "hunter2"' in show(file, error, options=("--raw",))
    assert "Upstream says" not in show(file, {"error": 7}, options=("--raw",))


def test_the_rows_can_be_shown(file: Path) -> None:
    assert "rows: S03 S04 S20 R05 P04" in ending(show(file, finish(), DONE, options=("--rows",)))


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


def test_on_a_terminal_colour_says_what_was_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    file.write_text(json.dumps(fragment()).replace('"index": 0, "function"', '"function"'), encoding="utf-8")
    result = CliRunner().invoke(cli, ["replay", str(file)], color=True)

    assert "\x1b[31mR03" in result.stdout


def test_on_a_terminal_a_long_file_has_a_bar(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    file.write_text(f"{json.dumps(finish())}{' ' * 1_500_000}\n", encoding="utf-8")
    result = CliRunner().invoke(cli, ["replay", "--json", str(file)])

    assert json.loads(result.stdout)["outcome"] == "answered"
    assert "x.jsonl" in result.stderr
    assert "/1.5 MB" in result.stderr
