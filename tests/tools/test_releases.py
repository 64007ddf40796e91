"""Building two releases of a documentation: what does not need a network."""

import sys

import pytest

from tools import debs, releases


def test_each_release_is_made_of_other_things():
    first, second = map(releases.wanted, (releases.FIRST, releases.SECOND))
    assert first != second
    assert releases.RELEASES[releases.FIRST] in first
    assert "page_width" in second


def test_a_release_that_is_there_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(debs, "CACHE", tmp_path)
    monkeypatch.setattr(releases, "environment", lambda: pytest.fail("nothing is to be built"))
    place = tmp_path / f"webob-{releases.FIRST}"
    place.mkdir()
    (place / ".built").write_text(releases.wanted(releases.FIRST))
    assert releases.ensure(releases.FIRST) == place / "html"


def test_what_fails_is_told_with_its_reason(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(debs, "CACHE", tmp_path)
    broken = tmp_path / "python"
    broken.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('no route to the index')\n")
    broken.chmod(0o755)
    monkeypatch.setattr(releases, "environment", lambda: broken)
    assert releases.main() == 1
    told = capsys.readouterr().err
    assert "no route to the index" in told
    assert "is there a network?" in told
