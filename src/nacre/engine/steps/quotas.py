"""Quotas in a running job: usage is counted, and URIs over a quota are not fetched.

A limit of running time, checked for each URI, as Heritrix's RuntimeLimitEnforcer.
"""

from collections.abc import Callable, Iterable
from typing import Literal

from nacre.annotations import runtime_exceeded
from nacre.config.effective import Effective
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Result, Visit
from nacre.core.states import ExitStatus
from nacre.core.status import FetchStatus
from nacre.engine.chain.entry import Entry
from nacre.engine.observer import Supervisor
from nacre.engine.settings import RuntimeSettings
from nacre.frontier.quota import (
    Level,
    QuotaCheck,
    QuotaCount,
    QuotaSettings,
    Usage,
    checks,
    is_success,
)
from nacre.report.statistics import Stored, rows
from nacre.store.store import Store
from nacre.store.tallies import Tallies
from nacre.uri.domain import registered_domain
from nacre.uri.parse import authority, host

_COUNTED = "quotas.counted."
_PREFIXES = {
    Level.SERVER: b"qv:",
    Level.HOST: b"qh:",
    Level.GROUP: b"qg:",
    Level.DOMAIN: b"qd:",
    Level.SOURCE: b"qo:",
}
_NAMES: dict[Level, Callable[[CrawlURI], str]] = {
    Level.SERVER: lambda uri: authority(uri.url),
    Level.HOST: lambda uri: host(uri.url),
    Level.GROUP: lambda uri: uri.queue,
    Level.DOMAIN: lambda uri: registered_domain(host(uri.url)),
    Level.SOURCE: lambda uri: uri.source,
}


def _server_of(uri: CrawlURI) -> str:
    name = authority(uri.url)
    if uri.url.startswith("https:") and ":" not in name.rpartition("]")[2]:
        return f"{name}:443"
    return name or host(uri.url)


_HERITRIX_NAMES: dict[Level, Callable[[CrawlURI], str]] = {
    Level.SERVER: _server_of,
    Level.HOST: lambda uri: "" if uri.url.startswith("dns:") else host(uri.url),
}


def name_of(level: Level, uri: CrawlURI, count: QuotaCount) -> str:
    """Return the key of a URI for counts of a level; "" if it is not counted there.

    Source: `CrawlServer.getServerKey` and `ServerCache.getHostFor` of Heritrix. Its pseudo-host of
    all lookups is left out: a quota of one host would end the lookups of all hosts.
    """
    if count == "heritrix" and level in _HERITRIX_NAMES:
        return _HERITRIX_NAMES[level](uri)
    return _NAMES[level](uri)


def _nothing() -> None:
    """No queue waits for other quotas."""


class EnforceQuotas(Entry):
    """Stops URIs that are over their quota. Settings: `quotas`."""

    heritrix = "QuotaEnforcer"
    processor: Literal["quotas"] = "quotas"


class QuotaBook:
    """Counts usage by the levels that have a quota; nothing if there is no quota.

    What was fetched before a level had its first quota is taken from the statistics: there all
    replies count as successes, and robots.txt counts too.

    Args:
        store: Has the counts.
        settings: The quotas.
        stored_paths: Paths that sheets change, for levels with a quota only in a sheet.
        queue: Queue key of a URL.
        changed: Called when the quotas change.

    Attributes:
        settings: The quotas.
        checks: The limits that are set.
    """

    def __init__(
        self,
        store: Store,
        settings: Effective[QuotaSettings],
        stored_paths: Iterable[str] = (),
        queue: Callable[[str], str] = str,
        changed: Callable[[], None] = _nothing,
    ) -> None:
        self._store = store
        self._queue = queue
        self._books: dict[Level, Tallies[Usage]] = {}
        self._busy: dict[tuple[Level, str], int] = {}
        self._places: dict[int, list[tuple[Level, str]]] = {}
        self.settings = settings
        self.checks = settings.then(self._prepare)
        self._changed = changed
        self._before = list(settings)
        settings.watch(self._compare)
        for path in stored_paths:
            parts = path.split(".")
            if parts[0] == "quotas" and len(parts) > 1 and parts[1] in set(Level):
                self._open(Level(parts[1]))

    def _prepare(self, settings: QuotaSettings) -> tuple[QuotaCheck, ...]:
        quota_checks = checks(settings)
        for check in quota_checks:
            self._open(check.level)
        return quota_checks

    def _compare(self) -> None:
        if self._before != self.settings:
            self._before = list(self.settings)
            self._changed()

    def _open(self, level: Level) -> None:
        if level in self._books:
            return
        book = self._books[level] = Tallies(self._store, _PREFIXES[level], Usage)
        if not self._store.counter(_COUNTED + level):
            self._store.set_counter(_COUNTED + level, 1)
            self._recall(level, book)

    def _recall(self, level: Level, book: Tallies[Usage]) -> None:
        """Load the usage from before this level had a quota."""
        kind = "source" if level is Level.SOURCE else "host"
        for name, tally in rows(self._store, kind):
            usage = book[self._name_of(level, name)]
            usage.successes += tally.urls
            usage.responses += tally.urls
            usage.success_bytes += tally.size
            usage.bytes += tally.size
            usage.novel_urls += tally.novel_urls
            usage.novel_bytes += tally.novel_bytes

    def _name_of(self, level: Level, row: str) -> str:
        if level is Level.DOMAIN:
            return registered_domain(row)
        if level is Level.GROUP:
            return self._queue(f"http://{row}/")
        return row.partition("\0")[0]

    def count(self, visit: Visit, stored: Stored) -> None:
        """Count a final visit."""
        uri, capture = visit.uri, visit.capture
        if not self._books or capture is None or visit.status <= 0:
            return
        count = self.settings[visit.overlay].count
        if uri.is_prerequisite and not self.counts_prerequisites(visit.overlay):
            return
        size = len(capture.head) + capture.body.length
        success, novel = is_success(visit.status, count), stored is Stored.NOVEL
        for level, book in self._books.items():
            name = name_of(level, uri, count)
            if name:
                book[name].add(size, success=success, novel=novel)

    def reached(self, uri: CrawlURI, overlay: int) -> QuotaCheck | None:
        """Return the first quota that a URI is over; None when it may be fetched."""
        count = self.settings[overlay].count
        for check in self.checks[overlay]:
            name = name_of(check.level, uri, count)
            if name and check.reached(self._books[check.level].look(name)):
                return check
        return None

    def counts_prerequisites(self, overlay: int) -> bool:
        """Return whether `dns:` and robots.txt count."""
        return self.settings[overlay].count == "heritrix"

    def reserve(self, visit: Visit) -> bool:
        """Count a visit in process; False when those in process may use up its quota.

        A prerequisite is counted, and True in any case.
        """
        places = []
        count = self.settings[visit.overlay].count
        for check in self.checks[visit.overlay]:
            name = name_of(check.level, visit.uri, count)
            place = check.level, name
            if name and place not in places:
                places.append(place)
            busy = 0 if visit.uri.is_prerequisite else self._busy.get(place, 0)
            if name and busy and check.reached(self._books[check.level].look(name), busy):
                return False
        for place in places:
            self._busy[place] = self._busy.get(place, 0) + 1
        self._places[id(visit)] = places
        return True

    def release(self, visit: Visit) -> None:
        """Note that it is no longer in process; nothing happens when it was not counted."""
        for place in self._places.pop(id(visit), ()):
            remaining = self._busy.pop(place) - 1
            if remaining:
                self._busy[place] = remaining

    def usage(self, level: Level, uri: CrawlURI) -> Usage | None:
        """Return the usage so far; None if it is not counted."""
        book = self._books.get(level)
        return book.look(name_of(level, uri, self.settings[0].count)) if book is not None else None

    def seal(self) -> None:
        """Write changed counts; called just before a group is sealed."""
        for book in self._books.values():
            if book:
                book.seal()


