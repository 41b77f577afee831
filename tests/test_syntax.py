"""Is a text whole, strict JSON? RFC 8259 says what is JSON, RFC 7493 which of it both ends understand."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import jiter
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wholecall.syntax import Syntax, read_syntax

if TYPE_CHECKING:
    from random import Random

PLANTED = "sk-planted-7431"


def fault(text: str, depth: int = 128) -> str | None:
    return read_syntax(text, depth).fault


def same(one: object, other: object) -> bool:
    # `==` takes 1 for 1.0 and 0.0 for -0.0.
    return repr(one) == repr(other)


# -- whole ------------------------------------------------------------------------------------------

WHOLE = {
    "{}": {},
    "[]": [],
    ' \t\n\r{ "a" : [ 1 , true ] } \t\n\r': {"a": [1, True]},
    "0": 0,
    "-0": 0,
    "-0.0": -0.0,
    "1E5": 100000.0,
    "0.25e+2": 25.0,
    "true": True,
    "null": None,
    '""': "",
    r'"\"\\\/\b\f\n\r\t"': '"\\/\b\f\n\r\t',
    r'"\u00e9\u00E9"': "éé",
    '"\x7f\u2028\ufeff"': "\x7f\u2028\ufeff",  # only U+0000 to U+001F must be escaped (§7)
    '"[[[{{{"': "[[[{{{",
    '{"a":{"x":1},"b":{"x":2}}': {"a": {"x": 1}, "b": {"x": 2}},
    '{"":{"":0}}': {"": {"": 0}},
    '{"a":0,"A":1}': {"a": 0, "A": 1},
}


@pytest.mark.parametrize("text", WHOLE)
def test_a_whole_text_has_its_value_and_nothing_else(text: str) -> None:
    found = read_syntax(text)

    assert found.fault is None
    assert same(found.value, WHOLE[text])
    assert (found.offset, found.depth, found.in_string) == (None, 0, False)


# -- cut, or wrong ----------------------------------------------------------------------------------

# by how deep each ends, and whether inside a string
CUT = {
    (0, False): ["", " \n", "-", "1.", "1e", "-0.5E-", "t", "fals", "nul"],
    (1, False): ["{", '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":nul', "[-1.", "[fals", "[1, ", "[[],{}"],
    (2, False): ["[[", '{"a":[1', '[{"a":1'],
    (3, False): ['{"a":{"b":['],
    (0, True): ['"', '"a', '"\\', '"\\u', '"\\u12', '"\\"', '"[{', '"\x7f', r'"\"\\\/\b\f\n\r\t'],
    (1, True): ['{"a', '{"a":"b', '{"a":"b\\', '{"a":"b\\"', '["\\\\'],
}


@pytest.mark.parametrize(("text", "end"), [(text, end) for end, texts in CUT.items() for text in texts])
def test_a_proper_prefix_of_a_json_text_is_incomplete(text: str, end: tuple[int, bool]) -> None:
    assert read_syntax(text) == Syntax("syntax.incomplete", None, len(text), *end)


# by how deep each goes wrong, and whether inside a string; a bar stands before the wrong character
WRONG = {
    (0, False): [
        *("|NaN", "|Infinity", "-|Infinity", "|True", "tru|x", "null|x", "|'a'", "|]", "|:", "{}|}"),
        *("0|1", "-0|1", "|+1", "|.5", "1.|e5", "1e|e", "0|x1", "1 |2", "{} |{}", "[1] |// no"),
        *("|\ufeff{}", "|\xa0{}", "|\f{}", "|\u0661"),
    ],
    (1, False): ["[|NaN]", "[1.|]", "[1,|]", "[1 |2]", "[|}", "{|,}", "{|1:2}", "{|'a':1}", '{"a" |1}'],
    (2, False): ['[{"a":1,|}]', '{"a":[tru|,[[[[', "[[|,"],
    (0, True): ['"a|\nb"', '"|\x00"', r'"\|x"', r'"\u12|g', '"\\|\n"'],
    (1, True): ['{"a|\x1f":1}'],
}


@pytest.mark.parametrize(("marked", "end"), [(text, end) for end, texts in WRONG.items() for text in texts])
def test_any_other_text_is_invalid_at_its_first_wrong_character(marked: str, end: tuple[int, bool]) -> None:
    assert read_syntax(marked.replace("|", "")) == Syntax("syntax.invalid", None, marked.index("|"), *end)


# -- the order of the questions ---------------------------------------------------------------------

HALF = "\ud83d"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f'"{HALF}"', (1, 0, True)),
        (f'{{"a":["{HALF}', (7, 2, True)),
        (f"[{HALF}", (1, 1, False)),
        (f"nonsense {HALF}", (9, 0, False)),
        (f'"\udc00{HALF}"', (1, 0, True)),
        (f'{{"a":1,"a":"{HALF}"}}', (12, 1, True)),
        ("[" * 200 + HALF, (200, 200, False)),
    ],
)
def test_a_raw_half_of_a_pair_comes_before_everything(text: str, place: tuple[int, int, bool]) -> None:
    assert read_syntax(text) == Syntax("syntax.invalid", None, *place)


@pytest.mark.parametrize(
    "rest",
    [
        pytest.param("]" * 129, id="of a whole text"),
        pytest.param("", id="of a cut text"),
        pytest.param("NaN", id="of a text wrong after it"),
        pytest.param(r'{"a":1,"a":"\ud800"', id="of a text with a key twice"),
    ],
)
def test_nesting_beyond_the_limit_comes_before_the_grammar(rest: str) -> None:
    assert read_syntax("[" * 129 + rest) == Syntax("limit.depth", None, 128, 129, in_string=False)
    assert read_syntax("NaN" + "[" * 129 + rest) == Syntax("limit.depth", None, 131, 129)


def test_the_limit_is_the_deepest_level_allowed() -> None:
    assert fault("[" * 128 + "]" * 128) is None
    assert fault("[" * 128) == "syntax.incomplete"
    assert fault('{"a":' * 128 + "1" + "}" * 128) is None
    assert fault('{"a":' * 129 + "1" + "}" * 129) == "limit.depth"
    assert fault("[[]]", depth=1) == "limit.depth"
    assert fault("[[]]", depth=2) is None


def test_only_brackets_that_are_open_at_once_and_outside_strings_count() -> None:
    assert fault("[" + "[]," * 500 + "[]]", depth=2) is None
    assert fault('["' + "[" * 500 + '\\"' + "{" * 500 + '"]', depth=1) is None
    assert fault('["' + "[" * 500, depth=1) == "syntax.incomplete"
    assert fault('"\\\n' + "[" * 500, depth=1) == "syntax.invalid"
    assert fault("]" * 500 + "[[", depth=2) == "syntax.invalid"
    assert fault("]" * 500 + "[[[", depth=2) == "limit.depth"


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":1}',
        '{"a":1,"b":2,"a":3}',
        r'{"a":1,"\u0061":2}',
        '{"\U0001f600":1,"\\ud83d\\ude00":2}',
        '[[{"x":{"":1,"":2}}]]',
        '{"a":{"b":1,"b":2},"c":3}',
        r'{"a":1,"a":"\ud800"}',
        r'{"\ud800":1,"\ud800":2}',
        '{"a":1,"a":1e999}',
        '{"a":1,"a":' + "9" * 5000 + "}",
    ],
)
def test_a_key_twice_in_one_object_is_found_at_any_nesting(text: str) -> None:
    assert read_syntax(text) == Syntax("syntax.duplicate_key")


def test_a_key_twice_matters_in_whole_texts_only() -> None:
    assert fault('{"a":1,"a":2') == "syntax.incomplete"
    assert fault('{"a":1,"a":') == "syntax.incomplete"
    assert fault('{"a":1,"a":2}}') == "syntax.invalid"
    assert fault('{"a":1,"a":NaN}') == "syntax.invalid"


@pytest.mark.parametrize(
    "text", [r"\ud800", r"\uDE00", r"\ud800x", r"\ud800\u0041", r"\ude00\ud83d", r"a\ud83d\ud83d\ude00"]
)
def test_an_escaped_half_of_a_pair_is_invalid_once_the_text_is_whole(text: str) -> None:
    invalid = Syntax("syntax.invalid")

    assert read_syntax(f'"{text}"') == invalid
    assert read_syntax(f'[{{"a":["{text}"]}}]') == invalid
    assert read_syntax(f'{{"{text}":1}}') == invalid
    assert fault(f'"{text}') == "syntax.incomplete"


def test_an_escaped_pair_is_a_character_and_an_escaped_backslash_begins_none() -> None:
    assert read_syntax(r'"\ud83d\uDE00"').value == "\U0001f600"
    assert read_syntax(r'"\\ud800"').value == r"\ud800"


OVERFLOW = 2**1024 - 2**970
"""Halfway from the greatest double to 2**1024: from here on, numbers round to infinity (IEEE 754)."""

BEYOND = ["1e309", "-1e309", "1e999", "0.1e310", "1.7976931348623159e308", str(OVERFLOW), str(-OVERFLOW)]
BEYOND += ["9" * 309, "1" + "0" * 309, "9" * 5000, "9" * 5000 + "e-4000", "1" + "0" * 5000 + ".5"]
WITHIN = ["1.7976931348623157e308", "1e-999", "0e999", str(2**64), str(OVERFLOW - 1), str(1 - OVERFLOW)]
WITHIN += ["1" + "0" * 308, "-1" + "0" * 308, "0." + "0" * 5000 + "1"]


@pytest.mark.parametrize("number", BEYOND, ids=lambda number: number[:24])
def test_a_number_beyond_any_double_is_invalid(number: str) -> None:
    invalid = Syntax("syntax.invalid")

    assert read_syntax(number) == invalid
    assert read_syntax(f'{{"a":[1,{{"b":{number}}}]}}') == invalid
    assert fault(f"[{number}") == "syntax.incomplete"


@pytest.mark.parametrize("number", WITHIN, ids=lambda number: number[:24])
def test_a_number_that_rounds_to_a_double_is_whole_and_exact_where_an_integer(number: str) -> None:
    value = json.loads(number)

    assert same(read_syntax(f"[{number}]").value, [value])
    assert same(
        read_syntax("[" * 250 + number + "]" * 250, depth=250).value,
        json.loads("[" * 250 + number + "]" * 250),
    )


def test_a_float_with_thousands_of_digits_before_its_point_is_whole() -> None:
    assert read_syntax("1" + "0" * 5000 + ".0e-5000").value == 1.0


# -- as properties ----------------------------------------------------------------------------------


def is_json(text: str) -> bool:
    """The grammar alone, by another reader."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


