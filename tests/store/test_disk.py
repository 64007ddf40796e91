"""The real disk: what it does, and how it tells of failures."""

import errno
import os

import pytest

from nacre.errors import StorageError
from nacre.store.disk import RealDisk
from nacre.store.seam import OperationError


@pytest.fixture
def disk():
    return RealDisk()


def test_a_file_through_its_life(disk, tmp_path):
    disk.makedirs(str(tmp_path / "a/b"))
    path, final = str(tmp_path / "a/b/file.open"), str(tmp_path / "a/b/file")
    handle = disk.create(path)
    disk.pwrite(handle, b"hello world", 0)
    disk.pwrite(handle, b"W", 6)
    disk.fdatasync(handle)
    assert disk.read(handle, 6, 100) == b"World"
    disk.truncate(handle, 5)
    disk.close(handle)
    disk.rename(path, final)
    disk.link(final, path)
    disk.fsync_dir(str(tmp_path / "a/b"))
    assert disk.list(str(tmp_path / "a/b")) == ["file", "file.open"]
    assert (disk.size(final), disk.size(str(tmp_path / "a")), disk.size("/no/such")) == (
        5,
        None,
        None,
    )
    handle = disk.open(final)
    assert disk.read(handle, 0, 100) == b"hello"
    disk.close(handle)
    disk.unlink(final)
    disk.unlink(final)
    assert disk.list(str(tmp_path / "a/b")) == ["file.open"]
    assert disk.list(str(tmp_path / "none")) == []


def test_space_is_taken_without_writing(disk, tmp_path):
    handle = disk.create(str(tmp_path / "ballast"))
    disk.allocate(handle, 1 << 20)
    disk.close(handle)
    assert (tmp_path / "ballast").stat().st_blocks * 512 >= 1 << 20
    assert disk.free_space(str(tmp_path)) > 0


def test_a_failure_names_path_operation_errno_and_remedy(disk, tmp_path):
    path = str(tmp_path / "file")
    disk.close(disk.create(path))
    with pytest.raises(OperationError) as caught:
        disk.create(path)
    error = caught.value
    assert (error.operation, error.path, error.errno) == ("create", path, errno.EEXIST)
    assert str(error) == (
        f"{path}: create failed: File exists (EEXIST). Something else made that file: move it away."
    )
    handle = disk.open(path)
    with pytest.raises(StorageError, match=r"file: write failed: .*EBADF"):
        disk.pwrite(handle, b"x", 0)
    disk.close(handle)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_a_full_or_broken_device_is_told(disk, tmp_path, monkeypatch, number):
    path = str(tmp_path / "file")
    handle = disk.create(path)

    def fail(*_):
        raise OSError(number, os.strerror(number))

    for name, call in (
        ("pwrite", lambda: disk.pwrite(handle, b"x", 0)),
        ("fdatasync", lambda: disk.fdatasync(handle)),
        ("ftruncate", lambda: disk.truncate(handle, 0)),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, fail)
            with pytest.raises(OperationError, match=errno.errorcode[number]) as caught:
                call()
        assert (caught.value.path, caught.value.errno) == (path, number)
    disk.close(handle)


def test_a_short_write_is_continued(disk, tmp_path, monkeypatch):
    handle = disk.create(str(tmp_path / "file"))
    pwrite = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, offset: pwrite(fd, data[:3], offset))
    disk.pwrite(handle, b"hello world", 2)
    assert disk.read(handle, 0, 100) == b"\0\0hello world"
    disk.close(handle)


@pytest.mark.parametrize("most", [1, 5, 1 << 20])
def test_many_parts_are_written_one_after_the_other(disk, tmp_path, monkeypatch, most):
    handle = disk.create(str(tmp_path / "file"))
    pwritev = os.pwritev

    def short(fd, parts, offset):
        return pwritev(fd, [b"".join(parts)[:most]], offset)

    monkeypatch.setattr(os, "pwritev", short)
    parts = [b"%d," % n for n in range(1500)]
    disk.pwritev(handle, parts, 3)
    assert disk.read(handle, 3, 1 << 20) == b"".join(parts)
    disk.close(handle)
