"""Captures read back from a WARC that this crawler wrote, with all that its log and store knew.

A capture is complete when its last record is: the metadata record, which refers to the first one.

Pages read back from the archive, with their bodies: for the judge, and to rebuild history.
"""

import re
from collections.abc import Callable, Iterator
from io import SEEK_END
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import structs

from nacre.archive.block import BlockFacts, read_block
from nacre.archive.certificates import CHAIN_MEDIA
from nacre.archive.delta import Delta, DeltaError, page_url
from nacre.archive.fields import micros, strip_brackets
from nacre.archive.index_facts import header_value, index_facts
from nacre.archive.link_files import FindLinks, reference_of
from nacre.archive.link_reference import LinksError
from nacre.archive.reader import WarcEntry, WarcReader, record_at
from nacre.archive.record import IDENTICAL, NOT_MODIFIED
from nacre.archive.restoring import FindBase, difference_of, is_delta, restore_block
from nacre.archive.source import section
from nacre.core.capture import BytesBody, Capture
from nacre.core.crawluri import Hop, Outlink
from nacre.core.history import Base, Original, RevisitProfile
from nacre.machine.local_files import open_ordinary
from nacre.wire.head import parse_head

_DAMAGE = frozenset(
    ("gzip-truncated", "gzip-damaged", "block-truncated", "header-truncated", "length-overrun")
)
_TRAILER = 4
_STATUS = re.compile(r"\d{3}")
_METADATA_MOST = 64 << 20
_SITEMAPS = (".xml", ".xml.gz", ".txt.gz")


class ReadCapture(msgspec.Struct):
    """One capture, as read from its records.

    Attributes:
        url: What was fetched.
        offset: Offset of its first record, bytes.
        record_id: Of its first record, without angle brackets.
        date: When it began, µs since the epoch.
        status: HTTP status; 0 when the head has none.
        size: Bytes of head and body.
        length: Bytes of the body.
        payload_length: Bytes of the payload.
        chunked: The body has chunked transfer coding.
        digest: Payload digest; "" for none.
        mime: Media type, lower case; "" when unknown.
        etag: Its ETag; b"" when absent.
        last_modified: Its Last-Modified; b"" when absent.
        truncated: WARC-Truncated of a response.
        revisit: What it refers to; None for a response.
        base: What it is a difference from; None for a response and a revisit.
        via: URL of the page on which it was found.
        path: Its hop path.
        source: Its source tag.
        is_seed: It is a seed.
        force_fetch: It was fetched although it was known.
        charset: The codec that its text was read in; "" when it had none.
        annotations: As in crawl.log.
        duration: ms.
        outlinks: Its links, in order.
        links_lost: Why its links cannot be read; "" if they can.
        is_of_url: Whether it is what its URL has: not the reply to a POST of a page in a browser.
        page_id: WARC-Page-ID of its first record; "" for none.
    """

    url: str
    offset: int = 0
    record_id: str = ""
    date: int = 0
    status: int = 0
    size: int = 0
    length: int = 0
    payload_length: int = 0
    chunked: bool = False
    digest: str = ""
    mime: str = ""
    etag: bytes = b""
    last_modified: bytes = b""
    truncated: str = ""
    revisit: RevisitProfile | None = None
    base: Base | None = None
    via: str = ""
    path: str = ""
    source: str = ""
    is_seed: bool = False
    force_fetch: bool = False
    charset: str = ""
    annotations: list[str] = []
    duration: int = 0
    outlinks: list[Outlink] = []
    links_lost: str = ""
    is_of_url: bool = True
    page_id: str = ""

    def add_request(self, entry: WarcEntry, start: bytes) -> None:
        """Take its request, by the beginning: one of a page in a browser may be a POST."""
        self.is_of_url = not entry.get("WARC-Page-ID") or start.startswith(b"GET ")

    def add_note(self, line: str) -> None:
        """Take a line of its metadata record. Source: `archive.notes`."""
        name, _, value = line.partition(": ")
        if name == "outlink":
            link = _outlink(value, self, len(self.outlinks))
            self.outlinks += [link] if link else []
        elif name == "via":
            self.via = value
        elif name == "hopsFromSeed":
            self.path = value
        elif name == "sourceTag":
            self.source = value
        elif name == "charsetForLinkExtraction":
            self.charset = value
        elif name == "annotations":
            self.annotations = value.split(",")
        elif name == "fetchTimeMs" and value.isdigit():
            self.duration = int(value)
        self.is_seed |= line.startswith("seed:")
        self.force_fetch |= line.startswith("force-fetch:")


