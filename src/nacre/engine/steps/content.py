"""Processors that inspect fetched content. Source: Heritrix 3."""

import hashlib
from base64 import b32encode
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import field_validator, model_validator

from nacre.annotations import TRAP_SUPPRESSES_EXTRACTOR
from nacre.config.component import Bytes, setting
from nacre.config.effective import Effective
from nacre.core.capture import Capture
from nacre.core.crawluri import Hop
from nacre.core.processor import Processor, Result, Visit
from nacre.engine.chain.entry import LINKS, REPLY, Entry, Kit
from nacre.engine.steps.links import add_links
from nacre.extract.binary import LIMIT, urls_among
from nacre.extract.document import document_of
from nacre.extract.template import LinkTemplate, combinations
from nacre.extract.text import read_text
from nacre.scope.patterns.matching import PatternFinder
from nacre.scope.rules.regex import RegexText

_MIB = 1 << 20
_URI = "uriRegex"


class TrapSuppress(Entry):
    """Extracts no links from a page with the same payload as the page that links to it."""

    heritrix = "TrapSuppressExtractor"
    behind = "fetch-http"
    needs = frozenset((REPLY,))
    processor: Literal["trap-suppress"] = "trap-suppress"

    @classmethod
    def make(cls, settings: Effective[Any], kit: Kit) -> Processor:
        """See `Entry.make`."""
        return Suppressing(kit)


class ContentDigest(Entry):
    """Compares texts for duplicates without the matches of an expression.

    So a page with a counter or a date is stored again only when something else has changed. The
    record has the digest of the whole payload; a revisit has the digest of the original.
    """

    heritrix = "HTTPContentDigest"
    behind = "fetch-http"
    needs = frozenset((REPLY,))
    processor: Literal["content-digest"] = "content-digest"
    strip_regex: RegexText = setting(
        "", "Expression whose matches are removed from texts; empty: nothing is removed."
    )
    max_size: Bytes = setting(
        _MIB, "Longer texts are compared unchanged; 0: all texts.", unit="bytes"
    )

    @classmethod
    def make(cls, settings: Effective[Any], kit: Kit) -> Processor:
        """See `Entry.make`."""
        return Digesting(settings)


class MultipleRegex(Entry):
    """Makes URIs from matches of expressions in the URI and the text of a page (hop I).

    Every combination of matches fills the template: for pages that scripts continue. Heritrix's
    templates are Groovy code; these contain only names: `${NAME}`, `${NAME[1]}`, `${NAME|quote}`.
    """

    heritrix = "ExtractorMultipleRegex"
    behind = "extract"
    needs = frozenset((REPLY, LINKS))
    processor: Literal["extract-multiple-regex"] = "extract-multiple-regex"
    uri_regex: RegexText = setting(
        "", "Expression that matches the whole URI of the page; its groups are `${uriRegex[1]}` "
            "…. Empty: nothing is made.",
    )  # fmt: skip
    content_regexes: Mapping[str, RegexText] = setting(
        dict, "Expressions by name; each must be found in the text, or nothing is made."
    )
    template: str = setting("", "The URI to make. Empty: nothing is made.")
    max_links: int = setting(1000, "URIs made of one page.", unit="URIs", ge=1, le=50_000)

    @field_validator("template")
    @classmethod
    def _is_one(cls, value: str) -> str:
        LinkTemplate(value)
        return value

    @model_validator(mode="after")
    def _names_are_known(self) -> "MultipleRegex":
        groups = {_URI: PatternFinder(self.uri_regex).groups}
        groups |= {
            name: PatternFinder(regex).groups for name, regex in self.content_regexes.items()
        }
        for name, group in LinkTemplate(self.template).places.items():
            if name not in groups:
                names = ", ".join(groups)
                raise ValueError(f"the template names {name!r}, which is none of: {names}")
            if group > groups[name]:
                raise ValueError(f"the template asks for group {group} of {name!r}, which has "
                                 f"{groups[name]}")  # fmt: skip
        return self

    @classmethod
    def make(cls, settings: Effective[Any], kit: Kit) -> Processor:
        """See `Entry.make`."""
        return Combining(settings)


class Universal(Entry):
    """Searches the bytes of documents that no other extractor has read for URLs (hop X)."""

    heritrix = "ExtractorUniversal"
    behind = "extract"
    needs = frozenset((REPLY, LINKS))
    processor: Literal["extract-universal"] = "extract-universal"
    max_size: Bytes = setting(LIMIT, "Bytes that are searched.", unit="bytes", le=LIMIT)

    @classmethod
    def make(cls, settings: Effective[Any], kit: Kit) -> Processor:
        """See `Entry.make`."""
        return Scanning(settings)


