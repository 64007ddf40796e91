"""The change-frequency page: how often the pages of a job change, and when to come again (pure).

It is what the National Library of China's paper calls 网站更新频率数据库, the database of change
frequencies.

The change-frequency page, for people (pure).
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from operator import itemgetter, mul

import msgspec

from nacre.core.history import FetchRow
from nacre.core.pagerow import PageRow
from nacre.inspect.analysis.analysis import Analysis, credible_text
from nacre.inspect.analysis.rate_model import (
    DataBasis,
    NextRun,
    RateMixture,
    RateModel,
    data_basis,
    is_living,
    next_run,
)
from nacre.inspect.analysis.recrawl_data import CHANGED, MISSING, NEW, RecrawlData, first_run
from nacre.inspect.reports.base import Audience, ReportRequest
from nacre.messages import message
from nacre.planner.change_rate.rates import RATES, interval_of, log_mean_rate
from nacre.planner.change_rate.value import freshness
from nacre.report.document import (
    Bars,
    Column,
    DataTable,
    Format,
    HeatMap,
    ReportDocument,
    Section,
    Series,
)
from nacre.report.formatting import day, moment, span

_HOURS = 168
"""Hours of a week."""
_MONDAY = 4 * 86_400.0
"""The first Monday, seconds: the epoch began on a Thursday."""
CURRENT = 0.95
"""Share of the copies that should be current, on average, at the recommended interval."""
_PLACED = 8 * 86_400.0
"""Visits further apart tell no hour, seconds: a week, and a day by which cron and queues drift."""
_NORMAL = 1.645
_PACES = (1 / 24, 0.25, 1.0, 2.0, 7.0, 14.0, 30.0, 90.0, 180.0, 365.0)
_LONGEST = 3_650.0
_HALVINGS = 50
_MOST_TEMPLATES = 200


def hour_of_week(time: float) -> int:
    """Hour from Monday 0 h UTC, 0 to 167, of a time in seconds since the epoch."""
    return int((time - _MONDAY) // 3600.0) % _HOURS


class DayCounts(msgspec.Struct):
    """Counts of the visits of a day, by their results."""

    day: str
    visits: int = 0
    new: int = 0
    changed: int = 0
    deleted: int = 0


class EvenInterval(msgspec.Struct, frozen=True):
    """The forecast for visits at an even interval.

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


