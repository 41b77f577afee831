"""The printed tests, aimed at assemblers that are not ours: the right pass, the wrong fail where they err."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import wrong
from _pytest.outcomes import Failed, Skipped

from wholecall.fuzz.asked import ask_relation, ask_responses, ask_row
from wholecall.fuzz.reading import expect
from wholecall.fuzz.rows import STREAMS, reachable, streams_of_rows
from wholecall.fuzz.target import Got, Own
from wholecall.limits import Limits
from wholecall.relations import RELATIONS
from wholecall_generated.tables import SPEC

HERE = Path(__file__).parent
OF_RESPONSE = ("routing", "identity", "name", "arguments", "stream", "proposal")
ROWS = [row for machine in OF_RESPONSE for row in SPEC.table(machine).rows]
LIMITED = {row.id for row in ROWS if row.fault.startswith("limit.")}
CHECKED = {row.id for row in ROWS if row.input in ("business_no", "business_ok")}
"""What a host checks itself is not looked at where a response is read."""

RELATED = {relation.name: relation for relation in RELATIONS}


class Called:
    """A callable in this process, so that what is asked of it is counted here."""

    def __init__(self, assemble: Callable[[list[Any]], list[Any]]) -> None:
        self.asked: list[list[Any]] = []
        self._assemble = assemble

    def ask(self, chunks: Sequence[Any], limits: Limits | None = None) -> Got:
        assert limits is None
        self.asked.append(list(chunks))
        try:
            return Got(tuple(self._assemble(list(chunks))))
        except ValueError:
            return Got()

    def close(self) -> None:
        """Nothing is open."""


class Skips(Own):
    """Cannot express anything."""

    def ask(self, chunks: Any, limits: Limits | None = None) -> Got:  # noqa: ARG002 - it is asked as others
        return Got(({},), skipped=True)


@pytest.fixture(autouse=True)
def _nothing_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrong, "_SEEN", [])


# -- the print, as its users run it ------------------------------------------------------------------------


def printed(*options: str) -> tuple[int, dict[str, str], str]:
    """The tests of the package in a process of their own: its status, what came of each, and all it said."""
    told = [
        sys.executable,
        "-m",
        "pytest",
        "-rA",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        "-c",
        os.devnull,
    ]
    done = subprocess.run(
        [*told, "--rootdir", str(HERE.parent), "--pyargs", "wholecall_generated", *options],
        env={**os.environ, "PYTHONPATH": str(HERE), "PYTEST_ADDOPTS": ""},
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = (line.split(" - ")[0].split(" ") for line in done.stdout.splitlines() if "::" in line)
    ends = {line[1].split("::", 1)[1]: line[0] for line in lines if line[0] in ("PASSED", "FAILED", "ERROR")}
    return done.returncode, ends, done.stdout


def test_a_right_assembler_passes_all_but_what_it_is_not_asked() -> None:
    status, ends, said = printed("--wholecall-target", "wrong:right")
    rows = {f"test_row[{row.id}]" for row in ROWS if row.id not in LIMITED | CHECKED}
    relations = {f"test_relation[{name}]" for name in RELATED}

    assert (status, {*ends.values()}) == (0, {"PASSED"})
    assert {*ends} == {*rows, *relations, "test_responses"}
    assert f"{len(ends)} passed, {len(LIMITED | CHECKED)} skipped in " in said


def test_a_wrong_assembler_fails_at_the_rows_where_it_errs() -> None:
    """It takes null for an established id; what is to be refused it refuses."""
    status, ends, said = printed("--wholecall-target", "wrong:null_clears", "-k", "test_row or test_relation")
    failed = {test for test, end in ends.items() if end == "FAILED"}
    refusing = {f"test_row[{row.id}]" for row in ROWS if row.fault}

    assert status == 1
    assert {"test_row[I14]", "test_relation[null_is_omitted]"} <= failed
    assert not failed & refusing
    assert "it corrupts:" in said


def test_without_the_option_nobody_is_asked() -> None:
    status, _, said = printed("--collect-only", "-q")

    assert status == 0
    assert "test_rows.py::" in said
    assert "test_target.py" not in said


def test_a_target_that_cannot_be_used_is_told() -> None:
    status, ends, said = printed("--wholecall-target", "wrong:no_such_name", "-k", "I14")

    assert (status, ends) == (1, {"test_row[I14]": "ERROR"})
    assert "the target wrong:no_such_name died: " in said


# -- what it asks ------------------------------------------------------------------------------------------


def test_every_row_has_its_streams() -> None:
    """And a row that refuses is the one that refuses them."""
    streams = streams_of_rows()
    faults = {row.id for row in ROWS if row.fault and row.fault != "carried"}

    assert {*streams} == {row.id for row in ROWS} - LIMITED - CHECKED == reachable(own=False).rows
    assert [row for row in streams if not 1 <= len(streams[row]) <= STREAMS] == []
    for row, found in streams.items():
        assert all(row in sent.expected.rows for sent in found)
        assert all(sent.expected == expect(sent.chunks) for sent in found)
        assert row not in faults or {sent.expected.row for sent in found} == {row}
        assert [len(sent.chunks) for sent in found] == sorted(len(sent.chunks) for sent in found)


def test_a_row_is_asked_its_streams() -> None:
    target = Called(wrong.right)
    ask_row("I14", target)

    assert target.asked == [sent.chunks for sent in streams_of_rows()["I14"]]


def test_an_error_shows_the_frames_and_what_was_expected() -> None:
    with pytest.raises(Failed) as caught:
        ask_row("I14", Called(wrong.null_clears))
    first, *frames, expected, got = str(caught.value).splitlines()

    assert first == "it corrupts:"
    assert len(frames) in {len(sent.chunks) for sent in streams_of_rows()["I14"]}
    assert expected.startswith('expected {"outcome": "whole", "calls": [{"id": "opal')
    assert got.startswith('got {"calls": [{"id": null')


@pytest.mark.parametrize("row", sorted(LIMITED | CHECKED))
def test_what_others_decide_otherwise_is_not_asked(row: str) -> None:
    with pytest.raises(Skipped):
        ask_row(row, Called(wrong.right))


def test_what_cannot_be_expressed_is_no_error() -> None:
    ask_row("I14", Skips())
    ask_responses(Skips(), 5)
    for relation in RELATIONS:
        ask_relation(relation, Skips(), 5)


def test_responses_are_asked_whole() -> None:
    target = Called(wrong.right)
    ask_responses(target, 20)

    assert len(target.asked) > 20
    assert {expect(chunks).legal for chunks in target.asked} == {True, False}


def test_a_wrong_assembler_fails_whole_responses() -> None:
    """It answers what is refused, too: the stream that shows it is small."""

    def answers(chunks: list[Any]) -> list[Any]:
        return wrong.right(chunks) if expect(chunks).legal else [{"id": "a", "name": "b", "arguments": "{}"}]

    with pytest.raises(Failed) as caught:
        ask_responses(Called(answers), 20)
    first, *frames, expected, _ = str(caught.value).splitlines()

    assert first == "it accepts:"
    assert len(frames) <= 3
    assert '"fault": ' in expected


def test_one_that_remembers_fails_though_it_need_not_err_again() -> None:
    with pytest.raises(Failed, match=r"^it refuses:\n"):
        ask_responses(Called(wrong.remembers), 50)


@pytest.mark.parametrize("name", RELATED)
def test_a_right_assembler_is_asked_twice_and_something_in_between(name: str) -> None:
    """Each question but the first is three: a stream, one that was asked before, and the other stream."""
    target = Called(wrong.right)
    ask_relation(RELATED[name], target, 30)
    first, _, *rest = target.asked

    assert rest
    assert len(rest) % 3 == 0
    assert [rest[at + 1] for at in range(0, len(rest), 3)] == [
        first,
        *(rest[at] for at in range(0, len(rest) - 3, 3)),
    ]


BREAKS = {
    "null_is_omitted": wrong.null_clears,
    "indices_apart": wrong.keyed_by_name,
    "no_memory": wrong.remembers,
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_wrong_assembler_breaks_a_relation(name: str) -> None:
    """Also one that remembers, which need not err again where Hypothesis asks it again."""
    with pytest.raises(Failed, match=f"^not so: {RELATED[name].sentence}\n") as caught:
        ask_relation(RELATED[name], Called(BREAKS[name]), 300)
    _, one, got, other, another = str(caught.value).splitlines()

    assert (one == other) is (name == "no_memory")
    assert {json.loads(line.removeprefix("got ")).popitem()[0] for line in (got, another)} >= {"calls"}
    assert got != another