class CaptureReader:
    """Reads the captures of a part of a WARC.

    Args:
        path: The file.
        start: Offset of a record, bytes.
        end: End of the part, bytes.
        links: Finds outlinks that a record refers to; None: these are left out.

    Attributes:
        end: End of the last whole capture so far; a warcinfo or `dns:` record counts as one.
        count: Captures so far, those of `dns:` too.
    """

    def __init__(self, path: Path, start: int, end: int, links: FindLinks | None = None) -> None:
        self._path = path
        self._links = links
        self._start = start
        self._stop = end
        self._damaged: set[int] = set()
        self._open: ReadCapture | None = None
        self.end = start
        self.count = 0

    def __iter__(self) -> Iterator[ReadCapture]:
        """Yield the captures over HTTP, in order, up to the first damage."""
        position = self._start
        for entry, facts, size in self._entries():
            offset = self._start + entry.offset
            torn = facts.length != entry.length or entry.offset in self._damaged
            if torn or offset != position or offset + size > self._stop:
                return
            position = offset + size
            whole = self._take(entry, facts, offset)
            if self._open is None:
                self.end = position
            if whole is not None and whole.is_of_url:
                yield whole

    def _entries(self) -> Iterator[tuple[WarcEntry, "_Block", int]]:
        """Yield records with their blocks and sizes; a size is known with the next record."""
        with open_ordinary(self._path) as file:
            part = section(file, self._start, self._stop)
            reader = WarcReader(part, self._note)
            extra = 0 if reader.compressed else _TRAILER
            pending: tuple[WarcEntry, _Block] | None = None
            for entry in reader:
                if pending is not None:
                    yield *pending, pending[0].size + extra
                pending = entry, _block(entry)
            if pending is not None:
                yield *pending, pending[0].size + extra

    def _note(self, code: str, offset: int, _message: str) -> None:
        if code in _DAMAGE:
            self._damaged.add(offset)

    def _take(self, entry: WarcEntry, facts: "_Block", offset: int) -> ReadCapture | None:
        """Add a record to its capture; return the capture that it completes."""
        kind = entry.get("WARC-Type")
        if isinstance(facts, Metadata):
            read, self._open = self._open, None
            if read is not None:
                facts.tell(read, self._links)
                self.count += 1
            return read
        if isinstance(facts, DeltaBlock):
            self._open = facts.capture(entry, offset)
        elif kind in ("response", "revisit"):
            self._open = main_record(entry, facts, offset)
        elif kind == "request" and self._open is not None:
            self._open.add_request(entry, facts.start)
        elif kind == "resource" and entry.get("Content-Type") != CHAIN_MEDIA:
            self.count += 1
        return None


class Metadata:
    """The block of a metadata record, kept for its fields.

    Attributes:
        length: Bytes of the block that are there.
        reference: The record that has its outlinks; None if it has all itself.
    """

    def __init__(self, entry: WarcEntry) -> None:
        self.length = 0
        parts: list[bytes] = []
        while data := entry.read():
            self.length += len(data)
            if self.length <= _METADATA_MOST:
                parts.append(data)
        fields = b"".join(parts).partition(b"\r\n\r\n")[0]
        self.reference = reference_of(entry, fields)
        self._text = fields.decode("utf-8", "replace")

    def value(self, name: str) -> str:
        """Value of a field; "" when it is absent."""
        start = name + ": "
        lines = self._text.split("\r\n")
        return next((line[len(start) :] for line in lines if line.startswith(start)), "")

    def tell(self, read: ReadCapture, links: FindLinks | None = None) -> None:
        """Add the data of the record to a capture.

        Args:
            read: The data of the capture.
            links: Finds outlinks that the record refers to; None: these are left out.
        """
        lines = self._text.split("\r\n")
        if self.reference is not None and links is not None:
            try:
                text = links(self.reference).decode("utf-8", "replace")
            except LinksError as error:
                read.links_lost = str(error)
            else:
                lines = [line for line in lines if not line.startswith("outlink: ")]
                lines += text.split("\r\n")
        for line in lines:
            read.add_note(line)


