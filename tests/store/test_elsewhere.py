"""A store that may not be written to is read all the same, and nothing of it is touched."""

import os
import tempfile
from pathlib import Path

import pytest

from nacre.errors import StorageError
from nacre.store import elsewhere
from nacre.store.rocks import RocksEngine

MEMORY = 12_000_000
ROWS = {b"%06d" % n: b"v" * 50 for n in range(1000)}


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
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


def test_it_is_read_without_a_trace(path: str):
    before = files(path)
    engine = RocksEngine(path, MEMORY, read_only=True)
    assert dict(engine.rows("urls", b"", None)) == ROWS
    assert engine.get("meta", b"key") == b"value"
    assert files(tempfile.gettempdir())
    engine.close()
    assert files(path) == before
    assert not files(tempfile.gettempdir())


def test_what_fails_names_the_store_and_leaves_nothing(path: str):
    Path(path, "CURRENT").write_text("MANIFEST-999999\n")
    with pytest.raises(StorageError) as told:
        RocksEngine(path, MEMORY, read_only=True)
    assert str(told.value).startswith(path)
    assert not files(tempfile.gettempdir())


def test_no_temporary_directory_is_told_with_its_remedy(path: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tempfile, "tempdir", "/proc/none")
    with pytest.raises(StorageError, match="TMPDIR"):
        RocksEngine(path, MEMORY, read_only=True)


def test_other_stores_are_opened_where_they_are(tmp_path: Path):
    assert not elsewhere.needed(str(tmp_path))
    RocksEngine(str(tmp_path), MEMORY).close()
    assert not elsewhere.needed(str(tmp_path))
