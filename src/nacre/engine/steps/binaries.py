"""Extractors of binary files."""

import asyncio
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from nacre.config.component import Bytes, setting
from nacre.config.effective import Effective
from nacre.core.crawluri import Hop
from nacre.core.processor import Processor, Result, Visit
from nacre.engine.chain.entry import LINKS, REPLY, Entry, Kit
from nacre.engine.steps.content import has_text
from nacre.engine.steps.links import add_links
from nacre.extract.binary import doc_urls, pdf_urls, swf_urls
from nacre.extract.document import document_of

_MIB = 1 << 20


class Reading(NamedTuple):
    """A reader of binary files: how files of one kind are recognised and read.

    Attributes:
        mime: Media type.
        magic: First bytes of such a file where the server names another type.
        urls: Its URLs.
        hop: How they are found.
        context: Link context.
    """

    mime: str
    magic: bytes
    urls: Callable[[bytes], list[str]]
    hop: Hop
    context: str


class BinaryEntry(Entry):
    """The common settings of the extractors of binary files."""

    behind = "extract"
    needs = frozenset((REPLY, LINKS))
    max_size: Bytes = setting(
        10 * _MIB, "Longer files are not searched.", unit="bytes", le=64 * _MIB
    )

    @classmethod
    def make(cls, settings: Effective[Any], kit: Kit) -> Processor:
        """See `Entry.make`."""
        return Searching(settings, cls.reading())

    @classmethod
    def reading(cls) -> Reading:
        """Return the reader of its files."""
        raise NotImplementedError


class ExtractPdf(BinaryEntry):
    """Takes the links of PDF files (hop L): URI annotations, in compressed objects too."""

    heritrix = "ExtractorPDF"
    processor: Literal["extract-pdf"] = "extract-pdf"

    @classmethod
    def reading(cls) -> Reading:
        """See `BinaryEntry.reading`."""
        return Reading("application/pdf", b"%PDF-", pdf_urls, Hop.LINK, "=NAVLINK_MISC")


class ExtractDoc(BinaryEntry):
    """Takes the links of Word files of before 2007 (hop L): HYPERLINK fields."""

    heritrix = "ExtractorDOC"
    processor: Literal["extract-doc"] = "extract-doc"

    @classmethod
    def reading(cls) -> Reading:
        """See `BinaryEntry.reading`."""
        magic = b"\xd0\xcf\x11\xe0"
        return Reading("application/msword", magic, doc_urls, Hop.LINK, "=NAVLINK_MISC")


class ExtractSwf(BinaryEntry):
    """Takes the URLs in Flash files (hop X)."""

    heritrix = "ExtractorSWF"
    processor: Literal["extract-swf"] = "extract-swf"

    @classmethod
    def reading(cls) -> Reading:
        """See `BinaryEntry.reading`."""
        kind = "application/x-shockwave-flash"
        return Reading(kind, b"CWS", swf_urls, Hop.SPECULATIVE, "=SPECULATIVE_MISC")


class Searching:
    """The worker of the extractors of binary files, outside the loop."""

    def __init__(self, settings: Effective[BinaryEntry], reading: Reading) -> None:
        self._settings = settings
        self._reading = reading

    def accepts(self, visit: Visit) -> bool:
        """Whole files of the kind."""
        if not has_text(visit) or visit.capture is None or visit.extracted:
            return False
        if visit.capture.payload_length > self._settings[visit.overlay].max_size:
            return False
        magic = self._reading.magic
        return visit.mime == self._reading.mime or visit.capture.payload(len(magic)) == magic

    async def process(self, visit: Visit) -> Result:
        """Add the links."""
        reading, limit = self._reading, self._settings[visit.overlay].max_size
        if visit.capture is not None:
            body = document_of(visit, visit.capture, limit).body
            urls = await asyncio.to_thread(reading.urls, body)
            add_links(visit, urls, reading.hop, reading.context)
            visit.claim()
        return Result.PROCEED
