"""Names of the jobs that share slots: which job wrote a name into the table of `shared_slots.py`.

Each job writes a note at its start: its process and its directory. It holds a lock on the note, so
that the lock shows whether the job runs. Only commands that report other jobs read notes; the table
itself has no text, and taking a slot reads no note.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from nacre.machine.local_files import is_locked, lock_file, make_private

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_MOST: Final = 1_000
"""Most notes that are read: more jobs than run on one machine."""
_SIZE: Final = 4_200
"""Most bytes of a note: a process and a path (PATH_MAX is 4,096)."""
_DIGITS: Final = 10
_STALE: Final = 30 * 86_400.0
"""Seconds after which an unlocked note of another boot, or of another machine, is removed."""


class SlotOwner(NamedTuple):
    """A running job that shares slots.

    Attributes:
        name: Its name in the table.
        job: Its directory, absolute.
        pid: Its process.
    """

    name: int
    job: str
    pid: int


def slots_directory() -> Path:
    """`nacre/slots` in `$XDG_CACHE_HOME` or ~/.cache.

    Not in `$XDG_RUNTIME_DIR`: jobs started by cron and systemd have none, and must share, too.
    """
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(home).expanduser() / "nacre" / "slots"


def table_path() -> Path:
    """Return the table of this boot: the monotonic clock is the same for all its processes.

    Raises:
        OSError: The system does not name its boots.
        RuntimeError: The user has no home.
    """
    return slots_directory() / _BOOT.read_text("ascii").strip()


class OwnerNote:
    """The note of one job; it counts until `close`, or until the process ends.

    Args:
        table: The table of slots.
        name: The job's name in it.
        job: The job's directory.

    Raises:
        OSError: It cannot be written.
    """

    def __init__(self, table: Path, name: int, job: Path) -> None:
        folder = _folder(table)
        make_private(folder)
        self._path = folder / f"{table.name}.{name:08x}"
        # Who sweeps removes notes without a lock, so that the note gets its name with its lock.
        fresh = folder / f"new.{name:08x}"
        lock = lock_file(fresh)
        if lock is None:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(fresh))
        self._lock = lock
        try:
            os.write(lock, b"%d\n%s" % (os.getpid(), os.fsencode(job.resolve())))
            fresh.rename(self._path)
        except OSError:
            os.close(lock)
            raise

    def close(self) -> None:
        """Remove the note."""
        self._path.unlink(missing_ok=True)
        os.close(self._lock)


def sweep_notes(table: Path, now: float) -> None:
    """Remove the notes of jobs that ended without `close`; `now` is seconds since the epoch."""
    for path in _notes(table, ""):
        with suppress(OSError):
            old = path.lstat().st_mtime < now - _STALE
            if (old or path.name.startswith(f"{table.name}.")) and not is_locked(path):
                path.unlink()


def slot_owners(table: Path) -> list[SlotOwner]:
    """Return the running jobs that share a table; a note that cannot be read is left out."""
    owners = (_owner(path) for path in _notes(table, f"{table.name}."))
    return [owner for owner in owners if owner is not None]


def _folder(table: Path) -> Path:
    return table.parent.parent / "slot-jobs"


def _notes(table: Path, prefix: str) -> Iterator[Path]:
    """Return the regular files of this user: opening other kinds of files might block."""
    try:
        paths = (path for path in _folder(table).iterdir() if path.name.startswith(prefix))
        notes = list(islice(paths, _MOST))
    except OSError:
        return
    for path in notes:
        with suppress(OSError):  # its job has just ended
            facts = path.lstat()
            if stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid():
                yield path


def _owner(path: Path) -> SlotOwner | None:
    try:
        name = int(path.suffix[1:], 16)
        with path.open("rb") as file:
            note = file.read(_SIZE)
    except (OSError, ValueError):
        return None
    number, _, job = note.partition(b"\n")
    is_whole = number.isdigit() and len(number) <= _DIGITS and len(note) < _SIZE
    if not is_whole or not job.startswith(b"/") or b"\0" in job or not is_locked(path):
        return None
    return SlotOwner(name, os.fsdecode(job), int(number))
