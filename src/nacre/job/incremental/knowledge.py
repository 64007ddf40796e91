"""All that incremental crawling knows, opened from the store of a job."""

from collections.abc import Callable
from pathlib import Path

from nacre.history.dedup import Digests
from nacre.history.finding.hints import Audit
from nacre.history.finding.linkwatch import RuleRow
from nacre.history.finding.sitemaps import MapRow
from nacre.history.finding.traps import TrapRow
from nacre.history.pagestore import (
    AUDITS,
    ERRORS,
    GAPS,
    LISTS,
    MAPS,
    RULES,
    SITES,
    TEMPLATES,
    TEXTS,
    TRAPS,
    FetchLog,
    Named,
    PageStore,
)
from nacre.history.recrawl.gaps import GapRow
from nacre.history.recrawl.sites import ShownRow, SiteRow, Sites
from nacre.history.verdict.change import ChangeSettings
from nacre.history.verdict.deletion import ErrorModel
from nacre.history.verdict.template import Template
from nacre.job.incremental.auditing import Audits
from nacre.job.incremental.judge import Lessons, PageJudge
from nacre.job.incremental.versions import ArchivedVersions
from nacre.store.store import Store

WHOLE = "pages.whole"
"""Counter: 1 while the WARCs of all runs are to be read, incremental ones too."""
_TEMPLATES_EVERY = 5.0
"""Templates and link rules are large and change with each page: they are written so often, seconds.
A kill loses what was learned of them since; nothing else."""


class Knowledge:
    """The rows, and the judge that works on them.

    Args:
        root: Directory of the job.
        store: Its store.
        settings: When a difference is a change.
        time: Tells monotonic seconds.

    Attributes:
        pages: Rows of pages.
        sites: Rows of sites, and the lists that index pages showed.
        versions: Last versions.
        judge: Compares.
        log: The fetch log.
        audits: Whether 304 replies tell the truth.
        gaps: What guesses at numbers that were never seen have come to.
    """

    def __init__(
        self, root: Path, store: Store, settings: ChangeSettings, time: Callable[[], float]
    ) -> None:
        self._time = time
        self._written = time()
        self.pages = PageStore(store)
        self.log = FetchLog(store)
        sites = Named(store, SITES, SiteRow)
        lists = Named(store, LISTS, ShownRow, capacity=200, frozen=True)
        self._rules = Named(store, RULES, RuleRow, capacity=200)
        maps = Named(store, MAPS, MapRow, frozen=True)
        self.gaps = Named(store, GAPS, GapRow)
        self._traps = Named(store, TRAPS, TrapRow, capacity=200)
        self._templates = Named(store, TEMPLATES, Template, capacity=50)
        errors = Named(store, ERRORS, ErrorModel)
        texts = Named(store, TEXTS, int, capacity=50_000, frozen=True)
        audits = Named(store, AUDITS, Audit)
        self._often = (sites, lists, maps, errors, texts, audits, self.gaps)
        self.audits = Audits(audits)
        self.sites = Sites(sites, lists, self._rules, self._traps, maps)
        self.versions = ArchivedVersions(root, store, self.pages, Digests(store))
        lessons = Lessons(self._templates, errors, texts)
        self.judge = PageJudge(self.versions, lessons, settings)

    def seal(self) -> None:
        """Write what changed; called just before a group is sealed."""
        for rows in self._often:
            rows.seal()
        if self._time() - self._written >= _TEMPLATES_EVERY:
            self.seal_all()

    def seal_all(self) -> None:
        """Write everything: the last group is about to be sealed."""
        for rows in (*self._often, self._templates, self._rules, self._traps):
            rows.seal()
        self._written = self._time()
