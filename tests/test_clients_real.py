"""Each client that `make clients` installed is driven in its own environment, and gives what was sent.

What clients do to awkward streams is for the matrix to say; these are streams that nearly all of them read.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from frames import FINISH, fragment, frame

from wholecall.clients.registry import ROOT, clients

FOLDER = Path(__file__).parents[1] / ROOT
LOOK = {"id": "c1", "name": "look", "arguments": {"a": 1}}
SAVE = {"id": "c2", "name": "save", "arguments": {"b": [2]}}

TEXT = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "hi"}, "finish_reason": None}]}
OPENING = frame(fragment(0, id="c1", type="function", name="look", arguments='{"a":'))
REST = frame(fragment(0, arguments="1}"))
OTHER_OPENING = frame(fragment(1, id="c2", type="function", name="save", arguments='{"b":'))
OTHER_REST = frame(fragment(1, arguments="[2]}"))

ONE_CALL = {"instructor"}
"""Those that give one call only, and skip a stream that has more."""
TOLD_APART_BY_ORDER = {"llama-index-llms-openai"}
"""Those that mix up fragments that are interleaved."""

Adapter = subprocess.Popen[str]


@pytest.fixture(scope="module", params=clients())
def adapter(request: pytest.FixtureRequest) -> Iterator[tuple[str, Adapter]]:
    """A client's name, and its adapter, running."""
    client = clients()[request.param]
    if not client.versions(FOLDER):
        pytest.skip("`make clients` installs it")
    process = subprocess.Popen(
        client.command(FOLDER),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    with process:
        yield client.name, process
        assert process.stdin
        process.stdin.close()
        assert process.wait(30) == 0


def ask(adapter: Adapter, *chunks: object) -> dict[str, Any]:
    """What the client makes of a stream; text of arguments is parsed."""
    assert adapter.stdin
    assert adapter.stdout
    adapter.stdin.write(f"{json.dumps({'seq': 7, 'chunks': chunks})}\n")
    adapter.stdin.flush()
    answer: dict[str, Any] = json.loads(adapter.stdout.readline())
    assert answer.pop("seq") == 7
    for call in answer.get("calls", ()):
        if isinstance(call["arguments"], str):
            call["arguments"] = json.loads(call["arguments"])
    return answer


def test_a_client_gives_a_call_that_is_whole(adapter: tuple[str, Adapter]) -> None:
    _, process = adapter

    assert ask(process, OPENING, REST, FINISH, "[DONE]") == {"calls": [LOOK]}


def test_a_client_gives_a_call_that_follows_text(adapter: tuple[str, Adapter]) -> None:
    _, process = adapter

    assert ask(process, TEXT, OPENING, REST, FINISH, "[DONE]") == {"calls": [LOOK]}


def test_a_client_gives_two_calls_in_turn(adapter: tuple[str, Adapter]) -> None:
    name, process = adapter
    answer = ask(process, OPENING, REST, OTHER_OPENING, OTHER_REST, FINISH, "[DONE]")

    assert answer == ({"skip": True} if name in ONE_CALL else {"calls": [LOOK, SAVE]})


def test_a_client_gives_two_calls_whose_fragments_are_interleaved(adapter: tuple[str, Adapter]) -> None:
    name, process = adapter
    answer = ask(process, OPENING, OTHER_OPENING, REST, OTHER_REST, FINISH, "[DONE]")

    if name in TOLD_APART_BY_ORDER:
        assert answer["calls"] != [LOOK, SAVE]
    else:
        assert answer == ({"skip": True} if name in ONE_CALL else {"calls": [LOOK, SAVE]})


def test_a_client_refuses_a_stream_that_fails_and_reads_the_next(adapter: tuple[str, Adapter]) -> None:
    _, process = adapter

    assert ask(process, OPENING, REST, {"abort": True})["refused"]
    assert ask(process, OPENING, REST, FINISH) == {"calls": [LOOK]}


def test_a_client_survives_what_is_no_stream(adapter: tuple[str, Adapter]) -> None:
    _, process = adapter

    for chunks in (["nonsense"], [None], [{"choices": [1]}], [{"error": "no"}], []):
        assert ask(process, *chunks).keys() & {"calls", "refused", "skip"}
    assert ask(process, OPENING, REST, FINISH, "[DONE]") == {"calls": [LOOK]}
