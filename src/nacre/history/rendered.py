"""The last documents of pages that were run in a browser, as they were at the end.

What such a page says is not in the reply of its server. Its final DOM is kept here, so that the
next visit can be compared with it, whatever the archive has of it.
"""

import zlib
from hashlib import sha1

import msgspec

from nacre.core.processor import PageUnit, Visit
from nacre.store.store import Store
from nacre.uri.surt import history_key

FAMILY = "pages"
"""Column family of the rows; that of the other rows of pages (`recrawl.pagestore`)."""
JUDGED, UNJUDGED = b"D", b"F"
"""First bytes of keys: documents that later visits are compared with, and those of runs without a
planner, which the next incremental run judges."""
MOST = 2_000_000
"""Bytes of the longest document that is kept; longer ones are compared by their digest."""
_MOST_WITH_ROUTES = 1_500_000
"""Bytes of a document with those of its hash routes."""
_encode = msgspec.msgpack.Encoder().encode


class RenderedRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A document as a browser had it at the end.

    Attributes:
        digest: Its digest; see `dom_digest`.
        began: When its reply began, µs since the epoch.
        packed: The document, UTF-8, deflated.
        requested: URLs that the page asked for; () once it was judged.
    """

    digest: str
    began: int
    packed: bytes
    requested: tuple[str, ...] = ()

    @property
    def dom(self) -> bytes:
        """The document; b"" if it cannot be read."""
        try:
            return zlib.decompressobj().decompress(self.packed, MOST)
        except zlib.error:
            return b""


def dom_digest(dom: bytes) -> str:
    """Return the digest of a document, which no payload has."""
    return f"dom:{sha1(dom, usedforsecurity=False).hexdigest()}"


def requested_urls(page: PageUnit) -> tuple[str, ...]:
    """Return the URLs that a page asked for, those answered from the archive too."""
    return (*(visit.uri.url for visit in page.visits), *page.reused)


def final_dom(visit: Visit) -> bytes:
    """Return the document of a page that was run; b"" if it was not, or its state was not taken.

    Behind it are the documents of its hash routes, as far as there is room: what the page says is
    in all of them.
    """
    rendered = visit.page.rendered if visit.page is not None else None
    if rendered is None or not rendered.dom or not rendered.routes:
        return rendered.dom if rendered is not None else b""
    documents, size = [rendered.dom], len(rendered.dom)
    for route in rendered.routes:
        size += len(route.dom)
        if size > _MOST_WITH_ROUTES:
            break
        documents.append(route.dom)
    return b"\n".join(documents)


class RenderedDocuments:
    """Documents by URL.

    Args:
        store: The store; rows join its open commit group.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._decode = msgspec.msgpack.Decoder(RenderedRow).decode

    def put(
        self, url: str, dom: bytes, began: int, requested: tuple[str, ...] = (), *, judged: bool
    ) -> None:
        """Keep a document in the place of the one before; see the attributes of `RenderedRow`."""
        row = RenderedRow(dom_digest(dom), began, zlib.compress(dom[:MOST], 6), requested)
        self._store.put(FAMILY, _key(url, judged=judged), _encode(row))

    def get(self, url: str, *, judged: bool) -> RenderedRow | None:
        """Return the document of a URL; None if there is none."""
        value = self._store.get(FAMILY, _key(url, judged=judged))
        return None if value is None else self._decode(value)

    def drop(self, url: str, *, judged: bool) -> None:
        """Delete a document."""
        self._store.delete(FAMILY, _key(url, judged=judged))


def _key(url: str, *, judged: bool) -> bytes:
    prefix = JUDGED if judged else UNJUDGED
    return prefix + history_key(url).encode("utf-8", "replace")
