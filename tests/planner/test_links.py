"""Learning from links: what sitemaps, feeds and lists tell of pages that are known."""

from collections.abc import Callable, Iterator, Sequence
from email.utils import formatdate
from time import gmtime, strftime

import pytest

from nacre.core.pagerow import PageKind, PageRow
from nacre.planner.planner import Planner
from nacre.planner.settings import RecrawlSettings
from nacre.planner.sites import Sites
from nacre.planner.step import Choice
from nacre.planner.visited import DigestJudge, MemoryRows, Visited, VisitFinding, answer_of
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


MONDAY = 1_767_571_200.0
HOME = "http://a.test/"
SIZE = 10


@pytest.mark.parametrize(
    ("hop", "kind"), [("M", PageKind.SITEMAP), ("L", PageKind.FEED)], ids=["sitemap", "feed"]
)
@pytest.mark.parametrize("mime", ["application/xml", "text/xml"])
def test_a_feed_is_no_sitemap_though_both_are_plain_xml(
    hop: str, kind: PageKind, mime: str
) -> None:
    rows, sites = MemoryRows(), Sites()
    planner = Planner(rows, sites, DigestJudge(), RecrawlSettings())
    links = [Link(PAGE, hop, lastmod=_iso(START - DAY))]
    planner.learn(Visit("http://a.test/all.xml", START, 200, "one", mime, 9, links, bytes))
    row = rows.get("http://a.test/all.xml")
    assert row is not None
    assert row.kind is kind
    assert sites.is_mapped(PAGE, START) is (kind is PageKind.SITEMAP)


def test_a_feed_that_an_earlier_version_took_for_a_sitemap_becomes_a_feed() -> None:
    rows, sites = MemoryRows(), Sites()
    rows.put(PageRow("http://a.test/all.xml", PageKind.SITEMAP, visits=1, last_visit=START - DAY))
    planner = Planner(rows, sites, DigestJudge(), RecrawlSettings())
    links = [Link(PAGE, "L", lastmod=_iso(START - DAY))]
    visit = Visit("http://a.test/all.xml", START, 200, "one", "text/xml", 9, links, bytes)
    planner.learn(visit)
    planner.learn(visit._replace(links=()))
    row = rows.get("http://a.test/all.xml")
    assert row is not None
    assert row.kind is PageKind.FEED
    assert not sites.is_mapped(PAGE, START)


class _ByName(DigestJudge):
    """What lies in a folder is a list; all else is an article that never changes."""

    def judge(self, row: PageRow, visit: Visited) -> VisitFinding:
        listing = 1.0 if visit.url.endswith("/") or "index_" in visit.url else 0.0
        return VisitFinding(answer_of(visit.status), listing=listing)

    def pair(self, row: PageRow, visit: Visited) -> frozenset[int]:
        """Nothing to learn."""
        return frozenset()

    def pairs_wanted(self, url: str) -> int:
        return 0

    def says(self, visit: Visited) -> int:
        return hash(visit)


