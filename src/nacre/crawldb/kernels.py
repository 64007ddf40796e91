"""The kernel: a DuckDB in a process, with limits; the only module that imports DuckDB.

A kernel only reads and writes local files in its directories: its configuration is locked,
extensions are never loaded, so that SQL of users can neither read a file nor change a limit.
DuckDB's SQL is stable; its Python API is only used here.
"""

import atexit
import os
import re
import resource
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import duckdb

from nacre.errors import ConfigError, DamageError, NacreError, StorageError

if TYPE_CHECKING:
    import pyarrow as pa

MEMORY = 600 * 10**6
"""Bytes of memory above which a kernel spills to its scratch directory."""

CONDITION_TIME = 600.0
"""Seconds that a statement with a user's condition may take; a check may take `CHECK_TIME`."""
CHECK_TIME = 10.0
_SPARE = 256 * 10**6
"""Address space, bytes, in addition to the memory of a kernel while a user's condition runs: for
the kernel's own work, and for other threads of the process."""

ROW_GROUP = 122_880
"""Rows of a row group in a table file: DuckDB reads them one by one."""


class KernelError(NacreError):
    """A query failed: the data are damaged, a limit was reached, or the SQL is wrong."""


class KernelStorageError(KernelError, StorageError):
    """A kernel could not write: the disk is full or fails. Another attempt may succeed."""


class KernelDamageError(KernelError, DamageError):
    """A file that a kernel read is damaged; the message contains its path."""


_OF_DISK = re.compile(
    r"No space left|quota exceeded|Input/output error|Read-only file|max_temp_directory_size",
    re.IGNORECASE,
)


_TOO_LARGE = re.compile(r"Allocation failure|bad allocation", re.IGNORECASE)
"""Messages of DuckDB if the system, and not its own limit, refuses memory."""


_DAMAGED = re.compile(
    r"No magic bytes found|too small to be a Parquet file|Out of buffer|TProtocolException|"
    r"Failed to read Parquet|"
    r"(?:Snappy|ZSTD|GZip) decompression",
    re.IGNORECASE,
)
"""Messages of DuckDB about damaged Parquet files."""


_READ = re.compile(r"'((?:[^']|'')+\.parquet)'")
"""Files in a statement, in the form of `quoted`."""


_PASSING = re.compile(
    r"\s*(?:select|from|with|explain|describe|copy|insert|update|delete|drop|"
    r"create (?:or replace )?temp)\b",
    re.IGNORECASE,
)
"""Statements that leave nothing in a database: temporary objects end with the connection."""


def _failure(error: Exception, scratch: str = "") -> KernelError:
    """Return the error of a kernel for an error of DuckDB that is not about damage."""
    if not _OF_DISK.search(str(error)):
        return KernelError(str(error))
    message = str(error).partition("\n")[0]
    where = f" ({scratch})" if scratch else ""
    return KernelStorageError(f"{message}: free space on the disk of the temporary files{where}")


class UserSqlError(ConfigError):
    """SQL of a user is invalid, or uses unknown names."""


class WrittenFile(NamedTuple):
    """A file that a kernel wrote.

    Attributes:
        path: Its path.
        rows: Its rows.
        bytes: Its size.
    """

    path: str
    rows: int
    bytes: int


class _Limits(NamedTuple):
    """The limits of a database: all except memory can only be set once.

    Attributes:
        memory: Most bytes of memory.
        threads: Threads of a query.
        scratch: Directory for data that do not fit into memory; "" for none.
        directories: Directories for reading and writing files, in addition to `scratch`.
    """

    memory: int
    threads: int
    scratch: str
    directories: tuple[str, ...]

    def database(self) -> "duckdb.DuckDBPyConnection":
        """Return a new database in memory with these limits."""
        allowed = [*self.directories, *([self.scratch] if self.scratch else [])]
        # Two databases must not spill into one directory: they would use each other's files.
        spill = f"{self.scratch}/spill-{os.getpid()}-{next(_numbers)}" if self.scratch else ""
        db = duckdb.connect(
            ":memory:",
            config={
                "memory_limit": f"{self.memory}B",
                "threads": str(self.threads),
                "preserve_insertion_order": "false",
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "python_enable_replacements": "false",
                # The files are local: the system caches them for all processes.
                "enable_external_file_cache": "false",
            },
        )
        try:
            db.execute("set temp_directory = ?", [spill])
            db.execute("set allowed_directories = ?", [allowed])
            db.execute("set enable_external_access = false")
            db.execute("set lock_configuration = true")
        except duckdb.Error as error:
            db.close()
            raise _failure(error, self.scratch) from error
        return db


