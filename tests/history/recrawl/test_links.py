"""What sitemaps and feeds tell of pages that are known."""

from collections.abc import Callable
from email.utils import formatdate
from time import gmtime, strftime

import pytest

from nacre.history.recrawl.planner import Planner
from nacre.history.recrawl.settings import RecrawlSettings
from nacre.history.recrawl.sites import Sites
from nacre.history.visited import DigestJudge, MemoryRows
from tests.history.visits import Link, Visit

DAY = 86_400.0
START = 1_790_000_000.0
PAGE = "http://a.test/page.html"
MAP, FEED = ("http://a.test/sitemap.xml", "text/xml"), ("http://a.test/feed", "application/rss+xml")


def _iso(time: float) -> str:
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(time))


def _rss(time: float) -> str:
    return formatdate(time, usegmt=True)


class _Reader:
    """Reads what a sitemap and a feed say of one page."""

    def __init__(self) -> None:
        self.rows = MemoryRows()
        self.planner = Planner(self.rows, Sites(), DigestJudge(), RecrawlSettings())

    def read(self, teller: tuple[str, str], now: float, lastmod: str) -> None:
        links = [Link(PAGE, "M", lastmod=lastmod)]
        self.planner.learn(Visit(teller[0], now, 200, f"{now}", teller[1], 9, links, bytes))

    def visit(self, now: float) -> None:
        self.planner.learn(Visit(PAGE, now, 200, "same", "text/html", 9, [], bytes))

    @property
    def told(self) -> tuple[str, ...]:
        row = self.rows.get(PAGE)
        assert row is not None
        return row.told


def _step(reader: _Reader, number: int, mapped: str, fed: str) -> tuple[str, ...]:
    """Both are read, then the page; what was told of it."""
    now = START + 7 * DAY * number
    reader.planner.choose(now, 0)
    reader.read(MAP, now, mapped)
    reader.read(FEED, now, fed)
    told = reader.told
    reader.visit(now)
    return told


@pytest.mark.parametrize(
    "fed",
    [_rss(START - DAY), _iso(START - DAY), _rss(START - 300 * DAY), "2020-01-01"],
    ids=["the same in other words", "the same", "when it was published", "a day"],
)
def test_a_feed_that_dates_a_page_otherwise_than_its_sitemap_tells_nothing(fed: str) -> None:
    reader = _Reader()
    for number in range(4):
        assert _step(reader, number, _iso(START - DAY), fed) == ()


@pytest.mark.parametrize(
    ("mapped", "fed", "told"),
    [(_iso, lambda _: _rss(START - DAY), ("sitemap",)),
     (lambda _: _iso(START - DAY), _rss, ("feed",)),
     (_iso, _rss, ("sitemap", "feed"))],
)  # fmt: skip
def test_each_tells_of_a_change(
    mapped: Callable[[float], str], fed: Callable[[float], str], told: tuple[str, ...]
) -> None:
    reader = _Reader()
    for number in range(2):
        _step(reader, number, _iso(START - DAY), _rss(START - DAY))
    edited = START + 10 * DAY
    assert _step(reader, 2, mapped(edited), fed(edited)) == told
    assert _step(reader, 3, mapped(edited), fed(edited)) == ()


@pytest.mark.parametrize(
    ("mime", "links", "told"),
    [
        ("text/xml", [Link("http://a.test/other.html", "M")], ("sitemap",)),
        ("text/html", [Link("http://a.test/other.html", "M")], ("sitemap",)),
        # A page that says that the site is being worked on, and a sitemap of nothing.
        ("text/html", [Link("http://a.test/", "L")], ()),
        ("text/html", [], ()),
        ("text/xml", [], ()),
    ],
)
def test_only_a_sitemap_withdraws_what_it_named(
    mime: str, links: list[Link], told: tuple[str, ...]
) -> None:
    reader = _Reader()
    for number in range(2):
        _step(reader, number, _iso(START - DAY), _iso(START - DAY))
    now = START + 14 * DAY
    reader.planner.choose(now, 0)
    reader.planner.learn(Visit(MAP[0], now, 200, "other", mime, 9, links, bytes))
    while reader.planner.choose(now, 100):
        pass
    assert reader.told == told
