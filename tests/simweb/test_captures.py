"""WARCs of any crawler are found again in the server's log."""

from pathlib import Path

import pytest

from nacre.simweb.answer import payload_digest
from nacre.simweb.captures import read_archive
from nacre.simweb.servelog import Row

_BLOCK = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntext"
_ROW = Row(1.0, "http://a.test/", "home", 200, 0, 0, False, 4, payload_digest(b"text"), 1.0)


@pytest.mark.parametrize("url", [b"http://a.test/", b"<http://a.test/>", b"http://a.test:8080/"])
def test_addresses_in_angle_brackets_and_with_ports(tmp_path: Path, url: bytes):
    head = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nContent-Length: %d\r\n\r\n"
    (tmp_path / "a.warc").write_bytes(head % (url, len(_BLOCK)) + _BLOCK + b"\r\n\r\n")
    found = read_archive(tmp_path, [_ROW])
    assert [one.row for one in found.kept] == [_ROW]
    assert found.problems == []
