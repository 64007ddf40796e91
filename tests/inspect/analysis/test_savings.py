import pytest

from nacre.inspect.analysis.savings import document, savings
from nacre.report.html import html_page
from nacre.report.plain import plain_text
from tests.inspect.analysis.given import DAY, MONDAY, Given, evidence
from tests.report.pages import harmless


@pytest.fixture
def known() -> Given:
    """A hundred pages; the second run visits 20 and five at random, of which one changed."""
    given = Given(lots=0.0625)
    given.run(1, 0, elapsed=1000.0)
    given.run(2, 7, elapsed=250.0)
    for number in range(100):
        path = f"/{number}"
        visited = number < 25
        more = {"visits": 2, "last": 7.0, "evidence": evidence(7.0, "0")} if visited else {}
        given.page(path, **more)  # type: ignore[arg-type]
        given.visit(path, 0, 1, kind="new", stored="novel")
        if not visited:
            continue
        changed = number < 9 or number == 20
        lot = {"wanted": "lot", "propensity": 0.0625} if number >= 20 else {}
        kind = {"kind": "minor", "stored": "novel"} if changed else {"bytes": 0}
        given.visit(path, 7.01, 2, **kind, **lot)
    return given


def test_cost_and_what_a_full_crawl_would_have_cost(known: Given):
    found = savings(known)
    (run,) = found.runs
    assert (run.cost.requests, run.full.requests) == (25, 100)
    assert (run.cost.received, run.full.received) == (10_000, 100_000)
    assert (run.cost.stored, run.copies) == (10_000, 100_000)
    assert (run.cost.seconds, run.full.seconds) == (250.0, 1000.0)
    assert (found.first.requests, found.first.stored, found.first.seconds) == (100, 100_000, 1000.0)


def test_names_that_were_made_up_and_pairs_are_requests_of_the_incremental_run_alone(known: Given):
    known.given_runs[1] = known.given_runs[1]._replace(requests=30)
    known.visit("/0", 7.02, 2, wanted="pair")
    (run,) = savings(known).runs
    assert (run.cost.requests, run.full.requests) == (30, 100)


def test_a_full_crawl_follows_dead_links_too_and_asks_for_what_it_finds_missing(known: Given):
    known.page("/dead", life="suspect", life_since=MONDAY)
    known.visit("/dead", 0, 1, status=404, answer="missing")
    known.page("/gone", life="suspect", life_since=MONDAY + 7 * DAY)
    known.page("/gone before", life="gone", life_since=MONDAY + 3 * DAY)
    for path in ("/gone", "/gone before"):
        known.visit(path, 0, 1, kind="new", stored="novel")
    (run,) = savings(known).runs
    assert run.full.requests == 102


def test_the_recall_is_that_of_the_lots(known: Given):
    (run,) = savings(known).runs
    assert (run.changed, run.lots, run.lots_changed, run.left) == (10, 5, 1, 75)
    # One in five of the 75 others: 15 changes missed, 10 found.
    # With 56 more changed pages among the 75, one or none of five is drawn in 2.5 of 100 cases;
    # with no other, the one is drawn in 6 of 100.
    recall = run.recall
    assert (recall.low, recall.value, recall.high) == pytest.approx((10 / 65, 10 / 25, 1.0))


def test_what_a_run_left_out_is_known_of_the_last_one_and_estimated_of_others(known: Given):
    known.run(3, 14)
    for number in range(20, 25):
        known.page(f"/x{number}", visits=2, last=14.0)
    known.visit("/20", 14.01, 3, wanted="rate")
    found = savings(known)
    # Five drawn with a chance of 1 in 16 stand for 80, of which five were visited.
    assert found.runs[0].left == pytest.approx(75.0)
    assert found.runs[1].left == 100
    assert found.total.left == pytest.approx(175.0)
    assert found.total.cost.requests == 26


def test_samples_of_unknown_classes_are_no_lots(known: Given):
    known.given_visits = [
        visit if visit.wanted != "lot" else type(visit)(*_with(visit, wanted="sample"))
        for visit in known.given_visits
    ]
    found = savings(known)
    assert not found.audited
    assert found.total.recall.low == pytest.approx(10 / 85)
    assert "unknown: no page was drawn at random" in plain_text(document(found))


def _with(visit, **changes):
    return [changes.get(name, getattr(visit, name)) for name in visit.__struct_fields__]


def test_the_expectation_of_the_rates(known: Given):
    found = savings(known)
    assert 0.0 < found.expected.low < found.expected.value < found.expected.high <= 1.0


def test_deletions_count_once_and_pages_gone_before_cost_a_full_crawl_nothing(known: Given):
    known.page("/gone", visits=2, last=7.0, life="gone", life_since=MONDAY + 7 * DAY)
    known.page("/old", visits=2, last=7.0, life="gone", life_since=MONDAY)
    for path in ("/gone", "/old"):
        known.visit(path, 0, 1, kind="new")
        known.visit(path, 7.0, 2, status=404, answer="missing")
        known.visit(path, 7.2, 2, status=404, answer="gone")
    (run,) = savings(known).runs
    assert run.deleted == 2
    assert run.full.requests == 101, "it finds that /gone is missing"


def test_full_runs_are_no_savings(known: Given):
    known.run(3, 14, mode="full")
    known.visit("/1", 14.01, 3)
    assert [run.run for run in savings(known).runs] == ["run2"]


def test_a_page_for_people(known: Given):
    found = document(savings(known))
    text = plain_text(found)
    assert "40.0 % (15.4 % to 100.0 %)" in text
    assert "75.0 %" in next(line for line in text.splitlines() if line.startswith("  requests  "))
    harmless(html_page(found))


def test_before_any_incremental_run():
    given = Given()
    given.run(1, 0)
    assert "no incremental run yet" in plain_text(document(savings(given)))


def test_ways_of_keeping_are_told_apart():
    given = Given()
    given.run(1, 0)
    given.run(2, 7, mode="incremental", keep="delta")
    given.run(3, 14, mode="incremental", keep="lean")
    given.run(4, 21, mode="incremental", keep="delta")
    given.page("/a", visits=5, last=22.0, evidence=evidence(7.0, "0"))
    given.visit("/a", 0, 1, kind="new", stored="novel")
    for day, run in ((7, 2), (21, 4)):
        given.visit("/a", day + 0.1, run, kind="minor", stored="delta", bytes=1000, patch=50)
        given.visit("/b", day + 0.2, run, kind="major", stored="novel", bytes=400)
        given.visit("/c", day + 0.3, run, kind="none", stored="not-modified", bytes=0)
        given.visit("/d", day + 0.4, run, kind="none", stored="", bytes=0)
    given.visit("/a", 14.1, 3, kind="markup", stored="noted", bytes=1000)
    delta, lean = savings(given).ways
    assert (delta.keep, delta.runs, delta.full, delta.differences) == ("delta", 2, 2, 2)
    assert (delta.strict_bytes, delta.stored_bytes) == (2800, 900)
    assert (delta.confirmed, delta.unrecorded, delta.notes) == (2, 2, 0)
    assert (lean.keep, lean.notes, lean.strict_bytes, lean.stored_bytes) == ("lean", 1, 1000, 0)
    assert savings(given).total.cost.stored == 900
    text = plain_text(document(savings(given)))
    assert "By way of keeping" in text
