"""Events: a few changes raise the forecast of a whole section, and visits bring it down again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.pagerow import PageRow
from nacre.core.urlshape import shaped
from nacre.planner.change_rate.events import (
    NO_EVENT,
    SHARES,
    EventPosterior,
    LookRow,
    SectionEvents,
    SectionRow,
    nested,
    section_of,
    sections_of,
)

DAY = 86_400.0
WEEK = 7 * DAY


def page(path: str, last: float) -> PageRow:
    url = f"http://a.test/{path}"
    return PageRow(url, template=shaped(url).name, last_visit=last, visits=2)


def run(
    rows: dict[str, SectionRow], step: int, changed: int, visits: int = 10, folder: str = "api"
) -> SectionEvents:
    """A step, a week after the one before, in which so many pages of a folder had changed."""
    events = SectionEvents(rows, step * WEEK, 7.0)
    for number in range(visits):
        row = page(f"{folder}/Class{number}.html", (step - 1) * WEEK)
        events.look(row, 0.01, step * WEEK, changed=number < changed)
    return events


@pytest.mark.parametrize(
    ("path", "sections"),
    [
        ("", ("",)),
        ("a.html", ("",)),
        ("api/A.html", ("", "/api")),
        ("30/javadoc/org/apache/A.html", ("", "/30", "/30/javadoc", "/30/javadoc/org")),
        ("docs/v3/guide.html?lang=de", ("", "/docs", "/docs/v3")),
        ("news/20240131/12.html", ("", "/news", "/news/{date}", "/news/{date}/*{int}.html")),
    ],
)
def test_sections_are_folders_and_kinds_of_urls(path: str, sections: tuple[str, ...]) -> None:
    row = page(path, 0.0)
    assert sections_of(row) == sections
    assert section_of(row).startswith("a.test ")


def test_sections_are_nested() -> None:
    assert nested("") == ("",)
    assert nested("/a/b") == ("", "/a", "/a/b")


@pytest.mark.parametrize(
    ("visits", "changes", "expected", "low", "high"),
    [
        (0, 0, 0.0, 0.0, 0.06),  # the prior
        (10, 0, 0.1, 0.0, 0.001),
        (10, 10, 0.1, 0.9, 1.0),
        (10, 5, 0.1, 0.35, 0.65),
        (100, 3, 3.0, 0.0, 0.01),  # what own rates explain
        (2, 2, 0.01, 0.3, 1.0),
        (60, 20, 12.0, 0.0, 0.02),  # own rates that are too low are no event
    ],
)
def test_what_a_look_says(
    visits: int, changes: int, expected: float, low: float, high: float
) -> None:
    prior = NO_EVENT.within(0.1, (1.0 / len(SHARES),) * len(SHARES))
    found = prior.seeing(LookRow(WEEK, visits, changes, expected))
    assert low <= found.share <= high


@given(st.integers(0, 500), st.integers(0, 500), st.floats(0.0, 500.0), st.floats(0.0, 1.0))
def test_probabilities_stay_probabilities(
    visits: int, changes: int, expected: float, hazard: float
) -> None:
    shares = (1.0 / len(SHARES),) * len(SHARES)
    prior = NO_EVENT.within(hazard, shares).within(hazard, shares)
    found = prior.seeing(LookRow(1.0, visits, min(changes, visits), expected))
    assert all(weight >= 0.0 for weight in found.shares)
    assert found.share <= found.event <= 1.0 + 1e-9


def test_half_of_an_event_is_all_of_its_parts_or_its_share() -> None:
    half = EventPosterior(tuple(float(share == 0.5) for share in SHARES))
    inner = half.within(0.0, (1.0 / len(SHARES),) * len(SHARES))
    assert inner.event == pytest.approx(0.75)
    assert inner.share == pytest.approx(0.4925)


def test_a_release_raises_the_forecast_of_its_section_at_once_and_visits_end_it() -> None:
    rows: dict[str, SectionRow] = {}
    for step in (1, 2):
        events = run(rows, step, 0)
        assert events.share(page("api/Other.html", (step - 1) * WEEK)) < 0.001
    other = page("api/Other.html", 2 * WEEK)
    events = run(rows, 3, 10)
    assert events.share(other) > 0.9
    assert events.share(page("api/Class1.html", 3 * WEEK)) == 0.0
    events = run(rows, 4, 0)
    assert events.share(page("api/Class1.html", 3 * WEEK)) < 0.001
    assert events.share(other) > 0.9, "what was not visited since is still out of date"


def test_a_section_that_stayed_calm_is_told_from_one_that_changed() -> None:
    rows: dict[str, SectionRow] = {}
    run(rows, 3, 10)
    events = run(rows, 3, 0, folder="blog")
    assert events.share(page("api/New.html", 2 * WEEK)) > 0.9
    assert events.share(page("blog/New.html", 2 * WEEK)) < 0.1
    assert 0.05 < events.share(page("about/New.html", 2 * WEEK)) < 0.9


def test_late_visits_count_for_the_event_that_explains_them() -> None:
    rows: dict[str, SectionRow] = {}
    run(rows, 3, 10)
    events = SectionEvents(rows, 4 * WEEK, 7.0)
    for number in range(50, 60):
        events.look(page(f"api/Class{number}.html", 2 * WEEK), 0.01, 4 * WEEK, changed=True)
    assert events.share(page("api/Class1.html", 3 * WEEK)) < 0.1
    assert rows["/api"].looks[0].visits == 20


def test_how_often_there_are_events_is_learned_once_for_each() -> None:
    rows: dict[str, SectionRow] = {}
    for step in range(1, 30):
        run(rows, step, 10 if step % 4 == 0 else 0)
    SectionEvents(rows, 30 * WEEK, 7.0)
    assert rows[""].events == pytest.approx(7.0, abs=0.5)
    assert rows["/api"].events < 2.0, "the wider section explains them"
    assert rows[""].hazard > 10 * SectionRow().hazard


def test_without_a_look_an_event_is_left_to_hints() -> None:
    assert SectionEvents({}, WEEK, 7.0).share(page("api/A.html", 0.0)) == 0.0


def test_sections_and_looks_are_bounded() -> None:
    rows: dict[str, SectionRow] = {}
    events = SectionEvents(rows, WEEK, 7.0)
    for number in range(700):
        events.look(page(f"folder{number}a/x.html", 0.0), 0.01, WEEK, changed=False)
    assert len(rows) <= 500
    for step in range(2, 40):
        run(rows, step, 10 if step == 3 else 0)
    looks = rows[""].looks
    assert len(looks) == 6
    assert any(look.time == 3 * WEEK for look in looks), "looks at an event are kept longest"


def test_news_are_changes_of_what_is_expected() -> None:
    rows: dict[str, SectionRow] = {}
    assert not run(rows, 1, 0).take_news()
    events = run(rows, 2, 10)
    assert events.take_news()
    assert not events.take_news()


def test_a_change_counts_for_one_event_and_an_unchanged_page_for_all() -> None:
    rows: dict[str, SectionRow] = {}
    run(rows, 3, 10)
    run(rows, 4, 10)
    events = SectionEvents(rows, 5 * WEEK, 7.0)
    events.look(page("api/Class50.html", 2 * WEEK), 0.01, 5 * WEEK, changed=True)
    assert [look.visits for look in rows["/api"].looks] == [11, 10]
    for number in range(60, 70):
        events.look(page(f"api/Class{number}.html", 2 * WEEK), 0.01, 5 * WEEK, changed=False)
    assert [look.visits for look in rows["/api"].looks] == [21, 20]
    assert [look.changes for look in rows["/api"].looks] == [11, 10]


def test_visits_that_contradict_an_earlier_event_are_news() -> None:
    rows: dict[str, SectionRow] = {}
    run(rows, 3, 10)
    events = SectionEvents(rows, 4 * WEEK, 7.0)
    other = page("api/Other.html", 2 * WEEK)
    assert events.share(other) > 0.9
    assert not events.take_news()
    for number in range(50, 70):
        events.look(page(f"api/Class{number}.html", 2 * WEEK), 0.01, 4 * WEEK, changed=False)
    assert events.share(other) < 0.6
    assert events.take_news()
    assert not events.take_news()


def test_visits_of_earlier_runs_are_looks_of_their_own_time() -> None:
    rows: dict[str, SectionRow] = {}
    events = SectionEvents(rows, 0.0, 1.0)
    for number in range(10):
        events.look(page(f"api/Class{number}.html", WEEK), 0.01, 2 * WEEK, changed=True)
    assert [look.time for look in rows["/api"].looks] == [2 * WEEK]
    assert rows["/api"].since(3 * WEEK) == 7.0


def test_sections_that_are_not_watched_are_remembered_as_alike() -> None:
    rows: dict[str, SectionRow] = {}
    events = run(rows, 3, 10)
    shares = {events.share(page(f"folder{number}a/x.html", 2 * WEEK)) for number in range(2_000)}
    assert len(shares) == 1
    assert len(events._shares) == 1
