"""Files and folders of one user: private modes, whole replacement, temporary folders, locks.

Files that an operator names are read if they are ordinary ones of a limited size: a device never
ends, a pipe waits for a writer.

None of them is on the durable path of a job: that goes through `seam.py`.
"""

import errno
import fcntl
import os
import shutil
import socket
import stat
import struct
import tempfile
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import Final

_DIRECTORY = 0o700
_FILE = 0o600
_OTHERS = 0o077
_ACL = "system.posix_acl_default"
_ENTRY = struct.Struct("<HHI")
_NOBODY = 0xFFFFFFFF
_LIST = struct.pack("<I", 2) + b"".join(
    _ENTRY.pack(tag, rights, _NOBODY) for tag, rights in ((0x01, 7), (0x04, 0), (0x20, 0))
)
"""Owner: all; group and others: nothing."""


def make_private(directory: Path) -> None:
    """Make a directory for its owner only, and close it where it is there already.

    The mode of a directory protects all that is below it. Its files are closed, too, because they
    may be copied elsewhere. RocksDB sets no modes: it makes files that all may read, less the
    umask, which belongs to the whole process. So the directory gets a default access list, where
    the file system has them; a new file takes its mode from there. Source: acl(5).

    Raises:
        OSError: It cannot be made, or is not ours.
    """
    directory.mkdir(_DIRECTORY, parents=True, exist_ok=True)
    close_to_others(directory, _DIRECTORY)
    with suppress(OSError):
        os.setxattr(directory, _ACL, _LIST)


def close_to_others(path: Path, mode: int = _FILE) -> None:
    """Take the rights of group and others away.

    Raises:
        OSError: It is not ours.
    """
    if stat.S_IMODE(path.stat().st_mode) & _OTHERS:
        path.chmod(mode)


def close_tree_to_others(directory: Path) -> None:
    """Close everything below a directory, since earlier versions of Nacre left it open.

    What belongs to others, and links, stay as they are.
    """
    for folder, folders, files in os.walk(directory):
        for name in folders:
            _close(Path(folder, name))
        for name in files:
            _close(Path(folder, name))


def _close(path: Path) -> None:
    with suppress(OSError):
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode):
            make_private(path)
        elif not stat.S_ISLNK(mode) and mode & _OTHERS:
            path.chmod(_FILE)


