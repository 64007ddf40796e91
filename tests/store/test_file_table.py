"""Making, finding and giving back the files of a job.

Lines on their way through the store into their files.
"""

import pytest
from msgspec import structs

from nacre.errors import StorageError
from nacre.store.file_table import (
    FileTable,
    delete_row,
    drop_journal,
    file_rows,
    get_row,
    journal_key,
    journal_lines,
    journal_rows,
    put_row,
    sync_files,
    unsynced_files,
    warc_bytes_before,
)
from nacre.store.files import FileKind, FileState
from nacre.store.store import Store
from tests.store.simulated import Inode, World
from tests.store.workload import ROOT


@pytest.fixture
def world():
    return World()


@pytest.fixture
def table(world):
    return FileTable(Store(world.engine), world.disk, ROOT, epoch=3)


def test_a_new_file_has_a_number_a_row_and_a_directory_to_be_synced(table):
    one = table.create(FileKind.WARC, "archive/a.warc.gz.open")
    two = table.create(FileKind.INDEX, "/other/a.cdxj.open", "/other/b.cdxj")
    assert (one, two) == (1, 2)
    rows = dict(file_rows(table._store))
    assert rows[one].final == "archive/a.warc.gz"
    assert (rows[two].path, rows[two].final) == ("/other/a.cdxj.open", "/other/b.cdxj")
    assert {(row.state, row.size, row.epoch) for row in rows.values()} == {(FileState.OPEN, 0, 3)}
    assert table._store.group.directories == {f"{ROOT}/archive", "/other"}


def test_a_warc_that_exists_is_never_written_over(world, table):
    world.disk.names[f"{ROOT}/archive/a.warc.gz.open"] = Inode(b"precious")
    with pytest.raises(StorageError, match="exists"):
        table.create(FileKind.WARC, "archive/a.warc.gz.open")
    assert world.disk.content(f"{ROOT}/archive/a.warc.gz.open") == b"precious"
    assert list(file_rows(table._store)) == []


def test_an_unknown_log_in_the_way_is_moved(world, table):
    world.disk.names[f"{ROOT}/logs/crawl.log"] = Inode(b"unknown")
    table.log("logs/crawl.log")
    assert world.disk.content(f"{ROOT}/lost+found/crawl.log") == b"unknown"
    assert world.disk.content(f"{ROOT}/logs/crawl.log") == b""


def test_a_log_is_made_once(table):
    assert table.log("logs/a.log") == table.log("logs/a.log")
    assert table.log("logs/b.log") != table.log("logs/a.log")


def test_an_index_needs_a_name_of_its_own_while_it_is_open(table):
    with pytest.raises(ValueError, match="another name while it is open"):
        table.create(FileKind.INDEX, "archive/a.cdxj")


def test_rows_of_files_can_be_put_and_forgotten(table):
    number = table.log("logs/a.log")
    row = get_row(table._store, number)
    assert row is not None
    put_row(table._store, 9, row)
    delete_row(table._store, number)
    assert list(file_rows(table._store)) == [(9, row)]
    assert get_row(table._store, number) is None


def test_the_warcs_of_other_runs_are_summed_up(table):
    row = get_row(table._store, table.log("logs/a.log"))
    assert row is not None
    for number, (run, kind, state, size) in enumerate(
        [
            ("one", FileKind.WARC, FileState.CLOSED, 5),
            ("one", FileKind.INDEX, FileState.CLOSED, 70),
            ("two", FileKind.WARC, FileState.LOST, 600),
            ("three", FileKind.WARC, FileState.CLOSED, 8_000),
            ("four", FileKind.WARC, FileState.CLOSED, 90_000),
        ],
        20,
    ):
        final = f"runs/{run}/archive/{number}"
        changed = structs.replace(row, kind=kind, state=state, size=size, final=final)
        put_row(table._store, number, changed)
    assert warc_bytes_before(table._store, "three") == 90_005
    assert warc_bytes_before(table._store, "none") == 98_005


def test_handles_are_given_back_even_when_closing_fails(world, table):
    for name in "abc":
        table.log(f"logs/{name}.log")
    closed, close = [], world.disk.close

    def failing(handle):
        close(handle)
        closed.append(handle)
        raise StorageError("Simulated.")

    world.disk.close = failing
    table.close()
    assert len(closed) == 3
    assert table.open == {}


def test_lines_wait_in_the_order_of_their_offsets(table):
    one, two = (table.open[table.log(f"logs/{name}.log")] for name in "ab")
    for n in range(300):
        journal_lines(table._store, one, [b"%d\n" % n])
        journal_lines(table._store, two, [b"other\n"])
    lines = [value for _, value in journal_rows(table._store, one.number)]
    assert lines == [b"%d\n" % n for n in range(300)]
    assert one.end == sum(map(len, lines))


def test_keys_hold_the_place_of_the_lines():
    assert journal_key(1, 2) == bytes(7) + b"\1" + bytes(7) + b"\2"


def test_only_lines_that_were_written_before_the_sync_are_forgotten(world, table):
    file = table.open[table.log("logs/a.log")]
    written = journal_lines(table._store, file, [b"one\n", b"two\n"])
    world.disk.pwrite(file.handle, written.data, written.offset)
    work = unsynced_files([file])
    sync_files(world.disk, work)
    journal_lines(table._store, file, [b"later\n"])
    drop_journal(table._store, work)
    assert [value for _, value in journal_rows(table._store, file.number)] == [b"later\n"]
    row = get_row(table._store, file.number)
    assert row is not None
    assert (row.kind, row.size) == (FileKind.LOG, 8)
    assert world.disk.names[f"{ROOT}/logs/a.log"].durable == b"one\ntwo\n"
    assert [item.keys for item in unsynced_files([file])] == [[journal_key(file.number, 8)]]
    assert unsynced_files([]) == []
