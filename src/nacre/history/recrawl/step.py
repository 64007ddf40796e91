"""What the planner works with, and what its step has come to so far (pure)."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from nacre.core.pagerow import PageRow
from nacre.history.finding.hints import Source
from nacre.history.finding.hubs import Hub
from nacre.history.finding.linkwatch import LATE
from nacre.history.finding.paging import page_of
from nacre.history.recrawl.choice import PAGING, Choice
from nacre.history.recrawl.doubts import Doubts
from nacre.history.recrawl.ranking import DAY
from nacre.history.recrawl.settings import RecrawlSettings
from nacre.history.recrawl.sites import Sites
from nacre.history.visited import Judge, Rows


class Knowledge(NamedTuple):
    """What the planner knows and wants.

    Attributes:
        rows: All that is known of the pages.
        sites: What is known of their sites: hints, lists, seasons.
        judge: Compares versions.
        settings: What the operator wants.
    """

    rows: Rows
    sites: Sites
    judge: Judge
    settings: RecrawlSettings


class Showing(NamedTuple):
    """What a list showed in this step.

    Attributes:
        hub: Its new links, and what its visit costs.
        days: Days since it was visited before.
    """

    hub: Hub
    days: float


class Step:
    """One step, all its waves; shared by what chooses and what learns.

    Attributes:
        time: The same for all its waves, seconds since the epoch; -1 before the first step.
        every: Days between this step and the one before.
        chosen: What was chosen in it, by URL.
        done: URLs that need not be chosen in it again.
        new: Pages that were heard of and never visited: URL to depth.
        pairs: Second visits that were asked for and not made yet.
        looked_changed: Pages that looked changed in it.
        doubts: Changes in it that may be noise.
        told: Pages of which somebody told in it.
        touched: Pages of which more is known than at its beginning.
        compared: Pages visited again for the first time, by template.
        flooded: Sites where a list without further pages showed nothing but new links.
        paging: Further pages of lists that are to be read, in their order.
        chains: Further pages that were read, by the stem of their list.
        pins: What is pinned to the top of lists, by their stem.
        showing: What each list showed that was new.
        late: New pages that the rule of their links would not have taken for new.
        told_new: New pages of which a sitemap or feed told.
        found: New pages and changes found in it; of embeds none, as recall is not about them.
    """

    def __init__(self) -> None:
        self.time = -1.0
        self.every = 1.0
        self._clear()

    def _clear(self) -> None:
        self.chosen: dict[str, Choice] = {}
        self.done: set[str] = set()
        self.new: dict[str, int] = {}
        self.pairs: set[str] = set()
        self.looked_changed: list[str] = []
        self.doubts = Doubts()
        self.flooded: set[str] = set()
        self.told: dict[str, None] = {}
        self.touched: dict[str, None] = {}
        self.compared: Counter[str] = Counter()
        self.paging: dict[str, None] = {}
        self.chains: dict[str, int] = {}
        self.pins: dict[str, frozenset[str]] = {}
        self.showing: dict[str, Showing] = {}
        self.told_new: set[str] = set()
        self.late: set[str] = set()
        self.found = 0.0

    def begin(self, now: float) -> None:
        """Begin another step."""
        if self.time > 0.0:
            self.every = (now - self.time) / DAY
        self.time = now
        self._clear()

    def take(self, wave: Sequence[Choice]) -> None:
        """Note what was chosen."""
        self.done.update(one.url for one in wave)
        self.chosen.update((one.url, one) for one in wave)

    def is_paired(self, url: str) -> bool:
        """Whether a second visit of a page was chosen in this step."""
        choice = self.chosen.get(url)
        return choice is not None and choice.reason == "pair"

    def tell(self, row: PageRow, source: Source) -> None:
        """Note that a source told of a change of a page."""
        if source not in row.told:
            row.told = (*row.told, str(source))
        self.told[row.url] = None
        self.touched[row.url] = None

    def take_up(self, chosen: Sequence[Choice]) -> None:
        """Take up what another process had chosen."""
        self.chosen.update((one.url, one) for one in chosen)
        self.pairs.update(one.url for one in chosen if one.reason == "pair")
        self.done = set(self.chosen)

    def take_pages(self, most: int) -> list[Choice]:
        """Take some of the further pages of lists, `most` at most."""
        urls = [url for url in self.paging if url not in self.done][:most]
        for url in urls:
            self.chains[page_of(url).stem] = self.chains.get(page_of(url).stem, 0) + 1
        self.paging = {url: None for url in self.paging if url not in urls} if urls else {}
        return [Choice(url, 1.0, PAGING) for url in urls]

    def take_new(self, most: int) -> list[Choice]:
        """Take some of the new pages, in the order in which they were heard of."""
        urls = list(self.new)[:most]
        for url in urls:
            del self.new[url]
        return [Choice(url, 1.0, LATE if url in self.late else "new") for url in urls]
