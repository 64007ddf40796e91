"""What a phase is made from, in memory: rows, sites, a step, and the values of visits."""

from collections.abc import Mapping, Sequence

from nacre.core.pagerow import PageKind, PageRow
from nacre.core.urlshape import shaped
from nacre.planner.change_rate.rates import LISTS, NO_EVIDENCE, PAGES, Classes, observe
from nacre.planner.discovery.twins import Twins
from nacre.planner.phases.embeds import EmbedSigns
from nacre.planner.phases.phase import Pages, Phase, PhaseResult, ScheduledPages, Survey
from nacre.planner.phases.valuation import TrapShare, Valuation, VisitLimits
from nacre.planner.ranking import Ranking, ValueTerms, VisitValue
from nacre.planner.schedules.timetable import Timetable
from nacre.planner.settings import RecrawlSettings
from nacre.planner.sites import Sites
from nacre.planner.slices import at_once
from nacre.planner.step import PlannerInputs, Step
from nacre.planner.visited import DigestJudge, Judge, MemoryRows

DAY = 86_400.0
NOW = 1_767_571_200.0
SITE = "http://a.test/"
LIVELY = observe(NO_EVIDENCE, 1.0, changed=True)
"""The evidence of a page that changed within a day."""


def page(path: str, kind: PageKind = PageKind.PAGE, **facts: object) -> PageRow:
    """A page that was visited a week ago, with what is known of it."""
    url = SITE + path
    known = {"visits": 2, "last_visit": NOW - 7 * DAY, "evidence": LIVELY, **facts}
    return PageRow(url, kind, shaped(url).name, **known)  # type: ignore[arg-type]


class Scene:
    """A step that has just begun.

    Args:
        rows: What is known.
        judge: Compares versions; None for digests.
        timetable: Pages under a schedule.
        settings: What the operator wants.
    """

    def __init__(
        self,
        *rows: PageRow,
        judge: Judge | None = None,
        timetable: Timetable | None = None,
        **settings: object,
    ) -> None:
        self.rows, self.sites, self.step = MemoryRows(), Sites(), Step()
        self.judge = judge or DigestJudge()
        self.settings = RecrawlSettings.model_validate(settings)
        self.step.begin(NOW)
        self.inputs = PlannerInputs(self.rows, self.sites, self.judge, self.settings)
        self.scheduled = ScheduledPages(timetable, NOW)
        self.survey = Survey(NOW, self.sites.traps)
        self.traps = TrapShare(self.inputs)
        self.embeds = EmbedSigns(self.inputs, self.step)
        classes = Classes(lambda row: row.evidence, PAGES)
        arrivals = Classes(lambda row: row.arrivals, LISTS)
        terms = ValueTerms(1.0, self.settings.floor, versions=True)
        ranking = Ranking(classes, arrivals, terms)
        self.twins = Twins(self.rows, NOW)
        limits = VisitLimits(self.traps, self.twins)
        self.valuation = Valuation(self.inputs, self.step, ranking, limits, classes)
        for row in rows:
            self.rows.put(row)
            if not self.scheduled.take(row):
                self.survey.take(row)
        self.pages = Pages(self.rows, self.scheduled, self.survey.size)


def chosen(phase: Phase, room: int = 100) -> PhaseResult:
    """What a phase chooses."""
    return at_once(phase.choose(room))


def whole(phase: Phase, room: int = 100) -> PhaseResult:
    """What a phase that chooses a portion at a time has chosen in the end."""
    result = chosen(phase, room)
    while result.repeat:
        more = chosen(phase, room - len(result.visits))
        result = more._replace(visits=result.visits + more.visits)
    return result


def paths(result: PhaseResult, reason: str = "") -> list[str]:
    """Paths of the visits, all or those of one reason."""
    wanted: Sequence[str] = [
        one.url.removeprefix(SITE) for one in result.visits if reason in {"", one.reason}
    ]
    return list(wanted)


def slices(phase: Phase, room: int = 10_000) -> int:
    """After how many slices of work a phase has chosen."""
    work, count = phase.choose(room), 0
    for _ in work:
        count += 1
    return count


def valued(scene: Scene, values: Mapping[str, tuple[float, float]]) -> None:
    """Give visits of these paths a value and a chance, and no others."""

    def of(row: PageRow) -> VisitValue | None:
        found = values.get(row.url.removeprefix(SITE))
        return found and VisitValue(*found, row.url, due=False, reason="rate")

    scene.valuation.of = of  # type: ignore[method-assign]
