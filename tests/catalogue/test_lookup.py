"""Look-up in sorted and growing indexes, compared with a look-up that reads every line."""

import errno
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.archive.delta import MEDIA, TARGET
from nacre.catalogue import index_files
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import open_holding
from nacre.catalogue.lookup import CaptureIndex, open_index, seconds_of, sort_by_distance
from nacre.errors import StorageError
from tests.catalogue.foreign_files import packed_warc
from tests.catalogue.lines import LinearIndex, index_line, job_with

KEYS = st.sampled_from(["a)/", "a)/x", "a)/x!", "a)/x/y", "a,b)/", "b)/?q=1", "z)/" + "p" * 90])
TIMES = st.sampled_from(
    ["20200101000000", "20200101000001", "20211231235959", "20220101000000", "20260301120000"]
)
LINES = st.builds(
    lambda key, time, offset, name: (name, index_line(key, time, offset, f"{name}.warc.gz")),
    KEYS, TIMES, st.integers(0, 20), st.sampled_from(["a", "b", "c"]),
)  # fmt: skip


def look_up(lines: list[tuple[str, bytes]], root: Path, is_open: str) -> CaptureIndex:
    names = {name: name + (".open" if name == is_open else "") for name in "abc"}
    indexes = {names[name]: [line for owner, line in lines if owner == name] for name in names}
    return open_index(open_holding([job_with(root, indexes)]))


@given(
    st.lists(LINES, max_size=60), KEYS, TIMES | st.just("") | st.just("2021"),
    st.integers(1, 5), st.sampled_from(["", "b"]),
)  # fmt: skip
@settings(deadline=None)
def test_look_up_by_halves_is_look_up_in_all_lines(lines, key, time, limit, is_open):
    judge = LinearIndex(line for _, line in lines)
    with (
        TemporaryDirectory() as folder,
        patch.multiple(index_files, _BLOCK=64, _PROBE=32, _PORTION=128),
    ):
        index = look_up(lines, Path(folder), is_open)
        assert index.exact(key) == judge.exact(key)
        assert index.closest(key, time, limit) == judge.closest(key, time, limit)
        for prefix in ("", key[:3], key):
            assert index.prefix(prefix) == judge.prefix(prefix)
            pages, after = [], ""
            while page := index.prefix(prefix, after, limit):
                pages += page
                after = page[-1].position
            assert pages == judge.prefix(prefix)
        first = index.prefix(f"{key} ", "", limit)
        rest = index.prefix(f"{key} ", first[-1].position) if first else []
        assert first + rest == judge.exact(key)


@given(st.lists(st.binary(max_size=12).filter(lambda line: b"\n" not in line), max_size=80),
       st.binary(max_size=4).filter(lambda text: text.count(b" ") < 2), st.booleans())  # fmt: skip
@settings(deadline=None)
def test_any_sorted_lines_are_searched(lines, target, has_end):
    lines = sorted(filter(None, lines))
    with (
        TemporaryDirectory() as folder,
        patch.multiple(index_files, _BLOCK=8, _PROBE=4, _PORTION=16),
    ):
        path = Path(folder, "lines")
        data = b"\n".join(lines) + b"\n" * has_end
        path.write_bytes(b"before" + data + b"behind\n")
        file = index_files.SortedFile(index_files.FilePart(path, 6, len(data)))
        for text in (target, *lines[:2], b""):
            assert list(file.lines_from(text)) == [line for line in lines if line >= text]
            before = [line for line in lines if line < text]
            assert list(file.lines_before(text)) == before[::-1]


def keys_of(captures: list[IndexedCapture]) -> list[str]:
    return [f"{capture.timestamp[:4]} {capture.warc}" for capture in captures]


def test_a_growing_index_is_read_by_its_end(tmp_path):
    root = job_with(tmp_path / "j", {"a.open": [index_line("b)/", "20200101000000")]})
    path = next(root.rglob("*.cdxj.open"))
    index = open_index(open_holding([root]))
    assert keys_of(index.exact("b)/")) == ["2020 a.warc.gz"]
    late = index_line("b)/", "20210101000000") + index_line("a)/", "20210101000000")
    with path.open("ab") as file:
        file.write(late[:-20])
    assert len(index.exact("b)/")) == 2
    assert index.exact("a)/") == []
    with path.open("ab") as file:
        file.write(late[-20:])
    assert keys_of(index.exact("a)/")) == ["2021 a.warc.gz"]


