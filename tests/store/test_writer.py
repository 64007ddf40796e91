"""Writing parts, and files that appear whole or not at all."""

import pytest

from nacre.core.capture import BytesBody
from nacre.store.writer import write_parts, write_sorted, write_whole
from tests.store.simulated import Inode, World


@pytest.fixture
def disk():
    return World().disk


def test_bytes_and_bodies_follow_each_other(disk):
    handle = disk.create("/job/a")
    large = BytesBody(bytes(range(256)) * 10_000)
    write_parts(disk, handle, 3, [b"one", b"two", large, BytesBody(b""), b"end"])
    assert disk.content("/job/a") == b"\0\0\0onetwo" + large.data + b"end"
    write_parts(disk, handle, 0, [])
    assert disk.content("/job/a")[:3] == b"\0\0\0"


def test_a_file_is_written_whole_over_what_a_crash_left(disk):
    disk.names["/job/a.tmp"] = Inode(b"left by a crash")
    disk.names["/job/a"] = Inode(b"old")
    write_whole(disk, "/job/a", b"new")
    assert disk.content("/job/a") == b"new"
    assert disk.list("/job") == ["a"]
    assert disk.durable_names["/job/a"].durable == b"new"


def test_an_index_is_sorted_up_to_its_size_only(disk):
    handle = disk.create("/job/a.open")
    disk.pwrite(handle, b"b\na\nnot yet committed", 0)
    assert write_sorted(disk, handle, 4, "/job/a", lambda data: data[2:] + data[:2]) == 4
    assert disk.content("/job/a") == b"a\nb\n"
