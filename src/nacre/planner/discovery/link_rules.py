"""Link rules: whether a link is new, judged by its URL (pure).

Three rules, chosen for each template from data. T: the URL carries a date; S: it carries a rising
number; K: neither. T and S find missed URLs and make discovery faster; the set of known URLs
decides. The rules are those of the National Library of China's paper
(`nacre_simweb.paper.published`).

`LinkWatch` applies them: templates of a site that differ only in their plain words share a row, and
a link that its rule takes for old and that is not known is fetched and marked `late`.
"""

from collections.abc import MutableMapping, Sequence
from enum import StrEnum
from itertools import pairwise

import msgspec

from nacre.core.urlshape import Token, date_of, shaped
from nacre.planner.change_rate.rates import layout
from nacre.planner.tuning import guess
from nacre.uri.parse import authority

_SAMPLES = 400
"""A bound of memory: URLs of a template that are remembered."""
_ENOUGH = guess(
    "link_rules.enough", 12, "Number of URLs that a template must have for its own link rule."
)
_DISTINCT = guess(
    "link_rules.distinct", 4, "Number of different times at which these URLs must have appeared."
)
_DATES = guess(
    "link_rules.dates",
    0.8,
    "Rank correlation of date and time of appearance that rule T requires.",
    most=1.0,
)
_NUMBERS = guess(
    "link_rules.numbers",
    0.9,
    "Rank correlation of number and time of appearance that rule S requires.",
    most=1.0,
)
_LATE = 0.99
"""Quantile of the lateness of links that the slack of a rule covers: 99 of 100 links."""
_LATEST = 366 * 86_400.0
"""Largest lateness of a date of publication, s: a number of ten digits may be no date at all.
A guess that no world reaches."""
_COUNTING = frozenset(("int", "unix", "unixms"))
_MAX_NUMBER = 2**53
"""The largest number that a float holds exactly."""
_GAPS = 20
"""Gaps that a report shows."""


class LinkRule(StrEnum):
    """A rule by which new links of a template are recognized."""

    TIMESTAMP = "T"
    SEQUENCE = "S"
    KEY = "K"


