"""RocksDB as the engine below the store: options, opening, checked scans.

Two habits of the binding shape this module. Options are not remembered, so that all are passed at
every open and the result is checked. The iterators `keys`, `items` and `values` end silently at a
damaged block, so that `RocksEngine.rows` is the only scan.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread

from rocksdict import (
    AccessType,
    BlockBasedIndexType,
    BlockBasedOptions,
    Cache,
    Checkpoint,
    DataBlockIndexType,
    DBCompressionType,
    DBRecoveryMode,
    Options,
    Rdict,
    RdictIter,
    ReadOptions,
    WriteBatch,
    WriteOptions,
)

from nacre.errors import OldLayoutError, StorageError
from nacre.machine.local_files import HeldFolder
from nacre.store.disk import REMEDIES
from nacre.store.schema import ADDED, FAMILIES, NAMES, ColumnFamily
from nacre.store.seam import OperationError, Rows

_WRITTEN = frozenset({"LOCK", "LOG", "rocksdict-config.json"})


def needs_linked_copy(path: str) -> bool:
    """Whether there is a store that can be read, and whose directory may not be written to."""
    return Path(path, "CURRENT").exists() and not os.access(path, os.W_OK)


class LinkedCopy:
    """A temporary directory of links to the files of a store that may be read, but not written to.

    The binding writes its own settings into the directory of a store even when it opens it for
    reading: that fails on a read-only medium and in another user's job. So the store is opened in a
    directory of symbolic links to its files, without those that an opening writes.

    Args:
        path: Directory of the store.

    Attributes:
        path: Directory to open in its place.

    Raises:
        StorageError: The store's directory cannot be listed, or there is no temporary one.
    """

    def __init__(self, path: str) -> None:
        try:
            self._directory = HeldFolder("reading-")
            self.path = str(self._directory.path)
            for file in Path(path).absolute().iterdir():
                if file.name not in _WRITTEN:
                    Path(self.path, file.name).symlink_to(file)
        except OSError as error:
            raise StorageError(
                f"{path}: its directory may not be written to, and reading it through a temporary "
                f"one failed: {error}. Let TMPDIR name a directory with space."
            ) from error

    def close(self) -> None:
        """Remove the links."""
        self._directory.close()


OWNER = "OWNER"
"""File beside the store's own that holds the number of the process that has it open."""

_PARTITION = 32 << 10
"""Size of a piece of an index or a filter, bytes. With 8 million keys in `seen`, a look-up takes
two thirds of the time that it takes with pieces of 4 kB; a piece must fit well into a shard of
the cache, of which there are 64."""


_UNCACHED = {"uncache_aggressiveness": "1000"}
"""Blocks of files that were merged into others leave the cache. A new file adds its whole filter
and index to the cache; without this option, those of the merged files stay, 2 MB for each 100,000
links, until they fill the cache. The binding can set the option only in an open store, which
takes 4 ms for each family."""

_LOOK = 0.02
"""Seconds between two looks whether a flush can end."""


class Memory:
    """The division of the store's memory; all in bytes.

    Attributes:
        cache: Blocks read, with index and filters.
        buffers: Rows not yet in sorted files.
        wal: Log of batches, on disk, before its rows are forced into sorted files.
    """

    def __init__(self, total: int) -> None:
        self.cache = total // 2
        self.buffers = total // 3
        self.wal = 2 * self.buffers


