"""The poller: a job that cannot be understood is shown, and others go on."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nacre.fleet.places import FoundJob, JobPlace, find_jobs
from nacre.fleet.snapshot import UNREADABLE
from nacre.job.control import NotRunningError
from nacre.job.overview import JobOverview
from nacre.machine.clock import SystemClock
from nacre.messages import Message, message
from nacre.web.live import poller
from tests.cli.site import nacre
from tests.console.given import GivenConsole, play
from tests.console.jobs.test_same_sentence import PACE, answering


def add_jobs(folder: Path, *names: str) -> None:
    (folder / "crawls").mkdir(exist_ok=True)
    for name in names:
        assert nacre("new", folder / "crawls" / name, "http://127.0.0.1:9/").code == 0


def test_a_job_whose_answer_is_none_takes_no_other_one_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    add_jobs(tmp_path, "new", "old")

    async def answer(named: Path, *_: object, **__: object) -> dict[str, Any]:
        if "old" in str(named):
            return {"overview": "of another version"}
        raise NotRunningError("it does not run")

    monkeypatch.setattr(poller, "ask_command", answer)

    async def scene(console: GivenConsole) -> None:
        for _ in range(2):
            for job in console.parts.common.fleet.jobs:
                await console.parts.common.poller.look(job)
        new, old = (seen for _, seen in console.parts.common.poller.snapshots())
        assert new.state == "NASCENT"
        assert old.state == UNREADABLE
        assert "TypeError" in str(old.sentence.params["why"])
        assert len(caplog.records) == 1  # not with each look

    play(tmp_path, scene)


def test_what_was_read_is_shown_though_it_cannot_be_kept(tmp_path: Path):
    add_jobs(tmp_path, "demo")
    lines = tmp_path / "lines.txt"
    lines.write_text("http://127.0.0.1:9/a\n")
    assert nacre("frontier", tmp_path / "crawls" / "demo", "import", lines).code == 0

    async def scene(console: GivenConsole) -> None:
        console.parts.books.schedules._database.rows("PRAGMA query_only = ON")
        (job,) = console.parts.common.fleet.jobs
        await console.parts.common.poller.look(job)
        seen = console.parts.common.poller.snapshot(job)
        assert seen.state != UNREADABLE
        assert seen.overview is not None

    play(tmp_path, scene)


def test_the_status_of_a_job_at_rest_is_cached_with_the_codes_of_its_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    add_jobs(tmp_path, "demo")
    lines = tmp_path / "lines.txt"
    lines.write_text("http://127.0.0.1:9/a\n")
    assert nacre("frontier", tmp_path / "crawls" / "demo", "import", lines).code == 0
    reason = message("job.url-and-reason", "{url}: {why}", url="http://h.test/", why="calendar")

    async def scene(console: GivenConsole) -> None:
        (job,) = console.parts.common.fleet.jobs
        parts = console.parts
        ask = parts.common.readers.ask

        async def answer(*arguments: Any, **options: Any) -> Any:
            status = await ask(*arguments, **options)
            return {**status, "overview": {**status["overview"], "next_why": reason}}

        monkeypatch.setattr(parts.common.readers, "ask", answer)
        await parts.common.poller.look(job)
        monkeypatch.setattr(parts.common.readers, "ask", None)
        parts.common.poller._stamps.clear()
        await parts.common.poller.look(job)
        overview = parts.common.poller.snapshot(job).overview
        assert overview is not None
        assert (overview.next_why, type(overview.next_why)) == (reason, Message)

    play(tmp_path, scene)


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b"\xff", b'{"messages":'])
def test_a_damaged_row_of_the_cache_is_read_from_the_store_again(tmp_path: Path, data: bytes):
    add_jobs(tmp_path, "demo")
    lines = tmp_path / "lines.txt"
    lines.write_text("http://127.0.0.1:9/a\n")
    assert nacre("frontier", tmp_path / "crawls" / "demo", "import", lines).code == 0

    async def scene(console: GivenConsole) -> None:
        (job,) = console.parts.common.fleet.jobs
        seen = console.parts.common.poller
        await seen.look(job)
        database = console.parts.books.schedules._database
        database.rows("UPDATE rested SET answer = ?", data)
        seen._stamps.clear()
        await seen.look(job)
        assert seen.snapshot(job).state != UNREADABLE
        ((stored,),) = database.rows("SELECT answer FROM rested")
        assert stored != data

    play(tmp_path, scene)


def test_a_job_that_a_command_made_is_found_when_somebody_asks_for_it(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        key = console.as_key()
        console.parts.common.poller._scanned -= poller.AGAIN
        assert (await console.client.get("/api/v1/jobs", headers=key)).json()["items"] == []
        await asyncio.to_thread(add_jobs, tmp_path, "demo")
        console.parts.common.poller._scanned = console.parts.common.clock.monotonic()  # just looked
        path = "/api/v1/jobs/crawls~demo"
        assert (await console.client.get(path, headers=key)).status_code == 200

    play(tmp_path, scene)


def test_those_who_ask_for_jobs_that_are_not_there_share_a_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def scene(console: GivenConsole) -> None:
        looks = 0

        def counted(places: Sequence[JobPlace]) -> list[FoundJob]:
            nonlocal looks
            looks += 1
            return find_jobs(places)

        monkeypatch.setattr("nacre.fleet.places.find_jobs", counted)
        paths = [f"/api/v1/jobs/crawls~{number}" for number in range(20)]
        asked = [console.client.get(path, headers=console.as_key()) for path in paths]
        answers = await asyncio.gather(*asked)
        assert {one.status_code for one in answers} == {404}
        assert looks < 5

    play(tmp_path, scene)


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_that_is_set_changes_no_speed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hours: int
):
    add_jobs(tmp_path, "demo")
    elapsed, ahead, asked = 0.0, 0.0, 0

    async def answer(*_: object, **__: object) -> dict[str, Any]:
        nonlocal asked
        asked += 1
        running = JobOverview("RUNNING", finished=int(10 * elapsed), queued=5000, parallel=25)
        return {"overview": msgspec.to_builtins(running)}

    monkeypatch.setattr(poller, "ask_command", answer)
    monkeypatch.setattr(SystemClock, "now", lambda _: 1_664_518_633.0 + elapsed + ahead)
    monkeypatch.setattr(SystemClock, "monotonic", lambda _: 50.0 + elapsed)

    async def scene(console: GivenConsole) -> None:
        nonlocal elapsed, ahead
        (job,), looks = console.parts.common.fleet.jobs, console.parts.common.poller
        for _ in range(60):
            elapsed += 10.0
            await looks.look(job)
        before = asked
        ahead = 3600.0 * hours
        elapsed += 10.0
        seen = await looks.fresh(job)  # what was seen in the future, or an hour ago, is not fresh
        assert asked == before + 1
        assert (seen.rate, seen.left) == (10.0, 500.0)
        assert set(seen.rates) == {10.0}
        times = [point.time for point in looks.points(job)]
        assert times[-1] == pytest.approx(console.parts.common.clock.now(), abs=0.01)
        assert times == sorted(times)
        assert times[-1] - times[0] == pytest.approx(600.0, abs=0.1)


def test_a_job_that_answers_begins_no_more_whoever_started_it(tmp_path: Path):
    add_jobs(tmp_path, "demo")
    overview = msgspec.to_builtins(JobOverview("RUNNING", parallel=25))
    answer = {"overview": overview, "slowest": [], "fetching": [], "pace": PACE}

    async def scene(console: GivenConsole) -> None:
        look, (job,) = console.parts.common.poller, console.parts.common.fleet.jobs
        look.begun.add(str(job.layout.root))
        await look.look(job)
        assert look.snapshot(job).state == "PREPARING"
        async with answering(job.layout, answer):
            await look.look(job)
            assert look.snapshot(job).state == "RUNNING"
        await look.look(job)
        assert look.snapshot(job).state == "NASCENT"

    play(tmp_path, scene)