def place(text: str) -> tuple[list[str], bool]:
    """The brackets that would close what is open at the end, and whether a string is open there."""
    closers: list[str] = []
    in_string = escaped = False
    for character in text:
        if in_string:
            in_string = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            in_string = True
        elif character in "[{":
            closers.insert(0, {"[": "]", "{": "}"}[character])
        elif character in "]}" and closers:
            closers.pop(0)
    return closers, in_string


ENDS_OF_STRINGS = ['"', '""', 'n"', '0"', '00"', '000"', '0000"']
ENDS = [
    *("", "0", ":0", "rue", "ue", "e", "alse", "lse", "se", "ull", "ll", "l"),
    *ENDS_OF_STRINGS,
    *(end + ":0" for end in ENDS_OF_STRINGS),
]
"""What finishes a token, and then the member it may belong to, whatever the token was."""


def begins_json(text: str) -> bool:
    """Whether the text is JSON or can become so, by trying: a found completion is its own proof."""
    closers = "".join(place(text)[0])
    return any(is_json(text + end + closers) for end in ENDS)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=8,
)
SHORT_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}


def write(value: object, style: Random) -> str:
    """The value in one of the many ways to write it."""

    def space() -> str:
        return "".join(style.choices(" \t\n\r", k=style.choice([0, 0, 1, 2])))

    def units(character: str) -> str:
        pairs = character.encode("utf-16-be").hex()
        hexes = style.choice([pairs, pairs.upper()])
        return "".join(f"\\u{hexes[at : at + 4]}" for at in range(0, len(hexes), 4))

    def written(character: str) -> str:
        ways = [units(character)]
        if character in SHORT_ESCAPES:
            ways.append("\\" + SHORT_ESCAPES[character])
        if character >= " " and character not in '"\\':
            ways += [character] * 3
        return style.choice(ways)

    if isinstance(value, str):
        text = '"' + "".join(map(written, value)) + '"'
    elif isinstance(value, list):
        text = "[" + (",".join(write(item, style) for item in value) or space()) + "]"
    elif isinstance(value, dict):
        members = (f"{write(key, style)}:{write(item, style)}" for key, item in value.items())
        text = "{" + (",".join(members) or space()) + "}"
    else:
        text = json.dumps(value)
        if isinstance(value, float):
            text = style.choice([text, text.upper()])
    return space() + text + space()


