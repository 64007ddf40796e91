"""`runWhileEmpty` at Heritrix's port: a job that waits takes the files of its action directory."""

import asyncio
from pathlib import Path

from tests.cli.site import nacre, site
from tests.console.stories.running import running_job, until
from tests.migrate.port.test_app import port

PAGES = {"/": "<p>home</p>", "/one": "<p>1</p>", "/robots.txt": ""}
PLACE = "/engine/job/x"


def test_a_job_that_waits_is_active_and_takes_files(tmp_path: Path):
    job = tmp_path / "crawls" / "x"
    job.parent.mkdir()

    async def story(url: str) -> None:
        async with port(tmp_path) as client:

            async def shown() -> str:
                return (await client.get(PLACE, headers={"accept": "application/xml"})).text

            async def has_state(state: str) -> bool:
                return f"<crawlControllerState>{state}<" in await shown()

            async with asyncio.timeout(180):
                while not await has_state("EMPTY"):  # noqa: ASYNC110 - another process
                    await asyncio.sleep(0.1)
                assert "Active: EMPTY" in await shown()
                file = f"{PLACE}/jobdir/action/more.seeds"
                put = await client.put(file, content=f"{url}one\n".encode())
                assert put.status_code == 201, put.text
                log = job / "latest" / "logs" / "crawl.log"
                await asyncio.to_thread(until, lambda: f"{url}one" in log.read_text())
            ended = await client.post(PLACE, data={"action": "terminate"})
            assert ended.status_code == 303

    with site(PAGES) as url:
        assert nacre("new", job, url).code == 0
        settings = ("politeness.delay=0", "engine.run_while_empty=true", "action.interval=1")
        assert nacre("set", job, *settings).code == 0
        with running_job(job) as process:
            asyncio.run(story(url))
            process.wait(60)
