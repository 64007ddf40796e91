"""Checksums of Hadoop: those of the specification, damaged files, ranges."""

import struct
import zlib
from pathlib import Path

import pytest

from nacre.rounds.moving.hadoop_checksums import bad_chunks, checksum_file


def checksums(data: bytes, chunk: int = 512) -> bytes:
    sums = (zlib.crc32(data[at : at + chunk]) for at in range(0, len(data), chunk))
    return b"crc\0" + struct.pack(">I", chunk) + b"".join(struct.pack(">I", one) for one in sums)


def written(folder: Path, data: bytes, sums: bytes) -> Path:
    path = folder / "part-00000"
    path.write_bytes(data)
    (folder / ".part-00000.crc").write_bytes(sums)
    return path


DATA = bytes(range(256)) * 9


def test_a_whole_file(tmp_path):
    path = written(tmp_path, DATA, checksums(DATA))
    assert checksum_file(path).name == ".part-00000.crc"
    assert not list(bad_chunks(path))
    assert not list(bad_chunks(tmp_path / "other")), "nothing is compared without checksums"
    assert not list(bad_chunks(written(tmp_path, b"", checksums(b""))))


@pytest.mark.parametrize("at", [0, 511, 512, 2303])
def test_a_chunk_that_differs(tmp_path, at):
    spoilt = bytearray(DATA)
    spoilt[at] ^= 1
    path = written(tmp_path, bytes(spoilt), checksums(DATA))
    (bad,) = bad_chunks(path)
    assert bad.start <= at < bad.end
    assert (bad.start % 512, bad.end) == (0, min(bad.start + 512, len(DATA)))
    assert list(bad_chunks(path, at, at + 1)) == [bad]
    assert not [one for one in bad_chunks(path, 1024, 1536) if one == bad] or 1024 <= at < 1536


@pytest.mark.parametrize("sums", [b"", b"crc\0", b"crc\0\0\0\0\0", b"what is this, no checksums"])
def test_what_are_no_checksums(tmp_path, sums):
    (bad,) = bad_chunks(written(tmp_path, DATA, sums))
    assert "is no file of checksums" in bad.reason


def test_a_file_that_was_cut_or_grew(tmp_path):
    for data in (DATA[:1000], DATA + b"x" * 600):
        found = list(bad_chunks(written(tmp_path, data, checksums(DATA))))
        assert "checksums, not" in found[0].reason
