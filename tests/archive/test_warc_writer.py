import gzip
from tempfile import TemporaryFile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from nacre.archive.certificates import store_chain
from nacre.archive.index import rebuild_index
from nacre.archive.reader import WarcReader
from nacre.archive.record import WarcRecord
from nacre.archive.warc_writer import PLAIN, Files, pack, pack_chunks, pack_to_file
from nacre.core.capture import BytesBody
from nacre.store.commit import GroupCommit
from nacre.store.files import FileKind
from tests.archive.checking import check_file
from tests.archive.files import ORIGIN, MemoryFiles, TestClock, make_writer, small_crawl


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


def test_a_certificate_chain_is_once_in_each_file_before_its_captures(tmp_path):
    files = MemoryFiles()
    writer = make_writer(files)
    chains = [store_chain((b"leaf", b"issuer")), store_chain((b"other",))]
    for chain in (chains[0], chains[0], chains[1], None):
        (first, *_) = writer.write(small_crawl()[0], chain=chain)
        assert first.record.type == "response"
    writer.rotate()
    writer.write(small_crawl()[0], chain=chains[0])
    writer.rotate()
    warcs = files.save(tmp_path)
    uris = []
    for warc, number in zip(warcs, (1, 3), strict=True):
        assert rebuild_index(warc) == bytes(files.data[number])
        assert [
            str(finding) for finding in check_file(warc)[0] if "id-repeated" not in str(finding)
        ] == []
        with warc.open("rb") as file:
            uris.append(
                [
                    entry.get("WARC-Target-URI")
                    for entry in WarcReader(file)
                    if entry.get("WARC-Type") == "resource"
                ]
            )
    assert uris == [[chains[0].uri, chains[1].uri], [chains[0].uri]]


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


def test_a_file_that_got_nothing_for_long_is_closed():
    files, clock = MemoryFiles(), TestClock()
    writer = make_writer(files, clock=clock, close_idle=60)
    writer.rotate_idle()
    assert files.paths == []
    writer.write(small_crawl()[0])
    clock.passed = 50.0
    writer.write(small_crawl()[1])
    clock.passed = 109.0
    writer.rotate_idle()
    assert files.closed == {}
    clock.passed = 110.0
    writer.rotate_idle()
    writer.rotate_idle()
    assert sorted(files.closed) == [0, 1]
    assert {one.file for one in writer.write(small_crawl()[2])} == {2}
    clock.passed = 150.0
    writer.rotate_idle()
    assert sorted(files.closed) == [0, 1]


def test_files_stay_open_where_no_time_is_set():
    files, clock = MemoryFiles(), TestClock()
    writer = make_writer(files, clock=clock, close_idle=0)
    writer.write(small_crawl()[0])
    clock.passed = 1e9
    writer.rotate_idle()
    assert files.closed == {}


def test_rotating_nothing_is_nothing():
    files = MemoryFiles()
    make_writer(files).rotate()
    assert files.paths == []


def make_record(body: bytes) -> WarcRecord:
    block = BytesBody(body)
    return WarcRecord(
        "response", "i", b"head\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n", block, 0, "u", 0
    )


@given(st.binary(), st.integers(min_value=0, max_value=3))
def test_one_member_holds_the_record(body, level):
    expected = b"head\r\n\r\nHTTP/1.1 200 OK\r\n\r\n" + body + b"\r\n\r\n"
    assert gzip.decompress(pack(make_record(body), level)) == expected
    assert gzip.decompress(b"".join(pack_chunks(make_record(body), level))) == expected
    assert pack(make_record(body), PLAIN) == b"".join(pack_chunks(make_record(body), PLAIN))


def test_large_bodies_are_read_in_pieces():
    class Pieces(BytesBody):
        largest = 0

        def read(self, offset: int, size: int) -> bytes:
            Pieces.largest = max(Pieces.largest, size)
            return super().read(offset, size)

    record = make_record(b"")
    record.body = Pieces(bytes(5_000_000))
    chunks = list(pack_chunks(record, 1))
    assert Pieces.largest == 1 << 20
    assert len(gzip.decompress(b"".join(chunks))) == 5_000_000 + 31
    assert max(map(len, pack_chunks(record, PLAIN))) <= 1 << 20


@pytest.mark.parametrize("level", [PLAIN, 1])
def test_a_record_without_a_body(level):
    record = make_record(b"")
    record.body = None
    data = pack(record, level)
    assert (gzip.decompress(data) if level == 1 else data).endswith(b"OK\r\n\r\n\r\n\r\n")


def large_record() -> WarcRecord:
    body = BytesBody(bytes(range(256)) * 12_000)
    return WarcRecord("resource", "i", b"head\r\n\r\n", b"", body, body.length, "http://e.test/", 0)


@pytest.mark.parametrize("level", [PLAIN, 1])
def test_the_file_holds_the_member(level):
    record = large_record()
    with TemporaryFile() as file:
        packed = pack_to_file(record, level, file)
        data = packed.read(0, packed.length + 10)
        assert len(data) == packed.length
        assert packed.read(5, 3) == data[5:8]
        assert packed.read(packed.length, 1) == b""
        assert (data if level == PLAIN else gzip.decompress(data)) == pack(record, PLAIN)
        packed.close()
        packed.close()
        assert file.closed


def test_the_writer_takes_it():
    record = large_record()
    files = MemoryFiles()
    with TemporaryFile() as file:
        (written,) = make_writer(files).write([record], [pack_to_file(record, 1, file)])
    member = bytes(files.data[0][written.offset :])
    assert len(member) == written.length
    assert gzip.decompress(member) == pack(record, PLAIN)
