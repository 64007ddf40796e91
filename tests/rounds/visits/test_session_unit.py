"""A job that fetches a list: what it enters, once, and when it ends."""

import asyncio
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nacre.assembly.records import RunRecords
from nacre.core.history import HistoryRecord
from nacre.core.states import ExitStatus
from nacre.engine.prerequisites import RobotsRow
from nacre.frontier.policy import Backoff
from nacre.inspect.stored_job import read_only
from nacre.job.job import Job
from nacre.machine.layout import Layout
from nacre.rounds.visits.session_unit import UnitHost
from nacre.rounds.visits.unit_visits import Follow, NotAttempted, UnitOptions, given_up_hosts
from nacre.scope.robots_txt import RobotsState
from tests.cli.site import site
from tests.fault.site import Site
from tests.rounds.visits.units import Listed, facts_of, links_of, unit_job

PAGES = {
    "/": b'<a href="/a.html">a</a> <a href="/b.html">b</a> <a href="http://x.test/">x</a>',
    "/a.html": b'<a href="/c.html">c</a><link rel="canonical" href="/a.html?main">',
    "/b.html": b"<p>b</p>",
    "/c.html": b"<p>c</p>",
    "/robots.txt": b"User-agent: *\nDisallow: /private/\n",
}


async def fetched(root: Path, site: Site, paths: list[str], **options: Any) -> ExitStatus:
    job = unit_job(root, Listed([site.url(path) for path in paths]), UnitOptions(**options))
    return await job.run()


def test_exactly_the_list_is_fetched_and_links_are_kept_that_the_scope_accepts(tmp_path: Path):
    async def main() -> Site:
        site = Site(PAGES)
        async with site.serving():
            how = await fetched(tmp_path, site, ["/", "/a.html", "/private/x", "/none"])
            assert how is ExitStatus.FINISHED
        return site

    site = asyncio.run(main())
    assert dict(site.asked) == {"/robots.txt": 1, "/": 1, "/a.html": 1, "/none": 1}
    facts = {fact.url: fact for fact in facts_of(tmp_path)}
    assert {url: fact.status for url, fact in facts.items()} == {
        site.url("/"): 200,
        site.url("/a.html"): 200,
        site.url("/private/x"): -9998,
        site.url("/none"): 404,
    }
    home = facts[site.url("/")]
    assert [link[:2] for link in links_of(facts.values())[home.url]] == [
        (site.url("/a.html"), "L"), (site.url("/b.html"), "L"),
    ]  # fmt: skip
    assert (home.outlinks, home.stored) == (3, "novel")
    assert home.warc.endswith(".warc.gz")
    assert home.history


@pytest.mark.slow
def test_a_resumed_unit_enters_nothing_twice(tmp_path: Path):
    pages = {f"/{number}.html": b"page %d" % number for number in range(1200)}

    async def main() -> Site:
        site = Site(pages)
        async with site.serving():
            urls = [site.url(path) for path in pages]
            job = unit_job(tmp_path, Listed(urls))
            stop_after(job, site, 30)
            assert await job.run() is ExitStatus.ABORTED
            assert await unit_job(tmp_path, Listed(urls)).run() is ExitStatus.FINISHED
        return site

    site = asyncio.run(main())
    del site.asked["/robots.txt"]
    assert max(site.asked.values()) == 1
    assert len(site.asked) == 1200
    facts = facts_of(tmp_path)
    assert len({fact.url for fact in facts}) == len(facts) == 1200


def stop_after(job: Job, site: Site, number: int) -> None:
    def asked(_: str) -> None:
        if sum(site.asked.values()) == number and job.session:
            job.session.stop(ExitStatus.ABORTED)

    site.on_request = asked


def test_redirects_are_followed_within_the_hosts_of_the_unit(tmp_path: Path):
    async def main(follow: str) -> tuple[Site, dict[str, int]]:
        site = Site(PAGES)
        site.moved = {"/1": "/2", "/2": "/3", "/3": "/b.html", "/out": "http://localhost:9/"}
        root = tmp_path / follow
        async with site.serving():
            await fetched(root, site, ["/1", "/out"], follow=Follow(follow), max_redirects=2)
        return site, {fact.url: len(fact.links) for fact in facts_of(root)}

    site, found = asyncio.run(main("redirects"))
    assert found == {site.url("/1"): 1, site.url("/2"): 1, site.url("/3"): 1, site.url("/out"): 1}
    site, found = asyncio.run(main("none"))
    assert found == {site.url("/1"): 1, site.url("/out"): 1}


