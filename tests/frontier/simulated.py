"""Simulated servers that watch the frontier's manners, and a crawl of them on a virtual clock."""

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI
from nacre.frontier.frontier import Attempt, Frontier
from nacre.frontier.policy import AttemptOutcome, Retry, politeness_delay, retry_decision
from nacre.frontier.rows import RowStore
from nacre.frontier.settings import FrontierSettings, PolitenessSettings
from tests.frontier.making import NOW, candidate

DAY = 86400.0
SLACK = 1e-6


class Reply(NamedTuple):
    status: int
    seconds: float
    retry_after: float = 0.0


@dataclass
class Server:
    """One host: what it demands, and what it saw. It knows the real time only."""

    crawl_delay: float = 0.0
    busy: bool = False
    quiet_until: float = 0.0
    demanded: float = 3.0
    early: list[tuple[float, float]] = field(default_factory=list)
    requests: int = 0

    def begin(self, at: float) -> None:
        if self.busy or at < self.quiet_until - SLACK:
            self.early.append((at, self.quiet_until))
        self.busy = True
        self.requests += 1

    def end(self, at: float, reply: Reply) -> None:
        self.busy = False
        demanded = min(max(5 * reply.seconds, 3.0), 30.0)
        self.demanded = max(demanded, self.crawl_delay, reply.retry_after)
        self.quiet_until = at + self.demanded

    def crawler_died(self, back: float, *, remembered: bool) -> None:
        """The crawler is back; it remembers the last delay unless that was not durable yet."""
        self.busy = False
        self.quiet_until = back + (self.demanded if remembered else 3.0)


@dataclass
class Crawl:
    """A crawl for a number of days; every page is visited again after some days."""

    queues: int
    days: float
    open_rows: Callable[[], RowStore]
    commit: Callable[[], None]
    crash_every: int = 0
    parallel: int = 500
    revisit: tuple[float, float] = (2 * DAY, 5 * DAY)
    seed: int = 1

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        delays = (0.0, 0.0, 0.0, 10.0, 120.0)
        self.servers = [Server(self.random.choice(delays)) for _ in range(self.queues)]
        self.real = 0.0
        self.clock_error = 0.0
        self.mono_zero = 0.0
        self.fetches: list[tuple[float, int, CrawlURI, Reply]] = []
        self.undurable: set[int] = set()
        self.visits = self.crashes = self.retries = 0
        self.settings = FrontierSettings()
        self.politeness = PolitenessSettings()
        self.start()

    @property
    def now(self) -> float:
        return NOW + self.real + self.clock_error

    @property
    def mono(self) -> float:
        return self.real - self.mono_zero

    def start(self) -> None:
        rows = self.open_rows()
        self.frontier = Frontier(
            rows, fixed(self.settings), fixed(self.politeness), self.now, self.mono
        )

    def run(self) -> None:
        seeds = [candidate(f"s{n}", "0", path="") for n in range(self.queues)]
        self.frontier.schedule(seeds, self.now)
        while self.real < self.days * DAY:
            while len(self.fetches) < self.parallel and self.begin_one():
                pass
            self.advance()

    def begin_one(self) -> bool:
        uri = self.frontier.next(self.now, self.mono)
        if uri is None:
            return False
        number = int(uri.queue[1:-1])
        self.servers[number].begin(self.real)
        reply = self.reply(uri)
        self.visits += 1
        heappush(self.fetches, (self.real + reply.seconds, self.visits, uri, reply))
        return True

    def reply(self, uri: CrawlURI) -> Reply:
        chance = self.random.random()
        seconds = 0.02 + self.random.expovariate(2.0)
        if chance < 0.02:
            return Reply(503, seconds, self.random.choice([0.0, 30.0, 600.0]))
        return Reply(-2, 20.0) if chance < 0.05 else Reply(200, seconds)

    def advance(self) -> None:
        """Go to the next event: the end of a fetch, or the frontier's next wake."""
        wait = self.frontier.next_wake(self.mono)
        full = len(self.fetches) >= self.parallel
        wake = self.real + max(wait, 0.001) if wait is not None and not full else float("inf")
        if self.fetches and self.fetches[0][0] <= wake:
            self.real = self.fetches[0][0]
            self.end_one()
        else:
            self.real = wake
        assert self.real < float("inf"), "the crawl stands still"

    def end_one(self) -> None:
        _, count, uri, reply = heappop(self.fetches)
        number = int(uri.queue[1:-1])
        server = self.servers[number]
        server.end(self.real, reply)
        self.undurable.add(number)
        delay = politeness_delay(
            self.politeness, reply.seconds * 1000.0, server.crawl_delay, reply.retry_after
        )
        ending = AttemptOutcome(reply.status, False, reply.retry_after, delay)
        decision = retry_decision(self.settings, uri, ending, self.now)
        attempt = Attempt(reply.status, delay)
        if isinstance(decision, Retry):
            self.retries += 1
            self.frontier.retry(uri, attempt, decision, self.now, self.mono)
        else:
            self.plan(uri, number)
            self.frontier.finished(uri, attempt, self.mono)
        if count % 256 == 0:
            self.save()
        if self.crash_every and count % self.crash_every == 0:
            self.crash()

    def plan(self, uri: CrawlURI, number: int) -> None:
        """Some new pages, and the next visit of this one."""
        again = replace(
            uri, force_fetch=True, not_before=self.now + self.random.uniform(*self.revisit)
        )
        new = [candidate(f"s{number}", str(self.random.randrange(4))) for _ in range(2)]
        self.frontier.schedule([again, *new], self.now)

    def save(self) -> None:
        self.frontier.save()
        self.commit()
        self.undurable.clear()

    def crash(self) -> None:
        """The process dies; it is back soon, with another monotonic clock and perhaps a set one."""
        self.crashes += 1
        self.fetches.clear()
        self.real += self.random.choice([0.1, 20.0])
        self.clock_error += self.random.choice([0.0, 0.0, -7200.0, 3600.0])
        self.mono_zero = self.real - self.random.uniform(0, 1e5)
        for number, server in enumerate(self.servers):
            server.crawler_died(self.real, remembered=number not in self.undurable)
        self.undurable.clear()
        self.start()
