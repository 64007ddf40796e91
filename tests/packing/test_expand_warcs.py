"""Ordinary records made of differences: what in a WARC must not stop it.

Places of differences.
"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.packing.expand_warcs import DifferencePlace, DifferencePlaces, expand

HEAD = (
    b"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
    b"Content-Type: application/warc-fields\r\nContent-Length: %d\r\n\r\n"
)


@pytest.mark.parametrize("size", [b"9" * 5000, b"-1", b"x"])
def test_a_note_whose_length_is_none(tmp_path: Path, size: bytes):
    block = b"confirms: <urn:uuid:2>\r\nreplyHead: " + size + b"\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"
    warc = tmp_path / "a.warc"
    warc.write_bytes(HEAD % len(block) + block + b"\r\n\r\n")
    assert list(expand([warc], tmp_path / "expanded")) == []


@given(st.lists(st.lists(st.integers(0, 40), max_size=6), max_size=5))
def test_each_is_found_in_every_file_that_holds_it_the_latest_first(files: list[list[int]]):
    places, wanted = DifferencePlaces(), dict[int, list[DifferencePlace]]()
    for number, names in enumerate(files):
        path = Path(f"{number}.warc")
        places.begin(path)
        for at, name in enumerate(dict.fromkeys(names)):
            places.add(f"urn:uuid:{name}", at)
            wanted.setdefault(name, []).insert(0, DifferencePlace(path, at))
    for name in range(41):
        assert list(places.find(f"urn:uuid:{name}")) == wanted.get(name, [])
