"""Lists in pages: the planner reads on where more was published than a page shows."""

from collections.abc import Iterator

from nacre.history.recrawl.choice import Choice
from nacre.history.recrawl.planner import Planner
from nacre.history.recrawl.settings import RecrawlSettings
from nacre.history.recrawl.sites import Sites
from nacre.history.visited import Finding, Judge, MemoryRows, answer_of
from tests.history.visits import Link, Visit

DAY = 86_400.0
START = 1_767_571_200.0
HOME = "http://a.test/"
SIZE = 10


class _ByName(Judge):
    """What lies in a folder is a list; all else is an article that never changes."""

    def judge(self, row: object, visit: Visit) -> Finding:  # type: ignore[override]
        listing = 1.0 if visit.url.endswith("/") or "index_" in visit.url else 0.0
        return Finding(answer_of(visit.status), listing=listing)

    def pair(self, row: object, visit: object) -> frozenset[int]:
        """Nothing to learn."""
        return frozenset()

    def pairs_wanted(self, url: str) -> int:
        return 0

    def says(self, visit: object) -> int:
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


def _step(planner: Planner, site: _Site, now: float, room: int = 10**6) -> list[Choice]:
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
        _step(planner, site, START + step * 7 * DAY)
        for section in site.entries:
            site.publish(section, 2)
    return START + steps * 7 * DAY


def test_a_flooded_list_is_read_on_until_known_links_and_no_other() -> None:
    site, (planner, sites) = _Site(), _planner()
    now = _settled(site, planner)
    site.publish(1, 23)  # 25 new ones in all: two pages and a half
    chosen = _step(planner, site, now)
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
    chosen = _step(planner, site, now)
    assert _list(0, 2) in [one.url for one in chosen if one.reason == "paging"]


def test_what_there_was_no_room_for_is_read_in_the_next_step() -> None:
    site, (planner, sites) = _Site(), _planner()
    now = _settled(site, planner)
    site.publish(1, 38)
    _step(planner, site, now, room=4)
    assert sites.paging() == [_list(1, 1)]
    chosen = _step(planner, site, now + 7 * DAY)
    assert chosen[0].url == _list(1, 1)
    assert not sites.paging()
    assert {_article(1, number) for number in range(75, 79)} <= set(site.asked)


def test_further_pages_that_only_repeat_are_left_out() -> None:
    site, (planner, _) = _Site(), _planner()
    _settled(site, planner, steps=2)
    _step(planner, site, START + 14 * DAY)
    chosen = _step(planner, site, START + 21 * DAY)
    lists = {
        one.url for one in chosen if one.url in {_list(s, p) for s in range(3) for p in range(5)}
    }
    assert lists == {_list(section) for section in range(3)}


def test_a_list_that_would_overflow_is_due_whatever_the_budget() -> None:
    site, (planner, _) = _Site(sections=2), _planner()
    for step in range(4):
        _step(planner, site, START + step * 7 * DAY)
        site.publish(0, 8)
        site.publish(1, 1)
    chosen = _step(planner, site, START + 28 * DAY, room=12)
    reasons = {one.url: one.reason for one in chosen}
    assert reasons[_list(0)] == "window"
    assert reasons.get(_list(1)) != "window"


def test_new_pages_wait_for_the_next_step_where_there_was_no_room() -> None:
    site, (planner, _) = _Site(), _planner()
    now = _settled(site, planner)
    site.publish(0, 5)
    _step(planner, site, now, room=6)
    _step(planner, site, now + 7 * DAY)
    assert {_article(0, number) for number in (45, 44, 43)} <= set(site.asked)
