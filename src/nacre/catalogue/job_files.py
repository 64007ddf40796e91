"""The WARCs of a job with their indexes, as they are on the disk at that moment.

The directories of a run are those in its `effective.json`, so that the settings of the job need not
be read. The WARCs of batch rounds are in `archive/` of their storage; those of imported jobs stay
where they are.
"""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from nacre.archive.index import index_of
from nacre.catalogue.wacz import is_warc
from nacre.errors import NacreError
from nacre.machine.layout import EFFECTIVE, Layout
from nacre.store.disk import failure

OPEN = ".open"
"""End of the name of a file that is being written."""

_SUFFIXES = (".warc", ".warc.gz", ".warc.open", ".warc.gz.open")
_ARCHIVE = "archive"
_SEGMENTS = "segments"
_UNIT = re.compile(r"(\d{8}T\d{6})(\d{3})-\d+-\d+")
_RUN = "${launchId}"


class WarcPlace(msgspec.Struct, frozen=True):
    """The place of a WARC.

    Attributes:
        name: Its final name, without folders, as in its index.
        path: The file with its bytes.
        start: Where it begins in the file, bytes; more than 0 within a WACZ.
        size: Its bytes when it was listed.
        index: Its index, which may be open as well; None: it has none.
        run: The run or the segment that made it; "" if unknown.
        is_open: It is still being written.
    """

    name: str
    path: Path
    start: int
    size: int
    index: Path | None
    run: str
    is_open: bool


class FileWatch:
    """Notices that the WARCs or indexes of a job may have changed, without a read of them.

    Args:
        root: The directory of the job; of a file it notices nothing.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._runs: object = None
        self._folders: list[Path] = []
        self._names: object = None

    def has_changed(self) -> bool:
        """Return whether files came or went since the last call; True for the first."""
        runs = _names_in(self._root / "runs")
        latest = self._root / "runs" / (runs[-1] if runs else "") / EFFECTIVE
        segments = self._root / "cycle" / _SEGMENTS
        state = (runs, _mark_of(latest), _mark_of(self._root), _mark_of(segments))
        if state != self._runs or self._names is None:
            self._runs = state
            self._folders = [folder for _, folder in _archive_folders(self._root)]
        names = [_names_in(folder) for folder in self._folders]
        changed = names != self._names
        self._names = names
        return changed


class _Value(msgspec.Struct):
    """A setting of a run, without its origin."""

    value: tuple[str, ...] = ()


class _Effective(msgspec.Struct):
    """The settings of a run that say where its WARCs are."""

    directories: _Value = msgspec.field(name="archive.directories", default_factory=_Value)


class _PartFile(msgspec.Struct):
    """A file of a part of a segment."""

    name: str = ""


class _Part(msgspec.Struct):
    """The manifest of a part of a segment, as far as it is needed."""

    files: tuple[_PartFile, ...] = ()


def job_warcs(root: Path) -> Iterator[WarcPlace]:
    """Yield the WARCs of a job; one that two runs share, once."""
    listed: set[Path] = set()
    for run, folder in _archive_folders(root):
        try:
            with os.scandir(folder) as entries:
                files = {entry.name: entry for entry in entries}
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise failure("list", str(folder), error) from error
        for name in sorted(files):
            path = folder / name
            if name.endswith(_SUFFIXES) and path not in listed:
                listed.add(path)
                place = _job_place(path, run)
                if place is not None:
                    yield place
    for path in _outside_warcs(root):
        place = _job_place(path, "")
        if path not in listed and place is not None:
            listed.add(path)
            yield place


def _job_place(path: Path, run: str) -> WarcPlace | None:
    """Return the place of a WARC of a job; None if it was renamed at this moment."""
    try:
        size = path.stat().st_size
    except OSError:
        return None
    name = path.name.removesuffix(OPEN)
    unit = _UNIT.search(name)
    maker = run or (f"{unit[1]}.{unit[2]}Z" if unit else "")
    return WarcPlace(name, path, 0, size, index_of(path), maker, path.name.endswith(OPEN))


def _outside_warcs(root: Path) -> Iterator[Path]:
    """Yield the WARCs of imported jobs and merged crawls, which batch rounds list by their paths.

    A separate segment has them; its part is the only one that has absolute paths.
    """
    folder = _local_rounds(root)
    if folder is None:
        return
    for path in sorted((folder.parent / _SEGMENTS).glob("*/parts/u0001/*-001.json")):
        try:
            part = msgspec.json.decode(path.read_bytes(), type=_Part)
        except (OSError, ValueError):
            continue
        names = (file.name for file in part.files)
        yield from (Path(name) for name in names if name.startswith("/") and is_warc(name))


def _names_in(folder: Path) -> list[str]:
    """Return the names in a directory in a fixed order; [] if it cannot be read."""
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - names alone; a look-up waits for it
    except OSError:
        return []


def _mark_of(path: Path) -> tuple[int, int, int]:
    """Return what differs if a file differs; zeros if there is none."""
    try:
        facts = path.stat()
    except OSError:
        return 0, 0, 0
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _archive_folders(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the directories with WARCs, with the name of the run; "" for batch rounds."""
    runs = root / "runs"
    for run in sorted(runs.iterdir()) if runs.is_dir() else ():
        for directory in _run_directories(run):
            yield run.name, run / directory.replace(_RUN, run.name)
    folder = _local_rounds(root)
    if folder is not None:
        yield "", folder


def _local_rounds(root: Path) -> Path | None:
    """Return `rounds_folder`; None without rounds, or if the settings cannot be read."""
    try:
        return rounds_folder(root) if Layout(root).in_rounds else None
    except NacreError:
        return None


def _run_directories(run: Path) -> Sequence[str]:
    """Return `archive.directories` of a run; the default if its settings cannot be read."""
    try:
        effective = msgspec.json.decode((run / EFFECTIVE).read_bytes(), type=_Effective)
    except (OSError, ValueError):
        return (_ARCHIVE,)
    return effective.directories.value or (_ARCHIVE,)


def rounds_folder(root: Path) -> Path | None:
    """Return the directory of the WARCs of batch rounds; None if they are in an object store.

    The settings of the job are read only if it is not in its usual place, as that takes a second.

    Raises:
        NacreError: The settings cannot be read.
    """
    usual = Layout(root).cycle / _ARCHIVE
    if usual.is_dir():
        return usual
    from nacre.runs.manifest import rounds_archive  # noqa: PLC0415 - it takes long
    from nacre.settings.load import load_job  # noqa: PLC0415 - it takes long

    return rounds_archive(Layout(root), load_job(Layout(root)).settings)
