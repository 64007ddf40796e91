"""Locks that end with their holder."""

import os
from pathlib import Path

from nacre.frontier.lockfile import is_taken, take


def test_a_file_is_taken_once_until_it_is_given_back(tmp_path: Path):
    path = tmp_path / "passes"
    assert not is_taken(path)
    handle = take(path)
    assert handle is not None
    assert is_taken(path)
    assert take(path) is None
    assert is_taken(path), "a look and a vain try change nothing"
    os.close(handle)
    assert not is_taken(path)
    again = take(path)
    assert again is not None
    os.close(again)


def test_it_is_for_its_owner_only(tmp_path: Path):
    handle = take(tmp_path / "passes")
    assert handle is not None
    os.close(handle)
    assert (tmp_path / "passes").stat().st_mode & 0o077 == 0
