"""What the planner learns of a page from one visit of it, and of others through it."""

from collections.abc import Callable

import pytest

from nacre.core.pagerow import PageKind, PageRow
from nacre.planner.change_detection.change import ChangeClass
from nacre.planner.change_detection.deletion import Answer
from nacre.planner.change_rate.rates import LISTS, PAGES, Classes, mean_rate
from nacre.planner.discovery.hints import HintSource
from nacre.planner.learning import Learning
from nacre.planner.phases.embeds import EmbedSigns
from nacre.planner.settings import RecrawlSettings
from nacre.planner.sites import Sites
from nacre.planner.step import PAGING, Choice, PlannerInputs, Step
from nacre.planner.visited import DigestJudge, MemoryRows, Visited, VisitFinding
from tests.history.visits import Link, Visit

DAY = 86_400.0
NOW = 1_767_571_200.0
URL = "http://a.test/news/1.html"
SAME = VisitFinding(Answer.THERE)
CHANGED = VisitFinding(Answer.THERE, ChangeClass.MAJOR)
SILENT = VisitFinding(Answer.SILENT)


class _Says(DigestJudge):
    """A judge that says what the test wants."""

    def __init__(self) -> None:
        self.finding = SAME
        self.differing: frozenset[int] = frozenset()

    def judge(self, row: PageRow, visit: Visited) -> VisitFinding:
        return self.finding

    def pair(self, row: PageRow, visit: Visited) -> frozenset[int]:
        return self.differing


class _Learner:
    """Learning with rows in memory, in a step at `NOW`."""

    def __init__(self, *rows: PageRow, **settings: object) -> None:
        self.rows, self.sites, self.step = MemoryRows(), Sites(), Step()
        self.judge = _Says()
        wanted = RecrawlSettings.model_validate(settings)
        known = PlannerInputs(self.rows, self.sites, self.judge, wanted)
        self.step.begin(NOW)
        self.classes = Classes(lambda row: row.evidence, PAGES)
        self.learning = Learning(known, self.step, self.classes, EmbedSigns(known, self.step))
        for row in rows:
            self.rows.put(row)

    def visit(
        self,
        finding: VisitFinding = SAME,
        *,
        url: str = URL,
        time: float = NOW,
        status: int = 200,
        mime: str = "text/html",
        links: tuple[Link, ...] = (),
    ) -> PageRow:
        """Learn from a visit; the row after it."""
        self.judge.finding = finding
        digest = f"sha1:{time}" if finding.kind.is_change else "sha1:A"
        self.learning.learn(Visit(url, time, status, digest, mime, 100, links, bytes))
        row = self.rows.get(url)
        assert row is not None
        return row


def _known(**facts: object) -> PageRow:
    wanted = {"visits": 3, "last_visit": NOW - 7 * DAY, "digest": "sha1:A", **facts}
    return PageRow(URL, template="http://a.test/news/{int}.html", **wanted)  # type: ignore[arg-type]


def _rate(row: PageRow) -> float:
    """Changes a day that are expected of a page, by its own evidence."""
    return mean_rate(Classes(lambda row: row.evidence, PAGES).posterior(row))


@pytest.mark.parametrize(
    ("mime", "kind"),
    [
        *(("text/html", PageKind.PAGE), ("application/xhtml+xml", PageKind.PAGE)),
        *(("", PageKind.PAGE), ("application/pdf", PageKind.FILE), ("text/plain", PageKind.FILE)),
        *(("image/png", PageKind.EMBED), ("text/css", PageKind.EMBED)),
        *(("application/javascript", PageKind.EMBED), ("font/woff2", PageKind.EMBED)),
    ],
)
def test_the_first_answer_says_what_a_url_is_visited_for(mime: str, kind: PageKind) -> None:
    learner = _Learner()
    assert learner.visit(mime=mime).kind is kind
    assert learner.visit(mime="image/png", time=NOW + DAY).kind is kind


def test_an_error_says_nothing_of_the_kind() -> None:
    learner = _Learner()
    missing = VisitFinding(Answer.MISSING)
    row = learner.visit(missing, status=404, mime="image/png")
    assert (row.kind, row.visits) == (PageKind.PAGE, 1)


