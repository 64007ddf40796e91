"""WARC and WACZ files of other crawlers: opened, looked up, and what is wrong with them."""

import gzip
import json
import os
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.archive.reader import WarcReader
from nacre.catalogue import foreign
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import Holding, cache_folder, catalogue_folder, open_holding
from nacre.catalogue.lookup import open_index
from nacre.errors import JobError, StorageError
from nacre.messages import Message
from nacre.uri.surt import index_key
from tests.catalogue.foreign_files import (
    PAGES,
    own_index,
    packed_warc,
    response,
    wacz_with,
    write_wacz,
    zipnum,
)


def code_of(text: object) -> str:
    """The code of a message."""
    assert isinstance(text, Message)
    return text.code


def read(holding: Holding, capture: IndexedCapture) -> str:
    """The URL of the record of a capture."""
    with holding.open(capture) as file:
        entry = next(iter(WarcReader(file)))
        return entry.get("WARC-Target-URI") or ""


def assert_holds(holding: Holding, pages: tuple[str, ...] = PAGES) -> None:
    """Each page is found, and its record is read."""
    index = open_index(holding)
    for url in pages:
        captures = index.exact(index_key(url))
        assert [read(holding, capture) for capture in captures] == [url]
    assert len(index.prefix("")) == len(pages)


def test_a_packed_warc(tmp_path):
    path = tmp_path / "one.warc.gz"
    path.write_bytes(packed_warc())
    progress: list[tuple[int, int]] = []
    holding = open_holding([path], tell=lambda *done: progress.append(done))
    assert (holding.kind, holding.name, holding.warnings) == ("warc", "one.warc.gz", [])
    assert_holds(holding)
    size = path.stat().st_size
    assert progress[-1] == (size, size)


def test_a_plain_warc(tmp_path):
    path = tmp_path / "中文 file.warc"
    path.write_bytes(b"".join(map(response, PAGES)))
    assert_holds(open_holding([path]))


def test_several_files_and_a_directory(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for number, url in enumerate(PAGES):
        (folder / f"{number}.warc.gz").write_bytes(packed_warc([url]))
    assert_holds(open_holding(sorted(folder.iterdir())))
    holding = open_holding([folder])
    assert (holding.kind, len(holding.members)) == ("several", 4)
    assert_holds(holding)


def test_an_index_is_made_once_for_a_file(tmp_path, monkeypatch):
    path = tmp_path / "one.warc.gz"
    path.write_bytes(packed_warc())
    assert_holds(open_holding([path]))
    monkeypatch.setattr(foreign, "index_records", None)
    assert_holds(open_holding([path]))
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path.write_bytes(packed_warc(PAGES[:2]))
    holding = open_holding([path])
    assert_holds(holding, PAGES[:2])
    (index,) = cache_folder().rglob("index.cdxj")
    index.unlink()
    assert_holds(open_holding([path]), PAGES[:2])
    assert catalogue_folder(holding.members[0]) == cache_folder() / holding.label


def test_the_index_beside_a_warc_is_used_if_it_fits(tmp_path, monkeypatch):
    path = tmp_path / "one.warc.gz"
    lines = own_index(packed_warc(), path.name, tmp_path)
    path.write_bytes(packed_warc())
    index = tmp_path / "one.cdxj"
    index.write_bytes(b"\n".join(lines) + b"\n")
    holding = open_holding([path])
    assert_holds(holding)
    assert holding.members[0].warcs()[0].index == index
    index.write_bytes(b"\n".join(lines[::-1]) + b"\n")
    os.utime(path, ns=(1, 1))
    assert open_holding([path]).members[0].warcs()[0].index != index
    os.utime(path)
    os.utime(index, ns=(1, 1))
    assert_holds(open_holding([path]))


@pytest.mark.parametrize("large", [0, 1 << 40])
@pytest.mark.parametrize("index", ["zipnum", "plain", "packed", ""])
@pytest.mark.parametrize("deflated", [False, True])
def test_a_wacz(tmp_path, monkeypatch, index, deflated, large):
    monkeypatch.setattr(foreign, "_SMALL_INDEX", large)
    names = ["indexes/index.idx", "indexes/index.cdx.gz", "indexes/index.cdxj"]
    packed = [*names, "archive/one.warc.gz"] if deflated else []
    about = {"title": "中文 title", "creator": "Me", "mainPageUrl": PAGES[0]}
    path = wacz_with(tmp_path / "x.wacz", index, deflated=packed, package=about)
    holding = open_holding([path])
    assert (holding.kind, holding.title, holding.main_page) == ("wacz", "中文 title", PAGES[0])
    assert holding.fields["creator"] == "Me"
    assert holding.warnings == []
    assert_holds(holding)
    assert_holds(open_holding([path]))


def test_keys_of_other_crawlers_become_ours(tmp_path):
    data = packed_warc()
    lines = own_index(data, "one.warc.gz", tmp_path)
    others = [line.replace(b"test,h)/a ", b"test,h)/a/ ") for line in lines]
    parts = {"archive/one.warc.gz": data, **zipnum(others)}
    assert_holds(open_holding([write_wacz(tmp_path / "x.wacz", parts)]))


@pytest.mark.parametrize("large", [0, 1 << 40])
def test_an_index_that_is_not_sorted(tmp_path, monkeypatch, large):
    monkeypatch.setattr(foreign, "_SMALL_INDEX", large)
    data = packed_warc()
    lines = own_index(data, "one.warc.gz", tmp_path)[::-1]
    for index in (zipnum(lines), {"indexes/index.cdxj": b"\n".join(lines)}):
        path = write_wacz(tmp_path / "x.wacz", {"archive/one.warc.gz": data, **index})
        assert_holds(open_holding([path]))


@pytest.mark.parametrize(
    "index",
    [
        {"indexes/index.cdx": b" CDX N b a m s k r M S V g\ntest,h)/ 2026 x\n"},
        {"indexes/index.cdxj": b""},
        {"indexes/index.cdxj": b'test,h)/ 20260102030405 {"url": "http://h.test/", "offset": 0, '
                               b'"length": 9, "filename": "missing.warc.gz"}\n'},
    ],
)  # fmt: skip
def test_an_index_of_no_use(tmp_path, index):
    path = write_wacz(tmp_path / "x.wacz", {"archive/one.warc.gz": packed_warc(), **index})
    holding = open_holding([path])
    assert_holds(holding)
    assert holding.warnings == []


def test_a_damaged_index_is_made_again(tmp_path):
    index = zipnum(own_index(packed_warc(), "one.warc.gz", tmp_path))
    index["indexes/index.cdx.gz"] = b"x" * len(index["indexes/index.cdx.gz"])
    path = write_wacz(tmp_path / "x.wacz", {"archive/one.warc.gz": packed_warc(), **index})
    holding = open_holding([path])
    assert_holds(holding)
    assert [code_of(text) for text in holding.warnings] == ["catalogue.damaged-index"]


def test_bytes_that_are_not_utf8_in_an_index(tmp_path):
    url = "http://h.test/%D6%D0"
    data = packed_warc([url])
    (line,) = own_index(data, "one.warc.gz", tmp_path)
    gbk = line.replace(b"%d6%d0", b"\xd6\xd0").replace(b"%D6%D0", b"\xd6\xd0")
    parts = {"archive/one.warc.gz": data, "indexes/index.cdxj": gbk + b"\n"}
    holding = open_holding([write_wacz(tmp_path / "x.wacz", parts)])
    assert_holds(holding, (url,))


def test_a_cut_warc_shows_what_is_there(tmp_path):
    path = tmp_path / "one.warc.gz"
    path.write_bytes(packed_warc()[:-20])
    holding = open_holding([path])
    assert_holds(holding)
    path.write_bytes(packed_warc(PAGES[:3]) + packed_warc(PAGES[3:])[:30] + b"junk" * 99)
    holding = open_holding([path])
    assert_holds(holding, PAGES[:3])
    (text,) = holding.warnings
    assert "one.warc.gz" in text


def records_in_one_member() -> bytes:
    return gzip.compress(b"".join(map(response, PAGES)))


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("x.warc.gz", b"", "catalogue.no-warc"),
        ("x.warc.gz", b"\x1f\x8b\x08" + b"x" * 99, "catalogue.no-warc"),
        ("x.warc.gz", gzip.compress(b"hello"), "catalogue.no-warc"),
        ("x.pdf", b"%PDF-1.4", "catalogue.no-warc"),
        ("x.warc.zst", b"\x28\xb5\x2f\xfd" + b"x" * 9, "catalogue.zstd"),
        ("x.arc.gz", gzip.compress(b"filedesc://x 0.0.0.0"), "catalogue.arc"),
        ("x.warc.gz", records_in_one_member(), "catalogue.one-member"),
        ("x.json", json.dumps({"profile": "multi-wacz-package"}).encode(), "catalogue.multi-wacz"),
        ("x.wacz", b"PK\3\4" + b"x" * 99, "catalogue.damaged-zip"),
    ],
)
def test_files_that_are_refused(tmp_path, name, data, code):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(JobError) as failure:
        open_holding([path])
    assert code_of(failure.value.message) == code
    assert str(path) in str(failure.value)
    assert not list(cache_folder().rglob("new-*"))


