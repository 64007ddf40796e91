"""The console's database: users, keys, links, sessions, and cached numbers of jobs at rest.

No job needs it to run. If it is deleted, it is created again, without users and keys.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar

import msgspec

from nacre.core.message_data import from_stored_json, to_json, to_stored_json
from nacre.errors import StorageError
from nacre.machine.local_files import replace_file
from nacre.messages import message

T = TypeVar("T", bound=msgspec.Struct)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS links (
    hash TEXT PRIMARY KEY, expires REAL NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS keys (
    name TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, role TEXT NOT NULL, made REAL NOT NULL,
    used REAL NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS sessions (
    hash TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, token TEXT NOT NULL,
    made REAL NOT NULL, used REAL NOT NULL, language TEXT NOT NULL DEFAULT '') STRICT;
CREATE TABLE IF NOT EXISTS users (
    name TEXT PRIMARY KEY, hash TEXT NOT NULL, role TEXT NOT NULL, places TEXT NOT NULL,
    made REAL NOT NULL, changed REAL NOT NULL, language TEXT NOT NULL DEFAULT '') STRICT;
CREATE TABLE IF NOT EXISTS places (root TEXT PRIMARY KEY) STRICT;
CREATE TABLE IF NOT EXISTS served (
    number INTEGER PRIMARY KEY, label TEXT NOT NULL, root TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS heritrix_keys (
    name TEXT PRIMARY KEY, hash TEXT NOT NULL, role TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS starts (
    number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, arguments TEXT NOT NULL,
    asked REAL NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS repeats (
    request TEXT PRIMARY KEY, body TEXT NOT NULL, status INTEGER NOT NULL, media TEXT NOT NULL,
    answer BLOB NOT NULL, made REAL NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS schedules (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL, wish BLOB NOT NULL, owner TEXT NOT NULL,
    seen REAL NOT NULL, waits INTEGER NOT NULL DEFAULT 0, note BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS labels (
    path TEXT PRIMARY KEY, name TEXT NOT NULL, tags TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS removed (
    path TEXT PRIMARY KEY, time REAL NOT NULL, by TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS wanted_kinds (
    path TEXT NOT NULL, prefix TEXT NOT NULL, PRIMARY KEY (path, prefix)) STRICT;
CREATE TABLE IF NOT EXISTS quotas (path TEXT PRIMARY KEY, quota TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS webhooks (
    id INTEGER PRIMARY KEY, wish BLOB NOT NULL, secret TEXT NOT NULL, owner TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS deliveries (
    number INTEGER PRIMARY KEY, hook INTEGER NOT NULL, event TEXT NOT NULL, body BLOB NOT NULL,
    made REAL NOT NULL, tries INTEGER NOT NULL DEFAULT 0, due REAL NOT NULL,
    step TEXT NOT NULL DEFAULT 'waits', answer TEXT NOT NULL DEFAULT '') STRICT;
CREATE TABLE IF NOT EXISTS unread_runs (
    number INTEGER PRIMARY KEY, job TEXT NOT NULL, run TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0, UNIQUE (job, run)) STRICT;
CREATE TABLE IF NOT EXISTS rested (
    path TEXT PRIMARY KEY, stamp TEXT NOT NULL, answer BLOB NOT NULL) STRICT;
"""

_VIEWS = """
CREATE VIEW IF NOT EXISTS open_sessions AS
    SELECT s.hash, s.name, s.how, s.token, s.made, s.used, s.address, s.agent,
        CASE s.how WHEN 'password' THEN u.role ELSE s.role END AS role,
        CASE s.how WHEN 'password' THEN u.language ELSE s.language END AS language,
        coalesce(u.places, '') AS places
    FROM sessions s LEFT JOIN users u ON s.how = 'password' AND u.name = s.name
    WHERE s.how <> 'password' OR u.role IS NOT NULL;
"""
"""Sessions with the role and language that the user has now, without sessions of deleted users. The
view `known_sessions` stays for consoles of earlier versions that still run."""
_ADDED = (
    ("keys", "places", "TEXT NOT NULL DEFAULT ''"),
    ("sessions", "how", "TEXT NOT NULL DEFAULT 'link'"),
    ("sessions", "address", "TEXT NOT NULL DEFAULT ''"),
    ("sessions", "agent", "TEXT NOT NULL DEFAULT ''"),
    ("webhooks", "places", "TEXT NOT NULL DEFAULT ''"),
    ("schedules", "made", "TEXT NOT NULL DEFAULT ''"),
    ("users", "language", "TEXT NOT NULL DEFAULT ''"),
    ("places", "label", "TEXT NOT NULL DEFAULT ''"),
    ("heritrix_keys", "places", "TEXT NOT NULL DEFAULT ''"),
    ("schedules", "notes", "BLOB NOT NULL DEFAULT x'5B5D'"),
)
"""Columns that databases of earlier versions lack: table, column, definition."""


