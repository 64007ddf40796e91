"""Traps are told by what their pages say and how their URLs look, and take few visits of a run.

Parameters that change nothing are told from those that choose the page.
"""

from collections.abc import Callable, Iterator
from hashlib import sha1
from itertools import product

import pytest
from msgspec.structs import replace

from nacre.core.pagerow import PageRow
from nacre.core.urlshape import shaped
from nacre.messages import Message
from nacre.planner.change_detection.change import ChangeSettings
from nacre.planner.change_rate.rates import NO_EVIDENCE, observe
from nacre.planner.discovery.traps import (
    Parameter,
    TrapRow,
    Traps,
    judged,
    kind_of_trap,
    parameters,
    print_of,
)
from nacre.planner.phases.valuation import TrapShare
from nacre.planner.planner import Planner
from nacre.planner.settings import RecrawlSettings
from nacre.planner.sites import Sites
from nacre.planner.step import Choice, PlannerInputs
from nacre.planner.visited import MemoryRows
from nacre.recrawl.judge import Lessons, PageJudge
from tests.history.visits import Link, Visit

DAY = 86_400.0
START = 1_767_571_200.0
HOME = "http://a.test/"


# ---- by their URLs


def _met(urls: list[str]) -> Traps:
    traps = Traps()
    for url in urls:
        traps.meet(shaped(url).name, url, START)
    return traps


def _reason(urls: list[str]) -> str:
    return _met(urls).reason(shaped(urls[0]).name)


def test_days_to_come_are_a_calendar() -> None:
    urls = [
        f"{HOME}cal/{year}-{month:02}-01" for year in range(2030, 2040) for month in range(1, 13)
    ]
    assert _reason(urls) == "a calendar: 70 of 70 URLs name days still to come"


def test_combinations_of_few_values_are_filters() -> None:
    urls = [f"{HOME}list?a={a}&b={b}&c={c}" for a, b, c in product(range(5), repeat=3)]
    assert _reason(urls).startswith("combinations of 3 parameters")


@pytest.mark.parametrize(
    "name",
    ["view?cat={few}&sub={few}&id={n}", "news/{n}.html", "t20250101_{n}.html", "list?page={n}"],
)
def test_many_new_pages_alone_are_none(name: str) -> None:
    assert not _reason([HOME + name.format(n=n, few=n % 4) for n in range(500)])


def test_one_kind_whatever_the_number_of_placeholders() -> None:
    one, more = shaped(f"{HOME}f/1-2").name, shaped(f"{HOME}f/1-2-3-4").name
    assert kind_of_trap(one) == kind_of_trap(more) == kind_of_trap(shaped(f"{HOME}f/7").name)
    assert kind_of_trap(one) != kind_of_trap(shaped(f"{HOME}g/7").name)


# ---- by what they say


@pytest.mark.parametrize("leads", [False, True])
def test_a_kind_whose_pages_repeat_is_one_until_they_say_something(*, leads: bool) -> None:
    rows: dict[str, TrapRow] = {}
    traps = Traps(rows)
    for _ in range(50):
        traps.read("x", print_of("the same"), leads=leads)
    reason = traps.reason("x")
    assert reason == "of 100 of its pages 98 say what others say"
    assert isinstance(reason, Message)
    assert traps.is_endless("x") is leads
    traps.begin_step()
    assert traps.is_endless("x") is leads
    for number in range(60):
        traps.read("x", print_of(str(number)), leads=leads)
    traps.begin_step()
    assert not traps.reason("x")
    assert not judged(rows, ()).any


def test_what_is_kept_of_a_kind_is_bounded() -> None:
    row = TrapRow()
    for number in range(5_000):
        row.add(number)
    assert len(row.texts) == 500
    assert row.shown <= 200
    assert not row.reason


# ---- in the planner


class _Versions:
    def last(self, url: str) -> None:
        return None

    def keep(self, url: str, view: object) -> None:
        pass


