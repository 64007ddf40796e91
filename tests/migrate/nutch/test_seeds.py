"""Seed lists of Nutch."""

import pytest

from nacre.errors import ConfigError
from nacre.rounds.tables.seedlist import InjectedSeed, read_seed_list
from nacre_migrate.nutch.convert import convert
from tests.migrate.nutch.conffiles import conf


def test_seeds_with_metadata(tmp_path):
    folder = conf(tmp_path / "conf")
    (folder / "urls").mkdir()
    (folder / "urls" / "a.txt").write_text("# c\nhttp://a/\tnutch.score=2\n\nhttp://b/\n")
    draft, report = convert(folder)
    assert draft.seeds == ["# c", "http://a/\tnutch.score=2", "", "http://b/"]
    assert any("kept for `nacre cycle`: nutch.score (1)" in note.what for note in report.files)
    (tmp_path / "s").write_text("http://c/\n")
    assert convert(folder, tmp_path / "s")[0].seeds == ["http://c/"]
    with pytest.raises(ConfigError, match="no seeds"):
        convert(folder, tmp_path / "absent")


def test_metadata_that_would_be_a_scope_here_are_left_out(tmp_path):
    folder = conf(tmp_path / "conf")
    line = "http://a/\tscope=all\t 主题 = 新闻 \tnote=of depth=x\tnutch.fetchInterval=60"
    (folder / "seed.txt").write_text(f"{line}\n")
    draft, report = convert(folder)
    assert draft.seeds == ["http://a/\t主题=新闻\tnutch.fetchInterval=60"]
    note = next(note for note in report.files if note.what.startswith("seeds"))
    assert note.check
    assert note.what.endswith("left out of their metadata: scope (1), note (1)")
    [seed] = read_seed_list(draft.seeds)
    assert isinstance(seed, InjectedSeed)
    assert (seed.interval, seed.metadata) == (60, {"主题": "新闻"})