def test_what_cannot_be_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.warc")
    for name in ("nothing.warc.gz", "pipe.warc", "."):
        with pytest.raises(JobError) as failure:
            open_holding([tmp_path / name])
        assert code_of(failure.value.message) == "catalogue.no-holding"


@given(
    is_wacz=st.booleans(),
    changes=st.lists(
        st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=9
    ),
)
@settings(deadline=None)
def test_any_byte_may_be_another(is_wacz, changes):
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.wacz" if is_wacz else "x.warc.gz")
        whole = wacz_with(path, has_package=False).read_bytes() if is_wacz else packed_warc()
        content = bytearray(whole)
        for at, value in changes:
            content[at % len(content)] = value
        path.write_bytes(content)
        with suppress(JobError):
            holding = open_holding([path])
            assert open_index(holding).prefix("") or holding.warnings


@pytest.mark.parametrize("index", ["packed", ""])
def test_an_index_that_does_not_fit_on_the_disk(tmp_path, monkeypatch, index):
    path = wacz_with(tmp_path / "x.wacz", index)
    monkeypatch.setattr("nacre.catalogue.sorting._MEMORY", 300)
    assert_holds(open_holding([path]))
    os.utime(path, ns=(1, 1))
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=900))
    with pytest.raises(JobError) as failure:
        open_holding([path])
    assert code_of(failure.value.message) == "catalogue.no-space"
    assert not list(cache_folder().rglob("new-*"))


def test_a_packed_index_of_too_many_bytes_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setattr(foreign, "_LIST_LIMIT", 0)
    parts = {
        "archive/one.warc.gz": packed_warc(),
        "indexes/index.cdx.gz": gzip.compress(b" " * 3000),
    }
    holding = open_holding([write_wacz(tmp_path / "x.wacz", parts)])
    assert_holds(holding)
    assert [code_of(text) for text in holding.warnings] == ["catalogue.damaged-index"]


def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch):
    path = tmp_path / "one.warc.gz"
    path.write_bytes(packed_warc())
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(StorageError, match="file"):
        open_holding([path])
