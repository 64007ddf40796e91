"""WACZ files that are damaged, encrypted, hostile, or no WACZ at all."""

import hashlib
import json
import struct
import zipfile
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.catalogue import wacz
from nacre.catalogue.wacz import WaczContents, part_chunks, read_wacz
from nacre.errors import JobError
from nacre.machine.local_files import open_ordinary
from tests.catalogue.foreign_files import PAGES, packed_warc, wacz_with, write_wacz


def ignore(_done: int, _total: int) -> None:
    """Take no notice."""


def refuse(path: Path) -> str:
    """The code of the error for a file."""
    with pytest.raises(JobError) as failure:
        read_wacz(path, ignore)
    assert str(path) in str(failure.value)
    return str(getattr(failure.value.message, "code", ""))


def sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


@pytest.mark.parametrize("deflated", [[], ["archive/one.warc.gz", "indexes/index.idx"]])
def test_parts_are_read_where_they_are(tmp_path, deflated):
    path = wacz_with(tmp_path / "x.wacz", deflated=deflated)
    progress: list[tuple[int, int]] = []
    contents = read_wacz(path, lambda *done: progress.append(done))
    assert progress[-1][0] == progress[-1][1] > 0
    with zipfile.ZipFile(path) as archive, open_ordinary(path) as file:
        for part in contents.parts.values():
            assert b"".join(part_chunks(file, path, part)) == archive.read(part.name)
            assert part.is_stored is (part.name not in deflated)


def test_a_prefix_and_a_comment_do_not_matter(tmp_path):
    path = wacz_with(tmp_path / "x.wacz")
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b"PK about" * 1000
    path.write_bytes(b"#!/bin/sh\n" + path.read_bytes())
    part = read_wacz(path, ignore).parts["archive/one.warc.gz"]
    with open_ordinary(path) as file:
        assert b"".join(part_chunks(file, path, part)) == packed_warc(PAGES[:2])


def test_both_places_of_a_large_list_are_bounded(tmp_path):
    """Readers take the record that the locator names, or that beside it: neither may be long."""
    small, large = (
        struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, length, 0)
        for length in (60, 1 << 30)
    )
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    path = tmp_path / "x.wacz"
    for first, second in ((small, large), (large, small)):
        path.write_bytes(first + second + struct.pack("<4sLQL", b"PK\6\7", 0, 0, 1) + end)
        assert refuse(path) == "catalogue.zip-limits"


@pytest.mark.parametrize(
    ("package", "title", "fields"),
    [
        ({}, "", {}),
        ({"title": "a\n b", "description": ["x"], "software": "s"}, "a b",
         {"title": "a b", "source": "s"}),
        ({"title": 7, "mainPageUrl": {}}, "", {}),
    ],
)  # fmt: skip
def test_the_description(tmp_path, package, title, fields):
    contents = read_wacz(wacz_with(tmp_path / "x.wacz", package=package), ignore)
    assert (contents.title, contents.fields, contents.main_page) == (title, fields, "")


def test_without_a_description_nothing_can_be_compared(tmp_path):
    contents: WaczContents = read_wacz(wacz_with(tmp_path / "x.wacz", has_package=False), ignore)
    assert [text.code for text in contents.warnings] == ["catalogue.no-package"]


@pytest.mark.parametrize(
    ("pages", "url"),
    [
        (b'{"format": "json-pages-1.0"}\n{"url": "http://h.test/a", "ts": "x"}\n{"url": "b"}', "http://h.test/a"),
        (b"", ""),
        (b"[\n5\n\xff\n" + b"[" * 100_000, ""),
        (b'{"url": 5}\n' * 100, ""),
    ],
)  # fmt: skip
def test_the_first_page(tmp_path, pages, url):
    parts = {"archive/one.warc.gz": b"", "pages/pages.jsonl": pages}
    path = write_wacz(tmp_path / "x.wacz", parts, deflated=["pages/pages.jsonl"])
    assert read_wacz(path, ignore).main_page == url


def resource(name: str, data: bytes = b"x", **changes: object) -> dict[str, object]:
    return {"path": name, "hash": sha256(data), "bytes": len(data), **changes}


WARC = packed_warc()


@pytest.mark.parametrize(
    ("package", "code"),
    [
        ({"resources": [resource("archive/one.warc.gz", b"y")]}, "catalogue.wrong-digest"),
        ({"resources": [resource("archive/one.warc.gz", WARC, bytes=1)]},
         "catalogue.wrong-digest"),
        ({"resources": [resource("archive/two.warc.gz")]}, "catalogue.part-missing"),
        ({"resources": [{"hash": "sha256:1"}]}, "catalogue.part-missing"),
        ({"profile": "multi-wacz-package"}, "catalogue.multi-wacz"),
    ],
)  # fmt: skip
def test_a_description_that_does_not_fit(tmp_path, package, code):
    path = write_wacz(tmp_path / "x.wacz", {"archive/one.warc.gz": WARC}, package=package)
    assert refuse(path) == code


