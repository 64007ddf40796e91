import pytest

from nacre.inspect.analysis.budget import budget_plans, document
from nacre.report.html import html_page
from nacre.report.plain import plain_text
from tests.inspect.analysis.given import Given, evidence
from tests.report.pages import harmless, look


@pytest.fixture
def known() -> Given:
    """Ten busy pages and ninety that hardly ever change."""
    given = Given()
    for number in range(100):
        busy = number < 10
        given.page(
            f"/{number}",
            visits=31,
            template=f"http://a.test/{'busy' if busy else 'calm'}",
            evidence=evidence(1.0, "1" * 30 if busy else "0" * 30),
        )
    return given


def test_more_requests_buy_more(known: Given):
    found = budget_plans(known)
    assert found.pages == 100
    for one, two in zip(found.plans, found.plans[1:], strict=False):
        assert one.requests < two.requests
        assert one.recall < two.recall
    assert found.plans[0].requests == pytest.approx(100 / 365)
    assert found.plans[-1].requests == pytest.approx(2400)


def test_a_plan_beats_even_visits_at_the_same_cost(known: Given):
    found = budget_plans(known)
    for one in found.evens:
        assert one.planned.requests == pytest.approx(one.requests, rel=0.03)
        assert one.planned.recall >= one.even.recall * 0.99
    daily = next(one for one in found.evens if one.name == "daily")
    assert daily.requests == pytest.approx(100)
    assert daily.planned.recall > daily.even.recall + 0.1


def test_fresh_copies_are_bought_otherwise(known: Given):
    versions = budget_plans(known)
    known.settings = known.settings.model_copy(update={"aim": "fresh"})
    fresh = budget_plans(known)
    assert max(b.current - a.current for a, b in zip(versions.plans, fresh.plans, strict=True)) > 0


def test_the_price_of_a_recall_lies_between_two_plans(known: Given):
    found = budget_plans(known)
    price = found.goals["0.5"]
    assert price is not None
    below = max(one.recall for one in found.plans if one.requests <= price)
    above = min(one.recall for one in found.plans if one.requests >= price)
    assert below <= 0.5 <= above


def test_a_page_for_people(known: Given):
    page = html_page(document(budget_plans(known)))
    harmless(page)
    seen = look(page)
    assert seen.elements.count("polyline") == 3
    assert seen.elements.count("circle") == 6
    assert any(row[0] == "daily" for row in seen.rows)


def test_nothing_is_known_yet():
    assert "No page has been visited often enough" in plain_text(document(budget_plans(Given())))
