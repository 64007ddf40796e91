"""The seeds of a run, redirect targets included: durable, for the scope and the seeds report."""

from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from nacre.core.crawluri import CrawlURI
from nacre.job.seeds import Seed
from nacre.scope.state import ScopeState
from nacre.store.store import Store

_FAMILY = "scope"
_PORTION = 10_000
_SEED = b"seed:"
_DIRECTIVE = b"directive:"
FALLBACK = "_fallback"
"""Key in a seed's heritable data: the http URL to try when https cannot be reached."""


class SeedRow(msgspec.Struct, frozen=True, array_like=True):
    """One seed.

    Attributes:
        text: The line as typed, or the URL of a redirect target.
        url: What is fetched.
        redirect_from: URL of the seed that redirected here; "" for a seed of the list.
    """

    text: str
    url: str
    redirect_from: str = ""


class SeedBook:
    """Seeds and directives in the store, and in the scope's state."""

    def __init__(self, store: Store, state: ScopeState) -> None:
        self._store = store
        self._state = state
        # Hashes: a million seeds take a third of the memory.
        self._known: set[int] = set()

    def load(self) -> None:
        """Take seeds and directives of an earlier process into the scope's state."""
        for portion in _portions(self.rows()):
            self._known.update(hash(row.url) for row in portion)
            self._state.add_seeds([row.text for row in portion])
        self._state.add_directives(
            value.decode() for _, value in self._store.scan(_FAMILY, _DIRECTIVE, b"directive;")
        )

    def rows(self) -> Iterator[SeedRow]:
        """All seeds, in the order they came."""
        return seed_rows(self._store)

    def knows(self, url: str) -> bool:
        """Whether a URL is a seed, or the redirect target of one."""
        return hash(url) in self._known

    def add(self, seed: Seed) -> bool:
        """Note a seed of the list; False when its URL is a seed already."""
        return bool(self.add_all([seed]))

    def add_all(self, seeds: Sequence[Seed]) -> list[Seed]:
        """Note seeds of the list; those that are new."""
        new = [seed for seed in seeds if self._take(SeedRow(seed.text, seed.url))]
        self._state.add_seeds([seed.text for seed in new])
        return new

    def redirected(self, uri: CrawlURI) -> None:
        """A seed redirected: its target is a seed too, and widens the scope."""
        if self._take(SeedRow(uri.url, uri.url, uri.via)):
            self._state.add_seeds([uri.url])

    def direct(self, directives: Sequence[str]) -> None:
        """Note directives of the seed list."""
        for line in directives:
            self._store.put(_FAMILY, _DIRECTIVE + line.encode(), line.encode())
        self._state.add_directives(directives)

    def _take(self, row: SeedRow) -> bool:
        if hash(row.url) in self._known:
            return False
        self._known.add(hash(row.url))
        number = self._store.counter("seeds")
        self._store.set_counter("seeds", number + 1)
        key = _SEED + number.to_bytes(8, "big")
        self._store.put(_FAMILY, key, msgspec.msgpack.encode(row))
        return True


def _portions(rows: Iterator[SeedRow]) -> Iterator[list[SeedRow]]:
    while portion := list(islice(rows, _PORTION)):
        yield portion


def seed_rows(store: Store) -> Iterator[SeedRow]:
    """All seeds that a store holds, in the order they came."""
    for _, value in store.scan(_FAMILY, _SEED, b"seed;"):
        yield msgspec.msgpack.decode(value, type=SeedRow)
