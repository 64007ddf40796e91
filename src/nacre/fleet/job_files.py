"""The files of a job that may be viewed and downloaded.

Only files on an allow list are shown: the output of runs. The store, the control socket, the
settings and logins are not. Each path component is opened relative to its folder, and symbolic
links are not followed.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.messages import message

_NAME: Final = re.compile(r"[^\x00-\x1f\x7f/\\]{1,255}")
_RUN: Final = re.compile(r"\d{8}T\d{6}Z(-\d+)?")
_EXPORTS: Final = "exports"
_FOLDERS: Final = frozenset(("archive", "logs", "reports"))
_ENDS: Final = re.compile(
    r"\.(warc|wacz|cdxj?|log|txt|json|csv|html)(\.(gz|zst|zstd|bz2))?(\.open)?$"
)


class ListedFile(NamedTuple):
    """A file of a job.

    Attributes:
        path: Its path below the job.
        size: Bytes.
        modified: Seconds since the epoch.
    """

    path: str
    size: int
    modified: float


class FilePlace(NamedTuple):
    """The place of a file in a list: its run, its folder there, and its name."""

    run: str
    folder: str
    name: str


class FilePage(NamedTuple):
    """A page of the files of a job.

    Attributes:
        items: The files, the newest run first, and then files that were made for others.
        next: The place after which the next page begins; None for none.
    """

    items: tuple[ListedFile, ...]
    next: FilePlace | None


class OpenedFile(NamedTuple):
    """An open file.

    Attributes:
        handle: File descriptor, which the caller closes.
        size: Bytes when it was opened.
        modified: Seconds since the epoch.
        device: The file system that it is on.
        inode: Its number there.
    """

    handle: int
    size: int
    modified: float
    device: int = 0
    inode: int = 0


def is_shown(path: str) -> bool:
    """Whether the file of a path may be viewed (pure): `runs/RUN/FOLDER/FILE`, `exports/FILE`.

    Args:
        path: Untrusted path below the job.
    """
    parts = path.split("/")
    if len(parts) not in (2, 4) or not all(_NAME.fullmatch(part) for part in parts):
        return False
    *folders, name = parts
    if len(folders) == 1:
        is_known = folders[0] == _EXPORTS
    else:
        top, run, folder = folders
        is_known = bool(top == "runs" and _RUN.fullmatch(run) and folder in _FOLDERS)
    return bool(is_known and not name.startswith(".") and _ENDS.search(name))


def open_file(root: Path, path: str) -> OpenedFile:
    """Open a file of a job for reading.

    Raises:
        RefusedRequestError: The file does not exist or is not shown (404).
    """
    if not is_shown(path):
        raise not_found(
            message("console.file-to-download", "file {path!r} to be downloaded", path=path[:200])
        )
    *folders, name = path.split("/")
    at = -1
    try:
        at = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        for folder in folders:
            below = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = below
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
    except OSError:
        raise not_found("file", path) from None
    finally:
        if at >= 0:
            os.close(at)
    facts = os.fstat(handle)
    if not stat.S_ISREG(facts.st_mode):
        os.close(handle)
        raise not_found("file", path)
    return OpenedFile(handle, facts.st_size, facts.st_mtime, facts.st_dev, facts.st_ino)


def run_names(root: Path) -> list[str]:
    """Return the names of a job's runs, the newest first."""
    names = (entry.name for entry in _entries(root / "runs"))
    return sorted(filter(_RUN.fullmatch, names), reverse=True)


def list_files(root: Path, limit: int, after: FilePlace | None = None, run: str = "") -> FilePage:
    """Return a page of the visible files of a job, sorted by run, the newest first, and by name.

    Args:
        root: Directory of the job.
        limit: Maximum number of files.
        after: The place after which the page begins; None for the first page.
        run: Untrusted name of the only run to list; "" for all runs.
    """
    places = list(islice(_places(root, after, run), limit + 1))
    items = tuple(file for _, file in places[:limit])
    return FilePage(items, places[limit - 1][0] if len(places) > limit else None)


def _places(
    root: Path, after: FilePlace | None, only: str
) -> Iterator[tuple[FilePlace, ListedFile]]:
    """Yield the visible files after a place, each with its place."""
    for run in run_names(root):
        if (only and run != only) or (after is not None and run > after.run):
            continue
        tail = after[1:] if after is not None and run == after.run else ("", "")
        for folder in sorted(_FOLDERS):
            if folder < tail[0]:
                continue
            for entry in sorted(_entries(root / "runs" / run / folder), key=lambda item: item.name):
                if (folder, entry.name) <= tail:
                    continue
                file = _listed(f"runs/{run}/{folder}/{entry.name}", entry)
                if file is not None:
                    yield FilePlace(run, folder, entry.name), file
    last = after.name if after is not None and not after.run else ""
    for entry in () if only else sorted(_entries(root / _EXPORTS), key=lambda item: item.name):
        file = _listed(f"{_EXPORTS}/{entry.name}", entry) if entry.name > last else None
        if file is not None:
            yield FilePlace("", _EXPORTS, entry.name), file


