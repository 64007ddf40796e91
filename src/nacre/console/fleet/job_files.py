"""The files of a job that may be looked at and downloaded.

What is shown is on a list: what runs have written. The store, the control socket, the settings and
logins are not. Each name on the way is opened below its folder, and no link is followed.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from nacre.console.problems import RefusedRequestError, not_found

_NAME: Final = re.compile(r"[^\x00-\x1f\x7f/\\]{1,255}")
_RUN: Final = re.compile(r"\d{8}T\d{6}Z(-\d+)?")
_FOLDERS: Final = frozenset(("archive", "logs", "reports"))
_ENDS: Final = re.compile(r"\.(warc|cdxj|log|txt|json|csv|html)(\.(gz|zst|zstd|bz2))?(\.open)?$")
MOST: Final = 5_000
"""Files of a list."""


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


class OpenedFile(NamedTuple):
    """A file that was opened.

    Attributes:
        handle: It; who asked closes it.
        size: Bytes that it had then.
        modified: Seconds since the epoch.
    """

    handle: int
    size: int
    modified: float


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
        raise not_found(f"file {path[:200]!r} to be downloaded")
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
        raise not_found(f"file {path}") from None
    finally:
        if at >= 0:
            os.close(at)
    facts = os.fstat(handle)
    if not stat.S_ISREG(facts.st_mode):
        os.close(handle)
        raise not_found(f"file {path}")
    return OpenedFile(handle, facts.st_size, facts.st_mtime)


def list_files(root: Path) -> list[ListedFile]:
    """The files of a job that may be looked at, the newest run first; at most `MOST`."""
    found: list[ListedFile] = []
    for run in sorted(_entries(root / "runs"), key=lambda one: one.name, reverse=True):
        for folder in sorted(_FOLDERS):
            for entry in sorted(_entries(Path(run.path, folder)), key=lambda one: one.name):
                path = f"runs/{run.name}/{folder}/{entry.name}"
                if len(found) >= MOST:
                    return found
                with suppress(OSError):
                    if is_shown(path) and entry.is_file(follow_symlinks=False):
                        facts = entry.stat(follow_symlinks=False)
                        found.append(ListedFile(path, facts.st_size, facts.st_mtime))
    return found


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
        raise RefusedRequestError(416, "range", f"the file has {size:,} bytes")
    return start, length


def pieces(opened: OpenedFile, start: int, length: int) -> Iterator[bytes]:
    """A part of a file, which is closed at its end; one that grows is read to the size it had."""
    try:
        while length > 0 and (data := os.pread(opened.handle, min(1 << 18, length), start)):
            yield data
            start, length = start + len(data), length - len(data)
    finally:
        os.close(opened.handle)