class DeltaBlock:
    """The block of a difference, read without its base.

    Attributes:
        length: Bytes of the block that are there.
    """

    def __init__(self, entry: WarcEntry) -> None:
        self._delta: Delta | None = None
        try:
            self._delta = difference_of(entry).delta
        except DeltaError:
            while entry.read():
                pass
        self.length = entry.length - entry.left

    def capture(self, entry: WarcEntry, offset: int) -> ReadCapture | None:
        """Return the data of its capture; None when it cannot be read."""
        delta = self._delta
        if delta is None:
            return None
        return ReadCapture(
            url=page_url(strip_brackets(entry.get("WARC-Target-URI") or "")),
            offset=offset,
            record_id=strip_brackets(entry.get("WARC-Record-ID") or ""),
            date=micros(entry.get("WARC-Date")),
            status=delta.status,
            size=delta.length,
            length=delta.body_length,
            payload_length=delta.payload_length,
            chunked=delta.framing == "chunked",
            digest=delta.payload,
            mime=delta.mime.lower(),
            etag=delta.etag,
            last_modified=delta.last_modified,
            base=base_of(delta),
        )


def base_of(delta: Delta) -> Base:
    """Return the base of a difference, according to the row of its URL."""
    return Base(
        delta.base_id, delta.base_date, delta.base_payload, delta.base_framing, delta.number
    )


_Block = BlockFacts | Metadata | DeltaBlock


def _block(entry: WarcEntry) -> _Block:
    if is_delta(entry):
        return DeltaBlock(entry)
    return Metadata(entry) if entry.get("WARC-Type") == "metadata" else read_block(entry)


def _outlink(text: str, read: ReadCapture, rank: int) -> Outlink | None:
    words = text.split(" ", 2)
    if len(words) != 3 or words[1] not in tuple(Hop):
        return None
    url, hop, context = words
    # The record does not show which links of a robots.txt or a sitemap are sitemaps.
    listed = hop == Hop.MANIFEST
    sitemap = listed and (read.path.endswith(Hop.PREREQUISITE) or url.endswith(_SITEMAPS))
    return Outlink(url, Hop(hop), context, rank=rank, sitemap=sitemap)


def main_record(entry: WarcEntry, facts: BlockFacts, offset: int) -> ReadCapture:
    """Return the data of a capture in its response or revisit record."""
    status, mime = index_facts(facts.start)
    match = _STATUS.match(status or "")
    chunks = facts.chunks
    return ReadCapture(
        url=strip_brackets(entry.get("WARC-Target-URI") or ""),
        offset=offset,
        record_id=strip_brackets(entry.get("WARC-Record-ID") or ""),
        page_id=entry.get("WARC-Page-ID") or "",
        date=micros(entry.get("WARC-Date")),
        status=int(match[0]) if match else 0,
        size=facts.length,
        length=facts.body_length,
        payload_length=facts.body_length if chunks is None else chunks.runs.total(),
        chunked=chunks is not None,
        digest=entry.get("WARC-Payload-Digest") or "",
        mime=(mime or "").lower(),
        etag=(header_value(facts.head, b"etag") or "").encode("latin-1", "replace"),
        last_modified=(header_value(facts.head, b"last-modified") or "").encode(
            "latin-1", "replace"
        ),
        truncated=entry.get("WARC-Truncated") or "",
        revisit=_revisit(entry),
    )


