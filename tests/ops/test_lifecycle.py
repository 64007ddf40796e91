import os
from pathlib import Path
from typing import Any

import pytest

from nacre.core.clock import Clock
from nacre.core.states import ExitCode
from nacre.errors import ConfigError, JobError
from nacre.job.api import new_job
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.ops.lifecycle import (
    CHECKPOINT,
    CHECKPOINT_LIST,
    END,
    PARALLEL,
    PAUSE,
    RESUME,
    STOP,
    CheckpointListRequest,
    CheckpointListResult,
    CheckpointRequest,
    EndRequest,
    EndResult,
    ParallelRequest,
    PauseRequest,
    PauseResult,
    ResumeRequest,
    ResumeResult,
    StopRequest,
    StopResult,
)
from nacre.ops.operation import Operation, OperationContext
from nacre.runs.passes import lock_passes
from tests.cli.site import many_pages, nacre, site

CLOCK: Clock = SystemClock()


def context_of(directory: Path, by: str = "") -> OperationContext:
    return OperationContext(Layout(directory), CLOCK, by)


@pytest.fixture
def context(tmp_path: Path) -> OperationContext:
    """A job that never ran."""
    new_job(tmp_path / "job", "http://a.test/")
    return context_of(tmp_path / "job")


def test_a_reason_to_pause_outlasts_a_job_that_does_not_run(context: OperationContext):
    assert PAUSE.run(context, PauseRequest("quota", "磁盘已满")) == PauseResult(
        running=False, busy=0, held=("quota",)
    )
    hold = context.layout.control / "hold"
    assert hold.read_text("utf-8") == "quota: 磁盘已满\n"
    assert RESUME.run(context, ResumeRequest("quota")) == ResumeResult(running=False, held=())
    assert not hold.exists()
    with pytest.raises(ConfigError, match="reason of the crawler itself"):
        PAUSE.run(context, PauseRequest("operator"))


REQUESTS: list[tuple[Operation[Any, Any], Any]] = [
    (PAUSE, PauseRequest()),
    (RESUME, ResumeRequest()),
    (STOP, StopRequest()),
    (CHECKPOINT, CheckpointRequest()),
    (PARALLEL, ParallelRequest(3)),
]


@pytest.mark.parametrize(("operation", "request_"), REQUESTS, ids=lambda one: "")
def test_a_job_that_does_not_run_is_refused_with_the_remedy(
    context: OperationContext, operation: Operation[Any, Any], request_: Any
):
    with pytest.raises(JobError, match="is not running; start or resume it with `nacre run"):
        operation.run(context, request_)


@pytest.mark.parametrize(
    ("operation", "request_"),
    [*REQUESTS, (END, EndRequest()), (CHECKPOINT_LIST, CheckpointListRequest())],
    ids=lambda one: "",
)
def test_a_batch_crawl_is_refused(
    context: OperationContext, operation: Operation[Any, Any], request_: Any
):
    folder = context.layout.root / "cycle"
    folder.mkdir()
    (folder / "versions").mkdir()
    assert context.layout.in_rounds
    with pytest.raises(JobError, match="is crawled in rounds"):
        operation.run(context, request_)


def test_a_repeated_crawl_that_waits_is_stopped_and_noted(context: OperationContext):
    asked = context._replace(by="安娜 via console", patience=0.5)
    with lock_passes(context.layout, "--every 6h") as keeper:
        with pytest.raises(JobError, match=r"waits for its next pass \(--every 6h\)"):
            PAUSE.run(context, PauseRequest())
        waiting = STOP.run(asked, StopRequest())
        assert waiting == StopResult(0, "--every 6h", os.getpid())
        assert keeper.is_stopped()
        assert not (context.layout.root / "job.log").exists()


def test_the_end_of_a_run_that_is_over_is_noted_for_a_requester(tmp_path: Path):
    job = tmp_path / "job"
    with site(many_pages(5)) as home:
        options = ("--delay", 0, "--max-pages", 2, "--quiet", "--out", job)
        assert nacre("crawl", home, *options).code == ExitCode.LIMIT
    first = END.run(context_of(job, "安娜"), EndRequest())
    assert (first.exit, first.ended) == ("FINISHED_DOCUMENT_LIMIT", False)
    line = (job / "job.log").read_text("utf-8").splitlines()[-1]
    assert line.endswith(f"INFO run {first.run} ended for good by 安娜")
    assert END.run(context_of(job), EndRequest()) == EndResult(first.run, first.exit, ended=False)
    assert (job / "job.log").read_text("utf-8").splitlines()[-1] == line


def test_the_checkpoints_of_a_job_without_any(context: OperationContext):
    assert CHECKPOINT_LIST.run(context, CheckpointListRequest()) == CheckpointListResult(())
