import pytest

from nacre.errors import JobError
from nacre.inspect.analysis.decisions import AllDecisions, PageDecision, decisions, document
from nacre.planner.schedules.timetable import Due
from nacre.report.html import html_page
from nacre.report.plain import plain_text
from tests.inspect.analysis.given import DAY, MONDAY, SITE, Given, evidence
from tests.report.pages import harmless


@pytest.fixture
def known() -> Given:
    given = Given(recall=0.5, floor=0, least=0)
    given.run(1, 0)
    given.page("/busy", visits=9, last=28, evidence=evidence(1.0, "1" * 8))
    for number in range(5):
        path = f"/calm{number}"
        given.page(path, visits=9, last=28, template="calm", evidence=evidence(30.0, "0" * 8))
    return given


def of(known: Given, path: str) -> PageDecision:
    found = decisions(known, SITE + path)
    assert isinstance(found, PageDecision)
    return found


def test_a_busy_page_is_worth_its_price(known: Given):
    found = of(known, "/busy")
    assert found.chosen
    assert found.value is not None
    assert found.value >= found.price > 0.0
    assert found.reason == "a change was likely by its rate"
    assert found.days == pytest.approx(2.0)
    assert sum(found.rates) == pytest.approx(1.0)
    assert found.shortest <= found.every <= found.longest
    assert 1.0 / found.every <= found.expected <= 1.0 / found.shortest


def test_a_calm_page_is_not(known: Given):
    found = of(known, "/calm1")
    assert not found.chosen
    assert found.reason.startswith("a visit is worth less than its price")
    assert found.every > 100


def test_a_page_under_a_schedule_has_its_time(known: Given):
    busy = f"{SITE}/busy"
    known.given_due[busy] = Due(MONDAY + 31 * DAY, now=False)
    found = of(known, "/busy")
    assert not found.chosen
    assert found.reason.startswith("it is under a schedule")
    known.given_due[busy] = Due(MONDAY + 29 * DAY, now=True)
    found = of(known, "/busy")
    assert (found.chosen, found.reason) == (True, "it was due by its schedule")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"visits": 0}, "it was heard of and never visited"),
        ({"life": "gone", "looks": 3}, "it is gone, and the next look at it is not due yet"),
        ({"life": "suspect", "life_since": MONDAY}, "it was missing at the last visit"),
        ({"told": ("listing",)}, "a trusted source reported a change"),
    ],
)
def test_reasons(known: Given, row: dict[str, object], reason: str):
    known.page("/x", **{"visits": 2, "last": 28, "evidence": evidence(1.0, "0")} | row)  # type: ignore[arg-type]
    assert of(known, "/x").reason.startswith(reason)


def test_the_last_five_decisions(known: Given):
    for day in range(8):
        known.visit("/busy", day, day + 1, chance=day / 10)
    found = of(known, "/busy").decisions
    assert [one.time for one in found] == [MONDAY + day * DAY for day in (7, 6, 5, 4, 3)]
    assert found[0].chance == pytest.approx(0.7)


def test_an_unknown_page(known: Given):
    with pytest.raises(JobError, match="is not known to incremental crawling"):
        decisions(known, "http://b.test/")


def test_forecasts_are_judged(known: Given):
    for number in range(10):
        changed = {"kind": "minor"} if number < 9 else {}
        known.visit("/busy", number, 2, chance=0.9, **changed)
        known.visit("/calm0", number, 2, chance=0.0)
    known.visit("/new", 1, 2, kind="new", wanted="new", chance=1.0)
    known.visit("/busy", 0, 1, kind="new")
    found = decisions(known)
    assert isinstance(found, AllDecisions)
    assert found.reasons == {"rate": (20, 9), "new": (1, 1)}
    last = found.forecasts[9]
    assert last.visits == 10
    assert (last.forecast, last.found) == pytest.approx((0.9, 0.9))
    assert found.brier is not None
    assert found.brier == pytest.approx((9 * 0.01 + 0.81) / 20)
    assert found.skill == pytest.approx(1 - found.brier / (0.45 * 0.55))


def test_pages_for_people(known: Given):
    known.visit("/busy", 1, 2, chance=0.9, kind="minor")
    page = document(decisions(known, f"{SITE}/busy"))
    assert "Price of a visit" in plain_text(page)
    harmless(html_page(page))
    everything = document(decisions(known))
    assert "Reliability" in plain_text(everything)
    harmless(html_page(everything))
