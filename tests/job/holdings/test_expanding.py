"""Ordinary records made of differences: what in a WARC must not stop it."""

from pathlib import Path

import pytest

from nacre.job.holdings.expanding import expand

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
