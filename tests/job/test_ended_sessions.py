"""Requests to a session that has ended are refused, and are no fault of the crawler."""

import asyncio
from pathlib import Path

import pytest

from nacre.core.states import JobState
from nacre.errors import StorageError
from nacre.job.commands import CommandHandlers
from nacre.job.job import Job
from nacre.job.session import Session
from nacre.settings.settings import JobSettings
from tests.job.opened import log_of, opened


def test_a_handler_whose_session_ends_is_no_fault_of_the_crawler(tmp_path: Path):
    async def play() -> None:
        async with opened(tmp_path) as session:
            commands = CommandHandlers(Job(tmp_path, JobSettings()))
            assert "ended before" in commands.fault("frontier-import", AttributeError("_db"))
            commands._job.session = session
            assert "an error in the crawler" in commands.fault("status", KeyError("x"))
            session.state = JobState.STOPPING
            assert "ended before" in commands.fault("checkpoint", RuntimeError("shutdown"))
        assert log_of(session, "runtime-errors.log").count("SEVERE") == 1

    asyncio.run(play())


def test_work_for_the_writer_of_a_closed_job_is_refused_in_a_sentence(tmp_path: Path):
    async def play() -> Session:
        async with opened(tmp_path) as session:
            pass
        with pytest.raises(StorageError, match="the job has finished"):
            await session.storing.commit.in_writer(print)
        with pytest.raises(StorageError, match="the job has finished"):
            await session.storing.commit.flush()
        return session

    asyncio.run(play())
