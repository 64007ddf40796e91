"""Seeds as they are typed, in files, and from standard input."""

import gzip
import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from nacre.cli.seed_input import STDIN, first_url, seed_input, set_seeds
from nacre.errors import ConfigError


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
    assert next(iter(first_url(lines))) == "http://a.test/"
    assert list(first_url([])) == []
