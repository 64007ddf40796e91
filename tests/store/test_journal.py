"""Lines on their way through the store into their files."""

import pytest

from nacre.store.files import FileKind
from nacre.store.journal import enter, forget, journal_key, sync, unsynced, waiting
from nacre.store.store import Store
from nacre.store.table import FileTable, get_row
from tests.store.simulated import World
from tests.store.workload import ROOT


@pytest.fixture
def world():
    return World()


@pytest.fixture
def table(world):
    return FileTable(Store(world.engine), world.disk, ROOT, epoch=1)


def test_lines_wait_in_the_order_of_their_offsets(table):
    one, two = (table.open[table.log(f"logs/{name}.log")] for name in "ab")
    for n in range(300):
        enter(table._store, one, [b"%d\n" % n])
        enter(table._store, two, [b"other\n"])
    lines = [value for _, value in waiting(table._store, one.number)]
    assert lines == [b"%d\n" % n for n in range(300)]
    assert one.end == sum(map(len, lines))


def test_keys_hold_the_place_of_the_lines():
    assert journal_key(1, 2) == bytes(7) + b"\1" + bytes(7) + b"\2"


def test_only_lines_that_were_written_before_the_sync_are_forgotten(world, table):
    file = table.open[table.log("logs/a.log")]
    written = enter(table._store, file, [b"one\n", b"two\n"])
    world.disk.pwrite(file.handle, written.data, written.offset)
    work = unsynced([file])
    sync(world.disk, work)
    enter(table._store, file, [b"later\n"])
    forget(table._store, work)
    assert [value for _, value in waiting(table._store, file.number)] == [b"later\n"]
    row = get_row(table._store, file.number)
    assert row is not None
    assert (row.kind, row.size) == (FileKind.LOG, 8)
    assert world.disk.names[f"{ROOT}/logs/a.log"].durable == b"one\ntwo\n"
    assert [item.keys for item in unsynced([file])] == [[journal_key(file.number, 8)]]
    assert unsynced([]) == []
