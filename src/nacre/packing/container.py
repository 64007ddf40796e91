"""The ZIP file of a WACZ: entries with their digests, the list of its files, whole or not at all.

Source: WACZ 1.1.1 (webrecorder/specs), clauses "Directory Layout", "datapackage.json" and "Zip
Compression"; Frictionless Data Package 1 for the names of resources.
"""

import hashlib
import json
import os
import re
import struct
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, Final, NamedTuple, Self

from nacre.errors import JobError, StorageError
from nacre.machine.local_files import lock_file
from nacre.messages import message
from nacre.store.disk import failure

VERSION: Final = "1.1.1"
"""Version of WACZ."""
_EARLIEST: Final = 315532800.0
"""1980-01-01: ZIP has no earlier time."""
_LATEST: Final = 4354819198.0
_TIME: Final = struct.Struct("<2sHBI")
"""The extra field with the time of an entry. Source: Info-ZIP, "extended timestamp"."""
_UNNAMED: Final = re.compile(r"[^-a-z0-9._]")
_LARGE: Final = 1 << 31
"""Bytes from which an entry is written with ZIP64, so that it may exceed 4 GiB."""


@contextmanager
def whole_file(path: Path, *, replace: bool = False) -> Iterator[BinaryIO]:
    """Write a file that has its name only once it is whole and durable.

    Until then it is `.NAME.part` in the same folder. It is removed if the block fails; the next
    call replaces one that a killed process left behind.

    Args:
        path: The file.
        replace: An existing file is replaced.

    Raises:
        JobError: The file exists, or another process writes it.
        StorageError: It cannot be written.
    """
    _require_absent(path, replace=replace)
    part = path.with_name(f".{path.name}.part")
    lock = -1
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = _lock_part(part, path)
        _require_absent(path, replace=replace)  # another process may have written it
        with _open_part(part) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        _remove(part, lock)
        raise storage_error(path, error) from error
    except BaseException:
        _remove(part, lock)
        raise
    finally:
        if lock >= 0:
            os.close(lock)


def _require_absent(path: Path, *, replace: bool) -> None:
    """Refuse to replace a file.

    Raises:
        JobError: The file exists.
    """
    if path.exists() and not replace:
        raise JobError(
            message(
                "packing.file-exists",
                "{path} exists. Name another file, or replace it with --replace",
                path=path,
            )
        )


def _lock_part(part: Path, path: Path) -> int:
    """Make and lock the file that becomes another one; return the handle of the lock."""
    lock = lock_file(part)
    if lock is None:
        raise in_use(path)
    return lock


def in_use(path: Path) -> JobError:
    """Return the error of a file or folder that another process writes."""
    return JobError(
        message(
            "packing.file-in-use",
            "another process writes {path}. Wait until it has ended",
            path=path,
        )
    )


def _open_part(part: Path) -> BinaryIO:
    """Open the file of a lock; it gets the mode of a new file, as it is to be handed on."""
    handle = os.open(part, os.O_RDWR | os.O_TRUNC | os.O_CLOEXEC)
    mask = os.umask(0)
    os.umask(mask)
    os.fchmod(handle, 0o666 & ~mask)
    return os.fdopen(handle, "w+b")


def _remove(part: Path, lock: int) -> None:
    if lock >= 0:
        with suppress(OSError):
            part.unlink()


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable.

    Raises:
        OSError: It cannot be done.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def storage_error(path: Path, error: OSError) -> StorageError:
    """Return the error of a package that cannot be written, or of a file that cannot be read."""
    name = error.filename if isinstance(error.filename, str) else str(path)
    return failure("write" if error.filename is None else "open", name, error)


class PackedFile(NamedTuple):
    """An entry of a WACZ.

    Attributes:
        path: Its path in the ZIP file.
        hash: `sha256:` with the digest in base 16.
        bytes: Its length.
    """

    path: str
    hash: str
    bytes: int


