"""The decision on a page: its value, the price, its posterior, and earlier decisions (pure).

Without a URL: how good the forecasts of all visits were.

Decisions about visits, for people (pure).
"""

from collections import Counter, deque

import msgspec

from nacre.core.history import FetchRow
from nacre.core.pagerow import PageKind, PageRow
from nacre.errors import JobError
from nacre.inspect.analysis.analysis import Analysis, credible_text
from nacre.inspect.analysis.rate_model import ONE_VISIT, RateModel, RunPlan, data_basis
from nacre.inspect.analysis.recrawl_data import CHANGED, LOT, MISSING, NEW, RecrawlData
from nacre.inspect.analysis.wording import DECIDED_BY, WHY_VISITED
from nacre.inspect.reports.base import Audience, ReportRequest, ReportSubject
from nacre.messages import message, static
from nacre.planner.change_detection.deletion import Life
from nacre.planner.change_rate.rates import RATES, interval_of, log_mean_rate, mean_rate
from nacre.planner.discovery.hints import map_key
from nacre.planner.discovery.traps import judged
from nacre.planner.ranking import VisitValue
from nacre.planner.schedules.timetable import Due
from nacre.report.document import Bars, Column, DataTable, Format, ReportDocument, Section, Series
from nacre.report.formatting import moment, share, span, url_facts, written

_LAST = 5
_BINS = 10
_DAY = 86_400.0


class VisitDecision(msgspec.Struct, frozen=True):
    """A visit that was decided on.

    Attributes:
        time: When, seconds since the epoch.
        wanted: Why, see `WHY_VISITED`.
        chance: Forecast that there was something to keep.
        propensity: Probability with which it was chosen.
        status: Fetch status.
        kind: What it found.
        evidence: What decided that, in words.
    """

    time: float
    wanted: str
    chance: float
    propensity: float
    status: int
    kind: str
    evidence: str = ""


class PageDecision(msgspec.Struct):
    """One page.

    Attributes:
        url: The page.
        life: Its state.
        days: Days since its last visit.
        value: The value of a visit now (V); None if there is no reason for one.
        chance: Forecast that it has changed.
        price: What a visit must be worth (the price Λ), as a run without a budget would set it.
        chosen: A run now would visit it.
        reason: Why, or why not, in words.
        rates: Posterior of its rate over the grid of `planner.change_rate.rates`.
        expected: Changes a day that are expected of it: the mean, by which `history top` orders.
        every: Days between two changes at the geometric mean of the rate. The mean rate is higher
            as long as the rate is uncertain, because a few high rates have most weight in it.
        shortest: The 90 % credible interval of that is from here to `longest`, days.
        longest: See `shortest`.
        hints: Sources that told of a change since the last visit.
        decisions: The last five, latest first.
        doubt: Why the intervals are not facts about the page yet; "" when they are.
    """

    url: str
    life: str
    days: float
    value: float | None
    chance: float
    price: float
    chosen: bool
    reason: str
    rates: list[float]
    expected: float
    every: float
    shortest: float
    longest: float
    hints: list[str]
    decisions: list[VisitDecision]
    doubt: str = ""


class Forecasts(msgspec.Struct):
    """Visits of one decile of forecasts.

    Attributes:
        low: Lower end of the forecasts.
        visits: How many.
        forecast: Their mean forecast.
        found: Share that found something to keep.
    """

    low: float
    visits: int = 0
    forecast: float = 0.0
    found: float = 0.0


class AllDecisions(msgspec.Struct):
    """All visits of incremental runs.

    Attributes:
        reasons: Visits by reason: how many, and how many found something to keep.
        forecasts: Forecasts compared with results, by decile: how reliable they are.
        brier: Mean squared error of the forecasts; 0 is perfect, None without any.
        skill: Share of the error of always forecasting the mean that they avoid; None without any.
    """

    reasons: dict[str, tuple[int, int]]
    forecasts: list[Forecasts]
    brier: float | None
    skill: float | None


def decisions(data: RecrawlData, url: str = "") -> PageDecision | AllDecisions:
    """Explain one page, or all visits.

    Raises:
        JobError: The page is not known.
    """
    return page_decision(data, url) if url else all_decisions(data)