class TemplateFrequency(msgspec.Struct, frozen=True):
    """The change frequency of the pages of a template.

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
    days: list[DayCounts]
    week: list[list[float]]
    unplaced: int
    classes: dict[str, int]
    rates: list[float]
    paces: list[EvenInterval]
    recommended: float
    shortest: float
    longest: float
    templates: list[TemplateFrequency]
    trigger: NextRun
    maturity: DataBasis

    @property
    def doubt(self) -> str:
        """The reason why there is no recommended interval yet; "" when there is one."""
        return self.maturity.doubt_of(self.recommended)


def change_frequency(data: RecrawlData) -> ChangeFrequency:
    """Make the page."""
    model = RateModel(data)
    log = _Log(first_run(data.runs()))
    for visit in data.visits():
        log.add(visit)
    whole, templates = RateMixture(), dict[str, _Class]()
    for row in filter(is_living, data.rows()):
        posterior = model.posterior(row)
        whole.add(posterior)
        templates.setdefault(row.template, _Class()).add(row, posterior)
    shortest, recommended, longest = (interval(whole, sign) for sign in (-1.0, 0.0, 1.0))
    maturity = data_basis(data)
    doubt = maturity.doubt_of(recommended)
    return ChangeFrequency(
        pages=whole.count,
        days=list(log.days.values()),
        week=[log.hours[at : at + 24] for at in range(0, _HOURS, 24)],
        unplaced=log.unplaced,
        classes=dict(log.classes.most_common()),
        rates=whole.pages,
        paces=[even_interval(whole, days) for days in _PACES] if whole.count else [],
        recommended=recommended,
        shortest=shortest,
        longest=longest,
        templates=_paces(templates),
        trigger=next_run(data, model, recommended, doubt),
        maturity=maturity,
    )


class _Log:
    """The counts of the fetch log, row by row."""

    def __init__(self, first: int) -> None:
        self.days: dict[str, DayCounts] = {}
        self.hours = [0.0] * _HOURS
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
        result = self.days.setdefault(name, DayCounts(name))
        result.visits += 1
        result.new += visit.kind == NEW and visit.answer == "there"
        result.changed += visit.kind in CHANGED
        result.deleted += deleted and before > 0.0
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
            self.hours[hour % _HOURS] += 1.0 / count


class _Class:
    def __init__(self) -> None:
        self.mixture = RateMixture()
        self.visits = self.changes = 0

    def add(self, row: PageRow, posterior: tuple[float, ...]) -> None:
        self.mixture.add(posterior)
        self.visits += row.visits
        self.changes += row.changes


def _paces(templates: dict[str, _Class]) -> list[TemplateFrequency]:
    most = sorted(templates.items(), key=lambda item: (-item[1].mixture.count, item[0]))
    return [_template_pace(name, template) for name, template in most[:_MOST_TEMPLATES]]


def _template_pace(name: str, item: _Class) -> TemplateFrequency:
    rates = item.mixture.distribution
    slow, fast = interval_of(rates)
    return TemplateFrequency(
        name,
        item.mixture.count,
        item.visits,
        item.changes,
        1.0 / log_mean_rate(rates),
        1.0 / fast,
        1.0 / slow,
    )


def even_interval(whole: RateMixture, days: float) -> EvenInterval:
    """The result of even visits of all pages."""
    changes = caught = changed = 0.0
    for pages, rate in zip(whole.pages, RATES, strict=True):
        changes += pages * rate
        caught += pages * rate * freshness(rate, 1.0 / days)
        changed -= pages * math.expm1(-rate * days)
    return EvenInterval(
        days, _current(whole, days)[0], caught / changes if changes else 1.0, changed
    )


def interval(whole: RateMixture, sign: float) -> float:
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


def _current(whole: RateMixture, days: float) -> tuple[float, float]:
    """Share of the copies that are current at an interval, and its standard deviation at most."""
    shares = [freshness(rate, 1.0 / days) for rate in RATES]
    count = max(1, whole.count)
    mean = sum(map(mul, whole.pages, shares)) / count
    square = sum(map(mul, whole.pages, (part * part for part in shares))) / count
    return mean, math.sqrt(max(0.0, square - mean * mean) / count)


_KINDS = ("new", "changed", "deleted")
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_HOUR_NAMES = tuple(f"{hour:02}" for hour in range(24))


def document(result: ChangeFrequency) -> ReportDocument:
    """The page for people."""
    doubt = result.doubt
    next_run = (
        moment(result.trigger.time)
        if result.trigger.time
        else message("study.interval-unknown", "not before more is known")
    )
    facts = (
        ("Pages", f"{result.pages:,}"),
        (
            "Recommended interval",
            doubt or credible_text(result.recommended, result.shortest, result.longest),
        ),
        ("Next run", next_run),
        ("Because", result.trigger.why),
    )
    text = (
        message(
            "study.recommended-interval-explained",
            "At the recommended interval 95 % of the copies are current, on average over pages "
            "and time. How sure the estimate is follows from the visits so far.",
        ),
    )
    return ReportDocument(
        "Change frequency",
        (
            Section("", text, facts),
            _days(result.days),
            _week(result),
            *(() if result.maturity.doubt else (_rates(result),)),
            _classes(result.classes),
            *(() if result.maturity.doubt else (_even(result.paces),)),
            _templates(result),
        ),
    )


def _days(days: Sequence[DayCounts]) -> Section:
    series = tuple(
        Series(name, tuple(float(getattr(day, name)) for day in days)) for name in _KINDS
    )
    plot = Bars("New, changed and deleted pages a day", tuple(d.day for d in days), series, "pages")
    names = ("visits", "new pages", "changed pages", "deleted pages")
    columns = (Column("day"), *(Column(n, Format.COUNT) for n in names))
    rows = tuple((day.day, day.visits, day.new, day.changed, day.deleted) for day in days)
    return Section(
        "By day",
        (
            message(
                "study.visits-explained",
                "When visits found it; the first run is left out, in which everything was new.",
            ),
        ),
        plots=(plot,) if days else (),
        tables=(DataTable("New, changed and deleted pages a day", columns, rows),),
    )


def _week(frequency: ChangeFrequency) -> Section:
    title = "Changes by weekday and hour (UTC)"
    values = tuple(map(tuple, frequency.week))
    plot = HeatMap(title, _WEEKDAYS, _HOUR_NAMES, values, "changes")
    columns = (Column("weekday"), Column("changes", Format.NUMBER), Column("busiest hour"))
    rows = tuple(
        (name, sum(row), _busiest(row)) for name, row in zip(_WEEKDAYS, frequency.week, strict=True)
    )
    text = (
        message(
            "study.hours-explained",
            "Each change is shared among the hours between the visits before and after it; "
            "{unplaced:,} lie more than eight days apart and are left out.",
            unplaced=frequency.unplaced,
        ),
    )
    if not any(map(any, frequency.week)):
        return Section("By hour", text)
    return Section("By hour", text, plots=(plot,), tables=(DataTable(title, columns, rows),))


def _busiest(hours: Iterable[float]) -> str:
    at, most = max(enumerate(hours), key=itemgetter(1))
    return f"{at:02}:00" if most > 0.0 else ""


def _rates(frequency: ChangeFrequency) -> Section:
    title = "Pages by the time between two changes"
    labels = tuple(span(1.0 / rate) for rate in RATES)
    plot = Bars(title, labels, (Series("pages", tuple(frequency.rates)),), "pages")
    columns = (Column("a change every", Format.DAYS), Column("pages", Format.NUMBER))
    rows = tuple((1.0 / rate, round(n, 2)) for rate, n in zip(RATES, frequency.rates, strict=True))
    text = (
        message(
            "study.expected-numbers",
            "Expected numbers: each page counts at all rates that its visits allow.",
        ),
    )
    return Section("Rates", text, plots=(plot,), tables=(DataTable(title, columns, rows),))


def _classes(classes: dict[str, int]) -> Section:
    total = max(1, sum(classes.values()))
    columns = (
        Column("class"),
        Column("visits", Format.COUNT),
        Column("share", Format.SHARE),
    )
    rows = tuple((name, count, count / total) for name, count in classes.items())
    return Section(
        "What the differences were",
        (
            message(
                "study.classes-explained",
                "Of visits of pages known before; only minor and major are changes of the page.",
            ),
        ),
        tables=(DataTable("Visits by class", columns, rows),),
    )


def _even(paces: Sequence[EvenInterval]) -> Section:
    columns = (
        Column("every", Format.DAYS),
        Column("copies current", Format.SHARE),
        Column("versions captured", Format.SHARE),
        Column("pages changed each time", Format.NUMBER),
    )
    rows = tuple((p.days, p.current, p.captured, round(p.changed, 1)) for p in paces)
    return Section("What an interval brings", tables=(DataTable("Even visits", columns, rows),))


def _templates(frequency: ChangeFrequency) -> Section:
    columns = (
        Column("template", Format.URL),
        Column("pages", Format.COUNT),
        Column("visits", Format.COUNT),
        Column("changes", Format.COUNT),
        Column("a change every", Format.DAYS),
        Column("from", Format.DAYS),
        Column("to", Format.DAYS),
    )
    rows = tuple(
        (p.template, p.pages, p.visits, p.changes, *_pace(frequency, p))
        for p in frequency.templates
    )
    text = (
        message(
            "study.template-interval-explained",
            "90 % of the pages of a template lie between `from` and `to`. There is no interval "
            "where too little is known yet.",
        ),
    )
    return Section("Templates", text, tables=(DataTable("By template", columns, rows),))


def _pace(frequency: ChangeFrequency, item: TemplateFrequency) -> tuple[float | None, ...]:
    """Of a template whose pages were visited once, nothing is known."""
    if frequency.maturity.doubt or item.visits <= item.pages:
        return None, None, None
    return item.days, item.shortest, item.longest


class ChangeFrequencyReport(Analysis):
    """The change frequency of the pages of a job, and when to come again."""

    name = "change-frequency"
    summary = "how often pages change, and when to crawl again"
    audience = Audience.CURATOR

    def analyze(self, data: RecrawlData, request: ReportRequest) -> ChangeFrequency:
        """See `Analysis.analyze`."""
        return change_frequency(data)

    def document(self, data: ChangeFrequency, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        return document(data)
