"""Nacre's own planner as a policy of the simulated web."""

from collections.abc import Sequence

from nacre.annotations import AUDIT
from nacre.core.pagerow import PageView
from nacre.planner.change_detection.change import ChangeSettings
from nacre.planner.change_detection.deletion import Life
from nacre.planner.planner import Planner
from nacre.planner.settings import RecrawlSettings
from nacre.planner.sites import Sites
from nacre.planner.slices import at_once
from nacre.planner.step import Choice
from nacre.planner.visited import MemoryRows, Visited, VisitFinding
from nacre.recrawl.judge import Lessons, PageJudge, view_of
from nacre.recrawl.knowledge import Audits
from nacre.recrawl.probing import PROBE_SHARE, probes
from nacre.uri.parse import origin
from nacre_simweb.page import SimulatedLink
from nacre_simweb.policy import EmbedMode, Task, VisitOutcome, WantedVisit

_CERTAIN = frozenset(("pair", "sample"))
"""Reasons of choices that are no forecast of a change."""
_MOST_VIEWS = 20_000


class Nacre:
    """The planner over rows in memory, with the pairs, audits and probes that a job makes.

    Args:
        hints: Believe sitemaps, feeds and lists.
        settings: The planner's; None for the defaults.
        views: Pages taken apart, by digest: shared by policies that visit the same world.

    Attributes:
        known: The rows.
        findings: What it held of each visit of a URL, in their order: scored as claims.
        pairs: Paired fetches of the site by then, likewise.
        audits: What it knows of 304 replies.
    """

    conditional = True
    dedup = True
    embeds: EmbedMode = "new"

    def __init__(
        self,
        *,
        hints: bool = True,
        settings: RecrawlSettings | None = None,
        views: dict[str, PageView] | None = None,
    ) -> None:
        self.name = "nacre" if hints else "nacre-nohints"
        settings_used = (settings or RecrawlSettings()).model_copy(update={"hints": hints})
        self._settings = settings_used
        self._hints = hints
        self.known = MemoryRows()
        self._views: dict[str, PageView] = {} if views is None else views
        self.judge = PageJudge(_Versions(), Lessons.none(), ChangeSettings(), self._view)
        self.planner = Planner(self.known, Sites(), self.judge, settings_used)
        self.audits = Audits({})
        self._robots: list[str] = []
        self._step = -1.0
        self._made_up: set[str] = set()
        self._audited: set[str] = set()
        self._last: dict[str, VisitOutcome] = {}
        self.findings: dict[str, list[VisitFinding]] = {}
        self.pairs: dict[str, list[int]] = {}

    def begin(self, task: Task) -> None:
        """See `Policy`."""
        self.planner.begin(task.starts)
        if self._hints:
            self._robots = [f"{origin(url)}/robots.txt" for url in task.starts]

    def choose(self, now: float, room: int) -> Sequence[WantedVisit]:
        """See `Policy`."""
        if self._robots:
            robots, self._robots = self._robots, []
            return [WantedVisit(url) for url in robots]
        if now != self._step and (made_up := self._probes(now, room)):
            return made_up
        return [self._wanted_visit(choice, now) for choice in self.planner.choose(now, room)]

    def _probes(self, now: float, room: int) -> list[WantedVisit]:
        """Names that do not exist, once a step: what does the site answer to them?"""
        self._step = now
        self._audited = set()
        most = min(self._settings.probes, room // PROBE_SHARE)
        urls = at_once(probes(self.known, self.judge.lessons, now, most))
        self._made_up.update(urls)
        return [WantedVisit(url) for url in urls]

    def _wanted_visit(self, choice: Choice, now: float) -> WantedVisit:
        reason = self.audits.unconditional(choice, now, self._settings.audits)
        if reason == AUDIT:
            self._audited.add(choice.url)
        chance = None if choice.reason in _CERTAIN else choice.chance
        return WantedVisit(choice.url, chance, fresh=bool(reason))

    def learn(self, outcome: VisitOutcome) -> None:
        """See `Policy`."""
        if outcome.url in self._made_up:
            self._learn_probe(outcome)
            return
        if outcome.url.endswith("/robots.txt"):
            outcome = outcome._replace(links=_sitemaps(outcome))
        taught = self.judge.lessons.template(outcome.url).pairs
        self.pairs.setdefault(outcome.url, []).append(taught)
        finding = self.planner.learn(outcome)
        if outcome.status == 200:
            self._audit(outcome, changed=finding.kind.is_change)
        self.findings.setdefault(outcome.url, []).append(finding)

    def _view(self, visit: Visited) -> PageView:
        """Return the page of a visit, taken apart; the same bytes only once."""
        view = self._views.get(visit.digest)
        if view is None:
            view = view_of(visit)
            if len(self._views) < _MOST_VIEWS:
                self._views[visit.digest] = view
        return view

    def _learn_probe(self, outcome: VisitOutcome) -> None:
        if outcome.status <= 0:
            return
        target = next((link.url for link in outcome.links if link.hop == "R"), "")
        page = "html" in outcome.mime and outcome.length > 0
        view = self._view(outcome) if page else None
        model = self.judge.lessons.error_model(outcome.url)
        model.learn_probe(outcome.status, target, view, self._step)

    def _audit(self, outcome: VisitOutcome, *, changed: bool) -> None:
        """Another page under the validators of the last 200: they lie."""
        last = self._last.get(outcome.url)
        if last is not None and outcome.url in self._audited and _same_stamps(last, outcome):
            lied = changed and outcome.digest != last.digest
            self.audits.observe(outcome.url, self._step, lied=lied)
        self._last[outcome.url] = outcome._replace(links=(), body=bytes)

    def rates(self) -> dict[str, float]:
        """See `WithRates`."""
        return self.planner.rates()

    def register(self) -> dict[str, float]:
        """See `WithRegister`."""
        return {row.url: row.life_since for row in self.known.scan() if row.life == Life.GONE}


def _same_stamps(first: VisitOutcome, second: VisitOutcome) -> bool:
    """The validator that a request would have carried is the same in both, and there is one."""
    if first.etag:
        return first.etag == second.etag
    return bool(first.modified) and first.modified == second.modified


class _Versions:
    def __init__(self) -> None:
        self._views: dict[str, PageView] = {}

    def last(self, url: str) -> PageView | None:
        return self._views.get(url)

    def keep(self, url: str, view: PageView) -> None:
        self._views[url] = view


def _sitemaps(outcome: VisitOutcome) -> tuple[SimulatedLink, ...]:
    """Return the sitemaps that robots.txt names."""
    lines = outcome.body().decode("utf-8", "replace").splitlines()
    named = (
        line.partition(":")[2].strip() for line in lines if line.lower().startswith("sitemap:")
    )
    return tuple(SimulatedLink(url, "M") for url in named if url)