class Suppressing:
    """The worker of `TrapSuppress`."""

    def __init__(self, kit: Kit) -> None:
        self._history = kit.history

    def accepts(self, visit: Visit) -> bool:
        """Whole pages that others link to."""
        return has_text(visit) and bool(visit.uri.via)

    async def process(self, visit: Visit) -> Result:
        """Claim it, so that no extractor reads it."""
        before, capture = self._history(visit.uri.via), visit.capture
        if before is None or capture is None or before.url == visit.uri.url:
            return Result.PROCEED
        if capture.payload_digest and before.digest == capture.payload_digest:
            visit.claim()
            visit.annotate(TRAP_SUPPRESSES_EXTRACTOR)
        return Result.PROCEED


class _Digest:
    """How the entry digests."""

    def __init__(self, settings: ContentDigest) -> None:
        self.limit = settings.max_size
        self._finder = PatternFinder(settings.strip_regex) if settings.strip_regex else None

    def of(self, visit: Visit, capture: Capture) -> str:
        """Return the digest of a text without stripped parts; "" if nothing is stripped."""
        if self._finder is None or capture.payload_length > self.limit:
            return ""
        text = read_text(document_of(visit, capture, self.limit))
        sha1 = hashlib.sha1(self._finder.without(text).encode(), usedforsecurity=False)
        return f"stripped-sha1:{b32encode(sha1.digest()).decode()}"


class Digesting:
    """The worker of `ContentDigest`."""

    def __init__(self, settings: Effective[ContentDigest]) -> None:
        self._digest = settings.then(_Digest)

    def accepts(self, visit: Visit) -> bool:
        """Whole texts."""
        return has_text(visit) and visit.mime.startswith("text/")

    async def process(self, visit: Visit) -> Result:
        """Set the digest by which the capture is compared."""
        if visit.capture is not None:
            visit.compare_by(self._digest[visit.overlay].of(visit, visit.capture))
        return Result.PROCEED


class _Expressions:
    """The expressions of an entry, compiled."""

    def __init__(self, settings: MultipleRegex) -> None:
        self._idle = not (settings.uri_regex and settings.template)
        self._uri = PatternFinder(settings.uri_regex)
        self._content = {
            name: PatternFinder(regex) for name, regex in settings.content_regexes.items()
        }
        self._template = LinkTemplate(settings.template)
        self._limit = settings.max_links

    def of(self, visit: Visit, capture: Capture) -> list[str]:
        """Return the URIs that a page makes."""
        groups = None if self._idle else self._uri.whole(visit.uri.url)
        if groups is None:
            return []
        text = read_text(document_of(visit, capture, 8 * _MIB)) if self._content else ""
        matches = {name: finder.find(text) for name, finder in self._content.items()}
        return list(combinations(self._template, {_URI: [groups], **matches}, self._limit))


class Combining:
    """The worker of `MultipleRegex`."""

    def __init__(self, settings: Effective[MultipleRegex]) -> None:
        self._expressions = settings.then(_Expressions)

    def accepts(self, visit: Visit) -> bool:
        """Whole pages."""
        return has_text(visit)

    async def process(self, visit: Visit) -> Result:
        """Add the URIs."""
        if visit.capture is not None:
            urls = self._expressions[visit.overlay].of(visit, visit.capture)
            add_links(visit, urls, Hop.INFERRED, "=INFERRED_MISC")
        return Result.PROCEED


class Scanning:
    """The worker of `Universal`."""

    def __init__(self, settings: Effective[Universal]) -> None:
        self._settings = settings

    def accepts(self, visit: Visit) -> bool:
        """Content that no extractor has claimed."""
        return not visit.extracted and has_text(visit)

    async def process(self, visit: Visit) -> Result:
        """Add the URLs."""
        if visit.capture is not None:
            body = document_of(visit, visit.capture, self._settings[visit.overlay].max_size).body
            add_links(visit, urls_among(body), Hop.SPECULATIVE, "=SPECULATIVE_MISC")
        return Result.PROCEED


def has_text(visit: Visit) -> bool:
    """Return whether there is a whole, successful reply with something in it."""
    capture = visit.capture
    return capture is not None and visit.status == 200 and capture.payload_length > 0
