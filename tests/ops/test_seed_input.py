"""Seeds as they are typed, in files, and from standard input."""

import gzip
import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from nacre.errors import ConfigError
from nacre.ops.seed_input import STDIN, first_url, seed_input, set_seeds, streamed_input


def test_what_is_typed_comes_first_then_each_file(tmp_path: Path):
    one, two = tmp_path / "one.txt", tmp_path / "two.txt.gz"
    one.write_text("http://b.test/\n\nhttp://\n")
    two.write_bytes(gzip.compress(b"http://c.test/\n"))
    found = seed_input([str(one), "http://a.test/"], [two], ["http://d.test/"])
    assert [seeds.file for seeds in found.lists] == ["", str(two), str(one)]
    assert found.lines == [
        "http://a.test/", "http://d.test/", "http://c.test/", "http://b.test/", "", "http://",
    ]  # fmt: skip
    assert found.notes == [
        f"{one} is a file: its lines are the seeds",
        f"{two}: 1 seed",
        f"{one}: 1 seed; 1 line is not a seed and is skipped",
    ]


def test_an_encoding_that_was_detected_is_told(tmp_path: Path):
    path = tmp_path / "seeds.txt"
    path.write_bytes("".join(f"http://a.test/书籍/{n}\n" for n in range(9)).encode("gbk"))
    found = seed_input([], [path], [])
    assert found.notes == [f"{path}: 9 seeds, read as GBK"]
    assert seed_input([], [path], [], "URL").notes == [f"{path}: 9 URLs, read as GBK"]
    for text in ("nutch.score=9", "lang=zh"):
        with pytest.raises(ConfigError, match="behind a tab, in a file of seeds"):
            seed_input(["http://a.example/", text], [], [])
    assert found.lines[0] == "http://a.test/书籍/0"


def test_files_of_any_length_are_read_while_their_lines_are_taken(tmp_path: Path):
    plain, packed, cut = tmp_path / "a.txt", tmp_path / "b.txt.gz", tmp_path / "c.gz"
    plain.write_bytes("".join(f"http://a.test/书籍/{n}\n" for n in range(9)).encode("gbk"))
    data = gzip.compress(b"http://b.test/\n" * 99_999)
    packed.write_bytes(data)
    cut.write_bytes(data[: len(data) // 2])
    found = streamed_input([str(plain), "http://c.test/", str(packed)])
    assert found.notes == [
        f"{plain} is a file: its lines are the seeds",
        f"{plain}: read as GBK",
        f"{packed} is a file: its lines are the seeds",
    ]
    typed, first, second = found.lists
    assert (typed.file, list(typed.lines)) == ("", ["http://c.test/"])
    assert next(iter(first.lines)) == "http://a.test/书籍/0"
    assert iter(second.lines) is second.lines
    assert sum(1 for _ in second.lines) == 99_999
    with pytest.raises(ConfigError, match=r"c\.gz cannot be read: it is damaged"):
        streamed_input([str(cut)])


def test_a_streamed_list_that_is_no_text(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"http://a.test/\nhttp://b.test/\0\n")
    [seeds] = streamed_input([str(path)]).lists
    with pytest.raises(ConfigError, match="it is not text: there are NUL bytes in it"):
        list(seeds.lines)
    with pytest.raises(ConfigError, match="there is no such file"):
        streamed_input([str(tmp_path / "gone.txt")])


def test_standard_input(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"http://a.test/\n")))
    found = seed_input([], [STDIN], [])
    assert (found.lines, found.notes) == (["http://a.test/"], ["standard input: 1 seed"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gone.txt", "there is no such file"),
        ("./gone", "there is no such file"),
        ("lists/gone.txt", "there is no such file"),
        ("http//a.test/", "`://` is misspelt"),
        ("FTP:a//b", None),
    ],
)
def test_what_can_only_be_a_mistake_is_refused(text: str, message: str | None):
    if message is None:
        assert seed_input([text], [], []).lines == [text]
        return
    with pytest.raises(ConfigError, match=message):
        seed_input([text], [], [])


def test_without_any_seed_and_with_a_file_that_is_missing(tmp_path: Path):
    with pytest.raises(ConfigError, match="there are no seeds"):
        seed_input([], [], [])
    with pytest.raises(ConfigError, match="cannot be read"):
        seed_input([], [tmp_path / "gone"], [])


@pytest.mark.parametrize(
    ("given", "lines"),
    [({}, []), ({"seeds": "a.txt"}, ["a.txt"]), ({"seeds": ["a", "b"]}, ["a", "b"])],
)
def test_seeds_of_set_are_taken_out_of_the_settings(given: dict[str, object], lines: list[str]):
    values = {**given, "name": "x"}
    assert set_seeds(values) == lines
    assert values == {"name": "x"}


def test_what_set_says_must_be_seeds():
    with pytest.raises(ConfigError, match="no seeds"):
        set_seeds({"seeds": {"a": 1}})


def test_the_first_url():
    lines = ["# a comment", "+http://c.test/", "http://", "http://a.test/", "http://b.test/"]
    assert first_url(lines) == "http://a.test/"
    assert first_url([]) == ""
    assert first_url(["# none", "", "图书馆.test/书/"]).startswith("https://xn--")
