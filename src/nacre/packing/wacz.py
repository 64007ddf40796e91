"""WACZ files: WARCs with their index and their pages in one ZIP file, for other archives.

All of a holding is packed as it is: the bytes of its WARCs do not change. Differences are added as
ordinary records in separate WARCs, as `nacre archive expand` makes them. A selection is written
into the package as new WARCs. Source: WACZ 1.1.1 (webrecorder/specs); what `wacz validate`, pywb
and ReplayWeb.page read.
"""

import fcntl
import glob
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from nacre import __version__
from nacre.archive.delta import MEDIA
from nacre.archive.page_records import PAGE_INFO
from nacre.archive.restoring import BaseFiles
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import JOB, ROUNDS, Holding, Member, WarcPlace
from nacre.catalogue.lookup import CaptureIndex, open_index
from nacre.catalogue.page_records import PageRecordLookup, page_of
from nacre.core.clock import iso
from nacre.errors import JobError, StorageError
from nacre.machine.local_files import open_ordinary
from nacre.messages import message
from nacre.packing.cdx_index import capture_line, packed_line, write_index
from nacre.packing.container import EntrySink, WaczFile, whole_file
from nacre.packing.expand_warcs import expand
from nacre.packing.pages import (
    SeedPages,
    is_page,
    page_line,
    rendered_page_line,
    write_pages,
)
from nacre.packing.selection import (
    SelectionReport,
    SelectionSource,
    SelectionWriter,
    WrittenCapture,
)
from nacre.packing.sorted_lines import SortedLines
from nacre.packing.sources import (
    IndexedLine,
    OrderedLines,
    copy_warc,
    group_by_index,
    whole_size,
)
from nacre.packing.warc_output import OutputSettings, WarcOutput

MAX_FILE_SIZE: Final = 1_000_000_000
"""Bytes at which the next WARC of a selection begins."""
_MANIFEST: Final = "manifest.json"
_MARK: Final = "nacre-scratch"
"""File in a folder of temporary files, which the process of the folder locks."""
_STRICT: Final = "strict"
_RESERVE: Final = 64 << 20
"""Bytes that stay free on a disk."""
_INDEX_SHARE: Final = 0.1

Tell = Callable[[int, int], None]
"""Receives bytes done, and bytes in all; 0 if these are not known."""


class PackOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a package.

    Attributes:
        created: Its date, seconds since the epoch; all else is the same each time.
        title: Its title; "" for that of the holding.
        description: Its description; "" for that of the holding.
        text: Add the texts of the pages, for search in them.
        logs: Add the logs of the runs.
        resolve: Of a selection: revisits become responses.
        with_originals: Of a selection: the originals of copied revisits are added.
        replace: An existing file is replaced.
        with_warcinfo: Of a selection: the descriptions of its WARCs are copied.
        stem: Beginning of the names of WARCs of a selection.
        extend: Adds further files, when all others are written; None: there are none.
    """

    created: float
    title: str = ""
    description: str = ""
    text: bool = False
    logs: bool = False
    resolve: bool = True
    with_originals: bool = False
    replace: bool = False
    with_warcinfo: bool = True
    stem: str = "selection"
    extend: Callable[[WaczFile], None] | None = None


class PackedWacz(msgspec.Struct, frozen=True, kw_only=True):
    """A package that was written.

    Attributes:
        path: The file.
        bytes: Its size.
        digest: `sha256:` and the digest of its `datapackage.json`, and so of all its files.
        warcs: Number of its WARCs.
        captures: Lines of its index.
        pages: Its pages.
        expanded: Responses and revisits that were made of differences and notes.
        defects: Records and lines that could not be packed, in words.
        selection: What was selected; None if all of the holding was packed.
    """

    path: Path
    bytes: int
    digest: str
    warcs: int
    captures: int
    pages: int
    expanded: int = 0
    defects: tuple[str, ...] = ()
    selection: SelectionReport | None = None


@dataclass
class Progress:
    """Bytes that were packed.

    Attributes:
        total: Bytes in all; 0 if they are not known.
        listen: Receives both.
    """

    total: int
    listen: Tell
    done: int = 0

    def add(self, size: int) -> None:
        """Note bytes that were packed."""
        self.done += size
        self.listen(self.done, max(self.total, self.done) if self.total else 0)


def pack_wacz(
    holding: Holding,
    target: Path,
    captures: Iterable[IndexedCapture] | None,
    options: PackOptions,
    tell: Tell,
) -> PackedWacz:
    """Write a WACZ. A file that could not be finished is removed; the same call begins again.

    Args:
        holding: What is packed.
        target: The file.
        captures: The selected captures, in any order; None for all of the holding.
        options: Its options.
        tell: Receives the progress.

    Raises:
        JobError: There is nothing to pack, or the file exists.
        StorageError: A file cannot be read or written, or the disk is full.
    """
    with (
        whole_file(target, replace=options.replace) as file,
        scratch_folder(target) as folder,
        SortedLines(folder, "index") as lines,
        SortedLines(folder, "pages") as pages,
    ):
        with WaczFile(file, options.created) as wacz:
            packer = _Packer(holding, wacz, options, folder, lines, pages)
            if captures is None:
                packer.copy_all(target, tell)
            else:
                packer.write_selection(captures, tell)
            result = packer.finish()
        size = file.seek(0, os.SEEK_END)
    return msgspec.structs.replace(result, path=target, bytes=size)


@contextmanager
def scratch_folder(target: Path) -> Iterator[Path]:
    """Make a folder for temporary files beside a file, on its disk.

    Folders that killed processes left behind are removed: each has a file that its process locks.

    Raises:
        OSError: It cannot be created.
    """
    for folder in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
        _remove_abandoned(folder)
    folder = Path(tempfile.mkdtemp(".tmp", f".{target.name}.", target.parent))
    try:
        with (folder / _MARK).open("w") as mark:
            fcntl.flock(mark, fcntl.LOCK_EX)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(folder: Path) -> None:
    """Remove a folder of temporary files unless a process uses it."""
    with suppress(OSError), (folder / _MARK).open("r+") as mark:
        fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)


class _Packer:
    """Writes the parts of a package."""

    def __init__(
        self,
        holding: Holding,
        wacz: WaczFile,
        options: PackOptions,
        folder: Path,
        lines: SortedLines,
        pages: SortedLines,
    ) -> None:
        self._holding = holding
        self._wacz = wacz
        self._options = options
        self._folder = folder
        self._lines = lines
        self._pages = pages
        self._index: CaptureIndex = open_index(holding)
        self._rendered = PageRecordLookup(holding, self._index)
        self._warcs = 0
        self._expanded = 0
        self._defects: list[str] = []
        self._report: SelectionReport | None = None
        self._bases: BaseFiles | None = None

    # ---- all of a holding

    def copy_all(self, target: Path, tell: Tell) -> None:
        """Copy all WARCs."""
        listed = [member.warcs() for member in self._holding.members]
        total = sum(place.size for places in listed for place in places)
        if not total:
            raise nothing_to_pack(self._holding)
        _require_space(target, total)
        progress = Progress(total, tell)
        for number, places in enumerate(listed):
            self._copy_member(number, places, progress)

    def _copy_member(self, number: int, listed: list[WarcPlace], progress: Progress) -> None:
        """Copy the WARCs of a member, and add the records that its differences stand for."""
        places = [self._present(place, number) for place in listed]
        changed = warcs_to_expand(self._holding.members[number], places)
        for group in group_by_index(places):
            self._copy_group(group, number, changed, progress)
        current = [self._present(place, number) for place in places]
        pairs = zip(places, current, strict=True)
        renamed = {new.path for old, new in pairs if old.path in changed}
        self._add_expanded(number, current, renamed, progress)

    def _copy_group(
        self, group: Sequence[WarcPlace], number: int, changed: set[Path], progress: Progress
    ) -> None:
        """Copy WARCs that have the same index."""
        present = [self._present(place, number) for place in group]
        with OrderedLines(self._folder, present, number) as lines:
            for count, (old, place) in enumerate(zip(group, present, strict=True)):
                is_expanded = old.path in changed
                own = lines.of(count)
                self._copy(place, number, own, lines.last, progress, is_expanded=is_expanded)

    def _present(self, place: WarcPlace, number: int) -> WarcPlace:
        """Return a WARC as it is now: a running job may have closed and renamed it."""
        if not place.is_open or place.path.exists():
            return place
        return self._holding.warc(number, place.name) or place

    def _copy(
        self,
        place: WarcPlace,
        number: int,
        lines: Iterator[IndexedLine],
        last: IndexedCapture | None,
        progress: Progress,
        *,
        is_expanded: bool = False,
    ) -> None:
        """Copy a WARC.

        Args:
            place: The WARC.
            number: Number of its member.
            lines: Its lines, in the order of its records.
            last: The last capture in its index; None if there is none.
            progress: The progress.
            is_expanded: Its differences are added as other records, so its index leaves them out.
        """
        size = whole_size(place, last)
        if not size:
            return
        member = self._holding.members[number]
        path = self._wacz.unused_path("archive", place.name, member.name)
        name = path.rpartition("/")[2]
        with self._wacz.entry(path, size) as sink:
            for source, digest in copy_warc(place, size, lines, sink, progress.add):
                if not digest:
                    text = f"{place.name}: the index has a record at {source.capture.offset}"
                    self._defects.append(f"{text}, which is not there")
                elif not (is_expanded and source.capture.mime == MEDIA):
                    self._add_line(place, source, name, digest)
        self._warcs += 1

    def _add_line(self, place: WarcPlace, source: IndexedLine, name: str, digest: str) -> None:
        capture = source.capture
        self._lines.add(packed_line(source.line, capture, name, digest))
        self._add_page(place, capture, capture)

    def _add_page(self, place: WarcPlace, capture: IndexedCapture, content: IndexedCapture) -> None:
        """Add the line of a page; that of one that a browser ran is made of its facts.

        Args:
            place: The WARC that has the content.
            capture: The capture in the package.
            content: The capture that has its content.
        """
        if page_of(capture):
            page_info = self._rendered.find(PAGE_INFO, page_of(capture), capture.timestamp)
            line = page_info and rendered_page_line(
                self._rendered, page_info, with_text=self._options.text
            )
            if line:
                self._pages.add(line)
        elif is_page(capture) and not self._is_rendered(capture):
            self._pages.add(self._page_line(place, content))

    def _is_rendered(self, capture: IndexedCapture) -> bool:
        return self._rendered.find(PAGE_INFO, capture.url, capture.timestamp) is not None

    def _page_line(self, place: WarcPlace, capture: IndexedCapture) -> bytes:
        if self._bases is None:
            places = (place for member in self._holding.members for place in member.warcs())
            self._bases = BaseFiles(place.path for place in places if not place.start)
        with_text = self._options.text
        return page_line(place, capture, self._bases.block, with_text=with_text)

    def _add_expanded(
        self,
        number: int,
        places: Sequence[WarcPlace],
        changed: set[Path],
        progress: Progress,
    ) -> None:
        """Add the records that differences, notes and references stand for."""
        if not changed:
            return
        paths = [place.path for place in places]
        for warc in expand(paths, self._folder / "expanded", changed):
            self._defects += [f"{warc.source.name}: {defect}" for defect in warc.defects]
            self._expanded += warc.responses + warc.revisits
            index = warc.path.with_name(warc.path.name.partition(".warc")[0] + ".cdxj")
            place = WarcPlace(
                warc.path.name, warc.path, 0, warc.path.stat().st_size, index, "", is_open=False
            )
            with OrderedLines(self._folder, [place], number) as lines:
                self._copy(place, number, lines.of(0), lines.last, progress)
            warc.path.unlink()
            index.unlink()

    # ---- a selection

    def write_selection(self, captures: Iterable[IndexedCapture], tell: Tell) -> None:
        """Write the selected captures as new WARCs."""
        options, holding = self._options, self._holding
        source = SelectionSource(
            holding,
            self._index,
            self._folder,
            options.resolve,
            options.with_originals,
            options.with_warcinfo,
        )
        settings = OutputSettings(
            options.stem, is_single=False, max_size=MAX_FILE_SIZE,
            date=int(options.created * 1e6), about=(("isPartOf", holding.title),),
        )  # fmt: skip
        progress = Progress(0, tell)
        output = WarcOutput(settings, self._open_entry)
        writer = SelectionWriter(source, output, self._add_written, progress.add)
        try:
            report = writer.write(self._with_page_records(captures))
        except BaseException as error:
            output.abandon(error)
            raise
        output.close()
        if not report.captures:
            raise nothing_to_pack(holding)
        self._report, self._warcs = report, len(output.names)

    def _with_page_records(self, captures: Iterable[IndexedCapture]) -> Iterator[IndexedCapture]:
        """Yield captures, with the own records of pages that a browser ran, once each."""
        added: set[str] = set()
        for capture in captures:
            if capture.url.startswith("urn:"):
                if capture.position in added:
                    continue
                added.add(capture.position)
            yield capture
            if self._rendered.is_empty or capture.method or not capture.url.startswith("http"):
                continue
            for record in self._rendered.all_of(capture.url, capture.timestamp):
                if record.position not in added:
                    added.add(record.position)
                    yield record

    def _open_entry(self, name: str) -> AbstractContextManager[EntrySink]:
        return self._wacz.entry(f"archive/{name}")

    def _add_written(self, written: WrittenCapture) -> None:
        capture = written.capture
        line = capture_line(capture)
        self._lines.add(packed_line(line, capture, capture.warc, written.digest))
        content = written.content._replace(url=capture.url, timestamp=capture.timestamp)
        self._add_page(written.place, capture, content._replace(key=capture.key))

    # ---- the rest

    def finish(self) -> PackedWacz:
        """Write index, pages, logs and the list of the files."""
        options, holding = self._options, self._holding
        captures = write_index(self._wacz, self._lines)
        seeds = SeedPages(holding, self._index)
        pages = write_pages(self._wacz, self._pages, seeds.keys, with_text=options.text)
        if options.logs:
            self._add_logs()
        if options.extend is not None:
            options.extend(self._wacz)
        facts: dict[str, object] = {
            "title": options.title or holding.title,
            "description": options.description or holding.fields.get("description", ""),
            "created": iso(options.created),
            "modified": iso(options.created),
            "software": f"Nacre/{__version__}",
            "mainPageUrl": pages.main_url,
            "mainPageDate": pages.main_date,
            "dublinCore": dict(holding.fields),
        }
        digest = self._wacz.finish({name: value for name, value in facts.items() if value})
        return PackedWacz(
            path=Path(), bytes=0, digest=digest, warcs=self._warcs, captures=captures,
            pages=pages.pages, expanded=self._expanded, defects=tuple(self._defects),
            selection=self._report,
        )  # fmt: skip

    def _add_logs(self) -> None:
        for member in self._holding.members:
            if member.kind not in (JOB, ROUNDS) or member.is_missing:
                continue
            for log in sorted(member.root.glob("runs/*/logs/*.log")):
                name = f"{log.parent.parent.name}-{log.name}"
                path = self._wacz.unused_path("logs", name, member.name)
                with open_ordinary(log) as file, self._wacz.entry(path, deflate=True) as sink:
                    shutil.copyfileobj(file, sink)


class NothingToPackError(JobError):
    """A package would have no captures."""


def nothing_to_pack(holding: Holding) -> NothingToPackError:
    """Return the error of a package without captures."""
    return NothingToPackError(
        message(
            "packing.nothing",
            "{name} has no captures to pack. Check the filters, or crawl first",
            name=holding.name,
        )
    )


def _require_space(target: Path, size: int) -> None:
    """Refuse a package for which the disk has no space.

    Raises:
        StorageError: It has not.
    """
    facts = os.statvfs(target.parent)
    free = facts.f_bavail * facts.f_frsize
    needed = int(size * (1 + _INDEX_SHARE)) + _RESERVE
    if free < needed:
        raise StorageError(
            message(
                "packing.no-space",
                "{path} needs up to {needed} bytes, and {free} are free. Free some space, or name "
                "a file on another disk",
                path=target, needed=f"{needed:,}", free=f"{free:,}",
            )
        )  # fmt: skip


def warcs_to_expand(member: Member, places: Sequence[WarcPlace]) -> set[Path]:
    """Return the WARCs of a job that may hold differences, notes or references to outlinks.

    The manifest of a run has the way in which it stored its captures, and the index has
    differences. The first run of a job has none. A later run without a manifest, which did not
    end, is searched.

    Args:
        member: The member.
        places: Its WARCs.
    """
    if member.kind != JOB:
        return set()
    runs = sorted({place.run for place in places})
    keeps = {run: _read_keep(member.root / "runs" / run / _MANIFEST) for run in runs}
    searched = {run for run in runs[1:] if keeps[run] != _STRICT}
    return {
        place.path for place in places
        if place.run in searched or (place.index is not None and _has_differences(place.index))
    }  # fmt: skip


class _Manifest(msgspec.Struct):
    """The manifest of a run, as far as it matters here."""

    keep: str = _STRICT


def _read_keep(path: Path) -> str:
    """Return how a run stored its captures; "" if it is not known."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Manifest).keep
    except (OSError, ValueError):
        return ""


def _has_differences(index: Path) -> bool:
    mark = MEDIA.encode()
    try:
        with open_ordinary(index) as file:
            return any(mark in line for line in file)
    except OSError:
        return False
