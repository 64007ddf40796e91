"""A job by its directory: at rest, and while it runs in this program."""

import asyncio
import threading
from pathlib import Path

import pytest

import nacre
from nacre.core.states import ExitStatus, JobState
from tests.cli.site import site

pytestmark = pytest.mark.crawl


def test_a_job_answers_while_it_runs_in_this_program(tmp_path: Path):
    states: list[str] = []
    threads: set[int] = set()
    running = threading.Event()

    def heard(event: nacre.Event) -> None:
        threads.add(threading.get_ident())
        if isinstance(event, nacre.StateChanged):
            states.append(str(event.new))
            if event.new is JobState.PAUSED:
                running.set()

    async def main(home: str) -> ExitStatus:
        quick = {"politeness": {"delay": 0}, "engine": {"pause_at_start": True}}
        job = nacre.new(tmp_path / "作业", home, scope="host", settings=quick)
        task = asyncio.ensure_future(job.run(listener=heard))
        assert await asyncio.to_thread(running.wait, 60)
        assert job.status().numbers["overview"]["state"] == "PAUSED"
        assert job.frontier.schedule([f"{home}c.html"]).tally.scheduled == 1
        assert job.settings.set("limits.documents", 50).said[0][0] == "limits.documents"
        assert job.settings.get("limits.documents") == 50
        assert job.frontier.exclude(r"secret/").rule.startswith("scope.")
        with pytest.raises(nacre.StorageError):
            await nacre.open(job.directory).run()
        assert job.resume().held == ()
        return await task

    with site() as home:
        assert asyncio.run(main(home)) is ExitStatus.FINISHED
        job = nacre.open(tmp_path / "作业")
        assert job.explain(f"{home}secret/x.html").standing
        assert job.explain(f"{home}c.html").status == 200
    assert states[-1] == "FINISHED"
    assert threading.get_ident() not in threads
    assert {row["rescode"] for row in job.report("responsecode")["rows"]} >= {200}
    assert [*job.frontier.waiting()] == []


def test_a_task_that_is_cancelled_interrupts_the_job(tmp_path: Path):
    async def main(home: str) -> None:
        quick = {"politeness": {"delay": 0}, "engine": {"pause_at_start": True}}
        job = nacre.new(tmp_path / "job", home, settings=quick)
        paused = threading.Event()
        task = asyncio.ensure_future(
            job.run(listener=lambda event: paused.set() if "PAUSED" in str(event) else None)
        )
        assert await asyncio.to_thread(paused.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert job.status().numbers["overview"]["state"] == "INTERRUPTED"
        assert job.frontier.delete(everything=True) == 1
        assert job.end().ended

    with site() as home:
        asyncio.run(main(home))


def test_a_job_at_rest(tmp_path: Path):
    job = nacre.new(tmp_path / "job", "http://a.test/")
    assert job.directory == tmp_path / "job"
    assert job.settings.set("politeness.min_delay", "5s").said[0][2] == 5.0
    with pytest.raises(nacre.ConfigError, match="limits"):
        job.settings.get("limits.pages")
    with pytest.raises(nacre.JobError, match="is not running"):
        job.pause()
    assert job.pause("quota", "full").held == ("quota",)
    with pytest.raises(nacre.JobError, match="no index of words"):
        job.search("words")
    with pytest.raises(nacre.JobError, match="is not a job"):
        nacre.open(tmp_path / "none")
    with pytest.raises(nacre.JobError, match="is not a job"):
        nacre.rounds(tmp_path / "none")


def test_rounds(tmp_path: Path):
    with site() as home:
        nacre.new(tmp_path / "书", home, settings={"politeness": {"delay": 0}})
        batch = nacre.rounds(tmp_path / "书")
        with pytest.raises(nacre.ConfigError, match="top"):
            batch.run(1, top="many")
        with pytest.raises(nacre.ConfigError, match="unknown field `depth`"):
            batch.run(1, depth=1)
        result = batch.run(2, top=5)
        assert (result.why, result.rounds, result.pages) == ("done", 2, 4)
        (tmp_path / "书" / "control").mkdir()
        (tmp_path / "书" / "control" / "stop").touch()
        with pytest.raises(nacre.JobError, match="remove it"):
            batch.run()
