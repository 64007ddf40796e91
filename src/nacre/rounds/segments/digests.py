"""Compare files with their committed digests, in tasks."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nacre.errors import StorageError
from nacre.rounds.engine import TaskEngine
from nacre.rounds.segments.named_files import MISSING, DamagedFile, NamedFile
from nacre.rounds.storage import MissingFileError, file_sha256
from nacre.rounds.tables.tables import TaskPlace, TaskWork

_TASK_BYTES = 256 << 20
_TASK_FILES = 256


class DigestSpec(NamedTuple):
    """One task: files whose digests are compared."""

    place: TaskPlace
    files: tuple[NamedFile, ...]


def damaged_of(
    engine: TaskEngine, place: TaskPlace, files: Sequence[NamedFile]
) -> tuple[DamagedFile, ...]:
    """Compare files with their digests, and return those that differ.

    Args:
        engine: Runs the tasks.
        place: The work place of the tasks.
        files: The files.
    """
    specs = [DigestSpec(place, group) for group in _groups(files)]
    return tuple(file for damaged in engine.map(digest_task, specs) for file in damaged)


def _groups(files: Sequence[NamedFile]) -> Iterator[tuple[NamedFile, ...]]:
    """Yield groups of files of about the same size."""
    group: list[NamedFile] = []
    size = 0
    for file in files:
        group.append(file)
        size += file.size
        if size >= _TASK_BYTES or len(group) >= _TASK_FILES:
            yield tuple(group)
            group, size = [], 0
    if group:
        yield tuple(group)


def digest_task(spec: DigestSpec) -> list[DamagedFile]:
    """Return the files of a task that are not whole."""
    damaged = []
    with spec.place.open() as work:
        for file in spec.files:
            digest = _digest(work, file)
            if digest != file.sha256 and (file.sha256 or digest == MISSING):
                damaged.append(DamagedFile(file.name, file.sha256 or "a file", digest))
    return damaged


def _digest(work: TaskWork, file: NamedFile) -> str:
    """Return the sha256 of a file; `missing` without it; or why it cannot be read."""
    storage = work.storage
    if file.name.startswith("/") or "://" in file.name:
        return MISSING
    path = storage.local_path(file.name)
    try:
        if path is not None:
            return file_sha256(path) if path.is_file() else MISSING
        copy = work.scratch / "compared"
        storage.fetch(file.name, copy)
        return file_sha256(copy)
    except MissingFileError:
        return MISSING
    except (StorageError, OSError) as error:
        return f"it cannot be read: {error}"
