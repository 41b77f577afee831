"""Tools: what a call may run, what it promises, and how the host's functions are called.

A tool says three things that only its author knows: how it runs, whether a call makes sense now (`check`),
and whether its effect has happened (`query`). What it says of its effect decides how a failure is read:

- `"none"`: it only reads, so a failed try leaves nothing to look for;
- `"idempotent"`: repeating it under one key, also at the same time, is one effect;
- `"once"`: neither may be assumed. It is the default, for it is what is true where nobody thought of it.

**A host's function that raises counts as no.** A check that raises refuses, a query that raises knows
nothing, and a tool that raises anything but `ToolFailed` leaves its effect uncertain, unless it only reads.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any, Final, Literal, TypeAlias, get_args

from anyio import to_thread

from wholecall.errors import WholecallError
from wholecall.structure import Toolset, ToolsetError

REASON_LIMIT: Final = 2000
"""Characters of a reason that are kept."""

Effect: TypeAlias = Literal["none", "idempotent", "once"]
"""What a tool does to the world."""


class Reasoned(WholecallError):  # noqa: N818 - what is raised are its kinds, named for what happened
    """An error with a reason. The reason is data for the host alone: it is in no message and no repr.

    Attributes:
        reason: What was said, up to `REASON_LIMIT` characters.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__()
        # Made text whatever it is: a promise must not be lost to a mistake in its reason.
        self.reason = str(reason)[:REASON_LIMIT]


class ToolFailed(Reasoned):
    """Raised by a tool: this try failed, and the tool promises that it wrote nothing.

    A tool that cannot promise it raises anything else.

    Attributes:
        reason: Why, for the planner.
    """

    def __str__(self) -> str:
        return "the tool failed, and promises that it wrote nothing"


@dataclass(frozen=True, slots=True)
class Context:
    """What a tool is told of the try that runs it.

    Attributes:
        key: The idempotency key: the same in every try of this call, and of no other call.
        turn_id: The host's name of the turn.
        attempt: Which response of the turn the call stands in, from 1.
        call_id: The call's id, as it arrived.
        try_number: Which try of this key it is, from 1.
    """

    key: str = field(repr=False)
    turn_id: str
    attempt: int
    call_id: str = field(repr=False)
    try_number: int


class Lookup(Enum):
    """What a query found where it did not find the effect."""

    ABSENT = "absent"
    UNKNOWN = "unknown"


ABSENT: Final = Lookup.ABSENT
"""The effect has not happened, and the tool promises that it never will under this key."""

UNKNOWN: Final = Lookup.UNKNOWN
"""It cannot be told whether the effect has happened or will."""


@dataclass(frozen=True, slots=True)
class Applied:
    """The effect has happened.

    Attributes:
        result: What the tool gave then, or would have given.
    """

    result: object = field(default=None, repr=False)


Found: TypeAlias = Applied | Lookup
Hear: TypeAlias = Callable[[str, object, str | None], object]
"""Is told an input of the operation table, the result that came with it, and the reason of a failure."""

"""What a query answers."""


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """One tool of the host. Each callable may be sync, and then runs in a worker thread, or async.

    Attributes:
        name: What the model calls it.
        parameters: The JSON Schema of its arguments, as the model is told it; None accepts any object.
        run: `run(arguments, context)` gives the result. `ToolFailed` promises that nothing was written; after
            any other exception the effect is uncertain, unless the tool only reads.
        check: `check(arguments)` gives None where the call makes sense now, or the reason why not, as text.
        query: `query(key)` gives `Applied(result)`, `ABSENT` or `UNKNOWN`.
        effect: `"none"`, `"idempotent"` or `"once"`.
        timeout: Seconds that one try may take; None leaves it to the policy of the turn.
        description: What the model is told of it.

    Raises:
        ToolsetError: One of these is not as described.
    """

    name: str
    parameters: Mapping[str, object] | None = field(repr=False)
    run: Callable[[dict[str, Any], Context], object] = field(repr=False)
    check: Callable[[dict[str, Any]], object] | None = field(default=None, repr=False)
    query: Callable[[str], object] | None = field(default=None, repr=False)
    effect: Effect = "once"
    timeout: float | None = None
    description: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        name = self.name if isinstance(self.name, str) else None
        mistakes = self._mistakes()
        if mistakes:
            raise ToolsetError(None, name, mistakes[0])
        try:
            # What the model is told, held as it is now: the host may go on changing its own.
            (entry,) = Toolset.from_openai([self.to_openai()]).to_openai()
        except ToolsetError as error:
            what = error.what
        else:
            function: Any = entry["function"]
            object.__setattr__(self, "parameters", function.get("parameters"))
            return
        raise ToolsetError(None, name, what)

    def _mistakes(self) -> list[str]:
        effects = get_args(Effect)
        holds = {
            "its parameters must be an object or None": _none_or(self.parameters, _is_mapping),
            "its run must be callable": callable(self.run),
            "its check must be callable, or None": _none_or(self.check, callable),
            "its query must be callable, or None": _none_or(self.query, callable),
            f"its effect must be one of {', '.join(map(repr, effects))}": self.effect in effects,
            "its timeout must be a number of seconds above 0, or None": _none_or(self.timeout, _is_time),
            "its description must be text": isinstance(self.description, str),
        }
        return [what for what, held in holds.items() if not held]

    def to_openai(self) -> dict[str, object]:
        """The entry of `tools=[...]` by which the model is told of it."""
        function: dict[str, object] = {"name": self.name}
        if self.description:
            function["description"] = self.description
        if self.parameters is not None:
            function["parameters"] = dict(self.parameters)
        return {"type": "function", "function": function}