def test_a_url_of_the_list_behind_a_redirect_is_fetched_once(tmp_path: Path):
    async def main() -> Site:
        site = Site(PAGES)
        site.moved = {"/1": "/b.html"}
        async with site.serving():
            await fetched(tmp_path, site, ["/1", "/b.html"])
        return site

    site = asyncio.run(main())
    assert site.asked["/b.html"] == 1
    assert len(facts_of(tmp_path)) == 2


def test_what_earlier_rounds_know_makes_revisits(tmp_path: Path):
    async def main() -> None:
        site = Site(PAGES)
        async with site.serving():
            await fetched(tmp_path / "1", site, ["/b.html"])
            (first,) = facts_of(tmp_path / "1")
            known = msgspec.msgpack.decode(first.history, type=HistoryRecord)
            uris = Listed([first.url], history={first.url: known})
            await unit_job(tmp_path / "2", uris).run()
        (second,) = facts_of(tmp_path / "2")
        again = msgspec.msgpack.decode(second.history, type=HistoryRecord)
        assert second.stored == "duplicate"
        assert (again.visits, again.record_id) == (2, known.record_id)

    asyncio.run(main())


def test_robots_txt_of_an_earlier_round_is_not_asked_for_again(tmp_path: Path):
    async def main() -> Site:
        site = Site(PAGES)
        async with site.serving():
            origin = site.url("")
            rules = b"User-agent: *\nDisallow: /b\n"
            row = RobotsRow(RobotsState.RULES, time.time() + 3600.0, rules, 200)
            uris = Listed(
                [site.url("/b.html"), site.url("/c.html")],
                known=[UnitHost("127.0.0.1", {origin: row})],
            )
            await unit_job(tmp_path, uris).run()
        return site

    site = asyncio.run(main())
    assert dict(site.asked) == {"/c.html": 1}
    assert sorted(fact.status for fact in facts_of(tmp_path)) == [-9998, 200]


class _Factor:
    """Reads at the end of a session how much longer than usual the queue of a URL is waited for."""

    name = "factor"
    busy = False

    def __init__(self, records: RunRecords, url: str, found: list[float]) -> None:
        self._queues, self._url, self._found = records.queues, url, found

    async def run(self) -> None:
        await asyncio.Event().wait()

    async def ending(self, how: ExitStatus) -> None:
        queue = self._queues.identity.queue(self._url)
        self._found.append(self._queues.frontier.queue_states.find(queue).row.backoff)


@pytest.mark.parametrize("policy", ["obey", "ignore"])
@pytest.mark.slow
def test_a_host_is_waited_for_as_an_earlier_round_learned_whatever_is_said_of_robots_txt(
    tmp_path: Path, policy: str
):
    factors: list[float] = []

    async def main() -> None:
        site = Site(PAGES)
        async with site.serving():
            url = site.url("/b.html")
            origins = frozenset((site.url(""),))
            known = [UnitHost("127.0.0.1", backoff=Backoff(64.0, 0.0), origins=origins)]
            beside = [lambda records, _facts: _Factor(records, url, factors)]
            robots = {"policy": policy}
            await unit_job(tmp_path, Listed([url], known=known), beside=beside, robots=robots).run()

    asyncio.run(main())
    assert factors[0] > 32.0, "each reply lets it decay by a fifth"


