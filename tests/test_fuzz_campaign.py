"""A campaign finds what people really do wrong, makes it small, and goes on whatever its target does."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest

from wholecall.cases import Case, CaseError
from wholecall.fuzz import campaign as rooms
from wholecall.fuzz.campaign import Budget, Campaign, Small, close_opened, recall, settle
from wholecall.fuzz.reading import SentCall, expect
from wholecall.fuzz.replay import asked, case_of, check, got_of
from wholecall.fuzz.report import lines, record, save
from wholecall.fuzz.rows import reachable
from wholecall.fuzz.sender import Sender
from wholecall.fuzz.shrink import Sent, drop, shrink
from wholecall.fuzz.target import Got, Own, Target, TargetName
from wholecall.fuzz.verdict import KINDS, judge, same_value, unlike
from wholecall.fuzz.walk import Coverage, Dealer, Find
from wholecall.limits import Limits

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _beside_the_tests(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.setattr(rooms, "SHRINKING", 0.3)
    yield
    close_opened()


FOREVER = Small(float("inf"), float("inf"))


def run(
    name: str, streams: int | None = 600, known: Path | None = None, seconds: float | None = None
) -> Campaign:
    """A campaign against one of the assemblers in `wrong.py`, or against wholecall."""
    found = Campaign(TargetName(f"wrong:{name}" if name else ""), seed=3, known=known)
    with ThreadPoolExecutor(2) as executor:
        found.run(Budget(seconds, streams), executor, 2, lambda: None)
    return found


WRONG = {
    "keyed_by_name": {("corrupts", "N11"), ("corrupts", "R06"), ("corrupts", "R12")},
    "ids_added": {("corrupts", "I16")},
    "null_clears": {("corrupts", "I14")},
    "first_of_chunk": {("corrupts", "R12"), ("corrupts", "R14"), ("corrupts", "R17")},
    "last_id_borrowed": {("refuses", "R12"), ("refuses", "R17"), ("accepts", "I06"), ("accepts", "I15")},
    "ids_coerced": {("accepts", "I05"), ("accepts", "I18"), ("accepts", "I11")},
    "null_dropped": {("accepts", "I02"), ("accepts", "I08")},
    "last_id_wins": {("accepts", "I17")},
    "brackets_repaired": {("accepts", "P08")},
}
"""The rows at which each is bound to show its mistake; one of them must be found."""


@pytest.mark.usefixtures("untraced")
@pytest.mark.parametrize("name", WRONG)
def test_what_people_really_write_is_found(name: str) -> None:
    assert run(name).findings.keys() & WRONG[name]


def test_what_is_right_is_not_found_to_err() -> None:
    found = run("right", streams=300)

    assert found.findings == {}
    assert (found.walked.streams, found.flaky) == (300, 0)


@pytest.mark.usefixtures("untraced")
def test_wholecall_itself_meets_every_row_and_pair(tmp_path: Path) -> None:
    found = run("", streams=4000, known=tmp_path)
    told = record(found, {})

    assert (told["rows"]["missed"], told["findings"]) == ([], [])
    assert told["pairs"]["hit"] >= 0.95 * told["pairs"]["of"]
    assert [*tmp_path.iterdir()] == []


def test_a_finding_is_small_and_replays(tmp_path: Path) -> None:
    """Found by hand: one fragment with an id, one with null, and the end; nothing shorter shows it."""
    found = run("null_clears", streams=300)
    key = "corrupts", "I14"
    coverage = found.walked.coverage
    settled = settle(found.target, found.findings[key], coverage, None, FOREVER)
    assert settled.find
    found.findings = {key: settled.find}
    file = Path(save(found, tmp_path)["corrupts-I14"])
    other = json.loads(file.read_text()) | {"id": "another"}
    file.write_text(f"{file.read_text()}{json.dumps(other)}\n")
    case = Case.load(other)

    assert len(settled.find.chunks) <= 5
    assert json.dumps(settled.find.chunks).count('"id": null') == 1
    assert case.run().outcome == "whole"
    with pytest.raises(AssertionError, match="corrupts-I14: it corrupts"):
        check(file, found.target)
    check(file, TargetName("wrong:right"))
    check(file, TargetName())


def test_what_waits_at_the_end_loses_the_chunks_that_it_shows_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Hypothesis has had no time: too few streams for a row to be blamed before the budget ends."""
    monkeypatch.setattr(rooms, "SHRINKING", 60)
    found = run("null_clears", streams=300)
    target = found.target.open()
    kept = {key: [*find.chunks] for key, find in found.findings.items()}
    again = {key: drop(find, target).chunks for key, find in found.findings.items()}
    target.close()

    assert kept.keys() >= {("corrupts", "I14")}
    assert again == kept
    assert {find.before for find in found.findings.values()} == {()}
    assert max(map(len, kept.values())) < 10