def _listed(path: str, entry: "os.DirEntry[str]") -> ListedFile | None:
    """Return the list entry of a file; None if the file is hidden or no longer exists."""
    with suppress(OSError):
        if is_shown(path) and entry.is_file(follow_symlinks=False):
            facts = entry.stat(follow_symlinks=False)
            return ListedFile(path, facts.st_size, facts.st_mtime)
    return None


def _entries(folder: Path) -> Iterator["os.DirEntry[str]"]:
    with suppress(OSError), os.scandir(folder) as entries:
        yield from entries


def byte_range(field: str, size: int) -> tuple[int, int] | None:
    """Return the start and length of a Range field (pure); None for the whole file.

    Raises:
        RefusedRequestError: The range begins after the end of the file (416).
    """
    match = re.fullmatch(r"bytes=(\d{0,18})-(\d{0,18})", field.strip())
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        length = min(int(match[2]), size)
        start = size - length
    else:
        start = int(match[1])
        length = min(int(match[2]) if match[2] else size - 1, size - 1) - start + 1
    if length <= 0 or start >= size:
        raise RefusedRequestError(
            416, "range", message("console.file-size", "the file has {size:,} bytes", size=size)
        )
    return start, length


def pieces(opened: OpenedFile, start: int, length: int) -> Iterator[bytes]:
    """A part of a file, which is closed at its end; one that grows is read to the size it had."""
    try:
        while length > 0 and (data := os.pread(opened.handle, min(1 << 18, length), start)):
            yield data
            start, length = start + len(data), length - len(data)
    finally:
        os.close(opened.handle)


MOST: Final = 200
"""Runs of a job that are looked at, the newest of the time that is wanted."""
_REPORT: Final = "reports/crawl-report.json"
_LARGE: Final = 65_536
_TAIL: Final = 512
_ENDED: Final = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z) CRAWL ENDED\b[^\n]*\n?\Z", re.ASCII
)


class FinishedRun(NamedTuple):
    """A run that has finished or was stopped.

    Attributes:
        ended: Time of its end, seconds since the epoch.
        job: Id of its job.
        name: Its directory.
        exit: Its exit status, such as `FINISHED`; "" if its report cannot be read.
    """

    ended: float
    job: str
    name: str
    exit: str


def finished_runs(jobs: Iterable[FoundJob], begin: float, end: float) -> list[FinishedRun]:
    """Return the runs that ended in a period, by job, the newest first.

    Args:
        jobs: The jobs.
        begin: Begin of the period, seconds since the epoch.
        end: End of the period, exclusive.
    """
    runs = []
    for job in jobs:
        for name, ended in islice(_ended(job.layout.root, end), MOST):
            if ended < begin:  # earlier runs ended even earlier
                break
            if ended < end:
                exit_ = _exit_of(job.layout.root, name)
                runs.append(FinishedRun(ended, job.id, name, exit_))
    return runs


def _ended(root: Path, end: float) -> Iterator[tuple[str, float]]:
    """Yield the finished runs of a job that began before a moment, the newest first."""
    last = f"{datetime.fromtimestamp(end, UTC):%Y%m%dT%H%M%SZ}"
    for name in run_names(root):
        if name < last and (ended := _end_of(root, name)) is not None:
            yield name, ended


def _end_of(root: Path, name: str) -> float | None:
    """When a run ended, as the last line of its log says; None where the log has another one."""
    match = _ENDED.search(_text(root, f"runs/{name}/logs/progress-statistics.log", tail=True))
    try:
        return datetime.fromisoformat(match[1]).timestamp() if match else None
    except ValueError:
        return None


def _exit_of(root: Path, name: str) -> str:
    text = _text(root, f"runs/{name}/{_REPORT}")
    try:
        facts = msgspec.json.decode(text, type=dict[str, object])
    except msgspec.MsgspecError:
        return ""
    return str(facts.get("status", ""))[:64]


def _text(root: Path, path: str, *, tail: bool = False) -> str:
    """Return the first or last bytes of a file of a job; "" if it cannot be read."""
    try:
        opened = open_file(root, path)
    except RefusedRequestError:
        return ""
    try:
        start = max(opened.size - _TAIL, 0) if tail else 0
        return os.pread(opened.handle, _LARGE, start).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(opened.handle)
