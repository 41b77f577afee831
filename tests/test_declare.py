"""A tool from a signature: its schema, how it is called, and what is refused before it runs."""

from __future__ import annotations

import datetime
import functools
import sys
import threading
from enum import Enum
from typing import Annotated, Any, Literal

import anyio
import pytest
from asking import PLANTED, anyio_backend, no_thread_is_left  # noqa: F401 - fixtures
from pydantic import AfterValidator, BaseModel, Field

from wholecall.structure import Structure, Toolset, ToolsetError
from wholecall.turn.declare import tool
from wholecall.turn.tools import ABSENT, Context, Tool, ToolFailed, run_check, run_query, run_tool

PAGE = {"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]}
CONTEXT = Context(key="key-1", turn_id="step-1", attempt=2, call_id="call-1", try_number=1)

pytestmark = pytest.mark.anyio


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Part(BaseModel):
    name: str
    count: int = 1


def not_sunday(day: datetime.date) -> datetime.date:
    if day.weekday() == 6:
        raise ValueError("a Sunday")
    return day


async def ask(made: Tool, arguments: dict[str, Any]) -> object:
    """What a call of these arguments gives, checked as a turn checks it."""
    found = Toolset.of([made]).check(made.name, arguments)
    if found.fault is not None:
        return found
    return await run_check(made, arguments) or await run_tool(made, arguments, CONTEXT)


@tool
def order(
    parts: list[Part],
    day: Annotated[datetime.date, AfterValidator(not_sunday), Field(description="When to deliver.")],
    color: Color = Color.RED,
    kind: Literal["gift", "plain"] = "plain",
    *,
    model_config: str | None = None,
) -> tuple[Any, ...]:
    """Order parts.

    They come on the day.
    """
    return parts, day, color, kind, model_config


async def test_the_schema_is_read_off_the_signature() -> None:
    schema: Any = order.parameters

    assert order.name == "order"
    assert order.description == "Order parts.\n\nThey come on the day."
    assert order.effect == "once"
    assert list(schema["properties"]) == ["parts", "day", "color", "kind", "model_config"]
    assert schema["required"] == ["parts", "day"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["day"]["description"] == "When to deliver."
    assert schema["properties"]["kind"]["enum"] == ["gift", "plain"]
    assert schema["properties"]["parts"]["items"] == {"$ref": "#/$defs/Part"}


async def test_a_call_is_made_of_what_the_annotations_say() -> None:
    given = {"parts": [{"name": "bolt"}, {"name": "nut", "count": 2}], "day": "2026-11-30"}
    parts, day = [Part(name="bolt"), Part(name="nut", count=2)], datetime.date(2026, 11, 30)

    assert await ask(order, given) == (parts, day, Color.RED, "plain", None)
    given |= {"color": "blue", "kind": "gift", "model_config": "x"}
    assert await ask(order, given) == (parts, day, Color.BLUE, "gift", "x")


@pytest.mark.parametrize(
    ("change", "keyword"),
    [
        ({"kind": "other"}, "enum"),
        ({"color": "green"}, "enum"),
        ({"parts": [{"count": 1}]}, "required"),
        ({"parts": "bolt"}, "type"),
        ({"more": 1}, "additionalProperties"),
    ],
)
async def test_what_the_schema_refuses_reaches_no_function(change: dict[str, Any], keyword: str) -> None:
    found = await ask(order, {"parts": [], "day": "2026-11-30", **change})

    assert isinstance(found, Structure)
    assert found.keyword == keyword


async def test_what_only_the_annotation_refuses_is_refused_by_the_check_and_never_runs() -> None:
    not_a_day = {"parts": [], "day": PLANTED}
    sunday = {"parts": [], "day": "2026-11-29"}

    assert await run_check(order, not_a_day) == (
        "day: Input should be a valid date or datetime, invalid character in year"
    )
    assert await run_check(order, sunday) == "day: Value error, a Sunday"
    with pytest.raises(ToolFailed) as caught:  # it did not run, so this can be promised
        await run_tool(order, sunday, CONTEXT)
    assert caught.value.reason == "day: Value error, a Sunday"
    assert caught.value.__context__ is None


@tool(effect="none", timeout=3, name="look_up", description="Looks up.", query=lambda _: ABSENT)
async def find(page: int, told: Context) -> tuple[int, str]:
    """Not told."""
    await anyio.sleep(0)
    return page, told.turn_id


async def test_options_are_those_of_a_tool_and_the_context_is_not_asked_of_the_model() -> None:
    assert (find.name, find.effect, find.timeout, find.description) == ("look_up", "none", 3, "Looks up.")
    assert find.parameters is not None
    assert find.parameters["properties"] == {"page": {"title": "Page", "type": "integer"}}
    assert await ask(find, {"page": 3}) == (3, "step-1")
    assert await run_query(find, "k") is ABSENT


async def test_a_context_may_be_optional_for_other_callers() -> None:
    def run(told: Context | None = None) -> bool:
        return told is CONTEXT

    made = tool(run)

    assert made.parameters == {"additionalProperties": False, "properties": {}, "type": "object"}
    assert await ask(made, {}) is True
    assert made.description == ""


async def test_the_check_of_the_host_is_asked_after_the_annotations() -> None:
    asked = []

    def check(arguments: dict[str, Any]) -> str | None:
        asked.append(arguments)
        return "page 3 is gone" if arguments["page"] == 3 else None

    @tool(check=check)
    def read(page: int, since: Annotated[datetime.date | None, Field(alias="from")] = None) -> object:
        return page, since

    assert await run_check(read, {"page": 3}) == "page 3 is gone"
    assert await run_check(read, {"page": 4, "from": "x"}) is not None
    assert await ask(read, {"page": 4, "from": "2026-11-30"}) == (4, datetime.date(2026, 11, 30))
    assert asked == [{"page": 3}, {"page": 4, "from": "2026-11-30"}]


class Library:
    pages = ("one", "two")

    def read(self, page: int) -> str:
        """Read a page."""
        return self.pages[page]


async def test_a_bound_method_is_a_tool() -> None:
    made = tool(Library().read, effect="none")

    assert (made.name, made.description, made.effect) == ("read", "Read a page.", "none")
    assert await ask(made, {"page": 1}) == "two"


async def test_parameters_may_be_given_and_arguments_still_have_to_fit_the_function() -> None:
    @tool(parameters={"type": "object"})
    def save(title, body="", *, context: Context):  # type: ignore[no-untyped-def] # as a host may have it
        return title, body, context.attempt

    assert save.parameters == {"type": "object"}
    assert await ask(save, {"title": "a"}) == ("a", "", 2)
    assert await ask(save, {"titel": "a"}) == "the arguments are not those that the tool's function takes"


def breaks(_: int) -> int:
    raise LookupError(PLANTED)


async def test_a_reader_that_raises_means_that_nothing_ran() -> None:
    @tool
    def read(page: Annotated[int, AfterValidator(breaks)]) -> int:
        return page

    assert await run_check(read, {"page": 1}) == "the check raised LookupError"
    with pytest.raises(ToolFailed) as caught:
        await run_tool(read, {"page": 1}, CONTEXT)
    assert caught.value.reason == "reading the arguments raised LookupError"
    assert caught.value.__context__ is None


def positional(page: int, /) -> None: ...
def variable(*pages: int) -> None: ...
def keywords(**pages: int) -> None: ...
def bare(page) -> None: ...  # type: ignore[no-untyped-def]
def two(a: Context, b: Context) -> None: ...
def unresolved(page: Missing) -> None: ...  # type: ignore[name-defined] # noqa: F821
def unschematic(page: threading.Lock) -> None: ...


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (positional, "its parameter page cannot be given by name, and arguments have names"),
        (variable, "its parameter pages cannot be given by name, and arguments have names"),
        (keywords, "its parameter pages cannot be given by name, and arguments have names"),
        (bare, "its parameter page has no annotation"),
        (Library.read, "its parameter self has no annotation; a method is bound first"),
        (two, "only one of its parameters can take the context"),
        (unresolved, "its signature cannot be read: NameError: name 'Missing' is not defined"),
        (unschematic, "its annotations give no JSON Schema: PydanticSchemaGenerationError: "),
        (7, "a function is needed, not a value of type int"),
        (functools.partial(bare, 1), "this callable has no name of its own"),
    ],
)
def test_a_signature_that_makes_no_tool_is_refused_at_once(function: Any, what: str) -> None:
    with pytest.raises(ToolsetError) as caught:
        tool(function)
    assert caught.value.what.startswith(what)
    assert caught.value.__context__ is None


def add(a: int, b: int) -> int:
    return a + b


def test_a_callable_without_a_name_is_given_one() -> None:
    made = tool(functools.partial(add, b=1), name="add")

    assert made.name == "add"
    assert isinstance(tool(name="add")(add), Tool)


def test_without_pydantic_the_schema_has_to_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(page: int) -> int:
        return page

    monkeypatch.setitem(sys.modules, "pydantic", None)
    with pytest.raises(ToolsetError) as caught:
        tool(read)

    assert "pydantic, which is not installed: install it, or give `parameters`" in str(caught.value)
    assert tool(read, parameters=PAGE).parameters == PAGE