def test_each_case_of_a_file_is_asked(tmp_path: Path) -> None:
    """Of wholecall itself, which tells outcome, fault and rows of what it made."""
    case = {"id": "x", "dialect": "chat", "evidence": "synthetic", "chunks": [], "expect": {"outcome": "cut"}}
    file = tmp_path / "cases.jsonl"
    file.write_text(f"{json.dumps(case)}\n{json.dumps(case | {'id': 'y'})}\n")
    check(file, TargetName())
    with pytest.raises(AssertionError, match="x: it accepts"):
        check(file, TargetName("wrong:gives_always"))
    told = got_of(Own().ask([]))

    assert (told["outcome"], told["fault"]) == ("incomplete", "stream.no_finish")
    assert "S10" in told["rows"]


def dealt(seed: int) -> Sent:
    """A stream dealt at random."""
    dealer = Dealer(Random(seed), Coverage())  # noqa: S311 - a choice of streams
    sender = Sender(dealer, Limits())
    sender.send_all()
    return Sent(sender, bytes(dealer.dealt))


def test_what_is_made_small_is_of_the_same_row() -> None:
    """Of a target that errs always, what is found small of a row still has that row."""

    def errs(sent: Sent) -> Find:
        sender = sent.sender
        return Find("refuses", "", sender.chunks, sender.expected, Got(), sender.limits, sent.dealt)

    found = (one for one in map(dealt, count()) if one.sender.expected.legal)
    long = next(one for one in found if "I14" in one.sender.expected.rows and len(one.sender.chunks) > 8)
    small = shrink(errs(long)._replace(row="I14"), errs, own=False, until=time.time() + 2)

    assert "I14" in small.expected.rows
    assert len(small.chunks) < len(long.sender.chunks)


def test_a_second_campaign_looks_first_at_what_the_first_found(tmp_path: Path) -> None:
    """And forgets what is not found any more."""
    first = run("null_clears", streams=300, known=tmp_path)
    second = run("null_clears", streams=1, known=tmp_path)
    again = recall(first.target, tmp_path)
    name = TargetName("wrong:right")

    assert {find.kind for find in again} == {kind for kind, _ in first.findings} == {"corrupts"}
    assert {kind for kind, _ in second.findings} == {"corrupts"}
    assert run("null_clears", streams=1).findings == {}, "so little finds nothing anew"
    assert {find.dealt for find in again} == {find.dealt for find in first.findings.values()}
    assert recall(name, tmp_path) == []
    assert recall(TargetName("wrong:null_clears"), tmp_path) == []


def test_what_needs_an_earlier_response_carries_it(tmp_path: Path) -> None:
    """A name that an earlier response had: one before is enough, and it has the same name."""
    found = run("remembers", streams=16)
    find = found.findings[next(iter(found.findings))]
    file = tmp_path / "case.jsonl"
    file.write_text(json.dumps(case_of(find)))

    assert find.kind == "refuses"
    assert len(find.before) == 1
    with pytest.raises(AssertionError, match="it refuses"):
        check(file, found.target)


def test_a_flaky_or_dying_target_does_not_end_a_campaign() -> None:
    flaky, dies = run("flaky", streams=140), run("dies", streams=300)

    assert (flaky.findings, flaky.flaky > 0) == ({}, True)
    assert flaky.walked.streams == 140
    assert dies.walked.troubles["died"] > 0
    assert dies.walked.streams == 300
    assert f"not seen again: {flaky.flaky}" in [*lines(flaky, {})]
    assert any(line.startswith("the target died: ") for line in lines(dies, {}))


def test_a_budget_of_seconds_ends_it_and_what_waits_is_looked_at() -> None:
    found = run("null_clears", streams=None, seconds=2.0)

    assert found.walked.streams > 0
    assert found.findings


def test_what_is_found_is_settled_while_it_goes_on() -> None:
    campaign = Campaign(TargetName("wrong:brackets_repaired"))
    told: list[tuple[int, int]] = []
    with ThreadPoolExecutor(1) as executor:
        campaign.run(
            Budget(streams=600),
            executor,
            1,
            lambda: told.append((campaign.walked.streams, len(campaign.findings))),
        )

    assert [streams for streams, _ in told] == [100, 200, 300, 400, 500, 600]
    assert told[-2][1] > 0


def test_an_interrupt_ends_it_and_what_was_found_is_told() -> None:
    campaign = Campaign(TargetName("wrong:null_clears"))
    times = iter(range(5))

    def interrupt() -> None:
        if next(times) == 4:
            raise KeyboardInterrupt

    with ThreadPoolExecutor(1) as executor:
        campaign.run(Budget(streams=10_000), executor, 1, interrupt)

    assert campaign.walked.streams == 500
    assert campaign.findings
    assert campaign.seconds > 0


class Skips(Own):
    """Cannot express anything."""

    def ask(self, chunks: Any, limits: Limits | None = None) -> Got:  # noqa: ARG002 - it is asked as others
        return Got(skipped=True)


def test_what_cannot_be_expressed_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(_: TargetName) -> Target:
        return Skips()

    monkeypatch.setattr(TargetName, "open", opened)
    found = run("", streams=50)

    assert (found.walked.skipped, found.findings) == (50, {})
    assert "not expressible to the target: 50" in [*lines(found, {})]


