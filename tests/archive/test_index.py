import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.archive.index import (
    cdx11_line,
    format_line,
    index_line,
    index_lines,
    rebuild_index,
    sort_index,
)
from nacre.archive.record import CaptureFacts, capture_records
from tests.archive.captures import counting_ids, fetched, make_capture, revisit_of
from tests.archive.files import MemoryFiles, make_writer, write_crawl
from tests.archive.warcs import make_record
from tests.examples import examples


def test_the_rebuilt_index_is_the_written_one(tmp_path):
    warc, index = write_crawl(tmp_path)
    assert rebuild_index(warc) == index.read_bytes()


parts = st.lists(
    st.sampled_from(
        [
            b"HTTP/1.1 ",
            b"200",
            b" ",
            b"\r\n",
            b"\n",
            b"\r",
            b"Content-Type",
            b":",
            b";",
            b"a/b",
            b"\t",
        ]
    )
    | st.binary(max_size=3),
    max_size=12,
).map(b"".join)


@examples(200)
@given(parts, parts, st.text(max_size=20))
def test_the_line_is_the_same_whatever_the_server_sent(tmp_path, head, body, path):
    files = MemoryFiles()
    writer = make_writer(files)
    capture = fetched(head + body, url="http://e.test/" + path)
    if capture is None:
        return
    writer.write(capture_records(capture, CaptureFacts(), counting_ids()))
    writer.rotate()
    (warc,) = files.save(tmp_path)
    assert rebuild_index(warc) == bytes(files.data[1])


def test_lines_name_the_file_as_it_will_be(tmp_path):
    warc, _ = write_crawl(tmp_path)
    open_one = warc.rename(warc.with_name(warc.name + ".open"))
    lines = list(index_lines(open_one))
    assert len(lines) == 6
    assert all(f'"filename": "{warc.name}"'.encode() in line for line in lines)


def test_records_that_are_not_indexed(tmp_path):
    path = tmp_path / "a.warc"
    kinds: list[dict[str, str | None]] = [
        {"WARC-Type": "metadata", "Content-Type": "application/warc-fields"},
        {"WARC-Type": "metadata", "Content-Type": "text/x"},
        {"WARC-Type": "conversion"},
        {"WARC-Date": "yesterday"},
        {"WARC-Target-URI": None},
    ]
    path.write_bytes(b"".join(make_record(b"x", None, **kind) for kind in kinds))
    (line,) = index_lines(path)
    assert b'"mime": "text/x"' in line


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
    closed = sort_index(data)
    assert closed.split(b"\n")[:-1] == sorted(set(lines))
    assert sort_index(closed) == closed


LINE = (
    'test,h)/a 20261123120000 {"url": "http://h.test/a", "mime": "text/html", "status": "200", '
    '"digest": "sha1:ABC", "length": "10", "offset": "5", "filename": "x.warc.gz"}\n'
)


def test_a_line_has_eleven_fields():
    made = cdx11_line(LINE)
    assert made == ("test,h)/a 20261123120000 http://h.test/a text/html 200 ABC - - 10 5 x.warc.gz")
    bare = cdx11_line(LINE.replace('"mime": "text/html", "status": "200", ', ""))
    assert bare.split(" ")[3:6] == ["-", "-", "ABC"]
    other = cdx11_line(LINE.replace("sha1:", "sha256:"))
    assert other.split(" ")[5] == "sha256:ABC"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('http://h.test/a"', 'http://h.test/a b\u3000c"'),
        ("text/html", "text/html x\\ny"),
        ("x.warc.gz", "图 书.warc.gz"),
    ],
)
def test_no_value_makes_a_field_or_a_line_of_its_own(old: str, new: str):
    made = cdx11_line(LINE.replace(old, new))
    assert len(made.split()) == 11
    assert made.isprintable()


@pytest.mark.parametrize("line", ["", "x", "key 2026 {", "key 2026 []", "key x {}", "a 2026 {}"])
def test_what_is_no_line_gives_none(line: str):
    assert cdx11_line(line) == ""
