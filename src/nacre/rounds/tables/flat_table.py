"""The table of URLs for other engines: a folder of Parquet files, one row a URL, in plain units.

`<folder>/b00003.parquet` has the readable rows of a bucket, sorted by key; metadata are JSON. A
repeated export writes only changed buckets. Each file is replaced atomically, so that an engine
reads an old or a new file.
"""

import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from nacre.crawldb.conditions import READER_COLUMNS
from nacre.errors import ConfigError, JobError
from nacre.rounds.tables.readers import ReadSpec, TableView, rows_view
from nacre.rounds.tables.tables import CRAWLDB, BucketFiles, buckets_of

STATE = "_nacre.json"
"""The file with the sources of each file; engines ignore it."""
_LAYOUT = 1
_MAPS = ("md", "seed_md")
_COLUMNS = ", ".join(
    f'case when "{name}" is not null then to_json("{name}")::VARCHAR end as "{name}"'
    if name in _MAPS
    else f'"{name}"'
    for name in READER_COLUMNS
)


class FlatFile(msgspec.Struct, frozen=True):
    """A file of the folder: digest of its sources, "" for an unfinished file; and its rows."""

    made_of: str
    rows: int


class FlatState(msgspec.Struct, frozen=True):
    """The state of the folder.

    Attributes:
        storage: The storage whose table it is.
        version: The version that it shows.
        files: Its files by name.
    """

    storage: str
    version: int
    files: dict[str, FlatFile] = {}


class FlatResult(NamedTuple):
    """The outcome of an export.

    Attributes:
        version: The version that the folder shows.
        rows: Rows of all files.
        written: Files that were written.
        unchanged: Files that stayed.
        removed: Files of buckets that are empty now.
    """

    version: int
    rows: int
    written: int
    unchanged: int
    removed: int


class FlatSpec(NamedTuple):
    """One task: a bucket, and its target file."""

    read: ReadSpec
    target: str


def flat_task(spec: FlatSpec) -> int:
    """Write the rows of a bucket; return their number."""
    target = Path(spec.target)
    temporary = target.with_name(f".{target.name}.new")
    with spec.read.place.open() as work:
        rows_view(work, spec.read)
        path = work.scratch / "flat.parquet"
        rows = work.kernel.write(f"select {_COLUMNS} from rows order by key", str(path)).rows
        try:
            if not rows:
                target.unlink(missing_ok=True)
                return 0
            shutil.copyfile(path, temporary)
            temporary.replace(target)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise ConfigError(f"{target} cannot be written: {error.strerror or error}") from error
    return rows


def export_flat(view: TableView, folder: Path) -> FlatResult:
    """Update a folder from the table of URLs.

    Args:
        view: The version to read.
        folder: The folder, which is created.

    Raises:
        ConfigError: The folder has other files of Parquet or the table of another storage, or
            cannot be written.
        JobError: Nothing was injected yet.
    """
    if CRAWLDB not in view.version.tables:
        raise JobError("no URLs are known yet: there is no table to export")
    before = _read_state(view, folder)
    buckets = {_name(e): e for e in buckets_of(view.cycle, view.version, CRAWLDB)}
    tokens = {name: _digest(view, e) for name, e in buckets.items()}
    existing = {name: e for name, e in before.files.items() if (folder / name).is_file()}
    unchanged = {name: e for name, e in existing.items() if tokens.get(name) == e.made_of}
    names = [name for name in buckets if name not in unchanged]
    specs = [
        FlatSpec(
            ReadSpec(view.place, (buckets[name],), view.interval), str((folder / name).absolute())
        )
        for name in names
    ]
    # A killed export leaves files that the next export replaces or removes.
    in_work = dict.fromkeys([*names, *(before.files.keys() - unchanged.keys())], FlatFile("", 0))
    if in_work:
        _put_state(folder, FlatState(view.cycle.storage.place, before.version, unchanged | in_work))
    rows = view.engine.map(flat_task, specs)
    written = {name: FlatFile(tokens[name], n) for name, n in zip(names, rows, strict=True) if n}
    gone = [name for name in before.files if name not in unchanged and name not in written]
    for name in gone:
        (folder / name).unlink(missing_ok=True)
    files = dict(sorted((unchanged | written).items()))
    _put_state(folder, FlatState(view.cycle.storage.place, view.version.number, files))
    total = sum(e.rows for e in files.values())
    return FlatResult(view.version.number, total, len(written), len(unchanged), len(gone))


def _name(bucket: BucketFiles) -> str:
    return f"b{bucket.bucket:05d}.parquet"


def _digest(view: TableView, bucket: BucketFiles) -> str:
    """Return a digest of the sources of a file: equal for the same rows of the same files."""
    parts = [str(_LAYOUT), str(view.interval), _COLUMNS, *(file.path for file in bucket.all)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _read_state(view: TableView, folder: Path) -> FlatState:
    """Read the state of the folder; return a new state for an empty folder."""
    new = FlatState(view.cycle.storage.place, 0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / STATE).is_file():
            state = msgspec.json.decode((folder / STATE).read_bytes(), type=FlatState)
            _require_own(state.files, folder)
            _require_same_storage(state.storage, new.storage, folder)
            return state
        foreign = [path.name for path in folder.glob("*.parquet")]
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error.strerror or error}") from error
    except msgspec.MsgspecError as error:
        raise ConfigError(f"{folder / STATE} is no state of an export ({error})") from error
    if foreign:
        raise ConfigError(
            f"{folder} has files of Parquet that no export made, such as {foreign[0]}: name an "
            "empty folder"
        )
    return new


def _require_own(files: Mapping[str, FlatFile], folder: Path) -> None:
    """Raise ConfigError for a state with files outside of the folder."""
    for name in files:
        if Path(name).name != name:
            raise ConfigError(f"{folder / STATE} is no state of an export: it names {name}")


def _require_same_storage(before: str, now: str, folder: Path) -> None:
    """Raise ConfigError for the table of another storage: an export would replace it."""
    if before != now and os.path.realpath(before) != os.path.realpath(now):
        raise ConfigError(
            f"{folder} has the table of {before}, not of {now}: name another folder, or empty this "
            "folder if the storage has moved"
        )


def _put_state(folder: Path, state: FlatState) -> None:
    temporary = folder / f".{STATE}.new"
    try:
        temporary.write_bytes(msgspec.json.encode(state))
        temporary.replace(folder / STATE)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error.strerror or error}") from error
