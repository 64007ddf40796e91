"""Pages that are open when a crawl stops: they end soon, and are opened by the next session."""

import asyncio
import threading
from pathlib import Path

import pytest
import uvloop

from nacre.assembly import parts
from nacre.core.rendered import PageTask, RequestHandler
from nacre.core.states import ExitStatus
from nacre.engine.pages import stopping
from nacre.engine.pages.stopping import finish_or_cancel
from nacre.job.job import Job
from nacre.settings.settings import JobSettings
from tests.crawl.jobs import Crawled
from tests.crawl.raw_site import raw_site, reply
from tests.engine.pages.renderer import ScriptedRenderer, ask


def race(work, *, stops: bool, grace: float = 20.0) -> object:
    async def main() -> object:
        stopped = asyncio.Event()
        if stops:
            stopped.set()
        return await asyncio.wait_for(finish_or_cancel(work(), stopped, grace), 20)

    return asyncio.run(main())


async def end() -> str:
    await asyncio.sleep(0)
    return "whole"


async def fail() -> str:
    raise ValueError("a bug")


async def hang() -> str:
    await asyncio.Event().wait()
    return "never"


@pytest.mark.parametrize("stops", [False, True])
def test_work_that_ends_has_its_result(stops: bool):
    assert race(end, stops=stops) == "whole"


@pytest.mark.parametrize("stops", [False, True])
def test_work_that_fails_raises_its_error(stops: bool):
    with pytest.raises(ValueError, match="a bug"):
        race(fail, stops=stops)


def test_work_that_does_not_end_is_cancelled():
    assert race(hang, stops=True, grace=0.0) is None


def test_work_ends_with_the_task_that_waits_for_it():
    ended: list[bool] = []

    async def note() -> None:
        try:
            await hang()
        finally:
            ended.append(True)

    async def main() -> None:
        task = asyncio.ensure_future(finish_or_cancel(note(), asyncio.Event()))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait((task,))
        assert task.cancelled()

    asyncio.run(main())
    assert ended == [True]


def test_open_page_goes_back_to_its_queue_when_the_crawl_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(stopping, "STOP_GRACE", 0.0)
    jobs: list[Job] = []
    left: list[str] = []

    async def script(handler: RequestHandler, task: PageTask) -> None:
        await ask(handler, f"{task.url}news.json")
        if len(jobs) == 1:
            slow = asyncio.ensure_future(ask(handler, f"{task.url}slow"))
            session = jobs[0].session
            assert session is not None
            session.stop(ExitStatus.INTERRUPTED)
            try:
                await slow
            finally:
                left.append(task.url)

    monkeypatch.setattr(parts, "open_renderer", lambda *_: ScriptedRenderer(script))
    with raw_site() as site:
        site.serve({
            "/": reply("<p>公告"),
            "/robots.txt": reply("", "text/plain"),
            "/news.json": reply("{}", "application/json"),
        })  # fmt: skip
        held = threading.Event()
        site.answers["/slow"] = lambda _: reply(str(held.wait(20)))
        settings = JobSettings.model_validate({
            "seeds": [f"{site.origin}/"],
            "browser": {"use": "always", "pictures": ()},
            "politeness": {"delay": 0},
            "network": {"allow": ["127.0.0.0/8"]},
        })  # fmt: skip
        (tmp_path / "job").mkdir()
        endings = []
        for _ in range(2):
            jobs.append(Job(tmp_path / "job", settings))
            endings.append(uvloop.run(jobs[-1].run()))
        held.set()
        assert endings == [ExitStatus.INTERRUPTED, ExitStatus.FINISHED]
        assert left == [f"{site.origin}/"]
        assert site.asked.count("/") == 2
        crawled = Crawled(tmp_path / "job", str(endings[-1]))
        assert crawled.captures().keys() >= {f"{site.origin}/", f"{site.origin}/news.json"}
        assert crawled.statuses.get(f"{site.origin}/slow") is None
