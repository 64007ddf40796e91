"""The real disk of the seam."""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from nacre.store.seam import OperationError

REMEDIES = {
    errno.ENOSPC: "Free some space on that file system; the job then resumes where it stopped.",
    errno.EDQUOT: "Raise the quota or free some space; the job then resumes where it stopped.",
    errno.EIO: "The device reports damage: look at `dmesg` and its health before going on.",
    errno.EROFS: "That file system is read-only: mount it read-write, or choose another directory.",
    errno.EACCES: "Give this user the right to write there, or choose another directory.",
    errno.EPERM: "Give this user the right to write there, or choose another directory.",
    errno.EMFILE: "Raise the limit of open files (`ulimit -n`).",
    errno.ENFILE: "Raise the system's limit of open files (`sysctl fs.file-max`).",
    errno.EEXIST: "Something else made that file: move it away.",
    errno.ENOENT: "Restore the file that was moved or removed.",
    errno.EXDEV: "Both names must lie on one file system.",
}
_OTHER = "See the system's log for the cause, then resume the job."

_VECTOR = 512
"""Parts that one call writes; the system's limit (IOV_MAX) is 1,024."""


def failure(operation: str, path: str, error: OSError) -> OperationError:
    """Return the StorageError for an error of the system."""
    number = error.errno or 0
    name = errno.errorcode.get(number, "no errno")
    reason = f"{error.strerror or error} ({name})"
    return OperationError(operation, path, number, reason, REMEDIES.get(number, _OTHER))


@contextmanager
def _explain_errors(operation: str, path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise failure(operation, path, error) from error


class RealDisk:
    """`Disk` by system calls."""

    def __init__(self) -> None:
        self._paths: dict[int, str] = {}

    def create(self, path: str) -> int:
        """See `Disk.create`."""
        return self._open("create", path, os.O_RDWR | os.O_CREAT | os.O_EXCL)

    def open(self, path: str, *, write: bool = False) -> int:
        """See `Disk.open`."""
        return self._open("open", path, os.O_RDWR if write else os.O_RDONLY)

    def _open(self, operation: str, path: str, flags: int) -> int:
        with _explain_errors(operation, path):
            handle = os.open(path, flags | os.O_CLOEXEC, 0o644)
        self._paths[handle] = path
        return handle

    def close(self, handle: int) -> None:
        """See `Disk.close`."""
        with _explain_errors("close", self._paths.pop(handle, "?")):
            os.close(handle)

    def pwrite(self, handle: int, data: bytes, offset: int) -> None:
        """See `Disk.pwrite`."""
        with _explain_errors("write", self._paths[handle]):
            written = os.pwrite(handle, data, offset)
            while written < len(data):
                written += os.pwrite(handle, memoryview(data)[written:], offset + written)

    def pwritev(self, handle: int, parts: Sequence[bytes], offset: int) -> None:
        """See `Disk.pwritev`; spares the copy of joining them."""
        for first in range(0, len(parts), _VECTOR):
            some = parts[first : first + _VECTOR]
            size = sum(map(len, some))
            with _explain_errors("write", self._paths[handle]):
                written = os.pwritev(handle, some, offset)
            if written < size:
                self.pwrite(handle, b"".join(some)[written:], offset + written)
            offset += size

    def read(self, handle: int, offset: int, size: int) -> bytes:
        """See `Disk.read`."""
        with _explain_errors("read", self._paths[handle]):
            data = os.pread(handle, size, offset)
            while data and len(data) < size:
                more = os.pread(handle, size - len(data), offset + len(data))
                if not more:
                    break
                data += more
            return data

    def fdatasync(self, handle: int) -> None:
        """See `Disk.fdatasync`."""
        with _explain_errors("fdatasync", self._paths[handle]):
            os.fdatasync(handle)

    def fsync_dir(self, path: str) -> None:
        """See `Disk.fsync_dir`."""
        with _explain_errors("fsync of the directory", path):
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def rename(self, old: str, new: str) -> None:
        """See `Disk.rename`."""
        with _explain_errors(f"rename to {new}", old):
            Path(old).replace(new)

    def truncate(self, handle: int, size: int) -> None:
        """See `Disk.truncate`."""
        with _explain_errors("truncate", self._paths[handle]):
            os.ftruncate(handle, size)

    def allocate(self, handle: int, size: int) -> None:
        """See `Disk.allocate`."""
        with _explain_errors("allocate", self._paths[handle]):
            os.posix_fallocate(handle, 0, size)

    def unlink(self, path: str) -> None:
        """See `Disk.unlink`."""
        with _explain_errors("unlink", path):
            Path(path).unlink(missing_ok=True)

    def link(self, old: str, new: str) -> None:
        """See `Disk.link`."""
        with _explain_errors(f"link to {new}", old):
            os.link(old, new)

    def makedirs(self, path: str) -> None:
        """See `Disk.makedirs`."""
        missing = [Path(path)]
        while not missing[-1].exists():
            missing.append(missing[-1].parent)
        for directory in reversed(missing[:-1]):
            with _explain_errors("mkdir", str(directory)):
                directory.mkdir(exist_ok=True)
            self.fsync_dir(str(directory.parent))

    def size(self, path: str) -> int | None:
        """See `Disk.size`."""
        with _explain_errors("stat", path):
            try:
                status = Path(path).stat()
            except FileNotFoundError:
                return None
        return status.st_size if stat.S_ISREG(status.st_mode) else None

    def list(self, path: str) -> Sequence[str]:
        """See `Disk.list`."""
        with _explain_errors("list", path):
            try:
                return sorted(entry.name for entry in Path(path).iterdir() if entry.is_file())
            except FileNotFoundError:
                return []

    def free_space(self, path: str) -> int:
        """See `Disk.free_space`."""
        with _explain_errors("statvfs", path):
            status = os.statvfs(path)
        return status.f_bavail * status.f_frsize