def test_an_index_that_is_closed_meanwhile_is_found(tmp_path):
    root = job_with(tmp_path / "j", {"a.open": [index_line("b)/", "20200101000000")]})
    index = open_index(open_holding([root]))
    assert len(index.exact("b)/")) == 1
    path = next(root.rglob("*.cdxj.open"))
    path.rename(path.with_suffix(""))
    warc = next(root.rglob("*.warc.gz.open"))
    warc.rename(warc.with_suffix(""))
    assert len(index.exact("b)/")) == 1
    job_with(root, {"b": [index_line("b)/", "20210101000000", warc="b.warc.gz")]})
    assert keys_of(index.exact("b)/")) == ["2020 a.warc.gz", "2021 b.warc.gz"]


def test_an_index_that_grows_shorter_is_read_again(tmp_path):
    lines = [index_line("b)/", f"20{year}0101000000") for year in range(20, 30)]
    root = job_with(tmp_path / "j", {"a.open": lines})
    index = open_index(open_holding([root]))
    assert len(index.exact("b)/")) == 10
    next(root.rglob("*.cdxj.open")).write_bytes(b"".join(lines[:3]))
    assert len(index.exact("b)/")) == 3


def test_a_new_run_is_noticed(tmp_path):
    root = job_with(tmp_path / "j", {"a": [index_line("b)/", "20200101000000")]})
    index = open_index(open_holding([root]))
    assert len(index.exact("b)/")) == 1
    folder = root / "runs" / "20271120T100000Z" / "archive"
    folder.mkdir(parents=True)
    (folder / "n.cdxj").write_bytes(index_line("b)/", "20270101000000", warc="n.warc.gz"))
    (folder / "n.warc.gz").write_bytes(b"")
    assert keys_of(index.exact("b)/")) == ["2020 a.warc.gz", "2027 n.warc.gz"]


def test_captures_of_members_are_merged_by_time(tmp_path):
    roots = [
        job_with(tmp_path / str(number), {"a": [index_line("b)/", f"20{number}0101000000")]})
        for number in (30, 20, 25)
    ]
    index = open_index(open_holding(roots))
    assert [(each.timestamp[:4], each.member) for each in index.exact("b)/")] == [
        ("2020", 1), ("2025", 2), ("2030", 0),
    ]  # fmt: skip
    assert [each.member for each in index.closest("b)/", "2026", 2)] == [2, 0]
    assert [each.member for each in index.prefix("b")] == [1, 2, 0]


def test_a_difference_is_under_the_url_of_its_page(tmp_path):
    url = "http://www.h.test/A?b=2&a=1"
    key = "test,h)/a?a=1&b=2"
    lines = [
        index_line(key, "20200101000000", url=url),
        index_line(f"{TARGET}{url}".lower(), "20210101000000", 5, url=TARGET + url, mime=MEDIA),
        index_line("test,h)/b", "20200101000000", 9, url="http://h.test/b"),
    ]
    index = open_index(open_holding([job_with(tmp_path / "j", {"a": lines})]))
    assert [capture.is_delta for capture in index.exact(key)] == [False, True]
    assert index.closest(key, "2026")[0].is_delta
    assert [each.key for each in index.prefix("")] == [key, key, "test,h)/b"]
    assert index.prefix("urn:") == []
    assert index.prefix(f"{key} ") == index.exact(key)
    first = index.prefix("", limit=1)[0].position
    assert [each.offset for each in index.prefix("", first, 1)] == [5]
    assert index.exact(f"{TARGET}{url}".lower()) == []


def test_captures_within_a_second_are_in_the_order_of_writing(tmp_path):
    lines = [index_line("b)/", "20200101000000", offset) for offset in (1000, 999, 5)]
    index = open_index(open_holding([job_with(tmp_path / "j", {"a": lines})]))
    assert [each.offset for each in index.exact("b)/")] == [5, 999, 1000]
    first = index.prefix("b", limit=1)[0]
    assert [each.offset for each in index.prefix("b", first.position)] == [999, 1000]


