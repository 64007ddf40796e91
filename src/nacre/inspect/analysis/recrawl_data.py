"""The data of analyses: the rows and the fetch log of a job, and its captures.

What is known of a job's pages, read from its store and its archive.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import msgspec

from nacre.archive.delta import TARGET
from nacre.core.history import FetchRow
from nacre.core.pagerow import PageRow
from nacre.engine.candidates.prospects import kinds
from nacre.frontier.novelty import KindRow
from nacre.inspect.archived_replies import ArchivedReplies, ArchivedReply
from nacre.planner.change_detection.change import ChangeSettings
from nacre.planner.change_detection.deletion import Answer
from nacre.planner.change_detection.template import Template
from nacre.planner.discovery.hints import MapRow, ReplyAudit
from nacre.planner.discovery.link_rules import RuleRow
from nacre.planner.discovery.traps import TrapRow
from nacre.planner.schedules.timetable import Due, Timetable
from nacre.planner.settings import RecrawlSettings
from nacre.planner.sites import SiteRow
from nacre.recrawl.knowledge import page_text
from nacre.recrawl.pagestore import (
    AUDITS,
    MAPS,
    RULES,
    SITES,
    TEMPLATES,
    TRAPS,
    PageStore,
    fetch_rows,
    scan,
)
from nacre.recrawl.scheduling import stored_timetable
from nacre.runs.runs import all_runs, read_run, spent_by
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from nacre.uri.surt import index_key

MISSING = frozenset((Answer.MISSING, Answer.GONE, Answer.SOFT))
"""Answers that say that a page is not there."""
CHANGED = frozenset(("minor", "major"))
"""Kinds of differences that are changes of the page."""
NEW = "new"
LOT = "lot"


class Run(NamedTuple):
    """A run of the job.

    Attributes:
        number: From 1.
        name: Of its directory.
        mode: `full` or `incremental`.
        parent: Name of the run before; "" for none.
        started: Seconds since the epoch.
        ended: The same; 0 while it runs.
        elapsed: Seconds that it ran, pauses left out.
        keep: What it stored: `strict`, `lean` or `delta`.
        requests: Replies that it got, prerequisites left out; 0 where that is not known.
    """

    number: int
    name: str
    mode: str
    parent: str
    started: float
    ended: float
    elapsed: float
    keep: str = "strict"
    requests: int = 0


class RecrawlData(Protocol):
    """All that is known of a job's pages, as last committed."""

    @property
    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    @property
    def settings(self) -> RecrawlSettings:
        """The settings of how the job visits pages again."""
        ...

    @property
    def change(self) -> ChangeSettings:
        """The settings of when a difference between two versions is a change."""
        ...

    @property
    def sites(self) -> Mapping[str, SiteRow]:
        """The rows of sites."""
        ...

    @property
    def rules(self) -> Mapping[str, RuleRow]:
        """The histories of the links of each site, by the name of their rule."""
        ...

    @property
    def traps(self) -> dict[str, TrapRow]:
        """The counts of pages that lead to more of their kind, by `kind_of_trap`."""
        ...

    def kinds(self) -> Iterable[tuple[str, KindRow]]:
        """Kinds of URLs as a full crawl met them, with their hosts."""
        ...

    @property
    def maps(self) -> Mapping[str, MapRow]:
        """The rows of sitemaps."""
        ...

    @property
    def templates(self) -> Mapping[str, Template]:
        """The knowledge of noise from the pages of each site."""
        ...

    @property
    def audits(self) -> Mapping[str, ReplyAudit]:
        """The results of audits of 304 replies, by `HOST TEMPLATE`."""
        ...

    def runs(self) -> Sequence[Run]:
        """All runs, in order."""
        ...

    def row(self, url: str) -> PageRow | None:
        """The row of a page."""
        ...

    def rows(self) -> Iterator[PageRow]:
        """The same of all."""
        ...

    def due(self, row: PageRow) -> Due | None:
        """The due time of a page under a schedule; None for those of the planner."""
        ...

    def visits(self) -> Iterator[FetchRow]:
        """The fetch log, in order of time."""
        ...

    def captures(self, urls: Collection[str]) -> Iterator[ArchivedReply]:
        """Records of some URLs, in order of their dates."""
        ...

    def text(self, capture: ArchivedReply) -> str | None:
        """The text of a page as it was captured; None when it cannot be read."""
        ...


