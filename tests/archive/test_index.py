from nacre.archive.index import index_lines, rebuild_index
from tests.archive.files import write_crawl
from tests.archive.warcs import make_record


def test_the_rebuilt_index_is_the_written_one(tmp_path):
    warc, index = write_crawl(tmp_path)
    assert rebuild_index(warc) == index.read_bytes()


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