def read_confirmation(entry: WarcEntry, metadata: Metadata) -> ReadCapture | None:
    """Return the data of a capture in a note that confirms a difference; None for other records."""
    name = strip_brackets(metadata.value("confirms"))
    if not name or entry.get("WARC-Concurrent-To") is not None:
        return None
    url = strip_brackets(entry.get("WARC-Target-URI") or "")
    digest = metadata.value("payloadDigest")
    kind = IDENTICAL if digest else NOT_MODIFIED
    return ReadCapture(
        url=url,
        offset=entry.offset,
        record_id=strip_brackets(entry.get("WARC-Record-ID") or ""),
        date=micros(entry.get("WARC-Date")),
        digest=digest,
        revisit=RevisitProfile(kind, Original(url, 0, name), digest),
    )


def _revisit(entry: WarcEntry) -> RevisitProfile | None:
    if entry.get("WARC-Type") != "revisit":
        return None
    url = strip_brackets(entry.get("WARC-Refers-To-Target-URI") or "")
    date = micros(entry.get("WARC-Refers-To-Date"))
    original = Original(url, date, strip_brackets(entry.get("WARC-Refers-To") or ""))
    kind = (entry.get("WARC-Profile") or "").rpartition("/")[2]
    return RevisitProfile(kind, original, entry.get("WARC-Payload-Digest") or "")


MOST = 4_000_000
"""Bytes of a block to read at most; longer blocks are no pages that are compared."""


class Reread(NamedTuple):
    """A capture out of the archive; of a revisit, with the body of its original.

    Attributes:
        stored: The data of its records.
        capture: The exchange, as far as it is needed.
    """

    stored: ReadCapture
    capture: Capture


def read_at(path: Path, offset: int, find: FindBase, most: int = MOST) -> Capture | None:
    """Return the response at an offset of a WARC, or the response rebuilt from a difference.

    A `resource` is a page of another crawler, which kept no head (`archive.imported`).

    Args:
        path: The WARC.
        offset: Offset of the record, bytes.
        find: Finds the base of a difference.
        most: Bytes of a block; of a longer one the body is left out.

    Returns:
        The exchange; None when it cannot be read.
    """
    try:
        with record_at(path, offset) as entry:
            if entry is not None and is_delta(entry):
                return _rebuilt(entry, offset, find)[1]
            kind = entry.get("WARC-Type") if entry is not None else None
            if entry is not None and kind == "response":
                return _capture(entry, offset, most)[1]
        return _resource(path, offset, most) if kind == "resource" else None
    except (OSError, DeltaError):
        return None


_NOTED = ("Content-Type", "Content-Language", "X-Robots-Tag")
"""Fields of a reply that determine how its body is read, as noted by another crawler."""


def _resource(path: Path, offset: int, most: int) -> Capture | None:
    """Return the page of a `resource` record; the next metadata record has its headers."""
    with open_ordinary(path) as file:
        entries = iter(WarcReader(section(file, offset, file.seek(0, SEEK_END))))
        entry = next(entries)
        url = strip_brackets(entry.get("WARC-Target-URI") or "")
        if not url.startswith(("http://", "https://")):
            return None
        parts: list[bytes] = []
        while data := entry.read():
            if entry.length <= most:
                parts.append(data)
        noted = {"Content-Type": entry.get("Content-Type") or ""}
        about = next(entries, None)
        if about is not None and about.get("WARC-Concurrent-To") == entry.get("WARC-Record-ID"):
            metadata = Metadata(about)
            noted |= {name: text for name in _NOTED if (text := metadata.value(name))}
    return Capture(
        url=url,
        request=b"",
        head=b"",
        body=BytesBody(b"".join(parts)),
        status=200,
        headers=[(name.lower().encode(), text.encode()) for name, text in noted.items() if text],
        framing="length",
        payload_length=entry.length,
        payload_digest=entry.get("WARC-Payload-Digest") or "",
        began=micros(entry.get("WARC-Date")),
        truncated=entry.get("WARC-Truncated") or "",
    )


