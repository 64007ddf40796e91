from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import StorageError
from nacre.fetch.spool import FileBody, MemoryBody, Spool


@given(st.lists(st.binary(max_size=40)), st.integers(0, 60), st.integers(0, 90))
def test_what_went_in_comes_out(pieces: list[bytes], offset: int, size: int) -> None:
    spool = Spool(body_memory=50, total_memory=70)
    data = b"".join(pieces)
    other = spool.sink()
    other.write(b"x" * 20)
    sink = spool.sink()
    for piece in pieces:
        sink.write(piece)
    body = sink.finish()
    assert isinstance(body, FileBody if len(data) > 50 else MemoryBody)
    assert body.length == sink.length == len(data)
    assert body.read(0, len(data)) == data
    assert body.read(offset, size) == data[offset : offset + size]
    body.close()
    body.close()
    other.discard()
    assert spool.used == 0


def test_small_bodies_stay_in_memory_and_are_counted() -> None:
    spool = Spool()
    sink = spool.sink()
    sink.write(b"abc")
    body = sink.finish()
    sink.discard()
    assert spool.used == 3
    assert body.read(0, 99) == b"abc"
    body.close()
    assert spool.used == 0


def test_beyond_the_total_a_body_goes_to_its_file_early(tmp_path: Path) -> None:
    spool = Spool(tmp_path, body_memory=100, total_memory=150)
    bodies = []
    for _ in range(5):
        sink = spool.sink()
        sink.write(b"x" * 60)
        bodies.append(sink.finish())
    assert [type(body) for body in bodies] == [MemoryBody] * 2 + [FileBody] * 3
    assert spool.used == 120
    assert all(body.read(50, 99) == b"x" * 10 for body in bodies)
    for body in bodies:
        body.close()


def test_a_file_has_no_name(tmp_path: Path) -> None:
    sink = Spool(tmp_path, body_memory=1).sink()
    sink.write(b"abc")
    assert list(tmp_path.iterdir()) == []
    sink.discard()


def test_a_folder_that_cannot_be_written_names_the_remedy(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "absent", body_memory=1)
    sink = spool.sink()
    with pytest.raises(StorageError, match=r"cannot be kept in .*absent.*; free space there"):
        sink.write(b"abc")
    assert spool.used == 0
