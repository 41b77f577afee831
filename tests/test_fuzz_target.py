"""A target is asked line by line; whatever it does, a campaign goes on."""

from __future__ import annotations

import inspect
import json
import pickle
import runpy
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import wrong

import wholecall
from wholecall.clients import serve
from wholecall.fuzz.serve import find
from wholecall.fuzz.target import Own, Process, TargetError, TargetName, try_out
from wholecall.limits import Limits

HERE = Path(__file__).parent
WHOLE: list[Any] = [
    {
        "choices": [
            {
                "index": 0,
                "delta": {
                    "tool_calls": [
                        {"index": 0, "id": "c1", "function": {"name": "look", "arguments": '{"a": 1}'}}
                    ]
                },
                "finish_reason": "tool_calls",
            }
        ]
    },
    "[DONE]",
]
CALL = {"id": "c1", "name": "look", "arguments": '{"a": 1}'}


@pytest.fixture(autouse=True)
def _beside_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE))


def process(code: str, timeout: float = 20.0) -> Process:
    return Process("it", [sys.executable, "-c", code], timeout)


ECHO = "import json, sys\nfor line in sys.stdin: r = json.loads(line); print({answer}, flush=True)"


def answering(answer: str) -> Process:
    """A process that answers with what this expression gives of the request `r`."""
    return process(ECHO.format(answer=answer))


def test_a_callable_is_asked_in_a_process_of_its_own() -> None:
    target = TargetName("wrong:right").open()
    whole, cut, again = target.ask(WHOLE), target.ask([*WHOLE[:1], {"abort": True}]), target.ask(WHOLE)
    target.close()

    assert (whole.calls, again.calls) == ((CALL,), (CALL,))
    assert (cut.calls, cut.skipped, cut.trouble) == (None, False, "")


def test_wholecall_itself_tells_its_verdict() -> None:
    small = Limits(name=3)

    assert Own().ask(WHOLE).calls == (CALL,)
    assert Own().ask(WHOLE).verdict == ("whole", None, wholecall.read(WHOLE).rows)
    assert Own().ask(WHOLE, small).verdict[:2] == ("rejected", "limit.name")  # type: ignore[index]
    assert Own().ask([{"abort": True}]).verdict[:2] == ("incomplete", "stream.aborted")  # type: ignore[index]


ANSWERS = {
    "print('no JSON') or r": "gave no answer of the protocol",
    "json.dumps({'seq': 0, 'calls': []})": "gave no answer of the protocol",
    "json.dumps([])": "gave no answer of the protocol",
    "json.dumps({'seq': r['seq']})": "gave no list of calls",
    "json.dumps({'seq': r['seq'], 'calls': [1]})": "gave no list of calls",
    "sys.exit()": "died",
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_is_no_answer_counts_as_a_refusal_and_is_told(answer: str) -> None:
    target = answering(answer)
    got = target.ask(WHOLE)
    target.close()

    assert (got.calls, got.trouble) == (None, ANSWERS[answer])


def test_a_stream_can_be_skipped_or_refused() -> None:
    skips, refuses = (answering(f"json.dumps({{'seq': r['seq'], '{w}': True}})") for w in ("skip", "refused"))

    assert skips.ask(WHOLE).skipped
    assert (refuses.ask(WHOLE).calls, refuses.ask(WHOLE).skipped) == (None, False)
    skips.close()
    refuses.close()


def test_a_target_that_died_or_hangs_is_started_again() -> None:
    dies = answering("json.dumps({'seq': r['seq'], 'calls': []}) if r['chunks'] else sys.exit()")

    assert [dies.ask(chunks).trouble for chunks in ([1], [], [1], [], [])] == ["", "died", "", "died", "died"]
    dies.close()
    wait = "json.dumps({'seq': r['seq'], 'calls': []}) if r['chunks'] else __import__('time').sleep(60)"
    hangs = process(ECHO.format(answer=wait), timeout=0.2)

    assert hangs.ask([1]).trouble == ""
    assert hangs.ask([]).trouble == "gave no answer in time"
    assert hangs.ask([1]).trouble == ""
    hangs.close()
    hangs.close()


def test_what_a_target_started_ends_with_it(tmp_path: Path) -> None:
    """As `npx` or a shell does: the program that answers is not the one that was started."""
    script = tmp_path / "stays.py"
    script.write_text("import time\ninput()\nprint('no answer', flush=True)\ntime.sleep(600)\n")
    target = TargetName(command=f"sh -c '{sys.executable} {script}; true'").open()

    assert target.ask(WHOLE).trouble == "gave no answer of the protocol"
    assert target.ask(WHOLE).trouble == "gave no answer of the protocol", "it is started again"
    target.close()


def test_a_target_that_does_not_read_on_gives_no_answer_in_time() -> None:
    target = process("import time; time.sleep(600)", timeout=0.05)

    assert target.ask(["x" * 10_000_000]).trouble == "gave no answer in time"
    target.close()


def test_a_target_that_takes_no_more_died() -> None:
    target = process("import os, time; os.close(0); time.sleep(600)")

    assert target.ask(["x" * 10_000_000]).trouble == "died"
    target.close()


UNUSABLE = {
    TargetName("wrong"): "a target is MODULE:CALLABLE, not 'wrong'",
    TargetName("wrong:"): "a target is MODULE:CALLABLE, not 'wrong:'",
    TargetName("no_such_module:x"): "No module named 'no_such_module'",
    TargetName("wrong:no_such_name"): "has no attribute 'no_such_name'",
    TargetName(command="no-such-program"): "cannot be started: No such file or directory",
    TargetName(command="false"): "the target false died",
}


@pytest.mark.parametrize("name", UNUSABLE, ids=str)
def test_a_target_that_cannot_be_used_is_told_with_its_reason(name: TargetName) -> None:
    with pytest.raises(TargetError) as caught:
        try_out(name)

    assert UNUSABLE[name] in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value), "it may come from elsewhere"  # noqa: S301 - our own
    assert str(caught.value).startswith(f"the target {name} ")


