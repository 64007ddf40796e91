"""The planner of incremental crawling: which known pages to visit again, and when (pure).

A step has phases. The first phases visit sources of links and hints: start pages, sitemaps, feeds,
index pages. The next phases visit new links and announced changes. Then pages are visited by the
value of a visit, until the budget is spent or the wanted recall is expected. A random sample of
pages keeps the estimates unbiased. `Planner._make_phases` lists the phases.
See docs/recrawl.md.
"""

from collections.abc import Sequence

from nacre.core.pagerow import PageKind
from nacre.core.status import FetchStatus
from nacre.planner.change_rate.rates import LISTS, PAGES, Classes, mean_rate
from nacre.planner.discovery.twins import Twins
from nacre.planner.learning import Learning
from nacre.planner.phases.embeds import Embeds, EmbedSigns
from nacre.planner.phases.hint_sources import (
    DoubtedSitemaps,
    DuePages,
    HintedPages,
    HintTrial,
    IndexPages,
    SitemapIndexes,
    Sources,
    StartPages,
)
from nacre.planner.phases.phase import (
    Pages,
    Phase,
    PhaseResult,
    ScheduledPages,
    Survey,
    ValueOutcome,
)
from nacre.planner.phases.samples import (
    MoreSamples,
    PagesByValue,
    SampleDraws,
    Samples,
    SecondFetches,
)
from nacre.planner.phases.sentinels import SectionDraws, Sentinels
from nacre.planner.phases.shares import NEW, Shares
from nacre.planner.phases.valuation import IdleParameters, TrapShare, Valuation, VisitLimits
from nacre.planner.ranking import Ranking, ValueTerms
from nacre.planner.schedules.timetable import Timetable
from nacre.planner.settings import RecrawlSettings
from nacre.planner.sites import Sites
from nacre.planner.slices import ROWS, Slices, at_once
from nacre.planner.step import THETA, Choice, PlannerInputs, Step
from nacre.planner.visited import Judge, Rows, Visited, VisitFinding, unknown_page