def state_folder() -> Path:
    """Return the console's folder: `$XDG_STATE_HOME/nacre/console`."""
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(home) / "nacre" / "console"


class ConsoleDatabase:
    """The database, for one thread. Each statement outside `together` is a transaction by itself.

    Args:
        folder: The console's folder; it is created if needed, accessible to its owner only.

    Raises:
        StorageError: The database cannot be opened or written.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "console.db"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.touch(mode=0o600)
            self._base = sqlite3.connect(self.path, isolation_level=None, timeout=5.0)
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = NORMAL")
            self._base.executescript(_SCHEMA)
            self._add_columns()
            self._base.executescript(_VIEWS)
        except (OSError, sqlite3.Error) as error:
            raise StorageError(
                message(
                    "console.database-unusable",
                    "{path} cannot be used: {error}; --state names another folder",
                    path=self.path,
                    error=error,
                )
            ) from error

    def _add_columns(self) -> None:
        for table, column, definition in _ADDED:
            columns = {row[1] for row in self._base.execute(f"PRAGMA table_info({table})")}
            if column not in columns:
                self._base.execute(f"ALTER TABLE {table} ADD COLUMN {column} {definition}")

    @property
    def stamp(self) -> tuple[int, int]:
        """A value that changes with each change of the database, by this or another process."""
        return self._base.total_changes, self.data_version

    @property
    def data_version(self) -> int:
        """A number that changes when another process changes the database."""
        row = self.row("PRAGMA data_version")
        return int(str(row[0])) if row is not None else 0

    def rows(self, statement: str, *values: str | float | bytes) -> list[tuple[object, ...]]:
        """Execute a statement, and return all its rows.

        Raises:
            StorageError: The database cannot be read or written.
        """
        try:
            return self._base.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise StorageError(f"{self.path}: {error}") from error

    def row(self, statement: str, *values: str | float | bytes) -> tuple[object, ...] | None:
        """Execute a statement, and return its first row; None for none."""
        return next(iter(self.rows(statement, *values)), None)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Run the block as one transaction: all its writes are committed at its end, or none.

        The block must not await, because all requests share the database connection.

        Raises:
            StorageError: The database cannot be written.
        """
        self.rows("BEGIN IMMEDIATE")
        try:
            yield
            self.rows("COMMIT")
        except BaseException:
            self.jot("ROLLBACK")
            raise

    def jot(self, statement: str, *values: str | float | bytes) -> None:
        """Write a row that nothing depends on, such as the time when a key was last used.

        A write that fails, as on a full disk, is ignored, so that the request still succeeds.
        """
        with suppress(StorageError):
            self.rows(statement, *values)

    def close(self) -> None:
        """Close the database."""
        self._base.close()


class BrokenRow(NamedTuple):
    """A row that cannot be read, for example because another version of the console wrote it.

    Attributes:
        kind: Its kind, such as `schedule`.
        number: Its number.
        reason: The error.
    """

    kind: str
    number: int
    reason: str

    @property
    def words(self) -> str:
        """An English text about the row, with the command that removes it."""
        return message(
            "console.row-unreadable",
            "{kind} {number} cannot be read, and does nothing: {reason}; "
            "`nacre console {kind} remove {number}` removes it",
            kind=self.kind,
            number=self.number,
            reason=self.reason,
        )


