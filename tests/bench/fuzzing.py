"""How fast a campaign is, beside a Hypothesis machine that does nothing, and how much it tells: `make bench`.

The idle machine has the rules and draws of `ResponseMachine` and no bodies: what Hypothesis alone costs. A
campaign walks, and hands to Hypothesis what it finds; the machine with its bodies is what printed tests run.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from hypothesis.strategies import sampled_from

sys.path.insert(0, str(Path(__file__).parents[1]))

from mutants import by_row, campaign, killed, mutants  # stands beside the tests

from wholecall.fuzz.response import CHOICES, ResponseMachine
from wholecall.fuzz.target import TargetName
from wholecall.fuzz.walk import Coverage, walk

ROUNDS = 5
EXAMPLES = 60
SECONDS = 4.0
TARGET = 0.8
STREAMS = 5000
_STEPS = [0]


class Idle(RuleBasedStateMachine):
    """The same rules and draws, and nothing done."""

    def __init__(self) -> None:
        super().__init__()
        self.left = 12

    @precondition(lambda self: self.left == 0)
    @rule(number=sampled_from(range(12)))
    def begin_again(self, number: int) -> None:
        """As long as a response is on average."""
        self.left = 12 + 0 * number

    @precondition(lambda self: self.left > 0)
    @rule(choices=CHOICES)
    def send(self, choices: bytes) -> None:
        """Count."""
        self.left -= bool(choices)
        _STEPS[0] += 1


class Busy(ResponseMachine):
    """What the printed tests run."""

    def sent(self, chunk: object) -> None:
        """Count, and do what is to be done."""
        _STEPS[0] += 1
        super().sent(chunk)


def of_machine(machine: type[RuleBasedStateMachine]) -> float:
    """Steps a second."""
    _STEPS[0] = 0
    quiet = settings(
        max_examples=EXAMPLES,
        stateful_step_count=50,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=tuple(HealthCheck),
    )
    began = time.perf_counter()
    run_state_machine_as_test(machine, settings=quiet)
    return _STEPS[0] / (time.perf_counter() - began)


def of_campaign(seed: int) -> float:
    """Steps a second of a walk, wholecall itself asked and judged."""
    began = time.time()
    walked = walk(TargetName().open(), Coverage(), seed, 10**9, began + SECONDS, own=True)
    return walked.steps / (time.time() - began)


def main() -> None:
    """Print all, each a median of rounds in which all were measured in turn."""
    rounds = [(of_machine(Idle), of_machine(Busy), of_campaign(seed)) for seed in range(ROUNDS)]
    idle, busy, walked = (median(column) for column in zip(*rounds, strict=True))
    ratio = median(one[2] / one[0] for one in rounds)
    print(f"{'':<44} {'steps/s':>9} {'/idle':>6}")
    print(f"{'a Hypothesis machine without bodies (idle)':<44} {idle:>9,.0f} {1:>6.2f}")
    print(f"{'the machine of whole responses':<44} {busy:>9,.0f} {busy / idle:>6.2f}")
    met = "met" if ratio >= TARGET else "MISSED"
    print(f"{'the campaign (a walk)':<44} {walked:>9,.0f} {ratio:>6.2f}   >= {TARGET}  {met}\n")
    streams = by_row(campaign(STREAMS))
    every = list(mutants())
    steps = [taken for taken in (killed(mutant, streams) for mutant in every) if taken]
    told = f"{len(every)} mutants of one row, {len(steps)} told from the tables"
    print(f"{told}: {sum(steps):,} steps in all, median {median(steps):,.0f}, most {max(steps):,}")
    print(f"the other {len(every) - len(steps)} cannot be told by anybody; tests/mutants.py says why of each")


if __name__ == "__main__":
    main()
