"""The campaign is strong: what one row could do otherwise, it tells, or there is a reason why nobody can."""

from __future__ import annotations

from statistics import median

import pytest
from mutants import by_row, campaign, killed, mutants, reason

pytestmark = pytest.mark.usefixtures("untraced")

STREAMS = 5000


def test_every_mutant_is_killed_or_has_a_reason_and_none_has_both() -> None:
    streams = by_row(campaign(STREAMS))
    steps = {mutant: killed(mutant, streams) for mutant in mutants()}
    kills = [taken for taken in steps.values() if taken]
    print(f"\n{len(steps)} mutants, {len(kills)} killed in {sum(kills):,} steps, median {median(kills):,.0f}")  # noqa: T201 - the figures

    assert [str(mutant) for mutant, taken in steps.items() if not taken and not reason(mutant)] == []
    assert [str(mutant) for mutant, taken in steps.items() if taken and reason(mutant)] == []
    assert len(kills) > 700
