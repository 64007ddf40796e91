from pathlib import Path

import pytest

from nacre.job.wholefile import replace_file


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path):
    path = tmp_path / "facts.json"
    for data in (b"one", b"two"):
        replace_file(path, data)
        assert path.read_bytes() == data
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_is_told(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        replace_file(tmp_path / "missing" / "file", b"")
