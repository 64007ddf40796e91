"""Documents for an index, made of captures: what is read of the archive meets what is searched."""

from types import TracebackType
from typing import Self

import msgspec

from nacre.core.capture import Capture
from nacre.engine.text_process import TextProcess
from nacre.extract.document import stored_document
from nacre.extract.fulltext.job import PageText, TextJob, text_type
from nacre.search.document import SearchDocument, placed
from nacre.search.filters import filtered
from nacre.search.settings import IndexSettings


class PageFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of a page beside its capture.

    Attributes:
        key: The id of its document.
        url: The URL that was asked for; "" for the key.
        modified: Last-Modified, ms since the epoch; 0 when unknown.
        digest: Payload digest.
        length: Bytes of the payload.
        mime: Media type; "" for that of the capture.
        lang: Its language where the text says none; "" when unknown.
        score: Its score; 1 where nothing is known.
        time: When it was fetched, ms since the epoch.
        segment: Segment or run that fetched it.
        warc_file: Name of the WARC.
        warc_offset: Offset of the record there.
        anchors: Texts of links to it.
    """

    key: str
    url: str = ""
    modified: int = 0
    digest: str = ""
    length: int = 0
    mime: str = ""
    lang: str = ""
    score: float = 1.0
    time: int = 0
    segment: str = ""
    warc_file: str = ""
    warc_offset: int = 0
    anchors: tuple[str, ...] = ()


class DocumentMaker:
    """Makes documents; the text is read in a process of its own.

    Args:
        settings: `cycle.index`.
        agent: Product token that directives for robots may name.
        texts: Reads texts, and is not closed; None: one that ends with this.

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

    def document(self, capture: Capture | None, page: PageFacts) -> SearchDocument | str:
        """The document of a page, or why it has none.

        Args:
            capture: Its capture; None when the archive has none that can be read.
            page: Its facts.
        """
        if capture is None:
            return "capture"
        settings = self._settings
        document = stored_document(capture, settings.max_document)
        document = msgspec.structs.replace(document, mime=page.mime or document.mime)
        if not text_type(document.mime, document.url):
            return "type"
        job = TextJob(document, settings.main_content, settings.max_content, agent=self._agent)
        text = self._texts.text(job)
        if text.problem:
            return text.problem
        if settings.noindex and not {"noindex", "none"}.isdisjoint(text.robots):
            return "noindex"
        made = placed(made_document(page, text, settings.score_power))
        return filtered(settings.filters, made) or "filter"


def made_document(page: PageFacts, text: PageText, power: float) -> SearchDocument:
    """The document of a page and its text.

    Args:
        page: The page.
        text: Its text.
        power: See `cycle.index.score_power`.
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
        boost=max(page.score, 0.0) ** power,
        digest=page.digest,
        segment=page.segment,
        anchor=list(page.anchors),
        cache="noarchive" if "noarchive" in text.robots else "",
        length=page.length,
        warc_filename=page.warc_file,
        warc_offset=page.warc_offset,
    )