def page_decision(data: RecrawlData, url: str) -> PageDecision:
    """Explain one page."""
    row = data.row(url)
    if row is None:
        raise JobError(
            message(
                "study.unknown-url",
                "{url} is not known to incremental crawling; see `nacre explain JOB URL`",
                url=url,
            )
        )
    model = RateModel(data)
    plan = model.plan(data.now)
    bid = model.bid(row, data.now) if row.visits else None
    posterior = model.posterior(row)
    slow, fast = interval_of(posterior)
    due = data.due(row)
    chosen = due.now if due else any(item.url == url for item in plan.chosen)
    return PageDecision(
        url=url,
        life=row.life,
        days=(data.now - row.last_visit) / _DAY if row.last_visit else 0.0,
        value=None if bid is None else bid.value,
        chance=0.0 if bid is None else bid.chance,
        price=plan.price,
        chosen=chosen,
        reason=(_scheduled(due) if due else _spared(data, row) or _waits(data, row))
        or _reason(row, bid, plan, chosen=chosen),
        rates=list(posterior),
        expected=mean_rate(posterior),
        every=1.0 / log_mean_rate(posterior),
        shortest=1.0 / fast,
        longest=1.0 / slow,
        hints=list(row.told),
        decisions=_last(data, url),
        doubt=data_basis(data).doubt or (ONE_VISIT if row.visits < 2 else ""),
    )


def _last(data: RecrawlData, url: str) -> list[VisitDecision]:
    latest = deque((visit for visit in data.visits() if visit.url == url), maxlen=_LAST)
    return [
        VisitDecision(
            *(item.time, item.wanted, item.chance, item.propensity, item.status, item.verdict),
            evidence=_evidence(item),
        )
        for item in reversed(latest)
    ]


def _evidence(visit: FetchRow) -> str:
    """The evidence of the verdict of a visit, in words."""
    code = DECIDED_BY.get(visit.reason, visit.reason)
    return f"{code}: {visit.evidence}" if visit.evidence else code


def _scheduled(due: Due) -> str:
    if due.now:
        return WHY_VISITED["due"]
    return message(
        "study.under-schedule",
        "it is under a schedule, and not due before {moment}",
        moment=moment(due.time),
    )


def _spared(data: RecrawlData, row: PageRow) -> str:
    """Why a sitemap was not read in the last run; "" for whatever was."""
    result = data.maps.get(map_key(row.url)) if row.kind is PageKind.SITEMAP else None
    if result is None or not result.index or result.stood <= result.looked:
        return ""
    return message(
        "study.dated-by-sitemap",
        "{index} dates it {newest}, before our last reading, and was right so far; one "
        "sitemap of ten that rest so is read all the same",
        index=result.index,
        newest=result.newest,
    )


def _waits(data: RecrawlData, row: PageRow) -> str:
    trap = judged(data.traps, data.rows()).reason(row.template)
    if not trap:
        return ""
    share = 100 * data.settings.trap_share
    return message(
        "study.leads-into-trap",
        "URLs like it lead into a trap ({trap}): a run spends {share:g} % of its visits on "
        "such URLs (`recrawl.trap_share`), and the others wait",
        trap=trap,
        share=share,
    )


def _reason(row: PageRow, bid: VisitValue | None, plan: RunPlan, *, chosen: bool) -> str:
    if not row.visits:
        return (
            message(
                "study.new-page-unless-idle",
                "it was heard of and never visited: a run visits it as a new page, unless "
                "`recrawl.idle_parameters` is `skip` and it differs from one in such alone",
            )
            if "?" in row.url
            else message(
                "study.new-page", "it was heard of and never visited: a run visits it as a new page"
            )
        )
    if bid is None:
        return message(
            "study.life-check-not-due",
            "it is {life}, and the next look at it is not due yet",
            life=static(row.life),
        )
    if chosen:
        return WHY_VISITED.get(bid.reason, bid.reason)
    if row.life != Life.LIVE:
        return message("study.life", "it is {life}", life=static(row.life))
    if plan.price > bid.value:
        return message(
            "study.below-price",
            "a visit is worth less than its price; it may still be drawn at random",
        )
    return message(
        "study.change-unlikely",
        "a change is less likely than `recrawl.least` asks for; it may still be drawn at random",
    )


def all_decisions(data: RecrawlData) -> AllDecisions:
    """Count the visits of incremental runs, and judge their forecasts."""
    visits: Counter[str] = Counter()
    hits_by_reason: Counter[str] = Counter()
    forecasts = [Forecasts(at / _BINS) for at in range(_BINS)]
    errors, number, hits = 0.0, 0, 0
    for visit in data.visits():
        if not visit.wanted or visit.status <= 0:
            continue
        result = _is_hit(visit)
        visits[visit.wanted] += 1
        hits_by_reason[visit.wanted] += result
        if visit.wanted in {"rate", "told", "index", "floor", LOT}:
            item = forecasts[min(int(visit.chance * _BINS), _BINS - 1)]
            item.visits += 1
            item.forecast += visit.chance
            item.found += result
            errors += (visit.chance - result) ** 2
            number, hits = number + 1, hits + result
    for item in forecasts:
        item.forecast /= max(1, item.visits)
        item.found /= max(1, item.visits)
    brier = errors / number if number else None
    base = hits / number * (1.0 - hits / number) if number else 0.0
    skill = 1.0 - brier / base if brier is not None and base > 0.0 else None
    reasons = {name: (count, hits_by_reason[name]) for name, count in visits.most_common()}
    return AllDecisions(reasons, forecasts, brier, skill)


