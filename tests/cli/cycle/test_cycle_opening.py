"""Options that all steps have."""

import subprocess
import sys
from pathlib import Path

import pytest

from nacre.cli.cycle.display import StepSilence
from nacre.cli.cycle.opening import CommonOptions, ListLimits, list_limits, opened
from nacre.cli.cycle.running import CycleCommandLine, RoundsOnScreen
from nacre.crawldb.settings import CycleSettings
from nacre.cycle.engine.local import LocalEngine, usable_cores
from nacre.cycle.rounds import StopWish
from nacre.store.layout import Layout
from tests.cli.site import nacre


def limits(given: ListLimits) -> tuple[int, int, float, int]:
    settings = CycleSettings.model_validate(
        {"generate": {"top": 7, "units": 3, "segments": 2}, "fetch": {"time_limit": 60}}
    )
    return (
        given.top_of(settings), given.units_of(settings, 9), given.seconds_of(settings),
        given.segments_of(settings),
    )  # fmt: skip


def test_limits_that_are_not_given_are_those_of_the_settings():
    assert limits(list_limits()) == (7, 3, 60.0, 2)
    assert limits(list_limits(0, 5, "0", 4)) == (0, 5, 0.0, 4)
    assert ListLimits().units_of(CycleSettings(), 9) == 9


@pytest.mark.parametrize(
    ("said", "option", "expected"),
    [("", 0, usable_cores()), ("cycle: {tasks: 5}", 0, 5), ("cycle: {tasks: 5}", 7, 7)],
)
def test_tasks_at_the_same_time_are_as_the_settings_say_unless_the_command_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, option: int, expected: int
):
    (tmp_path / "crawl.yaml").write_text(f"name: x\nseeds: []\n{said}\n")
    common = CommonOptions(tasks=option)
    with opened(tmp_path, common) as context:
        assert context.engine.workers == expected
    ended: list[int] = []
    monkeypatch.setattr(LocalEngine, "close", lambda engine: ended.append(engine.workers))
    assert nacre("cycle", tmp_path, "readdb", "--top", "1", "--tasks", option).code == 0
    assert ended == [expected], "who reads tables, too"
    begun: list[int] = []
    monkeypatch.setattr(LocalEngine, "begin", lambda engine: begun.append(engine.workers))
    line = CycleCommandLine(tmp_path, common)
    RoundsOnScreen(line, StepSilence(), StopWish(Layout(tmp_path))).close()
    assert begun == [expected]


def test_arrow_gives_memory_back_in_the_driver_and_its_tasks():
    """With a pool of its own it kept a third of the memory of an inject."""
    begin = (
        "from nacre.cli.cycle.opening import CommonOptions, engine_of; engine_of(CommonOptions()); "
        "import pyarrow; print(pyarrow.default_memory_pool().backend_name)"
    )
    done = subprocess.run([sys.executable, "-c", begin], capture_output=True, check=True)
    assert done.stdout.split() == [b"system"]
