"""Numbers that nobody ever saw, in the URLs of a template that counts upwards (pure).

Their pages were deleted, never published, or missed: a few may be asked for, if that is wanted. How
often such a guess led to a page is learned for each kind of URL, and guesses that lead nowhere end.
Off by default (`recrawl.gap_probes`).
"""

import re
from collections.abc import Callable, Iterator, MutableMapping
from itertools import chain, pairwise, zip_longest
from typing import NamedTuple

import msgspec

from nacre.core.pagerow import PageKind, PageRow
from nacre.history.finding.linkrules import Choice, LinkRule
from nacre.history.finding.urlshape import Shaped, shaped
from nacre.history.slices import ROWS, Slices
from nacre.history.visited import Rows
from nacre.uri.parse import origin

_LATEST = 200
"""How many of the highest numbers of a sequence are looked at."""
_LONGEST = 20
"""A longer gap is no accident: its numbers were given to something else."""
_SEQUENCES = 1_000
_TRIED = 500
_ENOUGH = 20
_LEAST = 0.05
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")


class GapRow(msgspec.Struct, array_like=True):
    """What guesses at one kind of URLs have come to; kept in the store.

    Attributes:
        asked: Guesses that were answered.
        found: Those that led to a page.
        tried: Numbers that were asked for, the latest at the end.
    """

    asked: int = 0
    found: int = 0
    tried: list[int] = []

    @property
    def hopeful(self) -> bool:
        """Whether guesses lead to a page often enough, or were not tried enough."""
        return self.asked < _ENOUGH or self.found >= _LEAST * self.asked

    def answered(self, *, there: bool) -> None:
        """Count the answer to a guess."""
        self.asked += 1
        self.found += there


class Guess(NamedTuple):
    """A URL with a number that was never seen.

    Attributes:
        url: It.
        name: Of its sequence: the URL with a star in the place of the number.
        number: The number.
    """

    url: str
    name: str
    number: int


class _Place(NamedTuple):
    """Where the number of a URL stands."""

    before: str
    after: str
    digits: int
    """Digits of a number that is filled up with zeros; 0 for none that is."""

    @property
    def name(self) -> str:
        return f"{self.before}*{self.after}"

    def url(self, number: int) -> str:
        return f"{self.before}{number:0{self.digits}d}{self.after}"


def guesses(
    rows: Rows,
    rule: Callable[[str, Shaped], Choice],
    known: MutableMapping[str, GapRow],
    most: int,
) -> Slices[list[Guess]]:
    """URLs that lie in short gaps, the highest numbers first, all sequences by turns.

    Args:
        rows: All that is known of the pages.
        rule: The link rule of a URL.
        known: What guesses have come to, by name of their sequence; what is guessed is noted.
        most: So many.
    """
    seen: dict[_Place, set[int]] = {}
    for at, row in enumerate(rows.scan()):
        if not at % ROWS:
            yield
        found = _number_in(row, rule) if row.kind is PageKind.PAGE and row.visits else None
        if found is not None and (found[0] in seen or len(seen) < _SEQUENCES):
            seen.setdefault(found[0], set()).add(found[1])
    turns = zip_longest(*(_missing(place, numbers, known) for place, numbers in seen.items()))
    chosen: list[Guess] = []
    for guess in chain.from_iterable(turns):
        if len(chosen) >= most:
            break
        if guess is not None and rows.get(guess.url) is None:
            chosen.append(guess)
            tried = known.setdefault(guess.name, GapRow()).tried
            tried.append(guess.number)
            del tried[:-_TRIED]
    return chosen


def _missing(
    place: _Place, numbers: set[int], known: MutableMapping[str, GapRow]
) -> Iterator[Guess]:
    row = known.get(place.name) or GapRow()
    tried = set(row.tried)
    highest = sorted(numbers, reverse=True)[:_LATEST] if row.hopeful else []
    for above, below in pairwise(highest):
        if above - below <= _LONGEST:
            for number in range(above - 1, below, -1):
                if number not in tried:
                    yield Guess(place.url(number), place.name, number)


def _number_in(row: PageRow, rule: Callable[[str, Shaped], Choice]) -> tuple[_Place, int] | None:
    """The number that rises in a URL, and where it stands; None where that is not certain."""
    one = shaped(row.url)
    choice = rule(row.url, one)
    if choice.rule is not LinkRule.SEQUENCE:
        return None
    texts = [token.text for token in one.tokens if token.kind in {"int", "unix", "unixms"}]
    text = texts[choice.at] if choice.at < len(texts) else ""
    start = len(origin(row.url))
    # Digits of escapes are letters.
    plain = _ESCAPE.sub("%--", row.url)
    at = plain.find(text, start) if text else -1
    if at < 0 or plain.find(text, at + 1) >= 0 or len(text) > 18:
        return None
    before, after = row.url[:at], row.url[at + len(text) :]
    return _Place(before, after, len(text) if text.startswith("0") else 0), int(text)