def test_a_post_is_chosen_by_its_method(tmp_path):
    key = "b)/?__wb_method=post&a=1"
    lines = [
        index_line(key, "20200101000000", method="POST", requestBody="a=1"),
        index_line(key, "20210101000000", url="http://b/?__wb_method=POST&a=1"),
    ]
    index = open_index(open_holding([job_with(tmp_path / "j", {"a": lines})]))
    assert [each.timestamp[:4] for each in index.exact(key, "POST")] == ["2020"]
    assert [each.timestamp[:4] for each in index.exact(key, "")] == ["2021"]
    assert len(index.exact(key)) == 2


@pytest.mark.parametrize("key", ["urn:uuid:5", "dns:h.test", "metadata://h.test/x"])
def test_keys_that_are_no_surt(tmp_path, key):
    lines = [index_line(key, "20200101000000"), index_line("b)/", "20200101000000")]
    index = open_index(open_holding([job_with(tmp_path / "j", {"a": lines})]))
    assert [each.key for each in index.exact(key)] == [key]


def test_lines_that_are_too_long_or_damaged_do_not_hide_others(tmp_path):
    lines = [
        index_line("a)/", "20200101000000"),
        b"b)/ " + b"x" * (3 << 20) + b"\n",
        b"b)/ 2020\xff\n",
        index_line("b)/", "20200101000000"),
        index_line("c)/", "20200101000000"),
    ]
    index = open_index(open_holding([job_with(tmp_path / "j", {"a": lines})]))
    assert [each.key for each in index.prefix("")] == ["a)/", "b)/", "c)/"]
    for key in ("a)/", "b)/", "c)/"):
        assert [each.key for each in index.exact(key)] == [key]
        assert [each.key for each in index.closest(key, "")] == [key]


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOENT, errno.ESTALE])
def test_an_index_that_cannot_be_read_is_an_error(tmp_path, monkeypatch, number):
    root = job_with(tmp_path / "j", {"a": [index_line("b)/", "20200101000000")]})
    index = open_index(open_holding([root]))

    def fail(part: index_files.FilePart) -> None:
        raise OSError(number, os.strerror(number), str(part.path))

    monkeypatch.setattr(index_files, "_open", fail)
    with pytest.raises(StorageError, match=r"a\.cdxj"):
        index.exact("b)/")


@pytest.mark.parametrize(
    ("earlier", "later", "seconds"),
    [
        ("20260301000000", "20260301000001", 1),
        ("20260228235959", "20260301000000", 1),
        ("20240229000000", "20240301000000", 86_400),
        ("20251231235959", "20260101000000", 1),
        ("19991231", "20000101", 86_400),
        ("2025", "2026", 365 * 86_400),
        ("", "0001", 366 * 86_400),
    ],
)
def test_the_distance_of_times(earlier, later, seconds):
    assert seconds_of(later) - seconds_of(earlier) == seconds


def test_of_two_as_near_the_earlier_is_first():
    captures = [
        IndexedCapture("k", time, "u", "", 200, "", "w", 0, 0)
        for time in ("20260101000002", "20260101000000", "20269999999999")
    ]
    order = [each.timestamp[-2:] for each in sort_by_distance(captures, "20260101000001")]
    assert order == ["00", "02", "99"]
    assert [each.timestamp[-2:] for each in sort_by_distance(captures, "")] == ["99", "02", "00"]


def test_a_member_that_is_moved_meanwhile_is_a_gap(tmp_path):
    roots = [
        job_with(tmp_path / str(number), {"a": [index_line("b)/", f"20{number}0101000000")]})
        for number in (20, 25)
    ]
    (tmp_path / "one.warc.gz").write_bytes(packed_warc(["http://b/"]))
    index = open_index(open_holding([*roots, tmp_path / "one.warc.gz"]))
    assert [each.member for each in index.exact("b)/")] == [0, 1, 2]
    roots[1].rename(tmp_path / "moved")
    (tmp_path / "one.warc.gz").unlink()
    assert [each.member for each in index.exact("b)/")] == [0]
    (tmp_path / "moved").rename(roots[1])
    assert [each.member for each in index.exact("b)/")] == [0, 1]
