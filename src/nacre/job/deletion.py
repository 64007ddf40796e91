"""Deletes WARCs of a job that does not run. The history keeps the visits of their URLs.

First the store forgets the payloads in these WARCs, so that no later capture refers to them. Then
it marks the files as lost, in one commit, and then they are removed. A deletion that was cut off is
finished by the same call; no start takes it for damage.
"""

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from nacre.archive.index import index_name
from nacre.core.history import HistoryRecord, Original, without_capture
from nacre.core.states import ExitStatus
from nacre.errors import JobError
from nacre.inspect.stored_job import require_store
from nacre.job.control import is_running
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.runs.runs import read_run
from nacre.settings.settings import JobSettings
from nacre.store.disk import failure
from nacre.store.file_table import delete_row, file_rows, put_row
from nacre.store.files import FileKind, FileRow, FileState
from nacre.store.store import Store

_PORTION: Final = 10_000
"""Changes of the store in one commit."""


class DeletedWarcs(NamedTuple):
    """Files that were deleted.

    Attributes:
        files: Number of files, WARCs and indexes.
        bytes: Their size.
        payloads: Payloads that later captures cannot refer to any more.
        pages: URLs whose next visit is stored in full.
    """

    files: int
    bytes: int
    payloads: int
    pages: int


def require_deletable(layout: Layout, runs: Collection[str], store: Store | None = None) -> None:
    """Refuse a deletion from a job that runs, or from a run that can be resumed.

    Args:
        layout: The job.
        runs: Names of the runs of the WARCs.
        store: Its store, if it is open.

    Raises:
        JobError: The job runs, or one of the runs can be resumed.
    """
    if is_running(layout.socket):
        raise JobError(
            message(
                "job.deletion-runs",
                "{root} is running. Stop it first: `nacre stop {root}`",
                root=layout.root,
            )
        )
    if store is None:
        require_store(layout)
        with Store.open(str(layout.store), read_only=True) as opened:
            require_deletable(layout, runs, opened)
        return
    run = read_run(store)
    if run is not None and run.name in runs and not (
        run.closed or run.exit is ExitStatus.FINISHED
    ):  # fmt: skip
        raise JobError(
            message(
                "job.deletion-resumable",
                "run {run} can be resumed, and needs its files. End it first: `nacre end {root}`",
                run=run.name,
                root=layout.root,
            )
        )


class MovedWarc(NamedTuple):
    """A WARC that joins the job, with its index.

    Attributes:
        source: Where it is.
        target: Its place in the job.
    """

    source: Path
    target: Path


def delete_warcs(
    layout: Layout,
    settings: JobSettings,
    warcs: Collection[Path],
    runs: Collection[str],
    joining: Collection[MovedWarc] = (),
) -> DeletedWarcs:
    """Delete WARCs and their indexes.

    Args:
        layout: The job, which must not run.
        settings: Its settings.
        warcs: The WARCs, absolute.
        runs: The names of their runs.
        joining: WARCs that join the job before, as they have what others need of the deleted ones.

    Raises:
        JobError: It runs, or the run of a WARC can be resumed.
        StorageError: The store is in use, or a file cannot be removed.
    """
    with Store.open(str(layout.store), memory=settings.store.memory) as store:
        require_deletable(layout, runs, store)
        for moved in joining:
            _join(layout, store, moved)
        store.commit()
        rows = dict(_rows(layout, store, warcs))
        numbers = {number for number, row in rows.items() if row.kind is FileKind.WARC}
        payloads, pages = _forget(store, numbers)
        for number, row in rows.items():
            if row.kind is FileKind.WARC:
                put_row(store, number, replace(row, state=FileState.LOST))
            else:
                delete_row(store, number)
        store.commit()
    files = size = 0
    for path in warcs:
        for file in (path, path.with_name(index_name(path.name))):
            with suppress(FileNotFoundError):
                size += _remove(file)
                files += 1
    return DeletedWarcs(files, size, payloads, pages)


def _join(layout: Layout, store: Store, moved: MovedWarc) -> None:
    """Move a WARC and its index into the job, and make them known to the store."""
    indexes = [path.with_name(index_name(path.name)) for path in moved]
    _move_in(layout, store, FileKind.WARC, moved.source, moved.target)
    _move_in(layout, store, FileKind.INDEX, *indexes)


def _move_in(layout: Layout, store: Store, kind: FileKind, source: Path, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        source.rename(target)
        size = target.stat().st_size
    except OSError as error:
        raise failure("rename", str(target), error) from error
    name = target.relative_to(layout.root) if target.is_relative_to(layout.root) else target
    number = store.counter("files") + 1
    store.set_counter("files", number)
    put_row(store, number, FileRow(kind, f"{name}.open", str(name), FileState.CLOSED, size))


def _rows(layout: Layout, store: Store, warcs: Collection[Path]) -> Iterator[tuple[int, FileRow]]:
    """Yield the rows of WARCs and of their indexes."""
    names = {str(path) for path in warcs}
    names |= {str(path.with_name(index_name(path.name))) for path in warcs}
    for number, row in file_rows(store):
        if row.kind is not FileKind.LOG and str(layout.root / row.final) in names:
            yield number, row


def _forget(store: Store, numbers: Collection[int]) -> tuple[int, int]:
    """Forget the payloads in files, and that pages have them; return the numbers of both."""
    decode = msgspec.msgpack.Decoder(Original).decode
    lost: set[str] = set()
    keys: list[bytes] = []
    for is_base in (True, False):  # differences after their bases
        for key, value in store.scan("digests", b""):
            original = decode(value)
            if original.file in numbers if is_base else original.base in lost:
                lost.add(original.record_id)
                keys.append(key)
    pages = _forget_pages(store, numbers, lost)
    for count, key in enumerate(keys, 1):
        store.delete("digests", key)
        _commit_portion(store, count)
    store.commit()
    return len(set(keys)), pages


def _forget_pages(store: Store, numbers: Collection[int], lost: Collection[str]) -> int:
    decode, encode = msgspec.msgpack.Decoder(HistoryRecord).decode, msgspec.msgpack.encode
    changed: list[tuple[bytes, bytes]] = []
    for key, value in store.scan("history", b""):
        record = decode(value)
        base, links = record.base, record.links
        if (
            record.record_id in lost
            or (base is not None and base.record_id in lost)
            or (links is not None and links.file in numbers)
        ):
            changed.append((key, encode(without_capture(record))))
    for count, (key, value) in enumerate(changed, 1):
        store.put("history", key, value)
        _commit_portion(store, count)
    store.commit()
    return len(changed)


def _commit_portion(store: Store, changes: int) -> None:
    if changes % _PORTION == 0:
        store.commit()


def _remove(path: Path) -> int:
    """Remove a file; return its size."""
    try:
        size = path.stat().st_size
        path.unlink()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise failure("remove", str(path), error) from error
    return size
