"""WARC files: named by a template, rotated by size, each begun with its warcinfo record.

Every file has an index in the same folder. All bytes go through `Files`, in one synchronous step
with the rows of the visit, so that they become durable together (docs/internals.md, "Durability").
A record is one gzip member (WARC 1.1 annex D), or plain. isal at level 1 gives 540 MB/s, eight
times zlib, for a few per cent more bytes; it releases the GIL, so that packing may run in a thread.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import BinaryIO, NamedTuple, Protocol

import msgspec
from isal import isal_zlib
from msgspec import structs

from nacre.archive.certificates import StoredChain
from nacre.archive.fields import date_digits
from nacre.archive.index import index_line
from nacre.archive.record import WarcRecord, chain_record, warcinfo_record
from nacre.archive.settings import WarcSettings, file_name
from nacre.core.capture import Body
from nacre.core.clock import Clock
from nacre.store.files import FileKind

GZIP = 31
"""zlib's `wbits` for a gzip member."""

TRAILER = b"\r\n\r\n"
CHUNK = 1 << 20

PLAIN = -1
"""Level of a file that is not compressed."""


def pack(record: WarcRecord, level: int) -> bytes:
    """Return the complete bytes of the record in the file; for records that fit in memory.

    Args:
        record: The record.
        level: 0 to 3 of isal, or `PLAIN`.
    """
    body = record.body
    body_bytes = b"" if body is None else body.read(0, body.length)
    data = b"".join((record.head, record.prefix, body_bytes, TRAILER))
    return data if level == PLAIN else isal_zlib.compress(data, level, GZIP)


def pack_chunks(record: WarcRecord, level: int) -> Iterator[bytes]:
    """Yield the same in chunks of at most about 1 MB, for bodies of any size."""
    if level == PLAIN:
        yield from _plain(record)
        return
    gzip = isal_zlib.compressobj(level, isal_zlib.DEFLATED, GZIP)
    for data in _plain(record):
        packed = gzip.compress(data)
        if packed:
            yield packed
    yield gzip.flush()


def _plain(record: WarcRecord) -> Iterator[bytes]:
    yield record.head + record.prefix
    body = record.body
    if body is not None:
        for offset in range(0, body.length, CHUNK):
            yield body.read(offset, CHUNK)
    yield TRAILER


CONFORMS = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
OPEN = ".open"


class Files(Protocol):
    """The store's files, as the writer uses them. No call waits for the disk."""

    def create_file(self, kind: FileKind, path: str) -> int:
        """Make a new file, relative to the job; its number."""
        ...

    def append(self, number: int, data: bytes | Body) -> int:
        """Append bytes to a WARC in the open commit group; return their offset."""
        ...

    def line(self, number: int, text: bytes) -> None:
        """Add a line, with its newline, to the open group for an index."""
        ...

    def size(self, number: int) -> int:
        """Size of a file with all that was appended, bytes."""
        ...

    def close_file(self, number: int, final: str) -> None:
        """Close it with the open group, under its final name; an index is sorted then."""
        ...


class RecordNumbers(Protocol):
    """Gives serial numbers and record ids, none of them twice."""

    def serial(self) -> int:
        """Serial number of the next file; the counter survives restarts."""
        ...

    def record_id(self) -> bytes:
        """16 fresh bytes for a record id."""
        ...


class WarcOrigin(msgspec.Struct, frozen=True):
    """The crawler, for file names and warcinfo. Empty texts and 0 are left out of warcinfo.

    Attributes:
        software: Name and version.
        hostname: Name of this machine.
        ip: Its address.
        pid: Process id, for file names.
        port: Port of the console, for file names; 0 for none.
        is_part_of: Name of the job.
        created: When the job was made, as text.
        robots: Robots policy: `obey`, `ignore`, `custom`.
        user_agent: User-Agent header sent.
        http_from: From header sent.
        browser: Name and version of the browser that opened pages; "" until the first page.
        browser_flags: The flags of its command line, in warcinfo beside its name.
        browser_scripts: Names and digests of the site scripts, in warcinfo beside its name.
        run: Directory of the run, relative to the job; not in warcinfo.
        series: Added to the prefix, such as `large`; not in warcinfo.
    """

    software: str
    hostname: str
    ip: str = ""
    pid: int = 0
    port: int = 0
    is_part_of: str = ""
    created: str = ""
    robots: str = ""
    user_agent: str = ""
    http_from: str = ""
    browser: str = ""
    browser_flags: str = ""
    browser_scripts: str = ""
    run: str = ""
    series: str = ""


