import asyncio
from pathlib import Path
from typing import Any

import pytest

from nacre.errors import ConfigError, JobError
from nacre.job.configuration.settings import JobSettings
from nacre.job.intake.edits import matcher
from nacre.job.job import Job
from nacre.job.operator.commands import Commands


def commands(root: Path) -> Commands:
    return Commands(Job(root, JobSettings(seeds=("http://a.test/",))))


@pytest.mark.parametrize(
    "name",
    [
        "status", "pause", "resume", "stop", "checkpoint", "parallel", "explain", "report",
        "frontier-delete", "frontier-import",
    ],
)  # fmt: skip
def test_between_two_sessions_nothing_can_be_asked(tmp_path: Path, name: str):
    request: dict[str, Any] = {"command": name}
    with pytest.raises(JobError, match="try again"):
        asyncio.run(commands(tmp_path).table()[name](request))  # type: ignore[arg-type]


def test_expressions_of_the_operator():
    assert matcher("")("anything")
    assert matcher(r"\.pdf$")("http://a/x.pdf")
    assert not matcher(r"\.pdf$")("http://a/x.pdf?y")
    with pytest.raises(ConfigError, match="not a regular expression"):
        matcher("(")
