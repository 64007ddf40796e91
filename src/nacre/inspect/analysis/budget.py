"""The price of completeness: requests against recall and freshness (pure).

The rates are those fitted so far; each page's plan follows its expected rate, and what the plan
brings is counted at all rates that its visits allow.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence

import msgspec

from nacre.inspect.analysis.analysis import Analysis
from nacre.inspect.analysis.rate_model import RateMixture, RateModel, data_basis, is_living
from nacre.inspect.analysis.recrawl_data import RecrawlData
from nacre.inspect.reports.base import ReportRequest
from nacre.messages import capitalize, message
from nacre.planner.change_rate.rates import GRID, RATES, mean_rate
from nacre.planner.change_rate.value import Share, freshness, plan
from nacre.planner.step import THETA
from nacre.report.document import Column, Curve, Curves, DataTable, Format, ReportDocument, Section

_STEPS = 25
_SPENT = 0.98
_LEAST, _MOST = 1.0 / 365.0, 24.0
_EVEN = (
    *(("hourly", 24.0), ("daily", 1.0), ("weekly", 1.0 / 7.0), ("monthly", 1.0 / 30.0)),
    *(("quarterly", 1.0 / 91.0), ("yearly", 1.0 / 365.0)),
)
_GUESSED = message(
    "study.rates-of-the-web", "The rates below are those of pages of the web at large."
)
_GOALS = (0.5, 0.8, 0.9, 0.95, 0.99)


class BudgetEffect(msgspec.Struct, frozen=True):
    """The effect of a budget: recall and freshness for so many requests.

    Attributes:
        requests: Requests a day, all pages together.
        recall: Share of all versions that are captured.
        current: Share of the copies that are current, on average.
    """

    requests: float
    recall: float
    current: float


class EvenVisits(msgspec.Struct, frozen=True):
    """Visits of all pages at one interval, and the best plan at the same cost.

    Attributes:
        name: `daily` and so on.
        requests: Requests a day.
        even: What even visits bring.
        planned: What the best plan brings.
    """

    name: str
    requests: float
    even: BudgetEffect
    planned: BudgetEffect


class BudgetPlans(msgspec.Struct):
    """Costs and their effect.

    Attributes:
        pages: Living pages.
        aim: What plans are made for, `recrawl.aim`.
        plans: The best plans, cheapest first.
        spread: Even visits of all pages at the same costs.
        evens: Even visits of all pages, most often first.
        goals: Requests a day for a share of all versions, by share; None where no plan reaches it.
        doubt: Why the rates are not facts about the site yet; "" when they are.
    """

    pages: int
    aim: str
    plans: list[BudgetEffect]
    spread: list[BudgetEffect]
    evens: list[EvenVisits]
    goals: dict[str, float | None]
    doubt: str = ""


class _Group:
    """Pages of about one expected rate."""

    def __init__(self) -> None:
        self.mixture = RateMixture()
        self.rate = 0.0

    def add(self, posterior: tuple[float, ...], rate: float) -> None:
        self.mixture.add(posterior)
        self.rate += rate

    def share(self) -> Share:
        """The group in a plan."""
        return Share(self.rate / self.mixture.count, pages=float(self.mixture.count))


def budget_plans(data: RecrawlData) -> BudgetPlans:
    """Make plans for many budgets."""
    groups = _groups(data)
    aim = data.settings.aim
    pages = sum(group.mixture.count for group in groups)
    if not pages:
        return BudgetPlans(0, aim, [], [], [], {})
    step = (_MOST / _LEAST) ** (1.0 / (_STEPS - 1))
    often = [_LEAST * step**at for at in range(_STEPS)]
    plans = [planned(groups, pages * visits, THETA[aim]) for visits in often]
    spread = [_bought(groups, [visits] * len(groups)) for visits in often]
    evens = [_even(groups, name, often, THETA[aim]) for name, often in _EVEN]
    goals = {f"{goal:g}": _cost(plans, goal) for goal in _GOALS}
    return BudgetPlans(pages, aim, plans, spread, evens, goals, data_basis(data).doubt)


def _groups(data: RecrawlData) -> list[_Group]:
    model = RateModel(data)
    groups: dict[int, _Group] = {}
    for row in filter(is_living, data.rows()):
        posterior = model.posterior(row)
        rate = mean_rate(posterior)
        at = min(bisect_left(RATES, rate), GRID - 1)
        groups.setdefault(at, _Group()).add(posterior, rate)
    return [groups[at] for at in sorted(groups)]


def planned(groups: Sequence[_Group], requests: float, theta: float) -> BudgetEffect:
    """The result of the best plan for so many requests a day."""
    shares = [group.share() for group in groups]
    often, _ = plan(shares, requests, theta)
    spent = sum(share.pages * visits for share, visits in zip(shares, often, strict=True))
    if spent < _SPENT * requests:
        # Visits so rare that most versions are missed anyway: all that counts is to spend.
        often = often if spent > 0.0 else [share.rate for share in shares]
        spent = sum(share.pages * visits for share, visits in zip(shares, often, strict=True))
        often = [visits * requests / spent for visits in often]
    return _bought(groups, often)


def _even(groups: Sequence[_Group], name: str, often: float, theta: float) -> EvenVisits:
    even = _bought(groups, [often] * len(groups))
    return EvenVisits(name, even.requests, even, planned(groups, even.requests, theta))


def _bought(groups: Sequence[_Group], often: Sequence[float]) -> BudgetEffect:
    requests = changes = caught = current = pages = 0.0
    for group, visits in zip(groups, often, strict=True):
        requests += group.mixture.count * visits
        pages += group.mixture.count
        for weight, rate in zip(group.mixture.pages, RATES, strict=True):
            fresh = freshness(rate, visits)
            changes += weight * rate
            caught += weight * rate * fresh
            current += weight * fresh
    return BudgetEffect(requests, caught / changes if changes else 1.0, current / pages)


def _cost(plans: Sequence[BudgetEffect], goal: float) -> float | None:
    """Requests a day that reach a recall, between the plans that were made."""
    at = next((n for n, item in enumerate(plans) if item.recall >= goal), None)
    if not at:
        return None if at is None else plans[0].requests
    below, above = plans[at - 1], plans[at]
    part = (goal - below.recall) / (above.recall - below.recall)
    return below.requests * math.pow(above.requests / below.requests, part)


def document(result: BudgetPlans) -> ReportDocument:
    """The plans for people."""
    if not result.pages:
        text = (
            message(
                "study.no-rates",
                "No page has been visited often enough: rates are known after a full and an "
                "incremental run.",
            ),
        )
        return ReportDocument("Budget explorer", (Section("", text),))
    curves = (
        Curve("versions captured", tuple((plan.requests, plan.recall) for plan in result.plans)),
        Curve("copies current", tuple((plan.requests, plan.current) for plan in result.plans)),
        Curve(
            "versions captured, even visits",
            tuple((item.requests, item.recall) for item in result.spread),
        ),
    )
    marks = tuple((budget.requests, budget.even.recall, budget.name) for budget in result.evens)
    plot = Curves("What requests buy", "requests a day", "share", curves, marks)
    explanation: tuple[str, ...] = (
        message(
            "study.budget-explained",
            "For the {pages:,} pages that are there, by the rates fitted so far; new pages and "
            "index pages come on top. Plans are made for `recrawl.aim: {aim}`.",
            pages=result.pages,
            aim=result.aim,
        ),
    )
    if result.doubt:
        explanation = (
            message(
                "study.guessed-rates",
                "{doubt}. {rates}",
                doubt=capitalize(result.doubt),
                rates=_GUESSED,
            ),
            *explanation,
        )
    tables = (_evens(result), _goals(result), _plans(result))
    return ReportDocument(
        "Budget explorer", (Section("", explanation, plots=(plot,), tables=tables),)
    )


def _evens(plans: BudgetPlans) -> DataTable:
    columns = (
        Column("every page"),
        Column("requests a day", Format.NUMBER),
        Column("even: captured", Format.SHARE),
        Column("even: current", Format.SHARE),
        Column("planned: captured", Format.SHARE),
        Column("planned: current", Format.SHARE),
    )
    rows = tuple(
        (
            *(budget.name, budget.requests, budget.even.recall, budget.even.current),
            *(budget.planned.recall, budget.planned.current),
        )
        for budget in plans.evens
    )
    return DataTable("Even visits, and the best plan at the same cost", columns, rows)


def _goals(plans: BudgetPlans) -> DataTable:
    columns = (
        Column("versions captured", Format.SHARE),
        Column("requests a day", Format.NUMBER),
    )
    rows = tuple((float(goal), cost) for goal, cost in plans.goals.items())
    return DataTable("The price of a recall (none: not by hourly visits)", columns, rows)


def _plans(plans: BudgetPlans) -> DataTable:
    columns = (
        Column("requests a day", Format.NUMBER),
        Column("versions captured", Format.SHARE),
        Column("copies current", Format.SHARE),
    )
    rows = tuple((plan.requests, plan.recall, plan.current) for plan in plans.plans)
    return DataTable("Plans", columns, rows)


class BudgetReport(Analysis):
    """The effect of each number of requests a day."""

    name = "budget"
    summary = "requests a day against versions captured and copies current"

    def analyze(self, data: RecrawlData, request: ReportRequest) -> BudgetPlans:
        """See `Analysis.analyze`."""
        return budget_plans(data)

    def document(self, data: BudgetPlans, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        return document(data)
