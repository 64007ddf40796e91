"""Is a link new by its looks? Three rules, chosen for each template from data (pure).

T: the URL carries a date; S: it carries a rising number; K: neither, only the set of known URLs
tells. T and S find what is missing and speed things up; the exact set always has the last word.
The rules are those of the National Library of China's paper (`simweb.paper.published`).
"""

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise

import msgspec

from nacre.history.finding.urlshape import Token, date_of

_SAMPLES = 400
_ENOUGH = 12
_DISTINCT = 4
_DATES = 0.8
_NUMBERS = 0.9
_LATE = 0.99
_LATEST = 366 * 86_400.0
"""What comes later than that, s, is hardly a date of publication: ten digits may be any number."""
_COUNTING = frozenset(("int", "unix", "unixms"))
_MAX_NUMBER = 2**53
_GAPS = 20


class LinkRule(StrEnum):
    """How new links of a template are told."""

    TIMESTAMP = "T"
    SEQUENCE = "S"
    KEY = "K"


class Seen(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One URL of a template: when it was first seen, s; the date it names; its numbers."""

    first_seen: float
    date: float | None
    numbers: tuple[int, ...]


class LinkHistory(msgspec.Struct, array_like=True):
    """What a template's URLs have shown; kept in the store.

    Attributes:
        samples: The latest, at most 400.
        highest: Highest number seen at each placeholder.
        count: URLs seen in all.
    """

    samples: list[Seen] = []
    highest: list[int] = []
    count: int = 0

    def add(self, tokens: tuple[Token, ...], first_seen: float) -> None:
        """Learn a URL that appeared at `first_seen` (seconds since the epoch)."""
        numbers = numbers_of(tokens)
        self.count += 1
        self.samples.append(Seen(first_seen, date_of(tokens), numbers))
        if len(self.samples) > _SAMPLES:
            del self.samples[: _SAMPLES // 4]
        if len(self.highest) != len(numbers):
            self.highest = list(numbers)
        else:
            self.highest = [max(pair) for pair in zip(self.highest, numbers, strict=True)]

    @property
    def speaks(self) -> bool:
        """Whether it has seen enough for a rule of its own; else a wider template's is better."""
        return len(self.samples) >= _ENOUGH

    def choice(self) -> "Choice":
        """The rule that the data speak for, with its parameters."""
        times = [one.first_seen for one in self.samples]
        if len(times) < _ENOUGH or len(set(times)) < _DISTINCT:
            return Choice(LinkRule.KEY)
        dated = self._dates(times)
        if dated is not None and abs(dated.slack) <= _LATEST:
            return dated
        counted = self._sequence(times)
        return counted if counted.rule is not LinkRule.KEY or dated is None else dated

    def _dates(self, times: Sequence[float]) -> "Choice | None":
        known = [one.date for one in self.samples if one.date is not None]
        if len(known) < len(times) or spearman(known, times) < _DATES:
            return None
        late = sorted(seen - date for seen, date in zip(times, known, strict=True))
        return Choice(LinkRule.TIMESTAMP, slack=late[int(_LATE * (len(late) - 1))])

    def _sequence(self, times: Sequence[float]) -> "Choice":
        best = Choice(LinkRule.KEY)
        strongest = _NUMBERS
        for at, highest in enumerate(self.highest):
            column = [one.numbers[at] for one in self.samples if at < len(one.numbers)]
            if len(column) != len(times):
                continue
            strength = spearman(column, times)
            if strength >= strongest:
                strongest = strength
                best = Choice(LinkRule.SEQUENCE, at=at, highest=highest, slack=_step_back(column))
        return best


class Choice(msgspec.Struct, frozen=True, array_like=True):
    """A rule and its parameters.

    Attributes:
        rule: Which.
        slack: T: seconds by which a URL may come later than its date; S: how far a new number may
            lie below the highest.
        at: S: which of the numbers.
        highest: S: the highest so far.
    """

    rule: LinkRule
    slack: float = 0.0
    at: int = 0
    highest: int = 0

    def looks_new(self, tokens: tuple[Token, ...], watermark: float) -> bool | None:
        """Whether a URL is new by its looks; None when the rule cannot tell.

        Args:
            tokens: Of the URL.
            watermark: When its index page was fetched before, seconds since the epoch.
        """
        if self.rule is LinkRule.TIMESTAMP:
            date = date_of(tokens)
            return None if date is None else date >= watermark - self.slack
        if self.rule is LinkRule.SEQUENCE:
            numbers = numbers_of(tokens)
            return numbers[self.at] > self.highest - self.slack if self.at < len(numbers) else None
        return None


class Coverage(msgspec.Struct, frozen=True):
    """How much of a sequence was seen: an estimate of what was missed.

    Attributes:
        first: Lowest number.
        last: Highest number.
        seen: Distinct numbers seen.
        gaps: The 20 longest runs of numbers never seen, (from, to), longest first.
    """

    first: int
    last: int
    seen: int
    gaps: tuple[tuple[int, int], ...]

    @property
    def share(self) -> float:
        """Seen numbers of all between first and last."""
        return self.seen / (self.last - self.first + 1)


def coverage(numbers: Sequence[int]) -> Coverage | None:
    """Coverage of a template's sequence, with its widest gaps; None without any number."""
    known = sorted(set(numbers))
    if not known:
        return None
    gaps = [(below + 1, above - 1) for below, above in pairwise(known) if above - below > 1]
    gaps.sort(key=lambda gap: gap[0] - gap[1])
    return Coverage(known[0], known[-1], len(known), tuple(gaps[:_GAPS]))


def spearman(one: Sequence[float], two: Sequence[float]) -> float:
    """Rank correlation, -1 to 1; ties share their rank; 0 when one side is constant."""
    left, right = _ranks(one), _ranks(two)
    middle = (len(left) - 1) / 2.0
    pairs = list(zip(left, right, strict=True))
    both = sum((a - middle) * (b - middle) for a, b in pairs)
    spread_left = sum((a - middle) ** 2 for a, _ in pairs)
    spread_right = sum((b - middle) ** 2 for _, b in pairs)
    if not spread_left or not spread_right:
        return 0.0
    return float(both / (spread_left * spread_right) ** 0.5)


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for index in order[at : end + 1]:
            ranks[index] = (at + end) / 2.0
        at = end + 1
    return ranks


def _step_back(column: Sequence[int]) -> float:
    """How far numbers fell behind the highest before them, but for one in a hundred."""
    highest, behind = column[0], []
    for number in column:
        behind.append(max(0, highest - number))
        highest = max(highest, number)
    return float(sorted(behind)[int(_LATE * (len(behind) - 1))])


def numbers_of(tokens: tuple[Token, ...]) -> tuple[int, ...]:
    """The numbers of a URL that may count upwards, in their order."""
    return tuple(
        min(int(token.text[:18]), _MAX_NUMBER) for token in tokens if token.kind in _COUNTING
    )