@pytest.mark.parametrize(
    "package",
    [
        {"resources": "none"},
        {"resources": [5, None]},
        {"resources": [resource("archive/one.warc.gz", WARC, hash="sha3-9:1")]},
        {"resources": [resource("archive/one.warc.gz", hash=7, bytes="many")]},
        {"resources": [{"path": "archive/one.warc.gz",
                        "hash": f"md5:{hashlib.md5(WARC).hexdigest().upper()}"}]},
    ],
)  # fmt: skip
def test_odd_descriptions_of_whole_files(tmp_path, package):
    path = write_wacz(tmp_path / "x.wacz", {"archive/one.warc.gz": WARC}, package=package)
    assert "archive/one.warc.gz" in read_wacz(path, ignore).parts


def test_a_description_that_was_changed(tmp_path):
    digest = json.dumps({"path": "datapackage.json", "hash": sha256(b"")}).encode()
    path = tmp_path / "x.wacz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/one.warc.gz", WARC)
        archive.writestr("datapackage.json", "{}")
        archive.writestr("datapackage-digest.json", digest)
    assert refuse(path) == "catalogue.wrong-digest"


@pytest.mark.parametrize("text", ["", "[1]", "{", "[" * 100_000, '"x"', "\ud800"])
def test_a_description_that_is_damaged(tmp_path, text):
    path = tmp_path / "x.wacz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/one.warc.gz", WARC)
        archive.writestr("datapackage.json", text.encode("utf-8", "surrogatepass"))
    assert refuse(path) == "catalogue.damaged-zip"


def test_a_list_of_wacz_files(tmp_path):
    parts = {"pages/pages.jsonl": b"{}"}
    package = {"resources": [{"path": "a.wacz", "hash": "", "bytes": 1}]}
    assert refuse(write_wacz(tmp_path / "x.wacz", parts, package=package)) == (
        "catalogue.multi-wacz"
    )


@pytest.mark.parametrize(
    "names", [["pages/pages.jsonl"], ["one.warc.gz"], ["archive/"], ["../archive/one.warc.gz"]]
)
def test_a_zip_without_warcs(tmp_path, names):
    path = write_wacz(tmp_path / "x.wacz", dict.fromkeys(names, b""), has_package=False)
    assert refuse(path) == "catalogue.no-warcs"


def changed(path: Path, mark: bytes, offset: int, value: bytes) -> Path:
    """A ZIP file with other bytes at an offset from each mark."""
    data = bytearray(path.read_bytes())
    at = data.find(mark)
    while at >= 0:
        data[at + offset : at + offset + len(value)] = value
        at = data.find(mark, at + 4)
    path.write_bytes(data)
    return path


LIST, END = b"PK\1\2", b"PK\5\6"


@pytest.mark.parametrize(
    ("mark", "offset", "value", "code"),
    [
        (LIST, 8, b"\1\0", "catalogue.encrypted"),
        (LIST, 10, struct.pack("<H", 12), "catalogue.zip-method"),
        (LIST, 20, struct.pack("<L", 1 << 30), "catalogue.damaged-zip"),
        (LIST, 42, struct.pack("<L", 5), "catalogue.damaged-zip"),
        (LIST, 6, struct.pack("<H", 99), "catalogue.damaged-zip"),
        (END, 4, struct.pack("<H", 3), "catalogue.zip-volumes"),
        (END, 12, struct.pack("<L", 1 << 31), "catalogue.zip-limits"),
        (END, 16, struct.pack("<L", 1 << 31), "catalogue.damaged-zip"),
        (END, 0, b"PK\5\7", "catalogue.damaged-zip"),
    ],
)
def test_a_zip_with_other_numbers(tmp_path, mark, offset, value, code):
    path = wacz_with(tmp_path / "x.wacz")
    assert refuse(changed(path, mark, offset, value)) == code


def test_a_bomb_is_not_unpacked(tmp_path):
    bomb = {"archive/one.warc": b"\0" * (80 << 20)}
    path = write_wacz(tmp_path / "x.wacz", bomb, deflated=bomb, has_package=False)
    assert refuse(path) == "catalogue.zip-limits"


def test_a_part_may_not_have_more_than_its_list_says(tmp_path, monkeypatch):
    parts = {"archive/one.warc": b"\0" * 5000}
    path = write_wacz(tmp_path / "x.wacz", parts, deflated=parts)
    assert refuse(changed(path, LIST, 24, struct.pack("<L", 100))) == "catalogue.damaged-zip"
    path = write_wacz(tmp_path / "x.wacz", parts, deflated=parts)
    assert refuse(changed(path, LIST, 24, struct.pack("<L", 6000))) == "catalogue.damaged-zip"
    monkeypatch.setattr(wacz, "_LONGEST_PACKAGE", 10)
    path = write_wacz(tmp_path / "x.wacz", parts)
    assert refuse(path) == "catalogue.zip-limits"


def test_a_file_that_was_cut_off(tmp_path):
    data = wacz_with(tmp_path / "x.wacz").read_bytes()
    for size in (5, 100, len(data) // 2, len(data) - 1):
        (tmp_path / "cut.wacz").write_bytes(data[:size])
        assert refuse(tmp_path / "cut.wacz") == "catalogue.damaged-zip"


@given(
    changes=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=3)
)
@settings(deadline=None, max_examples=60)
def test_any_byte_may_be_another(changes):
    with TemporaryDirectory() as folder:
        content = bytearray(wacz_with(Path(folder, "x.wacz")).read_bytes())
        for at, value in changes:
            content[at % len(content)] = value
        path = Path(folder, "y.wacz")
        path.write_bytes(content)
        with suppress(JobError):
            assert read_wacz(path, ignore).parts
