"""Snippets: the part of a text in which most of what was asked for stands, with its places."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from nacre.search.analysis import QueryPhrase, folded, normal_form, phrase_pattern

WIDTH = 220
"""Characters of a snippet at most."""

_LOOKED_AT = 400_000
"""Characters of a text in which places are looked for."""
_MARKS = 200
_SPACE = re.compile(r"\s+")


class Snippet(NamedTuple):
    """A part of a text.

    Attributes:
        text: The part, its blanks collapsed.
        marks: Places of what was asked for in it: first character, and the one behind.
    """

    text: str
    marks: tuple[tuple[int, int], ...] = ()

    def marked(self, before: str, after: str) -> str:
        """The text with something before and after each mark."""
        parts, at = [], 0
        for start, end in self.marks:
            parts += [self.text[at:start], before, self.text[start:end], after]
            at = end
        return "".join((*parts, self.text[at:]))


def snippet_of(text: str, phrases: Sequence[QueryPhrase], width: int = WIDTH) -> Snippet:
    """The best part of a text; its beginning where nothing that was asked for is in it."""
    shown = _SPACE.sub(" ", text[:_LOOKED_AT]).strip()
    plain = normal_form(shown)
    if len(plain) != len(shown):
        shown = plain  # places would differ
    marks = _merged(_places(plain, phrases))
    if not marks:
        return Snippet(_cut(shown, 0, width))
    start = _best(marks, width)
    begin = _word_start(shown, max(0, start - width // 5))
    piece = _cut(shown, begin, width)
    offset = begin - (1 if begin else 0)
    kept = [(a - offset, b - offset) for a, b in marks if a >= begin and b <= begin + width]
    return Snippet(piece, tuple((a, b) for a, b in kept if b <= len(piece)))


def _cut(text: str, begin: int, width: int) -> str:
    """A part of a text; an ellipsis where it was cut."""
    end = begin + width
    if end < len(text):
        blank = text.rfind(" ", begin + width * 3 // 4, end)
        end = blank if blank > 0 else end
    left, right = ("…" if begin else ""), ("…" if end < len(text) else "")
    return f"{left}{text[begin:end]}{right}"


def _word_start(text: str, at: int) -> int:
    """The beginning of a word at or shortly behind a place."""
    if at == 0:
        return 0
    blank = text.find(" ", at, at + 20)
    return blank + 1 if blank >= 0 else at


def _best(marks: Sequence[tuple[int, int]], width: int) -> int:
    """The start of the window with the most marked characters; the first of equals."""
    ends = [end for _, end in marks]
    best, most = marks[0][0], -1
    for number, (start, _) in enumerate(marks):
        last = bisect_left(ends, start + width * 4 // 5)
        size = sum(end - begin for begin, end in marks[number:last])
        if size > most:
            best, most = start, size
    return best


def _merged(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Places in order, those that touch as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found)[:_MARKS]:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _places(text: str, phrases: Sequence[QueryPhrase]) -> list[tuple[int, int]]:
    """Where phrases stand in a text in NFKC."""
    patterns = [found for found in map(phrase_pattern, phrases) if found is not None]
    plain = folded(text)
    starts: Sequence[int] = range(len(text) + 1)
    if len(plain) != len(text):  # some letters have no single lower one
        pieces = [folded(one) for one in text]
        plain = "".join(pieces)
        starts = [at for at, piece in enumerate(pieces) for _ in piece]
        starts.append(len(text))
    return [
        (starts[match.start()], starts[match.end() - 1] + 1)
        for pattern in patterns
        for match in islice(pattern.finditer(plain), _MARKS)
    ]