class Written(NamedTuple):
    """The place of a record.

    Attributes:
        file: Number of the WARC in the store's file table.
        name: File name that the WARC will have once closed.
        offset: Offset of its gzip member, or of the record in a plain file, bytes.
        length: Bytes that it takes in the file.
        record: The record.
    """

    file: int
    name: str
    offset: int
    length: int
    record: WarcRecord


class _Segment(NamedTuple):
    """The file that is being written, its index, and the certificate chains that it has."""

    warc: int
    cdxj: int
    directory: str
    stem: str
    name: str
    chains: set[str]


class WarcWriter:
    """Writes records into the current file of one series.

    Args:
        settings: Sizes, names, compression.
        origin: The writing software and host.
        files: The store's files.
        clock: For the time in file names.
        numbers: Serial numbers and ids.
        total: Bytes that earlier processes wrote in this run.

    Attributes:
        settings: The settings in force; assign others to change a running writer.
        origin: The data of the warcinfo of the next file; may be replaced too.
        total: Bytes of WARC written in this run.
        plain: Bytes that the records of this writer had before they were compressed.
    """

    def __init__(
        self,
        settings: WarcSettings,
        origin: WarcOrigin,
        files: Files,
        clock: Clock,
        numbers: RecordNumbers,
        total: int = 0,
    ) -> None:
        self.settings = settings
        self.origin = origin
        self._files = files
        self._clock = clock
        self._numbers = numbers
        self._segment: _Segment | None = None
        self._opened = 0
        self._latest = 0.0
        self.total = total
        self.plain = 0

    def configure(self, settings: WarcSettings, origin: WarcOrigin) -> None:
        """Replace the settings, from the next record on; for the warcinfo, from the next file."""
        self.settings = settings
        self.origin = origin

    def name_browser(self, browser: str) -> None:
        """Note the browser that opens pages, for the warcinfo of the files that begin from now."""
        if browser and browser != self.origin.browser:
            self.origin = structs.replace(self.origin, browser=browser)

    @property
    def level(self) -> int:
        """Level for `member.pack`."""
        return self.settings.level if self.settings.compress else PLAIN

    @property
    def full(self) -> bool:
        """Whether the limit of the run's WARC bytes is reached; bytes written later still count."""
        return 0 < self.settings.max_total <= self.total

    def write(
        self,
        records: Sequence[WarcRecord],
        members: Sequence[bytes | Body | None] | None = None,
        chain: StoredChain | None = None,
    ) -> list[Written]:
        """Append the records of one capture to one file, and their index lines.

        Args:
            records: The records, in order.
            members: Their bytes in the file, when `member.pack` made them elsewhere already (in a
                thread, or in a spool for large ones); None for each that is to be made here, or
                for all of them.
            chain: The certificate chain that they refer to, which is written in front of them if
                the file does not have it; None for none.

        Raises:
            StorageError: A new file could not be made.
        """
        segment = self._current()
        if chain is not None and chain.uri not in segment.chains:
            self._append_chain(segment, chain, records[0].date)
        self._latest = self._clock.monotonic()
        level = self.level
        return [
            self._append(segment, record, pack(record, level) if member is None else member)
            for record, member in zip(records, members or [None] * len(records), strict=True)
        ]

    def rotate(self) -> None:
        """Close the current file; the next capture begins a new one. Nothing open: no effect."""
        segment, self._segment = self._segment, None
        if segment is None:
            return
        final = f"{segment.directory}/{segment.name}"
        self._files.close_file(segment.warc, final)
        self._files.close_file(segment.cdxj, f"{segment.directory}/{segment.stem}.cdxj")

    def rotate_idle(self) -> None:
        """`rotate`, if the latest capture is older than the settings allow a file that waits."""
        limit = self.settings.close_idle
        if limit and self._segment and self._clock.monotonic() - self._latest >= limit:
            self.rotate()

    def _current(self) -> _Segment:
        segment = self._segment
        if segment and self._files.size(segment.warc) >= self.settings.max_file_size:
            self.rotate()
            segment = None
        return segment or self._open()

    def _open(self) -> _Segment:
        now = round(self._clock.now() * 1_000_000)
        stem = file_name(self.settings.template, self._values(now))
        name = stem + (".warc.gz" if self.settings.compress else ".warc")
        directories = self.settings.directories
        directory = str(
            PurePosixPath(self.origin.run, directories[self._opened % len(directories)])
        )
        warc = self._files.create_file(FileKind.WARC, f"{directory}/{name}{OPEN}")
        cdxj = self._files.create_file(FileKind.INDEX, f"{directory}/{stem}.cdxj{OPEN}")
        self._opened += 1
        self._segment = segment = _Segment(warc, cdxj, directory, stem, name, set())
        info = warcinfo_record(
            self._numbers.record_id(), now, name, self._warcinfo(), self.settings.date_digits
        )
        self._append(segment, info, pack(info, self.level))
        return segment

    def _append_chain(self, segment: _Segment, chain: StoredChain, date: int) -> None:
        number, digits = self._numbers.record_id(), self.settings.date_digits
        record = chain_record(chain, number, date, digits)
        self._append(segment, record, pack(record, self.level))
        segment.chains.add(chain.uri)

    def _append(self, segment: _Segment, record: WarcRecord, member: bytes | Body) -> Written:
        length = len(member) if isinstance(member, bytes) else member.length
        offset = self._files.append(segment.warc, member)
        self.total += length
        self.plain += len(record.head) + record.length + len(TRAILER)
        # Indexers count a record of a plain file without the blank lines after it.
        indexed = length if self.settings.compress else length - len(TRAILER)
        line = index_line(record, segment.name, offset, indexed)
        if line:
            self._files.line(segment.cdxj, line)
        return Written(segment.warc, segment.name, offset, length, record)

    def _values(self, now: int) -> dict[str, str]:
        digits = date_digits(now)
        return {
            "prefix": "-".join(filter(None, (self.settings.prefix, self.origin.series))),
            "timestamp17": digits[:17],
            "timestamp14": digits[:14],
            "serialno": f"{self._numbers.serial():05d}",
            "hostname": self.origin.hostname,
            "pid": str(self.origin.pid),
            "port": str(self.origin.port),
            "unit": self.settings.unit,
        }

    def _warcinfo(self) -> list[tuple[str, str]]:
        origin, settings = self.origin, self.settings
        return [
            ("software", origin.software),
            ("ip", origin.ip),
            ("hostname", origin.hostname),
            ("format", "WARC File Format 1.1"),
            ("conformsTo", CONFORMS),
            ("operator", settings.operator),
            ("publisher", settings.publisher),
            ("audience", settings.audience),
            ("isPartOf", origin.is_part_of),
            ("created", origin.created),
            ("description", settings.description),
            ("robots", origin.robots),
            ("http-header-user-agent", origin.user_agent),
            ("http-header-from", origin.http_from),
            ("browser", origin.browser),
            ("browser-flags", origin.browser_flags if origin.browser else ""),
            ("browser-scripts", origin.browser_scripts if origin.browser else ""),
        ]


class PackedMember:
    """A `Body` over a file that holds one member; closing it closes the file.

    Attributes:
        length: Bytes of the member.
    """

    def __init__(self, file: BinaryIO, length: int) -> None:
        self.length = length
        self._file = file

    def read(self, offset: int, size: int) -> bytes:
        """See `Body.read`; may be called from any thread."""
        length = min(size, self.length - offset)
        return os.pread(self._file.fileno(), length, offset) if length > 0 else b""

    def close(self) -> None:
        """See `Body.close`."""
        self._file.close()


def pack_to_file(record: WarcRecord, level: int, file: BinaryIO) -> PackedMember:
    """Compress a record into an empty file, 1 MB at a time; may run in a thread.

    The writer then appends the finished member like any other, so that a large record too becomes
    durable whole, in one step with its rows.

    Args:
        record: The record; its body is left open.
        level: As for `member.pack`.
        file: An unnamed temporary file, open for reading and writing; the result owns it.

    Raises:
        OSError: The file cannot be written; it is left to the caller.
    """
    length = 0
    for chunk in pack_chunks(record, level):
        file.write(chunk)
        length += len(chunk)
    file.flush()
    return PackedMember(file, length)