DOCUMENTS = st.builds(write, VALUES, st.randoms(use_true_random=False))
PIECES = '[ ] { } " , : "a" "a": 0 1 -1 1.5 1e2 - . e E + \\ u \\u 12 d8 00g t tru true nul null NaN é \x00'
SCRAPS = st.lists(st.sampled_from([*PIECES.split(" "), " ", "\n"]), max_size=9).map("".join)


def damage(text: str, style: Random) -> str:
    """The text with one character too few, too many or exchanged, or cut there."""
    at = style.randint(0, len(text))
    rest = style.choice(["", text[at:], text[at + 1 :]])
    put: str = style.choice(["", *'"\\[]{},:0-.eu t'])
    return text[:at] + put + rest


DAMAGED = st.builds(damage, DOCUMENTS, st.randoms(use_true_random=False))


NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,24})?([eE][+-]?[0-9]{1,2})?", fullmatch=True)


@given(DOCUMENTS | NUMBERS)
@settings(max_examples=100, deadline=None)
def test_every_document_is_whole_and_means_what_any_reader_says(text: str) -> None:
    found = read_syntax(text)

    assert found.fault is None
    assert same(found.value, json.loads(text))


@given(DOCUMENTS)
@settings(max_examples=30, deadline=None)
def test_a_document_too_deep_for_the_fast_path_is_whole_too(text: str) -> None:
    levels = 250
    found = read_syntax("[" * levels + text + "]" * levels, depth=300)

    inner = found.value
    for _ in range(levels):
        assert isinstance(inner, list)
        (inner,) = inner
    assert same(inner, json.loads(text))


