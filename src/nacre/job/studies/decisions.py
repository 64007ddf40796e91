"""Why a page was or was not visited: its value, the price, its posterior, what was decided (pure).

Without a URL: how good the forecasts of all visits were.
"""

from collections import Counter, deque

import msgspec

from nacre.core.fetchrow import FetchRow
from nacre.core.pagerow import PageKind, PageRow
from nacre.errors import JobError
from nacre.history.finding.sitemaps import map_key
from nacre.history.finding.traps import judged
from nacre.history.recrawl.ranking import Bid
from nacre.history.schedule.timetable import Due
from nacre.history.verdict.deletion import Life
from nacre.history.worth.rates import interval_of, log_mean_rate, mean_rate
from nacre.job.studies.known import CHANGED, LOT, MISSING, NEW, Known
from nacre.job.studies.maturity import ONE_VISIT, maturity
from nacre.job.studies.model import Model, Plan
from nacre.report.forms import moment

_LAST = 5
_BINS = 10
_DAY = 86_400.0
WHY = {
    "start": "a start page: it tells of others",
    "new": "a link that was never seen before",
    "index": "an index page that may show something new",
    "sitemap": "a sitemap: it tells of others",
    "feed": "a feed: it tells of others",
    "told": "a trusted source told of a change",
    "rate": "a change was likely by its rate",
    "due": "it was due by its schedule",
    "gone?": "it was missing at the last visit",
    "moved?": "it was a page once and a redirect at the last visit",
    "floor": "every page is visited at least so often",
    "sample": "too little was known of its class",
    "lot": "drawn by lot among the pages left out, to measure the recall",
    "pair": "fetched twice at once, to learn what is noise",
    "embed": "a page embeds it, and it was new",
    "sign": "a page that needs it changed, or something beside it did",
    "": "a full run visits everything",
}
"""Reasons of visits, in words."""


class Decision(msgspec.Struct, frozen=True):
    """A visit that was decided on.

    Attributes:
        time: When, seconds since the epoch.
        wanted: Why, see `WHY`.
        chance: Forecast that there was something to keep.
        propensity: Probability with which it was chosen.
        status: Fetch status.
        kind: What it found.
    """

    time: float
    wanted: str
    chance: float
    propensity: float
    status: int
    kind: str


class PageDecision(msgspec.Struct):
    """One page.

    Attributes:
        url: The page.
        life: Where it stands.
        days: Days since its last visit.
        value: What a visit is worth now (V); None where nothing speaks for one.
        chance: Forecast that it has changed.
        price: What a visit must be worth (the price Λ), as a run without a budget would set it.
        chosen: A run now would visit it.
        reason: Why, or why not, in words.
        rates: Posterior of its rate over the grid of `history.worth.rates`.
        expected: Changes a day that are expected of it: the mean, by which `history top` orders.
        every: Days between two changes at the rate in the middle of what is likely: where the rate
            is in doubt, the mean is higher, for a few high rates weigh most in it.
        shortest: The 90 % credible interval of that is from here to `longest`, days.
        longest: See `shortest`.
        hints: Sources that told of a change since the last visit.
        decisions: The last five, latest first.
        doubt: Why the intervals are no facts about the page yet; "" when they are.
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
    decisions: list[Decision]
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
        forecasts: Forecasts against what was found, by decile: how reliable they are.
        brier: Mean squared error of the forecasts; 0 is perfect, None without any.
        skill: Share of the error of always forecasting the mean that they avoid; None without any.
    """

    reasons: dict[str, tuple[int, int]]
    forecasts: list[Forecasts]
    brier: float | None
    skill: float | None


def decisions(known: Known, url: str = "") -> PageDecision | AllDecisions:
    """Explain one page, or all visits.

    Raises:
        JobError: The page is not known.
    """
    return page_decision(known, url) if url else all_decisions(known)