def first_run(runs: Sequence[Run]) -> int:
    """Number of the run in which everything was new; 0 when there is none."""
    return runs[0].number if runs else 0


T = TypeVar("T")


class StoredRecrawlData:
    """`RecrawlData` of a job.

    Args:
        root: Its directory.
        store: Its store.
        settings: Its settings.
        now: Seconds since the epoch.

    Attributes:
        now: Seconds since the epoch.
    """

    def __init__(self, root: Path, store: Store, settings: JobSettings, now: float) -> None:
        self.now = now
        self._root = root
        self._store = store
        self._settings = settings
        self._pages = PageStore(store)
        self._archive = ArchivedReplies(root, store)

    @property
    def settings(self) -> RecrawlSettings:
        """See `RecrawlData`."""
        return self._settings.recrawl

    @property
    def change(self) -> ChangeSettings:
        """See `RecrawlData`."""
        return self._settings.change

    @cached_property
    def sites(self) -> dict[str, SiteRow]:
        """See `RecrawlData`."""
        return self._named(SITES, SiteRow)

    @cached_property
    def rules(self) -> dict[str, RuleRow]:
        """See `RecrawlData`."""
        return self._named(RULES, RuleRow)

    @cached_property
    def traps(self) -> dict[str, TrapRow]:
        """See `RecrawlData`."""
        return self._named(TRAPS, TrapRow)

    def kinds(self) -> Iterable[tuple[str, KindRow]]:
        """See `RecrawlData`."""
        return kinds(self._store)

    @cached_property
    def maps(self) -> dict[str, MapRow]:
        """See `RecrawlData`."""
        return self._named(MAPS, MapRow)

    @cached_property
    def templates(self) -> dict[str, Template]:
        """See `RecrawlData`."""
        return self._named(TEMPLATES, Template)

    @cached_property
    def audits(self) -> dict[str, ReplyAudit]:
        """See `RecrawlData`."""
        return self._named(AUDITS, ReplyAudit)

    def runs(self) -> Sequence[Run]:
        """See `RecrawlData`."""
        last = read_run(self._store)
        return [
            Run(
                *(run.number, run.name, run.mode, run.parent),
                *(run.started, run.ended, run.elapsed, run.keep),
                spent_by(self._store, run).requests if run == last else run.spent[0],
            )
            for run in all_runs(self._store)
            if not run.fresh
        ]

    def row(self, url: str) -> PageRow | None:
        """See `RecrawlData`."""
        return self._pages.get(url)

    def rows(self) -> Iterator[PageRow]:
        """See `RecrawlData`."""
        return self._pages.scan()

    @cached_property
    def timetable(self) -> Timetable | None:
        """Pages under a schedule; None when there are none."""
        return stored_timetable(self._root, self._settings, self._store)

    def due(self, row: PageRow) -> Due | None:
        """See `RecrawlData`."""
        return None if self.timetable is None else self.timetable.due(row, self.now)

    def visits(self) -> Iterator[FetchRow]:
        """See `RecrawlData`."""
        return fetch_rows(self._store)

    def captures(self, urls: Collection[str]) -> Iterator[ArchivedReply]:
        """See `RecrawlData`: from the indexes of all runs, read one after the other."""
        requested = set(urls)
        names = (name for url in requested for name in (url, TARGET + url))
        keys = {index_key(name).encode() for name in names}
        results = [
            reply
            for index in self._archive.indexes()
            for reply in self._archive.replies(index, keys)
            if reply.url in requested
        ]
        return iter(sorted(results, key=_order))

    def text(self, capture: ArchivedReply) -> str | None:
        """See `RecrawlData`."""
        result = self._archive.read(capture)
        return None if result is None else page_text(result)

    def _named(self, prefix: bytes, kind: type[T]) -> dict[str, T]:
        decode = msgspec.msgpack.Decoder(kind).decode
        return {name.decode(): decode(row) for name, row in scan(self._store, prefix)}


def _order(reply: ArchivedReply) -> tuple[str, str, int]:
    return reply.date, reply.file, reply.offset
