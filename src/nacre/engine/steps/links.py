"""Processors of the outlinks of a page. Source: Heritrix 3."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from pydantic import field_validator

from nacre.config.component import setting
from nacre.config.effective import Effective
from nacre.core.crawluri import Hop, Outlink, extend_path
from nacre.core.processor import FinalProcessor, Processor, Result, Visit
from nacre.engine.chain.entry import LINKS, ChainName, Entry, GateRules, Kit
from nacre.errors import URIError
from nacre.extract.template import fill_groups
from nacre.extract.text import urls_within
from nacre.scope.compile import compile_scope
from nacre.scope.patterns.matching import PatternFinder
from nacre.scope.rules.regex import RegexText
from nacre.scope.rules.rule import Accept
from nacre.scope.rules.stock import AnyRule
from nacre.scope.scope import Scope
from nacre.scope.subject import Subject
from nacre.uri.parse import parse


class ImpliedUris(Entry):
    """Adds URIs that others imply: `$1/feed.xml` for each link to `(.*)/index.html` (hop I)."""

    heritrix = "ExtractorImpliedURI"
    behind = "extract"
    needs = frozenset((LINKS,))
    processor: Literal["extract-implied-uri"] = "extract-implied-uri"
    regex: RegexText = setting(
        "^(.*)$", "Expression that matches a whole URI that implies another."
    )
    format: str = setting(
        "", "The implied URI; `$1` is what the first group matched. Empty: nothing is implied."
    )
    remove_trigger_uris: bool = setting(False, "Drop the URIs that imply others.")

    @classmethod
    def make(cls, settings: Effective[Any], kit: Kit) -> Processor:
        """See `Entry.make`."""
        return Implying(settings)


class UrisWithinUris(Entry):
    """Adds URLs that are contained in the path or query of a link (hop X)."""

    heritrix = "ExtractorURI"
    behind = "extract"
    needs = frozenset((LINKS,))
    processor: Literal["extract-uri"] = "extract-uri"

    @classmethod
    def make(cls, settings: Effective[Any], kit: Kit) -> Processor:
        """See `Entry.make`."""
        return Unwrapping()


def _accepting() -> tuple[AnyRule, ...]:
    return (Accept(),)


class SupplementaryLinks(Entry):
    """Drops outlinks that its own rules do not accept, before the scope is applied."""

    chains = frozenset((ChainName.DISPOSITION,))
    heritrix = "SupplementaryLinksScoper"
    behind = "archive"
    processor: Literal["supplementary-links"] = "supplementary-links"
    rules: GateRules = setting(_accepting, "DecideRules; a final NONE is not accepted.")

    @field_validator("rules")
    @classmethod
    def _says_something(cls, value: tuple[AnyRule, ...]) -> tuple[AnyRule, ...]:
        if not value:
            raise ValueError("without a rule no link is accepted; write `rules: accept` for all")
        return value

    @classmethod
    def make(cls, settings: Effective[Any], kit: Kit) -> FinalProcessor:
        """See `Entry.make`."""
        return Sifting(settings.then(lambda s: compile_scope(s.rules, kit.state)))


class _Replacement:
    """The expression and the format of an entry."""

    def __init__(self, settings: ImpliedUris) -> None:
        self.drops = settings.remove_trigger_uris
        self._format = settings.format
        self._finder = PatternFinder(settings.regex)

    def of(self, url: str) -> str | None:
        """Return the URL that another one implies; None for none."""
        groups = self._finder.whole(url) if self._format else None
        return None if groups is None else fill_groups(self._format, groups)


class Implying:
    """The worker of `ImpliedUris`."""

    def __init__(self, settings: Effective[ImpliedUris]) -> None:
        self._implied = settings.then(_Replacement)

    def accepts(self, visit: Visit) -> bool:
        """Pages with links."""
        return bool(visit.outlinks)

    async def process(self, visit: Visit) -> Result:
        """Add the URLs that the links imply."""
        replacement = self._implied[visit.overlay]
        implied = {link.url: replacement.of(link.url) for link in visit.outlinks}
        if replacement.drops:
            visit.filter_outlinks(lambda link: implied[link.url] is None)
        add_links(visit, filter(None, implied.values()), Hop.INFERRED, "=INFERRED_MISC")
        return Result.PROCEED


class Unwrapping:
    """The worker of `UrisWithinUris`."""

    def accepts(self, visit: Visit) -> bool:
        """Pages with links."""
        return bool(visit.outlinks)

    async def process(self, visit: Visit) -> Result:
        """Add the URLs inside the links."""
        within = [url for link in visit.outlinks for url in urls_within(link.url)]
        add_links(visit, within, Hop.SPECULATIVE, "=SPECULATIVE_MISC")
        return Result.PROCEED


class Sifting:
    """The worker of `SupplementaryLinks`."""

    def __init__(self, scope: Effective[Scope]) -> None:
        self._scope = scope

    def accepts(self, visit: Visit) -> bool:
        """Pages with links."""
        return bool(visit.outlinks)

    def process(self, visit: Visit) -> Result:
        """Drop links that the scope does not accept."""
        scope, uri = self._scope[visit.overlay], visit.uri
        paths = {hop: extend_path(uri.path, hop) for hop in Hop}

        def accepts(link: Outlink) -> bool:
            subject = Subject(link.url, paths[link.hop], uri.url, link.context, source=uri.source)
            return scope.decide(subject).accepted

        visit.filter_outlinks(accepts)
        return Result.PROCEED


def add_links(visit: Visit, urls: Iterable[str], hop: Hop, context: str) -> None:
    """Add links to a visit: absolute URLs, each once; those that are none are left out."""
    links = list(_links(visit, urls, hop, context))
    if links:
        visit.add_outlinks(links)


def _links(visit: Visit, urls: Iterable[str], hop: Hop, context: str) -> Iterator[Outlink]:
    urls_present = {link.url for link in visit.outlinks}
    rank = len(visit.outlinks)
    for text in urls:
        try:
            url = parse(text)
        except URIError:
            continue
        if url not in urls_present and url.startswith("http"):
            urls_present.add(url)
            yield Outlink(url, hop, context, rank=rank)
            rank += 1
