"""A tool from a function: its schema is read off the signature, and calls are held to the annotations.

The schema tells the model what is asked for, and every call is held to it. Annotations can ask for more than
a schema says (a date, a validator of one's own). What they refuse is refused in the tool's check, so before
anything of the batch runs, and never as a failure of the tool.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, TypeAlias, get_args, overload

from wholecall.structure import ToolsetError
from wholecall.turn.tools import Context, Effect, Tool, ToolFailed, invoke

Read: TypeAlias = Callable[[dict[str, Any]], dict[str, Any] | str]
"""Makes the keyword arguments of a function out of a call's arguments, or says what is wrong with them."""


@overload
def tool(
    function: Callable[..., object],
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    parameters: Mapping[str, object] | None = None,
    check: Callable[[dict[str, Any]], object] | None = None,
    query: Callable[[str], object] | None = None,
    effect: Effect = "once",
    timeout: float | None = None,
) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    parameters: Mapping[str, object] | None = None,
    check: Callable[[dict[str, Any]], object] | None = None,
    query: Callable[[str], object] | None = None,
    effect: Effect = "once",
    timeout: float | None = None,
) -> Callable[[Callable[..., object]], Tool]: ...


def tool(function: Callable[..., object] | None = None, /, **options: Any) -> Any:
    """Make a tool of a function: `@tool`, or `@tool(effect="none", ...)`, or `tool(function, ...)`.

    The arguments of a call are passed by name. A parameter annotated `Context` is told of the try, and the
    model is not told of it. A method is bound first: `tool(instance.method)`.

    Args:
        function: The function, sync or async.
        **options: As `Tool` has them. By default `name` is the function's, `description` its docstring, and
            `parameters` is derived from the annotations by pydantic.

    Returns:
        The tool; where only options are given, a decorator that makes it.

    Raises:
        ToolsetError: The signature cannot be called by name or gives no schema, pydantic is not installed and
            no `parameters` are given, or an option is not as `Tool` wants it.
    """
    if function is None:
        return lambda decorated: _declare(decorated, **options)
    return _declare(function, **options)


def _declare(
    function: Callable[..., object],
    *,
    name: str | None = None,
    description: str | None = None,
    parameters: Mapping[str, object] | None = None,
    check: Callable[[dict[str, Any]], object] | None = None,
    **options: Any,
) -> Tool:
    if not callable(function):
        raise ToolsetError(None, name, f"a function is needed, not a value of type {type(function).__name__}")
    name = name or getattr(function, "__name__", None)
    if name is None:
        raise ToolsetError(None, None, "this callable has no name of its own: give one with `name`")
    signature, context = _signature(name, function)
    if parameters is None:
        parameters, read = _derive(name, signature)
    else:
        read = _bind(signature)

    async def checked(arguments: dict[str, Any]) -> object:
        wrong = read(arguments)
        if isinstance(wrong, str):
            return wrong
        return None if check is None else await invoke(check, arguments)

    return Tool(
        name=name,
        parameters=parameters,
        run=_run(function, read, context),
        check=checked,
        description=inspect.getdoc(function) or "" if description is None else description,
        **options,
    )


def _run(
    function: Callable[..., Any], read: Read, context: str | None
) -> Callable[[dict[str, Any], Context], object]:
    def keywords(arguments: dict[str, Any], told: Context) -> dict[str, Any]:
        try:
            given = read(arguments)
        except Exception as error:
            given = f"reading the arguments raised {type(error).__name__}"
        if isinstance(given, str):
            raise ToolFailed(given)  # the function was not called, so nothing was written
        return given if context is None else {**given, context: told}

    async def run_async(arguments: dict[str, Any], told: Context) -> object:
        return await function(**keywords(arguments, told))

    def run(arguments: dict[str, Any], told: Context) -> object:
        return function(**keywords(arguments, told))

    return run_async if inspect.iscoroutinefunction(function) else run


# -- the signature -----------------------------------------------------------------------------------

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def _signature(name: str, function: Callable[..., object]) -> tuple[inspect.Signature, str | None]:
    """The parameters that a call fills, and the name of the one that takes the context."""
    try:
        signature = inspect.signature(function, eval_str=True)
    except Exception as error:
        what = f"its signature cannot be read: {_first_line(error)}"
    else:
        given = signature.parameters.values()
        contexts = [p.name for p in given if Context in (p.annotation, *get_args(p.annotation))]
        if len(contexts) > 1:
            raise ToolsetError(None, name, "only one of its parameters can take the context")
        for parameter in given:
            if parameter.kind not in _BY_NAME:
                what = f"its parameter {parameter.name} cannot be given by name, and arguments have names"
                raise ToolsetError(None, name, what)
        rest = [p for p in given if p.name not in contexts]
        return inspect.Signature(rest), contexts[0] if contexts else None
    raise ToolsetError(None, name, what)


def _bind(signature: inspect.Signature) -> Read:
    def read(arguments: dict[str, Any]) -> dict[str, Any] | str:
        try:
            signature.bind(**arguments)
        except TypeError:
            return "the arguments are not those that the tool's function takes"
        return arguments

    return read


def _derive(name: str, signature: inspect.Signature) -> tuple[Mapping[str, object], Read]:
    """The schema that the annotations give, and the reader that holds arguments to them."""
    for parameter in signature.parameters.values():
        if parameter.annotation is parameter.empty:
            hint = "; a method is bound first" if parameter.name in ("self", "cls") else ""
            raise ToolsetError(None, name, f"its parameter {parameter.name} has no annotation{hint}")

    def collect(**keywords: Any) -> dict[str, Any]:
        return keywords

    # Pydantic reads the signature of this function and calls it with what it made of the arguments, so a
    # parameter may be named as it likes: it never becomes an attribute of a model.
    signed: Any = collect
    signed.__signature__ = signature
    signed.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    if find_spec("pydantic") is None:
        what = "its schema is derived by pydantic, which is not installed: install it, or give `parameters`"
        raise ToolsetError(None, name, what)
    from pydantic import TypeAdapter, ValidationError

    try:
        adapter: TypeAdapter[Any] = TypeAdapter(signed)
        schema = adapter.json_schema()
    except Exception as error:
        what = f"its annotations give no JSON Schema: {_first_line(error)}"
    else:

        def read(arguments: dict[str, Any]) -> dict[str, Any] | str:
            try:
                keywords: dict[str, Any] = adapter.validate_python(arguments)
            except ValidationError as error:
                # Without the input: a reason may say what is wrong, and need not repeat it.
                found = error.errors(include_input=False, include_url=False, include_context=False)
            else:
                return keywords
            return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found)

        return schema, read
    raise ToolsetError(None, name, what)


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
