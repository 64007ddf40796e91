"""The change-frequency page: how often the pages of a job change, and when to come again (pure).

It is what the National Library of China's paper calls 网站更新频率数据库, the database of change
frequencies.
"""

import math
from collections import Counter
from operator import mul

import msgspec

from nacre.core.fetchrow import FetchRow
from nacre.core.pagerow import PageRow
from nacre.history.worth.allocation import freshness
from nacre.history.worth.rates import RATES, interval_of, log_mean_rate
from nacre.history.worth.season import HOURS, hour_of_week
from nacre.job.studies.known import CHANGED, MISSING, NEW, Known, first_run
from nacre.job.studies.maturity import Maturity, maturity
from nacre.job.studies.model import Mixture, Model, is_living
from nacre.job.studies.trigger import Trigger, next_trigger
from nacre.report.forms import day

CURRENT = 0.95
"""Share of the copies that should be current, on average, at the recommended interval."""
_PLACED = 8 * 86_400.0
"""Visits further apart tell no hour, seconds: a week, and a day by which cron and queues drift."""
_NORMAL = 1.645
_PACES = (1 / 24, 0.25, 1.0, 2.0, 7.0, 14.0, 30.0, 90.0, 180.0, 365.0)
_LONGEST = 3_650.0
_HALVINGS = 50
_MOST_TEMPLATES = 200


class Day(msgspec.Struct):
    """What the visits of a day found: counts of visits."""

    day: str
    visits: int = 0
    new: int = 0
    changed: int = 0
    deleted: int = 0


class Pace(msgspec.Struct, frozen=True):
    """What visits at an even interval would bring.

    Attributes:
        days: The interval.
        current: Share of the copies that are current, on average.
        captured: Share of all versions that are captured.
        changed: Pages that have changed at each visit.
    """

    days: float
    current: float
    captured: float
    changed: float


class TemplatePace(msgspec.Struct, frozen=True):
    """How often the pages of a template change.

    Attributes:
        template: The template.
        pages: Living pages.
        visits: Their visits.
        changes: Changes seen at them.
        days: Days between two changes of a typical page.
        shortest: 90 % of its pages lie between this and `longest`, days.
        longest: See `shortest`.
    """

    template: str
    pages: int
    visits: int
    changes: int
    days: float
    shortest: float
    longest: float


class ChangeFrequency(msgspec.Struct):
    """The whole page.

    Attributes:
        pages: Living pages.
        days: Visits by day, UTC; the first run left out, in which everything was new.
        week: Changes and new pages by weekday and hour in which they came about, UTC.
        unplaced: Those whose visits lie more than eight days apart, too far to tell an hour.
        classes: Verdicts by class.
        rates: Expected number of pages at each rate of the grid.
        paces: What even visits would bring.
        recommended: Days between runs that keep 95 % of the copies current, on average.
        shortest: The 90 % credible interval of that is from here to `longest`, days.
        longest: See `shortest`.
        templates: By template, most pages first.
        trigger: When to run next, and why.
        maturity: Whether the job has seen enough for any of these intervals.
    """

    pages: int
    days: list[Day]
    week: list[list[float]]
    unplaced: int
    classes: dict[str, int]
    rates: list[float]
    paces: list[Pace]
    recommended: float
    shortest: float
    longest: float
    templates: list[TemplatePace]
    trigger: Trigger
    maturity: Maturity

    @property
    def doubt(self) -> str:
        """Why the recommended interval is none yet; "" when it is one."""
        return self.maturity.doubt_of(self.recommended)


def change_frequency(known: Known) -> ChangeFrequency:
    """Make the page."""
    model = Model(known)
    log = _Log(first_run(known.runs()))
    for visit in known.visits():
        log.add(visit)
    whole, templates = Mixture(), dict[str, _Class]()
    for row in filter(is_living, known.rows()):
        posterior = model.posterior(row)
        whole.add(posterior)
        templates.setdefault(row.template, _Class()).add(row, posterior)
    shortest, recommended, longest = (interval(whole, sign) for sign in (-1.0, 0.0, 1.0))
    seen = maturity(known)
    doubt = seen.doubt_of(recommended)
    return ChangeFrequency(
        pages=whole.count,
        days=list(log.days.values()),
        week=[log.hours[at : at + 24] for at in range(0, HOURS, 24)],
        unplaced=log.unplaced,
        classes=dict(log.classes.most_common()),
        rates=whole.pages,
        paces=[pace(whole, days) for days in _PACES] if whole.count else [],
        recommended=recommended,
        shortest=shortest,
        longest=longest,
        templates=_paces(templates),
        trigger=next_trigger(known, model, recommended, doubt),
        maturity=seen,
    )


