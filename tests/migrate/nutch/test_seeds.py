"""Seed lists of Nutch."""

import pytest

from nacre.errors import ConfigError
from nacre.migrate.nutch.convert import convert
from tests.migrate.nutch.conffiles import conf


def test_seeds_with_metadata(tmp_path):
    folder = conf(tmp_path / "conf")
    (folder / "urls").mkdir()
    (folder / "urls" / "a.txt").write_text("# c\nhttp://a/\tnutch.score=2\n\nhttp://b/\n")
    draft, report = convert(folder)
    assert draft.seeds == ["# c", "http://a/", "", "http://b/"]
    assert any("metadata: nutch.score (1)" in note.what and note.check for note in report.files)
    (tmp_path / "s").write_text("http://c/\n")
    assert convert(folder, tmp_path / "s")[0].seeds == ["http://c/"]
    with pytest.raises(ConfigError, match="no seeds"):
        convert(folder, tmp_path / "absent")
