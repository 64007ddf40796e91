import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from nacre.console.routes import API
from nacre.ops.operation import Role
from nacre.web.live.hub import JOBS
from tests.cli.site import nacre
from tests.console.given import GivenConsole, play, streaming


def add_job(folder: Path, name: str) -> None:
    assert nacre("new", folder / "crawls" / name, "http://127.0.0.1:9/").code == 0


async def events(lines: AsyncIterator[str]) -> AsyncIterator[dict[str, str]]:
    """Events of a stream, each as its fields; a comment as one named ""."""
    found: dict[str, str] = {}
    async for line in lines:
        if not line:
            yield found
            found = {}
        else:
            name, _, value = line.partition(": ")
            found[name] = found[name] + "\n" + value if name in found else value


@pytest.mark.parametrize(
    ("topics", "status", "code"),
    [
        ("jobs", 200, ""),
        ("", 400, "topics"),
        ("weather", 400, "topic"),
        ("job:crawls~nothing", 404, "not-found"),
        (",".join(f"job:{number}" for number in range(33)), 400, "topics"),
    ],
)
def test_topics_are_checked(tmp_path: Path, topics: str, status: int, code: str):
    async def scene(console: GivenConsole) -> None:
        console.parts.common.hub.close()
        answer = await console.client.get(
            f"{API}/stream", params={"topics": topics}, headers=console.as_key()
        )
        assert answer.status_code == status
        assert not code or answer.json()["code"] == code
        assert status != 200 or "content-encoding" not in answer.headers

    play(tmp_path, scene)


def test_a_stream_sends_states_as_they_change(tmp_path: Path):
    add_job(tmp_path, "图书馆, 书")

    async def scene(console: GivenConsole) -> None:
        job = console.parts.common.fleet.jobs[0]
        topics = f"jobs,job:{job.id.replace(',', '%2C')}"
        url = f"{API}/stream?{httpx.QueryParams({'topics': topics})}"
        async with (
            streaming(console) as client,
            client.stream("GET", url, headers=console.as_key()) as answer,
        ):
            assert answer.headers["content-type"].startswith("text/event-stream")
            found = events(answer.aiter_lines())
            first = {(one := await anext(found))["event"]: json.loads(one["data"]) for _ in "ab"}
            assert first["job"]["data"]["item"]["sentence"]["code"] == "ready"
            assert [item["id"] for item in first["jobs"]["data"]["items"]] == [job.id]
            await asyncio.to_thread(add_job, tmp_path, "second")
            await console.parts.common.poller.scan()
            console.parts.common.poller.tell()
            changed: dict[str, Any] = json.loads((await anext(found))["data"])
            assert changed["topic"] == JOBS
            assert len(changed["data"]["items"]) == 2

    play(tmp_path, scene)


def test_a_part_of_a_page_is_sent_again_when_it_changes(tmp_path: Path):
    add_job(tmp_path, "<b>")

    async def scene(console: GivenConsole) -> None:
        fields = console.as_session(Role.VIEWER)
        async with (
            streaming(console) as client,
            client.stream("GET", "/live/jobs", headers=fields) as answer,
        ):
            found = events(answer.aiter_lines())
            first = (await anext(found))["data"]
            assert 'id="jobs"' in first
            assert "&lt;b&gt;" in first
            assert "<html" not in first
            await asyncio.to_thread(add_job, tmp_path, "second")
            await console.parts.common.poller.scan()
            console.parts.common.poller.tell()
            parts = (one["data"] async for one in found if one.get("event") != "header")
            assert "crawls~second" in await anext(parts)

    play(tmp_path, scene)
