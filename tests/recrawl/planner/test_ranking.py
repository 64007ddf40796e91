"""Bids of single pages."""

import pytest

from nacre.core.pagerow import PageRow
from nacre.recrawl.planner.change_rate.rates import LISTS, NO_EVIDENCE, PAGES, Classes, observe
from nacre.recrawl.planner.change_rate.value import DAY, Hazard, Season, SiteTime
from nacre.recrawl.planner.ranking import Ranking, ValueTerms

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
    bid = ranking.visit(row, NOW, SiteTime(Season(), Hazard()), ())
    assert bid is not None
    assert [bid.value, bid.chance] == pytest.approx([0.0, 0.0])
    assert not bid.due


def _look(row: PageRow, days: float) -> tuple[str, bool] | None:
    """Reason of a look at a page that long after its last visit, and whether it has to be made."""
    row.last_visit, row.visits = NOW, 2
    ranking = Ranking(
        Classes(lambda row: row.evidence, PAGES),
        Classes(lambda row: row.arrivals, LISTS),
        ValueTerms(theta=1.0, floor=180 * DAY, versions=True),
    )
    bid = ranking.visit(row, NOW + days * DAY, SiteTime(Season(), Hazard()), ())
    return (bid.reason, bid.due) if bid else None


@pytest.mark.parametrize(
    ("digest", "days", "look"),
    [("sha1:x", 29, None), ("sha1:x", 30, ("moved?", False)), ("sha1:x", 180, ("moved?", True)),
     ("", 7, None), ("", 179, None), ("", 180, ("floor", True))],
)  # fmt: skip
def test_what_turned_into_a_redirect_may_come_back_and_what_always_was_one_rests(
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
