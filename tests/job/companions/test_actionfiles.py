import os
from pathlib import Path

import pytest

from nacre.job.companions.actionfiles import Scanner, action_of
from nacre.job.intake.intake import Options, Way

NOW = 1_700_000_000.0


def put(path: Path, text: str = "x", age: float = 60.0) -> Path:
    path.write_text(text)
    os.utime(path, (NOW - age, NOW - age))
    return path


@pytest.mark.parametrize(
    ("name", "passes"),
    [
        ("more.seeds", [Options(Way.SEEDS)]),
        ("a.b.schedule", [Options(Way.SCHEDULE)]),
        ("a.s.schedule.gz", [Options(Way.SCHEDULE, scoped=True)]),
        ("x.force.gz", [Options(Way.FORCE)]),
        ("x.s.include", [Options(Way.INCLUDE, scoped=True)]),
        ("frontier.recover.gz", [Options(Way.FINISHED), Options(Way.PENDING)]),
        ("tidy.groovy", []),
        ("README", None),
        ("x.schedule.bz2", None),
        (".x.schedule", None),
        ("schedule", None),
    ],
)
def test_names(tmp_path: Path, name: str, passes: list[Options] | None):
    action = action_of(put(tmp_path / name))
    assert (None if action is None else list(action.passes)) == passes
    if action is not None:
        assert action.is_script == (not passes)


def test_a_directory_asks_for_nothing(tmp_path: Path):
    (tmp_path / "x.schedule").mkdir()
    assert action_of(tmp_path / "x.schedule") is None


def test_in_the_order_of_names_and_not_while_they_are_written(tmp_path: Path):
    scanner = Scanner(tmp_path / "action")
    assert scanner.look(NOW) == ([], False)
    folder = tmp_path / "action"
    folder.mkdir()
    for name in ("b.schedule", "a.include", "note.txt"):
        put(folder / name)
    growing = put(folder / "c.seeds", age=0.2)
    ready, more = scanner.look(NOW)
    assert ([each.path.name for each in ready], more) == (["a.include", "b.schedule"], True)
    put(growing, "xyz", age=0.1)
    assert len(scanner.look(NOW)[0]) == 2
    assert len(scanner.look(NOW)[0]) == 3
    assert scanner.odd() == ["note.txt"]
    assert scanner.odd() == []
