"""Enters the seed list of a new run into the frontier: in portions, each with its commit group."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from msgspec import structs

from nacre.config.effective import Effective
from nacre.core.clock import Clock
from nacre.engine.candidates.identity import Identity
from nacre.engine.candidates.normalizing import Normalizing
from nacre.engine.counters import SEEDS_SKIPPED
from nacre.engine.logs import JobLogs
from nacre.engine.prerequisites import HostAnswers, RobotsCache
from nacre.engine.seeding.seedbook import FALLBACK, LoginBook, SeedBook, own_scope
from nacre.frontier.frontier import Frontier
from nacre.scope.seeds import BadSeed, Entry, Seed, SeedDirective
from nacre.settings.settings import JobSettings
from nacre.settings.sheets import Sheets
from nacre.store.commit import GroupCommit
from nacre.store.store import Store
from nacre.uri.parse import host, origin

_PORTION = 2000
_POSITION = "seeds-entered"
_WAIT = 0.01
_NAMED = 100
"""Lines that are not seeds and are named in job.log."""
_DONE = -1


class SeedScheduler:
    """Enters seeds into the seed book and the frontier.

    Args:
        settings: The settings under each combination of sheets.
        sheets: Which combination applies to a URL.
        book: The seed book.
        logins: Names and passwords of seeds.
        normalizing: Rewrites URLs first; None: they stay as they are.
        identity: Makes CrawlURIs.
        frontier: Receives them.
        logs: For alerts about logins.
        clock: The time.
    """

    def __init__(  # noqa: PLR0913 - what makes a seed a URI
        self,
        *,
        settings: Effective[JobSettings],
        sheets: Sheets,
        book: SeedBook,
        logins: LoginBook,
        normalizing: Normalizing | None,
        identity: Identity,
        frontier: Frontier,
        logs: JobLogs,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._sheets = sheets
        self._book = book
        self._logins = logins
        self._normalizing = normalizing
        self._identity = identity
        self._frontier = frontier
        self._logs = logs
        self._clock = clock

    def enter(self, seeds: Sequence[Seed], rests: Callable[[str], bool] | None = None) -> int:
        """Enter seeds; returns how many were new.

        Args:
            seeds: The seeds.
            rests: Whether a URL is not entered into the frontier now; None: all are.
        """
        tags = self._settings[0].engine
        for problem in self._logins.take(seeds):
            self._logs.alert(problem)
        if self._normalizing is not None:
            seeds = list(self._normalizing.seeds(seeds))
        uris = []
        for seed in self._book.add_all(seeds):
            if rests is not None and rests(seed.url):
                continue
            heritable = own_scope(seed.owner) | self._book.marks(seed.url)
            if seed.fallback:
                heritable[FALLBACK] = seed.fallback
            overlay = self._sheets.of_url(seed.url)
            source = seed.text if tags.source_tags else ""
            uris.append(
                self._identity.seed(seed.url, source=source, heritable=heritable, overlay=overlay)
            )
        if uris:
            self._frontier.schedule(uris, self._clock.now())
        return len(uris)

    def enter_again(self, hosts: HostAnswers, robots: RobotsCache) -> None:
        """Schedule the seeds again, after a run that could fetch nothing.

        What was learned of their hosts is forgotten.

        Args:
            hosts: The addresses of hosts.
            robots: The rules of robots.txt.
        """
        now = self._clock.now()
        for row in self._book.rows():
            hosts.drop(host(row.url))
            robots.drop(origin(row.url))
            seed = self._identity.seed(
                row.url, heritable=own_scope(row.owner), overlay=self._sheets.of_url(row.url)
            )
            self._frontier.schedule([structs.replace(seed, force_fetch=True)], now)


class SeedLoader:
    """Enters a seed list into a run; a later process resumes where a killed one was.

    Args:
        scheduler: Enters seeds.
        book: Takes the directives of the list.
        store: Has the position in the list.
        commit: Makes it durable.
        logs: Names lines that are not seeds.
        seeds: Opens the seed list.
        rests: Whether a URL is visited by a schedule, and so not entered now.
    """

    def __init__(  # noqa: PLR0913 - the list, and where it goes
        self,
        scheduler: SeedScheduler,
        *,
        book: SeedBook,
        store: Store,
        commit: GroupCommit,
        logs: JobLogs,
        seeds: Callable[[], Iterator[Entry]],
        rests: Callable[[str], bool] | None = None,
    ) -> None:
        self._scheduler = scheduler
        self._book = book
        self._store, self._commit, self._logs = store, commit, logs
        self._seeds = seeds
        self._rests = rests
        self._entries: Iterator[Entry] | None = None
        self._position = store.counter(_POSITION)

    @property
    def is_done(self) -> bool:
        """The whole list is in."""
        return self._position == _DONE

    def begin(self) -> None:
        """A new run: nothing is in yet."""
        self._position = 0
        self._store.set_counter(SEEDS_SKIPPED, 0)
        self._entries = self._seeds()

    def resume(self) -> None:
        """Skip what an earlier process entered."""
        if self._position > 0:
            self._entries = islice(self._seeds(), self._position, None)
        else:
            self._position = _DONE

    def portion(self) -> None:
        """Enter the next portion, and note the position, in the open commit group."""
        if self._entries is None or self.is_done:
            return
        portion = list(islice(self._entries, _PORTION))
        directives = [entry.text for entry in portion if isinstance(entry, SeedDirective)]
        if directives:
            self._book.direct(directives)
        listed = [entry for entry in portion if isinstance(entry, Seed)]
        self._scheduler.enter(listed, self._rests)
        self._skip([entry for entry in portion if isinstance(entry, BadSeed)])
        self._position = self._position + len(portion) if len(portion) == _PORTION else _DONE
        self._store.set_counter(_POSITION, self._position)

    async def load_rest(self, stopped: Callable[[], bool]) -> None:
        """Enter all that is left, no faster than it becomes durable."""
        while not self.is_done and not stopped():
            if self._commit.saturated:
                await asyncio.sleep(_WAIT)
                continue
            self.portion()
            await asyncio.sleep(0)

    def _skip(self, bad: Sequence[BadSeed]) -> None:
        """Count lines that are not seeds, and name the first in job.log."""
        if not bad:
            return
        store, logs = self._store, self._logs
        before = store.counter(SEEDS_SKIPPED)
        store.set_counter(SEEDS_SKIPPED, before + len(bad))
        for bad_line in bad[: max(_NAMED - before, 0)]:
            logs.job(f"seed list, skipped: line {bad_line.line}: {bad_line._replace(file='')}")
        if before < _NAMED <= before + len(bad):
            logs.job("seed list: more lines that are not seeds are not named")
