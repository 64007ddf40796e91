"""The files of a job that may be looked at and downloaded.

What is shown is on a list: what runs have written. The store, the control socket, the settings and
logins are not. Each name on the way is opened below its folder, and no link is followed.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from nacre.console.problems import RefusedRequestError, not_found
from nacre.messages import message

_NAME: Final = re.compile(r"[^\x00-\x1f\x7f/\\]{1,255}")
_RUN: Final = re.compile(r"\d{8}T\d{6}Z(-\d+)?")
_FOLDERS: Final = frozenset(("archive", "logs", "reports"))
_ENDS: Final = re.compile(r"\.(warc|cdxj|log|txt|json|csv|html)(\.(gz|zst|zstd|bz2))?(\.open)?$")


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
        items: They, the newest run first.
        next: The place behind which the next page begins; None for none.
    """

    items: tuple[ListedFile, ...]
    next: FilePlace | None


class OpenedFile(NamedTuple):
    """A file that was opened.

    Attributes:
        handle: It; who asked closes it.
        size: Bytes that it had then.
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
    """Whether a path is that of a file that may be looked at (pure): `runs/RUN/FOLDER/FILE`.

    Args:
        path: Below the job; hostile.
    """
    parts = path.split("/")
    if len(parts) != 4 or not all(_NAME.fullmatch(part) for part in parts):
        return False
    top, run, folder, name = parts
    is_known = top == "runs" and _RUN.fullmatch(run) and folder in _FOLDERS
    return bool(is_known and not name.startswith(".") and _ENDS.search(name))


def open_file(root: Path, path: str) -> OpenedFile:
    """Open a file of a job for reading.

    Raises:
        RefusedRequestError: It is not one that is shown, or there is none (404).
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
    """The names of a job's runs, the newest first."""
    names = (entry.name for entry in _entries(root / "runs"))
    return sorted(filter(_RUN.fullmatch, names), reverse=True)


def list_files(root: Path, limit: int, after: FilePlace | None = None, run: str = "") -> FilePage:
    """A page of the files of a job that may be looked at: by run, the newest first, and by name.

    Args:
        root: Directory of the job.
        limit: Most files.
        after: The place behind which it begins; None for the first page.
        run: Only those of this run; hostile; "" for all.
    """
    found = list(islice(_places(root, after, run), limit + 1))
    items = tuple(one for _, one in found[:limit])
    return FilePage(items, found[limit - 1][0] if len(found) > limit else None)


def _places(
    root: Path, after: FilePlace | None, only: str
) -> Iterator[tuple[FilePlace, ListedFile]]:
    """The files that may be looked at behind a place, each with its own."""
    for run in run_names(root):
        if (only and run != only) or (after is not None and run > after.run):
            continue
        rest = after[1:] if after is not None and run == after.run else ("", "")
        for folder in sorted(_FOLDERS):
            if folder < rest[0]:
                continue
            for entry in sorted(_entries(root / "runs" / run / folder), key=lambda one: one.name):
                if (folder, entry.name) <= rest:
                    continue
                found = _listed(f"runs/{run}/{folder}/{entry.name}", entry)
                if found is not None:
                    yield FilePlace(run, folder, entry.name), found


def _listed(path: str, entry: "os.DirEntry[str]") -> ListedFile | None:
    """A file of a list; None for what is not shown, or is gone."""
    with suppress(OSError):
        if is_shown(path) and entry.is_file(follow_symlinks=False):
            facts = entry.stat(follow_symlinks=False)
            return ListedFile(path, facts.st_size, facts.st_mtime)
    return None


def _entries(folder: Path) -> Iterator["os.DirEntry[str]"]:
    with suppress(OSError), os.scandir(folder) as entries:
        yield from entries


def byte_range(field: str, size: int) -> tuple[int, int] | None:
    """Start and length of a Range field (pure); None for all of the file.

    Raises:
        RefusedRequestError: It lies behind the end (416).
    """
    found = re.fullmatch(r"bytes=(\d{0,18})-(\d{0,18})", field.strip())
    if found is None or not (found[1] or found[2]):
        return None
    if not found[1]:
        length = min(int(found[2]), size)
        start = size - length
    else:
        start = int(found[1])
        length = min(int(found[2]) if found[2] else size - 1, size - 1) - start + 1
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
