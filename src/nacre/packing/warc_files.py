"""WARC files of a selection, each with its index."""

import errno
import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import msgspec

from nacre.archive.index import sort_index
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import Holding
from nacre.catalogue.lookup import open_index
from nacre.errors import JobError
from nacre.machine.local_files import replace_file
from nacre.messages import message
from nacre.packing.cdx_index import capture_line
from nacre.packing.container import EntrySink, in_use, storage_error, sync_folder, whole_file
from nacre.packing.selection import (
    SelectionReport,
    SelectionSource,
    SelectionWriter,
    WrittenCapture,
)
from nacre.packing.wacz import (
    MAX_FILE_SIZE,
    PackOptions,
    Progress,
    Tell,
    nothing_to_pack,
    scratch_folder,
)
from nacre.packing.warc_output import OutputSettings, WarcOutput

_SUFFIX = ".warc.gz"


class PackedWarcs(msgspec.Struct, frozen=True, kw_only=True):
    """WARC files that were written.

    Attributes:
        paths: The files.
        bytes: Their size.
        selection: What they have.
    """

    paths: tuple[Path, ...]
    bytes: int
    selection: SelectionReport


def pack_warcs(
    holding: Holding,
    target: Path,
    captures: Iterable[IndexedCapture],
    options: PackOptions,
    tell: Tell,
) -> PackedWarcs:
    """Write captures as WARC files, compressed, with an index each; all of them or none.

    Args:
        holding: Where the captures are.
        target: A file `NAME.warc.gz`; or a folder that is not there or empty, for several files.
        captures: The captures, in any order.
        options: How revisits are written, and the date.
        tell: Receives the progress.

    Raises:
        JobError: There are none, or the target exists.
        StorageError: A file cannot be read or written, or the disk is full.
    """
    if target.name.endswith(_SUFFIX):
        return _pack_file(holding, target, captures, options, tell)
    try:
        with _locked_folder(target, replace=options.replace), scratch_folder(target) as scratch:
            files = _SelectionFiles(holding, options, tell, scratch / "files")
            files.folder.mkdir(parents=True)
            settings = _settings(holding, options.stem, options, is_single=False)
            output = WarcOutput(settings, files.open_output)
            report = files.write(captures, output, scratch)
            files.write_indexes()
            paths = [files.move(name, target) for name in output.names]
            sync_folder(target)
    except OSError as error:
        raise storage_error(target, error) from error
    return PackedWarcs(
        paths=tuple(paths), bytes=sum(path.stat().st_size for path in paths), selection=report
    )


@contextmanager
def _locked_folder(folder: Path, *, replace: bool) -> Iterator[None]:
    """Make a folder, and lock it against other processes; if the block fails, a new one is removed.

    Raises:
        JobError: It has files that may not be replaced, or another process writes into it.
        OSError: It cannot be made.
    """
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _lock(handle, folder)
        if not replace:
            _require_empty(folder)
        try:
            yield
        except BaseException:
            if is_new:
                with suppress(OSError):
                    folder.rmdir()
            raise
    finally:
        os.close(handle)


def _lock(handle: int, folder: Path) -> None:
    """Lock an open folder until it is closed.

    Raises:
        JobError: Another process has locked it.
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise in_use(folder) from None
    except OSError as error:  # file systems of networks lock no folders
        if error.errno not in (errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP):
            raise


def _require_empty(folder: Path) -> None:
    if any(folder.iterdir()):
        raise JobError(
            message(
                "packing.folder-in-use",
                "{path} is not empty. Name another folder, or a file NAME.warc.gz",
                path=folder,
            )
        )


def _pack_file(
    holding: Holding,
    target: Path,
    captures: Iterable[IndexedCapture],
    options: PackOptions,
    tell: Tell,
) -> PackedWarcs:
    files = _SelectionFiles(holding, options, tell, target.parent)
    stem = target.name.removesuffix(_SUFFIX)
    with whole_file(target, replace=options.replace) as file, scratch_folder(target) as scratch:

        @contextmanager
        def open_output(_: str) -> Iterator[EntrySink]:
            yield EntrySink(file)

        output = WarcOutput(_settings(holding, stem, options, is_single=True), open_output)
        report = files.write(captures, output, scratch)
        size = file.tell()
    try:
        files.write_indexes()
    except OSError as error:
        raise storage_error(target, error) from error
    return PackedWarcs(paths=(target,), bytes=size, selection=report)


def _settings(
    holding: Holding, stem: str, options: PackOptions, *, is_single: bool
) -> OutputSettings:
    about = [("isPartOf", holding.title), ("description", options.description)]
    return OutputSettings(
        stem, is_single, MAX_FILE_SIZE, int(options.created * 1e6),
        tuple((name, value) for name, value in about if value),
    )  # fmt: skip


class _SelectionFiles:
    """The files that are being written, and the lines of their indexes."""

    def __init__(self, holding: Holding, options: PackOptions, tell: Tell, folder: Path) -> None:
        self._holding = holding
        self._options = options
        self._progress = Progress(0, tell)
        self.folder = folder
        self._lines: dict[str, list[bytes]] = {}

    def write(
        self, captures: Iterable[IndexedCapture], output: WarcOutput, scratch: Path
    ) -> SelectionReport:
        """Write the captures.

        Raises:
            JobError: There are none.
            OSError: A file cannot be read or written.
        """
        holding, options = self._holding, self._options
        source = SelectionSource(
            holding,
            open_index(holding),
            scratch,
            options.resolve,
            options.with_originals,
            options.with_warcinfo,
        )
        try:
            writer = SelectionWriter(source, output, self.add, self._progress.add)
            report = writer.write(captures)
        except BaseException as error:
            output.abandon(error)
            raise
        output.close()
        if not report.captures:
            raise nothing_to_pack(holding)
        return report

    def open_output(self, name: str) -> AbstractContextManager[EntrySink]:
        """Open a WARC."""
        return self._open(name)

    @contextmanager
    def _open(self, name: str) -> Iterator[EntrySink]:
        with (self.folder / name).open("wb") as file:
            yield EntrySink(file)
            file.flush()
            os.fsync(file.fileno())

    def add(self, written: WrittenCapture) -> None:
        """Note the line of a capture."""
        lines = self._lines.setdefault(written.capture.warc, [])
        lines.append(capture_line(written.capture) + b"\n")

    def write_indexes(self) -> None:
        """Write the indexes."""
        for name, lines in self._lines.items():
            path = self.folder / f"{name.removesuffix(_SUFFIX)}.cdxj"
            replace_file(path, sort_index(b"".join(lines)))

    def move(self, name: str, target: Path) -> Path:
        """Move a WARC and its index to their folder; return the WARC."""
        index = f"{name.removesuffix(_SUFFIX)}.cdxj"
        if (self.folder / index).exists():
            (self.folder / index).replace(target / index)
        return (self.folder / name).replace(target / name)
