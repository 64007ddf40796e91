"""A list of URLs that a job fetches in place of its seeds: a unit of batch rounds.

The list enters the frontier in portions, each with its position in the same commit group, so that
nothing is entered twice after a kill. `unit_visits.py` stores the results of visits.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

import msgspec

from nacre.assembly.records import RunRecords
from nacre.core.clock import Clock
from nacre.core.crawluri import CrawlURI
from nacre.core.history import HistoryRecord
from nacre.core.states import ExitStatus
from nacre.engine.candidates.candidates import is_seed_path
from nacre.engine.observer import VisitObserver
from nacre.engine.prerequisites import HostAnswer, RobotsRow
from nacre.engine.seeding.seedbook import FALLBACK, own_scope
from nacre.frontier.policy import Backoff
from nacre.job.monitors import BackgroundTask
from nacre.rounds.visits.unit_visits import NotAttempted, UnitOptions, UnitVisits, VisitFacts
from nacre.scope.seed_index import SeedIndex
from nacre.uri.parse import host

_POSITION = "unit.entered"
_PORTION = 500
_WAIT = 0.01
_TICK = 0.5
_SPAN = 300.0
"""Seconds over which the throughput is measured; Nutch's threshold counts minutes, too."""


class UnitUri(msgspec.Struct, frozen=True, gc=False):
    """A URL of the list.

    Attributes:
        url: The URL.
        via: The page that it was found on; "" for a seed.
        path: Hop path; "" for a seed.
        source: Source tag, the text of its seed; "" for none.
        fallback: Tried when it cannot be reached: http where https was a guess; "" for none.
        history: What earlier rounds know of it; None at the first visit.
    """

    url: str
    via: str = ""
    path: str = ""
    source: str = ""
    fallback: str = ""
    history: HistoryRecord | None = None


class UnitHost(msgspec.Struct, frozen=True):
    """A host of the list with the data of earlier rounds.

    Attributes:
        name: The host.
        robots: Rows of robots.txt by origin; those that have expired are fetched again.
        answer: Its addresses; None: not known.
        backoff: How much longer than usual it is waited for.
        origins: Origins of its URLs in the list.
    """

    name: str
    robots: dict[str, RobotsRow] = {}
    answer: HostAnswer | None = None
    backoff: Backoff = Backoff()
    origins: frozenset[str] = frozenset()


