"""The last version of a page, read back from the WARC that holds it and taken apart."""

from collections import OrderedDict
from pathlib import Path

from nacre.archive.delta import Delta
from nacre.core.capture import Capture
from nacre.core.pageview import PageView
from nacre.core.wayrow import VersionRow
from nacre.extract.pageview import page_view
from nacre.history.dedup import Digests
from nacre.history.pagestore import PageStore
from nacre.job.holdings.bases import Bases
from nacre.job.holdings.rereading import read_at
from nacre.store.store import Store
from nacre.wire.charset import decode, detect
from nacre.wire.coding import decode_content

LARGEST = 2_000_000
"""Pages beyond this are compared by payload only, bytes."""
_RECENT = 50


class ArchivedVersions:
    """`Versions` of `job.incremental.judge`: the archive is where the old pages are.

    Args:
        root: Directory of the job.
        store: Its store.
        pages: Where it is written which version counts.
        digests: Where each payload lies.

    Attributes:
        kept: The page of which a version was kept last.
    """

    def __init__(self, root: Path, store: Store, pages: PageStore, digests: Digests) -> None:
        self._bases = Bases(root, store, digests)
        self._pages = pages
        self._digests = digests
        self._views: OrderedDict[str, PageView] = OrderedDict()
        self.kept = ""

    def last(self, url: str) -> PageView | None:
        """See `Versions`."""
        view = self._views.get(url)
        if view is not None:
            return view
        version = self._pages.version(url)
        capture = None if version is None else self.capture(version.digest, version.framing)
        if capture is None or version is None:
            return None
        # What was read as windows-1252 may have been a default: it is looked at once more.
        unsure = version.charset == "cp1252"
        return page_view(page_text(capture) if unsure else text_of(capture, version.charset))

    def keep(self, url: str, view: PageView) -> None:
        """See `Versions`; a second visit within the step finds it in memory."""
        self.kept = url
        self._views[url] = view
        self._views.move_to_end(url)
        if len(self._views) > _RECENT:
            self._views.popitem(last=False)

    def capture(self, digest: str, framing: str) -> Capture | None:
        """A payload, with the reply that first brought it; None when it cannot be read."""
        original = self._digests.get(digest, framing)
        path = None if original is None else self._bases.path(original)
        if original is None or path is None:
            return None
        capture = read_at(path, original.offset, self._bases.block)
        return capture if capture is not None and capture.payload_digest == digest else None

    def base(self, delta: Delta) -> bytes:
        """What a difference was made from; see `archive.restoring.FindBase`."""
        return self._bases.block(delta)

    def moved_on(self, url: str, capture: Capture, charset: str, full: float) -> None:
        """What was just stored is the version to compare with; `full`: see `VersionRow`."""
        framing = "chunked" if capture.framing == "chunked" else ""
        version = VersionRow(capture.payload_digest, framing, charset, full)
        self._pages.put_version(url, version)


def body_of(capture: Capture, charset: str) -> bytes:
    """The decoded body as UTF-8, cut at `LARGEST`."""
    return text_of(capture, charset).encode("utf-8", "replace")


def text_of(capture: Capture, charset: str) -> str:
    """The text of a page, its content coding removed."""
    return decode(_decoded(capture), charset or "utf-8")


def page_text(capture: Capture) -> str:
    """The same of a page of which it is not known what it was read in."""
    body = _decoded(capture)
    header = b"".join(capture.header_values(b"content-type")).lower()
    label = header.partition(b"charset=")[2].partition(b";")[0].strip(b" \"'")
    return decode(body, detect(body, label.decode("latin-1"), capture.url)[0])


def _decoded(capture: Capture) -> bytes:
    body = capture.payload(LARGEST)
    encodings = capture.header_values(b"content-encoding")
    if encodings and body:
        body = decode_content(body, encodings, LARGEST).data
    return body
