"""Directories for the files of browsers; those of killed crawlers are deleted at the next start."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

PREFIX: Final = "nacre-browser-"
UIDS: Final = range(61184, 65520)
"""User ids that belong to no account, for browsers; systemd's DynamicUser takes them from there."""

_LONGEST: Final = 40
"""Longest path of a parent, bytes, with which `org.chromium.Chromium.123456/SingletonSocket` in the
directory of a browser has the 107 bytes of an address of a Unix socket."""


class ScratchDirectory:
    """A directory, mode 0700, for the files of one browser; locked while its crawler lives.

    Attributes:
        path: The directory.
    """

    def __init__(self, parent: Path, uid: int, *, is_short: bool = False) -> None:
        """Make a directory.

        Args:
            parent: Where to make it; if another user cannot get there, the directory for temporary
                files is taken in its place.
            uid: The user who owns it; 0: the user of this process.
            is_short: Whether a Unix socket is made in it, as the full Chromium does: the directory
                for temporary files is taken if the path of `parent` is too long for that.
        """
        parent.mkdir(parents=True, exist_ok=True)
        if (uid and not _is_open(parent)) or (is_short and len(os.fsencode(parent)) > _LONGEST):
            parent = Path(tempfile.gettempdir())
        # Under another name until it is locked: nothing that has the name is without its lock.
        unlocked = Path(tempfile.mkdtemp(prefix=f".{PREFIX}", dir=parent))
        self._lock = os.open(unlocked, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(self._lock, fcntl.LOCK_SH)
        self.path = unlocked.rename(unlocked.with_name(unlocked.name[1:]))
        if uid:
            with contextlib.suppress(OSError):  # a namespace in which no other user exists
                os.chown(self.path, uid, uid)

    def remove(self) -> None:
        """Delete the directory with all files."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def remove_old_directories(parent: Path) -> list[Path]:
    """Delete the directories of browsers whose crawler was killed; return them.

    Args:
        parent: Directory of this run; that for temporary files is searched too.
    """
    folders = {parent, Path(tempfile.gettempdir())}
    paths = [path for folder in folders for path in sorted(folder.glob(f"{PREFIX}*"))]
    return [path for path in paths if _remove_old(path)]


def _remove_old(path: Path) -> bool:
    """Delete a directory that is ours and not locked; return whether it was."""
    try:
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        status = os.fstat(lock)
        if status.st_uid != os.geteuid() and (os.geteuid() or status.st_uid not in UIDS):
            return False
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        shutil.rmtree(path, ignore_errors=True)
        return True
    finally:
        os.close(lock)


def _is_open(directory: Path) -> bool:
    """Whether every user can get to a directory."""
    path = directory.resolve()
    return all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents))
