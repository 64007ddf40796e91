"""The files of runs: WARCs with their indexes, the settings of a run, and the list of its files."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from nacre.archive.index import index_of
from nacre.config.facts import fields, value_at
from nacre.config.layer import SettingOrigin
from nacre.config.secret import Secret, masked
from nacre.errors import StorageError
from nacre.machine.layout import EFFECTIVE, Layout, storage_folder
from nacre.machine.local_files import replace_file
from nacre.messages import message
from nacre.report.browser_tally import browser_tally
from nacre.runs.runs import RunRow
from nacre.settings.settings import JobSettings
from nacre.settings.variables import for_run, known_part
from nacre.store.file_table import file_rows
from nacre.store.files import FileState
from nacre.store.store import Store

MANIFEST = "manifest.json"
_SUFFIXES = (".warc", ".warc.gz", ".warc.open", ".warc.gz.open")

OriginOf = Callable[[str], object]
"""Return the origin of the value of a path; its text is for people."""


def effective(settings: JobSettings, origin: OriginOf) -> dict[str, dict[str, object]]:
    """Return each setting by its path: value and origin; of secrets, their references."""
    return {
        facts.path: {
            "value": masked(_plain(value_at(settings, facts.path))),
            "origin": str(origin(facts.path)),
        }
        for facts in fields(JobSettings)
    }


def _plain(value: object) -> object:
    if isinstance(value, Secret):
        return value.as_setting()
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, tuple | frozenset | list):
        items = [_plain(item) for item in value]
        return items if isinstance(value, tuple | list) else sorted(items, key=str)
    return value


def unknown_origin(_: str) -> str:
    """Return the origin of settings whose origin is not known."""
    return "program"


def after_set(at_start: OriginOf, fresh: OriginOf, changed: frozenset[str]) -> OriginOf:
    """Origins once `nacre set` changed some values and the lines of the file.

    Args:
        at_start: Origins at the start, with those of `--set`.
        fresh: Those of the file as it is now.
        changed: Paths that were set.
    """

    def origin(path: str) -> object:
        old, new = at_start(path), fresh(path)
        if any(
            path == setting_path or path.startswith(f"{setting_path}.") for setting_path in changed
        ):
            return new._replace(source="nacre set") if isinstance(new, SettingOrigin) else new
        return new if isinstance(old, SettingOrigin) and old.source == "file" else old

    return origin


def write_effective(run: Path, settings: JobSettings, origin: OriginOf) -> None:
    """Write `effective.json` of a run; each start replaces it.

    Raises:
        StorageError: It cannot be written.
    """
    _write(run / EFFECTIVE, effective(settings, origin))


def write_manifest(run: Path, row: RunRow, store: Store) -> None:
    """Write `manifest.json` of a run that ended: how, when, and its files with their sizes.

    Raises:
        StorageError: It cannot be written.
    """
    facts = {
        "run": row.name,
        "number": row.number,
        "mode": row.mode,
        "parent": row.parent,
        "budget": row.budget,
        "keep": row.keep,
        "exit": str(row.exit),
        "started": row.started,
        "ended": row.ended,
        "browser": browser_tally(store).browser,
        "files": list(_files(store, f"runs/{row.name}/")),
    }
    _write(run / MANIFEST, facts)


def _files(store: Store, prefix: str) -> Iterator[dict[str, Any]]:
    for _, file in file_rows(store):
        path = file.path if file.state is FileState.OPEN else file.final
        if path.startswith(prefix) and file.state is not FileState.LOST:
            yield {"path": path, "kind": str(file.kind.value), "bytes": file.size}


def _write(path: Path, facts: object) -> None:
    text = json.dumps(facts, indent=1, default=str) + "\n"
    try:
        replace_file(path, text.encode())
    except OSError as error:
        raise StorageError(
            message(
                "runs.cannot-be-written",
                "{path} cannot be written: {strerror}",
                path=path,
                strerror=error.strerror,
            )
        ) from error


def warc_files(layout: Layout, settings: JobSettings) -> Iterator[tuple[Path, Path | None]]:
    """Yield every WARC with its index (None: there is none), in order of runs and names."""
    for directory in archive_directories(layout, settings):
        for path in sorted(directory.iterdir()):
            if path.name.endswith(_SUFFIXES):
                yield path, index_of(path)


def archive_directories(layout: Layout, settings: JobSettings) -> Iterator[Path]:
    """Directories that hold WARCs: those of the runs, and that of batch rounds on this machine."""
    runs = layout.root / "runs"
    run_folders = sorted(runs.iterdir()) if runs.is_dir() else []
    named = {
        Path(run, directory): None
        for run in run_folders
        for directory in for_run(settings, run.name).archive.directories
    }
    if not run_folders:
        named = {Path(known_part(name)): None for name in settings.archive.directories}
    rounds = rounds_archive(layout, settings)
    if rounds is not None:
        named[rounds] = None
    yield from (place for place in named if place.is_absolute() and place.is_dir())


def rounds_archive(layout: Layout, settings: JobSettings) -> Path | None:
    """Directory of the WARCs of batch rounds, each with an index; None in an object store."""
    rounds = storage_folder(settings.cycle.storage or str(layout.cycle))
    return None if rounds is None else rounds / "archive"
