"""Bids of single pages."""

import math

import pytest

from nacre.core.pagerow import PageRow
from nacre.planner.change_rate.rates import LISTS, NO_EVIDENCE, PAGES, Classes, observe
from nacre.planner.change_rate.value import DAY, Hazard, SiteTime, captured
from nacre.planner.ranking import Ranking, ValueTerms, VisitValue, Wanted, choose

NOW = 2e9


@pytest.mark.parametrize("index", [0.0, 1.0])
def test_a_page_that_was_visited_later_than_now_is_not_likely_to_have_changed(index: float):
    evidence = observe(NO_EVIDENCE, 1.0, changed=True)
    row = PageRow("http://a.test/", visits=2, index=index, evidence=evidence, arrivals=evidence)
    row.last_visit = NOW + 90 * DAY
    ranking = Ranking(
        Classes(lambda row: row.evidence, PAGES),
        Classes(lambda row: row.arrivals, LISTS),
        ValueTerms(theta=1.0, floor=180 * DAY, versions=True),
    )
    bid = ranking.visit(row, NOW, SiteTime(Hazard()), ())
    assert bid is not None
    assert [bid.value, bid.chance] == pytest.approx([0.0, 0.0])
    assert not bid.due


@pytest.mark.parametrize(("mapped", "least"), [(False, 0.5), (True, 0.0)])
def test_a_list_is_expected_to_change_as_any_page_unless_a_sitemap_shows_the_same(
    mapped: bool, least: float
) -> None:
    evidence = NO_EVIDENCE
    for _ in range(5):
        evidence = observe(evidence, 7.0, changed=True)
    row = PageRow("http://a.test/", visits=6, index=1.0, evidence=evidence)
    row.last_visit = NOW - 7 * DAY
    ranking = Ranking(
        Classes(lambda row: row.evidence, PAGES),
        Classes(lambda row: row.arrivals, LISTS),
        ValueTerms(theta=1.0, floor=180 * DAY, versions=True),
    )
    time = SiteTime(Hazard(), lists=0.003, untold=0.0, is_mapped=mapped)
    bid = ranking.visit(row, NOW, time, ())
    assert bid is not None
    assert least <= bid.chance <= least + 0.5


def test_new_links_of_a_list_are_counted_among_its_changes_once() -> None:
    calm, often = NO_EVIDENCE, NO_EVIDENCE
    for _ in range(5):
        calm, often = (observe(e, 7.0, changed=c) for e, c in ((calm, False), (often, True)))
    ranking = Ranking(
        Classes(lambda row: row.evidence, PAGES),
        Classes(lambda row: row.arrivals, LISTS),
        ValueTerms(theta=1.0, floor=180 * DAY, versions=True),
    )

    def chance(evidence: bytes, arrivals: bytes) -> float:
        row = PageRow("http://a.test/", visits=6, index=1.0, evidence=evidence, arrivals=arrivals)
        row.last_visit = NOW - 7 * DAY
        bid = ranking.visit(row, NOW, SiteTime(Hazard()), ())
        assert bid is not None
        return bid.chance

    both = chance(often, often)
    assert both == max(chance(often, calm), chance(calm, often))
    assert chance(calm, calm) < both < 1.0


def _look(row: PageRow, days: float) -> tuple[str, bool] | None:
    """Reason of a look at a page that long after its last visit, and whether it has to be made."""
    row.last_visit, row.visits = NOW, 2
    ranking = Ranking(
        Classes(lambda row: row.evidence, PAGES),
        Classes(lambda row: row.arrivals, LISTS),
        ValueTerms(theta=1.0, floor=180 * DAY, versions=True),
    )
    bid = ranking.visit(row, NOW + days * DAY, SiteTime(Hazard()), ())
    return (bid.reason, bid.due) if bid else None


@pytest.mark.parametrize(
    ("digest", "days", "look"),
    [("sha1:x", 29, None), ("sha1:x", 30, ("moved?", False)), ("sha1:x", 180, ("moved?", True)),
     ("", 7, ("moved?", False)), ("", 179, ("moved?", False)), ("", 180, ("floor", True))],
)  # fmt: skip
def test_redirects_are_looked_at_again(
    digest: str, days: float, look: tuple[str, bool] | None
) -> None:
    assert _look(PageRow("http://a.test/x", life="moved", digest=digest), days) == look


