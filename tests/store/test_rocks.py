"""RocksDB behind the engine: options, damage, stalls, and what may not be used.

A store that may not be written to is read all the same, and nothing of it is touched.
"""

import ast
import os
import re
import shutil
import tempfile
from hashlib import blake2b
from pathlib import Path

import pytest
from rocksdict import WriteOptions

import nacre
from nacre.errors import StorageError
from nacre.store import rocks
from nacre.store.rocks import Memory, RocksEngine
from nacre.store.schema import FAMILIES, NAMES

SMALL = 12_000_000
SOURCES = Path(nacre.__file__).parent


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "store")


def filled(path, rows=3000, *, flush=False):
    engine = RocksEngine(path, SMALL)
    for start in range(0, rows, 100):
        engine.write({"urls": {b"%06d" % n: b"v" * 50 for n in range(start, start + 100)}})
    engine.flush_wal()
    if flush:
        engine.flush(NAMES)
    return engine


def test_options_hold_at_every_open(path):
    for _ in range(2):
        engine = filled(path)
        assert engine.size_limit == SMALL // 3
        for name in NAMES:
            capacity = engine._families[name].property_int_value("rocksdb.block-cache-capacity")
            assert capacity == SMALL // 2
        engine.close()
        options = max(Path(path).glob("OPTIONS-*")).read_text()
        assert f"max_total_wal_size={Memory(SMALL).wal}" in options
        assert "wal_recovery_mode=kPointInTimeRecovery" in options
        assert options.count("partition_filters=true") == len(NAMES) + 1


@pytest.mark.parametrize("name", ["seen", "queue"])
def test_blocks_of_files_that_were_merged_leave_the_cache(path, name):
    """Each merge brought filters and indexes of all its rows, and those before them stayed."""
    engine, rounds, most = RocksEngine(path, SMALL), 16, 0
    family = engine._families[name]
    for first in range(0, rounds * 4000, 4000):
        keys = (blake2b(b"%d" % n, digest_size=16).digest() for n in range(first, first + 4000))
        engine.write({name: dict.fromkeys(keys, b"")})
        engine.flush([name])
        family.compact_range(None, None)
        most = max(most, family.property_int_value("rocksdb.block-cache-usage") or 0)
    engine.close()
    assert 0 < most < 250_000


def test_families_in_which_absent_keys_are_looked_up_have_filters(path):
    filled(path).close()
    options = max(Path(path).glob("OPTIONS-*")).read_text()
    for family in FAMILIES:
        place = f'[TableOptions/BlockBasedTable "{family.name}"]'
        ((policy, _),) = re.findall(
            r"filter_policy=(\w+)(:|$)", options.partition(place)[2].partition("[")[0], re.MULTILINE
        )
        assert (policy == "bloomfilter") == (family.name != "queue")


def test_lost_options_are_noticed(path, monkeypatch):
    filled(path).close()
    monkeypatch.setattr("nacre.store.rocks._buffers_in_force", lambda path: 0)
    with pytest.raises(StorageError, match="instead of"):
        RocksEngine(path, SMALL)
    monkeypatch.undo()
    RocksEngine(path, SMALL).close()


