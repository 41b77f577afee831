"""Each invariant is a function of single facts: what it lets pass, and what it does not."""

from __future__ import annotations

from typing import Any

import pytest

from wholecall_spec import statements
from wholecall_spec.statements import STATEMENTS, Invariant

FACTS: dict[str, tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]] = {
    "identity_kept": ([(None, None), (None, "a"), ("a", "a")], [("a", "b"), ("a", None), ("a", "")]),
    "no_invented_id": ([(None, []), ("b", ["a", "b"])], [("a", []), ("ab", ["a", "b"])]),
    "no_borrowing": ([("", [""]), ("ab", ["", "a", "ab"])], [("b", ["", "a", "ab"]), ("", ["a"])]),
    "raw_preserved": ([("{ }", "{ }")], [("{}", "{ }"), ("", "{}")]),
    "limits_kept": ([(0, 2), (2, 2)], [(3, 2)]),
    "whole_batch_first": ([(True, True)], [(False, True), (True, False), (False, False)]),
    "corrupt_never_runs": ([(True, 2), (False, 0)], [(False, 1)]),
    "bounded_attempts": ([(0, 2), (2, 2)], [(3, 2)]),
    "no_regeneration_after_start": ([(False, 2), (True, 0)], [(True, 1)]),
    "unknown_never_blindly_retried": (
        [("once", 0, 0, True), ("once", 1, 1, True), ("idempotent", 1, 0, True), ("none", 1, 0, True)],
        [("once", 1, 0, True), ("once", 2, 1, True), ("none", 0, 0, False)],
    ),
    "no_false_certainty": (
        [
            ("succeeded", "once", True, True),
            ("failed", "once", False, True),
            ("failed", "none", True, True),
            ("cancelled", "once", False, False),
            ("unresolved", "once", True, True),
            ("uncertain", "once", False, True),
        ],
        [
            ("succeeded", "once", False, True),
            ("succeeded", "none", False, True),
            ("failed", "once", True, True),
            ("failed", "idempotent", True, True),
            ("cancelled", "none", False, True),
        ],
    ),
    "one_effect_per_key": ([("once", 1), ("none", 2)], [("once", 2), ("idempotent", 2)]),
    "refusal_is_not_success": ([(True, False), (False, True), (False, False)], [(True, True)]),
    "every_end_explained": (
        [(True, [], ["x"]), (False, ["x"], ["x"])],
        [(False, [], ["x"]), (False, ["x", "y"], ["x"])],
    ),
    "diagnostics_bounded": ([([], ["s"]), (["s"], ["t"])], [(["s"], ["t", "as"])]),
    "always_ends": ([("settled", ["settled"])], [("requesting", ["settled"])]),
}
"""For each invariant, facts of which it holds, and facts of which it does not."""

INVARIANTS = {one.name: one for one in STATEMENTS if isinstance(one, Invariant)}


@pytest.mark.parametrize("name", FACTS)
def test_an_invariant_tells_what_breaks_it(name: str) -> None:
    good, bad = FACTS[name]

    assert [INVARIANTS[name].broken(*facts) for facts in good] == [()] * len(good)
    assert [INVARIANTS[name].broken(*facts) for facts in bad] == [(name,)] * len(bad)


def test_every_statement_is_listed_once() -> None:
    defined = [one for one in vars(statements).values() if isinstance(one, statements.Statement)]

    assert sorted(one.name for one in defined) == sorted(one.name for one in STATEMENTS)
    assert INVARIANTS.keys() == FACTS.keys()


def test_what_is_not_explored_is_asked_of_real_code() -> None:
    """And what must be possible is told by a search that sees everything, never by a sample."""
    assert [one.name for one in STATEMENTS if not one.explored] == ["diagnostics_bounded"]
    for one in STATEMENTS:
        assert one.explored or one.asked_of == ("responses", "turns")
        assert isinstance(one, Invariant) is (one.kind != "sometimes")
