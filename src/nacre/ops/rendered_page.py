"""A page that was run in a browser, as its records in an archive describe it.

The records are those of `archive.page_records`; those of Browsertrix Crawler have the same form,
and fewer facts.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from nacre.annotations import rendered_by
from nacre.archive.page_records import PAGE_INFO, PICTURES, page_urn, urn_parts
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import Holding, open_holding
from nacre.catalogue.lookup import CaptureIndex, open_index
from nacre.catalogue.page_records import PageRecordLookup
from nacre.errors import NacreError
from nacre.inspect.explain.answers import Explanation

_FAILED: Final = 400
"""HTTP status from which on a request failed."""
_RUN: Final = rendered_by("")
_STARTS: Final = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
SUFFIXES: Final = {"image/png": "png", "image/jpeg": "jpg"}
"""Suffixes of pictures, by media type."""


class PageRequestFacts(msgspec.Struct, frozen=True, rename="camel"):
    """A request of a page.

    Attributes:
        status: HTTP status; 0 if there was no reply.
        mime: Media type; "" if it is not known.
        type: Its type as Chromium writes it, such as `Script`.
        error: Why there was no reply; "" for none.
        from_browser_cache: The browser answered it by itself.
    """

    status: int = 0
    mime: str = ""
    type: str = ""
    error: str = ""
    from_browser_cache: bool = False


class RefusedFacts(msgspec.Struct, frozen=True):
    """A request of a page that was not sent; see `RefusedRequest`."""

    url: str
    type: str = ""
    rule: str = ""
    detail: str = ""


class RenderedPageFacts(msgspec.Struct, frozen=True, rename="camel"):
    """The facts of `urn:pageinfo:`. Those that are not known have their defaults.

    Attributes:
        pageid: Id of the page, in all its records.
        url: URL of its document.
        ts: Time of the capture, RFC 3339.
        urls: Its requests by URL, its document among them.
        load_state: How far it got, 0 to 4, as in Browsertrix Crawler.
        title: Its title.
        ended: How it ended; see `RenderedPage.ended`.
        sign: Why it was run.
        final_url: Its URL at the end, if that is another one.
        browser: Name and version of the browser.
        seconds: Time for which it was open.
        cpu_seconds: CPU time of the browser meanwhile.
        requests: Requests that were sent for it.
        bytes: Bytes that servers sent for it.
        reused: URLs that were answered from the archive.
        refused: Requests that were not sent.
        refused_by: Their number by rule.
        behaviors: What behaviours did, by their names.
        console_errors: Uncaught exceptions and failed loads.
        unchanged: Its text and pictures are those of its last version.
    """

    pageid: str = ""
    url: str = ""
    ts: str = ""
    urls: dict[str, PageRequestFacts] = {}
    load_state: int = 0
    title: str = ""
    ended: str = ""
    sign: str = ""
    final_url: str = ""
    browser: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    requests: int = 0
    bytes: int = 0
    reused: tuple[str, ...] = ()
    refused: tuple[RefusedFacts, ...] = ()
    refused_by: dict[str, int] = {}
    behaviors: dict[str, Any] = {}
    console_errors: tuple[str, ...] = ()
    unchanged: bool = False

    def failures(self) -> Iterator[tuple[str, str]]:
        """Yield requests without a reply, or with an error, each with its problem."""
        refused = {request.url for request in self.refused}
        for url, facts in self.urls.items():
            if url not in refused and (facts.status >= _FAILED or not facts.status):
                yield url, str(facts.status) if facts.status else facts.error or "no reply"


class PagePicture(msgspec.Struct, frozen=True):
    """A picture of a page.

    Attributes:
        kind: `view`, `fullPage`, `thumbnail`.
        capture: Its id, `WARC:OFFSET`.
        mime: Media type.
    """

    kind: str
    capture: str
    mime: str


class RenderedPageParts:
    """The records of pages in a job, a collection or a file.

    Args:
        holding: The holding.
    """

    def __init__(self, holding: Holding) -> None:
        self._index: CaptureIndex = open_index(holding)
        self._records = PageRecordLookup(holding, self._index)

    def facts(self, url: str, timestamp: str = "") -> RenderedPageFacts | None:
        """Return the facts of a page; None if it was not run, or its record cannot be read.

        Args:
            url: URL of its document, as captured.
            timestamp: Time of its capture, 14 digits; "" for the last.
        """
        return self._decode(self._records.find(PAGE_INFO, url, timestamp))

    def last_facts(self) -> RenderedPageFacts | None:
        """Return the facts of the page that was captured last; None if no page was run."""
        captures = self._index.prefix(page_urn(PAGE_INFO, ""))
        return self._decode(max(captures, key=lambda item: item.timestamp, default=None))

    def _decode(self, capture: IndexedCapture | None) -> RenderedPageFacts | None:
        data = self._records.read(capture)[1] if capture is not None else b""
        try:
            return msgspec.json.decode(data, type=RenderedPageFacts, strict=False)
        except msgspec.MsgspecError:
            return None

    def pictures(self, url: str, timestamp: str = "") -> list[PagePicture]:
        """Return the pictures of a page, in the order `view`, `fullPage`, `thumbnail`."""
        captures = ((kind, self._records.find(kind, url, timestamp)) for kind in PICTURES)
        return [
            PagePicture(kind, capture.id, capture.mime)
            for kind, capture in captures
            if capture is not None and capture.mime in SUFFIXES
        ]

    def picture(self, url: str, kind: str, timestamp: str = "") -> bytes:
        """Return a picture; b"" if there is none, or it cannot be read."""
        capture = self._records.find(kind, url, timestamp)
        return self.picture_at(capture)[0] if capture is not None else b""

    def picture_at(self, capture: IndexedCapture) -> tuple[bytes, str]:
        """Return the picture of a capture, and its media type by its bytes; b"" for none."""
        if urn_parts(capture.url)[0] not in PICTURES:
            return b"", ""
        data = self._records.read(capture)[1]
        media = next((name for name, start in _STARTS.items() if data.startswith(start)), "")
        return (data, media) if media else (b"", "")


def rendered_page_of(root: Path, explanation: Explanation) -> RenderedPageFacts | None:
    """Return the facts of the page that an explanation is about; None if it was not run.

    Args:
        root: Directory of the job.
        explanation: Of a URL of the job.
    """
    if not any(word.startswith(_RUN) for word in explanation.annotations):
        return None
    try:
        return RenderedPageParts(open_holding([root])).facts(explanation.url)
    except NacreError:
        return None
