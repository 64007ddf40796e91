"""Where units work, and whether they can."""

import os
from pathlib import Path

import pytest

from nacre.errors import ConfigError
from nacre.machine.layout import Layout
from nacre.rounds.units.unit_folder import folder_of_units, require_scratch, temporary_folder


def test_units_work_in_the_job_or_where_the_setting_says(tmp_path: Path):
    layout = Layout(tmp_path / "j")
    assert folder_of_units(layout, "", "/a", local=True) == str(layout.state / "units")
    assert folder_of_units(layout, "", "/a", local=False) == "", "each machine has its own"
    one, other = (folder_of_units(layout, "/big", place, local=True) for place in ("/a", "/b"))
    assert Path(one).parent == Path(other).parent == Path("/big")
    assert one != other, "crawls that share it do not meet"
    assert folder_of_units(layout, "/big", "/a", local=False) == one
    assert Path(folder_of_units(layout, "work", "/a", local=True)).parent == layout.root / "work"
    assert temporary_folder("/a") != temporary_folder("/b")


def test_a_place_that_is_missing_is_made(tmp_path: Path):
    layout = Layout(tmp_path)
    require_scratch(layout, "")
    require_scratch(layout, "a/b")
    assert (tmp_path / "a" / "b").is_dir()


@pytest.mark.parametrize(
    ("scratch", "said"),
    [("file", "is no directory"), ("file/x", "cannot be made"), ("closed", "is closed to you")],
)
def test_a_place_that_is_of_no_use_is_a_mistake_in_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scratch: str, said: str
):
    (tmp_path / "file").touch()
    # Who runs the tests may be root, for whom nothing is closed.
    monkeypatch.setattr(os, "access", lambda path, _mode: Path(path).name != "closed")
    with pytest.raises(ConfigError, match=said) as caught:
        require_scratch(Layout(tmp_path), scratch)
    assert "cycle.scratch" in str(caught.value)
