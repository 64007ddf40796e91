"""The terminal and the console say the same of the same job."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nacre.fleet.snapshot import ToeList
from nacre.job.control import ControlServer
from nacre.job.diagnosis_text import REMEDIES
from nacre.job.overview import JobOverview, SlowQueue
from nacre.machine.layout import Layout
from nacre.report.crawllog import LogTimes
from nacre.web.languages import language
from tests.cli.site import nacre
from tests.console.given import GivenConsole, play

RUNNING = JobOverview("RUNNING", parallel=25, busy=1, queued=600, finished=50, elapsed=9.0)
SLOW = SlowQueue("test,a,", 600, 60.0, 36_000.0, host="a.test")
PACE = {"rate": 2.0, "bytes_rate": 9.0, "grows": False, "outgrows": False}


def lines(prefix: str, status: int) -> str:
    """Lines of crawl.log of this moment: older ones say nothing of how a job is."""
    now = LogTimes().dashed(time.time())
    return "".join(
        f"{now} {status:>5} 9 {prefix}{n} LLLLLLLLL - text/html #001 - - - -\n" for n in range(40)
    )


def scene(
    code: str,
    lever: str,
    crawl: tuple[str, int] | None = None,
    slowest: tuple[SlowQueue, ...] = (),
    **more: Any,
) -> Any:
    """A scene: code and a lever of the sentence, URLs and status in crawl.log, and the answer."""
    overview = msgspec.structs.replace(RUNNING, **more.pop("numbers", {}))
    answer = {
        "overview": msgspec.to_builtins(overview), "slowest": msgspec.to_builtins(slowest),
        "fetching": [], "paused_by": more.pop("paused_by", ""), "pace": {**PACE, **more},
    }  # fmt: skip
    return pytest.param(code, lever, crawl, answer, id=code)


@asynccontextmanager
async def answering(layout: Layout, answer: dict[str, Any]) -> AsyncIterator[None]:
    """While the block runs, the job answers as one that crawls."""
    layout.socket.parent.mkdir(exist_ok=True)
    answers = {"status": answer, "toes": msgspec.to_builtins(ToeList(25, 0.0, ()))}

    connections: set[asyncio.Task[Any] | None] = set()

    async def told(request: Any) -> dict[str, Any]:
        connections.add(asyncio.current_task())
        return dict(answers[request["command"]])

    server = ControlServer(layout.socket, dict.fromkeys(answers, told), lambda *_: "")
    await server.start()
    try:
        yield
    finally:
        await server.close()
        await asyncio.gather(*filter(None, connections))


@pytest.mark.parametrize(
    ("code", "lever", "crawl", "answer"),
    [
        scene("running", ""),
        scene("one-host", "delay", slowest=(SLOW,)),
        scene("trap", "exclude", ("http://a.test/rili?m=", 200), (SLOW,), outgrows=True),
        scene("refuses", "contact", ("http://a.test/", 429)),
        scene("retries", "wake", numbers={
            "trouble": "dns:x.test: no name", "trouble_queue": "test,x,",
            "next_try": time.time() + 200_000.0,
        }),
        scene("paused-operator", "resume", numbers={"state": "PAUSED", "why": "operator"}),
        scene(
            "paused-by", "resume", numbers={"state": "PAUSED", "why": "operator"},
            paused_by="anna via console (uid 0)",
        ),
    ],
)  # fmt: skip
def test_status_and_overview_have_one_sentence(
    tmp_path: Path, code: str, lever: str, crawl: tuple[str, int] | None, answer: dict[str, Any]
):
    layout = Layout(tmp_path / "crawls" / "demo")
    layout.root.parent.mkdir()
    assert nacre("new", layout.root, "http://a.test/").code == 0
    logs = layout.root / "runs" / "1" / "logs"
    logs.mkdir(parents=True)
    layout.latest.symlink_to("runs/1")
    (logs / "crawl.log").write_text(lines(*crawl) if crawl else "")

    async def played(console: GivenConsole) -> None:
        async with answering(layout, answer):
            fields = console.as_session()
            detail = await console.client.get("/api/v1/jobs/crawls~demo", headers=fields)
            said = detail.json()["sentence"]
            assert said["code"] == code
            status = await asyncio.to_thread(nacre, "status", layout.root)
            told = [line.strip() for line in status.out.splitlines()]
            assert said["text"] in told
            page = await console.client.get("/j/crawls~demo", headers=fields)
            assert said["text"] in unescape(page.text)
            if lever:
                label = REMEDIES[lever]
                assert any(label in line and "`" in line for line in told)
                assert f">{label}</a>" in unescape(page.text)
            chinese = await console.client.get(
                "/j/crawls~demo", headers={**fields, "accept-language": "zh-CN"}
            )
            seen = console.parts.common.poller.snapshot(console.parts.common.fleet.jobs[0])
            text = language("zh_CN").say(seen.sentence)
            assert text != said["text"]
            assert text in unescape(chinese.text)
            if lever:
                assert language("zh_CN").text(REMEDIES[lever]) in unescape(chinese.text)

    play(tmp_path, played)
