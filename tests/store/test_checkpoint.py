"""Checkpoints of a job on a real disk, and going back to one."""

import os

import pytest

from nacre.errors import JobError, StorageError
from nacre.store.checkpoint import checkpoints, forget_checkpoint, restore_checkpoint
from nacre.store.disk import RealDisk
from nacre.store.file_table import file_rows, get_row
from nacre.store.recovery import recover
from nacre.store.schema import upgrade
from nacre.store.store import Store
from tests.store.running import MEMORY, run


def test_a_restored_checkpoint_knows_its_rows_and_all_files(tmp_path):
    run(tmp_path, b"one", "cp1", b"two", b"three", "cp2", b"four")
    assert checkpoints(str(tmp_path / "checkpoints")) == ["cp1", "cp2"]
    files = {p.name: p.read_bytes() for p in (tmp_path / "archive").iterdir()}
    store = str(tmp_path / "state/store")
    former = restore_checkpoint(
        RealDisk(), str(tmp_path / "checkpoints/cp1"), store, lasting=["serial"], memory=MEMORY
    )
    assert former == store + ".before-1"
    run(tmp_path, b"five")
    with Store.open(store, memory=MEMORY) as opened:
        found = recover(opened, RealDisk(), str(tmp_path))
        assert (found.moved, found.lost) == ([], [])
        assert [key for key, _ in opened.scan("urls", b"")] == [b"five", b"one"]
        number, offset = map(int, (opened.get("urls", b"one") or b"").split())
        row = get_row(opened, number)
        assert row is not None
        assert (tmp_path / row.final).read_bytes()[offset:] == b"one"
        assert len({row.final for _, row in file_rows(opened)}) == len(list(file_rows(opened)))
    after = {p.name: p.read_bytes() for p in (tmp_path / "archive").iterdir()}
    closed = {name.removesuffix(".open"): data for name, data in files.items()}
    assert closed.items() <= after.items()
    assert b"five" in after.values()
    log = (tmp_path / "logs/crawl.log").read_bytes()
    assert log == b"one\ntwo\nthree\nfour\nfive\n"


def test_checkpoints_are_in_order_though_the_clock_was_set_back(tmp_path):
    run(tmp_path, b"one", "z")
    tomorrow = 1 << 61
    os.utime(tmp_path / "checkpoints/z/CURRENT", ns=(tomorrow, tomorrow))
    run(tmp_path, b"two", "b", b"three", "a")
    assert checkpoints(str(tmp_path / "checkpoints")) == ["z", "b", "a"]


def test_a_checkpoint_can_be_restored_twice(tmp_path):
    run(tmp_path, b"one", "cp1", b"two")
    store = str(tmp_path / "state/store")
    for name in (b"three", b"four"):
        restore_checkpoint(
            RealDisk(),
            str(tmp_path / "checkpoints/cp1"),
            store,
            lasting=["serial"],
            memory=MEMORY,
        )
        run(tmp_path, name)
    with Store.open(store, memory=MEMORY) as opened:
        assert [key for key, _ in opened.scan("urls", b"")] == [b"four", b"one"]
        assert opened.counter("epoch") == 3


def test_names_that_are_taken_or_missing_are_refused(tmp_path):
    run(tmp_path, b"one", "cp1")
    with pytest.raises(ExceptionGroup) as caught:
        run(tmp_path, b"two", "cp1")
    assert caught.group_contains(JobError, match="there is a checkpoint of that name")
    with pytest.raises(JobError, match="no such checkpoint"):
        restore_checkpoint(RealDisk(), str(tmp_path / "none"), str(tmp_path / "state/store"))
    assert checkpoints(str(tmp_path / "none")) == []


def test_a_running_job_is_not_restored_over(tmp_path):
    run(tmp_path, b"one", "cp1")
    store = str(tmp_path / "state/store")
    with Store.open(store, memory=MEMORY), pytest.raises(StorageError, match="job is running"):
        restore_checkpoint(RealDisk(), str(tmp_path / "checkpoints/cp1"), store, memory=MEMORY)


def test_one_of_a_newer_layout_is_refused_and_an_older_one_brought_up_to_date(
    tmp_path, monkeypatch
):
    run(tmp_path, b"one", "cp1", b"two")
    store, checkpoint = str(tmp_path / "state/store"), str(tmp_path / "checkpoints/cp1")
    with Store.open(checkpoint, memory=MEMORY) as opened:
        opened.put("meta", b"schema", b"7")
        opened.commit()
    for _ in range(2):
        with pytest.raises(StorageError, match="version 7, made by a newer Nacre"):
            restore_checkpoint(RealDisk(), checkpoint, store, memory=MEMORY)
    with Store.open(checkpoint + "/../../state/store", memory=MEMORY) as opened:
        assert opened.get("urls", b"two")
    with Store.open(store, memory=MEMORY) as opened:
        opened.put("meta", b"schema", b"8")
        opened.commit()

    def current(engine, path, **given):
        upgrade(engine, path, current=8, migrations={7: lambda _: None}, **given)

    monkeypatch.setattr("nacre.store.store.upgrade", current)
    restore_checkpoint(RealDisk(), checkpoint, store, memory=MEMORY)
    with Store.open(store, memory=MEMORY) as opened:
        assert [key for key, _ in opened.scan("urls", b"")] == [b"one"]


def test_one_that_was_being_forgotten_is_none(tmp_path):
    run(tmp_path, b"one", "cp1", b"two", "cp2")
    place = tmp_path / "checkpoints"
    (place / "cp1").rename(place / ".forgotten-cp1")
    assert checkpoints(str(place)) == ["cp2"]
    forget_checkpoint(str(place), "cp2")
    assert list(place.iterdir()) == []


def test_one_that_a_killed_process_was_making_is_none_and_is_cleared_away(tmp_path):
    run(tmp_path, b"one", "cp1")
    place = tmp_path / "checkpoints"
    (place / "cp1").rename(place / "cp1.tmp")
    assert checkpoints(str(place)) == []
    run(tmp_path, b"two", "cp2")
    assert [each.name for each in place.iterdir()] == ["cp2"]