@given(VALUES.filter(lambda value: isinstance(value, str | list | dict)), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_each_proper_prefix_of_an_object_an_array_or_a_string_is_incomplete(
    value: object, style: Random
) -> None:
    text = write(value, style).rstrip()
    for end in range(len(text)):
        closers, in_string = place(text[:end])

        assert read_syntax(text[:end]) == Syntax("syntax.incomplete", None, end, len(closers), in_string)


@given(SCRAPS | DAMAGED)
@settings(max_examples=200, deadline=None)
@example('{"a":"\\ud800')
@example('[1,{"a":[],"a":-')
def test_incomplete_if_and_only_if_something_completes_it(text: str) -> None:
    found = read_syntax(text)

    if is_json(text):
        assert found.fault != "syntax.incomplete"
        assert found.offset is None
    elif begins_json(text):
        assert (found.fault, found.offset) == ("syntax.incomplete", len(text))
    else:
        assert found.fault == "syntax.invalid"
        assert found.offset is not None
        assert begins_json(text[: found.offset])
        assert not begins_json(text[: found.offset + 1])
    if found.offset is not None:
        closers, in_string = place(text[: found.offset])
        assert (found.depth, found.in_string) == (len(closers), in_string)


@given(st.text('[]{}"\\a', max_size=24), st.integers(1, 4))
@settings(max_examples=200, deadline=None)
def test_too_deep_if_and_only_if_so_many_brackets_are_open_at_once(text: str, limit: int) -> None:
    deepest = max(len(place(text[:end])[0]) for end in range(len(text) + 1))

    assert (fault(text, limit) == "limit.depth") == (deepest > limit)


# -- size, and what must not leak -------------------------------------------------------------------

DEEP = 100_000
LONG = 300_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[" * DEEP + "]" * DEEP, None),
        ("[" * DEEP, "syntax.incomplete"),
        ("[" * DEEP + "x", "syntax.invalid"),
        ('{"a":' * 30_000 + "0" + "}" * 30_000, None),
        ('[{"a":' * 30_000, "syntax.incomplete"),
        ('{"a":1,"a":' + "[" * 30_000 + "]" * 30_000 + "}", "syntax.duplicate_key"),
        ("]" * LONG, "syntax.invalid"),
        ('"' * LONG, "syntax.invalid"),
        ('["' + "\\" * LONG, "syntax.incomplete"),
        ('["' + "\\u0061" * LONG, "syntax.incomplete"),
        ("[" + "1" * LONG, "syntax.incomplete"),
        ("[" + "1" * LONG + "]", "syntax.invalid"),
        ("1e" + "9" * LONG, "syntax.invalid"),
        ("0." + "1" * LONG, None),
        (" " * LONG, "syntax.incomplete"),
        ("[" + " " * LONG + "x", "syntax.invalid"),
        ("[" + "0," * 100_000, "syntax.incomplete"),
    ],
    ids=lambda text: text and re.sub(r"(.{1,6}?)\1{9,}.*", r"\1...", text),
)
def test_neither_depth_nor_length_exhausts_the_stack_or_the_clock(text: str, expected: str | None) -> None:
    assert fault(text, depth=DEEP) == expected


