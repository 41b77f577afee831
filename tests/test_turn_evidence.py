"""A turn with evidence: what a refused call held is kept, and the loop does not wait for the disk."""

from __future__ import annotations

import threading
from pathlib import Path

import anyio
import pytest
from turns import CUT, FAST, GOOD, HALF, TEXT, Acts, Stage, hang, interrupt

from wholecall.turn.evidence import Evidence


class Seen:
    """A sink that says in which thread it was asked, and may do something then."""

    def __init__(self, then: object = None) -> None:
        self.kept: dict[str, str] = {}
        self.threads: list[int] = []
        self.then = then

    def keep(self, digest: str, text: str) -> None:
        self.threads.append(threading.get_ident())
        if callable(self.then):
            self.then()
        self.kept[digest] = text


def test_what_a_refused_call_held_is_found_under_the_digest_of_its_diagnostic(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path / "evidence")
    result = Stage([HALF, GOOD], options={"evidence": evidence}).run()
    (found,) = result.diagnostics

    assert result.end == "settled"
    assert evidence.get(found.text_digest or "") == CUT
    assert len(list((tmp_path / "evidence").iterdir())) == 1


def test_evidence_is_kept_in_a_thread_of_its_own_and_nothing_else_is() -> None:
    """A disk that is slow stops no other task; and a turn without evidence has no thread for it."""
    sink = Seen()
    result = Stage([HALF, GOOD], options={"evidence": sink}).run()

    assert (result.end, list(sink.kept.values())) == ("settled", [CUT])
    assert threading.get_ident() not in sink.threads


def test_evidence_waits_for_no_tool() -> None:
    """Tools that never come back may hold every thread that anyio has for them."""
    sink = Seen()

    async def main() -> None:
        limiter = anyio.to_thread.current_default_thread_limiter()
        limiter.total_tokens = 1
        async with limiter:
            with anyio.fail_after(5):
                await Stage([HALF, TEXT], options={"evidence": sink}).make().run()

    anyio.run(main)

    assert list(sink.kept.values()) == [CUT]


def test_a_turn_that_is_cancelled_meanwhile_keeps_it_all_the_same() -> None:
    sink = Seen(lambda: anyio.from_thread.run_sync(interrupt))
    stage = Stage([HALF, hang], options={"evidence": sink}, interrupted=True, policy=FAST)
    result = stage.run()

    assert (result.end, list(sink.kept.values())) == ("cancelled", [CUT])


@pytest.mark.parametrize("evidence", [None, Seen()])
def test_evidence_has_no_say_in_what_a_turn_comes_to(evidence: Seen | None) -> None:
    stage = Stage([HALF], options={"evidence": evidence}, check=Acts(["no"]))
    result = stage.run()

    assert (result.end, result.fault, stage.requests) == ("exhausted", "syntax.incomplete", 3)
