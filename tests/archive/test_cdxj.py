import json

from hypothesis import given
from hypothesis import strategies as st

from nacre.archive.cdxj import format_line, index_line, sorted_index
from nacre.archive.facts import CaptureFacts
from nacre.archive.record import capture_records
from tests.archive.captures import counting_ids, make_capture, revisit_of


def lines_of(capture, facts=None) -> list[bytes]:
    records = capture_records(capture, facts or CaptureFacts(), counting_ids())
    return [index_line(record, "a.warc.gz", 10, 20) for record in records]


def test_a_response_has_a_line_its_request_and_metadata_have_none():
    assert lines_of(make_capture(url="http://www.Example.test/b?z=1&a=2")) == [
        b'test,example)/b?a=2&z=1 20261120100000 {"url": "http://www.Example.test/b?z=1&a=2", '
        b'"mime": "text/html", "status": "200", "digest": "sha1:FKXGYNOJJ7H3IFO35FPUBC445EPOQRXN", '
        b'"length": "20", "offset": "10", "filename": "a.warc.gz"}\n',
        b"",
        b"",
    ]


def test_revisits():
    identical = lines_of(make_capture(), revisit_of("identical-payload-digest"))[0]
    assert b'"mime": "warc/revisit", "status": "200", "digest": "sha1:FKX' in identical
    reply = make_capture(b"HTTP/1.1 304 Not Modified\r\n\r\n", b"", status=304)
    unchanged = lines_of(reply, revisit_of("server-not-modified"))[0]
    assert b'"mime": "warc/revisit", "digest": "sha1:FKX' in unchanged


def test_a_post_is_found_by_what_was_sent():
    line = lines_of(make_capture(request=b"POST / HTTP/1.1\r\n\r\nabc"))[0]
    assert line.startswith(b"test,example)/?__wb_method=post&__wb_post_data=ywjj ")
    assert line.endswith(b', "requestBody": "__wb_post_data=YWJj", "method": "POST"}\n')


@given(st.text(), st.text(), st.text())
def test_every_line_is_one_line_of_json(url, mime, name):
    line = format_line(url, "20260101000000", (mime, "200", None), (1, 2, name))
    assert line.count(b"\n") == 1
    _, time, fields = line.split(b" ", 2)
    assert time == b"20260101000000"
    assert json.loads(fields) == {
        "url": url,
        "mime": mime,
        "status": "200",
        "length": "1",
        "offset": "2",
        "filename": name,
    }


@given(st.lists(st.binary(min_size=1).filter(lambda line: b"\n" not in line)))
def test_a_closed_index_is_sorted_by_bytes_and_repeats_nothing(lines):
    data = b"".join(line + b"\n" for line in lines)
    closed = sorted_index(data)
    assert closed.split(b"\n")[:-1] == sorted(set(lines))
    assert sorted_index(closed) == closed
