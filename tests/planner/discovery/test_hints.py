"""Trust in hints: learned, leaning on a prior; lies of 304 replies; generated dates.

Sitemaps rest on the word of an index that proved right; what they named stands meanwhile.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha1

import pytest

from nacre.core.pagerow import PageRow
from nacre.planner.discovery.hints import (
    HintTrust,
    ReplyAudit,
    Signal,
    Sitemaps,
    dates_are_generated,
    map_name,
)
from nacre.planner.planner import Planner
from nacre.planner.settings import RecrawlSettings
from nacre.planner.sites import Sites
from nacre.planner.visited import DigestJudge, MemoryRows
from tests.history.visits import Link, Visit


def test_without_evidence_the_prior_holds() -> None:
    assert HintTrust().signal() == pytest.approx(Signal(0.7, 0.02))


def test_an_honest_source_earns_trust() -> None:
    trust = HintTrust()
    for _ in range(60):
        trust.observe(hinted=True, changed=True, days=7.0)
        trust.observe(hinted=False, changed=False, days=7.0)
    signal = trust.signal()
    assert signal.recall > 0.95
    assert signal.false_rate < 0.005
    assert trust.precision > 0.95


def test_a_lying_source_loses_it() -> None:
    trust = HintTrust()
    for _ in range(60):
        trust.observe(hinted=True, changed=False, days=7.0)
        trust.observe(hinted=False, changed=True, days=7.0)
    signal = trust.signal()
    assert signal.recall < 0.1
    assert signal.false_rate > 0.1
    assert trust.precision < 0.05


def test_a_false_304_bans_conditions_for_a_quarter() -> None:
    audit = ReplyAudit()
    assert audit.lie_bound == 1.0
    for _ in range(300):
        audit.observe(0.0, lied=False)
    assert audit.lie_bound == pytest.approx(0.01)
    audit.observe(1000.0, lied=True)
    assert not audit.trusted(1000.0 + 89 * 86_400)
    assert audit.trusted(1000.0 + 91 * 86_400)


def test_dates_of_the_making_tell_nothing() -> None:
    now = 1e9
    assert dates_are_generated([now - 60.0 * n for n in range(40)], now, 40)
    assert dates_are_generated([5e8] * 40, now, 40)
    assert not dates_are_generated([5e8] * 40, now, 3)
    assert not dates_are_generated([now - 86_400.0 * n for n in range(1, 60)], now, 60)
    assert not dates_are_generated([now] * 3, now, 3)


DAY = 86_400.0
START = datetime(2026, 1, 5, 12, tzinfo=UTC).timestamp()
HOME, INDEX = "http://a.test/", "http://a.test/sitemap.xml"
MAPS = [f"http://a.test/map{number}.xml" for number in range(20)]


def _written(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).isoformat()


# ---- the words of an index


def _read(maps: Sitemaps, now: float, lastmod: str, *, news: bool = False) -> None:
    """An index and one sitemap of it are read; the latter unless it rests."""
    maps.note(INDEX, MAPS[0], lastmod, now)
    maps.was_read(INDEX, now, links=1, children=1, news=False)
    if not maps.rests(MAPS[0], now):
        maps.was_read(MAPS[0], now, links=5, children=0, news=news)


def _proved(lastmod: str) -> Sitemaps:
    maps = Sitemaps()
    for step in range(11):
        assert not maps.rests(MAPS[0], START + step * DAY)
        _read(maps, START + step * DAY, lastmod)
    return maps


NEXT = START + 11 * DAY


@pytest.mark.parametrize(
    ("before", "now", "rests"),
    [
        ("2026-01-01", "2026-01-01", True),
        ("2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z", True),
        ("2026-01-01", "2026-01-02", False),  # another date, though before the last reading
        ("2026-01-15", "2026-01-15", False),  # the day of the last reading was not over
        ("2026-01-15T11:00:00+00:00", "2026-01-15T11:00:00+00:00", True),
        ("2026-01-15T13:00:00+00:00", "2026-01-15T13:00:00+00:00", False),
        ("soon", "soon", False),
    ],
)
def test_a_sitemap_rests_when_its_date_is_no_later_than_the_last_reading(
    before: str, now: str, rests: bool
) -> None:
    maps = _proved("2026-01-01")
    _read(maps, NEXT - DAY, before)
    maps.note(INDEX, MAPS[0], now, NEXT)
    maps.was_read(INDEX, NEXT, links=1, children=1, news=False)
    assert maps.rests(MAPS[0], NEXT) is rests


def test_the_index_has_to_be_looked_at_in_the_same_step() -> None:
    maps = _proved("2026-01-01")
    assert not maps.rests(MAPS[0], NEXT)
    maps.unchanged(INDEX, NEXT)  # 304
    assert maps.rests(MAPS[0], NEXT)
    assert not maps.rests(MAPS[0], NEXT + 40 * DAY)


def test_a_lie_is_remembered() -> None:
    maps = _proved("2026-01-01")
    maps.note(INDEX, MAPS[0], "2026-01-01", NEXT)
    maps.was_read(INDEX, NEXT, links=1, children=1, news=False)
    maps.spare(MAPS[1], NEXT)  # never read: nothing happens
    maps.was_read(MAPS[0], NEXT, links=5, children=0, news=True)
    for step in range(12, 30):
        _read(maps, START + step * DAY, "2026-01-01")
        assert not maps.rests(MAPS[0], START + step * DAY)
    found = maps.get(INDEX)
    assert found is not None
    assert (found.audit.lies, found.spared) == (1, 0)
    assert found.audit.clean == 18
    assert isinstance(found.audit, ReplyAudit)


def test_what_a_sitemap_named_stands_with_it() -> None:
    maps = _proved("2026-01-01")
    page = PageRow(HOME, listed=NEXT - DAY, map=map_name(MAPS[0]))
    assert not maps.names(page, NEXT)
    maps.unchanged(MAPS[0], NEXT)
    assert maps.names(page, NEXT)
    assert not maps.dropped(page, NEXT - DAY, NEXT)
    maps.was_read(MAPS[0], NEXT, links=4, children=0, news=False)
    assert maps.dropped(page, NEXT - DAY, NEXT)
    assert maps.dropped(PageRow(HOME, listed=5.0), 5.0, NEXT)


# ---- in the planner


class _Site:
    """A start page, an index of twenty sitemaps, ten pages in each.

    Attributes:
        dates: When each page changed last.
        hidden: Sitemaps whose changes the index keeps silent about.
        validators: Sitemaps answer 304 as long as they are the same.
    """

    def __init__(self) -> None:
        self.dates = {f"http://a.test/{m}/{n}": START - DAY for m in range(20) for n in range(10)}
        self.hidden: set[str] = set()
        self.validators = False
        self.asked: list[str] = []
        self._sent: dict[str, str] = {}

    def _named(self, url: str) -> dict[str, float]:
        folder = f"http://a.test/{MAPS.index(url)}/"
        return {page: date for page, date in self.dates.items() if page.startswith(folder)}

    def visit(self, url: str, now: float) -> Visit:
        self.asked.append(url)
        if url == HOME:
            return self._reply(url, now, "text/html", [Link(INDEX, "M")])
        if url == INDEX:
            dates = {each: max(self._named(each).values()) for each in MAPS}
            dates |= dict.fromkeys(self.hidden, START - DAY)
            links = [Link(each, "M", "", _written(date)) for each, date in dates.items()]
            return self._reply(url, now, "text/xml", links)
        if url in MAPS:
            links = [Link(page, "M", "", _written(at)) for page, at in self._named(url).items()]
            return self._reply(url, now, "text/xml", links)
        if url not in self.dates:
            return Visit(url, now, 404, "", "text/html", 0, (), bytes)
        return self._reply(url, now, "text/html", (), f"{url} {self.dates[url]}")

    def _reply(
        self, url: str, now: float, mime: str, links: Sequence[Link], text: str = ""
    ) -> Visit:
        digest = sha1(f"{text}{links}".encode(), usedforsecurity=False).hexdigest()
        if self.validators and self._sent.get(url) == digest:
            return Visit(url, now, 304, "", mime, 0, (), bytes)
        self._sent[url] = digest
        return Visit(url, now, 200, digest, mime, 10, links, bytes)

    def maps_read(self) -> list[str]:
        return [url for url in self.asked if url in MAPS]


def _planner() -> tuple[Planner, MemoryRows]:
    rows = MemoryRows()
    settings = RecrawlSettings.model_validate({"lots": 0.0, "floor": 0})
    planner = Planner(rows, Sites(), DigestJudge(), settings)
    planner.begin([HOME])
    return planner, rows


def _step(planner: Planner, site: _Site, now: float) -> None:
    site.asked.clear()
    while wave := planner.choose(now, 10**6):
        for one in wave:
            planner.learn(site.visit(one.url, now))


def _settled(*, validators: bool = False) -> tuple[_Site, Planner, float]:
    """Three weeks, in each of which a page of two sitemaps changed."""
    site, (planner, _) = _Site(), _planner()
    site.validators = validators
    for week in range(3):
        now = START + 7 * DAY * week
        site.dates[f"http://a.test/{week}/3"] = now - DAY
        site.dates[f"http://a.test/{week + 5}/4"] = now - DAY
        _step(planner, site, now)
    return site, planner, START + 21 * DAY


@pytest.mark.parametrize("validators", [False, True])
def test_only_what_the_index_dates_anew_is_read_and_a_few_more(*, validators: bool) -> None:
    site, planner, now = _settled(validators=validators)
    for week in range(4):
        at = now + 7 * DAY * week
        site.dates["http://a.test/9/1"] = site.dates["http://a.test/11/new"] = at - DAY
        _step(planner, site, at)
        assert {MAPS[9], MAPS[11]} <= set(site.maps_read())
        assert len(site.maps_read()) <= 8
        assert {"http://a.test/9/1", "http://a.test/11/new"} <= set(site.asked)
        assert not week or len(site.asked) < 30  # nothing is taken for withdrawn


def test_a_page_that_is_named_no_more_is_looked_at() -> None:
    site, planner, now = _settled()
    del site.dates["http://a.test/9/1"]
    site.dates["http://a.test/9/2"] = now - DAY
    _step(planner, site, now)
    assert "http://a.test/9/1" in site.asked
    assert len(site.maps_read()) <= 8


def test_when_an_index_lies_all_are_read_again_at_once() -> None:
    site, planner, now = _settled()
    site.hidden = set(MAPS)
    for number in range(20):
        site.dates[f"http://a.test/{number}/7"] = now - DAY
    _step(planner, site, now)
    assert set(site.maps_read()) == set(MAPS)
    assert {f"http://a.test/{number}/7" for number in range(20)} <= set(site.asked)
    _step(planner, site, now + 7 * DAY)
    assert set(site.maps_read()) == set(MAPS)
