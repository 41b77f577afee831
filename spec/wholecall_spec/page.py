"""One file of the specification, with the line of everything in it.

`tomllib` gives values without places, and every refusal needs a place. The format makes that easy: a
section, a key or a row begins its own line, so the places are read off the text beside the values.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_SECTION = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|([A-Za-z0-9_-]+))\s*=""")
_QUOTED_OR_COMMENT = re.compile(r""""(?:[^"\\]|\\.)*"|'[^']*'|#.*""")
_AT_LINE = re.compile(r"at line (\d+)")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One mistake, in the words of one line.

    Attributes:
        file: The file's name as the reader would open it.
        line: 1-based.
        where: The row id, or the state, input or section that is wrong; empty for the whole file.
        what: What is wrong, and what is allowed.
    """

    file: str
    line: int
    where: str
    what: str

    def __str__(self) -> str:
        parts = (f"{self.file}:{self.line}", self.where, self.what)
        return ": ".join(part for part in parts if part).replace("\n", "\\n")


def did_you_mean(name: str, allowed: Iterable[str]) -> str:
    """The end of a sentence that says what was meant: the nearest name, or else all of them."""
    names = list(allowed)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if near:
        return f" (did you mean {near[0]}?)"
    return f" (allowed: {', '.join(names)})" if names else " (none is declared)"


def unknown(kind: str, name: str, allowed: Iterable[str]) -> str:
    """The sentence about a name that is none of those allowed."""
    return f"unknown {kind} {name}{did_you_mean(name, allowed)}"


@dataclass
class Page:
    """A parsed file: its values, the line of each, and the problems found in it.

    Attributes:
        file: The name used in problems.
        text: The file's text.
        data: What `tomllib` read; empty where it is not TOML.
        problems: Grows as the page is read and checked.
    """

    file: str
    text: str
    data: dict[str, object] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    _lines: dict[tuple[str, str], int] = field(default_factory=dict)
    _entries: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        refusal = ""
        try:
            self.data = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            refusal = str(error)
        if refusal:
            found = _AT_LINE.search(refusal)
            line = int(found[1]) if found else self.text.rstrip().count("\n") + 1
            self.say(line, "", f"not TOML: {refusal}")
        else:
            self._find_lines()

    def _find_lines(self) -> None:
        section = key = ""
        for number, line in enumerate(self.text.split("\n"), 1):
            if found := _SECTION.match(line):
                section, key = found[1], ""
                self._lines[section, ""] = number
                continue
            if found := _KEY.match(line):
                key = next(name for name in found.groups() if name)
                self._lines[section, key] = number
            begun = _QUOTED_OR_COMMENT.sub("", line).count("{") if "{" in line else 0
            self._entries.setdefault((section, key), []).extend([number] * begun)

    def line(self, section: str, key: str = "") -> int:
        """The line of a key of a section, or of the section that the key is, or else of the section."""
        own = f"{section}.{key}".strip(".")
        places = ((section, key), (own, ""), (section, ""))
        return next((self._lines[place] for place in places if place in self._lines), 1)

    def lines(self, section: str, key: str) -> list[int]:
        """The line of each inline table of a list."""
        return self._entries.get((section, key), [])

    def say(self, line: int, where: str, what: str) -> None:
        """Note a problem."""
        self.problems.append(Problem(self.file, line, where, what))

    def section(self, name: str, required: bool = True) -> dict[str, object]:
        """A table of the file; a problem, and empty, where it is missing, empty or something else."""
        value = self.data.get(name, {})
        if not isinstance(value, dict):
            self.say(self.line("", name), name, "must be a section")
            return {}
        if required and not value:
            self.say(self.line(name), name, f"the section [{name}] is missing or empty")
        return value

    def named(
        self, section: str, keys: Iterable[str], required: bool = True, dotted: bool = False
    ) -> Iterator[tuple[str, int, dict[str, object]]]:
        """The entries of a section by name, each with its line; a bare value is its `about`."""
        for name, value in self.section(section, required).items():
            line = self.line(section, name)
            entry = value if isinstance(value, dict) else {"about": value}
            if not _NAME.fullmatch(name.replace(".", "_", 1) if dotted else name):
                self.say(line, name, "a name is a word of lowercase letters, digits and _")
            self.known(entry, keys, name, line)
            yield name, line, entry

    def text_of(
        self, entry: dict[str, object], key: str, line: int, where: str, required: bool = True
    ) -> str:
        """A text of an entry; a problem, and empty, where it is missing, empty or no text of one line."""
        value = entry.get(key, "")
        if not isinstance(value, str):
            self.say(line, where, f"{key} must be text")
        elif "\n" in value:
            self.say(line, where, f"{key} must stay on one line")
        elif value.strip():
            return value
        elif required:
            self.say(line, where, f"{key} is missing")
        return ""

    def texts_of(
        self, entry: dict[str, object], key: str, line: int, where: str, required: bool = False
    ) -> tuple[str, ...]:
        """A list of texts of an entry; a problem, and empty, where it is empty or no such list."""
        value = entry.get(key)
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            return tuple(value)
        if value is not None or required:
            self.say(line, where, f"{key} must be a list of texts")
        return ()

    def known(
        self, entry: dict[str, object], allowed: Iterable[str], where: str, line: int | None = None
    ) -> None:
        """A problem for each key of an entry, or of the section `where`, that is none of those allowed."""
        names = list(allowed)
        for key in entry:
            if key not in names:
                at = line or self.line(where, key)
                self.say(at, where, unknown("key", key, names))

    def entries(self, section: str, key: str) -> list[tuple[int, dict[str, object]]]:
        """The inline tables of a list, each with its line; a problem where they are not one a line."""
        holder = self.data.get(section)
        value = holder.get(key) if isinstance(holder, dict) else None
        start = self.line(section, key)
        if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
            self.say(start, section, f"{key} must be a list of rows")
            return []
        lines = self.lines(section, key)
        if len(lines) != len(value):
            self.say(start, section, f"{key} must be a list with one row a line")
            return []
        for before, line, entry in zip([start, *lines], lines, value, strict=False):
            if line == before:
                self.say(line, str(entry.get("id", section)), "a row must begin its own line")
        return list(zip(lines, value, strict=True))
