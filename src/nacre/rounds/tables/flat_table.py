"""The table of URLs for other engines: a folder of Parquet files, one row a URL, in plain units.

`<folder>/b00003.parquet` has the rows of a bucket as readers show them, sorted by key; metadata are
JSON. Another export writes the buckets anew that have changed since, and leaves the others. Each
file is replaced in one step, so that an engine sees an old file or a new one.
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
"""The file that says which files of tables each file was made of; engines pass over it."""
_LAYOUT = 1
_MAPS = ("md", "seed_md")
_COLUMNS = ", ".join(
    f'case when "{name}" is not null then to_json("{name}")::VARCHAR end as "{name}"'
    if name in _MAPS
    else f'"{name}"'
    for name in READER_COLUMNS
)


class FlatFile(msgspec.Struct, frozen=True):
    """A file of the folder: what it was made of, "" for a file in work; and its rows."""

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
    """One task: a bucket, and the file that it becomes."""

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
    """Bring a folder up to date with the table of URLs.

    Args:
        view: The version that is read.
        folder: The folder; it is made.

    Raises:
        ConfigError: The folder has other files of Parquet or the table of another storage, or
            cannot be written.
        JobError: Nothing was injected yet.
    """
    if CRAWLDB not in view.version.tables:
        raise JobError("no URLs are known yet: there is no table to export")
    before = _state(view, folder)
    buckets = {_name(one): one for one in buckets_of(view.cycle, view.version, CRAWLDB)}
    tokens = {name: _token(view, one) for name, one in buckets.items()}
    known = {name: one for name, one in before.files.items() if (folder / name).is_file()}
    kept = {name: one for name, one in known.items() if tokens.get(name) == one.made_of}
    names = [name for name in buckets if name not in kept]
    specs = [
        FlatSpec(
            ReadSpec(view.place, (buckets[name],), view.interval),
            str((folder / name).absolute()),
        )
        for name in names
    ]
    # An export that is killed leaves files that the next one replaces or removes.
    in_work = dict.fromkeys([*names, *(before.files.keys() - kept.keys())], FlatFile("", 0))
    if in_work:
        _put_state(folder, FlatState(view.cycle.storage.place, before.version, kept | in_work))
    rows = view.engine.map(flat_task, specs)
    made = {name: FlatFile(tokens[name], n) for name, n in zip(names, rows, strict=True) if n}
    gone = [name for name in before.files if name not in kept and name not in made]
    for name in gone:
        (folder / name).unlink(missing_ok=True)
    files = dict(sorted((kept | made).items()))
    _put_state(folder, FlatState(view.cycle.storage.place, view.version.number, files))
    total = sum(one.rows for one in files.values())
    return FlatResult(view.version.number, total, len(made), len(kept), len(gone))


def _name(bucket: BucketFiles) -> str:
    return f"b{bucket.bucket:05d}.parquet"


def _token(view: TableView, bucket: BucketFiles) -> str:
    """What a file is made of: equal for the same rows of the same files."""
    parts = [str(_LAYOUT), str(view.interval), _COLUMNS, *(file.path for file in bucket.all)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _state(view: TableView, folder: Path) -> FlatState:
    """The state of the folder; a new one for an empty folder."""
    new = FlatState(view.cycle.storage.place, 0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / STATE).is_file():
            state = msgspec.json.decode((folder / STATE).read_bytes(), type=FlatState)
            _require_own(state.files, folder)
            _require_same_storage(state.storage, new.storage, folder)
            return state
        others = [path.name for path in folder.glob("*.parquet")]
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error.strerror or error}") from error
    except msgspec.MsgspecError as error:
        raise ConfigError(f"{folder / STATE} is no state of an export ({error})") from error
    if others:
        raise ConfigError(
            f"{folder} has files of Parquet that no export made, such as {others[0]}: name an "
            "empty folder"
        )
    return new


def _require_own(files: Mapping[str, FlatFile], folder: Path) -> None:
    """Raise ConfigError for a state that names files elsewhere."""
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