class ConsoleTable(Generic[T]):
    """A table of the database whose rows are structs: each field is a column, the first is the key.

    Fields other than numbers, text and bytes are stored as JSON; an empty column means the default.
    Rows stay in memory until the database changes, because live pages need them every second. An
    unreadable row does not hide other rows: a numbered row is in `broken`; for a row with a name,
    `find` and `all` raise an error.

    Args:
        database: The database.
        name: Name of the table.
        kind: The struct.
    """

    def __init__(self, database: ConsoleDatabase, name: str, kind: type[T]) -> None:
        self._database = database
        self._name = name
        self._kind = kind
        self._fields = {field.name: field.type for field in msgspec.structs.fields(kind)}
        self._key = next(iter(self._fields))
        self._stamp = (-1, -1)
        self._rows: dict[object, T] = {}
        self._broken: dict[int, BrokenRow] = {}
        self._refused: dict[object, str] = {}

    def all(self) -> list[T]:
        """Return all rows that can be read, by their keys.

        Raises:
            StorageError: A row without a number cannot be read.
        """
        self._refresh()
        for text in self._refused.values():
            raise StorageError(text)
        return list(self._rows.values())

    def broken(self) -> dict[int, BrokenRow]:
        """Return the rows that cannot be read, by their numbers."""
        self._refresh()
        return dict(self._broken)

    def find(self, key: int | str) -> T | None:
        """Return the row of a key; None if there is none.

        Raises:
            StorageError: The row has a name and cannot be read.
        """
        self._refresh()
        if key in self._refused:
            raise StorageError(self._refused[key])
        return self._rows.get(key)

    def put(self, row: T) -> None:
        """Write a row; it replaces the row with the same key."""
        marks = ", ".join("?" for _ in self._fields)
        values = [_column(getattr(row, name)) for name in self._fields]
        self._database.rows(
            f"INSERT OR REPLACE INTO {self._name} ({', '.join(self._fields)}) VALUES ({marks})",
            *values,
        )

    def drop(self, key: int | str) -> bool:
        """Delete the row of a key; return False if there is none."""
        statement = f"DELETE FROM {self._name} WHERE {self._key} = ? RETURNING 1"
        return self._database.row(statement, key) is not None

    def move(self, before: str, after: str) -> None:
        """Change the key of a row; it replaces the row with that key."""
        self.drop(after)
        statement = f"UPDATE {self._name} SET {self._key} = ? WHERE {self._key} = ?"
        self._database.rows(statement, after, before)

    def _refresh(self) -> None:
        stamp = self._database.stamp
        if stamp == self._stamp:
            return
        rows = self._database.rows(
            f"SELECT {', '.join(self._fields)} FROM {self._name} ORDER BY {self._key}"
        )
        self._rows, self._broken, self._refused = {}, {}, {}
        for key, *columns in rows:
            try:
                self._rows[key] = self._read((key, *columns))
            except (msgspec.MsgspecError, ValueError) as error:
                if isinstance(key, int):
                    self._broken[key] = BrokenRow(self._name.removesuffix("s"), key, str(error))
                else:
                    self._refused[key] = f"{self._database.path}: {self._name} {key!r}: {error}"
        self._stamp = stamp

    def _read(self, row: tuple[object, ...]) -> T:
        values = dict(zip(self._fields, row, strict=True))
        for name, kind in self._fields.items():
            value = values[name]
            if kind in _PLAIN or not isinstance(value, str | bytes):
                continue
            if value:
                values[name] = from_stored_json(value, kind)
            else:
                del values[name]
        return msgspec.convert(values, self._kind, strict=False)


_PLAIN: Final = frozenset((bool, bytes, float, int, str))


def _column(value: object) -> str | float | bytes:
    """Return a value in the form of its column."""
    if isinstance(value, str | float | bytes | int):
        return value
    return to_stored_json(value).decode()


_RUNNING: Final = "running.json"


class RunningConsole(msgspec.Struct, frozen=True):
    """The console that runs with a folder.

    Attributes:
        url: Its URL.
        pid: Its process id.
        local_link: Login links work even if the console has users.
    """

    url: str
    pid: int
    local_link: bool = False


def publish(folder: Path, url: str, *, local_link: bool) -> None:
    """Note that this process serves a console's folder.

    Args:
        folder: The folder.
        url: URL of the console.
        local_link: Login links work even if the console has users.
    """
    data = to_json(RunningConsole(url, os.getpid(), local_link))
    replace_file(folder / _RUNNING, data, 0o600)


def withdraw(folder: Path) -> None:
    """Remove the note that this process serves a folder; keep the note of another process."""
    console = running_console(folder)
    if console is not None and console.pid == os.getpid():
        (folder / _RUNNING).unlink(missing_ok=True)


def running_console(folder: Path) -> RunningConsole | None:
    """Return the console that runs with a folder; None for none."""
    try:
        console = msgspec.json.decode((folder / _RUNNING).read_bytes(), type=RunningConsole)
        os.kill(console.pid, 0)
    except (OSError, msgspec.MsgspecError):
        return None
    return console


def running_url(folder: Path) -> str | None:
    """Return the URL of the console that runs with a folder; None for none."""
    console = running_console(folder)
    return console.url if console is not None else None
