"""A file of one user whose bytes are locked: locks end with their process, and never wait.

They are Linux's "open file description locks", which belong to the open file: they hold between two
files that one process has open, too, and what a file has locked it may lock again.
"""

import errno
import fcntl
import os
import stat
import struct
from pathlib import Path

FREE = fcntl.F_UNLCK
SHARED = fcntl.F_RDLCK
OWN = fcntl.F_WRLCK

_FLOCK = struct.Struct("@hhqqi")
_TAKEN = frozenset((errno.EAGAIN, errno.EACCES))


class LockFile:
    """Opens it; it and its directory are made, for this user only, if they are not there.

    Raises:
        OSError: It cannot be used, is another user's, or knows no locks.
    """

    def __init__(self, path: Path) -> None:
        _own_directory(path.parent)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            _check_owner(os.fstat(self._file), path)
            self.lock(0, FREE)
        except BaseException:
            self.close()
            raise

    def lock(self, byte: int, kind: int) -> bool:
        """Lock a byte, or change its lock; False when another has it, and then all is as before.

        Raises:
            OSError: Locks do not work.
        """
        try:
            fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, _FLOCK.pack(kind, 0, byte, 1, 0))
        except OSError as error:
            if error.errno in _TAKEN:
                return False
            raise
        return True

    def read(self, size: int, offset: int) -> bytes:
        """Read; NULs where nothing was written."""
        return os.pread(self._file, size, offset).ljust(size, b"\0")

    def write(self, data: bytes, offset: int) -> None:
        """Write."""
        os.pwrite(self._file, data, offset)

    def written(self) -> float:
        """When it was last written to, seconds since the epoch; 0 for never."""
        facts = os.fstat(self._file)
        return facts.st_mtime if facts.st_size else 0.0

    def close(self) -> None:
        """Free all bytes."""
        os.close(self._file)
        self._file = -1


def take(path: Path) -> int | None:
    """Lock a file for this process until the handle that is returned is closed; made when missing.

    Returns:
        The handle; None when another process has it.

    Raises:
        OSError: It cannot be made or locked.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, _FLOCK.pack(OWN, 0, 0, 1, 0))
    except OSError as error:
        os.close(file)
        if error.errno in _TAKEN:
            return None
        raise
    return file


def is_taken(path: Path) -> bool:
    """Whether a process has locked a file by `take`; this look locks nothing itself."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        found = fcntl.fcntl(file, fcntl.F_OFD_GETLK, _FLOCK.pack(OWN, 0, 0, 1, 0))
    except OSError:
        return False
    finally:
        os.close(file)
    return bool(_FLOCK.unpack(found)[0] != FREE)


def _own_directory(path: Path) -> None:
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    facts = path.lstat()
    _check_owner(facts, path)
    if not stat.S_ISDIR(facts.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    path.chmod(0o700)


def _check_owner(facts: os.stat_result, path: Path) -> None:
    if facts.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "it belongs to another user", str(path))