@pytest.mark.parametrize("life", ["gone", "moved"])
@pytest.mark.parametrize(
    ("source", "look"), [("sitemap", ("told", False)), ("feed", ("told", False)), ("listing", None)]
)
def test_what_a_sitemap_names_anew_may_be_back(
    life: str, source: str, look: tuple[str, bool] | None
) -> None:
    row = PageRow("http://a.test/x", life=life, digest="sha1:x", told=(source,))
    assert _look(row, 1) == look


@pytest.mark.parametrize(
    ("visits", "age", "asked"),
    [
        (1, 6, False),
        (1, 7, True),
        (2, 13, False),
        (2, 14, True),
        (3, 27, False),
        (3, 28, True),
        (4, 56, True),
        (5, 84, False),
        (5, 112, True),
    ],
)
def test_dead_links_are_looked_at_at_each_doubling_of_their_age(
    visits: int, age: float, asked: bool
) -> None:
    row = PageRow("http://a.test/x", life="gone", visits=visits, first_seen=NOW)
    row.last_visit = NOW + (0.0 if visits == 1 else 7 * 2 ** (visits - 2)) * DAY
    ranking = Ranking(
        Classes(lambda row: row.evidence, PAGES),
        Classes(lambda row: row.arrivals, LISTS),
        ValueTerms(theta=1.0, floor=180 * DAY, versions=True),
    )
    bid = ranking.visit(row, NOW + age * DAY, SiteTime(Hazard()), ())
    assert (bid is not None) is asked
    assert bid is None or (bid.reason, bid.due) == ("gone?", False)


def test_a_dead_link_is_worth_less_than_a_page_that_changes_as_likely() -> None:
    dead = PageRow("http://a.test/x", life="gone", visits=1, first_seen=NOW, last_visit=NOW)
    page = PageRow("http://a.test/y", visits=2, evidence=NO_EVIDENCE, last_visit=NOW)
    ranking = Ranking(
        Classes(lambda row: row.evidence, PAGES),
        Classes(lambda row: row.arrivals, LISTS),
        ValueTerms(theta=1.0, floor=180 * DAY, versions=True),
    )
    bid, other = (ranking.visit(row, NOW + 7 * DAY, SiteTime(Hazard()), ()) for row in (dead, page))
    assert bid is not None
    assert other is not None
    assert bid.chance == 0.05
    assert bid.value < other.value


@pytest.mark.parametrize(("room", "visits"), [(1, 1), (2, 2), (3, 0)])
def test_what_a_tight_budget_allows_is_used(room: int, visits: int) -> None:
    values = [VisitValue(0.1, 1e-4, name, due=False, reason="rate") for name in "abc"]
    assert len(choose(values, room, Wanted(0.9, least=0.004))) == visits


def test_an_event_counts_beside_the_own_rate_of_a_page() -> None:
    row = PageRow("http://a.test/x", visits=2, evidence=NO_EVIDENCE, last_visit=NOW)
    ranking = Ranking(
        Classes(lambda row: row.evidence, PAGES),
        Classes(lambda row: row.arrivals, LISTS),
        ValueTerms(theta=1.0, floor=180 * DAY, versions=True),
    )
    time = SiteTime(Hazard())
    calm = ranking.visit(row, NOW + 7 * DAY, time, ())
    hit = ranking.visit(row, NOW + 7 * DAY, time._replace(event=0.9, fresh=0.9), ())
    late = ranking.visit(row, NOW + 7 * DAY, time._replace(event=0.9), ())
    assert calm is not None
    assert hit is not None
    assert 1.0 - hit.chance == pytest.approx(0.1 * (1.0 - calm.chance))
    assert hit.value == pytest.approx(calm.value + captured(math.log(10.0)))
    assert late is not None
    assert late.chance == hit.chance
    assert late.value == pytest.approx(calm.value + 0.3 * captured(math.log(10.0)))


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        (Wanted(1.0, 0.004), ["a", "b", "c"]),
        (Wanted(0.995, 0.004), ["a", "b"]),
        (Wanted(0.5, 0.004), ["a"]),
        (Wanted(0.9999, 0.0), ["a", "b", "c"]),
    ],
)
def test_a_recall_of_1_visits_every_page(wanted: Wanted, chosen: list[str]) -> None:
    values = [
        VisitValue(chance, chance, url, due=False, reason="rate")
        for url, chance in (("c", 0.001), ("a", 0.9), ("b", 0.3))
    ]
    assert [value.url for value in choose(values, 10, wanted)] == chosen
