"""Import of the URLs of another crawl: visited URLs count as visited, the others are queued."""

from collections.abc import Sequence
from typing import NamedTuple

from nacre.core.crawluri import CrawlURI
from nacre.core.history import HistoryRecord
from nacre.core.pagerow import DiscoveryRow, PageRow, TimingRow
from nacre.engine.outcomes import Outcome
from nacre.frontier.policy import rank
from nacre.history.dedup import History
from nacre.job.imports import ImportParts
from nacre.recrawl.pagestore import PageStore
from nacre.scope.subject import Subject


class MovedUrl(NamedTuple):
    """A URL that another crawl knew.

    Attributes:
        url: The URL.
        outcome: What its last visit gave; None: it waits for its first one.
        record: Its last capture; None for none.
        via: The page that it was found on; "" for a seed.
        path: Its hop path.
        source: The seed that it comes from.
        attempts: Attempts made before.
        last_status: Status of the last of them; 0 if there was none.
        not_before: Earliest fetch, seconds since the epoch; 0: now.
        precedence: Lower goes first, 0 to 127.
        timing: What its schedule has learned of it; None for nothing.
        page: What a recrawl knows of it; None for nothing.
    """

    url: str
    outcome: Outcome | None = None
    record: HistoryRecord | None = None
    via: str = ""
    path: str = ""
    source: str = ""
    attempts: int = 0
    last_status: int = 0
    not_before: float = 0.0
    precedence: int = 1
    timing: TimingRow | None = None
    page: PageRow | None = None


class ReceivedUrls(NamedTuple):
    """The numbers of URLs that came in: visited, waiting, and duplicates of known URLs."""

    visited: int = 0
    waiting: int = 0
    duplicates: int = 0


class UrlReceiver:
    """Receives URLs, a portion in one step.

    Args:
        parts: The store's parts for lines that are imported.
        history: Takes captures.
        pages: Takes what a recrawl has to know.

    Attributes:
        counts: The numbers so far.
    """

    def __init__(self, parts: ImportParts, history: History, pages: PageStore) -> None:
        self._parts = parts
        self._history = history
        self._pages = pages
        self.counts = ReceivedUrls()

    def take(self, moved: Sequence[MovedUrl]) -> None:
        """Take some; they join the open commit group."""
        parts = self._parts
        visits = [moved_url for moved_url in moved if moved_url.outcome is not None]
        keys = [parts.identity.key(moved_url.url) for moved_url in visits]
        entered = parts.frontier.seen.enter(keys)
        for moved_url, key, is_new in zip(visits, keys, entered, strict=True):
            if is_new and moved_url.outcome is not None:
                parts.outcomes.keep(key, moved_url.outcome)
                self._know(moved_url, key)
        self._history.carry(
            [moved_url.record for moved_url in moved if moved_url.record is not None]
        )
        waits = [self._uri(moved_url) for moved_url in moved if moved_url.outcome is None]
        queued = parts.frontier.schedule(waits, parts.clock.now(), keep_tries=True)
        visited, waiting, duplicates = self.counts
        self.counts = ReceivedUrls(
            visited + sum(entered), waiting + sum(queued),
            duplicates + len(moved) - sum(entered) - sum(queued),
        )  # fmt: skip

    def _know(self, moved: MovedUrl, key: bytes) -> None:
        """A recrawl knows the page, and how it was reached."""
        if moved.timing is not None:
            self._pages.put_timing(moved.timing)
        if moved.page is not None:
            self._pages.put(moved.page)
            self._pages.put_name(key, moved.url)
            if moved.path:
                way = DiscoveryRow(moved.via, moved.path, source=moved.source)
                self._pages.put_way(moved.url, way)

    def _uri(self, moved: MovedUrl) -> CrawlURI:
        parts = self._parts
        overlay = parts.sheets.overlay(Subject(moved.url, moved.path, moved.via))
        order = rank(parts.settings[overlay].frontier, moved.path, url=moved.url, via=moved.via)
        return CrawlURI(
            url=moved.url,
            key=parts.identity.key(moved.url),
            queue=parts.identity.queue(moved.url, overlay),
            via=moved.via,
            path=moved.path,
            context="import",
            source=moved.source,
            is_seed=not moved.path,
            directive=order.directive,
            precedence=moved.precedence,
            cost=order.cost,
            not_before=moved.not_before,
            attempts=moved.attempts,
            last_status=moved.last_status,
        )
