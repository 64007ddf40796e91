"""WARC and WACZ files of any crawler, made ready for look-up.

Their index is used where it is if it is sorted and has the keys of Nacre. Otherwise a sorted one is
made in the cache of the user, from that index or from the records. All of this happens once for a
file of a path, size and time.
"""

import fcntl
import gzip
import hashlib
import json
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from nacre.archive.index import index_of, index_records
from nacre.archive.source import MAGIC, section
from nacre.catalogue.captures import LONGEST_LINE, normal_line
from nacre.catalogue.index_files import SORTED, ZIPNUM, FilePart, IndexPlace, all_lines
from nacre.catalogue.sorting import IndexSample, LineSorter
from nacre.catalogue.wacz import (
    ARCHIVE,
    INDEXES,
    Progress,
    WaczContents,
    ZipPart,
    is_warc,
    multi_error,
    part_chunks,
    read_wacz,
)
from nacre.errors import JobError
from nacre.machine.local_files import make_private, open_ordinary, replace_file
from nacre.messages import Message, message, pack, plural, unpack
from nacre.store.disk import failure

_FORMAT: Final = 1
_READY: Final = "ready.json"
_INDEX: Final = "index.cdxj"
_ZIP_STARTS: Final = (b"PK\3\4", b"PK\5\6", b"PK\6\6")
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_ARC: Final = b"filedesc:"
_LIST_LIMIT: Final = 64 << 20
_RATIO: Final = 50
"""Bytes that a packed index has for each of its packed bytes, at most; 5 to 20 are usual."""
_START: Final = 4096
_SMALL_INDEX: Final = 4 << 20
"""Bytes of an index in a WACZ up to which a plain file is made of it, for a catalogue."""


class ForeignWarc(msgspec.Struct, frozen=True):
    """A WARC of a foreign file.

    Attributes:
        name: Its name, without folders.
        part: Its bytes.
    """

    name: str
    part: FilePart


class ForeignFile(msgspec.Struct, frozen=True):
    """A WARC or WACZ that is ready for look-up.

    Attributes:
        stamp: Path, size and time of the file.
        kind: `warc` or `wacz`.
        warcs: Its WARCs.
        indexes: Its indexes.
        title: Its title; "" for none.
        fields: Dublin Core fields.
        main_page: URL of the page to begin with; "" if unknown.
        warning_data: See `warnings`.
    """

    stamp: str
    kind: str
    warcs: tuple[ForeignWarc, ...]
    indexes: tuple[IndexPlace, ...]
    title: str = ""
    fields: dict[str, str] = {}
    main_page: str = ""
    warning_data: tuple[dict[str, object], ...] = ()

    @property
    def warnings(self) -> list[Message]:
        """Notes on captures that may be missing."""
        return [unpack(data) for data in self.warning_data]