def page_decision(known: Known, url: str) -> PageDecision:
    """Explain one page."""
    row = known.row(url)
    if row is None:
        raise JobError(f"{url} is not known to incremental crawling; see `nacre explain`")
    model = Model(known)
    plan = model.plan(known.now)
    bid = model.bid(row, known.now) if row.visits else None
    posterior = model.posterior(row)
    slow, fast = interval_of(posterior)
    due = known.due(row)
    chosen = due.now if due else any(one.url == url for one in plan.chosen)
    return PageDecision(
        url=url,
        life=row.life,
        days=(known.now - row.last_visit) / _DAY if row.last_visit else 0.0,
        value=None if bid is None else bid.worth,
        chance=0.0 if bid is None else bid.chance,
        price=plan.price,
        chosen=chosen,
        reason=(_scheduled(due) if due else _spared(known, row) or _waits(known, row))
        or _reason(row, bid, plan, chosen=chosen),
        rates=list(posterior),
        expected=mean_rate(posterior),
        every=1.0 / log_mean_rate(posterior),
        shortest=1.0 / fast,
        longest=1.0 / slow,
        hints=list(row.told),
        decisions=_last(known, url),
        doubt=maturity(known).doubt or (ONE_VISIT if row.visits < 2 else ""),
    )


def _last(known: Known, url: str) -> list[Decision]:
    kept = deque((visit for visit in known.visits() if visit.url == url), maxlen=_LAST)
    return [
        Decision(one.time, one.wanted, one.chance, one.propensity, one.status, one.verdict)
        for one in reversed(kept)
    ]


def _scheduled(due: Due) -> str:
    if due.now:
        return WHY["due"]
    return f"it is under a schedule, and not due before {moment(due.time)}"


def _spared(known: Known, row: PageRow) -> str:
    """Why a sitemap was not read in the last run; "" for whatever was."""
    found = known.maps.get(map_key(row.url)) if row.kind is PageKind.SITEMAP else None
    if found is None or not found.index or found.stood <= found.looked:
        return ""
    return (
        f"{found.index} dates it {found.newest}, before our last reading, and was right so far; "
        "one sitemap of ten that rest so is read all the same"
    )


def _waits(known: Known, row: PageRow) -> str:
    trap = judged(known.traps, known.rows()).reason(row.template)
    if not trap:
        return ""
    share = 100 * known.settings.trap_share
    return (
        f"URLs like it lead into a trap ({trap}): a run spends {share:g} % of its visits on such, "
        "and the others wait; `recrawl.trap_share` says so"
    )


def _reason(row: PageRow, bid: Bid | None, plan: Plan, *, chosen: bool) -> str:
    if not row.visits:
        return (
            "it was heard of and never visited: a run visits it as a new page, unless "
            "`recrawl.idle_parameters` is `skip` and it differs from one in such alone"
            if "?" in row.url
            else "it was heard of and never visited: a run visits it as a new page"
        )
    if bid is None:
        return f"it is {row.life}, and the next look at it is not due yet"
    if chosen:
        return WHY.get(bid.reason, bid.reason)
    if row.life != Life.LIVE:
        return f"it is {row.life}"
    if plan.price > bid.worth:
        return "a visit is worth less than its price; a lot may still fall on it"
    return "a change is less likely than `recrawl.least` asks for; a lot may still fall on it"


def all_decisions(known: Known) -> AllDecisions:
    """Count the visits of incremental runs, and judge their forecasts."""
    visits: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    forecasts = [Forecasts(at / _BINS) for at in range(_BINS)]
    errors, number, hits = 0.0, 0, 0
    for visit in known.visits():
        if not visit.wanted or visit.status <= 0:
            continue
        found = _found(visit)
        visits[visit.wanted] += 1
        kept[visit.wanted] += found
        if visit.wanted in {"rate", "told", "index", "floor", LOT}:
            one = forecasts[min(int(visit.chance * _BINS), _BINS - 1)]
            one.visits += 1
            one.forecast += visit.chance
            one.found += found
            errors += (visit.chance - found) ** 2
            number, hits = number + 1, hits + found
    for one in forecasts:
        one.forecast /= max(1, one.visits)
        one.found /= max(1, one.visits)
    brier = errors / number if number else None
    base = hits / number * (1.0 - hits / number) if number else 0.0
    skill = 1.0 - brier / base if brier is not None and base > 0.0 else None
    reasons = {name: (count, kept[name]) for name, count in visits.most_common()}
    return AllDecisions(reasons, forecasts, brier, skill)


def _found(visit: FetchRow) -> bool:
    return visit.kind in CHANGED or visit.kind == NEW or visit.answer in MISSING