class EntrySink:
    """Takes the bytes of an entry, and computes its digest.

    Attributes:
        length: Bytes so far.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self.length = 0

    def write(self, data: bytes) -> None:
        """Append bytes.

        Raises:
            OSError: The file cannot be written.
        """
        self._digest.update(data)
        self._file.write(data)
        self.length += len(data)

    def digest(self) -> str:
        """Return `sha256:` with the digest in base 16."""
        return f"sha256:{self._digest.hexdigest()}"


class WaczFile:
    """Writes the entries of a WACZ, one after the other; a context, which ends the ZIP file.

    Args:
        file: The file, open for writing, seekable.
        moment: Time of the entries, seconds since the epoch.
    """

    def __init__(self, file: BinaryIO, moment: float) -> None:
        self._zip = zipfile.ZipFile(file, "w")
        moment = min(max(moment, _EARLIEST), _LATEST)
        self._date = time.gmtime(moment)[:6]
        self._extra = _TIME.pack(b"UT", 5, 1, int(moment) & 0xFFFFFFFF)
        self._files: list[PackedFile] = []
        self._paths: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._zip.close()
        else:
            with suppress(OSError, ValueError):  # the file is removed
                self._zip.close()

    @property
    def files(self) -> tuple[PackedFile, ...]:
        """The entries that were written so far."""
        return tuple(self._files)

    def unused_path(self, folder: str, name: str, prefix: str) -> str:
        """Return a path that no entry has.

        Args:
            folder: Its folder, such as `archive`.
            name: The name that is preferred.
            prefix: Text that makes the name unique, such as the name of a job.
        """
        safe = re.sub(r"[^\w.~+=@,-]", "_", prefix)
        path, number = f"{folder}/{name}", 1
        while path in self._paths:
            more = "" if number == 1 else f"-{number}"
            path, number = f"{folder}/{safe}{more}-{name}", number + 1
        return path

    @contextmanager
    def entry(self, path: str, size: int = _LARGE, *, deflate: bool = False) -> Iterator[EntrySink]:
        """Write an entry; the block gets the object that takes its bytes.

        Args:
            path: Its path in the ZIP file.
            size: Bytes that it may have at most, as far as they are known.
            deflate: Compress it; not for content that is compressed (WACZ, "Zip Compression").

        Raises:
            OSError: The file cannot be written.
        """
        info = zipfile.ZipInfo(path, self._date)
        info.compress_type = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
        info.create_system, info.external_attr = 3, 0o644 << 16
        is_large = size >= _LARGE
        if is_large:  # wabac.js ignores the fields of an entry that has none in the directory
            info.extra = self._extra
        with self._zip.open(info, "w", force_zip64=is_large) as file:
            sink = EntrySink(file)
            yield sink
        self._paths.add(path)
        self._files.append(PackedFile(path, sink.digest(), sink.length))

    def write(self, path: str, data: bytes, *, deflate: bool = True) -> None:
        """Write an entry of which all bytes are known."""
        with self.entry(path, len(data), deflate=deflate) as sink:
            sink.write(data)

    def finish(self, facts: Mapping[str, object]) -> str:
        """Write the list of the files and its digest.

        Args:
            facts: Properties of the package, such as `title`.

        Returns:
            The digest of the list, and so of the package: `sha256:` and base 16.
        """
        package = {
            "profile": "data-package",
            "wacz_version": VERSION,
            **facts,
            "resources": [*_resources(self._files)],
        }
        data = json.dumps(package, indent=2, ensure_ascii=False).encode()
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        self.write("datapackage.json", data)
        text = json.dumps({"path": "datapackage.json", "hash": digest}, indent=2)
        self.write("datapackage-digest.json", text.encode())
        return digest


def _resources(files: list[PackedFile]) -> Iterator[dict[str, object]]:
    """Yield the files as Frictionless lists them: each name is unique and in lower case."""
    names: set[str] = set()
    for file in files:
        base = _UNNAMED.sub("-", PurePosixPath(file.path).name.lower())
        name, number = base, 1
        while name in names:
            number += 1
            name = f"{number}-{base}"
        names.add(name)
        yield {"name": name, "path": file.path, "hash": file.hash, "bytes": file.bytes}
