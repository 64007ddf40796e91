"""Making, finding and giving back the files of a job."""

import pytest

from nacre.errors import StorageError
from nacre.store.files import FileKind, FileState
from nacre.store.store import Store
from nacre.store.table import FileTable, delete_row, file_rows, get_row, put_row
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
