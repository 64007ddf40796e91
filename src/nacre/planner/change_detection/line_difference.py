"""The line difference of two texts, in bounded time and memory (pure).

Both texts may be hostile. Lines over `LONGEST` characters, as in minified files, are parted at tags
and statements, so that a change within them is visible and an insertion does not move every cut.
Lines that occur once in both texts anchor the comparison (patience difference); small windows
between anchors are compared in full, within a budget, and larger ones count as replaced.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

LONGEST = 400
"""Characters of a line; longer lines are parted."""

MOST_LINES = 50_000
"""Lines of a text that are compared."""

_WINDOW = 10_000
"""Pairs of lines of a window that is compared in full."""
_BUDGET = 1_500_000
"""Pairs of lines of all windows that are compared in full."""
_DEPTH = 12
"""Times that a window is parted at its anchors."""

_BREAK = re.compile(r"\r\n|\r|\n")
_PARTS = (
    re.compile(r"(?<=>)(?=<)"),
    re.compile(r"(?<=[;{}>])"),
    re.compile(r"(?<=[\s,&])"),
)
"""Places at which a long line is parted, the best first."""


class LineRun(NamedTuple):
    """Lines that both texts have, one after the other.

    Attributes:
        old: Number of the first in the older text, from 0.
        new: Number of the first in the newer text, from 0.
        size: Number of lines.
    """

    old: int
    new: int
    size: int


class CommonLines(NamedTuple):
    """The lines that two texts have in common.

    Attributes:
        runs: In order.
        is_coarse: Windows were too large to be compared in full, and count as replaced.
    """

    runs: list[LineRun]
    is_coarse: bool


class _Window(NamedTuple):
    """Lines of both texts: from and to (excluded) in each."""

    old: int
    old_end: int
    new: int
    new_end: int


def split_lines(text: str) -> list[str]:
    """Return at most `MOST_LINES` + 1 lines of a text without their ends, long lines parted."""
    lines: list[str] = []
    for line in _each_line(text):
        lines += [line] if len(line) <= LONGEST else _part_line(line)
        if len(lines) > MOST_LINES:
            return lines[: MOST_LINES + 1]
    return lines


def _each_line(text: str) -> Iterator[str]:
    start = 0
    for match in _BREAK.finditer(text):
        yield text[start : match.start()]
        start = match.end()
    if start < len(text):
        yield text[start:]


def _part_line(line: str) -> list[str]:
    parts = [line]
    for places in _PARTS:
        parts = [
            piece
            for part in parts
            for piece in (_join_short(places.split(part)) if len(part) > LONGEST else (part,))
        ]
    return [part[at : at + LONGEST] for part in parts for at in range(0, len(part), LONGEST)]


def _join_short(pieces: Sequence[str]) -> Iterator[str]:
    """Join blank pieces to the piece before, so that no line of the result is blank."""
    line = ""
    for piece in pieces:
        if line and piece.strip():
            yield line
            line = ""
        line += piece
    if line:
        yield line


def common_lines(old: Sequence[str], new: Sequence[str]) -> CommonLines:
    """Return the lines that two texts have in common, each line of a text at most once."""
    runs: list[LineRun] = []
    budget, is_coarse = _BUDGET, False
    windows = [(_Window(0, len(old), 0, len(new)), 0)]
    while windows:
        window, depth = windows.pop()
        window = _trim(old, new, window, runs)
        height, width = window.old_end - window.old, window.new_end - window.new
        if not height or not width:
            continue
        anchors = _anchors(old, new, window) if depth < _DEPTH else []
        if anchors:
            windows += [(inner, depth + 1) for inner in _between(window, anchors)]
        elif height * width <= min(_WINDOW, budget):
            budget -= height * width
            runs += _compare_window(old, new, window)
        else:
            is_coarse |= not set(old[window.old : window.old_end]).isdisjoint(
                new[window.new : window.new_end]
            )
    return CommonLines(_joined(sorted(runs)), is_coarse)


def _trim(old: Sequence[str], new: Sequence[str], window: _Window, runs: list[LineRun]) -> _Window:
    """Add the common lines at both ends of a window to the runs, and return the lines between."""
    start, old_end, new_start, new_end = window
    size = 0
    limit = min(old_end - start, new_end - new_start)
    while size < limit and old[start + size] == new[new_start + size]:
        size += 1
    if size:
        runs.append(LineRun(start, new_start, size))
    limit -= size
    tail = 0
    while tail < limit and old[old_end - tail - 1] == new[new_end - tail - 1]:
        tail += 1
    if tail:
        runs.append(LineRun(old_end - tail, new_end - tail, tail))
    return _Window(start + size, old_end - tail, new_start + size, new_end - tail)


def _anchors(old: Sequence[str], new: Sequence[str], window: _Window) -> list[tuple[int, int]]:
    """Return the lines that are once in both parts, in the longest order that both have."""
    before, after = old[window.old : window.old_end], new[window.new : window.new_end]
    counts, after_counts = Counter(before), Counter(after)
    places = {line: at for at, line in enumerate(after) if after_counts[line] == 1}
    pairs = [
        (window.old + at, window.new + places[line])
        for at, line in enumerate(before)
        if counts[line] == 1 and line in places
    ]
    return _longest_rising(pairs)


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest series of pairs whose second numbers rise; the first ones do."""
    tops: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for at, (_, place) in enumerate(pairs):
        pile = bisect_left(tops, place)
        previous.append(ends[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [place]
        ends[pile : pile + 1] = [at]
    series = []
    at = ends[-1] if ends else -1
    while at >= 0:
        series.append(pairs[at])
        at = previous[at]
    return series[::-1]


def _between(window: _Window, anchors: Sequence[tuple[int, int]]) -> Iterator[_Window]:
    """Yield the windows that begin at the anchors, and the one before the first."""
    old, new = window.old, window.new
    for old_at, new_at in anchors:
        yield _Window(old, old_at, new, new_at)
        old, new = old_at, new_at
    yield _Window(old, window.old_end, new, window.new_end)


def _compare_window(old: Sequence[str], new: Sequence[str], window: _Window) -> list[LineRun]:
    before, after = old[window.old : window.old_end], new[window.new : window.new_end]
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return [LineRun(window.old + a, window.new + b, size) for a, b, size in blocks if size]


def _joined(runs: Sequence[LineRun]) -> list[LineRun]:
    """Join runs that follow each other without a difference between them."""
    joined: list[LineRun] = []
    for run in runs:
        last = joined[-1] if joined else None
        if last and (last.old + last.size, last.new + last.size) == (run.old, run.new):
            joined[-1] = last._replace(size=last.size + run.size)
        else:
            joined.append(run)
    return joined
