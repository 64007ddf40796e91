"""Bytes that no commit covers are moved, never deleted."""

import pytest

from nacre.store.lost_found import move_file, move_tail, rewritten
from nacre.store.seam import OperationError
from tests.store.simulated import Inode, World
from tests.store.workload import ROOT

PATH = f"{ROOT}/archive/a.warc.gz.open"


@pytest.fixture
def disk():
    disk = World().disk
    disk.names[PATH] = Inode(b"committed+tail")
    return disk


def test_a_tail_is_moved_under_a_name_that_tells_its_range(disk):
    assert move_tail(disk, ROOT, PATH, 9, sync=True) == f"{ROOT}/lost+found/a.warc.gz.open.9-14"
    assert disk.content(PATH) == b"committed"
    assert disk.content(f"{ROOT}/lost+found/a.warc.gz.open.9-14") == b"+tail"


def test_names_in_lost_and_found_are_never_reused(disk):
    for number in range(3):
        disk.names[PATH] = Inode(b"%d" % number)
        move_file(disk, ROOT, PATH)
    names = ["a.warc.gz.open", "a.warc.gz.open.1", "a.warc.gz.open.2"]
    assert disk.list(f"{ROOT}/lost+found") == names
    assert [disk.content(f"{ROOT}/lost+found/{name}") for name in names] == [b"0", b"1", b"2"]


def test_a_file_of_another_file_system_stays_on_it(disk):
    rename = disk.rename

    def across(old, new):
        if new.startswith(f"{ROOT}/lost+found"):
            raise OperationError("rename", old, 18, "cross-device", "")
        rename(old, new)

    disk.rename = across
    assert move_file(disk, ROOT, PATH) == f"{ROOT}/archive/lost+found/a.warc.gz.open"
    assert disk.list(f"{ROOT}/archive") == []


def test_other_failures_of_a_move_are_told(disk):
    def refused(old, new):
        raise OperationError("rename", old, 13, "permission", "")

    disk.rename = refused
    with pytest.raises(OperationError, match="permission"):
        move_file(disk, ROOT, PATH)


def test_a_file_is_replaced_by_its_beginning_and_more(disk):
    old = disk.names[PATH]
    disk.names[f"{PATH}.tmp"] = Inode(b"left by a crash")
    rewritten(disk, PATH, 9, b"!")
    assert disk.content(PATH) == b"committed!"
    assert disk.names[PATH] is not old
    assert disk.list(f"{ROOT}/archive") == ["a.warc.gz.open"]
