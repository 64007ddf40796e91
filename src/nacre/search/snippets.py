"""Snippets: the part of a text with the most matches, and their places."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import chain, islice
from typing import NamedTuple

from nacre.search.analysis import PhraseFinder, QueryPhrase, fold, normal_form

WIDTH = 220
"""Characters of a snippet at most."""

_LOOKED_AT = 400_000
"""Characters of a text that are searched for places."""
_PIECE = 16_000
"""Characters of a piece, which is searched at once."""
_OVERLAP = 500
"""Characters that belong to two pieces, so that matches across their ends are found."""
_MARKS = 200
_SPACE = re.compile(r"\s+")


class Snippet(NamedTuple):
    """A part of a text.

    Attributes:
        text: The part, its blanks collapsed.
        marks: Places of matches in it: offsets of their begin and end.
    """

    text: str
    marks: tuple[tuple[int, int], ...] = ()

    def marked(self, before: str, after: str) -> str:
        """Return the text with something before and after each mark."""
        parts, at = [], 0
        for start, end in self.marks:
            parts += [self.text[at:start], before, self.text[start:end], after]
            at = end
        return "".join((*parts, self.text[at:]))


def snippet_of(text: str, phrases: Sequence[QueryPhrase], width: int = WIDTH) -> Snippet:
    """Return the best part of a text; its beginning if it has no matches."""
    finders = list(map(PhraseFinder, phrases))
    piece, start = _best_piece(text[:_LOOKED_AT], finders, width)
    if not piece:
        return Snippet(_cut(_SPACE.sub(" ", text[: width * 4]).strip(), 0, width))
    # Blanks are collapsed only in the excerpt, since texts are long.
    around = _word_start(piece, max(0, start - width))
    excerpt = _SPACE.sub(" ", piece[around : start + 3 * width]).strip()
    marks = _merge(_places(excerpt, finders))
    if not marks:
        return Snippet(_cut(excerpt, 0, width))
    begin = _word_start(excerpt, max(0, _best(marks, width) - width // 5))
    cut = _cut(excerpt, begin, width)
    if around and not begin:
        cut = f"…{cut}"
    offset = begin - (1 if begin or around else 0)
    shifted = [(a - offset, b - offset) for a, b in marks if a >= begin and b <= begin + width]
    return Snippet(cut, tuple((a, b) for a, b in shifted if b <= len(cut)))


def _best_piece(text: str, finders: Sequence[PhraseFinder], width: int) -> tuple[str, int]:
    """The piece of a text with most of the phrases, as it is shown, and where its best part is.

    The first of equals; "" if there are no matches. Text after a piece with all of them is not
    searched.
    """
    best, start, most = "", 0, 0
    for begin in range(0, len(text), _PIECE):
        piece = _visible_form(text[begin : begin + _PIECE + _OVERLAP])
        places = [_places(piece, [finder]) for finder in finders]
        number = sum(map(bool, places))
        if number > most:
            best, start, most = piece, _best(_merge(list(chain(*places))), width), number
            if most == len(finders):
                break
    return best, start


def _cut(text: str, begin: int, width: int) -> str:
    """Return a part of a text; an ellipsis where it was cut."""
    end = begin + width
    if end < len(text):
        blank = text.rfind(" ", begin + width * 3 // 4, end)
        end = blank if blank > 0 else end
    prefix, right = ("…" if begin else ""), ("…" if end < len(text) else "")
    return f"{prefix}{text[begin:end]}{right}"


def _word_start(text: str, at: int) -> int:
    """Return the beginning of a word at or shortly after a place."""
    if at == 0:
        return 0
    blank = text.find(" ", at, at + 20)
    return blank + 1 if blank >= 0 else at


def _best(marks: Sequence[tuple[int, int]], width: int) -> int:
    """Return the start of the window with the most marked characters; the first of equals."""
    ends = [end for _, end in marks]
    best, most = marks[0][0], -1
    for number, (start, _) in enumerate(marks):
        last = bisect_left(ends, start + width * 4 // 5)
        size = sum(end - begin for begin, end in marks[number:last])
        if size > most:
            best, most = start, size
    return best


def _merge(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Places in order, those that touch as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(places)[:_MARKS]:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _visible_form(text: str) -> str:
    """A text as it is shown: as it was written, where its places are those of its normal form."""
    plain = normal_form(text)
    return text if len(plain) == len(text) else plain


def _places(text: str, finders: Sequence[PhraseFinder]) -> list[tuple[int, int]]:
    """Return the places of phrases in an excerpt."""
    plain = fold(text)
    starts: Sequence[int] = range(len(text) + 1)
    if len(plain) != len(text):  # some letters have no single lower one
        pieces = [fold(char) for char in text]
        plain = "".join(pieces)
        starts = [at for at, piece in enumerate(pieces) for _ in piece]
    return [
        (starts[start], starts[end - 1] + 1)
        for finder in finders
        for start, end in islice(finder.places(plain), _MARKS)
    ]
