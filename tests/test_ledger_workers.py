"""Many workers on one ledger, and workers that die: one key is one worker's, and what was said is on disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from ledgers import planned

from wholecall.turn.ledger import Ledger
from wholecall.turn.ledger_records import Operation

pytestmark = pytest.mark.usefixtures("untraced")

KEYS = [f"{number:04x}" for number in range(200)]
THREADS, PROCESSES = 8, 3


BATCH = [planned(key, index=index) for index, key in enumerate(KEYS)]


def at_once(work: Callable[[int], list[str]]) -> list[list[str]]:
    """What each of several threads says that start together."""
    barrier = Barrier(THREADS)

    def run(worker: int) -> list[str]:
        barrier.wait()
        return work(worker)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def claims(ledger: Ledger, worker: str) -> list[str]:
    return [key for key in KEYS if ledger.claim(key, owner=worker, lease=60)]


def one_winner_each(ledger: Ledger, won: dict[str, list[str]]) -> None:
    """Each key was won by one worker, its record says so, and there was one try."""
    assert Counter(key for keys in won.values() for key in keys) == Counter(KEYS)
    winner = {key: worker for worker, keys in won.items() for key in keys}
    for found in ledger.of_turn("turn"):
        assert (found.state, found.owner, found.tries) == ("started", winner[found.key], 1)
    for key in KEYS[::10]:
        assert [one.owner for one in ledger.tries(key)] == [winner[key]]


def test_of_threads_of_one_ledger_one_wins_each_key(ledger_url: str) -> None:
    with Ledger(ledger_url) as ledger:
        assert ledger.plan(BATCH)
        won = at_once(lambda worker: claims(ledger, str(worker)))

        one_winner_each(ledger, {str(worker): keys for worker, keys in enumerate(won)})


def test_of_threads_on_a_ledger_in_memory_one_wins_each_key() -> None:
    with Ledger("sqlite://") as ledger:
        assert ledger.plan(BATCH)
        won = at_once(lambda worker: claims(ledger, str(worker)))

        one_winner_each(ledger, {str(worker): keys for worker, keys in enumerate(won)})


WORKER = f"""
import sys
from wholecall.turn.ledger import Ledger
url, worker = sys.argv[1:]
with Ledger(url) as ledger:
    print("ready", flush=True)
    sys.stdin.readline()
    for key in {KEYS}:
        if ledger.claim(key, owner=worker, lease=60):
            print(key, flush=True)
"""


def start(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def let_go(process: subprocess.Popen[str]) -> None:
    """Let a process begin that is ready."""
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def test_of_processes_one_wins_each_key(ledger_url: str) -> None:
    with Ledger(ledger_url) as ledger:
        assert ledger.plan(BATCH)
        workers = [start(WORKER, ledger_url, str(worker)) for worker in range(PROCESSES)]
        assert [line_of(worker) for worker in workers] == ["ready\n"] * PROCESSES
        for worker in workers:
            let_go(worker)
        won = {str(number): worker.communicate()[0].split() for number, worker in enumerate(workers)}

        assert [worker.returncode for worker in workers] == [0] * PROCESSES
        one_winner_each(ledger, won)


def test_one_batch_of_a_turn_is_planned(ledger_url: str) -> None:
    """Each worker has another batch of each turn; for every turn, one worker has planned all of its own."""
    turns = [f"turn {number}" for number in range(20)]

    def batch(turn: str, worker: int) -> list[Operation]:
        return [
            planned(f"{turn} {worker} {index}", index=index, attempt=worker, turn_id=turn)
            for index in range(3)
        ]

    with Ledger(ledger_url) as ledger:
        won = at_once(lambda worker: [turn for turn in turns if ledger.plan(batch(turn, worker))])

        assert Counter(turn for kept in won for turn in kept) == Counter(turns)
        for worker, kept in enumerate(won):
            for turn in kept:
                assert ledger.of_turn(turn) == tuple(batch(turn, worker))


def test_one_worker_takes_over_each_lost_operation(ledger_url: str) -> None:
    keys = KEYS[:50]
    with Ledger(ledger_url, clock=lambda: 0) as dead, Ledger(ledger_url, clock=lambda: 60) as ledger:
        assert dead.plan(BATCH)
        assert all(dead.claim(key, owner="dead", lease=60) for key in keys)
        lost = [left.operation for left in ledger.recover() if left.lost]

        won = at_once(
            lambda worker: [one.key for one in lost if ledger.take_over(one, owner=str(worker), lease=60)]
        )

        assert Counter(key for taken in won for key in taken) == Counter(keys)
        owners = {one.key: one.owner for one in ledger.of_turn("turn") if one.owner}
        assert owners == {key: str(worker) for worker, taken in enumerate(won) for key in taken}
        assert not any(ledger.retry(key, owner="dead", number=1, lease=60) for key in keys)


KILLED = f"""
import os, signal, sys
from wholecall.turn.ledger import Ledger
ledger = Ledger(sys.argv[1], clock=lambda: 0)
print("ready", flush=True)
sys.stdin.readline()
fields = dict(owner="dead", number=1)
for at, key in enumerate({KEYS}):
    ledger.claim(key, owner="dead", lease=60)
    os.write(1, (key + " started\\n").encode())
    if at % 2:
        ledger.record(key, **fields, input="timeout", state="uncertain", fault="operation.uncertain")
        os.write(1, (key + " uncertain\\n").encode())
    if at % 3 == 0:
        ledger.record(key, **fields, input="result", state="succeeded", result="1")
        os.write(1, (key + " succeeded\\n").encode())
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(
    ("ledger_url", "words"),
    [("file", 20), ("file", None), ("postgresql", 50)],
    indirect=["ledger_url"],
)
def test_what_a_killed_process_was_told_is_on_disk(ledger_url: str, words: int | None) -> None:
    """Killed by itself after its last word, or in the middle: then one change may be made and not told."""
    with Ledger(ledger_url, clock=lambda: 59) as ledger:
        assert ledger.plan(BATCH)
        with start(KILLED, ledger_url) as process:
            assert line_of(process) == "ready\n"
            let_go(process)
            lines = []
            if words is not None:
                lines = [line_of(process) for _ in range(words)]
                process.send_signal(signal.SIGKILL)
            assert process.stdout is not None
            lines += process.stdout  # `communicate` would pass over what was read ahead
        assert process.returncode == -signal.SIGKILL
        told = dict(line.split() for line in lines)

        states = {one.key: one.state for one in ledger.of_turn("turn")}
        untold = {key: state for key, state in states.items() if told.get(key, "planned") != state}
        assert len(untold) <= (words is not None), untold
        for key in KEYS[::7]:
            assert [one.owner for one in ledger.tries(key)] == ["dead"] * (states[key] != "planned")
        left = ledger.recover(60)
        assert {one.key: lost for one, lost in left} == {
            key: state != "planned" for key, state in states.items() if state != "succeeded"
        }
        lost = next(one for one, lost in left if lost)
        assert not ledger.take_over(lost, owner="me", lease=60)
    with Ledger(ledger_url, clock=lambda: 60) as later:
        assert later.take_over(lost, owner="me", lease=60)
