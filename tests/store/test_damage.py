"""Damage to the store of a real job: the files bear witness against it."""

import shutil
from pathlib import Path

import pytest

from nacre.errors import DamageError
from nacre.store.disk import RealDisk
from nacre.store.recovery import recover
from nacre.store.store import Store
from tests.store.running import MEMORY, run


def names(count):
    return [b"visit-%03d" % n for n in range(count)]


def refused(job):
    with (
        Store.open(f"{job}/state/store", memory=MEMORY) as store,
        pytest.raises(DamageError, match="older than the archive") as caught,
    ):
        recover(store, RealDisk(), str(job))
    return str(caught.value)


def test_a_bit_flipped_in_the_log_of_the_store_is_noticed(tmp_path):
    run(tmp_path, *names(40), "cp1", *names(80)[40:], killed=True)
    store = tmp_path / "state/store"
    log = max(store.glob("*.log"), key=lambda file: file.stat().st_size)
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(data)
    assert "logs/crawl.log" in refused(tmp_path)


def test_a_restored_copy_of_the_store_is_noticed(tmp_path):
    run(tmp_path, *names(5))
    store = tmp_path / "state/store"
    shutil.copytree(store, tmp_path / "copy")
    run(tmp_path, *names(9)[5:])
    shutil.rmtree(store)
    shutil.move(tmp_path / "copy", store)
    message = refused(tmp_path)
    assert "logs/crawl.log" in message
    assert "nacre archive JOB salvage" in message


def test_the_write_ahead_log_alone_brings_back_all_visits(tmp_path):
    run(tmp_path, *names(30), killed=True)
    with Store.open(f"{tmp_path}/state/store", memory=MEMORY) as store:
        recover(store, RealDisk(), str(tmp_path))
        assert [key for key, _ in store.scan("urls", b"")] == names(30)
    warcs = sorted(Path(tmp_path, "archive").iterdir())
    assert b"".join(warc.read_bytes() for warc in warcs) == b"".join(names(30))
