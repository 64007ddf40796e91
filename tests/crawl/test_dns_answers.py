"""a look-up serves at least the fetch that waits for it (docs/reference, `dns.min_ttl`).

On the code before, an answer with a time to live of 0 under `dns.min_ttl: 0` had expired when it
came: the names were asked for again, for ever, and no page was fetched.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvloop

from nacre.config.effective import fixed
from nacre.core.processor import Result
from nacre.core.status import FetchStatus
from nacre.engine.prerequisites import Answers, HostAnswer, HostAnswers, RobotsCache, RobotsRow
from nacre.engine.steps.preconditions import Preconditions
from nacre.job.job import Job
from nacre.scope.robots_txt import RobotsSettings, RobotsState
from nacre.scope.rules.stock import rules_for
from nacre.scope.seed_scope import ScopeKind
from nacre.settings.settings import JobSettings
from tests.fetch.nameserver import NameServer, a, name_server, reply
from tests.job.memory import memory_store, visit_of

NOW = 1_790_000_000.0
PAGES = 20


class Site:
    """A site of some pages, with its requests by path and the most look-ups that it bears."""

    def __init__(self, names: NameServer) -> None:
        self.names = names
        self.port = 0
        self.asked: Counter[str] = Counter()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                path = head.split()[1].decode()
                self.asked[path] += 1
                links = "".join(f'<a href="/{n}">.</a>' for n in range(PAGES)).encode()
                length = b"Content-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(links)
                writer.write(b"HTTP/1.1 200 OK\r\n" + length + links)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def bears(self, most: int) -> None:
        """After that many questions no name is known any more, so that the crawl ends."""
        known = dict(self.names.answers)

        def limited(query):
            found = known[str(query.q.qname).rstrip(".")]
            return (
                reply(query, rcode="NXDOMAIN") if len(self.names.questions) > most else found(query)
            )

        self.names.answers = dict.fromkeys(known, limited)


@asynccontextmanager
async def site() -> AsyncIterator[Site]:
    async with name_server() as names:
        found = Site(names)
        server = await asyncio.start_server(found.serve, "127.0.0.1", 0)
        found.port = server.sockets[0].getsockname()[1]
        async with server:
            yield found


def settings(found: Site, **more: object) -> JobSettings:
    plan = {
        "seeds": [f"http://short.test:{found.port}/"],
        "scope": [rule.model_dump() for rule in rules_for(ScopeKind.HOST)],
        "politeness": {"delay": 0, "in_flight": 4},
        "dns": {"servers": [found.names.address], "min_ttl": 0, "ipv6": False},
        "frontier": {"max_retries": 1, "retry_delay": 0.01},
    }
    return JobSettings.model_validate(plan | more)


def test_a_crawl_of_names_that_hold_for_no_time_ends_with_all_pages(tmp_path):
    """Each page needs a look-up of its own, and robots.txt one: no more."""

    async def main():
        async with site() as found:
            found.names.zone(a("short.test", "127.0.0.1", ttl=0))
            found.bears(10 * PAGES)
            await Job(tmp_path / "job", settings(found)).run()
            return found

    found = uvloop.run(main())
    wanted = {"/", "/robots.txt", *(f"/{n}" for n in range(PAGES))}
    assert wanted <= found.asked.keys()
    assert set(found.asked.values()) == {1}
    assert len(found.names.questions) <= 2 * len(found.asked) + 2


@pytest.mark.parametrize("rcode", ["NXDOMAIN", "SERVFAIL"])
def test_a_negative_answer_ends_the_crawl(rcode, tmp_path):
    async def main():
        async with site() as found:
            found.names.answers["short.test"] = lambda query: reply(query, rcode=rcode)
            await Job(tmp_path / "job", settings(found, dns={
                "servers": [found.names.address], "min_ttl": 0, "tries": 1
            })).run()  # fmt: skip
            return found

    found = uvloop.run(main())
    assert not found.asked
    assert len(found.names.questions) <= 8


class World:
    """The preconditions of one site, with a clock; what is learned is stale a moment later."""

    def __init__(self):
        self.now = NOW
        values = fixed(RobotsSettings())
        store = memory_store()
        self.hosts, self.robots = HostAnswers(store), RobotsCache(store, values)
        self.checks = Preconditions(self.hosts, self.robots, values)
        self.answers = Answers(self.hosts, self.robots, values)
        self.fetched = []

    def learn(self, prerequisite, *moves):
        """Its prerequisite is fetched; all that it says has expired by now."""
        self.fetched.append(prerequisite)
        if prerequisite.startswith("dns:"):
            self.hosts.put(prerequisite[4:], HostAnswer(("192.0.2.1",), self.now, self.now))
            return
        if prerequisite == "http://a.test/robots.txt" and moves:
            row = RobotsRow(RobotsState.REDIRECT, self.now, next_url=moves[0], learned=self.now)
        else:
            row = RobotsRow(RobotsState.RULES, self.now, b"", 200, learned=self.now)
        self.robots.put("http://a.test", row)

    def visit(self, url, *moves, wait=7200.0):
        """Until the visit goes on: how it ended. A queue may wait for hours in between."""
        for _ in range(10):
            visit = visit_of(url)
            result = self.checks.check(visit, self.now)
            if visit.status != FetchStatus.DEFERRED:
                return result
            self.learn(visit.prerequisite, *moves)
            self.now += wait
        raise AssertionError(f"still waiting after {self.fetched}")


@pytest.mark.parametrize("wait", [0.0, 0.001, 7200.0])
@pytest.mark.parametrize("moves", [(), ("http://b.test/r",)])
def test_what_expired_while_a_url_waited_still_serves_it(wait, moves):
    world = World()
    assert world.visit("http://a.test/x", *moves, wait=wait) is Result.PROCEED
    assert world.fetched == ["dns:a.test", "http://a.test/robots.txt", *moves]
    world.fetched.clear()
    assert world.visit("http://a.test/y", wait=wait) is Result.PROCEED
    assert world.fetched, "what has expired does not serve others"


def test_a_clock_that_is_set_back_costs_one_more_look_up():
    world = World()
    assert world.visit("http://a.test/x", wait=-3600.0) is Result.PROCEED
    assert world.fetched.count("dns:a.test") <= 2
