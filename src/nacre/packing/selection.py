"""A selection of captures as WARC files: records of each capture together, revisits with originals.

Records are copied as they are in the archive, with their request and metadata records; differences
are expanded. A revisit is resolved into a response (`packing.records`), or copied; those whose
original is left out are reported. Memory is bounded: the captures are sorted in files, and one WARC
is open at a time. What is damaged is left out and reported.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import blake2b
from json.encoder import encode_basestring_ascii as quoted
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from nacre.archive.certificates import CHAIN_FIELD, CHAIN_URN
from nacre.archive.delta import DeltaError, read_delta
from nacre.archive.expanded import response_record
from nacre.archive.fields import micros, second_digits, strip_brackets
from nacre.archive.index_facts import PostQuery
from nacre.archive.link_files import LinkFiles, reference_of
from nacre.archive.link_reference import LONGEST, LinksError, with_links
from nacre.archive.record import NOT_MODIFIED, WarcRecord
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import Holding, WarcPlace
from nacre.catalogue.lookup import CaptureIndex
from nacre.packing.records import (
    NewRecord,
    origin_record,
    renamed_record,
    resolve_reply,
    resolved_response,
)
from nacre.packing.sorted_lines import SortedLines
from nacre.packing.sources import HoldingLines
from nacre.packing.warc_output import OutputPlace, WarcOutput
from nacre.packing.windows import RecordWindow, WindowReader, WindowRecord
from nacre.replay.originals import Originals, digest_value
from nacre.replay.records import ReplayError, StoredRecord, read_record
from nacre.uri.surt import index_key

SAMPLES: Final = 100
"""Captures that a report names of each kind."""

_CHAIN: Final = f"{CHAIN_FIELD}: ".encode()
_WRITTEN: Final = b"0"
_REVISIT: Final = b"1"
_decode = msgspec.json.Decoder(IndexedCapture).decode
_encode = msgspec.json.Encoder().encode


class WrittenCapture(NamedTuple):
    """A capture that was written.

    Attributes:
        capture: As an index of its new file has it.
        digest: `sha256:` and the digest of its record as stored.
        place: The WARC that has its content.
        content: The capture there.
    """

    capture: IndexedCapture
    digest: str
    place: WarcPlace
    content: IndexedCapture


class _Target(NamedTuple):
    """What a revisit refers to.

    Attributes:
        key: Its key in the index.
        timestamp: Its time, 14 digits.
        digest: Digest of its payload in base 16, which tells pages with the same key and second
            apart, such as those of http and https; b"" if unknown.
    """

    key: str
    timestamp: str
    digest: bytes


class SelectionReport(msgspec.Struct, kw_only=True):
    """The contents of a selection.

    Attributes:
        captures: Captures that were written.
        resolved: Revisits that became responses.
        expanded: Differences that became responses.
        originals: Captures that were added because a revisit refers to them.
        left_out: Revisits whose original is not in the selection.
        damaged: Captures that were left out because they cannot be read.
        left_out_samples: The first of them: time, URL, and the original.
        damaged_samples: The first of them, with the reason.
    """

    captures: int = 0
    resolved: int = 0
    expanded: int = 0
    originals: int = 0
    left_out: int = 0
    damaged: int = 0
    left_out_samples: list[str] = []
    damaged_samples: list[str] = []

    def leave_out(self, revisit: IndexedCapture, original: str) -> None:
        """Note a revisit whose original is not in the selection."""
        self.left_out += 1
        if len(self.left_out_samples) < SAMPLES:
            self.left_out_samples.append(f"{revisit.timestamp} {revisit.url} -> {original}")

    def note_damage(self, capture: IndexedCapture, reason: str) -> None:
        """Note a capture that cannot be read."""
        self.damaged += 1
        if len(self.damaged_samples) < SAMPLES:
            self.damaged_samples.append(f"{capture.timestamp} {capture.url}: {reason}")


class SelectionSource(NamedTuple):
    """The source of a selection, and the form of its revisits.

    Attributes:
        holding: The holding.
        lookup: Its index.
        scratch: A folder for temporary files.
        resolve: Revisits become responses; else they are copied.
        with_originals: The originals of copied revisits are added.
        with_warcinfo: The descriptions of the WARCs are copied.
    """

    holding: Holding
    lookup: CaptureIndex
    scratch: Path
    resolve: bool = True
    with_originals: bool = False
    with_warcinfo: bool = True


class SelectionWriter:
    """Writes the records of captures.

    Args:
        source: Where they come from.
        output: Where they are written; the caller closes it.
        listen: Receives each capture that was written.
        tell: Receives the bytes of each capture when it was written.
    """

    def __init__(
        self,
        source: SelectionSource,
        output: WarcOutput,
        listen: Callable[[WrittenCapture], None],
        tell: Callable[[int], None],
    ) -> None:
        self._source = source
        self._output = output
        self._listen = listen
        self._tell = tell
        self._originals = Originals(source.holding, source.lookup)
        self._lines = HoldingLines(source.holding, source.scratch)
        self._window: WindowReader | None = None
        self._seen_warcs: set[tuple[int, str]] = set()
        self._links: LinkFiles | None = None
        self._references = SortedLines(source.scratch, "references")
        self._chains: dict[str, bool] = {}
        self.report = SelectionReport()

    def write(self, captures: Iterable[IndexedCapture]) -> SelectionReport:
        """Write the captures, in the order of their WARCs.

        Args:
            captures: In any order; one that comes twice is written once.

        Raises:
            OSError: A file cannot be read or written.
        """
        try:
            with SortedLines(self._source.scratch, "selection") as lines:
                for capture in captures:
                    lines.add(_sort_line(capture))
                for line in lines:
                    self._write(_decode(line.partition(b"\0")[2]))
            self._add_originals()
            self._add_chains()
        finally:
            self._references.close()
            self._lines.close()
            self._close_window()
        return self.report

    # ---- a capture

    def _write(self, capture: IndexedCapture) -> None:
        try:
            self._write_capture(capture)
        except ReplayError as error:
            self.report.note_damage(capture, str(error))
        self._tell(capture.length)

    def _write_capture(self, capture: IndexedCapture) -> None:
        record = read_record(self._source.holding, capture)
        window = self._records_around(capture)
        self._output.begin_capture()
        self._copy_warcinfo(capture)
        if capture.is_delta:
            self._write_difference(window, capture, record)
        elif capture.is_revisit:
            self._write_revisit(window, capture, record)
        else:
            self._write_as_stored(window, capture)
        self.report.captures += 1

    def _write_as_stored(self, window: RecordWindow, capture: IndexedCapture) -> None:
        """Copy the records of a capture."""
        own = self._copy(window.record)
        self._written(capture, own, window.place, capture)
        for companion in window.companions:
            self._copy_companion(companion, {})

    def _write_revisit(
        self, window: RecordWindow, capture: IndexedCapture, record: StoredRecord
    ) -> None:
        original = self._originals.find(record) if self._source.resolve else None
        if original is None or original.record.type != "response":
            self._note_reference(capture, record)
            self._write_as_stored(window, capture)
            return
        reply = resolve_reply(record, original)
        new = resolved_response(record, reply, _post_of(capture))
        own = self._write_new(new)
        place = self._source.holding.warc(original.capture.member, original.capture.warc)
        self._written(capture, own, place or window.place, original.capture, new.record)
        self._write_new(origin_record(record, original))
        for companion in window.companions:
            self._copy_companion(companion, {record.id: new.record.id})
        self.report.resolved += 1

    def _write_difference(
        self, window: RecordWindow, capture: IndexedCapture, record: StoredRecord
    ) -> None:
        block = b"".join(self._originals.restored(record).block.pieces())
        base = strip_brackets(record.get("WARC-Refers-To"))
        try:
            delta = read_delta(b"".join(record.block.pieces()), base)
        except DeltaError as error:
            raise ReplayError(error.code, str(error)) from error
        new = response_record(window.record.entry, delta, block)
        new.post = _post_of(capture)
        own = self._write_new(NewRecord(new))
        self._written(capture, own, window.place, capture, new)
        for companion in window.companions:
            self._copy_companion(companion, {record.id: new.id})
        self.report.expanded += 1

    def _written(
        self,
        capture: IndexedCapture,
        own: OutputPlace,
        place: WarcPlace,
        content: IndexedCapture,
        record: WarcRecord | None = None,
    ) -> None:
        """Report a record that was written for a capture; `record` if it was made for it."""
        if capture.url.startswith(CHAIN_URN):
            self._chains[capture.url] = True
        line = capture._replace(warc=own.name, offset=own.offset, length=own.length)
        if record is not None:
            status = record.status or ""
            line = line._replace(
                mime=record.mime or "", digest=record.digest,
                status=int(status) if status.isdecimal() and len(status) < 4 else 0,
            )  # fmt: skip
        if not self._source.resolve and not capture.is_revisit:
            self._references.add(_written_line(line))
        self._listen(WrittenCapture(line, own.digest, place, content))

    # ---- records

    def _records_around(self, capture: IndexedCapture) -> RecordWindow:
        """Return the record of a capture, and those that belong to it.

        Raises:
            ReplayError: They cannot be read.
        """
        window = self._window
        if window is None or not window.is_of(capture):
            self._close_window()
            place = self._source.holding.warc(capture.member, capture.warc)
            if place is None:
                raise ReplayError("missing-file", f"{capture.warc} is not there")
            lines = self._lines.of(place, capture.member)
            self._window = window = WindowReader(place, capture, lines)
        return window.around(capture)

    def _close_window(self) -> None:
        if self._window is not None:
            self._window.close()
            self._window = None

    def _copy_warcinfo(self, capture: IndexedCapture) -> None:
        """Copy the description of a WARC before the first of its captures."""
        name = (capture.member, capture.warc)
        if name in self._seen_warcs or self._window is None or not self._source.with_warcinfo:
            return
        self._seen_warcs.add(name)
        info = self._window.warcinfo()
        if info is not None:
            self._copy(info)

    def _copy(self, record: WindowRecord) -> OutputPlace:
        window = self._window
        if window is None:
            raise RuntimeError("no WARC is open")
        pieces, is_packed = window.stored(record)
        return self._output.write(pieces, is_packed=is_packed)

    def _copy_companion(self, companion: WindowRecord, names: dict[str, str]) -> None:
        """Copy a record that belongs to a capture; one that refers to outlinks gets them.

        Args:
            companion: The record.
            names: The new id of the record of the capture, by its old one; {} if it was copied.
        """
        window, entry = self._window, companion.entry
        if window is None or entry.length > LONGEST:
            self._copy(companion)
            return
        block = window.block(companion)
        self._note_chain(block)
        reference = reference_of(entry, block)
        whole = block
        if reference is not None:
            with suppress(LinksError):
                whole = with_links(block, self._link_files().lines(reference))
        if names or whole is not block:
            self._write_new(renamed_record(entry.fields, whole, names, entry.version))
        else:
            self._copy(companion)

    def _note_chain(self, block: bytes) -> None:
        """Note that a metadata record refers to a certificate chain."""
        if _CHAIN in block:
            uri = block.partition(_CHAIN)[2].partition(b"\r\n")[0].decode("ascii", "replace")
            if uri.startswith(CHAIN_URN):
                self._chains.setdefault(uri, False)

    def _add_chains(self) -> None:
        """Write the certificate chains that metadata records refer to."""
        for uri in [uri for uri, is_written in self._chains.items() if not is_written]:
            for capture in self._source.lookup.exact(index_key(uri))[:1]:
                self._write(capture)

    def _link_files(self) -> LinkFiles:
        if self._links is None:
            members = self._source.holding.members
            places = (place for member in members for place in member.warcs())
            self._links = LinkFiles(place.path for place in places if not place.start)
        return self._links

    def _write_new(self, new: NewRecord) -> OutputPlace:
        try:
            return self._output.write(new.pieces(), is_packed=False)
        except ReplayError as error:  # it could be read before
            raise OSError(f"a WARC was changed while it was read: {error}") from error

    # ---- originals

    def _note_reference(self, capture: IndexedCapture, record: StoredRecord) -> None:
        """Note what a copied revisit refers to."""
        if self._source.resolve:
            self.report.leave_out(capture, _describe(record))
            return
        target = self._target(capture, record)
        if target is None:
            self.report.leave_out(capture, _describe(record))
            return
        self._references.add(
            b" ".join((_reference(target), _REVISIT, target.digest, _encode(capture)))
        )
        if (target.key, target.timestamp) != (capture.key, capture.timestamp):
            self._references.add(_written_line(capture))  # else it would be its own original

    def _target(self, capture: IndexedCapture, record: StoredRecord) -> _Target | None:
        """Return what a revisit refers to; None if that is not known, or damaged."""
        url, date = record.get("WARC-Refers-To-Target-URI"), record.get("WARC-Refers-To-Date")
        if url and micros(date):
            plain = strip_brackets(url)
            key = capture.key if plain == capture.url else index_key(plain).replace(" ", "%20")
            is_same = not record.get("WARC-Profile").endswith(NOT_MODIFIED)
            digest = record.get("WARC-Payload-Digest") if is_same else ""
            return _Target(key, second_digits(micros(date)), _hex(digest))
        try:
            original = self._originals.find(record)
        except ReplayError:  # it is there, and damaged: the revisit can be copied
            return None
        return _target_of(original.capture) if original else None

    def _add_originals(self) -> None:
        """Report the copied revisits whose originals were not written, or write these."""
        missing = SortedLines(self._source.scratch, "originals")
        with missing:
            for revisit in self._unanswered():
                record = read_record(self._source.holding, revisit)
                original = None
                if self._source.with_originals:
                    with suppress(ReplayError):  # it is there, and damaged
                        original = self._originals.find(record)
                if original is None:
                    self.report.leave_out(revisit, _describe(record))
                else:
                    missing.add(_sort_line(original.capture))
            for line in missing:
                self._write(_decode(line.partition(b"\0")[2]))
                self.report.originals += 1

    def _unanswered(self) -> Iterator[IndexedCapture]:
        """Yield the revisits whose original is not among the captures that were written."""
        name, digests, sizes = b"", set[bytes](), set[int]()
        for line in self._references:
            its_name, kind, digest, revisit = line.split(b" ", 3)
            if its_name != name:
                name, digests, sizes = its_name, set(), set()
            if kind == _WRITTEN:  # these come first
                digests.add(digest)
                sizes.add(len(digest))
            elif not digests or (digest and digest not in digests and sizes == {len(digest)}):
                yield _decode(revisit)


def _sort_line(capture: IndexedCapture) -> bytes:
    place = f"{capture.member:06d} {quoted(capture.warc)} {capture.offset:020d}\0"
    return place.encode() + _encode(capture)


def _reference(target: _Target) -> bytes:
    name = f"{target.key} {target.timestamp}".encode("utf-8", "replace")
    return blake2b(name, digest_size=16).hexdigest().encode()


def _target_of(capture: IndexedCapture) -> _Target:
    return _Target(capture.key, capture.timestamp, _hex(capture.digest))


def _written_line(capture: IndexedCapture) -> bytes:
    target = _target_of(capture)
    return b" ".join((_reference(target), _WRITTEN, target.digest, b""))


def _hex(digest: str) -> bytes:
    return digest_value(digest).hex().encode()


def _describe(record: StoredRecord) -> str:
    words = (record.get("WARC-Refers-To-Date"), record.get("WARC-Refers-To-Target-URI"))
    return " ".join(filter(None, words)) or record.get("WARC-Payload-Digest") or "unknown"


def _post_of(capture: IndexedCapture) -> PostQuery | None:
    return PostQuery(capture.method, capture.query) if capture.method else None
