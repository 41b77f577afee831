"""The durable record of operations: what was started, by whom, and how it ended.

A tool runs only after its claim is on disk, and an end is on disk before anybody hears of it. So after a
crash the ledger holds every operation that may have had an effect, and no other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from wholecall.turn import ledger_moves as moves
from wholecall.turn.ledger_engine import OpenFile, file_of, kind_of, open_engine, read_url
from wholecall.turn.ledger_records import LedgerUnavailableError, Left, Operation, Try
from wholecall.turn.ledger_schema import LEFT, OPERATION, prepare

P = ParamSpec("P")
Answer = TypeVar("Answer")


class Ledger:
    """A ledger in a database: a SQLite file for one machine, PostgreSQL for many workers.

    Every method is one transaction and may be called from any thread; a process that forks opens its own.
    Each change is a compare-and-set: it answers True where it was made, and False where the record is not
    what the caller thought, and then nothing changed. `get` tells what is the case.

    Everybody who shares a ledger must have a clock that agrees within much less than a lease.

    Args:
        url: `sqlite:///path`, `sqlite://` (in memory, for tests) or `postgresql://...` (psycopg 3). Options
            after `?` are the driver's, such as `timeout` (seconds that SQLite waits for another writer, 30)
            and `connect_timeout` (PostgreSQL, 10). A new SQLite file is readable by its owner alone, since
            it holds arguments and results; PostgreSQL is the administrator's to protect.
        clock: Seconds since the epoch, in which leases are counted.

    Errors:
        LedgerUrlError: The URL names neither.
        LedgerVersionError: The database was written by a newer ledger.
        LedgerUnavailableError: The database cannot be used. Every method can raise it.
        ModuleNotFoundError: PostgreSQL's driver is missing: install `wholecall[postgres]`.
    """

    def __init__(self, url: str, *, clock: Callable[[], float] = time.time) -> None:
        place = read_url(url)
        self._clock = clock
        self._closed = False
        self._file = OpenFile(file_of(place))
        self._engine = open_engine(place)
        self._driver_error = self._engine.dialect.loaded_dbapi.Error
        try:
            self._run(prepare)
        except BaseException:
            self.close()
            raise

    def plan(self, batch: Sequence[Operation]) -> bool:
        """Record a whole batch as planned, all of it or nothing; a key that is there already stays as it is.

        A turn has one batch. Two workers that run one turn may get two responses, and only the batch that was
        planned first may start; of an earlier batch, every operation must have been cancelled.

        Args:
            batch: The operations of one turn. What they say of state, owner, tries and end is not read.

        Returns:
            False where the turn has operations of another batch; then nothing is planned.

        Errors:
            ValueError: The operations are of several turns.
        """
        return self._run(moves.plan, batch)

    def claim(self, key: str, *, owner: str, lease: float) -> bool:
        """Start a planned operation: its first try is on disk when this answers True.

        Args:
            key: A planned operation.
            owner: This worker.
            lease: For how many seconds it is this worker's.

        Returns:
            False where it is not planned: another worker was first, or it has ended.
        """
        now = self._clock()
        return self._run(moves.claim, key, owner, now, now + lease)

    def retry(self, key: str, *, owner: str, number: int, lease: float) -> bool:
        """Open the next try of an operation that is mine: it is on disk when this answers True.

        A try that has no end by now ends as `unrecorded`: a write must have failed.

        Args:
            key: A started or uncertain operation.
            owner: This worker, which holds it.
            number: The latest try that this worker knows of.
            lease: For how many seconds it is this worker's.

        Returns:
            False where it was taken over, has had another try, or has ended.
        """
        now = self._clock()
        return self._run(moves.retry, key, owner, number, now, now + lease)

    def extend(self, key: str, *, owner: str, number: int, lease: float) -> bool:
        """Hold an operation that is mine for longer, also one whose lease ran out and which nobody took.

        Args:
            key: A started or uncertain operation.
            owner: This worker, which holds it.
            number: The latest try that this worker knows of.
            lease: For how many seconds from now; 0 gives it up.

        Returns:
            False where it was taken over, has had another try, or has ended.
        """
        return self._run(moves.extend, key, owner, number, self._clock() + lease)

    def take_over(self, seen: Operation, *, owner: str, lease: float) -> bool:
        """Take an operation whose lease ran out. Its state stays, for the machine to judge (`lost`).

        Args:
            seen: The operation as it was read: its owner and number of tries must still be the same.
            owner: This worker.
            lease: For how many seconds it is this worker's.

        Returns:
            False where its lease still runs, somebody else was faster, or it has ended.
        """
        now = self._clock()
        return self._run(moves.take_over, seen, owner, now, now + lease)

    def record(
        self,
        key: str,
        *,
        owner: str,
        number: int,
        input: str,
        state: str,
        fault: str = "",
        result: str | None = None,
        reason: str | None = None,
    ) -> bool:
        """Record where the operation machine went: that it is uncertain, or how it ended.

        A success is taken from whoever knows of it, of any try, also a late one. Every other end of a started
        operation is taken from its owner alone, of the latest try; and what never started can be cancelled by
        anyone. A final state never changes.

        Args:
            key: The operation.
            owner: This worker.
            number: The try whose answer this is, or the latest where a query answered; 0 before the first.
            input: What arrived; it ends the try, if that has no end yet or this is its result.
            state: Where that led, with `fault` as in the row of the operation table.
            fault: The row's fault; empty where it has none.
            result: The JSON text of the result; kept where the state is a success.
            reason: Why the last try failed, as the tool said it.

        Returns:
            False where the record says otherwise: it has ended, was taken over, or never started.

        Errors:
            LedgerMoveError: No row of the operation table says this.
        """
        move = (input, state, fault)
        return self._run(moves.record, key, owner, number, self._clock(), move, result, reason)

    def mark_absent(self, key: str, number: int) -> bool:
        """Record a query's promise that the effect has not happened and never will.

        It holds of this try and of every earlier one. Whoever asked may record it: it never turns false.

        Args:
            key: The operation.
            number: The latest try that had been opened when the query was asked.

        Returns:
            False where the operation has ended or has no try.
        """
        return self._run(moves.mark_absent, key, number)

    def get(self, key: str) -> Operation | None:
        """The operation of this key, or None."""
        return next(iter(self._run(moves.read, OPERATION.c.key == key)), None)

    def of_turn(self, turn_id: str) -> tuple[Operation, ...]:
        """The operations of a turn by attempt, choice and index."""
        return self._run(moves.read, OPERATION.c.turn_id == turn_id)

    def tries(self, key: str) -> tuple[Try, ...]:
        """Every try of an operation, the first first."""
        return self._run(moves.read_tries, key)

    def recover(self, now: float | None = None) -> tuple[Left, ...]:
        """What has no end, by turn: after a crash, what was left.

        Args:
            now: When the leases are judged; the ledger's clock where it is None.
        """
        found = self._run(moves.read, LEFT)
        at = self._clock() if now is None else now
        return tuple(Left(operation, operation.lost(at)) for operation in found)

    def close(self) -> None:
        """Let go of the database; afterwards every method raises LedgerUnavailableError."""
        self._closed = True
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Ledger in {self._engine.dialect.name}>"

    def _run(
        self, move: Callable[Concatenate[Connection, P], Answer], *args: P.args, **kwargs: P.kwargs
    ) -> Answer:
        kind = "closed"
        if not self._closed:
            try:
                with self._engine.begin() as connection:
                    answer = move(connection, *args, **kwargs)
                    self._file.check()
                return answer
            except (SQLAlchemyError, self._driver_error, OSError) as error:
                kind = kind_of(error)
        # Not in the handler: the database's error holds what was to be stored.
        raise LedgerUnavailableError(move.__name__, kind)