def replace_file(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write a file atomically for its readers; after a loss of power it may be the old file.

    Args:
        path: The file.
        data: Its new content.
        mode: Who may read and write it, less the umask.

    Raises:
        OSError: It cannot be written.
    """
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    fresh.touch(mode)
    try:
        fresh.write_bytes(data)
        fresh.replace(path)
    except OSError:
        with suppress(OSError):
            fresh.unlink()
        raise


_PREFIX: Final = "nacre-"
_MAKING: Final = ".nacre-new-"
_OF_PYTHON: Final = "pymp-"
"""Folders of multiprocessing; only those count that have our lock."""
_SWEPT: Final = (_PREFIX, _MAKING, _OF_PYTHON)
_LOCK: Final = "held"
_SOCKET: Final = "control"
_OLD: Final = 86_400.0
"""Seconds after which an entry without evidence of a running process counts as abandoned."""


class HeldFolder:
    """A temporary folder of this process; it ends with `close`, or with the start after a kill.

    It holds a file that the process has locked. The kernel ends the lock with the process, so that
    the next start of a job of this user finds the folders that no process holds, and removes them.

    Args:
        kind: What it is for, in its name; "" for none.

    Attributes:
        path: The folder.

    Raises:
        OSError: It cannot be made.
    """

    def __init__(self, kind: str = "") -> None:
        folder = Path(tempfile.mkdtemp(prefix=_MAKING))
        try:
            self._lock = hold_folder(folder)
            # It gets the name of a held folder only after it is locked.
            name = folder.name.removeprefix(_MAKING)
            self.path = folder.rename(folder.with_name(f"{_PREFIX}{kind}{name}"))
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def close(self) -> None:
        """Remove the folder and its content."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def hold_folder(folder: Path) -> int:
    """Mark a temporary folder as held by this process until its end, as `HeldFolder` does.

    Args:
        folder: A folder that this process made, named as one of `HeldFolder` or multiprocessing.

    Returns:
        The file descriptor of the lock; closing it releases the folder.

    Raises:
        OSError: The lock cannot be made.
    """
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def remove_left_behind(now: float) -> None:
    """Remove the folders of this user that no process holds; `now` is seconds since the epoch."""
    place = Path(tempfile.gettempdir())
    with suppress(OSError):
        for folder in (match for name in _SWEPT for match in place.glob(f"{name}*")):
            with suppress(OSError):
                _look_at(folder, now)


def _look_at(folder: Path, now: float) -> None:
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid():
        return
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        if not folder.name.startswith(_OF_PYTHON) and _is_abandoned(folder, facts, now):
            shutil.rmtree(folder)
        return
    try:
        if not folder.name.startswith(_MAKING) or _is_old(facts, now):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
    finally:
        os.close(lock)


def _is_abandoned(folder: Path, facts: os.stat_result, now: float) -> bool:
    """Whether a folder of an earlier version is unused: its socket is dead, or links are old."""
    entries = {entry.name: entry.lstat().st_mode for entry in folder.iterdir()}
    if entries.keys() == {_SOCKET} and stat.S_ISSOCK(entries[_SOCKET]):
        with socket.socket(socket.AF_UNIX) as caller:
            return caller.connect_ex(str(folder / _SOCKET)) != 0
    ours = all(stat.S_ISLNK(mode) for mode in entries.values())
    return ours and _is_old(facts, now)


def _is_old(facts: os.stat_result, now: float) -> bool:
    return facts.st_mtime < now - _OLD


FREE = fcntl.F_UNLCK
SHARED = fcntl.F_RDLCK
OWN = fcntl.F_WRLCK

_FLOCK = struct.Struct("@hhqqi")
_TAKEN = frozenset((errno.EAGAIN, errno.EACCES))


class LockFile:
    """A file of one user whose bytes are locked: locks end with their process, and never wait.

    It and its directory are made, for this user only, if they are not there. The locks are Linux's
    "open file description locks", which belong to the open file: they hold between two files that
    one process has open, too, and a file may lock its own locks again.

    Raises:
        OSError: It cannot be used, is another user's, or does not support locks.
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
        """Return the time of the last write, seconds since the epoch; 0 for never."""
        facts = os.fstat(self._file)
        return facts.st_mtime if facts.st_size else 0.0

    def close(self) -> None:
        """Free all bytes."""
        os.close(self._file)
        self._file = -1


def lock_file(path: Path) -> int | None:
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


def is_locked(path: Path) -> bool:
    """Return whether a process has locked a file by `take`; this look locks nothing itself."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        reply = fcntl.fcntl(file, fcntl.F_OFD_GETLK, _FLOCK.pack(OWN, 0, 0, 1, 0))
    except OSError:
        return False
    finally:
        os.close(file)
    return bool(_FLOCK.unpack(reply)[0] != FREE)


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


def append_lines(path: Path, data: bytes) -> None:
    """Append whole lines to a file of its owner; a half line from a crash is ended before.

    Raises:
        OSError: It cannot be written.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(path, flags, 0o600)
    try:
        size = os.fstat(handle).st_size
        if size and os.pread(handle, 1, size - 1) != b"\n":
            data = b"\n" + data
        while data:
            data = data[os.write(handle, data) :]
        os.fdatasync(handle)
    finally:
        os.close(handle)


_KINDS = (
    (stat.S_ISDIR, ", but a directory"),
    (stat.S_ISCHR, ", but a device"),
    (stat.S_ISBLK, ", but a device"),
    (stat.S_ISFIFO, ", but a pipe, which can be read only once"),
    (stat.S_ISSOCK, ", but a socket"),
)


def home_path(name: str) -> Path:
    """Return the path of a name: `~` at its beginning is a home; unknown users stay a name."""
    return Path(os.path.expanduser(name))  # noqa: PTH111 - Path.expanduser fails for `~nobody`


def open_ordinary(path: Path) -> BufferedReader:
    """Open an ordinary file for reading.

    Raises:
        OSError: It is none, or cannot be opened; `strerror` has the reason.
    """
    _require(path.stat().st_mode, path)  # before the open, which is an event for some devices
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        _require(os.fstat(handle).st_mode, path)
        return os.fdopen(handle, "rb")
    except OSError:
        os.close(handle)
        raise


def read_ordinary(path: Path, most: int) -> bytes:
    """Return the bytes of an ordinary file.

    Args:
        path: The file.
        most: Bytes that it may have.

    Raises:
        OSError: It is not an ordinary file, cannot be read, or has more.
    """
    with open_ordinary(path) as file:
        data = file.read(most + 1) if os.fstat(file.fileno()).st_size <= most else b""
        if len(data) > most or os.fstat(file.fileno()).st_size > most:
            raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes", str(path))
    return data


def why_not_ordinary(path: Path) -> str:
    """The kind of a file that is not an ordinary one; "" for an ordinary one, and for none."""
    try:
        return _other_kind(path.stat().st_mode)
    except (OSError, ValueError):
        return ""


def _require(mode: int, path: Path) -> None:
    if kind := _other_kind(mode):
        raise OSError(errno.EINVAL, kind, str(path))


def _other_kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return ""
    return "it is not a regular file" + next((text for is_it, text in _KINDS if is_it(mode)), "")
