"""WARCs of any crawler are found again in the server's log."""

from pathlib import Path

import pytest
from msgspec import structs

from nacre_simweb.answer import payload_digest
from nacre_simweb.captures import read_archive
from nacre_simweb.servelog import Row

_BLOCK = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntext"
_ROW = Row(1.0, "http://a.test/", "home", 200, 0, 0, False, 4, payload_digest(b"text"), 1.0)


@pytest.mark.parametrize("url", [b"http://a.test/", b"<http://a.test/>", b"http://a.test:8080/"])
def test_addresses_in_angle_brackets_and_with_ports(tmp_path: Path, url: bytes):
    head = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nContent-Length: %d\r\n\r\n"
    (tmp_path / "a.warc").write_bytes(head % (url, len(_BLOCK)) + _BLOCK + b"\r\n\r\n")
    found = read_archive(tmp_path, [_ROW])
    assert [one.row for one in found.kept] == [_ROW]
    assert found.problems == []


def test_a_revisit_of_an_error_is_that_of_the_error(tmp_path: Path):
    url, error = b"http://a.test/", _BLOCK.replace(b"200 OK", b"404 No")
    date = b"2026-11-20T10:00:0%d.000000Z"
    first = b"WARC-Type: response\r\nWARC-Date: %s\r\n" % (date % 1)
    again = (
        b"WARC-Type: revisit\r\nWARC-Date: %s\r\n"
        b"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n"
        b"WARC-Refers-To-Target-URI: %s\r\nWARC-Refers-To-Date: %s\r\n"
    ) % (date % 2, url, date % 1)
    records = b""
    for fields, block in ((first, error), (again, error[:-4])):
        head = b"WARC/1.1\r\n%sWARC-Target-URI: %s\r\nContent-Length: %d\r\n\r\n"
        records += head % (fields, url, len(block)) + block + b"\r\n\r\n"
    (tmp_path / "a.warc").write_bytes(records)
    rows = [structs.replace(_ROW, time=time, status=404) for time in (1.0, 2.0)]
    found = read_archive(tmp_path, rows)
    assert found.problems == []
    assert [(one.row, one.full) for one in found.kept] == [(rows[0], True), (rows[1], False)]
