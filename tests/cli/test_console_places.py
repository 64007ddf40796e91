import json
from pathlib import Path

from tests.cli.site import Done, nacre


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