class Planner:
    """Plans steps and learns from visits.

    Args:
        rows: The rows of all known pages.
        sites: The knowledge about their sites: hints, lists.
        judge: Compares versions.
        settings: The settings of the planner.
        timetable: Pages under a schedule, which are visited when they are due; None if none are.
    """

    def __init__(
        self,
        rows: Rows,
        sites: Sites,
        judge: Judge,
        settings: RecrawlSettings,
        timetable: Timetable | None = None,
    ) -> None:
        sites.use_hints(enabled=settings.hints)
        self._inputs = inputs = PlannerInputs(rows, sites, judge, settings)
        self._timetable = timetable
        self._starts: tuple[str, ...] = ()
        self._step = Step()
        self._classes = Classes(lambda row: row.evidence, PAGES)
        self._arrivals = Classes(lambda row: row.arrivals, LISTS)
        self._embeds = EmbedSigns(inputs, self._step)
        self._traps = TrapShare(inputs)
        self._idle = IdleParameters(inputs)
        self._twins = Twins(rows, 0.0)
        self._learning = Learning(inputs, self._step, self._classes, self._embeds)
        self._phases: list[Phase] = []
        self._shares = Shares()
        self._by_value: PagesByValue | None = None
        self._scheduled = ScheduledPages(timetable, 0.0)
        self._outcome = ValueOutcome()
        self._marginal = 0.0
        self._known = 0

    def begin(self, starts: Sequence[str], last: float = 0.0, marginal: float = 0.0) -> None:
        """Set the start pages, and the result of the previous step in an earlier process.

        Args:
            starts: Seeds, and sitemaps from robots.txt.
            last: Time of the previous step, seconds since the epoch; 0 if it was made by this
                planner, or if there was none.
            marginal: Its marginal value; 0 if it was not tight.
        """
        self._starts = tuple(starts)
        if last:
            self._step.time, self._marginal = last, marginal

    def recall(
        self, now: float, chosen: Sequence[Choice] = (), remaining: int = -1
    ) -> Slices[None]:
        """Begin a step, or resume a step that another process began.

        Args:
            now: Time of the step.
            chosen: Choices of the step so far, without the pairs that were made.
            remaining: Number of remaining phases (`phases_left`); -1 for all of them.
        """
        self._learning.settle()
        self._step.begin(now)
        self._step.take_up(chosen)
        sites = self._inputs.sites
        self._step.take_paging(sites.paging())
        yield from self._begin_phases()
        self._traps.begin(chosen)
        yield from self._idle.begin()
        if remaining >= 0:
            self._phases = self._phases[len(self._phases) - remaining :]

    def _begin_phases(self) -> Slices[None]:
        """Read all rows once, fit the change rates, and make the phases."""
        rows, sites = self._inputs.rows, self._inputs.sites
        step = self._step
        sites.begin_step(step.time, step.every)
        scheduled = self._scheduled = ScheduledPages(self._timetable, step.time)
        survey, draws = Survey(step.time, sites.traps), SampleDraws(step.time)
        sections = SectionDraws(step.time)
        self._twins = Twins(rows, step.time)
        valuation = self._make_valuation()
        self._classes.forget()
        self._arrivals.forget()
        self._embeds.begin()
        for number, row in enumerate(rows.scan()):
            if not number % ROWS:
                yield
            if not scheduled.take(row):
                survey.take(row)
                draws.take(row)
                self._embeds.take(row)
                sections.take(row)
                self._twins.take(row)
            self._classes.note(row, valuation.quiet)
            self._arrivals.note(row)
        yield from self._classes.refit()
        yield from self._arrivals.refit()
        step.meet(survey.unvisited)
        self._known = survey.size - len(survey.unvisited)
        self._outcome = self._outcome._replace(tight=False)
        self._shares = Shares()
        self._phases = self._make_phases(scheduled, survey, draws, sections, valuation)

    def _make_valuation(self) -> Valuation:
        """The values of visits in this step; its marginal value is that of the step before."""
        settings = self._inputs.settings
        terms = ValueTerms(
            THETA[settings.aim],
            settings.floor,
            versions=settings.aim != "fresh",
            marginal=self._marginal,
            every=self._step.every,
        )
        ranking = Ranking(self._classes, self._arrivals, terms)
        limits = VisitLimits(self._traps, self._twins)
        return Valuation(self._inputs, self._step, ranking, limits, self._classes)

    def _make_phases(
        self,
        scheduled: ScheduledPages,
        survey: Survey,
        draws: SampleDraws,
        sections: SectionDraws,
        valuation: Valuation,
    ) -> list[Phase]:
        """The phases of a step, in their order.

        A store remembers how many are left of a step that was cut off: their number stays.
        """
        rows, sites, judge, settings = self._inputs
        step, starts, maps = self._step, self._starts, sites.maps
        pages = Pages(rows, scheduled, survey.size)
        sources = [Choice(url, 1.0, kind) for url, kind in survey.sources if settings.hints]
        samples = Samples(draws, pages, valuation, sites, step)
        pairs = SecondFetches(starts, survey.size, scheduled, judge, step)
        self._by_value = PagesByValue(pages, valuation, self._embeds, pairs, settings, step)
        return [
            SitemapIndexes(sources, maps),
            StartPages(starts, sources, maps, pages, valuation, step),
            DoubtedSitemaps(sources, maps, step),
            DuePages(scheduled, pages, valuation),
            IndexPages(survey, pages, valuation, sites, settings, step),
            Sources(pages, valuation, step),
            Sentinels(sections, pages, valuation, sites, step),
            HintTrial(survey, pages, valuation, sites, step),
            HintedPages(survey, pages, valuation, step),
            samples,
            MoreSamples(samples, pages, step),
            pairs,
            self._by_value,
            pairs,
            Embeds(self._embeds, pages, valuation, step),
        ]

    @property
    def expected(self) -> tuple[float, float]:
        """Changes expected at the beginning of the step, and of the pages chosen."""
        return self._outcome.expected

    @property
    def least(self) -> float:
        """Value of the last visit that was chosen for its value: the marginal value."""
        return self._outcome.least

    @property
    def trapped(self) -> int:
        """Visits of the step that wait, because they lead into traps."""
        return self._traps.held

    @property
    def is_cut(self) -> bool:
        """Whether the room did not suffice for all visits that the step wanted, so far."""
        return self._outcome.tight or bool(self._phases or self._step.new or self._step.waiting)

    @property
    def repeated(self) -> int:
        """New URLs of the step that wait, because they differ in idle parameters only."""
        return self._idle.held + self._twins.held

    @property
    def phases_left(self) -> int:
        """Phases of the current step that did not begin."""
        return len(self._phases)

    def choose(self, now: float, room: int) -> list[Choice]:
        """Return the pages to visit next, in one go; see `choosing`."""
        return at_once(self.choosing(now, room))

    def choosing(self, now: float, room: int) -> Slices[list[Choice]]:
        """Return the pages to visit next, in slices; none once the step is done.

        Args:
            now: Time of the step, seconds since the epoch: the same for all phases of a step.
            room: Visits left in this step.
        """
        step = self._step
        if now != step.time:
            yield from self.recall(now)
        self._shares.begin(room, step.chosen.values())
        while room > 0:
            chosen = step.take_pages(room)
            new, older = self._take_new(room - len(chosen))
            chosen += new + older
            while not chosen and self._phases:
                phase = self._phases.pop(0)
                result = yield from phase.choose(room)
                self._note(phase, result)
                chosen = result.visits
            chosen = chosen or step.take_new(room, room)
            chosen = [choice for choice in chosen if choice.url not in step.done][:room]
            chosen = self._twins.admitted(self._idle.admitted(chosen, step.time))
            admitted = self._traps.admitted(chosen, room, self._known + len(step.chosen))
            if len(admitted) < len(chosen):
                self._give_room_of_traps()
            if admitted:
                step.take(admitted)
                waiting = len(set(older).intersection(admitted))
                total = sum(choice.reason in NEW for choice in admitted)
                self._shares.take(total - waiting, waiting)
                return admitted
            if not self._phases and not step.new and not step.waiting:
                break
        self._learning.settle()
        return []

    def _take_new(self, room: int) -> tuple[list[Choice], list[Choice]]:
        """Take new pages, of this step and of earlier ones, within their shares of the budget."""
        step, shares = self._step, self._shares
        new, waiting = min(len(step.new), shares.room_for_new(room)), 0
        if room > new:
            waiting = min(len(step.waiting), shares.room_for_waiting(room - new))
        added = step.take_new(new, waiting)
        return added[:new], added[new:]

    def _note(self, phase: Phase, result: PhaseResult) -> None:
        """Note in the step what a phase chose and left out."""
        self._step.leave_out(result.left_out)
        if result.again:
            paired = any(choice.reason == "pair" for choice in result.visits)
            self._step.ask_again(result.again, paired=paired)
        if result.repeat:
            self._phases.insert(0, phase)
        if result.value is not None:
            self._outcome = result.value
            self._marginal = result.value.least if result.value.tight else 0.0

    def _give_room_of_traps(self) -> None:
        """Give other pages the room that traps took, once traps have used up their share."""
        if self._outcome.tight and self._by_value is not None:
            self._outcome = self._outcome._replace(tight=False)
            self._by_value.restart()
            if self._by_value not in self._phases[:1]:
                self._phases.insert(0, self._by_value)

    def postpones(self, url: str, depth: int) -> bool:
        """Whether an embed that was never visited waits: it competes with new pages then.

        Args:
            url: URL of the embed.
            depth: Hops from a start page.
        """
        if not self._shares.is_full_of_embeds(self._known):
            return False
        rows, step = self._inputs.rows, self._step
        if rows.get(url) is None:
            rows.put(unknown_page(url, step.time, depth, PageKind.EMBED))
        if url not in step.done:
            step.waiting.setdefault(url, depth)
        return True

    def reopen(self) -> bool:
        """Let `choosing` continue, because there is room again; False if it cannot."""
        if not self._outcome.tight or self._by_value is None:
            return False
        self._outcome = self._outcome._replace(tight=False)
        self._by_value.restart()
        self._phases.append(self._by_value)
        return True

    def counting(self) -> Slices[int]:
        """Return the number of due pages that were not chosen in the step, in slices.

        These are new pages, pages that are due by a schedule, and pages worth a visit. Pages that
        lead into traps are not counted: see `held`.
        """
        step = self._step
        remaining = {
            url for url in (*step.paging, *step.new, *step.waiting) if url not in step.done
        }
        remaining.update(url for _, url in self._scheduled.due if url not in step.done)
        if self._by_value is None:
            return len(remaining)
        return len(remaining) + (yield from self._by_value.counting())

    def learn(self, visit: Visited) -> VisitFinding:
        """Learn from a visit; one that robots.txt forbade was no request."""
        choice = self._step.chosen.get(visit.url)
        is_forbidden = visit.status == FetchStatus.ROBOTS_PRECLUDED
        if is_forbidden and choice is not None and choice.reason in NEW:
            self._shares.take(-1, 0)
        return self._learning.learn(visit)

    def rates(self) -> dict[str, float]:
        """Expected changes a day of every page that was visited twice."""
        rows, posterior = self._inputs.rows, self._classes.posterior
        return {row.url: mean_rate(posterior(row)) for row in rows.scan() if row.evidence}
