"""Options that all steps have."""

import subprocess
import sys
from pathlib import Path

import pytest

from nacre.machine.layout import Layout
from nacre.ops.round_requests import LocalRoundsOptions, RoundsRequest
from nacre.ops.round_steps import RequestedSteps
from nacre.rounds.engine.local import LocalEngine, usable_cores
from nacre.rounds.journal import StopSignal
from nacre.rounds.opening import StepSetup, open_step
from nacre.rounds.runner import SILENT, RoundsRunner
from tests.cli.site import nacre


@pytest.mark.parametrize(
    ("said", "option", "expected"),
    [("", 0, usable_cores()), ("cycle: {tasks: 5}", 0, 5), ("cycle: {tasks: 5}", 7, 7)],
)
def test_tasks_at_the_same_time_are_as_the_settings_say_unless_the_command_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, option: int, expected: int
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-config"))
    (tmp_path / "crawl.yaml").write_text(f"name: x\nseeds: []\n{said}\n")
    with open_step(tmp_path, StepSetup(tasks=option)) as context:
        assert context.engine.workers == expected
    ended: list[int] = []
    monkeypatch.setattr(LocalEngine, "close", lambda engine: ended.append(engine.workers))
    assert nacre("cycle", tmp_path, "readdb", "--top", "1", "--tasks", option).code == 0
    assert ended == [expected], "who reads tables, too"
    begun: list[int] = []
    monkeypatch.setattr(LocalEngine, "begin", lambda engine: begun.append(engine.workers))
    layout, request = Layout(tmp_path), RoundsRequest(tasks=option)
    stop = StopSignal(layout)
    steps = RequestedSteps(layout, request, LocalRoundsOptions(), stop, SILENT)
    with RoundsRunner(layout, steps, stop, SILENT):
        pass
    assert begun == [expected]


def test_arrow_gives_memory_back_in_the_driver_and_its_tasks():
    """With a pool of its own it kept a third of the memory of an inject."""
    begin = (
        "from nacre.rounds.opening import StepSetup, engine_of; engine_of(StepSetup()); "
        "import pyarrow; print(pyarrow.default_memory_pool().backend_name)"
    )
    done = subprocess.run([sys.executable, "-c", begin], capture_output=True, check=True)
    assert done.stdout.split() == [b"system"]