def test_ten_megabytes_are_read_whole_and_cut() -> None:
    text = '{"content":"' + "0123456789" * 1_000_000 + '"}'

    assert fault(text) is None
    assert read_syntax(text[:-2]) == Syntax("syntax.incomplete", None, len(text) - 2, 1, in_string=True)


@pytest.mark.parametrize(
    "text",
    [
        f'{{"{PLANTED}":"{PLANTED}"}}',
        f'{{"{PLANTED}":"{PLANTED}',
        f'{{"{PLANTED}":1,"{PLANTED}":2}}',
        f'{{"{PLANTED}":NaN}}',
        f'"{PLANTED}\\ud800"',
        f'"{PLANTED}\ud800"',
        f'{{"{PLANTED}":{"9" * 5000}}}',
        "[" * 300 + f'"{PLANTED}"',
    ],
)
def test_a_verdict_shows_nothing_of_the_text(text: str, caplog: pytest.LogCaptureFixture) -> None:
    found = read_syntax(text)

    assert PLANTED not in repr(found)
    assert PLANTED not in str(found)
    assert caplog.text == ""
    assert found.fault is None or found.value is None


def test_no_cache_keeps_what_the_arguments_said() -> None:
    jiter.cache_clear()
    before = jiter.cache_usage()
    read_syntax(f'{{"{PLANTED}":["{PLANTED}-value"]}}')

    assert jiter.cache_usage() == before


def test_a_verdict_does_not_change() -> None:
    with pytest.raises(AttributeError):
        read_syntax("").fault = None  # type: ignore[misc]
