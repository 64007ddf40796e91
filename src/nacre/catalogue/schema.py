"""The database of a catalogue: its tables, and how it is opened for reading and for writing.

It is made from the indexes (CDXJ), and can be made again from them: a database of another format,
or a damaged one, is deleted. Why the tables are as they are: a key is long, so it is stored once,
in a table that is its own index; every other index has only numbers. Statuses other than 200 are
few, and so is their index. Measured by bench/catalogue.py.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

from nacre.errors import StorageError
from nacre.machine.local_files import close_to_others
from nacre.messages import message

FORMAT: Final = 1
"""Number of the format; a database of another one is made again."""
DATABASE: Final = "catalogue.db"
"""Name of the database in its folder."""
LOCK: Final = "catalogue.lock"
"""Name of the file that a building process locks."""

_CACHE: Final = 64_000
"""Pages that a building process holds in memory, KiB."""
_BUSY: Final = 5.0
"""Seconds that a reader waits for a writer that recovers the database."""

_SCHEMA = """
CREATE TABLE capture (
    id INTEGER PRIMARY KEY, url TEXT, time INTEGER, length INTEGER, status INTEGER, mime INTEGER,
    verdict INTEGER, digest BLOB, posted TEXT);
CREATE TABLE capture_key (
    key TEXT, time INTEGER, id INTEGER, PRIMARY KEY (key, time, id)) WITHOUT ROWID;
CREATE INDEX by_time ON capture (time);
CREATE INDEX by_mime ON capture (mime, time);
CREATE INDEX by_status ON capture (status, time) WHERE status <> 200;
CREATE TABLE media (number INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE warc (
    number INTEGER PRIMARY KEY, name TEXT UNIQUE, run TEXT, oldest INTEGER, newest INTEGER);
CREATE TABLE source (
    name TEXT PRIMARY KEY, size INTEGER, modified INTEGER, position INTEGER, is_open INTEGER,
    last BLOB, lines INTEGER, repeated INTEGER) WITHOUT ROWID;
CREATE TABLE facet (
    kind TEXT, value, number INTEGER, PRIMARY KEY (kind, value)) WITHOUT ROWID;
CREATE INDEX by_number ON facet (kind, number);
CREATE TABLE state (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
"""


def open_writable(folder: Path) -> sqlite3.Connection:
    """Open the database of a folder for its builder; made if it is absent, or of another format.

    The caller holds the lock of the folder.

    Args:
        folder: The folder.

    Raises:
        StorageError: It cannot be made.
    """
    path = folder / DATABASE
    for is_last in (False, True):
        try:
            return _open_or_make(path)
        except sqlite3.OperationalError as error:  # a full disk, no permission: not damage
            raise storage_error(path, error) from error
        except sqlite3.DatabaseError as error:
            if is_last:
                raise storage_error(path, error) from error
            remove_database(folder)
    raise AssertionError(path)


def _open_or_make(path: Path) -> sqlite3.Connection:
    is_new = not path.exists()
    database = sqlite3.connect(path, timeout=_BUSY, isolation_level=None)
    try:
        if is_new:
            close_to_others(path)
        version = _version_of(database)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        database.execute(f"PRAGMA cache_size=-{_CACHE}")
        if version == 0:
            database.executescript(f"BEGIN;{_SCHEMA}PRAGMA user_version={FORMAT};COMMIT;")
    except BaseException:
        database.close()
        raise
    return database


def _version_of(database: sqlite3.Connection) -> int:
    """Return the format of a database; 0 if it is empty.

    Raises:
        sqlite3.DatabaseError: It is another one, or no database.
    """
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version not in (0, FORMAT):
        raise sqlite3.DatabaseError(version)
    return int(version)


def remove_database(folder: Path) -> None:
    """Delete the database of a folder, and its log. The caller holds the lock of the folder."""
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            (folder / f"{DATABASE}{suffix}").unlink()


@contextmanager
def reading_database(folder: Path) -> Iterator[sqlite3.Connection | None]:
    """Open the database of a folder for reading; None if there is none, or it is damaged.

    The block sees one state of it, also while a builder writes.

    Args:
        folder: The folder.

    Raises:
        StorageError: The block reads a part of it that is damaged.
    """
    path = folder / DATABASE
    database = _open_readable(path) if path.is_file() else None
    try:
        yield database
    except sqlite3.DatabaseError as error:
        raise StorageError(
            message(
                "catalogue.cannot-read",
                "{path} cannot be read: {reason}. Delete the file: it is made again",
                path=str(path),
                reason=str(error),
            )
        ) from error
    finally:
        if database is not None:
            database.close()


def _open_readable(path: Path) -> sqlite3.Connection | None:
    # The builder may be in another process: `mode=ro` never makes or changes the database.
    address = f"file:{quote(str(path))}?mode=ro"
    try:
        database = sqlite3.connect(address, uri=True, timeout=_BUSY, isolation_level=None)
    except sqlite3.Error:
        return None
    try:
        if _version_of(database):
            database.execute("BEGIN")
            database.execute("SELECT 1 FROM state").fetchone()
            return database
    except sqlite3.Error:
        pass
    database.close()
    return None


def add_counts(database: sqlite3.Connection, counts: "Counter[tuple[str, str | int]]") -> None:
    """Add numbers to the counts of facets.

    Args:
        database: The database.
        counts: The numbers, which can be negative, by kind and value.
    """
    database.executemany(
        "INSERT INTO facet VALUES (?, ?, ?)"
        " ON CONFLICT (kind, value) DO UPDATE SET number = number + excluded.number",
        [(kind, value, number) for (kind, value), number in counts.items()],
    )


def storage_error(path: Path, error: sqlite3.Error) -> StorageError:
    """Return the error of a database that cannot be written."""
    return StorageError(
        message(
            "catalogue.cannot-write",
            "{path} cannot be written: {reason}. Free space, or delete the file: it is made again",
            path=str(path),
            reason=str(error),
        )
    )