def _none_or(value: object, fits: Callable[[object], bool]) -> bool:
    return value is None or fits(value)


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


def _is_time(value: object) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and 0 < value < math.inf  # type: ignore[operator]  # `number` says that it is one


# -- calling the host's functions --------------------------------------------------------------------


def is_async(function: Callable[..., Any]) -> bool:
    """Whether to call this gives something to await."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


async def invoke(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function of the host, and never stop the loop by it.

    An async one runs here; a sync one runs in a worker thread, and what it returns is awaited where it can
    be.

    **Cancelled, a sync function is left behind, not stopped**: no thread can be. So a timeout is noticed at
    once, and the function goes on all the same, to its end or for ever. Its effect is uncertain from then on,
    and a process that wants to end waits for it.

    Args:
        function: The function.
        *args: Its arguments.

    Returns:
        What it gives; what it raises is passed on.
    """
    if is_async(function):
        return await function(*args)
    result = await to_thread.run_sync(partial(function, *args), abandon_on_cancel=True)
    return await result if inspect.isawaitable(result) else result


async def run_tool(
    tool: Tool, arguments: dict[str, Any], context: Context, hear: Hear = lambda _, __, ___: None
) -> Any:
    """One try of a tool. What it changes in its arguments reaches neither a later try nor the record.

    Args:
        tool: The tool.
        arguments: The parsed arguments of the call.
        context: What the tool is told of this try.
        hear: Is told what a sync tool says for certain, also where it was left behind: the input, the result,
            and the reason of a failure. It is told in the tool's thread.

    Raises:
        ToolFailed: The tool promises that it wrote nothing.
    """
    if is_async(tool.run):
        return await invoke(tool.run, deepcopy(arguments), context)

    def run(*given: Any) -> Any:
        try:
            result = tool.run(*given)
        except ToolFailed as failed:
            hear("declared_failure", None, failed.reason)
            raise
        if not inspect.isawaitable(result):
            hear("result", result, None)
        return result

    return await invoke(run, deepcopy(arguments), context)


async def run_check(tool: Tool, arguments: dict[str, Any]) -> str | None:
    """Ask a tool whether a call makes sense now; anything but a clear yes is a no.

    Args:
        tool: The tool; one without a check has nothing to say against it.
        arguments: The parsed arguments of the call.

    Returns:
        None, or the reason why not, up to `REASON_LIMIT` characters. Where the check raised, it is our own
        sentence, for an exception's text was not written to be shown.
    """
    if tool.check is None:
        return None
    try:
        said = await invoke(tool.check, deepcopy(arguments))
    except Exception as error:
        return f"the check raised {type(error).__name__}"[:REASON_LIMIT]
    if said is None:
        return None
    if isinstance(said, str):
        return said[:REASON_LIMIT] or "the check refused, and gave no reason"
    return f"the check gave neither None nor a reason, but {type(said).__name__}"[:REASON_LIMIT]


async def run_query(tool: Tool, key: str) -> Found:
    """Ask a tool whether the effect of a key has happened; anything but a clear answer is `UNKNOWN`.

    Args:
        tool: The tool; one without a query knows nothing.
        key: The idempotency key.
    """
    if tool.query is None:
        return UNKNOWN
    try:
        found = await invoke(tool.query, key)
    except Exception:
        return UNKNOWN
    return found if isinstance(found, (Applied, Lookup)) else UNKNOWN
