"""A JSON array that comes in pieces has the elements that it has as a whole."""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wholecall.command.array import elements

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=3), values, max_size=3),
    max_leaves=8,
)
LAYOUTS = st.sampled_from([None, 0, 1, "\t"])


def pieces(text: bytes, size: int) -> Iterator[bytes]:
    yield from (text[at : at + size] for at in range(0, len(text), size))


@example([-0.0, 1.5e300, 12], 1, None, True)
@given(st.lists(VALUES, max_size=6), st.integers(1, 9), LAYOUTS, st.booleans())
def test_any_array_cut_anywhere_has_its_elements(
    values: list[object], size: int, layout: int | str | None, ascii_only: bool
) -> None:
    text = json.dumps(values, indent=layout, ensure_ascii=ascii_only)
    whole = f" \n{text}\t\r\n".encode("utf-8", "replace")

    assert list(elements(pieces(whole, size))) == json.loads(whole)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "'[' is missing"),
        ("{}", "'[' is missing"),
        ("[", "a value is no JSON"),
        ("[1", "',' or ']' is missing"),
        ("[1,", "a value is no JSON"),
        ("[1,]", "a value is no JSON"),
        ("[1 2]", "',' or ']' is missing"),
        ("[1] x", "something stands after the array"),
        ("[NaN]", "NaN is no JSON"),
        ('["a', "a value is no JSON"),
        ("[" + "[" * 100_000, "a value is nested too deeply"),
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_what_is_no_array_is_refused(text: str, said: str, size: int) -> None:
    if len(text) > 1000 > size:
        size = 1000
    with pytest.raises(ValueError, match=said.replace("[", r"\[")):
        list(elements(pieces(text.encode(), size)))


def test_what_was_given_is_not_held() -> None:
    """Ten megabytes pass through in less than one."""
    element = b'{"text": "' + b"x" * 1000 + b'"},'

    def long() -> Iterator[bytes]:
        yield b"["
        for _ in range(1_000):
            yield element * 10
        yield b"0]"

    tracemalloc.start()
    count = sum(1 for _ in elements(long()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert count == 10_001
    assert peak < 1_000_000


def test_a_long_element_is_not_scanned_again_for_each_piece() -> None:
    """Four megabytes in pieces of a kilobyte: scanned with each piece, they would take a minute."""
    text = json.dumps(["x" * 4_000_000]).encode()
    started = time.process_time()

    assert len(list(elements(pieces(text, 1_000)))) == 1
    assert time.process_time() - started < 5
