"""Link rules: whether a link is new by its looks, and which numbers were never seen (pure).

Three rules, chosen for each template from data. T: the URL carries a date; S: it carries a rising
number; K: neither. T and S find what is missing and make discovery faster; the set of known URLs
decides. The rules are those of the National Library of China's paper
(`nacre_simweb.paper.published`).

`LinkWatch` applies them: templates of a site that differ only in their plain words share a row, and
a link that its rule takes for old and that is not known is fetched and marked `late`.

`guesses` makes URLs with numbers that were never seen (`recrawl.gap_probes`, off by default): their
pages were deleted, never published, or missed. Guesses that lead nowhere end.
"""

import re
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from enum import StrEnum
from itertools import chain, pairwise, zip_longest
from typing import NamedTuple

import msgspec

from nacre.core.pagerow import PageKind, PageRow
from nacre.core.urlshape import Shaped, Token, date_of, shaped
from nacre.recrawl.planner.change_rate.rates import layout
from nacre.recrawl.planner.slices import ROWS, Slices
from nacre.recrawl.planner.tuning import guess
from nacre.recrawl.planner.visited import Rows
from nacre.uri.parse import authority, origin

_SAMPLES = 400
"""A bound of memory: URLs of a template that are remembered."""
_ENOUGH = guess(
    "link_rules.enough", 12, "Number of URLs that a template must have for a link rule of its own."
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
"""Quantile of the lateness of links that the slack of a rule covers: all but one in a hundred."""
_LATEST = 366 * 86_400.0
"""What comes later than that, s, is hardly a date of publication: ten digits may be any number.
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
    """One URL of a template: when it was first seen, s; the date it names; its numbers."""

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
        """Whether it has seen enough for a rule of its own; else a wider template's is better."""
        return len(self.samples) >= _ENOUGH

    def choice(self) -> "RuleChoice":
        """The rule that fits the data best, with its parameters."""
        times = [one.first_seen for one in self.samples]
        if len(times) < _ENOUGH or len(set(times)) < _DISTINCT:
            return RuleChoice(LinkRule.KEY)
        dated = self._dates(times)
        if dated is not None and abs(dated.slack) <= _LATEST:
            return dated
        counted = self._sequence(times)
        return counted if counted.rule is not LinkRule.KEY or dated is None else dated

    def _dates(self, times: Sequence[float]) -> "RuleChoice | None":
        known = [one.date for one in self.samples if one.date is not None]
        if len(known) < len(times) or spearman(known, times) < _DATES:
            return None
        late = sorted(seen - date for seen, date in zip(times, known, strict=True))
        return RuleChoice(LinkRule.TIMESTAMP, slack=late[int(_LATE * (len(late) - 1))])

    def _sequence(self, times: Sequence[float]) -> "RuleChoice":
        best = RuleChoice(LinkRule.KEY)
        strongest = _NUMBERS
        for at, highest in enumerate(self.highest):
            column = [one.numbers[at] for one in self.samples if at < len(one.numbers)]
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
        """Whether a URL looks new; None when the rule cannot decide.

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
    """The share of a sequence that was seen: an estimate of what was missed.

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


LATE = "late"
"""Reason of a visit: a new page that its rule would not have taken for new."""


class RuleRow(msgspec.Struct, array_like=True):
    """The link histories of some templates; kept in the store.

    Attributes:
        history: Their dates and numbers.
        foreseen: New links that the rule took for new.
        late: New links that it did not: the rule alone would have missed them.
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
        """Begin a step: rules are chosen once for it, from what was known before."""
        self._choices.clear()

    def meet(self, url: str, now: float, watermark: float) -> bool | None:
        """Whether the rule of an unknown link takes it for new; None if it cannot decide.

        Args:
            url: The target URL.
            now: When it was met, seconds since the epoch.
            watermark: When the list that shows it was visited before; 0 for never.
        """
        one = shaped(url)
        name = rule_name(url, one.name)
        row = self._rows.get(name)
        if row is None:
            row = self._rows[name] = RuleRow()
        is_new: bool | None = None
        if watermark:
            choice = self._choice(name, row)
            is_new = choice.looks_new(one.tokens, watermark)
            if choice.rule is not LinkRule.KEY:
                row.foreseen += is_new is True
                row.late += is_new is False
        row.history.add(one.tokens, now)
        return is_new

    def choice(self, url: str, one: Shaped) -> RuleChoice:
        """The rule of a URL, as it was known when the step began."""
        name = rule_name(url, one.name)
        row = self._rows.get(name)
        return RuleChoice(LinkRule.KEY) if row is None else self._choice(name, row)

    def _choice(self, name: str, row: RuleRow) -> RuleChoice:
        found = self._choices.get(name)
        if found is None:
            found = self._choices[name] = row.history.choice()
        return found


def rule_name(url: str, template: str) -> str:
    """Site and layout of a URL: what shares a rule."""
    return f"{authority(url)} {layout(template)}"


_HIGHEST = 200
"""How many of the highest numbers of a sequence are looked at: a bound of work
(`recrawl.gap_probes`)."""
_LONGEST = 20
"""A longer gap is not an accident: its numbers were given to something else. A guess that no world
reaches, since `recrawl.gap_probes` is off by default; so are the next ones."""
_SEQUENCES = 1_000
"""A bound of memory: sequences that are looked at."""
_TRIED = 500
"""A bound of memory: numbers of a sequence that were asked for."""
_ANSWERED = 20
"""Guesses that must be answered before a sequence can be given up: at the share below one of
them would have been right."""
_LEAST = 0.05
"""Share of guesses that must lead to a page; else the sequence is given up."""
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")


class GapRow(msgspec.Struct, array_like=True):
    """Results of guesses at one kind of URLs; kept in the store.

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
        return self.asked < _ANSWERED or self.found >= _LEAST * self.asked

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
    """The place of the number in a URL."""

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
    rule: Callable[[str, Shaped], RuleChoice],
    known: MutableMapping[str, GapRow],
    most: int,
) -> Slices[list[Guess]]:
    """URLs that lie in short gaps, the highest numbers first, all sequences alternately.

    Args:
        rows: All that is known of the pages.
        rule: The link rule of a URL.
        known: Results of guesses, by name of their sequence; new guesses are noted in it.
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
    for one in chain.from_iterable(turns):
        if len(chosen) >= most:
            break
        if one is not None and rows.get(one.url) is None:
            chosen.append(one)
            tried = known.setdefault(one.name, GapRow()).tried
            tried.append(one.number)
            del tried[:-_TRIED]
    return chosen


def _missing(
    place: _Place, numbers: set[int], known: MutableMapping[str, GapRow]
) -> Iterator[Guess]:
    row = known.get(place.name) or GapRow()
    tried = set(row.tried)
    highest = sorted(numbers, reverse=True)[:_HIGHEST] if row.hopeful else []
    for above, below in pairwise(highest):
        if above - below <= _LONGEST:
            for number in range(above - 1, below, -1):
                if number not in tried:
                    yield Guess(place.url(number), place.name, number)


def _number_in(
    row: PageRow, rule: Callable[[str, Shaped], RuleChoice]
) -> tuple[_Place, int] | None:
    """The increasing number in a URL, and its place; None if that is not certain."""
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
