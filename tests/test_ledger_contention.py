"""Workers that contend for the same keys and die: each key happens once, has an end, and none is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import contending
import psycopg
import pytest

from wholecall.turn.ledger import Ledger

pytestmark = pytest.mark.usefixtures("untraced")

TURNS = 100


def test_of_ten_thousand_operations_each_happens_once(new_postgresql: Callable[[], str]) -> None:
    """Four workers go through the same keys; twenty are killed, and some claims are not followed up."""
    url = new_postgresql()
    batches = [contending.turn(number) for number in range(TURNS)]
    keys = {one.key for batch in batches for one in batch}
    assert len(keys) == 10_000
    with Ledger(url) as ledger, psycopg.connect(url, autocommit=True) as connection:
        connection.execute(contending.CREATE.encode())
        connection.cursor().executemany("INSERT INTO world VALUES (%s)", [(key,) for key in sorted(keys)])
        for batch in batches:
            assert ledger.plan(batch)
        subprocess.run(
            [sys.executable, str(Path(contending.__file__)), url, str(TURNS)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
            timeout=600,
        )

        happened = connection.execute("SELECT key, happened FROM world")
        assert {str(key): times for key, times in happened} == dict.fromkeys(keys, 1)
        assert ledger.recover() == ()
        kept = [one for number in range(TURNS) for one in ledger.of_turn(f"turn-{number}")]
        assert {one.key: one.state for one in kept} == dict.fromkeys(keys, "succeeded")
        tried = connection.execute("SELECT key, count(*), max(number) FROM wholecall_try GROUP BY key")
        assert {key: (count, last) for key, count, last in tried} == {
            one.key: (one.tries, one.tries) for one in kept
        }
        claimed = connection.execute("SELECT key, owner FROM wholecall_try WHERE number = 1")
        first = {str(key): owner for key, owner in claimed}
        taken = [one for one in kept if one.owner != first[one.key]]
        assert len(taken) > 30
        assert any(one.tries > 1 for one in taken)
        beaten = connection.execute("SELECT count(*) > %s FROM beaten", (len(keys) / 4,))
        assert beaten.fetchone() == (True,)
