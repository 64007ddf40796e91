"""Batch rounds as a job of the console, with real rounds on a loopback server."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from nacre.console.access.roles import Role
from nacre.console.routes import API
from nacre.cycle.rounds_mark import rounds_mark
from nacre.store.layout import Layout
from tests.cli.site import nacre, site
from tests.console.given import GivenConsole, given_console

PAGES = {"/": '<a href="/a.html">a</a><a href="/b.html">b</a>', "/a.html": "a", "/b.html": "b",
         "/robots.txt": ""}  # fmt: skip
JOB = "crawls~demo"


def play(folder: Path, scene: Callable[[GivenConsole], Awaitable[None]]) -> None:
    async def played() -> None:
        async with given_console(folder) as console, asyncio.TaskGroup() as group:
            launcher = group.create_task(console.services.launcher.run())
            await scene(console)
            launcher.cancel()

    asyncio.run(played())


def rounds_of(folder: Path, url: str) -> Path:
    """A batch crawl with a round behind it, and three URLs that are due."""
    (folder / "crawls").mkdir()
    job = folder / "crawls" / "demo"
    done = nacre("cycle", job, "-s", url, "--rounds", "1", "--units", "1", "--delay", "0",
                 "--set", "cycle.buckets=1")  # fmt: skip
    assert done.code == 0, done
    return job


async def ask(console: GivenConsole, action: str, **body: object) -> Any:
    fields = console.as_key(Role.OPERATOR)
    return await console.client.post(f"{API}/jobs/{JOB}/{action}", json=body, headers=fields)


async def facts(console: GivenConsole) -> Any:
    await console.services.poller.look(console.services.fleet.job(JOB))
    answer = await console.client.get(f"{API}/jobs/{JOB}", headers=console.as_key())
    assert answer.status_code == 200, answer.text
    return answer.json()


async def until_two_are_done(console: GivenConsole) -> None:
    """Wait until two rounds are done and their process has ended."""
    job = console.services.fleet.job(JOB)
    async with asyncio.timeout(60):
        while True:
            seen = await facts(console)
            launch = console.services.launcher.facts(job)
            if seen["rounds"]["done"] == 2 and launch is None and not seen["item"]["running"]:
                return
            await asyncio.sleep(0.05)


def test_rounds_are_looked_at_tried_and_run(tmp_path: Path):
    with site(PAGES) as url:
        rounds_of(tmp_path, url)

        async def scene(console: GivenConsole) -> None:
            seen = await facts(console)
            first = seen["rounds"]
            assert (seen["item"]["state"], seen["item"]["running"]) == ("ROUNDS", False)
            assert (first["done"], first["at"], first["list"]["selected"]) == (1, "", 1)
            assert first["place"].endswith("cycle")
            assert first["archive"] > 0
            dry = await ask(console, "dry-run-rounds")
            assert dry.status_code == 200, dry.text
            assert (dry.json()["known"], dry.json()["selected"]) == (4, 3)  # with /favicon.ico
            assert dry.json()["refused"]["schedule"] == 1
            assert (await facts(console))["rounds"]["version"] == first["version"]
            (tmp_path / "crawls/demo/control").mkdir(exist_ok=True)
            (tmp_path / "crawls/demo/control/stop").touch()
            started = await ask(console, "run-rounds", rounds=1)
            assert started.status_code == 202, started.text
            await until_two_are_done(console)
            assert (await facts(console))["rounds"]["list"]["selected"] == 3

        play(tmp_path, scene)


def test_rounds_that_run_end_after_their_step(tmp_path: Path):
    with site(PAGES) as url:
        job = rounds_of(tmp_path, url)

    async def scene(console: GivenConsole) -> None:
        idle = await ask(console, "stop-after-step")
        assert (idle.status_code, idle.json()["code"]) == (409, "rounds-rest")
        with rounds_mark(Layout(job)):
            seen = await facts(console)
            assert (seen["item"]["running"], seen["rounds"]["stopping"]) == (True, False)
            for action in ("run-rounds", "dry-run-rounds"):
                refused = await ask(console, action)
                assert (refused.status_code, refused.json()["code"]) == (409, "rounds-running")
            asked = await ask(console, "stop-after-step")
            assert asked.status_code == 202, asked.text
            assert (job / "control/stop").exists()
            assert (await facts(console))["rounds"]["stopping"]
        assert not (await facts(console))["item"]["running"]
        wrong = await ask(console, "run-rounds", rounds=-1)
        assert wrong.status_code == 422
        assert "$.rounds" in wrong.text
        assert (job / "control/stop").exists()

    play(tmp_path, scene)


def test_the_pages_of_rounds(tmp_path: Path):
    with site(PAGES) as url:
        rounds_of(tmp_path, url)

    async def scene(console: GivenConsole) -> None:
        fields = console.as_session()
        page = (await console.client.get(f"/j/{JOB}", headers=fields)).text
        assert 'data-rounds="done">1<' in page
        assert 'name="rounds"' in page
        assert '<button form="dry-run" name="action" value="dry-run-rounds"' in page
        assert 'value="pause"' not in page
        path = f"/j/{JOB}/dry-run-rounds"
        tried = await console.client.post(path, headers=fields)
        assert tried.status_code == 200, tried.text
        assert 'data-count="selected">3<' in tried.text
        chinese = {**fields, "accept-language": "zh-CN"}
        assert "试运行一轮" in (await console.client.post(path, headers=chinese)).text
        viewer = console.as_session(Role.VIEWER)
        assert (await console.client.post(path, headers=viewer)).status_code == 403
        seen = (await console.client.get(f"/j/{JOB}", headers=viewer)).text
        assert "this needs the role operator" in seen

    play(tmp_path, scene)