class Misjudges(Own):
    """Says another fault than the tables."""

    def ask(self, chunks: Any, limits: Limits | None = None) -> Got:
        got = super().ask(chunks, limits)
        outcome, fault, rows = got.verdict or ("", None, ())
        return Got(got.calls, verdict=(outcome, "name.type" if fault == "limit.name" else fault, rows))


@pytest.mark.usefixtures("untraced")
def test_a_wrong_fault_of_wholecall_itself_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """And its case has the limits with which it shows."""

    def opened(_: TargetName) -> Target:
        return Misjudges()

    monkeypatch.setattr(TargetName, "open", opened)
    found = run("", streams=300)
    kinds = {kind for kind, _ in found.findings}
    case = case_of(found.findings["differs", "N05"])

    assert (kinds, case["limits"]["name"]) == ({"differs"}, 24)
    assert case["got"]["fault"] == "name.type"
    assert Case.load(case).run().fault == "limit.name"
    assert asked(Case.load(case), Own())[0] == ""


def test_others_are_not_held_to_limits() -> None:
    assert not [row for row in reachable(own=False).rows if row in ("R07", "R13", "N05", "N12", "A05", "A12")]
    assert reachable(own=False).pairs < reachable(own=True).pairs


CALLS = (SentCall("a", "f", '{"x": 1}'), SentCall("b", "f", "{}"))


def told(*calls: SentCall, **changed: Any) -> tuple[dict[str, Any], ...]:
    return tuple({**call._asdict(), **changed} for call in calls)


FEWER, MORE = "1 calls instead of 2", "3 calls instead of 2"


@pytest.mark.parametrize(
    ("got", "differs"),
    [
        (told(*CALLS), []),
        (told(*reversed(CALLS)), []),
        ((*told(CALLS[0], arguments={"x": 1.0}), *told(CALLS[1])), []),
        ((*told(CALLS[0], arguments={"x": True}), *told(CALLS[1])), ["arguments of call 1"]),
        (told(CALLS[0]), [FEWER]),
        (told(CALLS[1]), [FEWER]),
        ((), ["0 calls instead of 2"]),
        (told(CALLS[1], id="a"), [FEWER, "arguments of call 1"]),
        (told(*CALLS, CALLS[1]), [MORE]),
        (told(CALLS[0], CALLS[0]), ["id of call 2", "arguments of call 2"]),
        (told(*CALLS, id=None), ["id of call 1", "id of call 2"]),
        (told(*CALLS, name="g"), ["name of call 1", "name of call 2"]),
        (told(CALLS[0], CALLS[1], arguments=""), ["arguments of call 1", "arguments of call 2"]),
        ((*told(CALLS[0]), {"id": "b", "name": "f"}), ["arguments of call 2"]),
        (({"id": "b", "arguments": "{}"}, *told(CALLS[0])), ["name of call 2"]),
    ],
)
def test_calls_are_compared_whole_and_in_any_order(got: Any, differs: list[str]) -> None:
    assert unlike(CALLS, got) == differs


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": [1, None]}, {"a": [1.0, None]}, True),
        ({"a": 1}, {"b": 1}, False),
        ([1], [1, 2], False),
        ([1], {"0": 1}, False),
        (True, 1, False),
        (0, False, False),
        ("1", 1, False),
        (None, None, True),
    ],
)
def test_values_are_the_same_however_they_are_spelled(one: Any, other: Any, same: bool) -> None:
    assert same_value(one, other) is same


LEGAL = expect([{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}])
ILLEGAL = expect([])


@pytest.mark.parametrize(
    ("expected", "got", "kind"),
    [
        (LEGAL, Got(()), ""),
        (LEGAL, Got(None), "refuses"),
        (LEGAL, Got(({},)), "corrupts"),
        (ILLEGAL, Got(None), ""),
        (ILLEGAL, Got(()), ""),
        (ILLEGAL, Got(({},)), "accepts"),
        (ILLEGAL, Got(({},), skipped=True), ""),
        (ILLEGAL, Got((), verdict=("incomplete", "stream.no_finish", ILLEGAL.rows)), ""),
        (ILLEGAL, Got((), verdict=("incomplete", "stream.aborted", ILLEGAL.rows)), "differs"),
    ],
)
def test_a_verdict(expected: Any, got: Got, kind: str) -> None:
    assert judge(expected, got) == kind
    assert kind in ("", *KINDS)


BAD = {
    "before": ([1], "before must be a list of lists of chunks"),
    "limits": ({"call": 1}, "limits must be an object of calls, name, arguments, depth"),
}


@pytest.mark.parametrize("key", BAD)
def test_a_case_that_is_none_is_told(key: str) -> None:
    case = {"id": "x", "dialect": "chat", "evidence": "synthetic", "chunks": [], "expect": {"outcome": "x"}}
    value, told = BAD[key]

    with pytest.raises(CaseError, match=told):
        Case.load({**case, key: value})
    with pytest.raises(CaseError, match="the limit calls must be"):
        Case.load({**case, "limits": {"calls": 0}})
