"""Text as JSON strings have it: UTF-16 code units, of which halves of one character may arrive apart.

Argument text grows by an immutable rope, so that adding a piece is one small step and nothing that
arrived is ever rewritten.
"""

from __future__ import annotations

Rope = tuple["Rope | None", str, int]
"""The rope before, the last piece, and the length of all pieces together in code units."""

NO_TEXT: Rope = (None, "", 0)
"""Nothing has arrived."""


def has_half(text: str) -> bool:
    """Whether a code unit that is half a character stands in the text."""
    try:
        text.encode()  # several times as fast as to search for one
    except UnicodeEncodeError:
        return True
    return False


def join_halves(text: str) -> str:
    """The text with each pair of halves joined into its character; a half that stays alone is kept."""
    if not has_half(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def settle(rope: Rope) -> Rope:
    """The same text as one piece, its length in characters of the joined text.

    Pieces are counted as they come, which counts a character twice whose halves came apart: never too little,
    and exact again from here on.
    """
    whole = joined(rope)
    return None, whole, len(whole)


def joined(rope: Rope) -> str:
    """The whole text of a rope."""
    pieces = []
    before: Rope | None = rope
    while before is not None:
        before, piece, _ = before
        pieces.append(piece)
    pieces.reverse()
    return join_halves("".join(pieces))
