"""The own records of pages that were run in a browser, by the capture of the page."""

from typing import Final

import msgspec

from nacre.archive.page_records import KINDS, PAGE_INFO, TEXT, page_urn
from nacre.archive.reader import record_at
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import Holding
from nacre.catalogue.lookup import CaptureIndex
from nacre.errors import StorageError
from nacre.uri.surt import index_key

LONGEST: Final = 16 << 20
"""Bytes of a record of a page that is read; longer ones are not."""
_INFO: Final = page_urn(PAGE_INFO, "")


class PageInfo(msgspec.Struct, rename="camel"):
    """Facts of a `urn:pageinfo:` for the list of pages; see `archive.page_records`.

    Attributes:
        pageid: Id of the page.
        url: URL of its document.
        title: Its title; "" for none.
        load_state: How far it got, 0 to 4, as Browsertrix counts.
        unchanged: Its text and pictures are those of its last version.
    """

    pageid: str
    url: str
    title: str = ""
    load_state: int = 0
    unchanged: bool = False


def page_of(capture: IndexedCapture) -> str:
    """Return the URL of the page that a `urn:pageinfo:` is about; "" for other captures."""
    return capture.url.removeprefix(_INFO) if capture.url.startswith(_INFO) else ""


class PageRecordLookup:
    """Finds the own records of pages.

    Args:
        holding: Has the WARCs.
        index: Its index.

    Attributes:
        is_empty: Whether the holding has none.
    """

    def __init__(self, holding: Holding, index: CaptureIndex) -> None:
        self._holding = holding
        self._index = index
        self.is_empty = not index.prefix("urn:", limit=1)

    def find(self, kind: str, url: str, timestamp: str) -> IndexedCapture | None:
        """Return a record of a page; None: there is none.

        That of a page that did not change may be with an earlier capture.

        Args:
            kind: One of `archive.page_records.KINDS`.
            url: URL of the page.
            timestamp: Time of the capture of its document, 14 digits; "" for the last.
        """
        if self.is_empty:
            return None
        target = page_urn(kind, url)
        records = [
            capture
            for capture in self._index.exact(index_key(target), "")
            if (not timestamp or capture.timestamp <= timestamp) and capture.url == target
        ]
        last = max(records, key=lambda capture: capture.timestamp, default=None)
        if last is None or timestamp in {"", last.timestamp}:
            return last
        is_earlier = kind != PAGE_INFO and self._is_unchanged(url, timestamp)
        return last if is_earlier else None

    def _is_unchanged(self, url: str, timestamp: str) -> bool:
        record = self.find(PAGE_INFO, url, timestamp)
        info = self.info(record) if record is not None else None
        return info is not None and info.unchanged

    def all_of(self, url: str, timestamp: str) -> list[IndexedCapture]:
        """Return all records of a page; see `find`."""
        records = [self.find(kind, url, timestamp) for kind in KINDS] if not self.is_empty else ()
        return [capture for capture in records if capture is not None]

    def read(self, capture: IndexedCapture) -> tuple[str, bytes]:
        """Return media type and block of a record; two empty values if it cannot be read."""
        place = self._holding.warc(capture.member, capture.warc)
        if place is None:
            return "", b""
        try:
            with record_at(place.path, place.start + capture.offset) as entry:
                if entry is None or entry.length > LONGEST or not capture.url.startswith("urn:"):
                    return "", b""
                return entry.get("Content-Type") or "", b"".join(iter(entry.read, b""))
        except (OSError, StorageError):
            return "", b""

    def info(self, capture: IndexedCapture) -> PageInfo | None:
        """Return what a `urn:pageinfo:` says; None if it cannot be read."""
        try:
            return msgspec.json.decode(self.read(capture)[1], type=PageInfo)
        except msgspec.DecodeError:
            return None

    def text(self, url: str, timestamp: str) -> str:
        """Return the stored text of a page; "" for none."""
        record = self.find(TEXT, url, timestamp)
        return self.read(record)[1].decode("utf-8", "replace") if record is not None else ""
