"""A step of the planner: its inputs, chosen visits and unconfirmed changes (pure)."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

from nacre.core.pagerow import PageRow
from nacre.planner.change_rate.value import DAY
from nacre.planner.discovery.hints import HintSource
from nacre.planner.discovery.index_pages import Hub, page_of
from nacre.planner.discovery.link_rules import LATE
from nacre.planner.settings import RecrawlSettings
from nacre.planner.sites import Sites
from nacre.planner.tuning import guess
from nacre.planner.visited import Judge, Rows
from nacre.uri.parse import authority

THETA = {"fresh": 0.0, "balanced": 0.5, "versions": 1.0}
"""Exponent of the rate in the value of a visit, by aim: see `change_rate.value.importance`."""
TRUSTED = guess(
    "step.trusted",
    0.2,
    "Chance of a change from which pages with hints are visited first.",
    most=1.0,
)

SENTINEL = "sentinel"
"""Reason of a visit: one of a few pages that represent pages that change with them."""
PAGING = "paging"
"""Reason of a visit: a further page of a list that showed no known link."""


class Choice(NamedTuple):
    """A visit that the planner wants.

    Attributes:
        url: The URL to visit.
        chance: Forecast probability that the visit finds something to keep.
        reason: The reason: `start`, `due` (by its schedule), `new`, `late` (new, though its link
            does not look so: `discovery.link_rules`), `index`, `window` (a list would overflow
            before the next step), `paging` (a further page of a list that overflowed), `sitemap`,
            `feed`, `told`, `rate`, `gone?`, `moved?`, `floor`, `sentinel` (it represents pages
            that change with it), `sample` (of a class with too few observations), `sign` (a page
            that needs this embed or file changed), `lot` (drawn from the skipped pages: only
            these measure the recall), `pair`.
        propensity: Probability with which it was chosen: 1 unless it was drawn at random.
    """

    url: str
    chance: float
    reason: str
    propensity: float = 1.0


def random_sample(url: str, step: float) -> float:
    """A number from 0 to 1 for a page and a step: the same in every process."""
    key = f"{url}\x00{step:.3f}".encode("utf-8", "replace")
    return int.from_bytes(blake2b(key, digest_size=6).digest(), "big") / (1 << 48)


_PAGES = guess(
    "step.pages", 2, "Number of pages that are fetched twice in a step for one place of a template."
)
_PLACES = guess("step.places", 10, "Number of such places of a site in a step.")

Learn = Callable[[], None]


@dataclass
class _Doubt:
    """One place of a site.

    Attributes:
        pages: Some pages that looked changed at this place.
        waiting: Functions that learn their changes, called if the changes are real.
        noisy: The result of a second visit; None before any.
    """

    pages: list[str] = field(default_factory=list)
    waiting: list[Learn] = field(default_factory=list)
    noisy: bool | None = None

    def settle(self, *, noisy: bool) -> None:
        """Learn the pending changes after a second visit, unless a second visit showed noise."""
        self.noisy = noisy or bool(self.noisy)
        if not self.noisy:
            _learn_all(self)
        self.waiting.clear()


class Unconfirmed:
    """The places of a step that may be noise."""

    def __init__(self) -> None:
        self._doubts: dict[tuple[str, int], _Doubt] = {}

    def note(self, url: str, place: int, learn: Learn) -> None:
        """Note that a page looked changed at a place that may be noise.

        Args:
            url: The page.
            place: See `VisitFinding.suspect`.
            learn: Called if the change is real.
        """
        doubt = self._doubts.setdefault((authority(url), place), _Doubt())
        if doubt.noisy is None:
            doubt.waiting.append(learn)
            if len(doubt.pages) < _PAGES:
                doubt.pages.append(url)
        elif not doubt.noisy:
            learn()

    def pages(self, most: int) -> list[str]:
        """Return some of the pages that need a second visit, a few of each site."""
        sites: Counter[str] = Counter()
        urls: dict[str, None] = {}
        for (site, _), doubt in self._doubts.items():
            sites[site] += 1
            if sites[site] <= _PLACES:
                urls.update(dict.fromkeys(doubt.pages))
        return list(urls)[:most]

    def was_paired(self, url: str, differing: Collection[int]) -> None:
        """Note a second visit; `differing`: the places that changed by themselves."""
        for (_, place), doubt in self._doubts.items():
            if url in doubt.pages:
                doubt.settle(noisy=place in differing)

    def settle(self) -> None:
        """End the step: changes that no second visit checked count as real."""
        for doubt in self._doubts.values():
            _learn_all(doubt)
        self._doubts.clear()


def _learn_all(doubt: _Doubt) -> None:
    for learn in doubt.waiting:
        learn()


class PlannerInputs(NamedTuple):
    """The inputs of the planner: rows, settings, budget.

    Attributes:
        rows: The rows of all known pages.
        sites: The knowledge about their sites: hints, lists.
        judge: Compares versions.
        settings: The settings of the planner.
    """

    rows: Rows
    sites: Sites
    judge: Judge
    settings: RecrawlSettings


class Showing(NamedTuple):
    """The entries that a list showed in this step.

    Attributes:
        hub: Its new links, and the cost of its visit.
        days: Days since its previous visit.
    """

    hub: Hub
    days: float


class Observed(NamedTuple):
    """A visit that found a change, kept until more is known about the events of its step.

    Attributes:
        before: The page before the visit.
        days: Days since the previous visit.
        calm: Probability that neither noise nor youth made the change.
        event: Probability that an event made the change, as known at the visit.
        promised: Chance of a change by the rate of the page.
    """

    before: PageRow
    days: float
    calm: float
    event: float
    promised: float


_OBSERVED = 50_000
"""A bound of memory: changes of a step that are remembered until its end."""


class Step:
    """One step with all its phases: the chosen visits, and their results so far.

    Learning writes a step, through its methods if there are any; phases read it.

    Attributes:
        time: The same for all its phases, seconds since the epoch; -1 before the first step.
        every: Days between this step and the one before.
        chosen: Choices of the step, by URL.
        done: URLs that need not be chosen in it again.
        new: Pages found in it: URL to depth.
        waiting: Pages found in earlier steps that were never visited: URL to depth.
        pairs: Second visits that were requested and not made yet.
        looked_changed: Pages that looked changed in it.
        unconfirmed: Changes in it that may be noise.
        told: Pages that a source announced in it.
        touched: Pages with new observations since its beginning.
        compared: Pages visited again for the first time, by section.
        flooded: Sites where a list without further pages showed nothing but new links.
        paging: Further pages of lists that are to be read, in their order.
        chains: Further pages that were read, by the stem of their list.
        pins: Links that are pinned to the top of lists, by the stem of the list.
        showing: New links by list.
        late: New pages that the rule of their links would not have taken for new.
        told_new: New pages that a sitemap or feed announced.
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
        self.waiting: dict[str, int] = {}
        self.pairs: set[str] = set()
        self.looked_changed: list[str] = []
        self.unconfirmed = Unconfirmed()
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
        self._observed: dict[str, Observed] = {}

    def observe(self, url: str, observed: Observed) -> None:
        """Remember a visit that found a change."""
        if len(self._observed) < _OBSERVED:
            self._observed[url] = observed

    def take_observed(self) -> dict[str, Observed]:
        """Take the visits that found a change since the last call."""
        observed, self._observed = self._observed, {}
        return observed

    def begin(self, now: float) -> None:
        """Begin another step."""
        # A clock that was set back does not show the time between steps.
        if 0.0 < self.time < now:
            self.every = (now - self.time) / DAY
        self.time = now
        self._clear()

    def take(self, visits: Sequence[Choice]) -> None:
        """Note the chosen visits."""
        self.done.update(choice.url for choice in visits)
        self.chosen.update((choice.url, choice) for choice in visits)

    def leave_out(self, urls: Collection[str]) -> None:
        """Note URLs that need not be chosen in this step."""
        self.done.update(urls)

    def ask_again(self, urls: Collection[str], *, paired: bool) -> None:
        """Let URLs be chosen again; `paired`: for second fetches, which show noise."""
        self.done.difference_update(urls)
        if paired:
            self.pairs.update(urls)

    def take_pair(self, url: str) -> bool:
        """Whether a visit is a requested second fetch; the request is then done."""
        if url not in self.pairs:
            return False
        self.pairs.discard(url)
        return True

    def is_paired(self, url: str) -> bool:
        """Whether a second visit of a page was chosen in this step."""
        choice = self.chosen.get(url)
        return choice is not None and choice.reason == "pair"

    def tell(self, row: PageRow, source: HintSource) -> None:
        """Note that a source announced a change of a page."""
        row.tell(source)
        self.told[row.url] = None
        self.touched[row.url] = None

    def take_up(self, chosen: Sequence[Choice]) -> None:
        """Resume with the choices of another process."""
        self.chosen.update((choice.url, choice) for choice in chosen)
        self.pairs.update(choice.url for choice in chosen if choice.reason == "pair")
        self.done = set(self.chosen)

    def take_paging(self, urls: Sequence[str]) -> None:
        """Note the further pages of lists that are to be read, in their order."""
        self.paging = dict.fromkeys(urls)

    def meet(self, depths: Mapping[str, int]) -> None:
        """Note the known pages that were never visited: URL to depth."""
        self.waiting = {url: depth for url, depth in depths.items() if url not in self.done}

    def take_pages(self, most: int) -> list[Choice]:
        """Take some of the further pages of lists, `most` at most."""
        urls = [url for url in self.paging if url not in self.done][:most]
        for url in urls:
            self.chains[page_of(url).stem] = self.chains.get(page_of(url).stem, 0) + 1
        self.paging = {url: None for url in self.paging if url not in urls} if urls else {}
        return [Choice(url, 1.0, PAGING) for url in urls]

    def take_showing(self) -> dict[str, Showing]:
        """Return the new links of lists since the last call."""
        showing, self.showing = self.showing, {}
        return showing

    def take_new(self, new: int, waiting: int) -> list[Choice]:
        """Take some of the new pages, in the order in which they became known.

        Args:
            new: Largest number of pages found in this step.
            waiting: Largest number of pages found in earlier steps.
        """
        fresh, older = list(self.new)[:new], list(self.waiting)[:waiting]
        for url in fresh:
            del self.new[url]
        for url in older:
            del self.waiting[url]
        urls = fresh + older
        return [Choice(url, 1.0, LATE if url in self.late else "new") for url in urls]
