"""The planner against a small site of its own: it finds what is new, changed and gone, cheaply."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha1

import pytest
from msgspec.structs import replace

from nacre.core.pagerow import PageKind, PageRow, PageView
from nacre.planner.change_detection.change import ChangeSettings
from nacre.planner.planner import Planner
from nacre.planner.settings import RecrawlSettings
from nacre.planner.sites import TRIED, Sites
from nacre.planner.step import Choice
from nacre.planner.visited import DigestJudge, Judge, MemoryRows
from nacre.recrawl.judge import Lessons, PageJudge
from tests.history.visits import Link, Visit

DAY = 86_400.0
START = 1_767_571_200.0
HOME = "http://a.test/"
MAP = "http://a.test/sitemap.xml"


def _url(number: int) -> str:
    return f"http://a.test/news/{number}.html"


@dataclass
class _Site:
    """A home page that lists all pages, and a sitemap that is honest."""

    sitemap: bool = True
    texts: dict[str, str] = field(default_factory=dict)
    dates: dict[str, float] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def write(self, number: int, text: str, now: float) -> None:
        self.texts[_url(number)], self.dates[_url(number)] = text, now

    def visit(self, url: str, now: float) -> Visit:
        self.asked.append(url)
        if url == MAP:
            links = [Link(page, "M", "", _iso(self.dates[page])) for page in self.texts]
            return self._reply(url, now, "text/xml", repr(links), links)
        if url == HOME:
            links = [Link(page, "L", page) for page in self.texts]
            links += [Link(MAP, "M")] if self.sitemap else []
            items = "".join(f"<li><a href='{link.url}'>{link.text}</a>" for link in links)
            return self._reply(url, now, "text/html", f"<ul>{items}</ul>", links)
        if url not in self.texts:
            return Visit(url, now, 404, "", "text/html", 0, (), bytes)
        return self._reply(url, now, "text/html", f"<p>{self.texts[url]}</p>", ())

    def _reply(self, url: str, now: float, mime: str, text: str, links: Sequence[Link]) -> Visit:
        body = text.encode()
        digest = sha1(body, usedforsecurity=False).hexdigest()
        return Visit(url, now, 200, digest, mime, len(body), links, lambda: body)


def _iso(time: float) -> str:
    from datetime import UTC, datetime  # noqa: PLC0415 - used here alone

    return datetime.fromtimestamp(time, UTC).isoformat()


class _Versions:
    def __init__(self) -> None:
        self.views: dict[str, PageView] = {}

    def last(self, url: str) -> PageView | None:
        return self.views.get(url)

    def keep(self, url: str, view: PageView) -> None:
        self.views[url] = view


def _judge(*, by_text: bool) -> Judge:
    if not by_text:
        return DigestJudge()
    return PageJudge(_Versions(), Lessons.none(), ChangeSettings())


class _Rows(MemoryRows):
    """Gives copies, as a store does: what is not put is lost."""

    def get(self, url: str) -> PageRow | None:
        row = super().get(url)
        return None if row is None else replace(row)

    def scan(self) -> Iterator[PageRow]:
        return map(replace, super().scan())

    def put(self, row: PageRow) -> None:
        super().put(replace(row))


def _planner(*, by_text: bool = True, **said: object) -> Planner:
    settings = RecrawlSettings.model_validate({"lots": 0.0, **said})
    planner = Planner(_Rows(), Sites(), _judge(by_text=by_text), settings)
    planner.begin([HOME])
    return planner


def _step(planner: Planner, site: _Site, now: float, room: int = 10**6) -> list[Choice]:
    """One step; what was chosen."""
    chosen: list[Choice] = []
    for _ in range(100):
        wave = planner.choose(now, room - len(chosen))
        if not wave:
            return chosen
        chosen += wave
        for one in wave:
            planner.learn(site.visit(one.url, now))
    raise AssertionError("the step does not end")


def _site(pages: int = 60, *, sitemap: bool = True) -> _Site:
    site = _Site(sitemap)
    for number in range(pages):
        site.write(number, f"text of article {number}, which is long enough " * 5, START - DAY)
    return site


@pytest.mark.parametrize("by_text", [True, False])
def test_the_first_step_is_a_full_crawl(*, by_text: bool) -> None:
    site = _site()
    chosen = _step(_planner(by_text=by_text), site, START)
    assert {one.url for one in chosen} == {HOME, MAP, *site.texts}
    assert len(chosen) == len({one.url for one in chosen})


def test_new_changed_and_vanished_pages_are_found_with_few_requests() -> None:
    site, planner = _site(400), _planner()
    _step(planner, site, START)
    found_all, requests = [], 0
    for week in range(1, 9):
        now = START + 7 * DAY * week
        site.write(1000 + week, f"brand new {week}", now - DAY)
        site.write(week, f"edited in week {week}", now - DAY)
        del site.texts[_url(100 + week)]
        site.asked.clear()
        _step(planner, site, now)
        wanted = {_url(1000 + week), _url(week), _url(100 + week)}
        found_all.append(wanted <= set(site.asked))
        requests += len(site.asked) if week > 1 else 0
    assert all(found_all)
    assert requests < 0.3 * 7 * 400


def test_without_hints_old_pages_are_visited_by_their_rates() -> None:
    site, planner = _site(200, sitemap=False), _planner(hints=False)
    _step(planner, site, START)
    for week in range(1, 12):
        now = START + 7 * DAY * week
        for number in range(5):
            site.write(number, f"edition {100 * number + week} of it", now)
        site.asked.clear()
        _step(planner, site, now, room=30)
        assert len(site.asked) <= 30
    busy = sum(url in site.asked for url in map(_url, range(5)))
    assert busy == 5


def test_a_budget_is_kept() -> None:
    site, planner = _site(100), _planner()
    _step(planner, site, START)
    for step in range(1, 5):
        assert len(_step(planner, site, START + step * DAY, room=7)) <= 7


def test_the_same_choices_every_time() -> None:
    runs = []
    for _ in range(2):
        site, planner = _site(80), _planner(lots=0.05)
        chosen = []
        for step in range(4):
            site.write(3, f"version {step}", START + step * DAY)
            chosen.append(_step(planner, site, START + step * 7 * DAY))
        runs.append(chosen)
    assert runs[0] == runs[1]


def test_the_floor_brings_every_page_back() -> None:
    site, planner = _site(50), _planner(floor=30 * DAY, recall=0.5)
    _step(planner, site, START)
    for week in range(1, 6):
        _step(planner, site, START + 7 * DAY * week)
    site.asked.clear()
    _step(planner, site, START + 70 * DAY)
    assert set(site.texts) <= set(site.asked)


def test_failures_teach_nothing_of_changes() -> None:
    site, planner = _site(30), _planner()
    _step(planner, site, START)
    broken = Visit(_url(1), START + DAY, 503, "", "text/html", 0, (), bytes)
    planner.choose(START + DAY, 100)
    planner.learn(broken)
    assert _url(1) not in planner.rates()


def test_embeds_and_files_are_told_from_pages() -> None:
    rows = MemoryRows()
    planner = Planner(rows, Sites(), DigestJudge(), RecrawlSettings())
    planner.begin([HOME])
    planner.choose(START, 10)
    for name, mime, kind in [
        ("a.png", "image/png", PageKind.EMBED),
        ("b.pdf", "application/pdf", PageKind.FILE),
        ("c.html", "text/html", PageKind.PAGE),
    ]:
        url = f"http://a.test/{name}"
        planner.learn(Visit(url, START, 200, name, mime, 3, (), lambda: b"abc"))
        row = rows.get(url)
        assert row is not None
        assert row.kind is kind


class _Sections(_Site):
    """Beside the home page, each twenty pages have a list of their own, the newest the first."""

    noisy = False
    """What lists show beside each link is other at each step."""

    def visit(self, url: str, now: float) -> Visit:
        lists = [f"http://a.test/list{number}/" for number in range(20)]
        if url == MAP or url in self.texts:
            return super().visit(url, now)
        self.asked.append(url)
        if url == HOME:
            links = [Link(each, "L", each) for each in lists]
            links += [Link(MAP, "M")] if self.sitemap else []
        elif url in lists:
            at = 20 * lists.index(url)
            extra = f" read {now:.0f} times" if self.noisy else ""
            links = [
                Link(page, "L", f"the title of {page}{extra}")
                for page in list(reversed(self.texts))[at : at + 20]
            ]
        else:
            return Visit(url, now, 404, "", "text/html", 0, (), bytes)
        items = "".join(f"<li><a href='{link.url}'>{link.text}</a>" for link in links)
        return self._reply(url, now, "text/html", f"<ul>{items}</ul>", links)


def _sections(pages: int, *, sitemap: bool) -> _Sections:
    site = _Sections(sitemap)
    for number in range(pages):
        site.write(number, f"text of article {number}, which is long enough " * 5, START - DAY)
    return site


def _lists_read(site: _Sections, planner: Planner, weeks: int) -> int:
    """How many lists are read in the last of some weeks; each brings a new and a changed page."""
    for week in range(weeks + 1):
        now = START + 7 * DAY * week
        for more in range(20 if week else 0):
            site.write(1000 + 20 * week + more, f"brand new {week} {more} " * 20, now - DAY)
            site.write(400 - week * 20 + more, f"edited in week {week} " * 20, now - DAY)
        site.asked.clear()
        _step(planner, site, now)
        if week:
            assert set(map(_url, range(1000 + 20 * week, 1020 + 20 * week))) <= set(site.asked)
    return sum("/list" in url for url in site.asked)


def test_lists_rest_where_a_sitemap_tells_the_same() -> None:
    told = _lists_read(_sections(400, sitemap=True), _planner(), 8)
    untold = _lists_read(_sections(400, sitemap=False), _planner(recall=1.0), 4)
    assert told <= 8
    assert untold >= 20


def test_a_source_that_was_not_tried_is_tried_with_a_few_pages() -> None:
    site, planner = _sections(400, sitemap=True), _planner()
    site.noisy = True
    _step(planner, site, START)
    now, told = START + 7 * DAY, []
    while wave := planner.choose(now, 10**6):
        told += [sum(one.reason == "told" for one in wave)]
        for one in wave:
            planner.learn(site.visit(one.url, now))
    first = next(count for count in told if count)
    assert first == TRIED < sum(told)


MONTH = 30 * DAY


def test_the_second_crawl_of_a_small_site_is_a_small_one() -> None:
    site, planner = _site(300), _planner()
    _step(planner, site, START)
    site.write(7, "edited, and the sitemap says so", START + DAY)
    site.asked.clear()
    _step(planner, site, START + MONTH)
    assert _url(7) in site.asked
    assert len(site.asked) <= 30


def test_a_sitemap_that_was_silent_about_changes_is_not_taken_at_its_word() -> None:
    site, planner = _site(300), _planner()
    _step(planner, site, START)
    for number in range(0, 300, 3):
        site.texts[_url(number)] = f"edited, and the sitemap does not say so {number} " * 5
    site.asked.clear()
    _step(planner, site, START + MONTH)
    changed = set(map(_url, range(0, 300, 3)))
    assert len(changed & set(site.asked)) >= 95


def test_what_a_sitemap_that_is_right_tells_is_visited_whatever_its_class_makes_of_it() -> None:
    site, planner = _site(400), _planner(recall=0.5)
    _step(planner, site, START)
    now = START + 3 * MONTH
    told = [*range(0, 400, 8), 1000]
    for number in told:
        site.write(number, f"edited within the quarter {number}", now - DAY)
    withdrawn = [3, 113, 331]
    for number in withdrawn:
        del site.texts[_url(number)]
    site.asked.clear()
    _step(planner, site, now)
    assert set(map(_url, [*told, *withdrawn])) <= set(site.asked)
    assert len(site.asked) < 120


def test_an_embed_that_was_never_visited_waits_once_embeds_had_their_part() -> None:
    site, rows = _site(), _Rows()
    planner = Planner(rows, Sites(), _judge(by_text=True), RecrawlSettings(lots=0.0))
    planner.begin([HOME])
    _step(planner, site, START)
    picture, now = "http://a.test/new.png", START + 7 * DAY
    assert planner.choose(now, 20)
    assert not planner.postpones(picture, 2), "a twentieth of the budget is left"
    assert planner.postpones(picture, 2)
    row = rows.get(picture)
    assert row is not None
    assert (row.kind, row.depth) == (PageKind.EMBED, 2)
    assert picture in {choice.url for choice in planner.choose(now, 19)}


def _manual(release: int, number: int) -> str:
    return f"http://a.test/{release}/api.html?C{number}"


@pytest.mark.parametrize("forbidden", [True, False])
def test_new_urls_without_a_request_take_no_share_of_a_budget(*, forbidden: bool) -> None:
    """URLs that robots.txt forbids, or that wait as they are one known page."""
    site, planner = _site(200, sitemap=False), _planner(hints=False)
    for release in (3, 4):
        site.texts.update((_manual(release, number), "the same text") for number in range(4))
    _step(planner, site, START)
    first = [f"http://a.test/x/{n}.html" if forbidden else _manual(9, n) for n in range(30)]
    site.texts.update(dict.fromkeys(first, "the same text"))
    now, requests = START + 7 * DAY, 0
    for number in range(1000, 1100):
        site.write(number, f"new text {number}", now - DAY)
    site.asked.clear()
    while wave := planner.choose(now, 40 - requests):
        for choice in wave:
            if forbidden and choice.url in first:
                planner.learn(Visit(choice.url, now, -9998, "", "", 0, (), bytes))
            else:
                planner.learn(site.visit(choice.url, now))
                requests += 1
    assert requests == 40
    assert len(set(site.asked) & set(map(_url, range(1000, 1100)))) >= 34