def test_a_scan_over_a_damaged_block_raises(path):
    filled(path, flush=True).close()
    tables = sorted(Path(path).glob("*.sst"), key=lambda table: table.stat().st_size)
    data = bytearray(tables[-1].read_bytes())
    data[len(data) // 3] ^= 0xFF
    tables[-1].write_bytes(data)
    engine = RocksEngine(path, SMALL)
    with pytest.raises(StorageError, match="scan failed") as scanned:
        list(engine.rows("urls", b"", None))
    with pytest.raises(StorageError, match="read failed") as read:
        engine.get_many("urls", [b"%06d" % n for n in range(3000)])
    engine.close()
    RocksEngine(path, SMALL).close()  # though the errors, with their tracebacks, are still held
    assert scanned.value is not read.value


def test_a_bit_flipped_in_the_log_leaves_a_prefix_of_the_batches(tmp_path):
    engine, path = filled(str(tmp_path / "live")), str(tmp_path / "killed")
    shutil.copytree(tmp_path / "live", path)
    engine.close()
    log = max(Path(path).glob("*.log"), key=lambda file: file.stat().st_size)
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(data)
    engine = RocksEngine(path, SMALL)
    keys = [int(key) for key, _ in engine.rows("urls", b"", None)]
    engine.close()
    assert keys == list(range(len(keys)))
    assert 0 < len(keys) < 3000
    assert len(keys) % 100 == 0


def test_a_stall_is_no_error(path):
    class Stalling:
        def write(self, batch: object, options: WriteOptions) -> None:
            assert options.no_slowdown
            assert not options.sync
            raise Exception("Result incomplete: Write stall")  # as rocksdict does

    engine = filled(path)
    real, engine._db = engine._db, Stalling()
    assert engine.write({"urls": {b"k": b"v"}}) is False
    engine._db = real
    assert engine.write({"urls": {b"k": b"v"}}) is True
    engine.close()


def test_a_full_disk_is_told_with_its_remedy(path):
    class Full:
        def write(self, batch: object, options: object) -> None:
            raise Exception("IO error: No space left on device: 000004.log")  # as rocksdict does

    engine = filled(path)
    real, engine._db = engine._db, Full()
    with pytest.raises(StorageError, match=r"batch failed: .*Free some space"):
        engine.write({"urls": {b"k": b"v"}})
    engine._db = real
    engine.close()
    engine.close()


def test_only_one_module_knows_the_binding():
    users = [
        str(source.relative_to(SOURCES))
        for source in SOURCES.rglob("*.py")
        if re.search(r"^\s*(from|import) rocksdict", source.read_text(), re.MULTILINE)
    ]
    assert users == ["store/rocks.py"]


def test_iterators_that_end_silently_and_synced_writes_are_not_used():
    """`keys`, `items`, `values` of the binding stop at a damaged block as if it were the end."""
    tree = ast.parse((SOURCES / "store/rocks.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    banned = {"keys", "items", "values", "columns", "entities"}
    plain = {"rows", "_CAUSES"}  # dictionaries
    used = [
        ast.unparse(call)
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in banned
        and ast.unparse(call.func.value) not in plain
    ]
    assert used == []
    synced = [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).endswith(".sync")
    ]
    assert synced == ["self._write.sync = False"]


def test_the_lock_names_nobody_when_its_owner_wrote_nothing(path):
    engine = filled(path)
    Path(path, "OWNER").unlink()
    with pytest.raises(StorageError, match="the job is running in another process"):
        RocksEngine(path, SMALL)
    engine.close()


MEMORY = 12_000_000
ROWS = {b"%06d" % n: b"v" * 50 for n in range(1000)}


@pytest.fixture
def unwritable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with rows in a table and in the log; its directory seems to be another user's."""
    path = str(tmp_path / "store")
    engine = RocksEngine(path, MEMORY)
    engine.write({"urls": ROWS})
    engine.flush(["urls"])
    engine.write({"meta": {b"key": b"value"}})
    engine.flush_wal()
    engine.close()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(os, "access", lambda place, mode: place != path)
    return path


def files(path: str) -> dict[str, tuple[int, int]]:
    found = [(file.name, file.stat()) for file in Path(path).iterdir()]
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in found}


def test_it_is_read_without_a_trace(unwritable: str):
    before = files(unwritable)
    engine = RocksEngine(unwritable, MEMORY, read_only=True)
    assert dict(engine.rows("urls", b"", None)) == ROWS
    assert engine.get("meta", b"key") == b"value"
    assert files(tempfile.gettempdir())
    engine.close()
    assert files(unwritable) == before
    assert not files(tempfile.gettempdir())


def test_what_fails_names_the_store_and_leaves_nothing(unwritable: str):
    Path(unwritable, "CURRENT").write_text("MANIFEST-999999\n")
    with pytest.raises(StorageError) as told:
        RocksEngine(unwritable, MEMORY, read_only=True)
    assert str(told.value).startswith(unwritable)
    assert not files(tempfile.gettempdir())


def test_no_temporary_directory_is_told_with_its_remedy(
    unwritable: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tempfile, "tempdir", "/proc/none")
    with pytest.raises(StorageError, match="TMPDIR"):
        RocksEngine(unwritable, MEMORY, read_only=True)


def test_other_stores_are_opened_where_they_are(tmp_path: Path):
    assert not rocks.needs_linked_copy(str(tmp_path))
    RocksEngine(str(tmp_path), MEMORY).close()
    assert not rocks.needs_linked_copy(str(tmp_path))