_numbers = count()
_CACHED = 2
"""Most databases that a process caches for further kernels."""
_cache: "OrderedDict[_Limits, duckdb.DuckDBPyConnection]" = OrderedDict()
_of_parent: "list[OrderedDict[_Limits, duckdb.DuckDBPyConnection]]" = []
"""Databases of the parent process at the fork: neither used nor closed here, since they have the
same files in their scratch directories."""


def _forget_parent() -> None:
    _of_parent.append(_cache.copy())
    _cache.clear()


def _close_all() -> None:
    while _cache:
        _cache.popitem()[1].close()


os.register_at_fork(after_in_child=_forget_parent)
atexit.register(_close_all)


class Kernel:
    """A DuckDB in memory, with its own tables.

    Args:
        memory: Most bytes of memory.
        threads: Threads of a query.
        scratch: Directory for data that do not fit into memory; "" for none: then a query fails.
        directories: Directories for reading and writing files, in addition to `scratch`.
        again: The next kernel of this process with the same arguments reuses its database, as
            opening one takes 20 ms. A kernel with permanent objects, or with any failure, leaves no
            database.
    """

    def __init__(
        self,
        memory: int = MEMORY,
        threads: int = 1,
        *,
        scratch: str = "",
        directories: Sequence[str] = (),
        again: bool = False,
    ) -> None:
        self._scratch = scratch
        self._limits = _Limits(max(memory, 50 * 10**6), threads, scratch, tuple(directories))
        self._again = again
        cached = _cache.pop(self._limits, None) if again else None
        database = cached or self._limits.database()
        self._database: duckdb.DuckDBPyConnection | None = database
        self._seconds = 0.0
        # Unlike the first connection, a cursor draws no progress bar in long queries.
        self._db = database.cursor()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._again = self._again and error is None
        self.close()

    def close(self) -> None:
        """Close the kernel, without its tables. May be called twice."""
        database, self._database = self._database, None
        if database is None:
            return
        self._db.close()
        if not self._again:
            database.close()
            return
        _cache[self._limits] = database
        while len(_cache) > _CACHED:
            _cache.popitem(last=False)[1].close()

    def bound(self, seconds: float = CONDITION_TIME) -> None:
        """Limit each further statement, which has a user's condition in it.

        DuckDB's own limit does not count the texts and lists that functions make from a row, such
        as `repeat(url, 1000000000)`. So the system bounds the address space of the process while a
        statement runs, and a statement that takes too long is interrupted.

        Args:
            seconds: Time of a statement.
        """
        self._seconds = seconds

    @contextmanager
    def _bounds(self) -> Iterator[None]:
        """Run a statement within the bounds, if any."""
        if not self._seconds:
            yield
            return
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = _address_space() + self._limits.memory + _SPARE
        limits = [n for n in (soft, hard) if n != resource.RLIM_INFINITY]
        watch = threading.Timer(self._seconds, self._db.interrupt)
        watch.daemon = True
        watch.start()
        try:
            resource.setrlimit(resource.RLIMIT_AS, (min([most, *limits]), hard))
            yield
        finally:
            watch.cancel()
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> None:
        """Run a statement for its effect.

        Raises:
            KernelError: It fails.
        """
        with self._bounds():
            self._run(sql, parameters)

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query.

        Raises:
            KernelError: It fails.
        """
        with self._bounds():
            result = self._run(sql, parameters)
            try:
                return result.fetchall()  # most of a query runs now
            except duckdb.Error as error:
                raise self._failure(error, sql) from error

    def value(self, sql: str, parameters: Sequence[object] = ()) -> Any:  # noqa: ANN401 - any type
        """Return the value of a query with one row and one column.

        Raises:
            KernelError: It fails.
        """
        return self.rows(sql, parameters)[0][0]

    def columns(self, sql: str, parameters: Sequence[object] = ()) -> list[str]:
        """Return the names of the columns of a query, which is not run.

        Raises:
            KernelError: It fails.
        """
        return [str(row[0]) for row in self.rows(f"describe {sql}", parameters)]

    def arrow(self, sql: str, parameters: Sequence[object] = ()) -> "pa.Table":
        """Return the result of a query as a table of Arrow.

        Raises:
            KernelError: It fails.
        """
        try:
            with self._bounds():
                return self._db.sql(sql, params=list(parameters) or None).to_arrow_table()
        except duckdb.Error as error:
            raise self._failure(error, sql) from error

    def batches(
        self,
        sql: str,
        parameters: Sequence[object] = (),
        *,
        size: int = 10_000,
        named: bool = False,
    ) -> "Iterator[pa.RecordBatch]":
        """Yield the result of a query, in batches of at most `size` rows.

        No other query may run before the last batch was read.

        Args:
            sql: The query.
            parameters: Its parameters.
            size: Most rows of a batch.
            named: Yield a batch without rows first, for the names of the columns.

        Raises:
            KernelError: It fails.
        """
        try:
            reader = self._db.sql(sql, params=list(parameters) or None).to_arrow_reader(size)
            if named:
                import pyarrow as pa  # noqa: PLC0415 - an extra, slow to import

                yield pa.RecordBatch.from_pylist([], schema=reader.schema)
            yield from reader
        except duckdb.Error as error:
            raise self._failure(error, sql) from error

    def load(self, name: str, table: "pa.Table") -> None:
        """Make a table of this kernel from a table of Arrow; replaces a table of that name.

        Raises:
            KernelError: It fails.
        """
        self._db.register("_given", table)
        try:
            self.execute(f'create or replace temp table "{name}" as select * from _given')
        finally:
            self._db.unregister("_given")

    def write(self, sql: str, path: str, *, row_group: int = ROW_GROUP) -> WrittenFile:
        """Write the result of a query as a Parquet file (zstd), in the order of the query.

        Args:
            sql: The query.
            path: The file, which is replaced.
            row_group: Rows of a row group.

        Raises:
            KernelError: It fails, for example on a full disk; the message contains the file.
        """
        options = (
            f"format parquet, compression zstd, row_group_size {row_group}, return_stats true, "
            "preserve_order true"
        )
        try:
            rows = self.rows(f"copy ({sql}) to {quoted(path)} ({options})")
        except KernelDamageError:
            raise
        except KernelError as error:
            raise type(error)(f"{path} cannot be written: {error}") from error
        if not rows:
            return WrittenFile(path, 0, 0)
        return WrittenFile(path, int(rows[0][1]), int(rows[0][2]))

    def plan(self, sql: str) -> None:
        """Plan a query with a user's condition in it, without running it; limited to `CHECK_TIME`.

        Raises:
            KernelError: It cannot be planned.
            UserSqlError: It takes longer, or more memory than the kernel may use.
        """
        before, self._seconds = self._seconds, CHECK_TIME
        try:
            self.execute(f"explain {sql}")
        finally:
            self._seconds = before

    def _run(self, sql: str, parameters: Sequence[object]) -> "duckdb.DuckDBPyConnection":
        if not _PASSING.match(sql):
            self._again = False
        try:
            return self._db.execute(sql, list(parameters) or None)
        except duckdb.Error as error:
            raise self._failure(error, sql) from error

    def _failure(self, error: Exception, sql: str) -> KernelError:
        """Return the error of a kernel for an error of DuckDB in a statement.

        Raises:
            UserSqlError: A user's condition is in it, and took too much.
        """
        self._again = False
        if self._seconds and isinstance(error, duckdb.InterruptException):
            raise UserSqlError(f"the condition took longer than {self._seconds:g} s") from None
        if self._seconds and _TOO_LARGE.search(str(error)):
            most = self._limits.memory // 10**6
            raise UserSqlError(f"the condition needs more than {most:,} MB of memory") from None
        if not _DAMAGED.search(str(error)):
            return _failure(error, self._scratch)
        files = [f.replace("''", "'") for f in dict.fromkeys(_READ.findall(sql))]
        damaged = ", ".join(f for f in files if not self._reads(f)) or "a file"
        message = str(error).partition("\n")[0]
        return KernelDamageError(
            f"{damaged} is damaged ({message}): `storage check` compares all files with the "
            "digests that were committed, and `--repair` repairs tables"
        )

    def _reads(self, path: str) -> bool:
        """Return whether a whole Parquet file can be read."""
        try:
            for _ in self._db.sql(f"from {parquet([path])}").to_arrow_reader():
                pass
        except duckdb.Error as error:
            return not _DAMAGED.search(str(error))
        return True


def _address_space() -> int:
    """Bytes of the address space of this process."""
    handle = os.open("/proc/self/statm", os.O_RDONLY)
    try:
        return int(os.read(handle, 100).split()[0]) * resource.getpagesize()
    finally:
        os.close(handle)


def quoted(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def parquet(paths: Sequence[str], *, by_name: bool = False) -> str:
    """Return SQL after `from` that reads Parquet files as one table.

    Args:
        paths: The files.
        by_name: Return the columns of all files; missing columns are null.
    """
    options = ", union_by_name = true" if by_name else ""
    return f"read_parquet([{', '.join(map(quoted, paths))}]{options})"