class _Log:
    """What the fetch log tells, row by row."""

    def __init__(self, first: int) -> None:
        self.days: dict[str, Day] = {}
        self.hours = [0.0] * HOURS
        self.unplaced = 0
        self.classes: Counter[str] = Counter()
        self._first = first
        self._last: dict[str, float] = {}
        self._gone: set[str] = set()

    def add(self, visit: FetchRow) -> None:
        """Count a visit."""
        before = self._last.get(visit.url, 0.0)
        if visit.answer and visit.answer != "silent":
            self._last[visit.url] = visit.time
        deleted = visit.answer in MISSING and visit.url not in self._gone
        (self._gone.add if visit.answer in MISSING else self._gone.discard)(visit.url)
        if visit.run == self._first:
            return
        name = day(visit.time)
        found = self.days.setdefault(name, Day(name))
        found.visits += 1
        found.new += visit.kind == NEW and visit.answer == "there"
        found.changed += visit.kind in CHANGED
        found.deleted += deleted and before > 0.0
        if before and visit.answer == "there" and visit.kind != NEW:
            self.classes[visit.verdict] += 1
        if visit.kind in CHANGED:
            self._place(before, visit.time)

    def _place(self, start: float, end: float) -> None:
        """Share a change among the hours in which it may have come about."""
        if not start or end - start > _PLACED:
            self.unplaced += 1
            return
        first, count = hour_of_week(start), max(1, math.ceil((end - start) / 3600.0))
        for hour in range(first, first + count):
            self.hours[hour % HOURS] += 1.0 / count


class _Class:
    def __init__(self) -> None:
        self.mixture = Mixture()
        self.visits = self.changes = 0

    def add(self, row: PageRow, posterior: tuple[float, ...]) -> None:
        self.mixture.add(posterior)
        self.visits += row.visits
        self.changes += row.changes


def _paces(templates: dict[str, _Class]) -> list[TemplatePace]:
    most = sorted(templates.items(), key=lambda item: (-item[1].mixture.count, item[0]))
    return [_template_pace(name, one) for name, one in most[:_MOST_TEMPLATES]]


def _template_pace(name: str, one: _Class) -> TemplatePace:
    rates = one.mixture.distribution
    slow, fast = interval_of(rates)
    return TemplatePace(
        name,
        one.mixture.count,
        one.visits,
        one.changes,
        1.0 / log_mean_rate(rates),
        1.0 / fast,
        1.0 / slow,
    )


def pace(whole: Mixture, days: float) -> Pace:
    """What even visits of all pages would bring."""
    changes = caught = changed = 0.0
    for pages, rate in zip(whole.pages, RATES, strict=True):
        changes += pages * rate
        caught += pages * rate * freshness(rate, 1.0 / days)
        changed -= pages * math.expm1(-rate * days)
    return Pace(days, _current(whole, days)[0], caught / changes if changes else 1.0, changed)


def interval(whole: Mixture, sign: float) -> float:
    """Longest interval at which 95 % of the copies are current on average, days.

    Args:
        whole: The pages.
        sign: -1 or 1 for the ends of the 90 % credible interval; 0 for the middle.
    """
    low, high = 1.0 / 1440.0, _LONGEST
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        mean, spread = _current(whole, middle)
        enough = mean + sign * _NORMAL * spread >= CURRENT
        low, high = (middle, high) if enough else (low, middle)
    return low


def _current(whole: Mixture, days: float) -> tuple[float, float]:
    """Share of the copies that are current at an interval, and its standard deviation at most."""
    shares = [freshness(rate, 1.0 / days) for rate in RATES]
    count = max(1, whole.count)
    mean = sum(map(mul, whole.pages, shares)) / count
    square = sum(map(mul, whole.pages, (part * part for part in shares))) / count
    return mean, math.sqrt(max(0.0, square - mean * mean) / count)
