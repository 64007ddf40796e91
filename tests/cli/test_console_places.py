import json
from pathlib import Path

from tests.cli.site import Done, nacre
from tests.fleet.test_standing import GivenLocks, crawls


def place(folder: Path, *words: object) -> Done:
    return nacre("console", "place", *words, "--state", folder / "state")


def test_places_are_added_and_taken_off(tmp_path: Path):
    (tmp_path / "旧藏").mkdir()
    assert "no places" in place(tmp_path, "list").out
    assert "added 旧藏" in place(tmp_path, "add", tmp_path / "旧藏").out
    (one,) = json.loads(place(tmp_path, "list", "--json").out)
    assert one == {"label": "旧藏", "directory": str(tmp_path / "旧藏"), "added": True}
    assert "added" in place(tmp_path, "list").out
    again = place(tmp_path, "add", tmp_path / "旧藏")
    assert again.code == 2
    assert "one in the other" in again.err
    assert place(tmp_path, "add", tmp_path / "none").code == 2
    assert place(tmp_path, "remove", "none").code == 2
    assert "its jobs stay" in place(tmp_path, "remove", tmp_path / "旧藏").out
    assert json.loads(place(tmp_path, "list", "--json").out) == []


def test_a_place_that_another_console_has_is_not_added(tmp_path: Path):
    held = crawls(tmp_path, "held")
    other = GivenLocks(tmp_path / "other", held)
    assert other.locks.take()
    refused = place(tmp_path, "add", held.root)
    assert refused.code == 2
    assert "the console http://other/ (process " in refused.err
    assert f"has {held.root}: end that one first" in refused.err
    assert json.loads(place(tmp_path, "list", "--json").out) == []
    other.locks.free()
    assert place(tmp_path, "add", held.root).code == 0


def test_a_place_is_listed_by_the_label_that_was_said(tmp_path: Path):
    for way, label in (("z/news", "news"), ("a/news", "news-2")):
        (tmp_path / way).mkdir(parents=True)
        assert f"added {label}: " in place(tmp_path, "add", tmp_path / way).out
    found = json.loads(place(tmp_path, "list", "--json").out)
    assert {one["label"]: one["directory"] for one in found} == {
        "news": str(tmp_path / "z" / "news"), "news-2": str(tmp_path / "a" / "news"),
    }  # fmt: skip
