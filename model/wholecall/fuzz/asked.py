"""What the printed tests ask of a target: each row, whole responses, and the relations.

`pytest --pyargs wholecall_generated --wholecall-target MODULE:CALLABLE` runs them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test
from hypothesis.strategies import integers

from wholecall.cases import ABORT
from wholecall.fuzz.reading import Expected
from wholecall.fuzz.replay import expected_of, got_of
from wholecall.fuzz.response import SendingMachine
from wholecall.fuzz.rows import streams_of_rows
from wholecall.fuzz.sender import Sender
from wholecall.fuzz.target import Target
from wholecall.fuzz.verdict import judge
from wholecall.fuzz.walk import Coverage, Dealer
from wholecall.limits import Limits
from wholecall.relations import Relation, other, same


class _ErredError(Exception):
    """The target erred."""


Err = Callable[[str], NoReturn]
"""Is told how the target erred."""


def ask_row(row: str, target: Target) -> None:
    """Ask the streams of a row, and fail where the target errs."""
    if row not in streams_of_rows():
        pytest.skip("limits of the reader, or a tool's own check, decide this row")

    def streams(err: Err) -> None:
        for sent in streams_of_rows()[row]:
            _ask(sent.chunks, sent.expected, target, err)

    _tell(streams)


def ask_responses(target: Target, examples: int) -> None:
    """Ask whatever Hypothesis comes to, and fail where the target errs, with the smallest stream."""

    def responses(err: Err) -> None:
        class Asking(SendingMachine):
            def sent(self, chunk: object) -> None:
                if self.sender.over:
                    expected = self.sender.reading.expected(aborted=chunk == ABORT)
                    _ask(self.sender.chunks, expected, target, err)

        run_state_machine_as_test(Asking, settings=settings(max_examples=examples, deadline=None))

    _tell(responses)


def ask_relation(relation: Relation, target: Target, examples: int) -> None:
    """Ask streams and what must come to the same; no table is asked."""
    before: list[list[Any]] = []

    @settings(max_examples=examples, deadline=None)
    @given(integers(0, 2**32))
    def related(err: Err, seed: int) -> None:
        random = Random(seed)  # noqa: S311 - a choice of streams
        sender = Sender(Dealer(random, Coverage()), Limits())
        sender.send_all()
        changed = other(relation, sender.chunks, lambda below: int(random.random() * below))
        if changed is None:
            return
        one = target.ask(sender.chunks)
        if before:
            target.ask(before[-1])
        two = target.ask(changed)
        before.append(sender.chunks)
        if not (one.skipped or two.skipped or same(one.calls, two.calls)):
            told = "".join(
                f"\n{json.dumps(chunks)}\ngot {json.dumps(got_of(got))}"
                for chunks, got in ((sender.chunks, one), (changed, two))
            )
            err(f"not so: {relation.sentence}{told}")

    _tell(related)


def _tell(test: Callable[[Err], object]) -> None:
    """Run what a target may fail, and tell nothing but how it erred last, which is the smallest.

    A target that remembers need not err again where Hypothesis asks it again, and erred all the same.
    """
    told: list[str] = []

    def err(how: str) -> NoReturn:
        told.append(how)
        raise _ErredError

    try:
        test(err)
    except (_ErredError, Flaky) as error:
        pytest.fail(told[-1] if told else str(error), pytrace=False)


def _ask(chunks: Sequence[Any], expected: Expected, target: Target, err: Err) -> None:
    got = target.ask(chunks)
    if got.skipped:
        return
    kind = judge(expected, got)
    if kind:
        frames = "".join(f"\n  {json.dumps(chunk)}" for chunk in chunks)
        told = f"expected {json.dumps(expected_of(expected))}\ngot {json.dumps(got_of(got))}"
        err(f"it {kind}:{frames}\n{told}")