def prepare_file(path: Path, folder: Path, tell: Progress) -> ForeignFile:
    """Make a WARC or WACZ ready.

    Args:
        path: The file.
        folder: Its folder in the cache, which is made.
        tell: Receives the progress, in bytes.

    Raises:
        JobError: It is no such file, is damaged, encrypted or hostile; with the remedy.
        StorageError: It cannot be read, or the cache cannot be written.
    """
    try:
        facts = path.stat()
        stamp = json.dumps([_FORMAT, str(path), facts.st_size, facts.st_mtime_ns])
        ready = _read_ready(folder, stamp)
        if ready is not None:
            return ready
        make_private(folder)
        with (folder / "lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return _read_ready(folder, stamp) or _prepare(path, folder, stamp, tell)
    except OSError as error:
        raise failure("read", str(error.filename or path), error) from error


def _read_ready(folder: Path, stamp: str) -> ForeignFile | None:
    """Return the result of an earlier call; None if the file or the cache has changed."""
    try:
        ready = msgspec.json.decode(
            (folder / _READY).read_bytes(), type=ForeignFile, dec_hook=lambda kind, text: kind(text)
        )
    except (OSError, ValueError, TypeError):
        return None
    parts = [warc.part for warc in ready.warcs] + [index.part for index in ready.indexes]
    is_whole = all(part.path.is_file() for part in parts)
    return ready if ready.stamp == stamp and is_whole else None


def _prepare(path: Path, folder: Path, stamp: str, tell: Progress) -> ForeignFile:
    """Make the files of the cache in a new folder, which becomes that of the stamp when whole."""
    home = folder / hashlib.sha256(stamp.encode()).hexdigest()[:16]
    for old in folder.iterdir():
        if old.is_dir():
            shutil.rmtree(old)
    work = Path(tempfile.mkdtemp(prefix="new-", dir=folder))
    try:
        ready = _Preparation(path, work, home, tell).run(stamp)
        work.rename(home)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    replace_file(folder / _READY, msgspec.json.encode(ready, enc_hook=str), 0o600)
    return ready


class _Preparation:
    """The preparation of a file.

    Args:
        path: The file.
        work: The folder for new files.
        home: The later name of this folder.
        tell: Receives the progress.
    """

    def __init__(self, path: Path, work: Path, home: Path, tell: Progress) -> None:
        self._path = path
        self._work = work
        self._home = home
        self._tell = tell
        self._warnings: list[Message] = []

    def run(self, stamp: str) -> ForeignFile:
        """Do it."""
        if require_archive(self._path) == "wacz":
            return self._wacz(stamp)
        size = self._path.stat().st_size
        warc = ForeignWarc(self._path.name.removesuffix(".open"), FilePart(self._path, 0, size))
        index = self._index_beside(warc) or self._index_records([warc])
        return ForeignFile(stamp, "warc", (warc,), (index,), warning_data=self._warning_data())

    def _wacz(self, stamp: str) -> ForeignFile:
        contents = read_wacz(self._path, self._tell)
        self._warnings += contents.warnings
        names = [name for name in contents.parts if name.startswith(ARCHIVE) and is_warc(name)]
        warcs: dict[str, ForeignWarc] = {}
        for name in names:
            short = name.rpartition("/")[2]
            warcs.setdefault(short, ForeignWarc(short, self._part(contents.parts[name])))
        places = self._indexes(contents)
        usable = self._usable(places, frozenset(warcs))
        return ForeignFile(
            stamp, "wacz", tuple(warcs.values()),
            usable or (self._index_records(list(warcs.values())),),
            contents.title, dict(contents.fields), contents.main_page, self._warning_data(),
        )  # fmt: skip

    def _warning_data(self) -> tuple[dict[str, object], ...]:
        return tuple(pack(warning) for warning in self._warnings)

    # ---- parts of a ZIP file

    def _part(self, part: ZipPart) -> FilePart:
        """Return where the bytes of a part are; one that is compressed is unpacked."""
        if part.is_stored:
            return FilePart(self._path, part.start, part.size)
        self._require_space(part.size)
        name = f"part-{part.start}"
        with open_ordinary(self._path) as file, (self._work / name).open("wb") as out:
            for data in part_chunks(file, self._path, part):
                out.write(data)
        return FilePart(self._home / name, 0, part.size)

    def _require_space(self, size: int) -> None:
        free = shutil.disk_usage(self._work).free
        if size > free:
            raise JobError(
                message(
                    "catalogue.no-space", "{path} needs {size} bytes in {folder}, where {free} are "
                    "free. Set XDG_CACHE_HOME to a folder with more space", path=self._path,
                    size=size, folder=self._work.parent.parent, free=free,
                )
            )  # fmt: skip

    def _now(self, part: FilePart) -> FilePart:
        """Return a part as it is reached during the preparation."""
        if part.path.parent != self._home:
            return part
        return FilePart(self._work / part.path.name, part.start, part.size)

    def _place_now(self, place: IndexPlace) -> IndexPlace:
        blocks = tuple((name, self._now(part)) for name, part in place.blocks)
        return IndexPlace(place.kind, self._now(place.part), blocks)

    # ---- indexes

    def _index_beside(self, warc: ForeignWarc) -> IndexPlace | None:
        """Return the index beside a WARC if it is not older and can be used; None for none."""
        path = index_of(self._path)
        if path is None or path.stat().st_mtime_ns < self._path.stat().st_mtime_ns:
            return None
        place = IndexPlace(SORTED, FilePart(path, 0, path.stat().st_size))
        sample = IndexSample(place)
        return place if sample.is_usable and sample.warcs <= {warc.name} else None

    def _indexes(self, contents: WaczContents) -> list[IndexPlace]:
        """Return the indexes of a WACZ: those of ZipNum, else plain ones, else packed ones."""
        names = sorted(name for name in contents.parts if name.startswith(INDEXES))
        lists = [name for name in names if name.endswith(".idx")]
        packed = [name for name in names if name.endswith((".cdx.gz", ".cdxj.gz"))]
        plain = [name for name in names if name.endswith((".cdx", ".cdxj"))]
        part = {name: self._part(contents.parts[name]) for name in (*lists, *packed, *plain)}
        if lists and packed:
            blocks = tuple((name.rpartition("/")[2], part[name]) for name in packed)
            return [IndexPlace(ZIPNUM, part[name], blocks) for name in lists]
        if plain:
            return [IndexPlace(SORTED, part[name]) for name in plain]
        return [IndexPlace("packed", part[name]) for name in packed]

    def _usable(self, places: list[IndexPlace], warcs: frozenset[str]) -> tuple[IndexPlace, ...]:
        """Return the indexes of a WACZ, or a sorted one made from them; () if they are no use."""
        try:
            ready = [place for place in places if place.kind != "packed"]
            samples = [IndexSample(self._place_now(place)) for place in ready]
            if any(not sample.warcs <= warcs for sample in samples):
                return ()
            is_ready = samples and len(ready) == len(places)
            is_large = sum(_index_size(place) for place in places) > _SMALL_INDEX
            if is_ready and is_large and all(sample.is_usable for sample in samples):
                return tuple(places) if any(sample.has_captures for sample in samples) else ()
            index = self._sorted(line for place in places for line in self._lines(place))
            return (index,) if IndexSample(self._place_now(index)).has_captures else ()
        except (OSError, EOFError, ValueError) as error:
            self._warnings.append(
                message(
                    "catalogue.damaged-index", "{path}: its index is damaged ({reason}); a new one "
                    "was made from its records", path=self._path, reason=error,
                )
            )  # fmt: skip
            return ()

    def _lines(self, place: IndexPlace) -> Iterator[bytes]:
        """Yield all lines of an index, whatever their order."""
        if place.kind != "packed":
            yield from all_lines(self._place_now(place))
            return
        part = self._now(place.part)
        limit = max(part.size * _RATIO, _LIST_LIMIT)
        end = part.start + part.size
        with open_ordinary(part.path) as file, gzip.open(section(file, part.start, end)) as lines:
            while line := lines.readline(LONGEST_LINE + 1):
                limit -= len(line)
                if limit < 0:
                    raise ValueError("it has too many bytes when unpacked")
                yield line.rstrip(b"\n")

    def _sorted(self, lines: Iterator[bytes]) -> IndexPlace:
        """Make a sorted index of lines."""
        sorter = LineSorter(self._work, self._require_space)
        for line in lines:
            own = normal_line(line)
            if own is not None:
                sorter.add(own)
        sorter.save(self._work / _INDEX)
        size = (self._work / _INDEX).stat().st_size
        return IndexPlace(SORTED, FilePart(self._home / _INDEX, 0, size))

    def _index_records(self, warcs: list[ForeignWarc]) -> IndexPlace:
        """Make a sorted index from the records of WARCs."""
        total = sum(warc.part.size for warc in warcs)
        before = 0
        sorter = LineSorter(self._work, self._require_space)
        for warc in warcs:
            part = self._now(warc.part)
            defects = _Defects()
            with open_ordinary(part.path) as file:
                data = section(file, part.start, part.start + part.size)
                for line in _capture_lines(self._path, data, warc.name, defects):
                    sorter.add(line[0].rstrip(b"\n"))
                    self._tell(before + line[1], total)
            before += part.size
            if defects.number:
                self._warnings.append(defects.warning(self._path, warc.name))
        self._tell(total, total)
        sorter.save(self._work / _INDEX)
        size = (self._work / _INDEX).stat().st_size
        return IndexPlace(SORTED, FilePart(self._home / _INDEX, 0, size))


def _index_size(place: IndexPlace) -> int:
    """Return the bytes of an index as it is in its file."""
    return place.part.size + sum(part.size for _, part in place.blocks)


_DAMAGE: Final = (
    "gzip-truncated", "gzip-damaged", "gzip-junk", "block-truncated", "header-truncated",
    "length-overrun", "junk",
)  # fmt: skip


class _Defects:
    """The defects of a WARC that hide captures: their number and the first."""

    def __init__(self) -> None:
        self.number = 0
        self.offset = 0
        self.reason = ""

    def note(self, code: str, offset: int, text: str) -> None:
        """See `archive.source.Note`."""
        if code in _DAMAGE:
            if not self.number:
                self.offset, self.reason = offset, text
            self.number += 1

    def warning(self, path: Path, name: str) -> Message:
        """Return the note on a WARC with defects."""
        return plural(
            "catalogue.damaged-warc",
            "{path}: {number} defect in {name}, at byte {offset} ({reason}): captures may be "
            "missing. Get the file again if there is another copy",
            "{path}: {number} defects in {name}, the first at byte {offset} ({reason}): captures "
            "may be missing. Get the file again if there is another copy",
            number=self.number, path=path, name=name, offset=self.offset, reason=self.reason,
        )  # fmt: skip


def _capture_lines(
    path: Path, data: BinaryIO, name: str, defects: _Defects
) -> Iterator[tuple[bytes, int]]:
    """Yield the index lines of a WARC, with the offsets of their records.

    Raises:
        JobError: All records are in one gzip member, so that none can be read alone.
    """
    last = -1
    for line, offset in index_records(data, name, defects.note):
        if offset == last:
            raise JobError(
                message(
                    "catalogue.one-member", "{path}: {name} is compressed as a whole, not record "
                    "by record, so that no record can be read alone. Unpack it, gunzip -k FILE, "
                    "and name the unpacked file", path=path, name=name,
                )
            )  # fmt: skip
        last = offset
        yield line, offset


def _first_bytes(path: Path) -> bytes:
    """Return the first bytes of a file, of gzip those that it contains."""
    with open_ordinary(path) as file:
        data = file.read(_START)
    if not data.startswith(MAGIC):
        return data
    try:
        return zlib.decompressobj(31).decompress(data, _START)
    except zlib.error:
        return b""


def require_archive(path: Path) -> str:
    """Return the kind of a file by its first bytes: `warc` or `wacz`.

    Raises:
        JobError: It is neither; the message has its kind and the remedy.
        StorageError: It cannot be read.
    """
    try:
        start = _first_bytes(path)
    except OSError as error:
        raise failure("read", str(path), error) from error
    if start.startswith(_ZIP_STARTS):
        return "wacz"
    if start.startswith(b"{") and b"multi-wacz-package" in start:
        raise multi_error(path)
    if not start.startswith(b"WARC/"):
        raise _no_warc(path, start)
    return "warc"


def _no_warc(path: Path, start: bytes) -> JobError:
    """Return the error for a file that is no WARC, with its kind."""
    if start.startswith(_ZSTD):
        return JobError(
            message(
                "catalogue.zstd", "{path} is compressed by zstd, which is not read. Unpack it, "
                "zstd -d FILE, and name the unpacked file", path=path,
            )
        )  # fmt: skip
    if start.startswith(_ARC):
        return JobError(
            message(
                "catalogue.arc", "{path} is an ARC file. Make a WARC of it, for example by "
                "warcio recompress, and name that", path=path,
            )
        )  # fmt: skip
    return JobError(
        message(
            "catalogue.no-warc", "{path} is neither a WARC nor a WACZ file, or its beginning is "
            "damaged: name such a file, the directory of a job, or a collection", path=path,
        )
    )  # fmt: skip
