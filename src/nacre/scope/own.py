"""A seed with a scope of its own: how far its descendants may go, and no other's."""

from typing import NamedTuple

from nacre.scope.coercion import Coercion, ScopeKind, coerced
from nacre.scope.hops import link_hops
from nacre.scope.places import Places
from nacre.scope.subject import Subject
from nacre.uri.surt import SurtPrefixSet


class OwnScope(NamedTuple):
    """What a seed says of itself.

    Attributes:
        scope: How far its descendants may go; None for what the job says.
        depth: Navigational hops allowed; None for no limit of its own.
    """

    scope: ScopeKind | None = None
    depth: int | None = None


class SeedPlaces:
    """Where the descendants of one seed may be. It grows when the seed redirects.

    Attributes:
        own: What the seed says.
    """

    def __init__(self, own: OwnScope) -> None:
        self.own = own
        self._sets: dict[Coercion, tuple[SurtPrefixSet, Places]] = {}
        self._seeds: list[str] = []

    def add(self, text: str) -> None:
        """Add the seed, or where it redirected to."""
        self._seeds.append(text)
        for coercion, (prefixes, places) in self._sets.items():
            prefixes.add(coerced(text, coercion))
            places.forget()

    def hold(self, subject: Subject, default: ScopeKind) -> bool:
        """True when a URI is within the seed's own scope.

        Args:
            subject: The URI, a descendant of the seed.
            default: What the job says, where this seed says only its depth.
        """
        scope, depth = self.own.scope or default, self.own.depth
        if depth is not None and link_hops(subject.path) > depth:
            return False
        if scope is ScopeKind.ANY:
            return True
        if scope is ScopeKind.PAGE:
            return subject.is_seed
        return self._places(Coercion(scope.value)).hold(subject.url)

    def _places(self, coercion: Coercion) -> Places:
        known = self._sets.get(coercion)
        if known is None:
            prefixes = SurtPrefixSet(coerced(seed, coercion) for seed in self._seeds)
            known = self._sets[coercion] = (prefixes, Places([prefixes]))
        return known[1]
