"""Documents for an index, made from captures."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Self

import msgspec

from nacre.core.capture import Capture
from nacre.extract.document import Document, stored_document
from nacre.extract.fulltext.job import PageText, TextJob, text_type
from nacre.indexing.shown_text import RenderedText
from nacre.indexing.text_process import TextProcess
from nacre.search.document import SearchDocument, place_document
from nacre.search.filters import apply_filters
from nacre.search.settings import IndexSettings
from nacre.wire.mime_sniff import PLAIN, computed_type, is_unknown_type

_TOGETHER = 16
"""Documents in one request to the helper."""
_SIZE = 500_000
"""Bytes of documents after which a request to the helper takes no more of them."""


PLUMBING = "plumbing"
"""The reason of URLs that are no pages; see `is_plumbing`."""
_WEB = ("http:", "https:", "ftp:", "ftps:", "sftp:")
_PLUMBING = re.compile(r"(?i)/robots\.txt|.*/[^/]*sitemap[^/]*\.(?:txt|xml)(?:\.gz)?")


def is_plumbing(url: str) -> bool:
    """Whether a URL is for programs only: robots.txt, a sitemap, an address of a host (`dns:`).

    Args:
        url: The URL.
    """
    if not url.lower().startswith(_WEB):
        return True
    path = "/" + url.partition("#")[0].partition("://")[2].partition("/")[2].partition("?")[0]
    return _PLUMBING.fullmatch(path) is not None


class PageFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of a page beside its capture.

    Attributes:
        key: The id of its document.
        url: The requested URL; "" for the key.
        modified: Last-Modified, ms since the epoch; 0 when unknown.
        digest: Payload digest.
        length: Bytes of the payload.
        mime: Media type; "" for that of the capture.
        lang: Its language if the text declares none; "" if unknown.
        boost: Factor of its importance; 1 where nothing is known.
        time: When it was fetched, ms since the epoch.
        segment: Segment or run that fetched it.
        warc_file: Name of the WARC.
        warc_offset: Offset of the record there.
        anchors: Texts of links to it.
        noindex: Whether a later reply than its capture, with the same content, has `noindex`.
        lifted: Whether a later reply than its capture, with the same content, lacks `noindex`: that
            of the head of the capture is over.
    """

    key: str
    url: str = ""
    modified: int = 0
    digest: str = ""
    length: int = 0
    mime: str = ""
    lang: str = ""
    boost: float = 1.0
    time: int = 0
    segment: str = ""
    warc_file: str = ""
    warc_offset: int = 0
    anchors: tuple[str, ...] = ()
    noindex: bool = False
    lifted: bool = False


class DocumentMaker:
    """Makes documents; a separate process extracts the text.

    Args:
        settings: `cycle.index`.
        agent: Product token that directives for robots may name.
        texts: Reads texts, and is not closed; None: a new process that ends with this object.

    Raises:
        MissingExtraError: The extra `search` is not installed.
    """

    def __init__(
        self, settings: IndexSettings, agent: str, texts: TextProcess | None = None
    ) -> None:
        self._settings = settings
        self._agent = agent
        self._texts = texts or TextProcess()
        self._own = texts is None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._own:
            self._texts.close()

    def document(
        self, capture: Capture | None, page: PageFacts, shown: RenderedText | str | None = None
    ) -> SearchDocument | str:
        """Return the document of a page, or why it has none.

        Args:
            capture: Its capture; None when the archive has none that can be read.
            page: Its facts.
            shown: See `indexing.shown_text`.
        """
        return next(self.documents([page], lambda _: capture, lambda _: shown))

    def documents(
        self,
        pages: Iterable[PageFacts],
        read: Callable[[PageFacts], Capture | None],
        show: Callable[[PageFacts], RenderedText | str | None] = lambda _: None,
    ) -> Iterator[SearchDocument | str]:
        """Yield the documents of pages in order, or why one has none.

        Args:
            pages: Their facts.
            read: Reads the capture of a page; None when the archive has none that can be read.
            show: Reads what a browser showed of a page, or returns why it has no document.
        """
        portion: list[tuple[PageFacts, TextJob | str]] = []
        size = 0
        for page in pages:
            job = self._job(page, read, show)
            portion.append((page, job))
            size += len(job.document.body) if isinstance(job, TextJob) else 0
            if len(portion) >= _TOGETHER or size > _SIZE:
                yield from self._make_portion(portion)
                portion, size = [], 0
        yield from self._make_portion(portion)

    def _job(
        self,
        page: PageFacts,
        read: Callable[[PageFacts], Capture | None],
        show: Callable[[PageFacts], RenderedText | str | None],
    ) -> TextJob | str:
        """Return the request to the helper for a page, or why it has no document."""
        if is_plumbing(page.url or page.key):
            return PLUMBING
        if not (is_unknown_type(page.mime) or text_type(page.mime, page.url or page.key)):
            return "type"
        shown = show(page) or RenderedText()
        if isinstance(shown, str):
            return shown
        capture = read(page)
        if capture is None:
            return "capture"
        settings = self._settings
        document = stored_document(capture, settings.max_document)
        document = _with_type(msgspec.structs.replace(document, mime=page.mime or document.mime))
        if not text_type(document.mime, document.url):
            return "type"
        return TextJob(
            document, settings.main_content, settings.max_content,
            agent=self._agent, lifted=page.lifted, shown=shown.text, shown_title=shown.title,
        )  # fmt: skip

    def _make_portion(
        self, portion: Sequence[tuple[PageFacts, TextJob | str]]
    ) -> Iterator[SearchDocument | str]:
        texts = iter(self._texts.texts([job for _, job in portion if isinstance(job, TextJob)]))
        for page, job in portion:
            yield job if isinstance(job, str) else self._document(page, next(texts))

    def _document(self, page: PageFacts, text: PageText) -> SearchDocument | str:
        settings = self._settings
        if text.problem:
            return text.problem
        refuses = page.noindex or not {"noindex", "none"}.isdisjoint(text.robots)
        if settings.noindex and refuses:
            return "noindex"
        document = place_document(make_document(page, text))
        return apply_filters(settings.filters, document) or "filter"


def _with_type(document: Document) -> Document:
    """Return a document with the type of its first bytes if its media type is unknown.

    Text remains without one: it may be a script or a style sheet.
    """
    if not is_unknown_type(document.mime) or text_type(document.mime, document.url):
        return document
    body = document.body.removeprefix(b"\xef\xbb\xbf")
    computed = computed_type(document.mime, document.headers, body)
    return document if computed == PLAIN else msgspec.structs.replace(document, mime=computed)


def make_document(page: PageFacts, text: PageText) -> SearchDocument:
    """Return the document of a page and its text.

    Args:
        page: The page.
        text: Its text.
    """
    return SearchDocument(
        id=page.key,
        url=page.url or page.key,
        title=text.title,
        content=text.text,
        rest=text.rest,
        type=text.type,
        lang=text.lang or page.lang.lower(),
        tstamp=page.time,
        modified=page.modified,
        boost=page.boost,
        digest=page.digest,
        segment=page.segment,
        anchor=list(page.anchors),
        cache="noarchive" if "noarchive" in text.robots else "",
        length=page.length,
        warc_filename=page.warc_file,
        warc_offset=page.warc_offset,
    )