def test_a_visit_without_an_answer_is_an_error_and_nothing_else() -> None:
    learner = _Learner(_known(told=("sitemap",)))
    row = learner.visit(SILENT, status=-2)
    assert (row.errors, row.visits, row.last_visit) == (1, 3, NOW - 7 * DAY)
    assert row.told == ("sitemap",)
    assert URL in learner.step.touched
    assert learner.step.found == 0.0


def test_a_change_is_counted_and_raises_the_rate() -> None:
    changed, same = _Learner(_known()), _Learner(_known())
    row, other = changed.visit(CHANGED), same.visit()
    assert (row.visits, row.changes, row.last_change, row.last_visit) == (4, 1, NOW, NOW)
    assert (other.changes, other.last_change) == (0, 0.0)
    assert _rate(row) > _rate(other)
    assert (changed.step.found, same.step.found) == (1.0, 0.0)
    assert changed.step.looked_changed == [URL]
    assert changed.step.compared == {"a.test /news/*{int}.html": 1}


def test_the_second_comparison_is_none_of_the_first_ones() -> None:
    learner = _Learner(_known())
    learner.visit()
    learner.visit(time=NOW + DAY)
    assert learner.step.compared == {"a.test /news/*{int}.html": 1}


def test_new_pages_are_found_and_embeds_are_not() -> None:
    learner = _Learner()
    learner.visit()
    learner.visit(url="http://a.test/a.png", mime="image/png")
    assert learner.step.found == 1.0
    assert learner.visit().evidence != b""


def test_other_bytes_without_a_change_are_noise() -> None:
    learner = _Learner(_known(digest="sha1:old"))
    assert learner.visit().noise == 1
    assert learner.visit(time=NOW + DAY).noise == 1
    fresh = _Learner()
    assert fresh.visit().noise == 0


def test_what_a_version_says_is_kept_until_another_says_more() -> None:
    learner = _Learner(_known(index=0.25))
    row = learner.visit(CHANGED)
    assert (row.index, row.bytes, row.digest) == (0.25, 100, f"sha1:{NOW}")
    row = learner.visit(CHANGED._replace(listing=0.75), time=NOW + DAY)
    assert row.index == 0.75


def test_an_index_page_that_changed_is_not_fetched_twice() -> None:
    learner = _Learner(_known())
    learner.visit(CHANGED._replace(listing=0.9))
    assert learner.step.looked_changed == []


def test_what_is_missing_is_suspect_until_it_is_looked_at_again() -> None:
    learner = _Learner(_known())
    row = learner.visit(VisitFinding(Answer.MISSING), status=404)
    assert (row.life, row.changes, row.life_since) == ("suspect", 1, NOW)
    row = learner.visit(VisitFinding(Answer.MISSING), status=404, time=NOW + DAY)
    assert (row.life, row.changes) == ("gone", 1)
    assert row.digest == "sha1:A"


@pytest.mark.parametrize(
    ("told", "life"), [(("sitemap",), "gone"), (("co-change",), "suspect"), ((), "suspect")]
)
def test_where_its_site_says_so_too_one_look_is_enough(told: tuple[str, ...], life: str) -> None:
    told = tuple(str(HintSource.CO_CHANGE) if one == "co-change" else one for one in told)
    row = _Learner(_known(told=told)).visit(VisitFinding(Answer.MISSING), status=404)
    assert row.life == life


def test_a_page_that_moved_says_where_to() -> None:
    links = (Link("http://a.test/other", "L"), Link("http://a.test/new", "R"))
    learner = _Learner(_known())
    row = learner.visit(VisitFinding(Answer.MOVED), status=301, links=links)
    assert (row.life, row.target) == ("moved", "http://a.test/new")
    moved = learner.rows.get("http://a.test/new")
    assert moved is not None
    assert moved.depth == row.depth