class _Site:
    """Sections with lists in pages, newest first; the home page names the sections."""

    def __init__(self, sections: int = 3, articles: int = 35, pinned: int = 0) -> None:
        self.entries = {section: list(range(articles)) for section in range(sections)}
        self.pinned = pinned
        self.asked: list[str] = []

    def publish(self, section: int, count: int) -> None:
        known = self.entries[section]
        known.extend(range(len(known), len(known) + count))

    def visit(self, url: str, now: float) -> Visit:
        self.asked.append(url)
        links = tuple(self._links(url))
        return Visit(url, now, 200, f"{url} {links}", "text/html", 100, links, bytes)

    def _links(self, url: str) -> Iterator[Link]:
        for section in self.entries:
            yield Link(_list(section))
        if url == HOME or (url.endswith(".html") and "index_" not in url):
            return
        section = int(url.split("/")[3][1:])
        page = int(url.rpartition("_")[2].removesuffix(".html")) if "index_" in url else 0
        entries = self.entries[section][::-1]
        for number in [*range(self.pinned), *entries[page * SIZE : (page + 1) * SIZE]]:
            yield Link(_article(section, number))
        for other in range(-(-len(entries) // SIZE)):
            yield Link(_list(section, other), text=str(other + 1))


def _list(section: int, page: int = 0) -> str:
    return f"{HOME}s{section}/" + (f"index_{page}.html" if page else "")


def _article(section: int, number: int) -> str:
    return f"{HOME}s{section}/{number + 1000}.html"


def _planner(**said: object) -> tuple[Planner, Sites]:
    settings = RecrawlSettings.model_validate({"lots": 0.0, "floor": 0, "least": 0.1, **said})
    sites = Sites()
    planner = Planner(MemoryRows(), sites, _ByName(), settings)
    planner.begin([HOME])
    return planner, sites


def _run_step(planner: Planner, site: _Site, now: float, room: int = 10**6) -> list[Choice]:
    site.asked.clear()
    chosen: list[Choice] = []
    while wave := planner.choose(now, room - len(chosen)):
        chosen += wave
        for one in wave:
            planner.learn(site.visit(one.url, now))
    return chosen


def _settled(site: _Site, planner: Planner, steps: int = 3) -> float:
    """Steps until it is known which lists show new links first; the time of the next one."""
    for step in range(steps):
        _run_step(planner, site, MONDAY + step * 7 * DAY)
        for section in site.entries:
            site.publish(section, 2)
    return MONDAY + steps * 7 * DAY


def test_a_flooded_list_is_read_on_until_known_links_and_no_other() -> None:
    site, (planner, sites) = _Site(), _planner()
    now = _settled(site, planner)
    site.publish(1, 23)  # 25 new ones in all: two pages and a half
    chosen = _run_step(planner, site, now)
    read = [one.url for one in chosen if one.reason == "paging"]
    assert read == [_list(1, 1), _list(1, 2)]
    assert {_article(1, number) for number in site.entries[1][-25:]} <= set(site.asked)
    assert not {_list(0, 2), _list(2, 2)} & set(site.asked)
    row = sites.list_row(_list(1))
    assert row is not None
    assert (row.floods, row.window, row.depth) == (1, SIZE, 0.6)


def test_pinned_entries_hide_no_flood() -> None:
    site, (planner, _) = _Site(pinned=2), _planner()
    now = _settled(site, planner, steps=6)
    site.publish(0, 23)
    chosen = _run_step(planner, site, now)
    assert _list(0, 2) in [one.url for one in chosen if one.reason == "paging"]


def test_what_there_was_no_room_for_is_read_in_the_next_step() -> None:
    site, (planner, sites) = _Site(), _planner()
    now = _settled(site, planner)
    site.publish(1, 38)
    _run_step(planner, site, now, room=4)
    assert sites.paging() == [_list(1, 1)]
    chosen = _run_step(planner, site, now + 7 * DAY)
    assert chosen[0].url == _list(1, 1)
    assert not sites.paging()
    assert {_article(1, number) for number in range(75, 79)} <= set(site.asked)


def test_further_pages_that_only_repeat_are_left_out() -> None:
    site, (planner, _) = _Site(), _planner()
    _settled(site, planner, steps=2)
    _run_step(planner, site, MONDAY + 14 * DAY)
    chosen = _run_step(planner, site, MONDAY + 21 * DAY)
    lists = {
        one.url for one in chosen if one.url in {_list(s, p) for s in range(3) for p in range(5)}
    }
    assert lists == {_list(section) for section in range(3)}


def test_a_list_that_would_overflow_is_due_whatever_the_budget() -> None:
    site, (planner, _) = _Site(sections=2), _planner()
    for step in range(4):
        _run_step(planner, site, MONDAY + step * 7 * DAY)
        site.publish(0, 8)
        site.publish(1, 1)
    chosen = _run_step(planner, site, MONDAY + 28 * DAY, room=12)
    reasons = {one.url: one.reason for one in chosen}
    assert reasons[_list(0)] == "window"
    assert reasons.get(_list(1)) != "window"


def test_new_pages_wait_for_the_next_step_where_there_was_no_room() -> None:
    site, (planner, _) = _Site(), _planner()
    now = _settled(site, planner)
    site.publish(0, 5)
    _run_step(planner, site, now, room=6)
    _run_step(planner, site, now + 7 * DAY)
    assert {_article(0, number) for number in (45, 44, 43)} <= set(site.asked)


@pytest.mark.parametrize(
    ("url", "mime", "kind"),
    [
        ("http://a.test/s.xml.gz", "application/x-gzip", PageKind.SITEMAP),
        ("http://a.test/s.txt.gz", "application/octet-stream", PageKind.SITEMAP),
        ("http://a.test/s.txt", "text/plain", PageKind.SITEMAP),
        ("http://a.test/s", "text/html", PageKind.SITEMAP),
        ("http://a.test/robots.txt", "text/plain", PageKind.FILE),
    ],
)
def test_a_sitemap_of_any_type_gives_hints(url: str, mime: str, kind: PageKind) -> None:
    reader = _Reader()
    for number in range(4):
        now = START + 7 * DAY * number
        reader.planner.choose(now, 0)
        reader.read((url, mime), now, _iso(now))
        assert reader.told == (("sitemap",) if number and kind is PageKind.SITEMAP else ())
        reader.visit(now)
    row = reader.rows.get(url)
    assert row is not None
    assert row.kind is kind


def test_a_packed_sitemap_that_an_earlier_version_took_for_a_file_gives_hints() -> None:
    reader = _Reader()
    url, mime = "http://a.test/s.xml.gz", "application/gzip"
    reader.planner.choose(START, 0)
    reader.planner.learn(Visit(url, START, 200, "d", mime, 9, [], bytes))
    assert _kind(reader, url) == "file"
    reader.read((url, mime), START + DAY, _iso(START))
    assert _kind(reader, url) == "sitemap"


def _kind(reader: _Reader, url: str) -> str:
    row = reader.rows.get(url)
    assert row is not None
    return str(row.kind)


class _Drops(_ByName):
    """A judge that knows which links a page dropped."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = urls

    def dropped(self, visit: Visited) -> Sequence[str]:
        return self._urls


def test_a_page_to_which_a_page_links_no_more_is_looked_at_in_the_same_run() -> None:
    rows, gone = MemoryRows(), HOME + "gone.html"
    for url, last in ((HOME + "page.html", MONDAY), (gone, MONDAY)):
        rows.put(PageRow(url, visits=9, last_visit=last, digest="sha1:x"))
    planner = Planner(rows, Sites(), _Drops([gone, HOME + "unknown.html"]), RecrawlSettings())
    now = MONDAY + DAY
    planner.choose(now, 0)
    planner.learn(Visit(HOME + "page.html", now, 200, "sha1:y", "text/html", 9, (), bytes))
    row = rows.get(gone)
    assert row is not None
    assert row.told == ("dropped",)
    chosen = []
    while wave := planner.choose(now, 100):
        chosen += wave
    assert gone in {one.url for one in chosen}
    planner.learn(Visit(gone, now, 404, "", "text/html", 0, (), bytes))
    assert rows.get(gone).life == "gone", "its site says so too"  # type: ignore[union-attr]
