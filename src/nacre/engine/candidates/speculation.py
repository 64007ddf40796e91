"""Speculative links (X) of each site: how many were tried, how many led to something."""

from collections import OrderedDict

from nacre.annotations import SPECULATIVE_HOPELESS
from nacre.core.crawluri import Hop, Outlink
from nacre.core.processor import Visit
from nacre.core.status import FetchStatus
from nacre.engine import counters
from nacre.extract.speculative import HitRates
from nacre.store.store import Store
from nacre.uri.parse import authority

_SPECULATIVE = Hop.SPECULATIVE  # the way to a member of an enumeration is long


_FAMILY = "scope"
_PREFIX = b"x:"


class Speculation:
    """Learned hit rates, in memory for recent sites and in the store for all.

    Args:
        store: Keeps them.
        capacity: Sites in memory.
        tries_all: Whether every guess is worth it (`extract.try_all_guesses`).

    Attributes:
        untried: Number of guesses of this run that were dropped without a fetch.
    """

    def __init__(self, store: Store, capacity: int = 20_000, *, tries_all: bool = False) -> None:
        self._tries_all = tries_all
        self._store = store
        self._capacity = capacity
        self._recent: OrderedDict[str, HitRates] = OrderedDict()
        self._dirty: set[str] = set()
        self.untried = self._saved = counters.untried_guesses(store)

    def worth_trying(self, link: Outlink) -> bool:
        """False when such links of this site have proved hopeless."""
        return self.still_worth(link.url, link.context)

    def still_worth(self, url: str, context: str) -> bool:
        """The same, for a URI that was queued when less was known."""
        return self._tries_all or self._of(authority(url)).worth_trying(url, context)

    def lets_go(self, visit: Visit) -> bool:
        """Whether a final visit is a guess that was dropped without a fetch; a call counts it."""
        if (
            visit.status != FetchStatus.OUT_OF_SCOPE
            or SPECULATIVE_HOPELESS not in visit.annotations
        ):
            return False
        self.untried += 1
        return True

    def learn(self, visit: Visit) -> None:
        """Count the result of a speculative link."""
        uri = visit.uri
        if not uri.path.endswith(_SPECULATIVE) or visit.status <= 0:
            return
        site = authority(uri.url)
        self._of(site).note(uri.url, uri.context, hit=200 <= visit.status < 400)
        self._dirty.add(site)

    def seal(self) -> None:
        """Write changed rows; called just before a group is sealed."""
        for site in self._dirty:
            self._store.put(_FAMILY, _PREFIX + site.encode(), self._recent[site].encode())
        self._dirty.clear()
        if self.untried != self._saved:
            self._store.set_counter(counters.UNTRIED, self.untried)
            self._saved = self.untried
        while len(self._recent) > self._capacity:
            self._recent.popitem(last=False)

    def _of(self, site: str) -> HitRates:
        rates = self._recent.get(site)
        if rates is None:
            row = self._store.get(_FAMILY, _PREFIX + site.encode())
            rates = self._recent[site] = HitRates.decode(row) if row else HitRates()
        return rates
