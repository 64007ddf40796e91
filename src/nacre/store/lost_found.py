"""`lost+found/`: bytes that no commit covers are moved there, never deleted."""

from errno import EXDEV
from pathlib import PurePosixPath

from nacre.store.seam import Disk, OperationError

NAME = "lost+found"
_CHUNK = 1 << 20


def move_tail(disk: Disk, root: str, path: str, size: int, *, sync: bool) -> str:
    """Move the bytes of a file from `size` on to `lost+found/`, durably, then truncate it.

    Args:
        disk: Has the file.
        root: Directory of the job, absolute.
        path: The file, absolute.
        size: Offset of the tail.
        sync: Sync the cut; False for a file whose fsync failed before (a later start cuts again).

    Returns:
        New path of the tail.
    """
    end = disk.size(path) or 0
    target = _free_name(disk, root, f"{PurePosixPath(path).name}.{size}-{end}")
    handle = disk.open(path, write=True)
    try:
        _copy(disk, handle, target, size, end)
        disk.truncate(handle, size)
        if sync:
            disk.fdatasync(handle)
    finally:
        disk.close(handle)
    return target


def move_file(disk: Disk, root: str, path: str) -> str:
    """Move a whole file to `lost+found/`; where it is now.

    A file of another file system goes to `lost+found/` in its own directory.
    """
    name = PurePosixPath(path).name
    try:
        return _rename(disk, path, _free_name(disk, root, name))
    except OperationError as error:
        if error.errno != EXDEV:
            raise
    return _rename(disk, path, _free_name(disk, str(PurePosixPath(path).parent), name))


def rewritten(disk: Disk, path: str, size: int, data: bytes) -> None:
    """Replace a file by a new one: its first `size` bytes, then `data`; durably."""
    temporary = f"{path}.tmp"
    disk.unlink(temporary)
    source = disk.open(path)
    try:
        _copy(disk, source, temporary, 0, size, data)
    finally:
        disk.close(source)
    disk.rename(temporary, path)
    disk.fsync_dir(str(PurePosixPath(path).parent))


def _rename(disk: Disk, path: str, target: str) -> str:
    disk.rename(path, target)
    disk.fsync_dir(str(PurePosixPath(target).parent))
    disk.fsync_dir(str(PurePosixPath(path).parent))
    return target


def _copy(disk: Disk, source: int, target: str, start: int, end: int, more: bytes = b"") -> None:
    handle = disk.create(target)
    try:
        for place in range(start, end, _CHUNK):
            data = disk.read(source, place, min(_CHUNK, end - place))
            disk.pwrite(handle, data, place - start)
        if more:
            disk.pwrite(handle, more, end - start)
        disk.fdatasync(handle)
    finally:
        disk.close(handle)
    disk.fsync_dir(str(PurePosixPath(target).parent))


def _free_name(disk: Disk, root: str, name: str) -> str:
    """Return a name not yet taken there: an earlier start may have been cut off while it moved."""
    directory = str(PurePosixPath(root, NAME))
    disk.makedirs(directory)
    existing = set(disk.list(directory))
    number = 0
    free = name
    while free in existing:
        number += 1
        free = f"{name}.{number}"
    return str(PurePosixPath(directory, free))
