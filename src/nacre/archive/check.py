"""Verification of WARC files: structure, fields, digests, references, and the index beside them.

`Checker` reads any number of files, so that ids and revisits are followed between them. Nothing is
changed, and memory is bounded by the number of records. Source: WARC 1.1.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from nacre.archive.block import BlockFacts, label_of, read_block
from nacre.archive.check_links import LinksCheck
from nacre.archive.check_rules import Defect, content_defects, field_defects
from nacre.archive.delta import DeltaError
from nacre.archive.fields import strip_brackets
from nacre.archive.findings import CheckFinding, Severity
from nacre.archive.index import Indexer
from nacre.archive.reader import WarcEntry, WarcReader
from nacre.archive.restoring import BaseFiles, difference_at, is_delta, restore_block
from nacre.machine.local_files import open_ordinary

_NEAR = 4096
"""Records back that a WARC-Concurrent-To is followed to compare dates."""


_BY_DIGEST = "identical-payload-digest"


class _Facts(NamedTuple):
    """Of an original: marks of its URI, date and payload digest; 0 for missing values."""

    uri: int
    date: int
    digest: int


class _Reference(NamedTuple):
    """The data of a revisit on its original, which has the id `original`; 0 for none."""

    file: str
    offset: int
    original: int
    facts: _Facts
    text: str


class References:
    """Follows ids through any number of files; about 250 bytes of memory for each record."""

    def __init__(self) -> None:
        self._ids: set[int] = set()
        self._originals: dict[int, _Facts] = {}
        self._revisits: list[_Reference] = []
        self._near: OrderedDict[int, str] = OrderedDict()
        self._warcinfos: set[int] = set()
        self._later: list[tuple[int, str, int, str]] = []

    def record(self, file: str, entry: WarcEntry) -> Iterator[Defect]:
        """Check the id of a record, and those it refers to within its capture."""
        date, kind = entry.get("WARC-Date") or "", entry.get("WARC-Type")
        own = entry.get("WARC-Record-ID")
        if own is not None:
            mark = _mark(strip_brackets(own))
            if mark in self._ids:
                yield "id-repeated", own[:80]
            self._remember(mark, entry, date)
        yield from self._concurrent(file, entry, date)
        info = entry.get("WARC-Warcinfo-ID")
        if info is not None and _mark(strip_brackets(info)) not in self._warcinfos:
            yield "warcinfo-unknown", info[:80]
        if kind == "revisit" and (reference := _reference(file, entry)):
            self._revisits.append(reference)

    def _remember(self, mark: int, entry: WarcEntry, date: str) -> None:
        kind = entry.get("WARC-Type")
        self._ids.add(mark)
        self._near[mark] = date
        if len(self._near) > _NEAR:
            self._near.popitem(last=False)
        if kind == "warcinfo":
            self._warcinfos.add(mark)
        elif kind in ("response", "resource"):
            uri = strip_brackets(entry.get("WARC-Target-URI") or "")
            digest = _digest_mark(entry.get("WARC-Payload-Digest"))
            self._originals[mark] = _Facts(_mark(uri), _mark(_instant(date)), digest)

    def _concurrent(self, file: str, entry: WarcEntry, date: str) -> Iterator[Defect]:
        for name, value in entry.fields:
            if name.lower() != "warc-concurrent-to":
                continue
            mark = _mark(strip_brackets(value))
            near = self._near.get(mark)
            if mark not in self._ids:
                self._later.append((mark, file, entry.offset, value[:80]))
            elif near is not None and near != date:
                yield "concurrent-date", f"{date}, but {near} on {value[:80]}"

    def unresolved(self) -> Iterator[tuple[str, int, str, str]]:
        """Yield references to absent or unlike records: file, offset, defect code, text."""
        for mark, file, offset, text in self._later:
            if mark not in self._ids:
                yield file, offset, "concurrent-unknown", text
        places = self._places()
        for revisit in self._revisits:
            stated = revisit.facts
            original = (
                self._originals.get(revisit.original)
                if revisit.original
                else places.get((stated.uri, stated.date))
            )
            for code in ["revisit-unresolved"] if original is None else _unlike(stated, original):
                yield revisit.file, revisit.offset, code, revisit.text

    def _places(self) -> dict[tuple[int, int], _Facts]:
        """Originals by URI and date, where a revisit gives no id."""
        if all(revisit.original for revisit in self._revisits):
            return {}
        return {(facts.uri, facts.date): facts for facts in self._originals.values()}


def _instant(date: str) -> str:
    """A date without the zeros at the end of its fraction: the same text for the same instant."""
    whole, dot, fraction = date.removesuffix("Z").partition(".")
    return f"{whole}{dot}{fraction}".rstrip("0").rstrip(".") if dot else whole


def _unlike(stated: _Facts, original: _Facts) -> Iterator[str]:
    if stated.uri and stated.uri != original.uri:
        yield "revisit-uri"
    if stated.date and stated.date != original.date:
        yield "revisit-date"
    comparable = stated.digest and (stated.digest ^ original.digest) & _SHAPE == 0
    if comparable and stated.digest != original.digest:
        yield "revisit-digest"


def _reference(file: str, entry: WarcEntry) -> _Reference | None:
    """Return the data of a revisit; None when they are not enough to find the original."""
    refers = entry.get("WARC-Refers-To")
    uri, date = entry.get("WARC-Refers-To-Target-URI"), entry.get("WARC-Refers-To-Date")
    if refers is None and (uri is None or date is None):
        return None
    same = _BY_DIGEST in (entry.get("WARC-Profile") or "")
    return _Reference(
        file,
        entry.offset,
        0 if refers is None else _mark(strip_brackets(refers)),
        _Facts(
            0 if uri is None else _mark(strip_brackets(uri)),
            0 if date is None else _mark(_instant(date)),
            _digest_mark(entry.get("WARC-Payload-Digest")) if same else 0,
        ),
        (refers or f"{uri} of {date}")[:80],
    )


_SHAPE = 0xFFFF


def _digest_mark(text: str | None) -> int:
    """Return a mark whose last two bytes represent the algorithm and the base; 0 for no digest."""
    if text is None:
        return 0
    value = text.partition(":")[2].lower().rstrip("=")
    shape = _mark(f"{label_of(text)} {len(value)}") & _SHAPE
    return _mark(value) & ~_SHAPE | shape


def _mark(text: str) -> int:
    """Eight bytes that represent a text."""
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big")


MOST = 1000
"""Findings kept of one code; the rest are only counted."""


class CheckSummary:
    """The result of a check.

    Attributes:
        files: Files read.
        bytes: Their size.
        records: Records by type.
        digests: Digests that were compared.
        decoded: Payload digests of chunked bodies over the decoded payload, as in the standard.
        wire: Those over the bytes with their chunked coding.
        rebuilt: Replies stored as differences that were rebuilt to their digests.
        links: Records whose outlinks were found in the record that they refer to.
        findings: Findings by code, those that were not kept too.
    """

    def __init__(self) -> None:
        self.files = 0
        self.bytes = 0
        self.records: Counter[str] = Counter()
        self.digests = 0
        self.decoded = 0
        self.wire = 0
        self.rebuilt = 0
        self.links = 0
        self.findings: Counter[str] = Counter()


class Checker:
    """Checks files one after another; call `finish` at the end.

    Attributes:
        summary: Counts so far.
        findings: What was found so far, in order; at most `MOST` of a code.
    """

    def __init__(self) -> None:
        self.summary = CheckSummary()
        self.findings: list[CheckFinding] = []
        self._references = References()
        self._bases = BaseFiles()
        self._deltas: list[tuple[Path, int]] = []
        self._links = LinksCheck()

    @property
    def damaged(self) -> bool:
        """An error was found (warnings and notes do not count)."""
        return any(finding.severity == Severity.ERROR for finding in self.findings)

    def file(self, path: Path, index: Path | None = None, committed: int | None = None) -> None:
        """Check a file, and its index against it.

        Args:
            path: A WARC, plain or compressed; it may be open still (`.open`).
            index: Its CDXJ; None when there is none to compare.
            committed: Bytes of an open file that must be whole; None: all of them.
        """
        self.summary.files += 1
        self._bases.add(path)
        self._links.add(path)
        try:
            lines = _FileCheck(self, path, committed).run()
            if index is not None:
                self._index(index, lines)
        except OSError as error:
            self.note(str(error.filename or path), 0, "unreadable", error.strerror or str(error))

    def finish(self) -> list[CheckFinding]:
        """Resolve references between files; return all findings."""
        for file, offset, code, message in self._references.unresolved():
            self.note(file, offset, code, message)
        for path, at in self._deltas:
            self._rebuild(path, at)
        self._deltas.clear()
        for file, offset, code, message in self._links.finish():
            self.note(file, offset, code, message)
        self.summary.links = self._links.count
        return self.findings

    def _rebuild(self, path: Path, offset: int) -> None:
        """Check a difference by rebuilding its reply."""
        try:
            restore_block(difference_at(path, offset).delta, self._bases.block)
        except DeltaError as error:
            self.note(str(path), offset, error.code, str(error))
        else:
            self.summary.rebuilt += 1

    def note(self, file: str, offset: int, code: str, message: str) -> None:
        """Take a finding."""
        self.summary.findings[code] += 1
        if self.summary.findings[code] <= MOST:
            self.findings.append(CheckFinding(file, offset, code, message))

    def refer(self, path: Path, entry: WarcEntry, facts: BlockFacts) -> None:
        """Record the ids and references of a record."""
        file = str(path)
        for code, message in self._references.record(file, entry):
            self.note(file, entry.offset, code, message)
        if is_delta(entry) and not entry.left:
            self._deltas.append((path, entry.offset))
        for code, message in self._links.record(path, entry, facts.start):
            self.note(file, entry.offset, code, message)

    def _index(self, path: Path, lines: dict[bytes, int]) -> None:
        """Compare an index with the lines that the WARC's content gives."""
        is_open = path.suffix == ".open"
        previous, offset, indexed = b"", 0, set()
        with open_ordinary(path) as file:
            for line in file:
                mark = line_mark(line)
                indexed.add(mark)
                if mark not in lines and (line.endswith(b"\n") or not is_open):
                    self.note(str(path), offset, "index-extra", _excerpt(line))
                if not is_open and line[:-1] < previous:
                    self.note(str(path), offset, "index-order", _excerpt(line))
                previous = line[:-1]
                offset += len(line)
        missing = [offset for mark, offset in lines.items() if mark not in indexed]
        if is_open and missing:
            # They are in the commits, and are written after them.
            self.note(str(path), missing[0], "index-behind", f"{len(missing)} lines")
            return
        for offset in missing:
            self.note(str(path), offset, "index-missing", f"the record at {offset}")


