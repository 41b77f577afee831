"""The interface of the package (design §7): what is taken and given, and how wrong use is told."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import wholecall
from wholecall import Assembler, Call, LimitError, Limits, ProfileError, Response, WholecallError, read

CALL = {"index": 0, "id": "id-secret", "function": {"name": "name-secret", "arguments": '{"k":"v-secret"}'}}
WHOLE = {"choices": [{"delta": {"content": "text-secret", "tool_calls": [CALL]}, "finish_reason": "stop"}]}


def test_every_public_name_is_importable_and_listed() -> None:
    for name in wholecall.__all__:
        assert getattr(getattr(wholecall, name), "__name__", name) == name
        assert name in dir(wholecall)


def test_the_names_of_the_design_are_public() -> None:
    """Section 7 lists them; two are values, and have no name of their own."""
    named = """
        Assembler read Response Call Tool Toolset Turn Result Policy Ledger ToolFailed UpstreamRefused
        Unreachable Applied ABSENT UNKNOWN Diagnostic Limits Context tool openai_request Sink Evidence
        OpenTelemetry Feedback TransportFailed Ran Attempt
        """

    assert set(named.split()) <= set(wholecall.__all__)
    assert (wholecall.ABSENT.name, wholecall.UNKNOWN.name) == ("ABSENT", "UNKNOWN")


def test_every_error_of_the_library_is_public() -> None:
    """What a host may have to catch it can name, but for what several errors share."""
    shared = {"Reasoned", "BoundError"}
    within = {"NoRowError", "CaseError"}  # of the commands, and of an engine used by hand
    root = Path(wholecall.__file__).parents[1]
    files = [*root.glob("wholecall/*.py"), *root.glob("wholecall/turn/*.py")]
    modules = [".".join(file.relative_to(root).with_suffix("").parts) for file in files]
    named = {error.__name__ for module in modules for error in errors_of(module)}

    assert named - within - shared <= set(wholecall.__all__)
    assert len(named) > 15


def errors_of(module: str) -> list[type[WholecallError]]:
    found = vars(import_module(module)).values()
    return [one for one in found if isinstance(one, type) and issubclass(one, WholecallError)]


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"^module 'wholecall' has no attribute 'assembler'$"):
        wholecall.assembler  # noqa: B018 - to ask for it is the test


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, wholecall; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    heavy = {
        "msgspec",
        "jiter",
        "jsonschema_rs",
        "transitions",
        "sqlalchemy",
        "click",
        "rich",
        "hypothesis",
        "openai",
        "opentelemetry",
        "pydantic",
        "psycopg",
        "anyio",
    }

    assert not heavy & set(out.split())


def test_responses_and_calls_cannot_be_changed() -> None:
    response = read([WHOLE])
    refused = read([WHOLE | {"choices": 7}])
    parts: tuple[Any, ...] = (response, *response.calls, *refused.faults, Assembler().origin, Limits())
    for frozen in parts:
        for field in dataclasses.fields(frozen):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(frozen, field.name, None)
        with pytest.raises((AttributeError, TypeError)):
            frozen.note = "x"
    assert {type(many) for many in (response.faults, response.calls, response.rows)} == {tuple}


def test_the_repr_of_a_response_and_of_its_assembler_show_no_content() -> None:
    assembler = Assembler()
    assembler.feed(WHOLE)
    response = assembler.close()

    assert repr(response) == (
        "Response(outcome='whole', fault=None, faults=(), calls=(Call(choice=0, index=0, parsed=True),))"
    )
    assert "secret" not in repr(assembler) + str(response) + repr(assembler.origin)
    assert response.calls[0] == Call(
        0, 0, "id-secret", "name-secret", '{"k":"v-secret"}', {"k": "v-secret"}, True
    )


@pytest.mark.parametrize("profile", ["", "Core", "core,core", "idless-call", None])
def test_an_unknown_profile_is_an_error_that_names_what_is_allowed(profile: str) -> None:
    for begin in (lambda: Assembler(profile), lambda: read([], profile=profile)):
        with pytest.raises(ProfileError) as caught:
            begin()
        assert isinstance(caught.value, (WholecallError, LookupError))
        assert (caught.value.profile, caught.value.allowed) == (profile, ("core",))
        assert str(caught.value) == f"no profile {profile!r}; allowed: core"


@pytest.mark.parametrize("value", [0, -1, True, 1.0, "1", None], ids=repr)
@pytest.mark.parametrize("name", ["calls", "name", "arguments", "depth"])
def test_a_limit_is_an_integer_of_at_least_1(name: str, value: object) -> None:
    with pytest.raises(LimitError) as caught:
        Limits(**{name: value})  # type: ignore[arg-type]
    assert isinstance(caught.value, (WholecallError, ValueError))
    assert (caught.value.name, caught.value.value) == (name, value)
    assert str(caught.value) == f"the limit {name} must be an integer of at least 1, not {value!r}"
    assert getattr(Limits(**{name: 1}), name) == 1


def test_limits_are_given_by_name() -> None:
    with pytest.raises(TypeError):
        Limits(1)  # type: ignore[call-arg]


def test_frames_may_come_from_any_iterable_and_end_without_a_marker() -> None:
    read_of = [read(iter([WHOLE])), read((WHOLE, "[DONE]")), read(frame for frame in [WHOLE])]

    assert [response.outcome for response in read_of] == ["whole"] * 3


def test_two_assemblers_share_nothing() -> None:
    """What is fed to one is not seen by the other, though they run the same rules."""
    one, other = Assembler(), Assembler()
    one.feed(WHOLE)
    other.feed({"choices": [{"finish_reason": "stop"}]})

    assert (one.close().outcome, len(one.close().calls)) == ("whole", 1)
    assert (other.close().outcome, other.close().calls) == ("answered", ())


def test_an_error_that_reading_raises_is_passed_on() -> None:
    def frames() -> Iterator[object]:
        yield WHOLE
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        read(frames())


def test_a_response_says_what_it_is_whole_of() -> None:
    """What a response and a call have, in the order of the design; its rows are worked out."""
    assert [field.name for field in dataclasses.fields(Response)][:5] == [
        "outcome",
        "fault",
        "faults",
        "calls",
        "content",
    ]
    assert isinstance(wholecall.read([]).rows, tuple)
    assert [field.name for field in dataclasses.fields(Call)][:6] == [
        "choice",
        "index",
        "id",
        "name",
        "arguments",
        "value",
    ]
