"""Seed lists of any length: streamed, plain or compressed, in any encoding."""

import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.config.seed_file import LONGEST, coding_name, coding_of, decode_lines, seed_lines
from nacre.errors import ConfigError


def test_lines_of_the_settings_of_a_file_and_of_a_compressed_one(tmp_path: Path):
    lines = ["http://a.test/", "# ü", "http://b.test/"]
    (tmp_path / "seeds.txt").write_text("\n".join(lines), "utf-8")
    (tmp_path / "seeds.gz").write_bytes(gzip.compress("\r\n".join(lines).encode()))
    assert list(seed_lines("seeds.txt", tmp_path)) == lines
    assert list(seed_lines("seeds.gz", tmp_path)) == lines
    assert list(seed_lines(str(tmp_path / "seeds.gz"), Path("/"))) == lines
    assert list(seed_lines(("http://a.test/",), tmp_path)) == ["http://a.test/"]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("seeds.txt", None, "No such file"),
        ("/dev/zero", None, "not a regular file"),
        ("", None, "but a directory"),
        ("seeds.gz", b"http://a.test/\n", "damaged"),
        ("seeds.gz", gzip.compress(b"http://a.test/\n", mtime=0)[:-9], "damaged"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, name: str, data: bytes | None, said: str):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(ConfigError, match=said):
        list(seed_lines(name, tmp_path))


def lines_of(data: bytes) -> list[str]:
    return list(decode_lines(io.BytesIO(data), coding_of(io.BytesIO(data))))


CHINESE = "# 国家图书馆的种子\r\nhttp://政府.example/通知公告/\r\nhttp://b.example/附件1.doc\r\n"
TRADITIONAL = "# 國家圖書館\nhttp://臺灣.example/公告/\n"
WESTERN = "# Bibliothèque\nhttp://müller.example/Öffnungszeiten/\n"
JAPANESE = "# 国立国会図書館の一覧\nhttp://x.example/お知らせ/\n"


@pytest.mark.parametrize(
    ("text", "encoding", "name"),
    [
        (CHINESE, "utf-8", "UTF-8"),
        (CHINESE, "utf-8-sig", "UTF-8"),
        (CHINESE, "utf-16", "UTF-16-LE"),
        ("\ufeff" + CHINESE, "utf-16-be", "UTF-16-BE"),
        (CHINESE, "utf-16-le", "UTF-16-LE"),
        (CHINESE, "utf-32", "UTF-32-LE"),
        (CHINESE, "gbk", "GBK"),
        ("http://政府.example/\n", "gbk", "GBK"),
        ("http://a.example/通知/\n", "gbk", "GBK"),
        ("# 种子\n", "gbk", "GBK"),
        ("http://a.example/Öß/\n", "latin-1", "Latin-1"),
        ("http://пример.example/новости/\n", "utf-8", "UTF-8"),
        ("http://a.example/Straße/é\n", "utf-8", "UTF-8"),
        ("http://a.example/αβγ/\n", "utf-8", "UTF-8"),
        (TRADITIONAL, "big5", "Big5"),
        ("http://臺灣.example/\n", "big5", "Big5"),
        (WESTERN, "latin-1", "Latin-1"),
        ("http://a.example/Bücher\n", "latin-1", "Latin-1"),
        (JAPANESE, "shift_jis", "Shift_JIS"),
        ("http://a.example/\n", "ascii", "UTF-8"),
        ("", "ascii", "UTF-8"),
    ],
)
def test_the_encoding_of_a_list(text: str, encoding: str, name: str):
    data = text.encode(encoding)
    assert coding_name(coding_of(io.BytesIO(data))) == name
    found = [line.removeprefix("\ufeff") for line in lines_of(data) if line.strip("\ufeff")]
    assert found == text.removeprefix("\ufeff").splitlines()


def test_one_broken_line_does_not_change_the_others():
    data = (CHINESE * 3).encode() + b"http://c.example/\xff\n"
    *others, last = lines_of(data)
    assert others == (CHINESE * 3).splitlines()
    assert last == "http://c.example/\ufffd"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_ends_of_lines(end: bytes):
    assert lines_of(end.join([b"http://a/", b"", b"http://b/"])) == ["http://a/", "", "http://b/"]


def test_a_line_without_end_comes_in_pieces():
    assert max(map(len, lines_of(b"a" * 3 * LONGEST))) == LONGEST
    assert max(map(len, lines_of(("a" * 3 * LONGEST).encode("utf-16")))) < 3 * LONGEST


@given(st.binary(max_size=200))
def test_nothing_is_too_odd_to_be_read(data: bytes):
    assert sum(len(line) for line in lines_of(data)) <= len(data) + 1


def test_nul_bytes_are_no_encoding():
    assert coding_of(io.BytesIO(b"\0" * 100)) == "utf-8"
