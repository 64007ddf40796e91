"""The files of the reports: text and JSON. `nacre report` builds the same anew at any time."""

from contextlib import suppress
from pathlib import PurePosixPath

from nacre.errors import StorageError
from nacre.report.material import Material
from nacre.report.report import Report
from nacre.report.reports import REPORTS
from nacre.store.seam import Disk

_CHUNK = 1 << 16


def write_reports(disk: Disk, directory: str, material: Material) -> None:
    """Write the files of all default reports, as text and as JSON, each in one step.

    Args:
        disk: Where.
        directory: Absolute; made when it is not there.
        material: What they are made of.

    Raises:
        StorageError: A file cannot be written, or the store cannot be read.
        OSError: A temporary file cannot be written.
    """
    disk.makedirs(directory)
    for report in REPORTS.values():
        if report.default:
            path = PurePosixPath(directory, report.file)
            _write(disk, path, report, material)


def _write(disk: Disk, path: PurePosixPath, report: Report, material: Material) -> None:
    text = _Fresh(disk, str(path))
    data = _Fresh(disk, str(path.with_suffix(".json")))
    try:
        for line, piece in report.parts(material):
            text.add(line)
            data.add(piece)
        text.replace()
        data.replace()
    finally:
        text.close()
        data.close()


class _Fresh:
    """A file that takes the place of the former one when it is complete."""

    def __init__(self, disk: Disk, path: str) -> None:
        self._disk = disk
        self._path = path
        disk.unlink(f"{path}.new")
        self._handle: int | None = disk.create(f"{path}.new")
        self._size = 0
        self._held: list[str] = []
        self._characters = 0

    def add(self, text: str) -> None:
        """Add to its end."""
        self._held.append(text)
        self._characters += len(text)
        if self._characters >= _CHUNK:
            self._flush()

    def _flush(self) -> None:
        data = "".join(self._held).encode("utf-8", "backslashreplace")
        self._held.clear()
        self._characters = 0
        if self._handle is not None:
            self._disk.pwrite(self._handle, data, self._size)
            self._size += len(data)

    def replace(self) -> None:
        """It is complete."""
        self._flush()
        if self._handle is not None:
            self._disk.fdatasync(self._handle)
        self._disk.rename(f"{self._path}.new", self._path)

    def close(self) -> None:
        """Give the handle back, and remove what is incomplete. May be called twice."""
        handle, self._handle = self._handle, None
        if handle is not None:
            with suppress(StorageError):
                self._disk.close(handle)
            with suppress(StorageError):
                self._disk.unlink(f"{self._path}.new")
