"""The seeds of a scope: those that it was given, and those that an index keeps for it."""

from collections.abc import Iterable, Iterator, Sequence

from nacre.scope.seed_index import (
    Coercion,
    SeedIndex,
    any_prefix_below,
    coerce_prefix,
    find_prefix,
    widen,
)
from nacre.scope.seed_scope import ScopeKind, SeedOwnPlaces, SeedOwnScope
from nacre.uri.surt import SurtPrefixSet

_OWN_KEPT = 4096
"""Seeds with their own scope that are cached from an index."""


class SeedPrefixes:
    """The live set of prefixes that seeds imply.

    Args:
        coercion: What each implies.
        seeds: Texts of seeds.
        indexes: Keep further seeds; the list may grow.
    """

    def __init__(
        self, coercion: Coercion, seeds: Iterable[str], indexes: Sequence[SeedIndex]
    ) -> None:
        self._coercion = coercion
        self._near = SurtPrefixSet(coerce_prefix(seed, coercion) for seed in seeds)
        self._indexes = indexes

    def __bool__(self) -> bool:
        return bool(self._near) or any(not index.is_empty() for index in self._indexes)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[str]:
        yield from self._near
        for index in self._indexes:
            for prefix in index.prefixes():
                yield widen(prefix, self._coercion)

    def update(self, seeds: Iterable[str]) -> None:
        """Add seeds; they are sorted at the next question."""
        self._near.update(coerce_prefix(seed, self._coercion) for seed in seeds)

    def add_prefixes(self, prefixes: Iterable[str]) -> None:
        """Add seeds by the prefixes that they imply (`implied_prefix`)."""
        self._near.update({widen(prefix, self._coercion) for prefix in set(prefixes)})

    def match(self, text: str) -> str | None:
        """Return a prefix of a SURT that a seed implies, or None."""
        prefix = self._near.match(text)
        for index in self._indexes:
            if prefix is not None:
                break
            prefix = find_prefix(index, self._coercion, text)
        return prefix

    def any_below(self, text: str) -> bool:
        """Return whether a seed implies a prefix that begins with a text."""
        return self._near.any_below(text) or any(
            any_prefix_below(index, self._coercion, text) for index in self._indexes
        )


class OwnSeeds:
    """Seeds with their own scope, by the key that their descendants inherit."""

    def __init__(self) -> None:
        self._near: dict[str, SeedOwnPlaces] = {}
        self._indexes: list[SeedIndex] = []
        self._far: dict[str, SeedOwnPlaces | None] = {}

    def __bool__(self) -> bool:
        return bool(self._near) or any(index.has_own() for index in self._indexes)

    def __contains__(self, owner: object) -> bool:
        return isinstance(owner, str) and self.get(owner) is not None

    def __iter__(self) -> Iterator[str]:
        """Those that were given, without those of an index."""
        return iter(self._near)

    def __getitem__(self, owner: str) -> SeedOwnPlaces:
        places = self.get(owner)
        if places is None:
            raise KeyError(owner)
        return places

    def add_index(self, index: SeedIndex) -> None:
        """Ask an index, too; it may grow."""
        self._indexes.append(index)
        self._far.clear()

    def forget(self) -> None:
        """Clear the cache: an index has another seed with its own scope."""
        self._far.clear()

    def get(self, owner: str) -> SeedOwnPlaces | None:
        """Return the places of a seed. None: it has no scope."""
        places = self._near.get(owner)
        if places is not None or not self._indexes or not owner:
            return places
        if owner not in self._far:
            if len(self._far) >= _OWN_KEPT:
                self._far.clear()
            self._far[owner] = self._load_places(owner)
        return self._far[owner]

    def setdefault(self, owner: str, places: SeedOwnPlaces) -> SeedOwnPlaces:
        """Return the places of a seed, which grow; these where it has none yet."""
        if owner not in self._near:
            stored = self.get(owner)
            self._near[owner] = places if stored is None else stored
        return self._near[owner]

    def _load_places(self, owner: str) -> SeedOwnPlaces | None:
        places: SeedOwnPlaces | None = None
        for seed_index in (index for index in self._indexes if index.has_own()):
            for text, scope, depth in seed_index.own_places(owner):
                if places is None:
                    kind = ScopeKind(scope) if scope else None
                    places = SeedOwnPlaces(SeedOwnScope(kind, None if depth < 0 else depth))
                places.add(text)
        return places
