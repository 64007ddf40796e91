"""What a study is made of: the rows and the fetch log of a job, and its captures."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from nacre.core.fetchrow import FetchRow
from nacre.core.pagerow import PageRow
from nacre.history.finding.hints import Audit
from nacre.history.finding.linkwatch import RuleRow
from nacre.history.finding.novelty import KindRow
from nacre.history.finding.sitemaps import MapRow
from nacre.history.finding.traps import TrapRow
from nacre.history.recrawl.gaps import GapRow
from nacre.history.recrawl.settings import RecrawlSettings
from nacre.history.recrawl.sites import SiteRow
from nacre.history.schedule.timetable import Due
from nacre.history.verdict.change import ChangeSettings
from nacre.history.verdict.deletion import Answer
from nacre.history.verdict.template import Template

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


class Captured(NamedTuple):
    """A record of the archive that holds a reply.

    Attributes:
        url: Of what.
        date: When, `2026-11-20T10:00:00Z`.
        status: HTTP status, as written in the index.
        mime: Media type; `warc/revisit` for a revisit record.
        digest: Payload digest, as written in the index.
        file: The WARC, relative to the job; "" when it is not known.
        offset: Where the record begins, bytes.
    """

    url: str
    date: str
    status: str
    mime: str
    digest: str
    file: str
    offset: int

    @property
    def is_revisit(self) -> bool:
        """Whether it refers to another record for its payload."""
        return self.mime == "warc/revisit"


class Known(Protocol):
    """All that is known of a job's pages, as last committed."""

    @property
    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    @property
    def settings(self) -> RecrawlSettings:
        """How the job visits pages again."""
        ...

    @property
    def change(self) -> ChangeSettings:
        """When a difference is a change."""
        ...

    @property
    def sites(self) -> Mapping[str, SiteRow]:
        """What is known of each site."""
        ...

    @property
    def rules(self) -> Mapping[str, RuleRow]:
        """What the links of each site have shown, by `history.finding.linkwatch.rule_name`."""
        ...

    @property
    def traps(self) -> dict[str, TrapRow]:
        """What pages that lead to more of their kind have said, by `kind_of_trap`."""
        ...

    def kinds(self) -> Iterable[tuple[str, KindRow]]:
        """Kinds of URLs as a full crawl met them, with their hosts."""
        ...

    @property
    def gaps(self) -> Mapping[str, GapRow]:
        """What guesses at numbers that were never seen have come to."""
        ...

    @property
    def maps(self) -> Mapping[str, MapRow]:
        """What is known of each sitemap."""
        ...

    @property
    def templates(self) -> Mapping[str, Template]:
        """What the pages of each site have taught of noise."""
        ...

    @property
    def audits(self) -> Mapping[str, Audit]:
        """What audits of 304 replies have shown, by `HOST TEMPLATE`."""
        ...

    def runs(self) -> Sequence[Run]:
        """All runs, in order."""
        ...

    def row(self, url: str) -> PageRow | None:
        """What is known of a page."""
        ...

    def rows(self) -> Iterator[PageRow]:
        """The same of all."""
        ...

    def due(self, row: PageRow) -> Due | None:
        """When a page under a schedule is due; None for those of the planner."""
        ...

    def visits(self) -> Iterator[FetchRow]:
        """The fetch log, in order of time."""
        ...

    def captures(self, urls: Collection[str]) -> Iterator[Captured]:
        """Records of some URLs, in order of their dates."""
        ...

    def text(self, capture: Captured) -> str | None:
        """The text of a page as it was captured; None when it cannot be read."""
        ...


def first_run(runs: Sequence[Run]) -> int:
    """Number of the run in which everything was new; 0 when there is none."""
    return runs[0].number if runs else 0
