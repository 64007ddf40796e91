import os
from pathlib import Path

import pytest

from nacre.assembly.scheduling import open_slots
from nacre.frontier.settings import PolitenessSettings
from nacre.frontier.shared_slots import ClockReading
from nacre.frontier.slot_owners import slots_directory

NOW = 1_700_000_000.0


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def test_the_table_lies_in_the_cache_of_the_user(cache: Path):
    told: list[str] = []
    table = open_slots(PolitenessSettings(), ClockReading(NOW, 0.0), told.append)
    assert table is not None
    table.close(())
    assert slots_directory() == cache / "nacre" / "slots"
    assert len(list(slots_directory().iterdir())) == 1
    assert not told


@pytest.mark.parametrize("settings", [{"shared_slots": False}, {"delay": 0}])
def test_nothing_is_shared_where_it_is_switched_off(settings: dict[str, object], cache: Path):
    told: list[str] = []
    assert (
        open_slots(PolitenessSettings.model_validate(settings), ClockReading(NOW, 0.0), told.append)
        is None
    )
    assert not list(cache.iterdir())
    assert not told


def test_a_cache_that_cannot_be_used_is_told_of(cache: Path):
    (cache / "nacre").write_text("a file")
    told: list[str] = []
    assert open_slots(PolitenessSettings(), ClockReading(NOW, 0.0), told.append) is None
    assert "politeness is not shared" in told[0]
    assert "politeness.shared_slots" in told[0]


def test_tables_of_earlier_boots_go(cache: Path):
    old, recent = slots_directory() / "old", slots_directory() / "recent"
    for path, age in ((old, 31), (recent, 1)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (NOW - age * 86400, NOW - age * 86400))
    table = open_slots(PolitenessSettings(), ClockReading(NOW, 0.0), print)
    assert table is not None
    table.close(())
    assert not old.exists()
    assert recent.exists()
