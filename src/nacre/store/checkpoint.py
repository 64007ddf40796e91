"""Checkpoints: the store as it was at a moment, to go back to.

A checkpoint contains rows only. The files of the job stay unchanged: a restored store takes over
the newer store's table of files, so that it knows the data of later epochs and truncates nothing.
What was captured since is captured again, into new files.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from nacre.errors import JobError
from nacre.store.commit import GroupCommit
from nacre.store.files import ROWS
from nacre.store.schema import NAMES
from nacre.store.seam import Disk
from nacre.store.store import MEMORY, Store

LASTING = ("files", "epoch")
"""Counters that never go back."""

_CHUNK = 1 << 20
_FORGOTTEN = ".forgotten-"
UNFINISHED = ".tmp"
"""Behind the name of a checkpoint while RocksDB makes it."""


async def make_checkpoint(commit: GroupCommit, store: Store, path: str) -> None:
    """Make a checkpoint of a running job.

    Args:
        commit: Its group commit; the caller has closed (rotated) the WARCs before.
        store: Its store.
        path: Directory to be made, absolute; its name is the checkpoint's name.

    Raises:
        StorageError: It could not be made.
        JobError: There is one of that name.
    """
    _prepare(Path(path))
    await commit.flush()  # the files that end
    await commit.flush()  # final names, and lines in the journal
    await commit.in_writer(store.engine.flush, NAMES)
    await commit.in_writer(store.engine.checkpoint, path)
    _set_latest(Path(path))


def _prepare(path: Path) -> None:
    if path.exists():
        raise JobError(f"{path}: there is a checkpoint of that name; choose another one.")
    path.parent.mkdir(parents=True, exist_ok=True)
    for remnant in path.parent.glob(f"*{UNFINISHED}"):  # by a process that was killed meanwhile
        shutil.rmtree(remnant, ignore_errors=True)


def checkpoints(directory: str) -> list[str]:
    """Names of the checkpoints in a directory, the oldest first."""
    place = Path(directory)
    if not place.is_dir():
        return []
    folders = [f for f in place.iterdir() if _is_whole(f)]
    return [f.name for f in sorted(folders, key=lambda f: (_creation_time(f), f.name))]


def _is_whole(checkpoint: Path) -> bool:
    name = checkpoint.name
    return (
        not name.startswith(".") and not name.endswith(UNFINISHED) and _current(checkpoint).exists()
    )


def _current(checkpoint: Path) -> Path:
    """Return the file that RocksDB makes last."""
    return checkpoint / "CURRENT"


def _creation_time(checkpoint: Path) -> int:
    return _current(checkpoint).stat().st_mtime_ns


def _set_latest(checkpoint: Path) -> None:
    """Order a new checkpoint after all others, even if the clock of the machine was set back."""
    earlier = (folder for folder in checkpoint.parent.iterdir() if folder != checkpoint)
    latest = max((_creation_time(folder) for folder in earlier if _is_whole(folder)), default=0)
    if _creation_time(checkpoint) <= latest:
        os.utime(_current(checkpoint), ns=(latest + 1, latest + 1))


def forget_checkpoint(directory: str, name: str) -> None:
    """Remove a checkpoint. Cut off in the middle, it is none any more, and the next call ends it.

    Raises:
        OSError: It cannot be removed.
    """
    place = Path(directory)
    Path(place, name).rename(place / f"{_FORGOTTEN}{name}")
    for remnant in place.glob(f"{_FORGOTTEN}*"):
        shutil.rmtree(remnant)


def restore_checkpoint(
    disk: Disk,
    checkpoint: str,
    path: str,
    *,
    lasting: Sequence[str] = LASTING,
    memory: int = MEMORY,
) -> str:
    """Put a checkpoint in the place of the store of a stopped job. The next start does the rest.

    Args:
        disk: Where both are, on one file system.
        checkpoint: Directory of the checkpoint, absolute; it stays as it is.
        path: Directory of the store, absolute.
        lasting: Counters that do not go back, serials of file names among them.
        memory: Memory for each store while it is read, bytes.

    Returns:
        Where the former store is now.

    Raises:
        JobError: There is no such checkpoint.
        StorageError: The job is running; or the checkpoint is of a newer Nacre (an older one's is
            brought up to date); or the store cannot be read: then move it away by hand, copy the
            checkpoint there, and use `nacre archive JOB salvage`.
    """
    if not Path(checkpoint, "CURRENT").exists():
        raise JobError(f"{checkpoint}: there is no such checkpoint.")
    former = _find_unused(f"{path}.before")
    fresh = f"{path}.restored"
    with Store.open(path, memory=memory) as current:
        _copy(disk, checkpoint, fresh)
        with Store.open(fresh, memory=memory) as restored:
            _carry_over(current, restored, lasting)
            restored.commit()
    disk.rename(path, former)
    disk.rename(fresh, path)
    disk.fsync_dir(str(PurePosixPath(path).parent))
    return former


def _carry_over(current: Store, restored: Store, lasting: Sequence[str]) -> None:
    """Copy the table of files, their pending lines, and rows that never go back."""
    for family, start, stop in (("meta", *ROWS), ("journal", b"", None)):
        for key, _ in restored.scan(family, start, stop):
            restored.delete(family, key)
        for key, value in current.scan(family, start, stop):
            restored.put(family, key, value)
    for name in {*LASTING, *lasting}:
        restored.set_counter(name, max(current.counter(name), restored.counter(name)))


def _copy(disk: Disk, source: str, target: str) -> None:
    """Sorted files never change, so that a second name will do; all others are copied."""
    for name in disk.list(target):  # left by a restore that was cut off, or refused
        disk.unlink(str(PurePosixPath(target, name)))
    disk.makedirs(target)
    for name in disk.list(source):
        old, new = str(PurePosixPath(source, name)), str(PurePosixPath(target, name))
        if name.endswith(".sst"):
            disk.link(old, new)
        else:
            _copy_file(disk, old, new)
    disk.fsync_dir(target)


def _copy_file(disk: Disk, old: str, new: str) -> None:
    source = disk.open(old)
    target = disk.create(new)
    try:
        for place in range(0, disk.size(old) or 0, _CHUNK):
            disk.pwrite(target, disk.read(source, place, _CHUNK), place)
        disk.fdatasync(target)
    finally:
        disk.close(target)
        disk.close(source)


def _find_unused(path: str) -> str:
    number = 1
    while Path(f"{path}-{number}").exists():
        number += 1
    return f"{path}-{number}"
