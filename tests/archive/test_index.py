from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nacre.archive.facts import CaptureFacts
from nacre.archive.index import index_lines, rebuild_index
from nacre.archive.record import capture_records
from tests.archive.captures import counting_ids, fetched
from tests.archive.files import MemoryFiles, make_writer, write_crawl
from tests.archive.warcs import make_record


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


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