class UnitList(Protocol):
    """The list of a unit."""

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts of all its URLs."""
        ...

    def known_hosts(self) -> Sequence[UnitHost]:
        """The data of hosts from earlier rounds."""
        ...

    def fetched(self, key: str, /) -> bool:
        """Whether an earlier round or attempt fetched a URL, by its canonical form."""
        ...

    def portion(self, start: int, number: int) -> Sequence[UnitUri | None]:
        """At most so many entries from a position on, none at the end of the list.

        None stands for a URL that was fetched already, by an earlier attempt.
        """
        ...


def listed_uri(records: RunRecords, entry: UnitUri) -> CrawlURI:
    """A URL of a list as the frontier takes it.

    Args:
        records: The records of the run.
        entry: The URL.
    """
    rules = records.rules
    heritable = own_scope(entry.source if entry.source in rules.scope_state.own else "")
    overlay = rules.sheets.of_url(entry.url)
    is_seed = is_seed_path(entry.path, rules.effective[overlay].engine.seed_redirects)
    if entry.fallback:
        heritable[FALLBACK] = entry.fallback
    uri = records.queues.identity.seed(
        entry.url,
        source=entry.source,
        heritable=heritable,
        overlay=overlay,
    )
    return msgspec.structs.replace(uri, via=entry.via, path=entry.path, is_seed=is_seed)


class UnitEntry:
    """Enters the list of a unit, and ends it: a `BackgroundTask`.

    Args:
        records: The records of the run.
        unit: The unit.
        visits: Says which hosts are given up.
        wake: Wakes the engine when URIs came in.

    Attributes:
        name: As in `BackgroundTask`.
        ended_by: Why URLs are left that no host was given up for.
    """

    name = "unit"

    def __init__(
        self,
        records: RunRecords,
        unit: "SessionUnit",
        visits: UnitVisits,
        wake: Callable[[], None],
    ) -> None:
        queues, storing = records.queues, records.storing
        self._frontier, self._identity = queues.frontier, queues.identity
        self._hosts, self._robots = queues.hosts, records.fetching.robots
        self._records = records
        self._store, self._commit = storing.store, storing.commit
        self._history = storing.archive.history
        self._statistics = records.reporting.statistics
        self._supervisor = records.context.supervisor
        self._clock: Clock = records.context.clock
        self._unit, self._visits, self._wake = unit, visits, wake
        self._position = storing.store.counter(_POSITION)
        self._replies: list[tuple[float, int]] = []
        self._done = False
        self.ended_by = NotAttempted.DEADLINE

    @property
    def busy(self) -> bool:
        """The list is not in yet."""
        return not self._done

    @property
    def given_up(self) -> Collection[str]:
        """The hosts whose other URLs are not asked for."""
        return self._visits.failures.given_up.keys()

    async def run(self) -> None:
        """Enter the list, no faster than it becomes durable; then watch until cancelled."""
        while not self._done:
            self._look()
            if self._commit.saturated:
                await self._clock.sleep(_WAIT)
                continue
            self._enter()
            self._wake()
            await asyncio.sleep(0)
        self._supervisor.look()
        while True:
            self._look()
            await self._clock.sleep(_TICK)

    async def ending(self, how: ExitStatus) -> None:
        """See `BackgroundTask`; the owner of the list reports the URLs that were not attempted."""

    def _enter(self) -> None:
        """Enter a portion, and note the position, in the open commit group."""
        if not self._position:
            for known_host in self._unit.uris.known_hosts():
                self._take(known_host)
        entries = self._unit.uris.portion(self._position, _PORTION)
        self._done = not entries
        given_up = self._visits.failures.given_up
        entries_left = [entry for entry in entries if entry is not None]
        if given_up:
            entries_left = [entry for entry in entries_left if host(entry.url) not in given_up]
        self._history.carry([entry.history for entry in entries_left if entry.history is not None])
        if entries_left:
            self._frontier.schedule(
                [listed_uri(self._records, entry) for entry in entries_left], self._clock.now()
            )
        self._position += len(entries)
        self._store.set_counter(_POSITION, self._position)

    def _take(self, host: UnitHost) -> None:
        """Apply the known robots.txt rows, address and backoff of a host."""
        now = self._clock.now()
        for origin, row in host.robots.items():
            if row.expires > now:
                self._robots.put(origin, row)
        # If robots.txt is not requested, only the list has the origins.
        paced = host.origins.union(host.robots) if host.backoff != Backoff() else ()
        for origin in paced:
            queue = self._frontier.queue_states.find(self._identity.queue(f"{origin}/"))
            queue.row.set_pace(0.0, host.backoff, alone=None)
        if host.answer is not None and host.answer.expires > now:
            self._hosts.put(host.name, host.answer)

    def _look(self) -> None:
        """Drop the queued URIs of hosts that were given up; end the unit when its time is over."""
        given_up, self._visits.given_up = self._visits.given_up, []
        for name in given_up:
            self._drop(name)
        options, now = self._unit.options, self._clock.now()
        if options.deadline and now >= options.deadline:
            self._supervisor.stop(ExitStatus.TIME_LIMIT)
        elif options.throughput and self._is_slow(options.throughput):
            self.ended_by = NotAttempted.THROUGHPUT
            self._supervisor.stop(ExitStatus.TIME_LIMIT)

    def _drop(self, name: str) -> None:
        operator = self._frontier.operator
        for _ in operator.delete(lambda url: host(url) == name):
            pass

    def _is_slow(self, least: float) -> bool:
        """Fewer replies per second than wanted, over the last five minutes."""
        mono, count = self._clock.monotonic(), self._statistics.documents
        self._replies.append((mono, count))
        while len(self._replies) > 1 and self._replies[1][0] <= mono - _SPAN:
            self._replies.pop(0)
        since, before = self._replies[0]
        return mono - since >= _SPAN and (count - before) / (mono - since) < least


UnitTask = Callable[[RunRecords, VisitFacts], BackgroundTask]
"""Makes a task that runs beside the unit, such as what exports its facts."""


class SessionUnit:
    """Gives the list of a unit to the sessions of a job; see `Job(unit=…)`.

    Args:
        uris: The list.
        options: How it is fetched.
        beside: Make further tasks of each session.
        index: Seeds that the scope asks by key; None: all are in the job's list.
        directives: Lines with + or - of the seed list.

    Attributes:
        uris, options: As given.
        entry: Enters the list of the current session; None before the first.
    """

    def __init__(
        self,
        uris: UnitList,
        options: UnitOptions,
        beside: Sequence[UnitTask] = (),
        index: SeedIndex | None = None,
        directives: Sequence[str] = (),
    ) -> None:
        self.uris = uris
        self.options = options
        self._beside = tuple(beside)
        self._kept, self._directives = index, tuple(directives)
        self._opened: tuple[RunRecords, VisitFacts, UnitVisits] | None = None
        self.entry: UnitEntry | None = None

    @property
    def max_wait(self) -> float:
        """Longest Retry-After that is waited for, seconds; 0: no limit."""
        return self.options.max_wait

    def begin(self, records: RunRecords) -> VisitObserver:
        """Take part in a session; what observes its visits."""
        state = records.rules.scope_state
        if self._kept is not None:
            state.add_index(self._kept)
        state.add_directives(self._directives)
        facts = VisitFacts(records.storing.store)
        records.storing.commit.on_seal(facts.seal)
        visits = UnitVisits(records, facts, self.options, self.uris)
        self._opened = records, facts, visits
        return visits

    def rests(self, _url: str) -> bool:
        """Seeds are known to the scope, and not entered."""
        return True

    def tasks(self, wake: Callable[[], None]) -> list[BackgroundTask]:
        """The tasks of the session that was begun last.

        Args:
            wake: Wakes its engine.
        """
        if self._opened is None:
            return []
        records, facts, visits = self._opened
        self.entry = UnitEntry(records, self, visits, wake)
        return [self.entry, *(make(records, facts) for make in self._beside)]
