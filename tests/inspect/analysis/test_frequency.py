import math

import pytest

from nacre.core.pagerow import PageRow
from nacre.inspect.analysis.frequency import (
    change_frequency,
    document,
    even_interval,
    hour_of_week,
    interval,
)
from nacre.inspect.analysis.rate_model import RateMixture
from nacre.planner.change_rate.rates import GRID, RATES
from nacre.report.html import html_page
from nacre.report.plain import plain_text
from tests.inspect.analysis.given import MONDAY, Given, evidence
from tests.report.pages import harmless, look


@pytest.fixture
def known() -> Given:
    given = Given()
    given.run(1, 0)
    given.run(2, 1)
    given.run(3, 2)
    for name in "abc":
        given.page(f"/{name}", visits=3, last=2, evidence=evidence(1.0, "10"))
        given.visit(f"/{name}", 0, 1, kind="new", stored="novel")
    given.page("/gone", visits=2, last=1, life="suspect")
    given.page("/new", visits=1, last=1)
    given.visit("/gone", 0, 1, kind="new")
    given.visit("/a", 1, 2, kind="major", stored="novel")
    given.visit("/b", 1, 2, kind="noise")
    given.visit("/c", 1, 2)
    given.visit("/gone", 1, 2, status=404, answer="missing")
    given.visit("/new", 1, 2, kind="new", wanted="new")
    given.visit("/a", 2, 3, kind="minor", stored="novel")
    given.visit("/b", 2, 3, status=-2, answer="silent", kind="")
    given.visit("/c", 2, 3, kind="template")
    given.visit("/gone", 2, 3, status=404, answer="missing")
    return given


def test_days_count_what_visits_found(known: Given):
    found = change_frequency(known)
    assert [(d.day, d.visits, d.new, d.changed, d.deleted) for d in found.days] == [
        ("2026-11-24", 5, 1, 1, 1),
        ("2026-11-25", 4, 0, 1, 0),
    ]


def test_classes_are_those_of_pages_known_before(known: Given):
    assert change_frequency(known).classes == {
        "none": 1, "major": 1, "noise": 1, "minor": 1, "template": 1,
    }  # fmt: skip


def test_hours_begin_on_monday():
    assert hour_of_week(MONDAY) == 0
    assert hour_of_week(MONDAY + 7 * 86_400.0 - 1) == 167


def test_a_change_is_shared_among_the_hours_in_which_it_may_have_come(known: Given):
    week = change_frequency(known).week
    assert sum(week[0]) == pytest.approx(1.0)
    assert sum(week[1]) == pytest.approx(1.0)
    assert max(week[0]) == pytest.approx(1 / 24)
    assert sum(map(sum, week[2:])) == 0.0


@pytest.mark.parametrize(("later", "unplaced"), [(7.0, 0), (7.13, 0), (8.0, 0), (8.1, 1), (30, 1)])
def test_a_change_between_visits_a_week_and_some_hours_apart_has_its_hours(
    known: Given, later: float, unplaced: int
):
    known.visit("/a", 2 + later, 3, kind="major")
    found = change_frequency(known)
    assert found.unplaced == unplaced
    assert sum(map(sum, found.week)) == pytest.approx(3.0 - unplaced)


def weekly(runs: int) -> Given:
    """A job run every week, of whose pages one in four changes each week."""
    given = Given()
    for number in range(runs):
        given.run(number + 1, 7.0 * number)
    for number in range(40):
        bits = "01"[number % 4 == 0] * (runs - 1)
        seen = evidence(7.0, bits) if bits else b""
        given.page(f"/{number}", visits=runs, last=7.0 * (runs - 1), evidence=seen)
    return given


def plain(known: Given) -> str:
    return plain_text(document(change_frequency(known)))


@pytest.mark.parametrize("runs", [1, 2])
def test_a_young_job_says_so_in_place_of_an_interval(runs: int):
    text = plain(weekly(runs))
    said = {1: "no run", 2: "one run"}[runs]
    (line,) = [line for line in text.splitlines() if "Recommended interval" in line]
    assert line.endswith(f"too little data yet: {said} after the first one, and it takes 2")
    assert "credible" not in text
    assert "What an interval brings" not in text
    assert change_frequency(weekly(runs)).trigger.time == 0.0


def test_a_job_with_data_has_an_interval():
    text = plain(weekly(6))
    assert "too little data" not in text
    assert "90 % credible" in text
    assert "What an interval brings" in text


def test_no_interval_is_longer_than_what_was_watched():
    known = weekly(6)
    known.given_rows = [
        PageRow(
            f"http://a.test/calm{n}", visits=6, last_visit=MONDAY, evidence=evidence(7.0, "00000")
        )
        for n in range(40)
    ]
    assert "too little data yet: it is longer than 35 d, for which the job was watched" in plain(
        known
    )


def test_rates_count_each_living_page_once(known: Given):
    found = change_frequency(known)
    assert found.pages == 4
    assert sum(found.rates) == pytest.approx(4.0)


def one_rate(rate_at: int, pages: int = 1) -> RateMixture:
    mixture = RateMixture()
    for _ in range(pages):
        mixture.add(tuple(float(at == rate_at) for at in range(GRID)))
    return mixture


@pytest.mark.parametrize("at", [5, 14, 22])
def test_the_recommended_interval_of_a_known_rate(at: int):
    # (1 - e^-x) / x = 0.95 at x = 0.10348.
    assert interval(one_rate(at), 0.0) * RATES[at] == pytest.approx(0.10348, rel=1e-3)


def test_a_rate_that_is_known_for_sure_has_no_width():
    mixture = one_rate(14)
    assert interval(mixture, -1.0) == pytest.approx(interval(mixture, 1.0))


def test_doubt_makes_the_interval_wide_and_pages_make_it_narrow():
    few, many = RateMixture(), RateMixture()
    for mixture, pages in ((few, 4), (many, 400)):
        for _ in range(pages):
            mixture.add((1.0 / GRID,) * GRID)
    assert interval(few, -1.0) < interval(many, -1.0) < interval(few, 0.0)
    assert interval(few, 0.0) < interval(many, 1.0) < interval(few, 1.0)


def test_pages_that_never_change_need_no_visit():
    assert interval(one_rate(0), 0.0) > 300


def test_what_an_interval_brings():
    found = even_interval(one_rate(14, 10), 1.0 / RATES[14])
    assert found.current == pytest.approx(1 - math.exp(-1))
    assert found.captured == pytest.approx(1 - math.exp(-1))
    assert found.changed == pytest.approx(10 * (1 - math.exp(-1)))


def test_templates_come_with_their_pace(known: Given):
    (template,) = change_frequency(known).templates
    assert (template.pages, template.visits) == (4, 10)
    assert template.shortest <= template.days <= template.longest


def test_a_page_for_people(known: Given):
    found = document(change_frequency(known))
    page = html_page(found)
    harmless(page)
    seen = look(page)
    assert seen.elements.count("svg") == 3
    assert ["2026-11-24", "5", "1", "1", "1"] in seen.rows
    assert "Recommended interval" in plain_text(found)


def test_nothing_is_known_yet():
    found = change_frequency(Given())
    assert (found.pages, found.days, found.trigger.time) == (0, [], 0.0)
    harmless(html_page(document(found)))
