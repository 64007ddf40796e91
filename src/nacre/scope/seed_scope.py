"""The effect of seeds on a scope: SURT prefixes, and the own scopes of some seeds."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from nacre.scope.seed_index import Coercion, coerce_prefix
from nacre.scope.subject import Subject, link_hops
from nacre.uri.surt import SurtPrefixSet, scope_surt


class ScopeKind(StrEnum):
    """`--scope`: how far a crawl goes, or one seed of it. Embeds may come from anywhere."""

    PAGE = "page"
    PREFIX = "prefix"
    HOST = "host"
    DOMAIN = "domain"
    SITE = "site"
    ANY = "any"


_HOSTS = 16_384
_WEB = ("http://", "https://")


class PrefixSet(Protocol):
    """A searchable set of SURT prefixes, in memory or in a store."""

    def __bool__(self) -> bool:
        """Return whether there is a prefix."""
        ...

    def match(self, text: str) -> str | None:
        """Return a prefix of a SURT in the set, or None."""
        ...

    def any_below(self, text: str) -> bool:
        """Return whether a member begins with a text."""
        ...


class PrefixLookup:
    """Sets that may grow; answers are remembered by host.

    Args:
        sets: The sets. Whoever adds to one calls `forget`.

    Attributes:
        empty: The sets have no members.
    """

    def __init__(self, sets: Sequence[PrefixSet]) -> None:
        self._sets = tuple(sets)
        # Scheme and authority -> the answer, or where paths matter the beginning of the SURT.
        self._hosts: dict[str, bool | str] = {}
        self.empty = not any(self._sets)

    def hold(self, url: str) -> bool:
        """Return whether the SURT of a normalised URL begins with a prefix of a set."""
        end = url.find("/", 8)
        host = self._hosts.get(url[:end])
        if host is None:
            if end < 0 or not url.startswith(_WEB):
                return self._match(scope_surt(url))
            host = self._host(url[:end])
        if host is True or host is False:
            return host
        return self._match(host + url[end:].lower())

    def forget(self) -> None:
        """A set has changed."""
        self._hosts.clear()
        self.empty = not any(self._sets)

    def _match(self, surt: str) -> bool:
        return any(prefixes.match(surt) is not None for prefixes in self._sets)

    def _host(self, where: str) -> bool | str:
        host: bool | str
        surt = scope_surt(where + "/")
        if self._match(surt):
            host = True
        elif any(prefixes.any_below(surt) for prefixes in self._sets):
            host = surt[:-1]
        else:
            host = False
        if len(self._hosts) >= _HOSTS:
            self._hosts.clear()
        self._hosts[where] = host
        return host


class SeedOwnScope(NamedTuple):
    """The scope and depth that a seed has for itself.

    Attributes:
        scope: Scope of its descendants; None: the job's scope.
        depth: Navigational hops allowed; None: no separate limit.
    """

    scope: ScopeKind | None = None
    depth: int | None = None


class SeedOwnPlaces:
    """The places where descendants of one seed may be. They grow when the seed redirects.

    Attributes:
        own: Scope and depth of the seed.
    """

    def __init__(self, own: SeedOwnScope) -> None:
        self.own = own
        self._sets: dict[Coercion, tuple[SurtPrefixSet, PrefixLookup]] = {}
        self._seeds: list[str] = []

    def add(self, text: str) -> None:
        """Add the seed, or where it redirected to."""
        self._seeds.append(text)
        for coercion, (prefixes, places) in self._sets.items():
            prefixes.add(coerce_prefix(text, coercion))
            places.forget()

    def hold(self, subject: Subject, default: ScopeKind) -> bool:
        """Return whether a URI is within the seed's own scope.

        Args:
            subject: The URI, a descendant of the seed.
            default: The job's scope, for a seed with only a depth.
        """
        scope, depth = self.own.scope or default, self.own.depth
        if depth is not None and link_hops(subject.path) > depth:
            return False
        if scope is ScopeKind.ANY:
            return True
        if scope is ScopeKind.PAGE:
            return subject.is_seed
        return self._places(Coercion(scope.value)).hold(subject.url)

    def _places(self, coercion: Coercion) -> PrefixLookup:
        cached = self._sets.get(coercion)
        if cached is None:
            prefixes = SurtPrefixSet(coerce_prefix(seed, coercion) for seed in self._seeds)
            cached = self._sets[coercion] = (prefixes, PrefixLookup([prefixes]))
        return cached[1]
