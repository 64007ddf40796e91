"""The difference of two versions of a page in words, and the beginning of a new page (pure).

Texts come from the web: their length, their number and the time to compare them are bounded.
Chinese, Japanese and Korean text has no spaces, so that each of its characters is a word.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from nacre.core.changes import ELLIPSIS, GONE, NEW, SAME, ChangedText, TextRun
from nacre.core.pagerow import PageView, Piece
from nacre.planner.change_detection.line_difference import LineRun, common_lines
from nacre.planner.change_detection.template import PieceDifference

MOST_TEXTS: Final = 20
"""Differences of a page that are kept in words."""
LONGEST_RUN: Final = 1_000
"""Characters of words that came or went at one place; more are left out."""
LONGEST_TEXT: Final = 4_000
"""Characters of a difference from which on the rest is left out."""
LONGEST_LEAD: Final = 400
"""Characters of the beginning of a new page."""
LONGEST_TITLE: Final = 300
_CONTEXT = 80
"""Characters of words that stayed, beside each difference."""
_LONGEST_COMPARED = 100_000
"""Characters of a text that are compared, from shortly before its first difference on."""
_MOST_COMPARED = 200_000
"""Characters of all texts of a page that are compared; of each text `_LEAST_COMPARED` are."""
_LEAST_COMPARED = 2_000
_ISLAND = 3
"""Letters between two differences below which they count as one, to be readable."""
_CJK = "\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
_WORDS = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+|\s+|[^\w\s]")
_READ = ("title", "heading", "text")
_JOINERS = "\u200c\u200d"
"""Format characters that belong to words of some scripts, and to emoji."""
_UNSHOWN = "\ufffd"


class PageDifference(NamedTuple):
    """The differences between two versions of a page, in words.

    Attributes:
        texts: The differences, at most `MOST_TEXTS`.
        more: Number of further ones.
    """

    texts: tuple[ChangedText, ...] = ()
    more: int = 0


def page_difference(differing: Sequence[PieceDifference]) -> PageDifference:
    """Return the differences of a page in words: titles and texts before links and menus."""
    ordered = sorted(differing, key=lambda pair: pair.piece.kind not in _READ)
    texts, room = list[ChangedText](), _MOST_COMPARED
    for pair in ordered[:MOST_TEXTS]:
        most = max(_LEAST_COMPARED, min(_LONGEST_COMPARED, room))
        was, now = ("" if side is None else side.text for side in pair)
        sides = _differing_parts(was, now, most)
        texts.append(_changed_text(pair.piece.kind, *sides))
        room -= max(map(len, sides))
    return PageDifference(tuple(texts), max(0, len(ordered) - MOST_TEXTS))


def page_title(view: PageView) -> str:
    """Return the title of a page, else its first heading; "" if it has neither."""
    for kind in ("title", "heading"):
        for piece in view.pieces:
            if piece.kind == kind and piece.text:
                return _cut(clean_text(piece.text[: 2 * LONGEST_TITLE]), LONGEST_TITLE)
    return ""


def page_lead(view: PageView) -> str:
    """Return the beginning of the text of a page, without its title and its menus."""
    return _cut(" ".join(_lead_texts(view.pieces)), LONGEST_LEAD)


def _lead_texts(pieces: Sequence[Piece]) -> Iterator[str]:
    length = 0
    for piece in pieces:
        if piece.kind in {"heading", "text"} and length <= LONGEST_LEAD:
            text = clean_text(piece.text[: 2 * LONGEST_LEAD])
            length += len(text)
            yield text


def _differing_parts(was: str, now: str, most: int) -> tuple[str, str]:
    """Return at most `most` characters of two texts, from shortly before their difference on."""
    start = 0
    if max(len(was), len(now)) > most:
        start = max(0, _common_start(was, now) - 2 * _CONTEXT)
    return was[start : start + most], now[start : start + most]


def _common_start(was: str, now: str) -> int:
    """Return the number of characters with which both texts begin."""
    low, high = 0, min(len(was), len(now))
    while low < high:
        middle = (low + high + 1) // 2
        if was[low:middle] == now[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _changed_text(kind: str, was: str, now: str) -> ChangedText:
    if kind in _READ:
        return ChangedText(kind, word_difference(was, now))
    sides = ((GONE, was), (NEW, now))
    runs = (TextRun(side, _cut(clean_text(text), LONGEST_RUN)) for side, text in sides if text)
    return ChangedText(kind, tuple(runs))


def word_difference(was: str, now: str) -> tuple[TextRun, ...]:
    """Return the words of two texts in order: common ones, removed ones and added ones."""
    runs = list(_joined(_without_islands(list(_steps(was, now)))))
    last = len(runs) - 1
    shortened = (
        _shortened(run, is_first=not at, is_last=at == last) for at, run in enumerate(runs)
    )
    return tuple(_bounded(run for run in shortened if run.text))


def _bounded(runs: Iterable[TextRun]) -> Iterator[TextRun]:
    """Yield runs up to `LONGEST_TEXT` characters; an ellipsis stands for the others."""
    length = 0
    for run in runs:
        if length > LONGEST_TEXT:
            yield TextRun(SAME, ELLIPSIS)
            return
        length += len(run.text)
        yield run


class _Step(NamedTuple):
    """Words that both texts have, or words of each at the same place."""

    is_same: bool
    was: str
    now: str


def _steps(was: str, now: str) -> Iterator[_Step]:
    """Yield the words of two texts, common ones and what is between them."""
    old, new = _WORDS.findall(was), _WORDS.findall(now)
    at_old = at_new = 0
    for run in (*common_lines(old, new).runs, LineRun(len(old), len(new), 0)):
        was, now = "".join(old[at_old : run.old]), "".join(new[at_new : run.new])
        if was or now:
            yield _Step(is_same=False, was=was, now=now)
        at_old, at_new = run.old + run.size, run.new + run.size
        if run.size:
            same = "".join(old[run.old : at_old])
            yield _Step(is_same=True, was=same, now=same)


def _without_islands(steps: Sequence[_Step]) -> Iterator[_Step]:
    """Count few letters between two differences as a part of them."""
    last = len(steps) - 1
    for at, step in enumerate(steps):
        letters = sum(char.isalnum() for char in step.now) if step.is_same else _ISLAND
        if 0 < at < last and letters < _ISLAND:
            yield step._replace(is_same=False)
        else:
            yield step


def _joined(steps: Iterator[_Step]) -> Iterator[TextRun]:
    was = now = ""
    for step in steps:
        if not step.is_same:
            was, now = was + step.was, now + step.now
            continue
        yield from _replaced_text(was, now)
        was = now = ""
        yield TextRun(SAME, step.now)
    yield from _replaced_text(was, now)


def _replaced_text(was: str, now: str) -> Iterator[TextRun]:
    if was:
        yield TextRun(GONE, was)
    if now:
        yield TextRun(NEW, now)


def _shortened(run: TextRun, *, is_first: bool, is_last: bool) -> TextRun:
    text = clean_text(run.text)
    if run.kind != SAME:
        return TextRun(run.kind, _cut(text, LONGEST_RUN))
    head = "" if is_first and not is_last else text[:_CONTEXT]
    tail = "" if is_last else text[-_CONTEXT:]
    if len(text) <= len(head) + len(tail) + len(ELLIPSIS):
        return TextRun(SAME, text)
    return TextRun(SAME, f"{head}{ELLIPSIS}{tail}")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + ELLIPSIS


def clean_text(text: str) -> str:
    """Return a text from the web without characters that control a terminal or are no XML."""
    if text.isprintable():
        return text
    return "".join(map(_clean, text))


def _clean(char: str) -> str:
    if char.isprintable() or char in _JOINERS:
        return char
    if char.isspace():
        return " "
    return "" if unicodedata.category(char) == "Cf" else _UNSHOWN
