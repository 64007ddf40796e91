from msgspec.structs import replace

from nacre.archive.index import rebuild_index
from nacre.archive.member import pack
from nacre.archive.segment import Files
from nacre.core.capture import BytesBody
from nacre.store.commit import GroupCommit
from nacre.store.files import FileKind
from tests.archive.checking import check_file
from tests.archive.files import ORIGIN, MemoryFiles, make_writer, small_crawl


def test_a_file_has_its_name_its_index_and_its_warcinfo_first(tmp_path):
    files = MemoryFiles()
    writer = make_writer(files, replace(ORIGIN, run="runs/1"), operator="A\r\nB", prefix="T")
    (first, *_) = writer.write(small_crawl()[0])
    name = "T-20261120100000123-00000-host.test"
    assert files.paths == [
        f"runs/1/archive/{name}.warc.gz.open",
        f"runs/1/archive/{name}.cdxj.open",
    ]
    assert files.kinds == [FileKind.WARC, FileKind.INDEX]
    assert first.name == f"{name}.warc.gz"
    assert first.offset > 0
    writer.rotate()
    assert files.closed == {
        0: f"runs/1/archive/{name}.warc.gz",
        1: f"runs/1/archive/{name}.cdxj",
    }
    (warc,) = files.save(tmp_path)
    assert check_file(warc)[0] == []


def test_warcinfo_tells_who_and_how(tmp_path):
    files = MemoryFiles()
    origin = replace(ORIGIN, user_agent="ua", http_from="me", created="2026")
    writer = make_writer(files, origin, operator="A\r\nB", compress=False)
    writer.write(small_crawl()[0])
    block = bytes(files.data[0]).partition(b"\r\n\r\n")[2].partition(b"\r\n\r\n")[0]
    assert block.decode().split("\r\n") == [
        "software: Nacre/0.1",
        "ip: 127.0.0.1",
        "hostname: host.test",
        "format: WARC File Format 1.1",
        "conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "operator: A%0D%0AB",
        "isPartOf: demo",
        "created: 2026",
        "robots: obey",
        "http-header-user-agent: ua",
        "http-header-from: me",
    ]


def test_a_new_file_begins_before_a_capture_that_finds_the_old_one_full():
    files = MemoryFiles()
    writer = make_writer(files, max_file_size=1, directories=("a", "b"))
    places = [writer.write(records) for records in small_crawl()[:3]]
    assert [{w.file for w in written} for written in places] == [{0}, {2}, {4}]
    folders = [path.partition("/")[0] for path in files.paths]
    assert folders == ["a", "a", "b", "b", "a", "a"]
    assert sorted(files.closed) == [0, 1, 2, 3]


def test_the_index_along_the_way_is_the_one_rebuilt_from_the_file(tmp_path):
    for compress in (True, False):
        files = MemoryFiles()
        writer = make_writer(files, compress=compress)
        for records in small_crawl():
            writer.write(records)
        writer.rotate()
        (warc,) = files.save(tmp_path)
        assert rebuild_index(warc) == bytes(files.data[1])
        assert files.data[1].count(b"\n") == 6


def test_the_limit_of_the_run_is_told():
    files = MemoryFiles()
    writer = make_writer(files, max_total=1)
    before = writer.full
    writer.write(small_crawl()[0])
    assert (before, writer.full) == (False, True)
    assert writer.total == len(files.data[0])


def test_members_made_elsewhere_are_taken_as_they_are():
    files, plain = MemoryFiles(), MemoryFiles()
    records = small_crawl()[0]
    make_writer(plain).write(records)
    members = [BytesBody(pack(record, 1)) for record in records]
    written = make_writer(files).write(records, members)
    assert files.data[0] == plain.data[0]
    assert [w.length for w in written] == [member.length for member in members]


def test_large_records_have_files_of_their_own_series():
    files = MemoryFiles()
    make_writer(files, replace(ORIGIN, series="large")).write(small_crawl()[0])
    assert files.paths[0].startswith("archive/NACRE-large-2026")


def the_store_is_what_the_writer_needs(commit: GroupCommit) -> Files:
    """For the type checker."""
    return commit


def test_rotating_nothing_is_nothing():
    files = MemoryFiles()
    make_writer(files).rotate()
    assert files.paths == []
