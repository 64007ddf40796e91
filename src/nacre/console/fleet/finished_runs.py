"""Runs that are over, by what they left in their directories: no store is opened for them."""

import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from nacre.console.fleet.job_files import open_file, run_names
from nacre.console.fleet.places import FoundJob
from nacre.console.problems import RefusedRequestError

MOST: Final = 200
"""Runs of a job that are looked at, the newest of the time that is wanted."""
_REPORT: Final = "reports/crawl-report.json"
_LARGE: Final = 65_536
_TAIL: Final = 512
_ENDED: Final = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z) CRAWL ENDED\b[^\n]*\n?\Z", re.ASCII
)


class FinishedRun(NamedTuple):
    """A run that is over, or was stopped.

    Attributes:
        ended: When, seconds since the epoch.
        job: Id of its job.
        name: Its directory.
        exit: How it ended, such as `FINISHED`; "" where its report cannot be read.
    """

    ended: float
    job: str
    name: str
    exit: str


def finished_runs(jobs: Iterable[FoundJob], begin: float, end: float) -> list[FinishedRun]:
    """The runs that ended in a time, by job, the newest first.

    Args:
        jobs: The jobs.
        begin: Seconds since the epoch.
        end: Likewise; a run that ended then is none of them.
    """
    found = []
    for job in jobs:
        for name, ended in islice(_ended(job.layout.root, end), MOST):
            if ended < begin:  # those before it ended before it did
                break
            if ended < end:
                exit_ = _exit_of(job.layout.root, name)
                found.append(FinishedRun(ended, job.id, name, exit_))
    return found


def _ended(root: Path, end: float) -> Iterator[tuple[str, float]]:
    """The runs of a job that began before a moment and are over, the newest first."""
    last = f"{datetime.fromtimestamp(end, UTC):%Y%m%dT%H%M%SZ}"
    for name in run_names(root):
        if name < last and (ended := _end_of(root, name)) is not None:
            yield name, ended


def _end_of(root: Path, name: str) -> float | None:
    """When a run ended, as the last line of its log says; None where the log has another one."""
    found = _ENDED.search(_text(root, f"runs/{name}/logs/progress-statistics.log", tail=True))
    try:
        return datetime.fromisoformat(found[1]).timestamp() if found else None
    except ValueError:
        return None


def _exit_of(root: Path, name: str) -> str:
    text = _text(root, f"runs/{name}/{_REPORT}")
    try:
        facts = msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError:
        return ""
    return str(facts.get("status", ""))[:64]


def _text(root: Path, path: str, *, tail: bool = False) -> str:
    """The first bytes of a file of a job, or the last ones; "" where it cannot be read."""
    try:
        opened = open_file(root, path)
    except RefusedRequestError:
        return ""
    try:
        start = max(opened.size - _TAIL, 0) if tail else 0
        return os.pread(opened.handle, _LARGE, start).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(opened.handle)
