"""Which sheets apply to a URI. Source: Heritrix 3, sheets.

All SURT prefixes that match, the shortest first, then the rules in their order; for each property
the last value wins. What is fetched because another URI needs it (hop P) takes that one's sheets.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nacre.config.sheet import Overlays
from nacre.core.crawluri import CrawlURI, Hop
from nacre.job.configuration.association import SheetAssociation
from nacre.job.configuration.settings import JobSettings
from nacre.scope.options import compile_scope
from nacre.scope.rule import Scope, Subject
from nacre.scope.state import ScopeState
from nacre.uri.surt import SurtPrefixSet, implied_prefix, scope_surt

_HOSTS = 65_536
_WEB = ("http://", "https://")

BASIS_VIA = "_sheets-via"
BASIS_CONTEXT = "_sheets-context"
BASIS_SEED = "_sheets-seed"
"""Heritable keys of a prerequisite: what the rules may ask of the URI that needs it."""


class Association(NamedTuple):
    """One of `sheet_associations`, with the prefixes of its file.

    Attributes:
        prefixes: SURT prefixes; empty for rules.
        settings: What the configuration says.
    """

    prefixes: Sequence[str]
    settings: SheetAssociation


class _ByRule(NamedTuple):
    scope: Scope
    sheets: tuple[str, ...]


class Sheets:
    """Gives each URI the number of the combination of sheets that applies to it.

    Args:
        overlays: The sheets and their combinations.
        state: What rules may ask beside their settings: seeds, directives.

    Attributes:
        overlays: As given.
        none: There are no associations, so the answer is always 0.
    """

    def __init__(self, overlays: Overlays[JobSettings], state: ScopeState) -> None:
        self.overlays = overlays
        self._state = state
        self.none = True
        self._prefixes = SurtPrefixSet(keep_all=True)
        self._named: dict[str, tuple[str, ...]] = {}
        self._rules: tuple[_ByRule, ...] = ()
        # Scheme and authority -> the number, or where paths matter the beginning of the SURT.
        self._hosts: dict[str, int | str] = {}
        self._folders: dict[str, int] = {}
        self._by_prefixes: dict[tuple[str, ...], int] = {(): 0}

    def associate(self, associations: Iterable[Association]) -> None:
        """Use these associations from now on."""
        named: dict[str, tuple[str, ...]] = {}
        rules: list[tuple[int, _ByRule]] = []
        for prefixes, settings in associations:
            for text in prefixes:
                prefix = implied_prefix(text.lstrip("+"))
                named[prefix] = named.get(prefix, ()) + settings.sheets
            if settings.all_rules:
                scope = compile_scope(settings.all_rules, self._state)
                rules.append((settings.order, _ByRule(scope, settings.sheets)))
        self._named = named
        self._prefixes = SurtPrefixSet(sorted(named), keep_all=True)
        self._rules = tuple(rule for _, rule in sorted(rules, key=lambda item: item[0]))
        self._hosts.clear()
        self._folders.clear()
        self._by_prefixes = {(): 0}
        self.none = not named and not rules

    @property
    def by_rules(self) -> bool:
        """Some are associated by rules."""
        return bool(self._rules)

    def overlay(self, subject: Subject) -> int:
        """The number for a URI that is not a prerequisite."""
        if self.none:
            return 0
        number = self._of_place(subject.url)
        return self._with_rules(number, subject) if self._rules else number

    def of(self, uri: CrawlURI) -> int:
        """The number for a URI of the frontier."""
        if self.none:
            return 0
        if not self._rules:
            return self._of_place(uri.via if uri.path[-1:] == Hop.PREREQUISITE else uri.url)
        return self.overlay(basis(uri))

    def of_url(self, url: str) -> int:
        """The number for a URL of which nothing else is known, also a `dns:` one."""
        if self.none:
            return 0
        return self.overlay(Subject(f"http://{url[4:]}/" if url.startswith("dns:") else url))

    def names(self, number: int) -> tuple[str, ...]:
        """The sheets of a combination, the strongest last."""
        return self.overlays.names(number)

    def _with_rules(self, number: int, subject: Subject) -> int:
        more: tuple[str, ...] = ()
        for scope, sheets in self._rules:
            if scope.decide(subject).accepted:
                more += sheets
        return self.overlays.number(self.overlays.names(number) + more) if more else number

    def _of_place(self, url: str) -> int:
        """The number that SURT prefixes give; most often the host alone decides."""
        end = url.find("/", 8)
        known = self._hosts.get(url[:end])
        if known is None:
            if end < 0 or not url.startswith(_WEB):
                return self._match(scope_surt(url))
            known = self._of_host(url[:end])
        if isinstance(known, int):
            return known
        return self._of_folder(url, known, end)

    def _of_folder(self, url: str, host: str, end: int) -> int:
        """Where paths matter, those of one folder mostly have the same answer."""
        cut = url.rfind("/") + 1
        number = self._folders.get(url[:cut])
        if number is None:
            folder = host + url[end:cut].lower()
            if self._prefixes.any_longer(folder):
                return self._match(host + url[end:].lower())
            if len(self._folders) >= _HOSTS:
                self._folders.clear()
            number = self._folders[url[:cut]] = self._match(folder)
        return number

    def _of_host(self, where: str) -> int | str:
        surt = scope_surt(where + "/")
        known = surt[:-1] if self._prefixes.any_longer(surt) else self._match(surt)
        if len(self._hosts) >= _HOSTS:
            self._hosts.clear()
        self._hosts[where] = known
        return known

    def _match(self, surt: str) -> int:
        found = tuple(self._prefixes.all_matching(surt))
        number = self._by_prefixes.get(found)
        if number is None:
            names = [name for prefix in found for name in self._named[prefix]]
            number = self._by_prefixes[found] = self.overlays.number(names)
        return number


def basis(uri: CrawlURI) -> Subject:
    """What rules are asked about: the URI, or the one that needs it."""
    if uri.path[-1:] != Hop.PREREQUISITE:
        return Subject(uri.url, uri.path, uri.via, uri.context, uri.is_seed, uri.source)
    known = uri.heritable
    return Subject(
        uri.via,
        uri.path[:-1],
        known.get(BASIS_VIA, ""),
        known.get(BASIS_CONTEXT, ""),
        BASIS_SEED in known or uri.path == Hop.PREREQUISITE,
        uri.source,
    )


def basis_facts(parent: CrawlURI) -> dict[str, str]:
    """What a prerequisite remembers of the URI that needs it, for `basis`."""
    facts = {BASIS_VIA: parent.via, BASIS_CONTEXT: parent.context}
    if parent.is_seed:
        facts[BASIS_SEED] = "1"
    return {key: value for key, value in facts.items() if value}
