"""The lines of a page that are its content, and those that its site repeats.

Which they are is judged by the reader's own extract of the content (resiliparse). That extract
lacks elements within lines, such as a first letter in large type, and joins lines whose neighbour
it dropped; so its lines only point to those of the whole text, which are taken as they are.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence

_GAP = 40
"""Characters of lines between two lines of content that are content, too: short lists, formulas.
A guess."""
_AHEAD = 8
"""Extracted lines that a line is compared with."""
_SEARCHED = 2_000
"""Lines that are compared character by character with an extracted line, at most."""


def split_text(whole: str, extract: str) -> tuple[str, str]:
    """Split a text into content and the rest.

    Args:
        whole: The text of the page.
        extract: The extract of its content: its lines in order, parts of them missing.

    Returns:
        The lines of the content, with the empty ones between them, and the others.
    """
    if whole == extract:
        return whole, ""
    lines = whole.splitlines()
    plain = [line.strip() for line in lines]
    chosen = _covered_lines(plain, list(filter(None, map(str.strip, extract.splitlines()))))
    if not any(chosen):
        return extract, whole
    _fill_gaps(plain, chosen)
    content, left_out, after = [], [], False
    for line, text, is_content in zip(lines, plain, chosen, strict=True):
        if is_content or (not text and after):
            content.append(line.rstrip())
            after = is_content
        elif text:
            left_out.append(text)
            after = False
    return "\n".join(content).strip("\n"), "\n".join(left_out)


def _covered_lines(plain: Sequence[str], extract: Sequence[str]) -> list[bool]:
    """Return which lines an extract covers: equal lines first, similar lines between them."""
    chosen = [False] * len(plain)
    begin = begin_found = 0
    for at, at_found in (*_anchors(plain, extract), (len(plain), len(extract))):
        _choose_equal(plain, chosen, extract[begin_found:at_found], begin, at)
        if at < len(plain):
            chosen[at] = True
        begin, begin_found = at + 1, at_found + 1
    return chosen


def _anchors(plain: Sequence[str], extract: Sequence[str]) -> list[tuple[int, int]]:
    """Places of lines that both have once, in the order of both."""
    counts, counts_found = Counter(plain), Counter(extract)
    places = {text: at for at, text in enumerate(plain) if counts[text] == 1}
    pairs = [
        (places[text], at)
        for at, text in enumerate(extract)
        if counts_found[text] == 1 and text in places
    ]
    return _longest_rising(pairs)


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of a sequence whose first numbers rise."""
    ends: list[int] = []
    last: list[int] = []  # number of the pair at each end
    before: list[int] = []
    for number, (at, _) in enumerate(pairs):
        size = bisect_left(ends, at)
        before.append(last[size - 1] if size else -1)
        ends[size : size + 1] = [at]
        last[size : size + 1] = [number]
    rising: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        rising.append(pairs[number])
        number = before[number]
    return rising[::-1]


def _choose_equal(
    plain: Sequence[str], chosen: list[bool], extract: Sequence[str], begin: int, end: int
) -> None:
    """Choose lines of a range that equal extracted lines, in order, and similar lines between."""
    places: dict[str, list[int]] = defaultdict(list)
    for number in range(begin, end if extract else begin):
        places[plain[number]].append(number)
    pending: list[str] = []
    for text in extract:
        numbers = places.get(text, [])
        at = bisect_left(numbers, begin)
        if at == len(numbers):
            pending.append(text)
            continue
        _choose_similar(plain, chosen, pending, begin, numbers[at])
        chosen[numbers[at]] = True
        begin, pending = numbers[at] + 1, []
    _choose_similar(plain, chosen, pending, begin, end)


def _choose_similar(
    plain: Sequence[str], chosen: list[bool], pending: Sequence[str], begin: int, end: int
) -> None:
    """Choose the lines of a range that have half of their characters in extracted lines."""
    lines = ["".join(text.split()) for text in pending]
    for number in range(begin, min(end, begin + _SEARCHED)):
        if not lines:
            return
        text = "".join(plain[number].split())
        for at, line in enumerate(lines[:_AHEAD]) if text else ():
            size = _count_shared(text, line)
            if 2 * size >= len(text) or (size == len(line) and line in text):
                chosen[number] = True
                lines = [line[size:], *lines[at + 1 :]] if size < len(line) else lines[at + 1 :]
                break


def _count_shared(text: str, line: str) -> int:
    """How many of the first characters of an extract a text has, in order."""
    at = 0
    for char in text:
        if at < len(line) and char == line[at]:
            at += 1
    return at


def _fill_gaps(plain: Sequence[str], chosen: list[bool]) -> None:
    """Choose the few characters between two lines that are chosen."""
    last = -1
    for number, is_chosen in enumerate(chosen):
        if not is_chosen:
            continue
        if last >= 0 and 0 < sum(map(len, plain[last + 1 : number])) <= _GAP:
            for between in range(last + 1, number):
                chosen[between] = bool(plain[between])
        last = number