@pytest.mark.parametrize("status", [503, 404])
def test_a_host_that_refuses_is_given_up(tmp_path: Path, status: int):
    pages = {f"/{number}": b"" for number in range(50)}

    async def main() -> Site:
        site = Site({"/robots.txt": b""})
        site.pause = 0.01
        site.status = {503: b"503 Busy", 404: b"404 Not Found"}[status]
        async with site.serving():
            uris = Listed([site.url(path) for path in pages])
            job = unit_job(
                tmp_path,
                uris,
                UnitOptions(max_failures=5),
                frontier={"throttled_retries": 0},
                politeness={"delay": 0.0, "backoff_up_to": 0.0},
            )
            assert await job.run() is ExitStatus.FINISHED
        return site

    site = asyncio.run(main())
    asked = sum(site.asked.values()) - site.asked["/robots.txt"]
    with read_only(str(Layout(tmp_path).store)) as store:
        given_up = given_up_hosts(store)
    if status == 404:
        assert (asked, given_up) == (50, {})
    else:
        assert given_up == {"127.0.0.1": NotAttempted.BLOCKED}
        assert 5 <= asked < 50
        assert len(facts_of(tmp_path)) == asked


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("of_robots", [False, True])
def test_a_host_that_wants_to_be_asked_much_later_is_given_up_at_once(
    tmp_path: Path, status: int, of_robots: bool
):
    async def main() -> Site:
        site = Site({} if of_robots else {"/robots.txt": b""})
        site.status = b"%d Later\r\nRetry-After: 7200" % status
        async with site.serving():
            uris = Listed([site.url(f"/{number}.html") for number in range(20)])
            options = UnitOptions(max_failures=5, max_wait=600.0)
            limited = {"delay": 0.0, "in_flight": 1, "respect_retry_after_up_to": 600.0}
            job = unit_job(tmp_path, uris, options, politeness=limited)
            assert await job.run() is ExitStatus.FINISHED
        return site

    site = asyncio.run(main())
    assert site.asked["/robots.txt"] == 1
    facts = facts_of(tmp_path)
    if of_robots and status == 503:
        assert sum(site.asked.values()) == 1
    elif not of_robots:
        (fact,) = facts
        assert sum(site.asked.values()) == 2
        assert (fact.status, fact.retry_after, fact.stored) == (status, 7200.0, "novel")
        assert fact.warc
    with read_only(str(Layout(tmp_path).store)) as store:
        assert given_up_hosts(store) == {"127.0.0.1": NotAttempted.BLOCKED}


def test_a_unit_ends_at_its_deadline(tmp_path: Path):
    async def main() -> ExitStatus:
        site = Site(PAGES)
        async with site.serving():
            return await fetched(tmp_path, site, ["/", "/a.html"], deadline=1.0)

    assert asyncio.run(main()) is ExitStatus.TIME_LIMIT


def test_urls_of_an_earlier_attempt_are_left_out(tmp_path: Path):
    async def main() -> Site:
        site = Site(PAGES)
        async with site.serving():
            urls = [site.url("/"), site.url("/b.html")]
            await unit_job(tmp_path, Listed(urls, done=urls[:1])).run()
        return site

    assert "/" not in asyncio.run(main()).asked


def test_seeds_are_known_to_the_scope_and_not_entered(tmp_path: Path):
    async def main() -> Site:
        site = Site(PAGES)
        async with site.serving():
            uris = Listed([site.url("/a.html")])
            scope = [{"rule": "reject"}, {"rule": "surt-prefixed"}]
            job = unit_job(tmp_path, uris, seeds=[site.url("/")], scope=scope)
            await job.run()
        return site

    site = asyncio.run(main())
    assert dict(site.asked) == {"/robots.txt": 1, "/a.html": 1}
    (fact,) = facts_of(tmp_path)
    assert site.url("/c.html") in [link[0] for link in links_of([fact])[fact.url]]


EMBEDDING = {
    "/": '<img src="/i.png"><img src="/known.png"><a href="/a.html">a</a>'
    '<link rel="stylesheet" href="/s.css"><img src="http://127.0.0.2/x.png">',
    "/s.css": "@import '/t.css'; body { background: url(/书.png) }",
    "/t.css": "@import '/u.css';",
    "/u.css": "@import '/v.css';",
    "/v.css": "",
    "/i.png": "PNG",
    "/known.png": "PNG",
    "/%E4%B9%A6.png": "PNG",
}


def test_what_a_page_embeds_is_fetched_with_it_unless_it_is_there(tmp_path: Path):
    with site(EMBEDDING) as home:
        uris = Listed([home], done=[f"{home}known.png"])
        options = UnitOptions(follow=Follow.EMBEDS)
        scope = [{"rule": "accept"}]
        asyncio.run(unit_job(tmp_path, uris, options, scope=scope).run())
    found = {fact.url.removeprefix(home): fact for fact in facts_of(tmp_path)}
    assert set(found) == {"", "i.png", "s.css", "t.css", "u.css", "%E4%B9%A6.png"}
    assert found["t.css"].path == "EE"
    assert {url.removeprefix(home) for url, *_ in links_of(found.values())[home]} >= {
        "a.html",
        "known.png",
    }
