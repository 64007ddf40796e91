"""A storage in a directory, through the interface `Disk`.

A file is written under a temporary name and synced. `put` and `upload` then rename it; `create`
gives it its name by link(2), which fails where the name exists, on NFS too, as rename does not.
"""

import errno
import secrets
from collections.abc import Sequence
from pathlib import Path

from nacre.rounds.storage import AlreadyThereError, MissingFileError, StoredFile, check_name
from nacre.store.disk import RealDisk, failure
from nacre.store.seam import Disk, OperationError

TEMPORARY = ".new-"
"""Prefix of the names of unfinished files."""

_BLOCK = 4 << 20


class LocalStorage:
    """`Storage` in a directory, which is made at the first write.

    Attributes:
        place: The directory, absolute.
    """

    def __init__(self, root: Path, disk: Disk | None = None) -> None:
        self.place = str(root.absolute())
        self._root = root.absolute()
        self._disk = disk or RealDisk()

    def read(self, name: str) -> bytes:
        """See `Storage.read`."""
        path = self._path(name)
        size = self._disk.size(path)
        if size is None:
            raise MissingFileError(f"{path}: there is no such file. Restore the removed file.")
        handle = self._disk.open(path)
        try:
            return self._disk.read(handle, 0, size)
        finally:
            self._disk.close(handle)

    def fetch(self, name: str, to: Path) -> None:
        """See `Storage.fetch`."""
        path = Path(self._path(name))
        if not path.is_file():
            raise MissingFileError(f"{path}: there is no such file. Restore the removed file.")
        try:
            with path.open("rb") as source, to.open("wb") as target:
                while block := source.read(_BLOCK):
                    target.write(block)
        except OSError as error:
            raise failure("copy", str(to), error) from error

    def put(self, name: str, data: bytes) -> None:
        """See `Storage.put`."""
        path = self._path(name)
        temporary = self._write_temporary(path, data)
        self._disk.rename(temporary, path)
        self._disk.fsync_dir(_folder(path))

    def upload(self, path: Path, name: str) -> None:
        """See `Storage.upload`; on one file system it is a second name, not a copy."""
        handle = self._disk.open(str(path), write=True)
        try:
            self._disk.fdatasync(handle)
        finally:
            self._disk.close(handle)
        self._link(str(path), self._path(name))

    def copy(self, name: str, to: str) -> None:
        """See `Storage.copy`; it is a second name of one file."""
        source = self._path(name)
        if self._disk.size(source) is None:
            raise MissingFileError(f"{source}: there is no such file. Restore the removed file.")
        self._link(source, self._path(to))

    def _link(self, source: str, target: str) -> None:
        """Give a synced file a name in the storage."""
        temporary = self._temporary(target)
        try:
            self._disk.link(source, temporary)
        except OperationError as error:
            # Another file system, or one without links.
            if error.errno not in {errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP}:
                raise
            self._copy(source, temporary)
        self._disk.rename(temporary, target)
        # rename(2) does nothing when both names are of one file already.
        self._disk.unlink(temporary)
        self._disk.fsync_dir(_folder(target))

    def create(self, name: str, data: bytes) -> None:
        """See `Storage.create`."""
        path = self._path(name)
        temporary = self._write_temporary(path, data)
        try:
            self._disk.link(temporary, path)
        except OperationError as error:
            if error.errno != errno.EEXIST:
                raise
            raise AlreadyThereError(f"{path}: another process has created it") from error
        finally:
            self._disk.unlink(temporary)
        self._disk.fsync_dir(_folder(path))

    def list(self, folder: str) -> Sequence[str]:
        """See `Storage.list`."""
        names = self._disk.list(self._path(folder))
        return [f"{folder}/{name}" for name in sorted(names) if not name.startswith(TEMPORARY)]

    def walk(self, folder: str) -> Sequence[StoredFile]:
        """See `Storage.walk`."""
        files = []
        for path in sorted(Path(self._path(folder)).rglob("*")):
            try:
                status = path.stat()
            except FileNotFoundError:
                continue  # it was removed meanwhile
            if path.is_file():
                name = path.relative_to(self._root).as_posix()
                files.append(StoredFile(name, status.st_size, status.st_mtime_ns // 1_000_000))
        return files

    def delete(self, name: str) -> None:
        """See `Storage.delete`."""
        path = self._path(name)
        if self._disk.size(path) is not None:
            self._disk.unlink(path)
            self._disk.fsync_dir(_folder(path))

    def local_path(self, name: str) -> Path | None:
        """See `Storage.local_path`; always known."""
        return Path(self._path(name))

    def _path(self, name: str) -> str:
        return str(self._root / check_name(name))

    def _temporary(self, path: str) -> str:
        folder = _folder(path)
        self._disk.makedirs(folder)
        return f"{folder}/{TEMPORARY}{secrets.token_hex(8)}"

    def _write_temporary(self, path: str, data: bytes) -> str:
        """A synced temporary file beside `path` with this content."""
        temporary = self._temporary(path)
        handle = self._disk.create(temporary)
        try:
            self._disk.pwrite(handle, data, 0)
            self._disk.fdatasync(handle)
        finally:
            self._disk.close(handle)
        return temporary

    def _copy(self, source: str, target: str) -> None:
        size = self._disk.size(source) or 0
        reader = self._disk.open(source)
        writer = self._disk.create(target)
        try:
            for offset in range(0, size, _BLOCK):
                self._disk.pwrite(writer, self._disk.read(reader, offset, _BLOCK), offset)
            self._disk.fdatasync(writer)
        finally:
            self._disk.close(reader)
            self._disk.close(writer)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
