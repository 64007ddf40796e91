"""Storages of the files of a cycle: the protocol, and the storage of a place.

A name is a relative path such as `versions/0000000042.json`. A file is written once, whole, and
never changed. `local.py` is a directory, `objects.py` a bucket of an object store.
"""

import hashlib
import os
import secrets
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple, Protocol

from nacre.errors import StorageError
from nacre.machine.layout import storage_folder

_BLOCK = 1 << 20


class AlreadyThereError(StorageError):
    """A file that was to be created exclusively exists; nothing was written."""


class MissingFileError(StorageError):
    """A requested file does not exist."""


class StoredFile(NamedTuple):
    """A file of a storage.

    Attributes:
        name: Its name, from the root of the storage.
        size: Bytes.
        modified: When it was written, ms since the epoch by the storage's clock.
    """

    name: str
    size: int
    modified: int


class Storage(Protocol):
    """Named files. Every failure is a `StorageError` with the name of the file.

    Attributes:
        place: The argument of `open_storage` for the same storage: a path or a URL.
    """

    place: str

    def read(self, name: str) -> bytes:
        """Return the whole content; raises `MissingFileError` if there is no such file."""
        ...

    def fetch(self, name: str, to: Path) -> None:
        """Copy a file to the local path `to`, replacing it."""
        ...

    def put(self, name: str, data: bytes) -> None:
        """Write a file, durable on return; atomically replaces a file of that name."""
        ...

    def upload(self, path: Path, name: str) -> None:
        """Store a local file, durable on return; its source may be removed, not changed."""
        ...

    def copy(self, name: str, to: str) -> None:
        """Copy a file to a second name, durable on return; replaces a file of that name.

        Raises:
            MissingFileError: There is no such file.
        """
        ...

    def create(self, name: str, data: bytes) -> None:
        """Write a file that must not exist, durable on return; of two callers one succeeds.

        Raises:
            AlreadyThereError: There is a file of that name.
        """
        ...

    def list(self, folder: str) -> Sequence[str]:
        """Return the names of the files directly in a folder, sorted; [] without a folder."""
        ...

    def walk(self, folder: str) -> Sequence[StoredFile]:
        """Return all files at any depth below a folder, sorted, including unfinished ones."""
        ...

    def delete(self, name: str) -> None:
        """Remove a file, if it exists."""
        ...

    def local_path(self, name: str) -> Path | None:
        """Return the local path of a file; None if it has to be fetched."""
        ...


def open_storage(place: str) -> Storage:
    """Open the storage of a directory, or of a URL such as `s3://bucket/folder`.

    Raises:
        ConfigError: No storage has such a URL, or the extra `objects` is not installed.
    """
    folder = storage_folder(place)
    if folder is None:
        from nacre.rounds.storage.objects import open_objects  # noqa: PLC0415 - an extra

        return open_objects(place)
    from nacre.rounds.storage.local import LocalStorage  # noqa: PLC0415 - one of the two

    return LocalStorage(folder)


def remove_folder(storage: Storage, folder: str) -> None:
    """Remove all files below a folder, and on a local disk the folder itself.

    Args:
        storage: The storage.
        folder: Name of a folder without other writers.
    """
    for file in storage.walk(folder):
        storage.delete(file.name)
    remove_empty_folders(storage, folder)


def remove_empty_folders(storage: Storage, folder: str, *, before: int | None = None) -> None:
    """Remove the folders at any depth below a folder that are empty, then the folder itself.

    Args:
        storage: The storage; one of objects has no folders.
        folder: Name of the folder.
        before: Only folders below it without a change since then, ms since the epoch, and not the
            folder itself; None for all.
    """
    root = storage.local_path(folder)
    if root is None or not root.is_dir():
        return
    paths = sorted((path for path in root.rglob("*") if path.is_dir()), reverse=True)
    for path in [*paths, root] if before is None else paths:
        with suppress(OSError):  # it is not empty, or another process has removed it
            if before is None or path.stat().st_mtime_ns // 1_000_000 < before:
                path.rmdir()


def require_writable(storage: Storage) -> None:
    """Write a file and remove it, before work begins whose results could not be stored.

    Args:
        storage: The storage.

    Raises:
        StorageError: It cannot be written.
    """
    name = f"probes/{socket.gethostname()}-{os.getpid()}"
    storage.put(name, b"")
    storage.delete(name)


def leave_probe(storage: Storage) -> str:
    """Write a file for another machine to find, and return its name; the reader removes it.

    Args:
        storage: The storage.

    Raises:
        StorageError: It cannot be written.
    """
    name = f"probes/{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(6)}"
    storage.put(name, name.encode())
    return name


def localize(storage: Storage, name: str, scratch: Path) -> Path:
    """Return a local file with this content: the file itself, or a copy below `scratch`."""
    path = storage.local_path(name)
    if path is not None:
        return path
    copy = scratch / name
    if not copy.exists():
        copy.parent.mkdir(parents=True, exist_ok=True)
        storage.fetch(name, copy)
    return copy


def check_name(name: str) -> str:
    """Return the name, if it is a plain relative path.

    Raises:
        StorageError: It leads out of the storage, or is no such path.
    """
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\0" in name:
        raise StorageError(f"{name!r} is not the name of a file in a storage: use a relative path")
    return name


def file_sha256(path: Path) -> str:
    """Return the sha256 of a local file, as hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
