"""Which pages of a site are foreseen by templates, and when they return to the browser."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.extract.repeating import ObservedRequest, RunPage, page_values, prepare
from nacre.extract.repetition import (
    LINK,
    MIN_AGAIN,
    MIN_SAMPLES,
    RepeatSample,
    RepetitionMemory,
    SiteRepetition,
    is_ready,
    wilson_interval,
)
from nacre.extract.request_template import RepeatedRequest, reply_values

SHELL = "<div id=app></div>"


def _learn(
    site: SiteRepetition, number: int, *more: str, links: tuple[str, ...] = ()
) -> RepeatSample:
    author = number + 700
    requests = (
        ObservedRequest("GET", f"http://h/api/{number}", reply=f'{{"author": {author}}}'),
        ObservedRequest("GET", f"http://h/who/{author}"),
        *(ObservedRequest("GET", url) for url in more),
        *(ObservedRequest("GET", url, LINK) for url in links),
    )
    return site.learn(prepare(RunPage(f"http://h/p/{number}", SHELL, requests)))


def _plan(site: SiteRepetition, number: int) -> list[str] | None:
    url = f"http://h/p/{number}"
    plan = site.plan(url, page_values(url, SHELL))
    return None if plan is None else [request.url for request in plan.requests]


def test_pages_are_repeated_once_others_were_foreseen() -> None:
    site = SiteRepetition()
    for number in range(3):
        _learn(site, number)
        assert _plan(site, 99) is None
    for number in range(3, 3 + MIN_SAMPLES):
        assert _plan(site, 99) is None
        assert _learn(site, number) == RepeatSample(2, 2)
    assert _plan(site, 99) == ["http://h/api/99"]
    (request,) = [
        RepeatedRequest("GET", "http://h/api/99", "fetch", item.name)
        for item in site.templates
        if not item.after
    ]
    then = site.follow("http://h/p/99", request, reply_values('{"author": 5}'))
    assert [made.url for made in then.requests] == ["http://h/who/5"]
    assert _plan(site, 100) == ["http://h/api/100"]
    assert site.plan("http://h/about", page_values("http://h/about", SHELL)) is None


def test_a_page_that_asks_for_more_returns_to_the_browser_until_that_is_learned() -> None:
    site = SiteRepetition()
    for number in range(8):
        _learn(site, number)
    assert _plan(site, 99)
    for number in range(8, 11):
        urls = f"http://h/more/{number}", f"http://h/extra/x{number}y"
        assert _learn(site, number, *urls).total == 4
    assert _plan(site, 99) is None
    for number in range(11, 20):
        _learn(site, number, f"http://h/more/{number}", f"http://h/extra/x{number}y")
    assert _plan(site, 99) is None, "the numbers within a word are not foreseen"
    for number in range(20, 50):
        _learn(site, number, f"http://h/more/{number}")
    assert sorted(_plan(site, 99) or ()) == ["http://h/api/99", "http://h/more/99"]


def test_links_that_are_not_foreseen_keep_a_page_in_the_browser() -> None:
    site = SiteRepetition()
    for number in range(9):
        _learn(site, number, links=(f"http://h/other/{number * number + 7}k",))
    assert _plan(site, 99) is None


def test_links_are_foreseen_or_known_from_other_pages() -> None:
    site = SiteRepetition()
    names = [f"http://h/p/{number}" for number in range(14)]
    _learn(site, 0, links=tuple(names))
    for number in range(1, 14):
        _learn(site, number, links=(f"http://h/p/{number}/comments", names[number - 1]))
    url = "http://h/p/99"
    plan = site.plan(url, page_values(url, SHELL))
    assert plan is not None
    assert plan.links == ("http://h/p/99/comments",)


@pytest.mark.parametrize(
    ("samples", "ready"),
    [
        ((), False),
        ((RepeatSample(1, 1),) * 2, False),
        ((RepeatSample(1, 1),) * 3, True),
        ((RepeatSample(),) * 9, False),
        ((RepeatSample(9, 10),) * 3, True),
        ((RepeatSample(8, 10),) * 3, False),
        ((RepeatSample(2, 2, 7, 10),) * 3, False),
        ((RepeatSample(2, 2, 8, 10),) * 3, True),
        ((RepeatSample(2, 2, wasted=1),) * 3, False),
        ((RepeatSample(8, 8, wasted=1),) * 3, True),
    ],
)
def test_readiness(samples: tuple[RepeatSample, ...], ready: bool) -> None:
    assert is_ready(samples) is ready


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    [(0, 0, 0.0, 1.0), (10, 10, 0.722, 1.0), (0, 10, 0.0, 0.278), (99, 100, 0.946, 0.998)],
)
def test_wilson(hits: int, total: int, low: float, high: float) -> None:
    assert wilson_interval(hits, total) == pytest.approx((low, high), abs=1e-3)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_the_interval_holds_the_share(hits: int, total: int) -> None:
    hits = min(hits, total)
    low, high = wilson_interval(hits, total)
    assert 0 <= low <= high <= 1
    if total:
        assert low - 1e-9 <= hits / total <= high + 1e-9


def _remembered(number: int) -> SiteRepetition:
    """Return a site of which an earlier run learned so many pages."""
    site = SiteRepetition()
    for at in range(number):
        _learn(site, at)
    stored = msgspec.msgpack.encode(site.remember())
    return SiteRepetition(msgspec.msgpack.decode(stored, type=RepetitionMemory))


def test_a_later_run_begins_with_the_templates_and_verifies_them() -> None:
    site = _remembered(6)
    assert {item.name for item in site.templates} == {
        "http://h/api/{url.path[1]}",
        "http://h/who/{reply.author}",
    }
    for number in range(20, 20 + MIN_AGAIN):
        assert _plan(site, 99) is None, "pages of this run come first"
        assert _learn(site, number) == RepeatSample(2, 2)
    assert _plan(site, 99) == ["http://h/api/99"]
    assert site.remember().ready == (("http://h/api/{url.path[1]}",),)


def test_a_class_that_was_not_ready_is_not_ready_later() -> None:
    site = _remembered(5)
    for number in range(20, 20 + MIN_SAMPLES):
        assert _plan(site, 99) is None
        _learn(site, number)
    assert _plan(site, 99)


def test_templates_that_a_later_run_contradicts_are_forgotten_and_learned_again() -> None:
    site = _remembered(6)

    def learn(number: int) -> RepeatSample:
        request = ObservedRequest("GET", f"http://h/v2/{number}")
        return site.learn(prepare(RunPage(f"http://h/p/{number}", SHELL, (request,))))

    assert learn(20) == RepeatSample(0, 1, wasted=1)
    assert site.templates == ()
    for number in range(21, 23 + MIN_SAMPLES):
        assert _plan(site, 99) is None
        learn(number)
    assert _plan(site, 99) == ["http://h/v2/99"]


def test_a_later_run_knows_what_all_pages_request() -> None:
    site = SiteRepetition()
    for number in range(6):
        _learn(site, number, "http://h/menu.json")
    assert _learn(SiteRepetition(site.remember()), 20, "http://h/menu.json") == RepeatSample(3, 3)


def test_parts_of_a_site_that_a_run_leaves_out_are_remembered() -> None:
    site = SiteRepetition(_remembered(6).remember())
    for number in range(3):
        request = ObservedRequest("GET", f"http://h/news/{number}.json")
        site.learn(prepare(RunPage(f"http://h/n/{number}", SHELL, (request,))))
    memory = site.remember()
    assert len(memory.templates) == 3
    assert memory.ready == (("http://h/api/{url.path[1]}",),)