class EnforceQuotasStep:
    """The step of the chain that refuses URIs over a quota."""

    def __init__(self, book: QuotaBook) -> None:
        self._book = book

    def accepts(self, visit: Visit) -> bool:
        """URIs that a quota is set for; prerequisites (`dns:`, robots.txt) only if they count."""
        if not self._book.checks[visit.overlay]:
            return False
        return not visit.uri.is_prerequisite or self._book.counts_prerequisites(visit.overlay)

    async def process(self, visit: Visit) -> Result:
        """Block it (-5003), or retire its queue; or let it wait for those in process (-50).

        A prerequisite never waits.
        """
        if visit.uri.is_prerequisite:
            self._book.reserve(visit)
            return Result.PROCEED
        check = self._book.reached(visit.uri, visit.overlay)
        if check is None:
            if self._book.reserve(visit):
                return Result.PROCEED
            visit.defer()
            return Result.FINISH
        reason = f"the quota quotas.{check.level}.{check.name} of {check.limit} is reached"
        visit.refuse(FetchStatus.BLOCKED_BY_QUOTA, reason, check.annotation)
        settings = self._book.settings[visit.overlay]
        if settings.force_retire and check.level is not Level.SOURCE:
            visit.retire_queue(check.annotation)
        return Result.FINISH


RUNTIME = "runtime limit"
"""The reason of a pause by this limit; `nacre resume` ends it."""

OPERATOR = "operator"
"""The reason of a pause by `nacre pause` or `engine.pause_at_start`."""


class LimitRuntime(Entry):
    """Checks the limit of running time. Settings: `limits.runtime`."""

    heritrix = "RuntimeLimitEnforcer"
    processor: Literal["runtime-limit"] = "runtime-limit"


class LimitRuntimeStep:
    """The step of the chain (Heritrix's RuntimeLimitEnforcer).

    Pausing and ending leave the URI at hand alone: it is fetched.

    Args:
        settings: The limit, and the action after it.
        supervisor: Asked for a pause, or for the end.
    """

    def __init__(self, settings: Effective[RuntimeSettings], supervisor: Supervisor) -> None:
        self._settings = settings
        self._supervisor = supervisor

    def accepts(self, visit: Visit) -> bool:
        """Return whether there is a limit and the usage has passed it."""
        after = self._settings[visit.overlay].after
        return after > 0.0 and self._supervisor.elapsed >= after

    async def process(self, visit: Visit) -> Result:
        """Apply the action of the settings."""
        settings = self._settings[visit.overlay]
        if settings.action == "pause":
            self._supervisor.hold(RUNTIME)
            return Result.PROCEED
        if settings.action == "terminate":
            self._supervisor.stop(ExitStatus.TIME_LIMIT)
            return Result.PROCEED
        reason = f"the crawl has run for {settings.after:g} s (limits.runtime.after)"
        visit.refuse(FetchStatus.BLOCKED_BY_RUNTIME, reason, runtime_exceeded(settings.after))
        return Result.FINISH
