"""How often, how long and how many at once: the limits of a turn."""

from __future__ import annotations

import math
from dataclasses import dataclass

from wholecall.errors import AT_LEAST_1, BoundError


class PolicyError(BoundError):
    """A limit of a turn cannot be used."""

    called = "the policy's {}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The limits of one turn. Times are in seconds; None means no limit.

    Attributes:
        attempts: Requests, the first included.
        queries: Queries of one operation in one run or resume.
        tries: Tries of one operation under its key, for ever.
        pause: Between two queries of an operation, before a request that got no answer is repeated, and
            between two calls of a ledger that is unavailable.
        tool_timeout: For a try of a tool that has no timeout of its own.
        concurrency: Operations that run at the same time.
        lease: How long a claimed operation belongs to this worker before another may take it over; it is
            extended while the tool runs.
        stream_idle: A stream that gives no frame for so long is aborted; a request that gets no answer for so
            long is unreachable.
        deadline: For the whole turn; then it is cancelled.

    Errors:
        PolicyError: A count is below 1 or a time is not above 0 (`pause` may be 0).
    """

    attempts: int = 3
    queries: int = 3
    tries: int = 2
    pause: float = 0.5
    tool_timeout: float | None = 60.0
    concurrency: int = 1
    lease: float = 60.0
    stream_idle: float | None = 120.0
    deadline: float | None = None

    def __post_init__(self) -> None:
        for name in ("attempts", "queries", "tries", "concurrency"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise PolicyError(name, value, AT_LEAST_1)
        for name in ("tool_timeout", "lease", "stream_idle", "deadline"):
            value = getattr(self, name)
            endless = value is None and name != "lease"
            if not (endless or (_is_number(value) and value > 0)):
                allowed = "a finite number above 0"
                raise PolicyError(name, value, allowed if name == "lease" else f"{allowed}, or None")
        if not (_is_number(self.pause) and self.pause >= 0):
            raise PolicyError("pause", self.pause, "a finite number of at least 0")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
