import json
from pathlib import Path
from typing import Any

import pytest

from nacre.errors import ConfigError, JobError, NacreError, StorageError
from nacre.job.api import new_job
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.ops.frontier import (
    DELETE,
    EXCLUDE,
    FIRST,
    FRONTIER,
    INCLUDE,
    RETIRE,
    ExcludeRequest,
    FirstRequest,
    FrontierChange,
    IncludeRequest,
    QueueRequest,
    ScopeChange,
    UriRequest,
)
from nacre.ops.operation import Operation, OperationContext
from tests.cli.site import many_pages, nacre, site


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job at rest with many queued URIs."""
    folder = tmp_path_factory.mktemp("frontier") / "job"
    with site(many_pages(30)) as home:
        nacre("crawl", home, "--delay", 0, "--max-pages", 2, "--quiet", "--out", folder)
    return folder


def context_of(directory: Path, by: str = "") -> OperationContext:
    return OperationContext(Layout(directory), SystemClock(), by)


def waiting(job: Path) -> int:
    return int(json.loads(nacre("frontier", job, "count", "--json").out)["count"])


def test_what_is_excluded_is_deleted_and_comes_back(job: Path):
    context, before = context_of(job, "安娜 via console"), waiting(job)
    excluded = EXCLUDE.run(context, ExcludeRequest(r"p2\d\.html"))
    assert isinstance(excluded, ScopeChange)
    assert excluded.changed > 0
    assert (excluded.rule[:6], waiting(job)) == ("scope.", before - excluded.changed)
    assert EXCLUDE.run(context, ExcludeRequest(r"p2\d\.html")) == ScopeChange(0, "")
    log = (job / "latest" / "logs" / "job.log").read_text("utf-8")
    assert "frontier delete URLs p2" in log
    assert "安娜 via console" in log
    told: list[int] = []
    back = INCLUDE.run(
        context._replace(tell=lambda done, _: told.append(done)), IncludeRequest(r"p2\d\.html")
    )
    assert back == ScopeChange(excluded.changed, excluded.rule)
    assert (told[-1], waiting(job)) == (excluded.changed, before)


def test_queues_and_uris_of_a_job_at_rest(job: Path):
    context, before = context_of(job), waiting(job)
    assert RETIRE.run(context, QueueRequest("nowhere")) == FrontierChange(0)
    assert FIRST.run(context, FirstRequest(r"p1\d", limit=1)) == FrontierChange(1)
    deleted = DELETE.run(context, UriRequest(r"p1\d"))
    assert deleted.changed == before - waiting(job) > 0


@pytest.mark.parametrize("operation", [DELETE, FRONTIER["forget"]], ids=lambda one: one.name)
def test_a_change_of_all_must_be_chosen(tmp_path: Path, operation: Operation[Any, Any]):
    new_job(tmp_path / "job", "http://a.test/")
    cases: list[tuple[UriRequest, tuple[type[NacreError], ...]]] = [
        (UriRequest(), (ConfigError,)),
        (UriRequest("("), (ConfigError,)),
        (UriRequest(everything=True), (JobError, StorageError)),
    ]
    for request, refused in cases:
        with pytest.raises(refused):
            operation.run(context_of(tmp_path / "job"), request)


def test_a_directory_without_a_job_is_refused(tmp_path: Path):
    for operation in FRONTIER.values():
        fields = {"urls": "x"} if "urls" in operation.request.__struct_fields__ else {}
        with pytest.raises(JobError):
            operation.run(context_of(tmp_path), operation.request(**fields))
