import gzip
from tempfile import TemporaryFile

import pytest

from nacre.archive.member import PLAIN, pack
from nacre.archive.packed import pack_to_file
from nacre.archive.record import Record
from nacre.core.capture import BytesBody
from tests.archive.files import MemoryFiles, make_writer


def large_record() -> Record:
    body = BytesBody(bytes(range(256)) * 12_000)
    return Record("resource", "i", b"head\r\n\r\n", b"", body, body.length, "http://e.test/", 0)


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