def _options(family: ColumnFamily | None, memory: Memory, cache: Cache) -> Options:
    options = Options(raw_mode=True)
    _whole(options, memory)
    options.set_block_based_table_factory(_blocks(family, cache))
    options.set_write_buffer_size(max(1 << 20, memory.buffers // 4))
    options.set_arena_block_size(256 << 10)
    options.set_target_file_size_base(32 << 20)
    options.set_level_compaction_dynamic_level_bytes(True)
    if family and family.lookup:
        options.set_memtable_whole_key_filtering(True)
        options.set_memtable_prefix_bloom_ratio(0.05)
    if family and family.packed:
        options.set_compression_type(DBCompressionType.lz4())
        options.set_bottommost_compression_type(DBCompressionType.zstd())
    else:
        options.set_compression_type(DBCompressionType.none())
    return options


def _whole(options: Options, memory: Memory) -> None:
    options.create_if_missing(create_if_missing=True)
    options.create_missing_column_families(create_missing_cfs=True)
    options.set_wal_recovery_mode(DBRecoveryMode.point_in_time())
    options.set_db_write_buffer_size(memory.buffers)
    options.set_max_total_wal_size(memory.wal)
    options.set_max_background_jobs(2)
    options.set_allow_concurrent_memtable_write(allow=False)  # one thread writes
    options.set_max_open_files(512)
    options.set_keep_log_file_num(2)
    options.set_max_log_file_size(1 << 20)


def _blocks(family: ColumnFamily | None, cache: Cache) -> BlockBasedOptions:
    blocks = BlockBasedOptions()
    blocks.set_block_cache(cache)
    blocks.set_cache_index_and_filter_blocks(True)
    blocks.set_index_type(BlockBasedIndexType.two_level_index_search())
    blocks.set_partition_filters(True)
    blocks.set_metadata_block_size(_PARTITION)
    blocks.set_pin_top_level_index_and_filter(True)
    blocks.set_format_version(5)
    if family is None or family.filtered:
        blocks.set_bloom_filter(10, block_based=False)
    if family:
        blocks.set_block_size(family.block)
        if family.lookup:
            blocks.set_data_block_index_type(DataBlockIndexType.binary_and_hash())
    return blocks


class RocksEngine:
    """`Engine` on RocksDB.

    Args:
        path: Directory of the store; made when it does not exist (not when `read_only`).
        memory: Memory for cache and buffers together, bytes.
        read_only: Read beside a running job, or where nothing may be written; sees the batches
            written before the open.

    Raises:
        StorageError: It is open in another process, was made by a newer Nacre, or cannot be read.
    """

    def __init__(self, path: str, memory: int, *, read_only: bool = False) -> None:
        self._path = path
        parts = Memory(memory)
        self.size_limit = parts.buffers
        cache = Cache(parts.cache)
        options = {family.name: _options(family, parts, cache) for family in FAMILIES}
        for name in self._check_families(_options(None, parts, cache), read_only=read_only):
            del options[name]
        options["default"] = _options(None, parts, cache)
        access = AccessType.read_only() if read_only else AccessType.read_write()
        self._elsewhere = LinkedCopy(path) if read_only and needs_linked_copy(path) else None
        place = self._elsewhere.path if self._elsewhere else path
        try:
            self._db = Rdict(place, options["default"], options, access)
        except Exception as error:
            self._leave_elsewhere()
            raise _open_error(path, error) from error
        self._closed = False
        self._read_only = read_only
        there = [name for name in NAMES if name in options]
        self._families = {name: self._db.get_column_family(name) for name in there}
        self._handles = {name: self._db.get_column_family_handle(name) for name in there}
        self._write = WriteOptions()
        self._write.no_slowdown = True
        self._write.sync = False
        if not read_only:
            self._uncache()
        self._check_open(parts, read_only=read_only)

    def _uncache(self) -> None:
        """See `_UNCACHED`."""
        try:
            for family in FAMILIES:
                if family.merged:
                    self._families[family.name].set_options(_UNCACHED)
        except Exception as error:
            self.close()
            raise _error("set options", self._path, error) from error

    def _check_families(self, options: Options, *, read_only: bool) -> frozenset[str]:
        """Those that a store of an older Nacre lacks, which is only read."""
        if not Path(self._path, "CURRENT").exists():
            if read_only:
                raise StorageError(f"{self._path}: there is no store. Run the job once to make it.")
            Path(self._path).mkdir(parents=True, exist_ok=True)
            return frozenset()
        try:
            families = set(Rdict.list_cf(self._path, options))
        except Exception as error:
            raise _error("open", self._path, error) from error
        unknown = sorted(families - {"default", *NAMES})
        if unknown:
            raise StorageError(
                f"{self._path}: unknown families {', '.join(unknown)}: this store was made by a "
                "newer Nacre. Use that version, or a checkpoint made before it."
            )
        lacking = set(NAMES) - families if read_only else set()
        missing = sorted(lacking - ADDED)
        if missing:
            raise OldLayoutError(
                f"{self._path}: families {', '.join(missing)} are missing: this store was made by "
                "an older Nacre. `nacre run JOB` brings it up to date."
            )
        return frozenset(lacking)

    def _check_open(self, parts: Memory, *, read_only: bool) -> None:
        """Options that got lost would cost gigabytes of memory later; find out now."""
        cache = self._db.property_int_value("rocksdb.block-cache-capacity")
        buffers = parts.buffers if read_only else _buffers_in_force(self._path)
        if cache != parts.cache or buffers != parts.buffers:
            self.close()
            raise StorageError(
                f"{self._path}: opened with a cache of {cache} and buffers of {buffers} bytes "
                f"instead of {parts.cache} and {parts.buffers}. This is an error in Nacre or in "
                "its version of rocksdict; please report it."
            )
        if not read_only:
            Path(self._path, OWNER).write_text(f"{os.getpid()}\n", "ascii")

    def get(self, family: str, key: bytes) -> bytes | None:
        """See `Engine.get`."""
        if self._families and family in ADDED and family not in self._families:
            return None
        try:
            value: bytes | None = self._families[family].get(key)
        except Exception as error:
            raise _error("read", self._path, error) from error
        return value

    def get_many(self, family: str, keys: Sequence[bytes]) -> list[bytes | None]:
        """See `Engine.get_many`; other threads run meanwhile."""
        try:
            values: list[bytes | None] = self._families[family].get(keys)  # type: ignore[assignment, arg-type]  # the stub has lists of mixed keys only
        except Exception as error:
            raise _error("read", self._path, error) from error
        return values

    def rows(
        self, family: str, start: bytes, stop: bytes | None, *, once: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        """See `Engine.rows`."""
        if family not in self._families:
            return iter(())
        options = ReadOptions()
        options.fill_cache(not once)  # type: ignore[call-arg]  # the stub lacks the argument
        if stop is not None:
            options.set_iterate_upper_bound(stop)
        cursor = self._families[family].iter(options)
        cursor.seek(start)
        return self._steps(cursor, stop, options)

    def _steps(
        self, cursor: RdictIter, stop: bytes | None, options: ReadOptions
    ) -> Iterator[tuple[bytes, bytes]]:
        """Step to the bound. It is in `options`, which the cursor does not keep alive.

        If they are freed, the bound is whatever else is stored at that address; so they are held
        here, and the bound is compared as well.
        """
        options_alive = options
        while cursor.valid():
            key, value = cursor.key(), cursor.value()
            if stop is not None and key >= stop:
                break
            yield key, value
            cursor.next()
        del options_alive
        try:
            cursor.status()
        except Exception as error:
            raise _error("scan", self._path, error) from error
        finally:
            del cursor  # the traceback of the error would keep it, and with it the lock

    def last_key(self, family: str, start: bytes, stop: bytes) -> bytes | None:
        """See `Engine.last_key`."""
        if family not in self._families:
            return None
        cursor = self._families[family].iter()
        try:
            cursor.seek_for_prev(stop)
            if cursor.valid() and cursor.key() >= stop:
                cursor.prev()
            last: bytes | None = cursor.key() if cursor.valid() else None
            cursor.status()
        except Exception as error:
            raise _error("seek", self._path, error) from error
        finally:
            del cursor  # see `_steps`
        return last if last is not None and last >= start else None

    def write(self, rows: Rows) -> bool:
        """See `Engine.write`. `write` consumes the batch, so that every try builds its own."""
        try:
            self._db.write(self._batch(rows), self._write)
        except Exception as error:
            if "Write stall" in str(error):
                return False
            raise _error("batch", self._path, error) from error
        return True

    def _batch(self, rows: Rows) -> WriteBatch:
        """Return the rows as a batch, in key order, which memtables take faster.

        Apart from `write`, because the traceback of an error keeps the locals of its frames, and a
        handle of a family that is kept anywhere keeps the lock.
        """
        batch = WriteBatch(raw_mode=True)
        put, delete = batch.put, batch.delete
        for family, changes in rows.items():
            handle = self._handles[family]
            for key in sorted(changes):
                value = changes[key]
                if value is None:
                    delete(key, handle)
                else:
                    put(key, value, handle)
        return batch

    def flush_wal(self) -> None:
        """See `Engine.flush_wal`; other threads run meanwhile."""
        try:
            self._db.flush_wal(sync=True)
        except Exception as error:
            raise _error("fsync of the log", self._path, error) from error

    def flush(self, families: Iterable[str]) -> None:
        """See `Engine.flush`; other threads run meanwhile."""
        try:
            for name in families:
                self._families[name].flush(wait=True)
        except Exception as error:
            raise _error("flush", self._path, error) from error

    def checkpoint(self, path: str) -> None:
        """See `Engine.checkpoint`; hard links, so that it takes milliseconds."""
        try:
            Checkpoint(self._db).create_checkpoint(path)
        except Exception as error:
            raise _error("checkpoint", path, error) from error

    def close(self) -> None:
        """See `Engine.close`. The lock is held until the last object of the store is gone.

        Closing writes rows to sorted files, which fails on a full disk and after an error. That
        loses nothing: committed rows are in the log, and the next open reads them.
        """
        if self._closed:
            return
        self._closed = True
        if not self._read_only:
            self._empty_buffers()
        self._families.clear()
        self._handles.clear()
        with suppress(Exception):
            self._db.close()
        del self._db
        self._leave_elsewhere()

    def _empty_buffers(self) -> None:
        """Write rows in memory to sorted files, or give up if that could block without end.

        RocksDB lets a flush wait until files were merged. On a full disk they never are, and its
        own flushes, when it is closed, would wait with the interpreter's lock. What runs in the
        background is therefore cancelled: all flushes end at once then.
        """
        flushing = Thread(target=self._flush_all, name="nacre-closing")
        flushing.start()
        while flushing.is_alive():
            flushing.join(_LOOK)
            if self._db.property_int_value("rocksdb.background-errors"):
                break
        self._db.cancel_all_background(wait=False)
        flushing.join()

    def _flush_all(self) -> None:
        with suppress(OperationError):
            self.flush(NAMES)

    def _leave_elsewhere(self) -> None:
        if self._elsewhere is not None:
            self._elsewhere.close()


_CAUSES = {
    "No space left": 28,
    "Disk quota exceeded": 122,
    "Input/output error": 5,
    "Read-only file system": 30,
    "Permission denied": 13,
    "Too many open files": 24,
}
_REPAIR = "Restore a checkpoint with `nacre checkpoint`, or repair the device and resume."


def _error(operation: str, path: str, error: Exception) -> OperationError:
    """Find the system's error in an error of RocksDB, which is only a text."""
    text = str(error)
    number = next((number for words, number in _CAUSES.items() if words in text), 0)
    return OperationError(operation, path, number, text, REMEDIES.get(number, _REPAIR))


def _open_error(path: str, error: Exception) -> StorageError:
    text = str(error)
    if "LOCK" not in text or not ("lock hold" in text or "While lock file" in text):
        return _error("open", path, error)
    return StorageError(
        f"{path}: the job is running{_owner(path)}. Use `nacre status JOB`, `pause` or `stop` on "
        "it, or wait for its end."
    )


def _owner(path: str) -> str:
    """Names the process that wrote itself into the store, when it still lives."""
    try:
        process = int(Path(path, OWNER).read_text("ascii"))
        command = Path(f"/proc/{process}/cmdline").read_bytes()
    except (OSError, ValueError):
        return " in another process"
    words = command.replace(b"\0", b" ").decode(errors="replace").strip()
    return f" in process {process} ({words[:200]})"


def _buffers_in_force(path: str) -> int | None:
    """Read an option that RocksDB reports only in the OPTIONS file, written at every open."""
    newest = max(Path(path).glob("OPTIONS-*"), key=lambda file: file.name, default=None)
    if newest is None:
        return None
    match = re.search(r"^\s*db_write_buffer_size=(\d+)$", newest.read_text(), re.MULTILINE)
    return int(match[1]) if match else None
