"""SequenceFiles: every way to pack them, ranges, damage."""

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import ConfigError, DamageError
from nacre.rounds.moving.hadoop import (
    ByteCursor,
    SequenceFile,
    WritableError,
    data_files,
    ranges,
    unpack,
)
from tests.rounds.moving.hadoop_files import CODECS, SYNC, Container, map_file, sequence_file, vint

WAYS = [Container(), Container(blocks=True)] + [
    Container(codec, blocks) for codec in CODECS for blocks in (False, True)
]
RECORDS = [(f"http://a.example/书{number}", bytes([number]) * number) for number in range(95)]


def read(
    path: Path, low: int = 0, high: int = 0, told: list[str] | None = None
) -> list[tuple[str, bytes]]:
    with SequenceFile(path) as file:
        found = file.records(low, high, on_damage=None if told is None else told.append)
        return [(ByteCursor(one.key).text(), one.value) for one in found]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.slow
def test_each_way_to_pack_records_is_read_whole_and_in_ranges(tmp_path: Path, how: Container):
    path = map_file(tmp_path, RECORDS, how)
    assert read(path) == RECORDS
    for size in (1, 17, 300, 1000):
        parts = [read(path, one.low, one.high) for one in ranges([path], size)]
        assert [one for part in parts for one in part] == RECORDS


@given(st.integers(-(2**63), 2**63 - 1))
def test_numbers_of_varying_length(number: int):
    assert ByteCursor(vint(number)).varying() == number


@pytest.mark.parametrize("how", [WAYS[0], WAYS[1], WAYS[2], WAYS[3]])
def test_damage_is_told_with_its_place_and_salvaged_from_the_next_sync_mark(
    tmp_path: Path, how: Container
):
    path = map_file(tmp_path, RECORDS, how)
    data = bytearray(path.read_bytes())
    at = data.find(b"\xff\xff\xff\xff" + SYNC, 400)
    data[at + 20 : at + 28] = b"\x7f" * 8
    path.write_bytes(data)
    with pytest.raises(DamageError, match=r"data: record \d+ at byte [\d,]+: .*--salvage"):
        read(path)
    told: list[str] = []
    kept = read(path, told=told)
    assert len(told) == 1
    assert 75 <= len(kept) < 95
    assert kept[-1] == RECORDS[-1]
    assert set(kept) <= set(RECORDS)


@pytest.mark.parametrize("how", WAYS[:4])
def test_a_file_that_ends_too_early(tmp_path: Path, how: Container):
    path = map_file(tmp_path, RECORDS, how)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(DamageError, match="at byte"):
        read(path)
    told: list[str] = []
    assert RECORDS[0] in read(path, told=told)
    assert told


def test_a_length_that_is_said_takes_no_memory(tmp_path: Path):
    path = map_file(tmp_path, [])
    path.write_bytes(path.read_bytes() + struct.pack(">ii", 2**31 - 1, 4) + b"abcd")
    with pytest.raises(DamageError, match="2,147,483,647 bytes"):
        read(path)


def test_packed_bytes_that_are_none():
    for codec in CODECS:
        with pytest.raises(WritableError):
            unpack(codec, b"not packed at all")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PAR1", "does not begin with SEQ"),
        (b"", "does not begin with SEQ"),
        (b"SEQ\x04rest", "version 4, and version 6"),
        (sequence_file([]).replace(b"\0\0\0\0\0\1", b"\0\0\0\0\0\1"), ""),
        (sequence_file([], Container("DefaultCodec")).replace(b"Default", b"Snapped"), "Snapped"),
    ],
)
def test_files_of_other_kinds(tmp_path: Path, data: bytes, said: str):
    path = tmp_path / "part-r-00000"
    path.write_bytes(data)
    if not said:
        assert read(path) == []
        return
    with pytest.raises(ConfigError, match=said):
        read(path)


def test_a_header_that_ends_too_early(tmp_path: Path):
    path = tmp_path / "part-r-00000"
    path.write_bytes(sequence_file([])[:30])
    with pytest.raises(DamageError, match="the header of the SequenceFile is damaged"):
        read(path)


def test_parts_of_a_directory(tmp_path: Path):
    first = map_file(tmp_path, [])
    second = map_file(tmp_path, [], part=1)
    (tmp_path / "current" / "part-r-00001.crc").write_bytes(b"x")
    assert data_files(tmp_path) == [first, second]
    assert data_files(tmp_path / "current") == [first, second]
    with pytest.raises(ConfigError, match=r"has no part-\*"):
        data_files(tmp_path / "current" / "part-r-00000")
    with pytest.raises(ConfigError, match="there is no directory"):
        data_files(tmp_path / "none")