def reread(
    path: Path,
    original: Callable[[ReadCapture], Capture | None],
    find: FindBase,
    most: int = MOST,
) -> Iterator[Reread]:
    """Yield the captures over HTTP of a WARC, in order; differences that lead nowhere are left out.

    Args:
        path: The file.
        original: Finds the original of an identical-payload revisit.
        find: Finds the base of a difference.
        most: Bytes of a response that are read; a longer one has no body.
    """
    waiting: Reread | None = None
    with open_ordinary(path) as file:
        for entry in WarcReader(file):
            kind = entry.get("WARC-Type")
            if kind in ("response", "revisit"):
                waiting = _main(entry, original, most)
            elif is_delta(entry):
                waiting = _difference(entry, find)
            elif kind == "request" and waiting is not None:
                waiting.stored.add_request(entry, entry.read())
            elif kind == "metadata":
                metadata = Metadata(entry)
                waiting = waiting or _confirmation(entry, metadata, original)
                if waiting is not None and waiting.stored.is_of_url:
                    metadata.tell(waiting.stored)
                    yield waiting
                waiting = None


def _main(entry: WarcEntry, original: Callable[[ReadCapture], Capture | None], most: int) -> Reread:
    read, capture = _capture(entry, entry.offset, most)
    return _same(read, capture, original)


def _same(
    read: ReadCapture, capture: Capture, original: Callable[[ReadCapture], Capture | None]
) -> Reread:
    """What a revisit refers to, in its place; an error stays one."""
    if read.revisit is not None:
        identical = read.revisit.kind == IDENTICAL
        failed = identical and read.status >= 400
        original_capture = original(read) if identical else None
        status = read.status if failed else 304 if original_capture is None else 200
        if original_capture is not None:
            capture = structs.replace(original_capture, url=read.url, began=read.date)
        read = structs.replace(read, status=status)
        capture = structs.replace(capture, status=status)
    return Reread(read, capture)


def _confirmation(
    entry: WarcEntry, metadata: Metadata, original: Callable[[ReadCapture], Capture | None]
) -> Reread | None:
    """Return a note that confirms a stored difference; None for other records."""
    read = read_confirmation(entry, metadata)
    if read is None:
        return None
    return _same(
        read, _exchange(read, BlockFacts(http=True, block="sha1", payload="sha1"), b""), original
    )


def _difference(entry: WarcEntry, find: FindBase) -> Reread | None:
    try:
        return Reread(*_rebuilt(entry, entry.offset, find))
    except DeltaError:
        return None


def _rebuilt(entry: WarcEntry, offset: int, find: FindBase) -> tuple[ReadCapture, Capture]:
    delta = difference_of(entry).delta
    block = restore_block(delta, find)
    facts = BlockFacts(http=True, block="sha1", payload="sha1")
    facts.feed(block)
    facts.close()
    read = main_record(entry, facts, offset)
    read = structs.replace(read, url=page_url(read.url), digest=delta.payload, base=base_of(delta))
    return read, _exchange(read, facts, block)


def _capture(entry: WarcEntry, offset: int, most: int = MOST) -> tuple[ReadCapture, Capture]:
    facts = BlockFacts(http=True, block="sha1", payload="sha1")
    parts: list[bytes] = []
    while data := entry.read():
        facts.feed(data)
        if facts.length <= most:
            parts.append(data)
    facts.close()
    read = main_record(entry, facts, offset)
    return read, _exchange(read, facts, b"".join(parts), most)


def _exchange(read: ReadCapture, facts: BlockFacts, block: bytes, most: int = MOST) -> Capture:
    body = block[len(facts.head) :] if facts.length <= most else b""
    runs = list(facts.chunks.runs) if facts.chunks is not None and body else ()
    return Capture(
        url=read.url,
        request=b"",
        head=facts.head,
        body=BytesBody(body),
        status=read.status,
        headers=parse_head(facts.head).headers,
        framing="chunked" if read.chunked else "length",
        chunks=runs,
        payload_length=read.payload_length,
        payload_digest=read.digest,
        began=read.date,
        duration=read.duration,
        truncated=read.truncated,
    )