@pytest.mark.parametrize("name", [TargetName(), TargetName("wrong:right"), TargetName("wrong:Ways.right")])
def test_a_target_that_answers_can_be_used(name: TargetName) -> None:
    try_out(name)


def test_what_a_callable_does_is_answered() -> None:
    def skips(_: list[Any]) -> list[Any]:
        raise wholecall.Skip

    def prints_no_json(_: list[Any]) -> list[Any]:
        return [object()]

    def yields(_: list[Any]) -> Iterator[Any]:
        yield CALL

    def answer(assemble: serve.Assemble, chunks: list[Any]) -> Any:
        (line,) = serve.serve(assemble, [json.dumps({"seq": 7, "chunks": chunks})])
        return json.loads(line)

    assert answer(wrong.right, WHOLE) == {"seq": 7, "calls": [CALL]}
    assert answer(skips, []) == {"seq": 7, "skip": True}
    assert answer(prints_no_json, []) == {"seq": 7, "refused": True, "why": "builtins.TypeError"}
    assert answer(yields, []) == {"seq": 7, "calls": [CALL]}
    assert answer(wrong.right, []) == {"seq": 7, "refused": True, "why": "builtins.ValueError"}


def test_the_callable_that_is_named_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """By `python -m wholecall.fuzz.serve`, which looks for it where it stands too."""
    served: list[object] = []
    monkeypatch.setattr(serve, "serve_here", served.append)
    monkeypatch.setattr(sys, "argv", ["serve", "wrong:Ways.right"])
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    runpy.run_path(inspect.getfile(find), run_name="__main__")

    assert served == [wrong.right]
    assert sys.path[0] == ""
    assert find("wrong:right") is wrong.right
    assert sys.path.count("") == 1
    with pytest.raises(ValueError, match="a target is MODULE:CALLABLE, not 'wrong'"):
        find("wrong")


def test_what_a_callable_prints_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "loud.py").write_text("def ask(chunks):\n    print('hear me')\n    return []\n")
    monkeypatch.chdir(tmp_path)
    target = TargetName("loud:ask").open()

    assert target.ask(WHOLE).calls == ()
    target.close()


NODE = HERE / "adapter.mjs"


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_a_program_of_another_language_is_asked() -> None:
    """The example that README.md shows: right about one whole call, and wrong where a stream was cut."""
    target = TargetName(command=f"node {NODE}").open()
    whole, cut = target.ask(WHOLE), target.ask(WHOLE[:1])
    bad = target.ask(["not JSON"])
    target.close()

    assert whole.calls == ({**CALL, "arguments": {"a": 1}},)
    assert cut.calls == whole.calls
    assert bad.calls is None
