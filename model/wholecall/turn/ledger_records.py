"""What a ledger holds, and how it says that it cannot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from wholecall.errors import WholecallError
from wholecall_generated.tables import SPEC


class LedgerUnavailableError(WholecallError):
    """The database did not do what was asked; whatever the cause, take it as not recorded.

    A call that fails this way leaves nothing half done. Where the connection broke during the commit, the
    record may be stored all the same, and that is safe: a claim that nobody knows of is a started operation
    whose lease runs out, and an end that was stored is there for whoever reads the operation again. So read
    it (`Ledger.get`) before going on with a number of tries that may be old.

    Attributes:
        fault: `ledger.unavailable`.
        attempted: What the ledger was doing, such as `claim`.
        kind: The database's own word for the error (SQLite's name of it, an SQLSTATE, or its class), such as
            `SQLITE_FULL`; never its message, which may hold what was to be stored.
    """

    fault: Final = "ledger.unavailable"

    def __init__(self, attempted: str, kind: str) -> None:
        self.attempted = attempted
        self.kind = kind
        super().__init__(f"the ledger could not {attempted.replace('_', ' ')} ({kind})")


class LedgerVersionError(WholecallError):
    """The database was written by a newer ledger, whose records this one could damage.

    Attributes:
        found: The version of the database.
        known: The newest version that this ledger knows.
    """

    def __init__(self, found: int, known: int) -> None:
        self.found = found
        self.known = known
        super().__init__(
            f"the ledger has schema version {found}, and this wholecall knows {known}: update wholecall"
        )


class LedgerUrlError(WholecallError, ValueError):
    """This URL names no ledger. It is never shown, since it may hold a password.

    Attributes:
        driver: What it names before `://`, or None where it is no URL at all.
    """

    def __init__(self, driver: str | None) -> None:
        self.driver = driver
        super().__init__(f"a ledger is sqlite:// or postgresql://, not {driver or 'this text'}")


class LedgerMoveError(WholecallError, ValueError):
    """No row of the operation table says this, so it is not recorded.

    Attributes:
        input: What is said to have arrived.
        state: Where it is said to have led.
        fault: The fault that is said to go with it.
    """

    def __init__(self, input: str, state: str, fault: str) -> None:
        self.input = input
        self.state = state
        self.fault = fault
        super().__init__("no row of the operation table leads to this state on this input with this fault")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One permitted call, as the ledger knows it. Times are in seconds, as the ledger's clock counts.

    Attributes:
        key: The idempotency key, in hex.
        turn_id: The host's name of the turn.
        attempt: The attempt of the turn whose response asked for it, from 1.
        choice: The choice of that response.
        index: The call's index in that choice.
        call_id: The call's id, as it arrived.
        tool: The tool's name.
        arguments: The argument text, as it arrived.
        content: The text of the response beside its calls; kept with its first call, empty with the others.
        effect: The tool's declared effect: `none`, `idempotent` or `once`.
        state: Where the operation is, a state of the operation table.
        owner: The worker that holds it or held it last; None where it never started.
        lease_until: When it may be taken over; None where nobody holds it.
        tries: How many tries there were, for ever; the number of the latest, from 1.
        ended_at: When it reached a final state; None before.
        result: The JSON text of the result, where it succeeded.
        fault: The fault of where it is; None where there is none.
        reason: Why its last try failed, as the tool said it.
    """

    key: str
    turn_id: str
    attempt: int
    choice: int
    index: int
    call_id: str = field(repr=False)
    tool: str
    arguments: str = field(repr=False)
    effect: str
    content: str = field(default="", repr=False)
    state: str = SPEC.table("operation").initial
    owner: str | None = None
    lease_until: float | None = None
    tries: int = 0
    ended_at: float | None = None
    result: str | None = field(default=None, repr=False)
    fault: str | None = None
    reason: str | None = field(default=None, repr=False)

    def lost(self, now: float) -> bool:
        """Whether its lease has run out: at `lease_until` it has, and before it has not."""
        return self.lease_until is not None and self.lease_until <= now


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One try of an operation. Times are in seconds, as the ledger's clock counts.

    Attributes:
        key: The operation's key.
        number: Which try, from 1.
        owner: The worker that opened it.
        started_at: When its record was made, before the tool ran.
        ended_at: When its end was recorded; None where none was.
        ended_by: The input of the operation table that ended it; a late result takes the place of an earlier
            end, since it is the truth.
        absent: Whether a query promised that this try had no effect and never will.
    """

    key: str
    number: int
    owner: str
    started_at: float
    ended_at: float | None = None
    ended_by: str | None = None
    absent: bool = False


class Left(NamedTuple):
    """An operation without an end, and whether it may be taken over: somebody's lease of it ran out."""

    operation: Operation
    lost: bool
