"""Bids of single pages."""

import pytest

from nacre.core.pagerow import PageRow
from nacre.history.recrawl.ranking import DAY, Ranking, Terms, Time
from nacre.history.worth.classes import Classes
from nacre.history.worth.rates import LISTS, NO_EVIDENCE, PAGES, observe
from nacre.history.worth.season import Hazard, Season

NOW = 2e9


@pytest.mark.parametrize("index", [0.0, 1.0])
def test_a_page_that_was_visited_later_than_now_is_not_likely_to_have_changed(index: float):
    evidence = observe(NO_EVIDENCE, 1.0, changed=True)
    row = PageRow("http://a.test/", visits=2, index=index, evidence=evidence, arrivals=evidence)
    row.last_visit = NOW + 90 * DAY
    ranking = Ranking(
        Classes(lambda row: row.evidence, PAGES),
        Classes(lambda row: row.arrivals, LISTS),
        Terms(theta=1.0, floor=180 * DAY, versions=True),
    )
    bid = ranking.bid(row, NOW, Time(Season(), Hazard()), ())
    assert bid is not None
    assert [bid.worth, bid.chance] == pytest.approx([0.0, 0.0])
    assert not bid.due
