"""The evidence of a wall in a visit: its head, its page, and its final state in a browser."""

from typing import Final

from nacre.core.capture import Capture
from nacre.core.crawluri import Hop
from nacre.core.processor import Visit
from nacre.extract.document import Document, stored_document
from nacre.extract.shell import page_text
from nacre.extract.walls import SEARCHED, WallEvidence

_HTML: Final = frozenset(("", "unknown", "text/html", "application/xhtml+xml"))


def wall_evidence(visit: Visit, capture: Capture) -> WallEvidence:
    """Return what a reply shows; its content is read when it is needed."""

    def header(name: bytes) -> str:
        return (capture.header(name) or b"").decode("latin-1").strip()

    read: list[Document] = []  # a cache of functools costs more than a small page

    def document() -> Document:
        if not read:
            read.append(stored_document(capture, SEARCHED))
            read[0].use_charset(visit.charset)
        return read[0]

    def body() -> bytes:
        return document().body if visit.mime.lower() in _HTML else b""

    target = next((link.url for link in visit.outlinks if link.hop is Hop.REDIRECT), "")
    return WallEvidence(
        url=visit.uri.url,
        status=visit.status,
        header=header,
        target=target,
        body=body,
        text=lambda: page_text(document()),
        rendered=visit.page.rendered if visit.page is not None else None,
    )