class _Site:
    """A start page with articles, and an entrance into a trap.

    Args:
        entrance: First URL of the trap.
        onward: Links of a page of the trap, and what it says.
    """

    def __init__(self, entrance: str, onward: Callable[[str], tuple[list[str], str]]) -> None:
        self.entrance = entrance
        self.onward = onward
        self.articles = 60

    def visit(self, url: str, now: float) -> Visit:
        if url == HOME:
            urls, text = [f"{HOME}news/{n}.html" for n in range(self.articles)], "start"
            urls.append(self.entrance)
        elif "/news/" in url:
            number = int(url.rpartition("/")[2].partition(".")[0])
            # Each leads to the next, and looks like it but for its text.
            urls = [f"{HOME}news/{number + 1}.html"] if number + 1 < self.articles else []
            text = " ".join(sha1(f"{number} {n}".encode()).hexdigest() for n in range(20))
        else:
            urls, text = self.onward(url)
        anchors = "".join(f"<a href='{each}'>on</a>" for each in urls)
        body = f"<p>{text}</p>{anchors}".encode()
        digest = sha1(body, usedforsecurity=False).hexdigest()
        links = [Link(each) for each in urls]
        return Visit(url, now, 200, digest, "text/html", len(body), links, lambda: body)


def _sessions(url: str) -> tuple[list[str], str]:
    names = [sha1(f"{url}{n}".encode()).hexdigest()[:16] for n in range(3)]
    return [f"{HOME}search?sid={name}a1" for name in names], f"You are {url[-18:]}. Search!"


def _calendar(url: str) -> tuple[list[str], str]:
    year, month = (int(part) for part in url.rpartition("/")[2].split("-"))
    after = year * 12 + month
    return [f"{HOME}calendar/{after // 12}-{after % 12 + 1}"], f"No events in {year}-{month}"


def _filters(url: str) -> tuple[list[str], str]:
    taken = [part for part in url.rpartition("/")[2].split("-") if part]
    left = [str(n) for n in range(9) if str(n) not in taken]
    return [f"{HOME}filter/{'-'.join([*taken, one])}" for one in left], "Nothing found"


TRAPS = [
    (f"{HOME}search?sid=0123456789abcdef01", _sessions),
    (f"{HOME}calendar/2026-1", _calendar),
    (f"{HOME}filter/", _filters),
]


def _planner(**said: object) -> Planner:
    settings = RecrawlSettings.model_validate({"lots": 0.0, **said})
    judge = PageJudge(_Versions(), Lessons.none(), ChangeSettings())
    planner = Planner(MemoryRows(), Sites(), judge, settings)
    planner.begin([HOME])
    return planner


def _steps(planner: Planner, site: _Site, now: float) -> Iterator[Choice]:
    """One step; it is cut off after three thousand visits."""
    for _ in range(3_000):
        wave = planner.choose(now, 10**6)
        yield from wave
        for one in wave:
            planner.learn(site.visit(one.url, now))
        if not wave:
            return


def _trapped(chosen: list[Choice]) -> int:
    return sum("/news/" not in one.url and one.url != HOME for one in chosen)


@pytest.mark.parametrize(("entrance", "onward"), TRAPS)
def test_a_step_ends_and_visits_all_that_is_none(
    entrance: str, onward: Callable[[str], tuple[list[str], str]]
) -> None:
    site, planner = _Site(entrance, onward), _planner()
    chosen = list(_steps(planner, site, START))
    assert sum("/news/" in one.url for one in chosen) == 60
    assert 50 <= _trapped(chosen) < 400
    assert planner.trapped
    site.articles = 70
    later = list(_steps(planner, site, START + 7 * DAY))
    assert sum("/news/" in one.url and one.reason == "new" for one in later) == 10
    assert 1 <= _trapped(later) <= 11  # the entrance into the filters is none of them