class SeenUrl(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A URL of a template: time when it was first seen, s; the date in it; its numbers."""

    first_seen: float
    date: float | None
    numbers: tuple[int, ...]


class LinkHistory(msgspec.Struct, array_like=True):
    """The history of a template's URLs; kept in the store.

    Attributes:
        samples: The latest, at most 400.
        highest: Highest number seen at each placeholder.
        count: URLs seen in all.
    """

    samples: list[SeenUrl] = []
    highest: list[int] = []
    count: int = 0

    def add(self, tokens: tuple[Token, ...], first_seen: float) -> None:
        """Learn a URL that appeared at `first_seen` (seconds since the epoch)."""
        numbers = numbers_of(tokens)
        self.count += 1
        self.samples.append(SeenUrl(first_seen, date_of(tokens), numbers))
        if len(self.samples) > _SAMPLES:
            del self.samples[: _SAMPLES // 4]
        if len(self.highest) != len(numbers):
            self.highest = list(numbers)
        else:
            self.highest = [max(pair) for pair in zip(self.highest, numbers, strict=True)]

    @property
    def speaks(self) -> bool:
        """Whether it has enough URLs for its own rule; else a wider template has a better rule."""
        return len(self.samples) >= _ENOUGH

    def choice(self) -> "RuleChoice":
        """Return the rule that fits the data best, with its parameters."""
        times = [sample.first_seen for sample in self.samples]
        if len(times) < _ENOUGH or len(set(times)) < _DISTINCT:
            return RuleChoice(LinkRule.KEY)
        dated = self._dates(times)
        if dated is not None and abs(dated.slack) <= _LATEST:
            return dated
        counted = self._sequence(times)
        return counted if counted.rule is not LinkRule.KEY or dated is None else dated

    def _dates(self, times: Sequence[float]) -> "RuleChoice | None":
        dates = [sample.date for sample in self.samples if sample.date is not None]
        if len(dates) < len(times) or spearman(dates, times) < _DATES:
            return None
        late = sorted(visited - date for visited, date in zip(times, dates, strict=True))
        return RuleChoice(LinkRule.TIMESTAMP, slack=late[int(_LATE * (len(late) - 1))])

    def _sequence(self, times: Sequence[float]) -> "RuleChoice":
        best = RuleChoice(LinkRule.KEY)
        strongest = _NUMBERS
        for at, highest in enumerate(self.highest):
            column = [sample.numbers[at] for sample in self.samples if at < len(sample.numbers)]
            if len(column) != len(times):
                continue
            strength = spearman(column, times)
            if strength >= strongest:
                strongest = strength
                best = RuleChoice(
                    LinkRule.SEQUENCE, at=at, highest=highest, slack=_step_back(column)
                )
        return best


class RuleChoice(msgspec.Struct, frozen=True, array_like=True):
    """A rule and its parameters.

    Attributes:
        rule: The kind of the rule.
        slack: T: seconds by which a URL may appear later than its date; S: how much lower
            than the highest a new number may be.
        at: S: index of the number in the URL.
        highest: S: the highest so far.
    """

    rule: LinkRule
    slack: float = 0.0
    at: int = 0
    highest: int = 0

    def looks_new(self, tokens: tuple[Token, ...], watermark: float) -> bool | None:
        """Whether a URL looks new; None when the rule cannot decide.

        Args:
            tokens: Tokens of the URL.
            watermark: Previous fetch of its index page, seconds since the epoch.
        """
        if self.rule is LinkRule.TIMESTAMP:
            date = date_of(tokens)
            return None if date is None else date >= watermark - self.slack
        if self.rule is LinkRule.SEQUENCE:
            numbers = numbers_of(tokens)
            return numbers[self.at] > self.highest - self.slack if self.at < len(numbers) else None
        return None


class Coverage(msgspec.Struct, frozen=True):
    """The observed share of a sequence, which estimates the number of missed URLs.

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
    ordered = sorted(set(numbers))
    if not ordered:
        return None
    gaps = [(below + 1, above - 1) for below, above in pairwise(ordered) if above - below > 1]
    gaps.sort(key=lambda gap: gap[0] - gap[1])
    return Coverage(ordered[0], ordered[-1], len(ordered), tuple(gaps[:_GAPS]))


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Rank correlation, -1 to 1; ties share their rank; 0 when one side is constant."""
    first_ranks, second_ranks = _ranks(first), _ranks(second)
    middle = (len(first_ranks) - 1) / 2.0
    pairs = list(zip(first_ranks, second_ranks, strict=True))
    covariance = sum((a - middle) * (b - middle) for a, b in pairs)
    spread_left = sum((a - middle) ** 2 for a, _ in pairs)
    spread_right = sum((b - middle) ** 2 for _, b in pairs)
    if not spread_left or not spread_right:
        return 0.0
    return float(covariance / (spread_left * spread_right) ** 0.5)


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
    """Return how much lower numbers were than the highest earlier one, in 99 of 100 cases."""
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


LATE = "late"
"""Reason of a visit: a new page that its rule did not recognize as new."""


class RuleRow(msgspec.Struct, array_like=True):
    """The link histories of some templates; kept in the store.

    Attributes:
        history: Their dates and numbers.
        foreseen: New links that the rule recognized as new.
        late: New links that it did not recognize: the rule alone would have missed them.
    """

    history: LinkHistory = msgspec.field(default_factory=LinkHistory)
    foreseen: int = 0
    late: int = 0

    @property
    def share(self) -> float | None:
        """Share of the new links that the rule found; None if it judged none."""
        judged = self.foreseen + self.late
        return self.foreseen / judged if judged else None


class LinkWatch:
    """Watches new links by their rules.

    Args:
        rows: By `rule_name`; None for a dictionary.
    """

    def __init__(self, rows: MutableMapping[str, RuleRow] | None = None) -> None:
        self._rows = {} if rows is None else rows
        self._choices: dict[str, RuleChoice] = {}

    def begin_step(self) -> None:
        """Begin a step: its rules are chosen once, from the knowledge of earlier steps."""
        self._choices.clear()

    def meet(self, url: str, now: float, watermark: float) -> bool | None:
        """Whether the rule of an unknown link regards it as new; None if it cannot decide.

        Args:
            url: The target URL.
            now: Time when it was found, seconds since the epoch.
            watermark: Previous visit of the list that shows it; 0 for never.
        """
        shape = shaped(url)
        name = rule_name(url, shape.name)
        row = self._rows.get(name)
        if row is None:
            row = self._rows[name] = RuleRow()
        is_new: bool | None = None
        if watermark:
            choice = self._choice(name, row)
            is_new = choice.looks_new(shape.tokens, watermark)
            if choice.rule is not LinkRule.KEY:
                row.foreseen += is_new is True
                row.late += is_new is False
        row.history.add(shape.tokens, now)
        return is_new

    def _choice(self, name: str, row: RuleRow) -> RuleChoice:
        choice = self._choices.get(name)
        if choice is None:
            choice = self._choices[name] = row.history.choice()
        return choice


def rule_name(url: str, template: str) -> str:
    """Return site and layout of a URL; URLs with the same ones share a rule."""
    return f"{authority(url)} {layout(template)}"
