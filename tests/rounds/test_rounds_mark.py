import os
from pathlib import Path

from nacre.machine.layout import Layout
from nacre.rounds.rounds_mark import (
    StepProgress,
    fetch_step,
    rounds_mark,
    rounds_run,
    step_progress,
)
from nacre.rounds.segments.fetch_progress import FetchProgress


def test_rounds_run_while_a_command_has_the_mark(tmp_path: Path):
    layout = Layout(tmp_path)
    assert not rounds_run(layout)
    with rounds_mark(layout), rounds_mark(layout):  # two commands do no harm
        assert rounds_run(layout)
        assert rounds_run(layout)
    assert not rounds_run(layout)


def test_a_link_or_a_pipe_in_its_place_is_no_mark(tmp_path: Path):
    layout = Layout(tmp_path)
    layout.cycle.mkdir()
    os.mkfifo(layout.cycle / "running")
    assert not rounds_run(layout)
    (layout.cycle / "running").unlink()
    (layout.cycle / "running").symlink_to(tmp_path / "elsewhere")
    with rounds_mark(layout):
        assert not rounds_run(layout)
    assert not (tmp_path / "elsewhere").exists()


def test_the_mark_says_how_far_the_step_is(tmp_path: Path):
    layout = Layout(tmp_path)
    assert step_progress(layout) is None
    with rounds_mark(layout) as mark:
        assert step_progress(layout) is None
        for done in (0, 1, 2):  # 1 may come too soon after 0 to be written
            mark.tell(StepProgress("generate", done, 2, "tasks", 1))
        assert step_progress(layout) == StepProgress("generate", 2, 2, "tasks", 1)
        stamp = (layout.cycle.stat().st_mtime_ns, sorted(layout.cycle.iterdir()))
        mark.tell(StepProgress("fetch", 5, 5, "urls", 0, 10**9))
        assert stamp == (layout.cycle.stat().st_mtime_ns, sorted(layout.cycle.iterdir()))
        assert step_progress(layout) == StepProgress("fetch", 5, 5, "urls", 0, 10**9)
    with rounds_mark(layout):
        assert step_progress(layout) is None


def test_the_mark_says_of_a_fetch_how_many_hosts_it_asked_and_how_long_it_takes(tmp_path: Path):
    layout = Layout(tmp_path)
    told = fetch_step("sitemaps", FetchProgress(61, 127, 3_100_000, 2, 250.0, 1, 2)._asdict())
    assert told == StepProgress("sitemaps", 61, 127, "urls", 0, 3_100_000, 2, 250.0, 1, 2)
    with rounds_mark(layout) as mark:
        mark.tell(told)
        assert step_progress(layout) == told
