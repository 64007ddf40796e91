import pytest

from tests.archive.checking import check_file
from tests.archive.warcs import make_record, plain_file

HTTP = {"WARC-Type": "response", "Content-Type": "application/http"}


@pytest.mark.parametrize(
    ("changes", "block", "found"),
    [
        ({}, b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", set()),
        ({}, b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", set()),
        ({"WARC-Truncated": "time"}, b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", set()),
        ({}, b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nab", set()),
        ({}, b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\nab", set()),
        ({"WARC-Truncated": "time"},
         b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", set()),
        ({}, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", {"chunks-broken"}),
        ({"WARC-Type": "request"}, b"GET / HTTP/1.1\r\n\r\n", set()),
        ({"WARC-Block-Digest": None}, b"HTTP/1.1 200 OK\r\n\r\n", set()),
        ({"WARC-Segment-Number": "1", "WARC-Payload-Digest": "sha1:" + "A" * 32},
         b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", set()),
        ({"WARC-Type": "metadata", "Content-Type": "application/warc-fields"},
         b"seed: \r\nnote: a\r\n b\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n", set()),
    ],
)  # fmt: skip
def test_messages(tmp_path, changes, block, found):
    path = tmp_path / "a.warc"
    plain_file(path, make_record(block, None, **(HTTP | changes)))
    assert {finding.code for finding in check_file(path)[0]} == found
