"""The judge of rendered sites: what the archive holds, beside policies on the same pages."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from bench.histories.figures import Brier, brier
from bench.histories.loading import load_site
from bench.histories.ota import forecast_line
from bench.histories.policies import OfflinePolicy, PolicyName, budget_of
from bench.histories.results import (
    JudgedVisit,
    ServedRequest,
    parse_requests,
    read_visits,
)
from bench.histories.states import (
    Deletions,
    Level,
    PageState,
    StateReader,
    States,
    deletion_figures,
    held_shares,
    seen_at,
)
from bench.histories.truth import Difference, Truth
from bench.histories.worlds import RunPlan, read_plan

LEVELS: tuple[Level, ...] = ("text", "less_numbers")
BUDGETS = (5, 20, 100)
_HERE = frozenset((200, 301, 304))
_CHANGES: frozenset[Difference] = frozenset(("text", "numbers", "gone", "back"))
_MANY = 20


class SiteVisit(NamedTuple):
    """A visit of a page that was visited before, with what differs since then."""

    visit: JudgedVisit
    step: int
    path: str
    own: Difference

    @property
    def is_real(self) -> bool:
        """A reader sees a difference beyond the frame of the site."""
        return self.own in _CHANGES


class SiteFigures(NamedTuple):
    """The figures of a run.

    Attributes:
        held: What the archive holds after each step.
        rows: The compared visits.
        requests: Requests of all steps, by kind.
        reasons: Visits by reason.
        forecasts: Brier score of the forecasts.
        deletions: How soon deleted pages were noticed.
    """

    held: list[dict[str, PageState | None]]
    rows: list[SiteVisit]
    requests: Counter[str]
    reasons: Counter[str]
    forecasts: Brier
    deletions: Deletions


class SiteTruth(NamedTuple):
    """A site over all steps.

    Attributes:
        states: Its pages at each step.
        differences: What happened to pages from step to step.
    """

    states: list[dict[str, PageState]]
    differences: dict[str, int]

    @property
    def full(self) -> int:
        """Requests of a full crawl in each step."""
        return sum(map(len, self.states[1:]))


def site_truth(plan: RunPlan, truth: Truth) -> SiteTruth:
    """Read all states of a site."""
    root = plan.seeds[0].removesuffix("/")
    reader = StateReader(truth, root)
    states = [reader.pages(now) for now in plan.times]
    kinds: Counter[str] = Counter()
    steps = zip(states, states[1:], plan.times, plan.times[1:], strict=False)
    for before, after, old, new in steps:
        for path in before.keys() | after.keys():
            if path not in before or path not in after:
                kinds["gone" if path in before else "new"] += 1
            elif before[path].digest == after[path].digest:
                kinds["same"] += 1
            else:
                kinds[truth.difference(root + path, old, new)] += 1
    return SiteTruth(states, dict(sorted(kinds.items())))


def holdings(
    visits: Sequence[JudgedVisit], states: Sequence[States], own: str
) -> tuple[list[dict[str, PageState | None]], list[tuple[JudgedVisit, str, int, int]]]:
    """What the archive holds after each step, and visits of known pages: path, step before, step.

    Args:
        visits: All visits, by time.
        states: The pages at each step.
        own: Start of the URLs of the site.
    """
    have: dict[str, PageState | None] = {}
    states_held: list[dict[str, PageState | None]] = []
    last: dict[str, int] = {}
    again = []
    for visit in visits:
        while len(states_held) < visit.run - 1:
            states_held.append(dict(have))
        step, path = visit.run - 1, urlsplit(visit.url).path
        if not visit.url.startswith(own) or path == "/robots.txt" or "?" in visit.url:
            continue
        before, last[path] = last.get(path), step
        state = states[step].get(path)
        have[path] = state if visit.status in _HERE else None
        if before is not None and (path in states[before] or state):
            again.append((visit, path, before, step))
    while len(states_held) < len(states):
        states_held.append(dict(have))
    return states_held, again


def count_requests(
    log: Sequence[ServedRequest], first: int, every: set[str], root: str = ""
) -> Counter[str]:
    """Count the requests of the steps by kind: pages, missing URLs, other URLs.

    Args:
        log: The log of the server.
        first: Time of the first crawl, which does not count.
        every: Paths of all pages.
        root: Folder of the site, before the paths of the log.
    """
    requests: Counter[str] = Counter()
    for request in log:
        path = request.path.removeprefix(root)
        if request.time == first or path == "/robots.txt":
            continue
        is_page = path in every
        requests["pages" if is_page else "dead" if request.status == 404 else "other"] += 1
        requests["second in a step"] += is_page and request.turn != 0
    return requests


def judge(out: Path, plan: RunPlan, truth: Truth, site: SiteTruth) -> SiteFigures:
    """Compare a run with the site."""
    root, visits = plan.seeds[0].removesuffix("/"), read_visits(out)
    states_held, again = holdings(visits, site.states, root)
    rows = [
        SiteVisit(
            visit, step, path,
            truth.difference(root + path, plan.times[before], plan.times[step]),
        )
        for visit, path, before, step in again
    ]  # fmt: skip
    with (out / "server.tsv").open() as log:
        every = set[str]().union(*site.states)
        folder = quote(plan.hosts.get(plan.bind, ""))
        requests = count_requests(parse_requests(log), plan.times[0], every, folder)
    reasons = Counter(
        visit.wanted + (" +query" if "?" in visit.url else "") for visit in visits if visit.run > 1
    )
    forecasts = brier([(row.visit.chance, row.is_real) for row in rows])
    deletions = deletion_figures(
        site.states,
        states_held,
        [(path, before, step) for _, path, before, step in again],
        lambda path, step: truth.reply(root + path, plan.times[step]).status == 404,
    )
    return SiteFigures(states_held, rows, requests, reasons, forecasts, deletions)


def policy_rows(site: SiteTruth, days: float) -> Iterator[tuple[str, Sequence[States], int]]:
    """Name, holdings and requests of each policy."""
    runs: list[tuple[PolicyName, int]] = [("full", 0)]
    runs += [(name, percent) for percent in BUDGETS for name in ("nutch", "past", "oracle")]
    for name, percent in runs:
        budget = budget_of(percent, len(site.states[0]))
        result = OfflinePolicy(site.states, name, budget, days).run()
        yield f"{name} {percent}", result.held, result.requests


def oracle_requests(site: SiteTruth, days: float, goal: float) -> int | None:
    """Requests that the oracle needs for an ECR; None if it never reaches it.

    The least budget is searched by halves, as more requests hold more.
    """

    def tried(budget: int) -> tuple[float, int]:
        result = OfflinePolicy(site.states, "oracle", budget, days).run()
        return held_shares(site.states, result.held, "text").ecr.value or 0.0, result.requests

    low, high = 0, len(set().union(*site.states))
    share, best = tried(high)
    if share < goal:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        share, requests = tried(middle)
        low, high = (low, middle) if share >= goal else (middle, high)
        best = requests if share >= goal else best
    return best


def oracle_line(site: SiteTruth, days: float, figures: SiteFigures) -> str:
    """Return the requests of a crawl beside those that the oracle needs for as much."""
    ecr = held_shares(site.states, figures.held, "text").ecr.value or 0.0
    needed, own = oracle_requests(site, days, ecr), figures.requests["pages"]
    if needed is None:
        return f"the oracle never reaches an ECR of {ecr:.3f}"
    times = own / max(1, needed)
    return f"the oracle needs {needed} requests for an ECR of {ecr:.3f}: this is {times:.2f} times"


def result_lines(
    name: str, site: SiteTruth, states_held: Sequence[States], requests: int
) -> Iterator[str]:
    """Yield a policy or a crawl at both levels of difference."""
    for level in LEVELS:
        shares = held_shares(site.states, states_held, level)
        yield (
            f"{name:11} {level.replace('_', ' '):12} | {shares} | requests {requests}, "
            f"{requests / max(1, site.full):.3f} of full"
        )


def large_steps(site: SiteTruth, states_held: Sequence[States]) -> Iterator[str]:
    """Steps with many differences, and how many of them are held at their end."""
    for step, (old, new) in enumerate(zip(site.states, site.states[1:], strict=False), 1):
        paths = [
            path for path in old.keys() | new.keys()
            if seen_at(old, path, "text") != seen_at(new, path, "text")
        ]  # fmt: skip
        if len(paths) > _MANY:
            same = [
                seen_at(states_held[step], path, "text") == seen_at(new, path, "text")
                for path in paths
            ]
            yield f"  step {step}: {len(paths)} differences, {sum(same)} held"


def lines(outs: Sequence[Path]) -> Iterator[str]:
    """Yield the figures of runs of one world for people."""
    plan = read_plan(outs[0])
    with load_site(plan) as pages:
        truth = Truth(plan, pages)
        site = site_truth(plan, truth)
        sizes = [len(state) for state in site.states]
        yield f"# truth: {sizes} pages; {site.differences}; a full crawl each time: {site.full}"
        for name, states_held, requests in policy_rows(site, plan.days):
            yield from result_lines(name, site, states_held, requests)
        for out in outs:
            # Runs of one world may have other addresses.
            own = read_plan(out)
            figures = judge(out, own, Truth(own, pages), site)
            yield from _run_lines(out, site, figures)
            yield oracle_line(site, plan.days, figures)


def _run_lines(out: Path, site: SiteTruth, figures: SiteFigures) -> Iterator[str]:
    yield f"# {out}: requests {dict(figures.requests)}; visits by reason {dict(figures.reasons)}"
    yield from result_lines("nacre", site, figures.held, figures.requests["pages"])
    yield forecast_line(figures.forecasts, list(_by_path(figures.rows).values()))
    pairs = Counter(f"{row.own}:{row.visit.verdict}" for row in figures.rows)
    yield f"truth:verdict {dict(sorted(pairs.items()))}"
    lost = sorted(site.states[-1].keys() - figures.held[-1].keys())
    yield f"never visited: {len(lost)} {lost[:6]}"
    yield str(figures.deletions)
    yield from large_steps(site, figures.held)


def _by_path(rows: Sequence[SiteVisit]) -> Mapping[str, list[tuple[float, bool]]]:
    pages: defaultdict[str, list[tuple[float, bool]]] = defaultdict(list)
    for row in rows:
        pages[row.path].append((row.visit.chance, row.is_real))
    return pages
