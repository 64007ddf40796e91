"""Streams of parts of pages: each has the numbers of the header; that of a task ends."""

import asyncio
from pathlib import Path

import msgspec

from nacre.console.routes import API
from nacre.fleet.job_books import ALL_JOBS, KeptQuota
from nacre.fleet.schedule_book import ScheduleWish
from nacre.job.overview import JobOverview
from nacre.job.quotas import QuotaLevel
from nacre.ops.operation import Role
from nacre.web.workers.background import Tell
from tests.console.given import GivenConsole, play, streaming
from tests.console.streams.test_topics import add_job, events


def see(console: GivenConsole, alerts: int, *, running: bool) -> None:
    """Have the console see its first job in a state."""
    poller = console.parts.common.poller
    job = console.parts.common.fleet.jobs[0]
    seen = poller.snapshot(job)
    overview = JobOverview("RUNNING", alerts=alerts)
    poller._keep(msgspec.structs.replace(seen, running=running, overview=overview))
    poller.tell()


def test_the_header_is_sent_when_its_numbers_change(tmp_path: Path):
    add_job(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        fields = console.as_session(Role.VIEWER)
        async with (
            streaming(console) as client,
            client.stream("GET", "/live/header", headers=fields) as answer,
        ):
            found = events(answer.aiter_lines())
            first = await anext(found)
            assert first["event"] == "header"
            assert 'data-running="0"' in first["data"]
            see(console, 3, running=True)
            told = (await anext(found))["data"]
            assert 'data-running="1"' in told
            assert 'data-alerts="3"' in told
            see(console, 4, running=True)
            assert 'data-alerts="4"' in (await anext(found))["data"]
        answered = await console.client.get("/header", headers=fields)
        assert 'data-alerts="4"' in answered.text
        page = await console.client.get("/calendar", headers=fields)
        assert answered.text.strip() in page.text

    play(tmp_path, scene)


def test_a_quota_that_is_nearly_used_up_rings_the_bell_of_who_sees_its_job(tmp_path: Path):
    add_job(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        fields = console.as_session(Role.VIEWER)
        quotas = console.parts.books.quotas
        async with (
            streaming(console) as client,
            client.stream("GET", "/live/header", headers=fields) as answer,
        ):
            found = events(answer.aiter_lines())
            assert 'data-alerts="0"' in (await anext(found))["data"]
            quotas.keep(KeptQuota(ALL_JOBS, 10, 9, level=QuotaLevel.WARNING))
            assert 'data-alerts="1"' in (await anext(found))["data"]
            quotas.set(ALL_JOBS, 0)
            assert 'data-alerts="0"' in (await anext(found))["data"]
        quotas.keep(KeptQuota(str(tmp_path / "crawls" / "demo"), 10, 9, level=QuotaLevel.FULL))
        quotas.keep(KeptQuota(ALL_JOBS, 10, 9, level=QuotaLevel.WARNING))
        assert 'data-alerts="2"' in (await console.client.get("/header", headers=fields)).text
        key = console.parts.access.keys.add("elsewhere", Role.VIEWER, ("other",))
        told = await console.client.get("/header", headers={"authorization": f"Bearer {key}"})
        assert 'data-alerts="0"' in told.text

    play(tmp_path, scene)


def test_a_change_of_the_calendar_reaches_an_open_list_of_jobs(tmp_path: Path):
    add_job(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        fields = console.as_session(Role.OPERATOR)
        async with (
            streaming(console) as client,
            client.stream("GET", "/live/jobs", headers=fields) as answer,
        ):
            found = (one async for one in events(answer.aiter_lines()) if "event" not in one)
            assert "-01-01T00:00:00" not in (await anext(found))["data"]
            wish = ScheduleWish("crawls~demo", "0 0 1 1 *", zone="UTC")
            number = console.parts.books.schedules.add(
                wish, str(tmp_path / "crawls" / "demo"), "anna"
            )
            assert "-01-01T00:00:00" in (await anext(found))["data"]
            console.parts.books.schedules.remove(number)
            assert "-01-01T00:00:00" not in (await anext(found))["data"]

    play(tmp_path, scene)


def test_who_sees_another_place_sees_other_numbers(tmp_path: Path):
    add_job(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        see(console, 3, running=True)
        key = console.parts.access.keys.add("elsewhere", Role.VIEWER, ("other",))
        found = await console.client.get("/header", headers={"authorization": f"Bearer {key}"})
        assert 'data-running="0"' in found.text
        assert 'data-alerts="0"' in found.text

    play(tmp_path, scene)


def test_a_task_is_followed_to_its_end(tmp_path: Path):
    add_job(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        go, fields = asyncio.Event(), console.as_session(Role.VIEWER)
        tells: list[Tell] = []

        async def work(tell: Tell) -> dict[str, int]:
            tells.append(tell)
            await go.wait()
            return {"changed": 2}

        task = console.parts.common.tasks.begin("crawls~demo", "delete", "anna", work)
        page = await console.client.get(f"/j/crawls~demo/tasks/{task.id}", headers=fields)
        part = f"/live/j/crawls~demo/tasks/{task.id}"
        assert f'data-live="{part}"' in page.text
        assert '<noscript><meta http-equiv="refresh"' in page.text
        async with (
            streaming(console) as client,
            client.stream("GET", part, headers=fields) as shown,
            client.stream(
                "GET", f"{API}/stream?topics=task:{task.id}", headers=console.as_key()
            ) as told,
        ):
            parts, states = events(shown.aiter_lines()), events(told.aiter_lines())
            assert "<progress" not in (await anext(parts))["data"]
            assert (await anext(parts))["event"] == "header"
            first = await anext(states)
            assert first["event"] == "task"
            assert msgspec.json.decode(first["data"])["data"]["state"] == "running"
            tells[0](30, 100)
            assert 'value="30"' in (await anext(parts))["data"]
            assert msgspec.json.decode((await anext(states))["data"])["data"]["done"] == 30
            go.set()
            assert (await anext(parts))["event"] == "over"
            last = msgspec.json.decode((await anext(states))["data"])
            assert last["topic"] == f"task:{task.id}"
            assert last["data"]["result"] == {"changed": 2}

    play(tmp_path, scene)


def test_a_task_of_a_job_that_somebody_does_not_see_is_none(tmp_path: Path):
    add_job(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        async def work(_: Tell) -> None: ...

        task = console.parts.common.tasks.begin("crawls~demo", "delete", "anna", work)
        await task.wait(5)
        key = console.parts.access.keys.add("elsewhere", Role.VIEWER, ("other",))
        fields = {"authorization": f"Bearer {key}"}
        for path in (f"{API}/stream?topics=task:{task.id}", f"{API}/stream?topics=task:none"):
            assert (await console.client.get(path, headers=fields)).status_code == 404

    play(tmp_path, scene)