def test_a_second_fetch_teaches_the_judge_alone() -> None:
    learner = _Learner(_known())
    learner.step.ask_again([URL], paired=True)
    learned: list[str] = []
    learner.step.unconfirmed.note("http://a.test/other", 7, lambda: learned.append("real"))
    learner.judge.differing = frozenset((7,))
    row = learner.visit(CHANGED)
    assert (row.visits, row.last_visit) == (3, NOW - 7 * DAY)
    learner.learning.settle()
    assert learned == ["real"]  # the pair was of another page
    assert learner.visit(CHANGED).visits == 4


def _trust(learner: _Learner) -> tuple[float, float]:
    trust = learner.sites._sites["a.test"].trust["sitemap"]
    return trust.told, trust.false


@pytest.mark.parametrize(
    ("settled", "expected"),
    [(lambda learner: learner.learning.settle(), (1.0, 0.0)), (lambda learner: None, None)],
    ids=["at the end", "before"],
)
def test_what_a_change_that_may_be_noise_says_of_sources_waits(
    settled: Callable[[_Learner], None], expected: tuple[float, float] | None
) -> None:
    learner = _Learner(_known(told=("sitemap",)))
    learner.visit(CHANGED._replace(suspect=7))
    settled(learner)
    if expected is None:
        assert "a.test" not in learner.sites._sites or "sitemap" not in (
            learner.sites._sites["a.test"].trust
        )
    else:
        assert _trust(learner) == expected


@pytest.mark.parametrize(("finding", "expected"), [(CHANGED, (1.0, 0.0)), (SAME, (0.0, 1.0))])
def test_sources_are_judged_by_what_they_told(
    finding: VisitFinding, expected: tuple[float, float]
) -> None:
    learner = _Learner(_known(told=("sitemap",)))
    learner.visit(finding)
    assert _trust(learner) == expected


@pytest.mark.parametrize(("propensity", "untold"), [(1.0, 1.0), (0.25, 4.0)])
def test_a_change_of_which_nobody_told_counts_for_all_that_were_not_drawn(
    propensity: float, untold: float
) -> None:
    learner = _Learner(_known(listed=NOW, lastmod="2020-01-01"))
    learner.sites.read_map("http://a.test/map.xml", NOW)
    learner.step.take([Choice(URL, 0.5, "sample", propensity)])
    learner.visit(CHANGED)
    assert learner.sites._sites["a.test"].trust["sitemap"].untold == untold


def test_a_further_page_of_a_list_is_tried_five_times() -> None:
    learner = _Learner(_known())
    learner.sites.read_on(URL)
    learner.step.take([Choice(URL, 1.0, PAGING)])
    for _ in range(4):
        learner.visit(SILENT, status=-2)
        assert learner.sites.paging() == [URL]
    learner.visit(SILENT, status=-2)
    assert learner.sites.paging() == []


def test_a_further_page_of_a_list_that_was_read_is_done() -> None:
    learner = _Learner(_known())
    learner.sites.read_on(URL)
    learner.visit()
    assert learner.sites.paging() == [URL], "it was visited for another reason"
    learner.step.take([Choice(URL, 1.0, PAGING)])
    learner.visit()
    assert learner.sites.paging() == []


def test_lists_learn_their_pace_when_the_step_is_over() -> None:
    learner = _Learner(_known(kind=PageKind.PAGE))
    listing = SAME._replace(listing=0.9)
    learner.visit(listing, links=(Link("http://a.test/news/7.html"),))
    assert learner.visit(listing, time=NOW + DAY, links=(
        Link("http://a.test/news/8.html"), Link("http://a.test/news/7.html"),
    )).arrivals == b""  # fmt: skip
    learner.learning.settle()
    row = learner.rows.get(URL)
    assert row is not None
    arrivals = Classes(lambda row: row.arrivals, LISTS)
    assert mean_rate(arrivals.posterior(row)) > 0.1


@pytest.mark.parametrize("hints", [True, False])
def test_a_new_frame_is_evidence_of_an_event_unless_rates_alone_count(*, hints: bool) -> None:
    learner = _Learner(_known(), hints=hints)
    learner.visit(CHANGED._replace(kind=ChangeClass.TEMPLATE))
    assert learner.sites._sites["a.test"].sections[""].looks[-1].changes == int(hints)
