"""Tools: what is accepted as one, how the host's functions are called, and what their answers count for."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import pickle
import threading
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import anyio
import pytest
from asking import PLANTED, anyio_backend, no_thread_is_left  # noqa: F401 - fixtures

from wholecall.errors import WholecallError
from wholecall.structure import Structure, ToolLookupError, Toolset, ToolsetError
from wholecall.turn.tools import (
    ABSENT,
    REASON_LIMIT,
    UNKNOWN,
    Applied,
    Context,
    Tool,
    ToolFailed,
    invoke,
    run_check,
    run_query,
    run_tool,
)

PAGE = {"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]}
CONTEXT = Context(key=f"key-{PLANTED}", turn_id="step-1", attempt=2, call_id=f"call-{PLANTED}", try_number=1)

pytestmark = pytest.mark.anyio


def nothing(*_: object) -> None:
    return None


def refusal(*arguments: Any, **options: Any) -> ToolsetError:
    with pytest.raises(ToolsetError) as caught:
        Tool(*arguments, **options)
    assert caught.value.__context__ is None
    return caught.value


# -- what is a tool ----------------------------------------------------------------------------------


def test_a_tool_says_at_once_what_is_wrong_with_it() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"parameters": True}, "its parameters must be an object or None"),
        ({"parameters": "{}"}, "its parameters must be an object or None"),
        ({"parameters": {"type": "strin"}}, "a valid JSON Schema, and are not at #/type"),
        ({"parameters": {"$ref": "https://a.example/x"}}, "nothing is fetched"),
        ({"run": None}, "its run must be callable"),
        ({"check": "no"}, "its check must be callable, or None"),
        ({"query": 7}, "its query must be callable, or None"),
        ({"effect": "twice"}, "its effect must be one of 'none', 'idempotent', 'once'"),
        ({"effect": ["once"]}, "its effect must be one of"),
        ({"effect": None}, "its effect must be one of"),
        ({"timeout": 0}, "its timeout must be a number of seconds above 0, or None"),
        ({"timeout": -1.5}, "its timeout must be"),
        ({"timeout": True}, "its timeout must be"),
        ({"timeout": float("inf")}, "its timeout must be"),
        ({"timeout": float("nan")}, "its timeout must be"),
        ({"timeout": "5"}, "its timeout must be"),
        ({"description": None}, "its description must be text"),
    ]
    for options, what in cases:
        error = refusal(**{"name": "save", "parameters": PAGE, "run": nothing, **options})

        assert (error.position, error.name) == (None, "save")
        assert what in error.what
        assert str(error) == f"tool 'save': {error.what}"


@pytest.mark.parametrize("name", ["", 7, None])
def test_a_tool_needs_a_name(name: object) -> None:
    assert "a non-empty string" in refusal(name, PAGE, nothing).what


def test_a_tool_is_what_it_was_made_with() -> None:
    made = Tool("save", PAGE, nothing, nothing, nothing, "idempotent", 2.5, "Saves.")

    assert (made.name, made.parameters, made.run, made.check) == ("save", PAGE, nothing, nothing)
    assert (made.query, made.effect, made.timeout, made.description) == (nothing, "idempotent", 2.5, "Saves.")
    assert (Tool("x", None, nothing).effect, Tool("x", None, nothing).timeout) == ("once", None)
    with pytest.raises(FrozenInstanceError):
        made.effect = "none"  # type: ignore[misc]


def test_a_tool_keeps_the_schema_as_it_was() -> None:
    schema: dict[str, Any] = {"type": "object", "required": ["a"]}
    made = Tool("save", schema, nothing)
    schema["required"].append("b")

    assert made.parameters == {"type": "object", "required": ["a"]}


def test_a_tool_shows_nothing_but_its_name_and_what_it_promises() -> None:
    made = Tool("save", {"const": PLANTED}, nothing, description=PLANTED)

    assert repr(made) == "Tool(name='save', effect='once', timeout=None)"


def test_a_context_shows_no_id_and_no_key() -> None:
    assert repr(CONTEXT) == "Context(turn_id='step-1', attempt=2, try_number=1)"
    with pytest.raises(FrozenInstanceError):
        CONTEXT.key = ""  # type: ignore[misc]


def test_a_failure_keeps_its_reason_for_the_host_alone() -> None:
    failed = ToolFailed(PLANTED + "x" * 9999)

    assert isinstance(failed, WholecallError)
    assert failed.reason == (PLANTED + "x" * 9999)[:REASON_LIMIT]
    assert PLANTED not in str(failed) + repr(failed)
    assert str(failed) == "the tool failed, and promises that it wrote nothing"
    assert pickle.loads(pickle.dumps(failed)).reason == failed.reason  # noqa: S301 - our own
    assert ToolFailed().reason == ""
    assert ToolFailed(OSError("disk")).reason == "disk"  # type: ignore[arg-type]
    assert PLANTED not in repr(Applied(PLANTED))


# -- toolsets that run -------------------------------------------------------------------------------


def test_a_toolset_of_tools_holds_calls_to_their_schemas_and_gives_the_tools() -> None:
    save, now = Tool("save", PAGE, nothing, description="Saves."), Tool("now", None, nothing)
    tools = Toolset.of(each for each in (save, now))

    assert tools.names == ("save", "now")
    assert tools.check("save", {"page": 1}) == Structure(None)
    assert tools.check("save", {}).keyword == "required"
    assert tools.check("now", {"anything": 1}) == Structure(None)
    assert tools.tool("save") is save
    assert tools.tool("now") is now
    assert tools.to_openai() == [
        {"type": "function", "function": {"name": "save", "description": "Saves.", "parameters": PAGE}},
        {"type": "function", "function": {"name": "now"}},
    ]
    assert repr(tools) == "Toolset(names=('save', 'now'))"


def test_the_list_for_the_model_is_the_one_that_calls_are_held_to() -> None:
    schema: dict[str, Any] = {"type": "object", "required": ("a",), "properties": {}}
    entry = {"type": "function", "strict": True, "function": {"name": "save", "parameters": schema}}
    tools = Toolset.from_openai([entry])
    sent: Any = tools.to_openai()
    schema["properties"]["a"] = False
    sent[0]["function"]["parameters"]["required"].append("b")

    kept = {"type": "object", "required": ["a"], "properties": {}}
    assert tools.to_openai() == [
        {"type": "function", "strict": True, "function": {"name": "save", "parameters": kept}}
    ]
    assert tools.check("save", {"a": 1}) == Structure(None)


def test_a_tool_that_was_only_declared_cannot_be_had() -> None:
    tools = Toolset.from_openai([{"type": "function", "function": {"name": "save"}}])

    with pytest.raises(ToolLookupError) as caught:
        tools.tool("save")
    assert isinstance(caught.value, ToolsetError)
    assert isinstance(caught.value, LookupError)
    assert caught.value.name == "save"
    assert str(caught.value) == "tool 'save': it was declared only; a toolset that runs is made of Tools"


def test_the_name_of_a_tool_that_is_not_there_is_not_repeated() -> None:
    for tools in (Toolset.of([Tool("save", None, nothing)]), Toolset.of([])):
        with pytest.raises(ToolLookupError) as caught:
            tools.tool(PLANTED)
        assert caught.value.name is None
        assert str(caught.value) == "tools: no tool of this toolset has the name asked for"
        assert PLANTED not in repr(caught.value)


def test_a_toolset_is_made_of_tools() -> None:
    save = Tool("save", None, nothing)
    cases: list[tuple[Any, int | None, str]] = [
        ([save, save], 1, "its name is taken"),
        ([save, save.to_openai()], 1, "an entry must be a Tool, not a value of type dict"),
        ([nothing], 0, "an entry must be a Tool, not a value of type function"),
        (save, None, "a list of tools is needed, not a value of type Tool"),
        ({"save": save}, None, "a list of tools is needed, not a value of type dict"),
        ("save", None, "a list of tools is needed, not a value of type str"),
    ]
    for given, position, what in cases:
        with pytest.raises(ToolsetError) as caught:
            Toolset.of(given)
        assert caught.value.position == position
        assert what in caught.value.what


# -- how a function of the host is called ------------------------------------------------------------


class Callables:
    """The same function in every form that a host may have it."""

    @staticmethod
    def sync(a: int, b: int) -> tuple[int, bool]:
        return a + b, threading.current_thread() is threading.main_thread()

    @staticmethod
    async def on_loop(a: int, b: int) -> tuple[int, bool]:
        await anyio.sleep(0)
        return Callables.sync(a, b)

    def method(self, a: int, b: int) -> tuple[int, bool]:
        return self.sync(a, b)

    async def __call__(self, a: int, b: int) -> tuple[int, bool]:
        return await self.on_loop(a, b)


@pytest.mark.parametrize(
    ("function", "on_loop"),
    [
        (Callables.sync, False),
        (Callables().method, False),
        (functools.partial(Callables.sync), False),
        (Callables.on_loop, True),
        (functools.partial(Callables.on_loop), True),
        (Callables(), True),
        (lambda a, b: Callables.on_loop(a, b), True),  # made in the thread, awaited here
    ],
)
async def test_a_sync_function_runs_in_a_thread_and_an_async_one_on_the_loop(
    function: Callable[..., Any], on_loop: bool
) -> None:
    assert await invoke(function, 1, 2) == (3, on_loop)


async def test_a_thread_sees_the_variables_of_the_task() -> None:
    variable = contextvars.ContextVar("variable", default="")
    variable.set("seen")

    assert await invoke(variable.get) == "seen"


def raising(*_: object) -> None:
    raise ValueError(PLANTED)


async def raising_async(*_: object) -> None:
    raise ValueError(PLANTED)


@pytest.mark.parametrize("function", [raising, raising_async])
async def test_what_a_function_raises_is_passed_on(function: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match=PLANTED):
        await invoke(function)


async def test_a_timeout_is_noticed_while_the_sync_function_goes_on() -> None:
    release, written = threading.Event(), threading.Event()

    def slow() -> None:
        release.wait(5)
        written.set()

    with anyio.move_on_after(0.05) as scope:
        await invoke(slow)

    assert scope.cancelled_caught
    assert not written.is_set()  # unknown, and not yet even true
    release.set()
    assert written.wait(5)  # the effect came after the timeout: it was never "failed"


async def test_a_task_that_is_cancelled_leaves_the_function_behind_too() -> None:
    release, begun = threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        release.wait(5)

    task = asyncio.ensure_future(invoke(slow))
    while not begun.is_set():
        await anyio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    release.set()


async def test_an_async_function_is_cancelled_itself() -> None:
    ended = []

    async def slow() -> None:
        try:
            await anyio.sleep(5)
        finally:
            ended.append(True)

    with anyio.move_on_after(0.01):
        await invoke(slow)

    assert ended == [True]


# -- what its answer counts for ----------------------------------------------------------------------


async def test_a_tool_gets_its_arguments_and_the_context() -> None:
    seen = []

    def run(arguments: dict[str, Any], context: Context) -> str:
        seen.append((dict(arguments), context))
        arguments["page"]["number"] = 2
        return "done"

    arguments: dict[str, Any] = {"page": {"number": 1}}
    made = Tool("save", None, run)

    assert await run_tool(made, arguments, CONTEXT) == "done"
    assert await run_tool(made, arguments, CONTEXT) == "done"
    assert arguments == {"page": {"number": 1}}  # a later try gets what the model sent
    assert [context for _, context in seen] == [CONTEXT, CONTEXT]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (None, None),
        ("the board is locked", "the board is locked"),
        ("", "the check refused, and gave no reason"),
        (True, "the check gave neither None nor a reason, but bool"),
        (False, "the check gave neither None nor a reason, but bool"),
        (["no"], "the check gave neither None nor a reason, but list"),
    ],
)
async def test_only_none_is_a_yes(said: object, reason: str | None) -> None:
    async def check(arguments: dict[str, Any]) -> object:
        arguments.clear()
        return said

    arguments = {"page": 1}

    assert await run_check(Tool("save", None, nothing, lambda _: said), arguments) == reason
    assert await run_check(Tool("save", None, nothing, check), arguments) == reason
    assert arguments == {"page": 1}


async def test_a_tool_without_a_check_has_nothing_against_a_call() -> None:
    assert await run_check(Tool("save", None, nothing), {}) is None


async def test_a_reason_is_bounded() -> None:
    reason = await run_check(Tool("save", None, nothing, lambda _: "x" * 9999), {})

    assert reason == "x" * REASON_LIMIT


@pytest.mark.parametrize("check", [raising, raising_async])
async def test_a_check_that_raises_is_a_no_and_its_text_is_not_the_reason(check: Callable[..., Any]) -> None:
    assert await run_check(Tool("save", None, nothing, check), {}) == "the check raised ValueError"


@pytest.mark.parametrize("found", [Applied("report 7"), ABSENT, UNKNOWN])
async def test_a_query_says_applied_absent_or_unknown(found: object) -> None:
    keys = []

    def query(key: str) -> object:
        keys.append(key)
        return found

    assert await run_query(Tool("save", None, nothing, query=query), "k1") == found
    assert keys == ["k1"]


@pytest.mark.parametrize("found", [None, True, False, "absent", "applied", {"applied": True}, Applied])
async def test_anything_else_is_unknown(found: object) -> None:
    assert await run_query(Tool("save", None, nothing, query=lambda _: found), "k1") is UNKNOWN


@pytest.mark.parametrize("query", [raising, raising_async, None])
async def test_a_query_that_raises_or_is_not_there_knows_nothing(query: Callable[..., Any] | None) -> None:
    assert await run_query(Tool("save", None, nothing, query=query), "k1") is UNKNOWN


async def test_a_cancellation_is_no_answer() -> None:
    async def slow(*_: object) -> None:
        await anyio.sleep(5)

    made = Tool("save", None, nothing, slow, slow)
    for ask in (run_check(made, {}), run_query(made, "k1")):
        with anyio.move_on_after(0.01) as scope:
            await ask
        assert scope.cancelled_caught