class _FileCheck:
    """One file."""

    def __init__(self, checker: Checker, path: Path, committed: int | None) -> None:
        self._checker = checker
        self._path = path
        self._committed = committed
        self._told = False
        self._name = path.name.removesuffix(".open")
        self._file = str(path)
        self._indexer = Indexer(self._name)
        self._header = b""
        self._own = False
        self._lines: dict[bytes, int] = {}

    def run(self) -> dict[bytes, int]:
        """Check it; marks of its index lines with the offsets of their records."""
        summary = self._checker.summary
        with open_ordinary(self._path) as file:
            reader = WarcReader(file, self._note)
            self._suffix(compressed=reader.compressed)
            count = 0
            for count, entry in enumerate(reader, 1):
                if count == 1 and entry.get("WARC-Type") != "warcinfo":
                    self._note("warcinfo-missing", entry.offset, "no warcinfo at its beginning")
                self._add_index_lines(self._indexer.add(entry, self._record(entry)))
            self._add_index_lines(self._indexer.close())
            summary.bytes += file.seek(0, 2)
        if not count:
            self._note("empty", 0, "no record in the file")
        return self._lines

    def _note(self, code: str, offset: int, message: str) -> None:
        if self._committed is None or offset < self._committed:
            self._checker.note(self._file, offset, code, message)
        elif not self._told:
            self._told = True
            self._checker.note(self._file, offset, "uncommitted", f"{code}: {message}")

    def _suffix(self, *, compressed: bool) -> None:
        if self._name.endswith(".warc") and compressed:
            self._note("name-suffix", 0, "compressed, but not named .gz")
        elif self._name.endswith(".gz") and not compressed:
            self._note("name-suffix", 0, "named .gz, but not compressed")

    def _record(self, entry: WarcEntry) -> BlockFacts:
        summary, kind = self._checker.summary, entry.get("WARC-Type") or "?"
        summary.records[kind] += 1
        for code, message in field_defects(entry):
            self._note(code, entry.offset, message)
        facts = read_block(entry)
        if kind == "warcinfo":
            self._own, self._header = facts.start.startswith(b"software: Nacre"), b""
        self._gzip_header(entry)
        for code, message in content_defects(entry, facts, summary):
            self._note(code, entry.offset, message)
        self._checker.refer(self._path, entry, facts)
        return facts

    def _gzip_header(self, entry: WarcEntry) -> None:
        """The members of one writer have one kind of header; no checksum covers it."""
        header = entry.gzip_header
        look = bytes((header[3] & 1, any(header[4:8]), *header[8:10])) if header else b""
        if look != (self._header or look):
            code = "gzip-changed" if self._own else "gzip-header"
            self._note(code, entry.offset, f"{header.hex(' ')} is unlike those before")
        self._header = self._header or look

    def _add_index_lines(self, lines: list[tuple[bytes, int]]) -> None:
        for line, offset in lines:
            self._lines[line_mark(line)] = offset


def line_mark(line: bytes) -> bytes:
    """Return a short hash of an index line, so that many can be remembered."""
    return blake2b(line, digest_size=16).digest()


def _excerpt(line: bytes) -> str:
    return strip_brackets(line[:160].decode("utf-8", "replace").strip())