def _is_hit(visit: FetchRow) -> bool:
    return visit.kind in CHANGED or visit.kind == NEW or visit.answer in MISSING


def document(result: PageDecision | AllDecisions) -> ReportDocument:
    """Decisions about one page, or about all."""
    return _page(result) if isinstance(result, PageDecision) else _all(result)


def _page(decision: PageDecision) -> ReportDocument:
    every = decision.doubt or credible_text(decision.every, decision.shortest, decision.longest)
    run = (
        message("study.visited", "visits it: {reason}", reason=decision.reason)
        if decision.chosen
        else message("study.left-out", "leaves it out: {reason}", reason=decision.reason)
    )
    facts = (
        *url_facts(decision.url),
        ("Life", decision.life),
        ("A run now", run),
        ("Since the last visit", span(decision.days)),
        ("Chance of a change", share(decision.chance)),
        ("Value of a visit (V)", written(decision.value, Format.NUMBER)),
        ("Price of a visit (Λ)", written(decision.price, Format.NUMBER)),
        (
            "Changes a day, on average",
            message(
                "study.expected-changes",
                "{expected:.5f} (`nacre history JOB top` orders by it)",
                expected=decision.expected,
            ),
        ),
        ("A change every (geometric mean)", every),
        ("Hints since the last visit", ", ".join(decision.hints) or "none"),
    )
    text = (
        message(
            "study.price-explained",
            "A page is visited when its value reaches the price: that of the least valuable "
            "page that is still needed for the wanted recall. A budget raises the price.",
        ),
    )
    title = "Posterior of the time between two changes"
    labels = tuple(span(1.0 / rate) for rate in RATES)
    plot = Bars(title, labels, (Series("probability", tuple(decision.rates)),))
    columns = (Column("a change every", Format.DAYS), Column("probability", Format.SHARE))
    rows = tuple((1.0 / rate, part) for rate, part in zip(RATES, decision.rates, strict=True))
    likely = tuple(row for row in rows if row[1] >= 0.0005)
    return ReportDocument(
        "Decisions about a page",
        (
            Section("", text, facts, tables=(_decisions(decision.decisions),)),
            Section("Rate", plots=(plot,), tables=(DataTable(title, columns, likely),)),
        ),
    )


def _decisions(decisions: list[VisitDecision]) -> DataTable:
    columns = (
        Column("time", Format.TIME),
        Column("because"),
        Column("forecast", Format.SHARE),
        Column("propensity", Format.SHARE),
        Column("status"),
        Column("found"),
        Column("evidence", Format.NAME),
    )
    rows = tuple(
        (
            *(item.time, WHY_VISITED.get(item.wanted, item.wanted), item.chance),
            *(item.propensity, str(item.status), item.kind, item.evidence),
        )
        for item in decisions
    )
    return DataTable("The last decisions", columns, rows)


def _all(decisions: AllDecisions) -> ReportDocument:
    columns = (
        Column("reason"),
        Column("meaning"),
        Column("visits", Format.COUNT),
        Column("visits that found something", Format.COUNT),
        Column("share", Format.SHARE),
    )
    rows = tuple(
        (name, WHY_VISITED.get(name, ""), visits, hits, hits / visits)
        for name, (visits, hits) in decisions.reasons.items()
    )
    facts = (
        ("Mean squared error (Brier)", _format_value(decisions.brier, Format.NUMBER)),
        ("Skill against the mean", _format_value(decisions.skill, Format.SHARE)),
    )
    reliability = (
        *(Column(name, Format.SHARE) for name in ("forecasts from", "mean forecast", "came true")),
        Column("visits", Format.COUNT),
    )
    bins = tuple(
        (forecast.low, forecast.forecast, forecast.found, forecast.visits)
        for forecast in decisions.forecasts
    )
    text = (
        message(
            "study.calibration-explained",
            "Where forecasts are right, `came true` is as large as `mean forecast`.",
        ),
    )
    return ReportDocument(
        "Decisions",
        (
            Section("", tables=(DataTable("Visits of incremental runs by reason", columns, rows),)),
            Section(
                "Forecasts", text, facts, tables=(DataTable("Reliability", reliability, bins),)
            ),
        ),
    )


def _format_value(value: float | None, form: Format) -> str:
    return "unknown" if value is None else written(value, form)


class DecisionsReport(Analysis):
    """The reasons why a page was visited or not, or the quality of all forecasts."""

    name = "decisions"
    summary = "why a page was visited or not; without a URL, how good the forecasts were"
    audience = Audience.DEVELOPER
    subject = ReportSubject.EITHER

    def analyze(self, data: RecrawlData, request: ReportRequest) -> PageDecision | AllDecisions:
        """See `Analysis.analyze`."""
        return decisions(data, request.url)

    def document(self, data: PageDecision | AllDecisions, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        return document(data)
