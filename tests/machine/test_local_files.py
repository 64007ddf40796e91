"""Private files, temporary folders that end with their process, and locks."""

import errno
import os
import socket
import stat
import tempfile
import time
from pathlib import Path

import pytest

from nacre.machine.local_files import (
    FREE,
    OWN,
    SHARED,
    HeldFolder,
    LockFile,
    close_to_others,
    close_tree_to_others,
    home_path,
    is_locked,
    lock_file,
    make_private,
    remove_left_behind,
    replace_file,
)

DAY = 86_400.0


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path):
    path = tmp_path / "facts.json"
    for data in (b"one", b"two"):
        replace_file(path, data)
        assert path.read_bytes() == data
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_replaced_has_the_mode_that_was_asked_for(tmp_path: Path):
    path = tmp_path / "secret"
    path.touch(0o644)
    replace_file(path, b"x", 0o600)
    assert mode(path) == 0o600


def test_a_full_disk_leaves_no_part_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "facts.json"
    path.write_bytes(b"old")

    def fill(new: Path, data: bytes) -> int:
        with new.open("wb") as file:
            file.write(data[:1])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", fill)
    with pytest.raises(OSError, match="No space"):
        replace_file(path, b"new")
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == b"old"


def test_what_cannot_be_written_is_told(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        replace_file(tmp_path / "missing" / "file", b"")


# ---- private directories


def test_a_private_directory_is_for_its_owner_and_so_are_files_made_in_it_later(tmp_path: Path):
    path = tmp_path / "a" / "state"
    make_private(path)
    assert mode(path) == 0o700
    path.chmod(0o755)
    make_private(path)
    assert mode(path) == 0o700
    (path / "file").touch(0o666)
    if "system.posix_acl_default" in os.listxattr(path):
        assert mode(path / "file") & 0o077 == 0


def test_what_is_closed_already_keeps_its_mode(tmp_path: Path):
    path = tmp_path / "file"
    path.touch(0o400)
    close_to_others(path)
    assert mode(path) == 0o400
    path.chmod(0o640)
    close_to_others(path)
    assert mode(path) == 0o600


def test_a_tree_is_closed_and_its_links_are_left_alone(tmp_path: Path):
    outside = tmp_path / "outside"
    outside.touch(0o644)
    tree = tmp_path / "tree"
    (tree / "inner").mkdir(parents=True)
    (tree / "inner").chmod(0o755)
    (tree / "inner" / "open").touch()
    (tree / "inner" / "open").chmod(0o644)
    (tree / "inner" / "own").touch(0o400)
    (tree / "link").symlink_to(outside)
    close_tree_to_others(tree)
    assert mode(tree / "inner") == 0o700
    assert mode(tree / "inner" / "open") == 0o600
    assert mode(tree / "inner" / "own") == 0o400
    assert mode(outside) == 0o644


# ---- temporary folders


def test_a_held_folder_stays_until_it_is_closed(folders: Path):
    held = HeldFolder("slots-")
    assert held.path.parent == folders
    assert held.path.name.startswith("nacre-slots-")
    assert mode(held.path) == 0o700
    remove_left_behind(time.time() + 10 * DAY)
    assert held.path.is_dir()
    held.close()
    assert list(folders.iterdir()) == []


def test_a_folder_that_cannot_be_held_is_not_left(folders: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(PermissionError):
        HeldFolder()
    assert list(folders.iterdir()) == []


def refuse(*_: object) -> Path:
    raise PermissionError(1, "not here")


def test_a_folder_whose_process_has_ended_is_removed(folders: Path):
    left = folders / "nacre-left"
    left.mkdir()
    (left / "held").touch()
    (left / "data").write_text("x")
    remove_left_behind(time.time())
    assert not left.exists()


@pytest.mark.parametrize(("age", "stays"), [(DAY - 60, True), (DAY + 60, False)])
def test_a_folder_that_is_being_made_has_a_day(folders: Path, age: float, stays: bool):
    made = folders / ".nacre-new-x"
    made.mkdir()
    (made / "held").touch()
    remove_left_behind(made.stat().st_mtime + age)
    assert made.exists() is stays


@pytest.mark.parametrize(("age", "stays"), [(DAY - 60, True), (DAY + 60, False)])
def test_a_folder_of_links_without_a_lock_has_a_day(folders: Path, age: float, stays: bool):
    made = folders / "nacre-links"
    made.mkdir()
    (made / "one").symlink_to(folders)
    remove_left_behind(made.stat().st_mtime + age)
    assert made.exists() is stays
    assert folders.is_dir()


def test_a_folder_of_something_else_stays(folders: Path):
    other = folders / "nacre-notes"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    (folders / "nacre-file").write_text("mine")
    remove_left_behind(time.time() + 10 * DAY)
    assert (other / "notes.txt").read_text() == "mine"
    assert (folders / "nacre-file").exists()


def test_a_socket_is_left_only_when_nobody_answers(folders: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folders)  # paths of sockets are short
    for name in ("nacre-dead", "nacre-live"):
        (folders / name).mkdir()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind("nacre-dead/control")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("nacre-live/control")
        server.listen()
        remove_left_behind(time.time())
        assert (folders / "nacre-live").exists()
    assert not (folders / "nacre-dead").exists()


def test_folders_of_another_user_stay(folders: Path, monkeypatch: pytest.MonkeyPatch):
    left = folders / "nacre-left"
    left.mkdir()
    (left / "held").touch()
    monkeypatch.setattr(os, "geteuid", lambda: left.stat().st_uid + 1)
    remove_left_behind(time.time())
    assert left.exists()


# ---- locks of bytes


def test_a_byte_belongs_to_one_and_others_are_free(tmp_path: Path):
    one, two = LockFile(tmp_path / "d" / "slots"), LockFile(tmp_path / "d" / "slots")
    assert mode(tmp_path / "d") == 0o700
    assert one.lock(3, OWN)
    assert one.lock(3, OWN)
    assert not two.lock(3, OWN)
    assert not two.lock(3, SHARED)
    assert two.lock(4, OWN)
    assert one.lock(3, SHARED)
    assert two.lock(3, SHARED)
    assert not one.lock(3, OWN)
    two.lock(3, FREE)
    assert one.lock(3, OWN)
    one.close()
    assert two.lock(3, OWN)
    two.close()


def test_what_was_not_written_reads_as_nothing(tmp_path: Path):
    file = LockFile(tmp_path / "slots")
    assert file.written() == 0.0
    assert file.read(4, 100) == b"\0\0\0\0"
    file.write(b"ab", 1)
    assert file.read(4, 0) == b"\0ab\0"
    assert file.written() == (tmp_path / "slots").stat().st_mtime
    file.close()


def test_a_lock_file_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    LockFile(tmp_path / "slots").close()
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(PermissionError, match="another user"):
        LockFile(tmp_path / "slots")


def test_a_lock_file_is_followed_through_no_link(tmp_path: Path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    with pytest.raises(NotADirectoryError):
        LockFile(link / "slots")
    (tmp_path / "slots").symlink_to(real / "slots")
    with pytest.raises(OSError, match="symbolic links"):
        LockFile(tmp_path / "slots")


# ---- locks of a file


def test_a_file_is_taken_once_until_it_is_given_back(tmp_path: Path):
    path = tmp_path / "passes"
    assert not is_locked(path)
    handle = lock_file(path)
    assert handle is not None
    assert is_locked(path)
    assert lock_file(path) is None
    assert is_locked(path), "a look and a vain try change nothing"
    os.close(handle)
    assert not is_locked(path)
    again = lock_file(path)
    assert again is not None
    os.close(again)


def test_it_is_for_its_owner_only(tmp_path: Path):
    handle = lock_file(tmp_path / "passes")
    assert handle is not None
    os.close(handle)
    assert (tmp_path / "passes").stat().st_mode & 0o077 == 0


def test_what_can_have_no_locks_is_no_locked_file(tmp_path: Path):
    with pytest.raises(IsADirectoryError):
        lock_file(tmp_path)
    assert not is_locked(tmp_path)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("~/a.txt", "/home/me/a.txt"),
        ("~nobody-of-this-name/a.txt", "~nobody-of-this-name/a.txt"),
        ("图书/~a", "图书/~a"),
        ("/x", "/x"),
    ],
)
def test_a_home_of_nobody_is_a_name(monkeypatch: pytest.MonkeyPatch, name: str, path: str):
    monkeypatch.setenv("HOME", "/home/me")
    assert home_path(name) == Path(path)