@pytest.mark.parametrize(("share", "most"), [(0.0, 0), (0.5, 200), (1.0, 1_000)])
def test_the_share_is_the_operators(share: float, most: int) -> None:
    site, planner = _Site(*TRAPS[0]), _planner(trap_share=share)
    for _ in zip(range(400), _steps(planner, site, START), strict=False):
        pass
    later = [
        one for _, one in zip(range(500), _steps(planner, site, START + 7 * DAY), strict=False)
    ]
    assert _trapped(later) <= most
    assert (_trapped(later) > 10) == (share > 0.0)


@pytest.mark.parametrize("leads", [False, True])
def test_known_pages_rest_only_where_they_lead_on(*, leads: bool) -> None:
    rows, sites = MemoryRows(), Sites()
    for number in range(100):
        url = f"{HOME}{number}.html"
        rows.put(PageRow(url, template=shaped(url).name, visits=1))
        sites.traps.read(shaped(url).name, print_of("Down for a day"), leads=leads)
    settings = RecrawlSettings(trap_share=0.1)
    judge = PageJudge(_Versions(), Lessons.none(), ChangeSettings())
    budget = TrapShare(PlannerInputs(rows, sites, judge, settings))
    budget.begin(())
    for reason, held in [("rate", leads), ("new", True), ("start", False)]:
        wave = [Choice(f"{HOME}{number}.html", 1.0, reason) for number in range(100)]
        admitted = budget.admitted(wave, 1_000, 150)
        assert len(admitted) < 20 if held else len(admitted) == 100


def test_room_that_traps_may_not_take_goes_to_other_pages() -> None:
    rows, sites = MemoryRows(), Sites()
    hot, warm = NO_EVIDENCE, NO_EVIDENCE
    for number in range(8):
        hot = observe(hot, 1.0, changed=True)
        warm = observe(warm, 1.0, changed=number % 2 == 0)
    for number in range(100):
        for url, evidence in ((f"filter/{number}", hot), (f"news/{number}.html", warm)):
            row = PageRow(HOME + url, template=shaped(HOME + url).name, visits=9, changes=4)
            rows.put(replace(row, evidence=evidence, last_visit=START - 3 * DAY))
        sites.traps.read(shaped(f"{HOME}filter/{number}").name, print_of("Nothing"), leads=True)
    judge = PageJudge(_Versions(), Lessons.none(), ChangeSettings())
    planner = Planner(rows, sites, judge, RecrawlSettings.model_validate({"lots": 0.0}))
    planner.begin([])
    chosen: list[Choice] = []
    while len(chosen) < 50 and (wave := planner.choose(START, 50 - len(chosen))):
        chosen += wave
    assert len(chosen) == 50
    assert sum("/filter/" in one.url for one in chosen) == 10


SITE = "http://a.test/view"


def _pages(articles: int, sessions: int) -> list[tuple[str, str]]:
    return [
        (f"{SITE}?id={article}&sid={article}{session}", f"digest {article}")
        for article in range(articles)
        for session in range(sessions)
    ]


def test_a_session_id_is_idle_and_the_number_of_an_article_is_not() -> None:
    named = [(f"{SITE}?id={number}&lang=en", f"text {number}") for number in range(8)]
    found = {one.name: one for one in parameters(_pages(3, 3) + named)}
    assert found["sid"] == Parameter("a.test", "sid", 6, 6)
    assert found["sid"].idle
    assert (found["id"].pairs, found["id"].same, found["id"].idle) == (7, 0, False)
    assert "lang" not in found


def test_too_few_pairs_prove_nothing() -> None:
    (sid,) = parameters(_pages(2, 3))
    assert (sid.name, sid.pairs, sid.idle) == ("sid", 4, False)


def test_one_difference_is_enough() -> None:
    pages = [*_pages(3, 3), (f"{SITE}?id=1&sid=other", "another text")]
    assert not any(one.idle for one in parameters(pages))


def test_what_was_never_visited_and_what_has_no_query_is_left_out() -> None:
    assert parameters([(f"{SITE}?a=1", ""), (f"{SITE}?a=2", ""), (SITE, "x")]) == []
