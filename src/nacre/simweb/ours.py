"""Nacre's own planner as a policy of the simulated web."""

from collections.abc import Sequence

from nacre.core.pageview import PageView
from nacre.history.change import ChangeSettings
from nacre.history.recrawl import Planner
from nacre.history.recrawl_settings import RecrawlSettings
from nacre.history.sites import Sites
from nacre.history.visited import Finding, MemoryRows
from nacre.job.judge import Lessons, PageJudge
from nacre.simweb.page import Link
from nacre.simweb.policy import EmbedMode, Outcome, Task, Wish
from nacre.uri.parse import origin


class Nacre:
    """The planner over rows in memory.

    Args:
        hints: Believe sitemaps, feeds and lists.
        settings: The planner's; None for the defaults.

    Attributes:
        known: The rows.
        findings: What it held of each visit of a URL, in their order: scored as claims.
    """

    conditional = True
    dedup = True
    embeds: EmbedMode = "new"

    def __init__(self, *, hints: bool = True, settings: RecrawlSettings | None = None) -> None:
        self.name = "nacre" if hints else "nacre-nohints"
        wanted = (settings or RecrawlSettings()).model_copy(update={"hints": hints})
        self._hints = hints
        self.known = MemoryRows()
        self.judge = PageJudge(_Versions(), Lessons.none(), ChangeSettings())
        self.planner = Planner(self.known, Sites(), self.judge, wanted)
        self._robots: list[str] = []
        self.findings: dict[str, list[Finding]] = {}

    def begin(self, task: Task) -> None:
        """See `Policy`."""
        self.planner.begin(task.starts)
        if self._hints:
            self._robots = [f"{origin(url)}/robots.txt" for url in task.starts]

    def choose(self, now: float, room: int) -> Sequence[Wish]:
        """See `Policy`."""
        if self._robots:
            asked, self._robots = self._robots, []
            return [Wish(url) for url in asked]
        return [Wish(one.url, one.chance) for one in self.planner.choose(now, room)]

    def learn(self, outcome: Outcome) -> None:
        """See `Policy`."""
        if outcome.url.endswith("/robots.txt"):
            outcome = outcome._replace(links=_sitemaps(outcome))
        finding = self.planner.learn(outcome)
        self.findings.setdefault(outcome.url, []).append(finding)

    def rates(self) -> dict[str, float]:
        """See `WithRates`."""
        return self.planner.rates()


class _Versions:
    def __init__(self) -> None:
        self._views: dict[str, PageView] = {}

    def last(self, url: str) -> PageView | None:
        return self._views.get(url)

    def keep(self, url: str, view: PageView) -> None:
        self._views[url] = view


def _sitemaps(outcome: Outcome) -> tuple[Link, ...]:
    """The sitemaps that robots.txt names."""
    lines = outcome.body().decode("utf-8", "replace").splitlines()
    named = (
        line.partition(":")[2].strip() for line in lines if line.lower().startswith("sitemap:")
    )
    return tuple(Link(url, "M") for url in named if url)
