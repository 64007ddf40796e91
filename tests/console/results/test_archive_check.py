import asyncio
import json
from pathlib import Path

import pytest

from nacre.console.results.archive import MOST, read_answer
from nacre.console.routes import API
from nacre.ops.operation import Role
from tests.cli.site import PAGES, nacre, site
from tests.console.given import GivenConsole, play

J = f"{API}/jobs/crawls~demo"


@pytest.mark.slow
def test_a_whole_archive_and_a_damaged_one_are_told_apart(tmp_path: Path):
    job = tmp_path / "crawls" / "demo"
    job.parent.mkdir()
    with site(PAGES) as url:
        quick = ("network.allow=[127.0.0.0/8]", "politeness.delay=0s")
        sets = [word for one in quick for word in ("--set", one)]
        assert nacre("crawl", url, "--out", job, "--quiet", *sets).code == 0

    async def ended(console: GivenConsole, task: str) -> str:
        fields = console.as_key(Role.OPERATOR)
        for _ in range(20_000):
            found = (await console.client.get(f"{API}/tasks/{task}", headers=fields)).json()
            if found["state"] != "running":
                break
            await asyncio.sleep(0.05)
        page = await console.client.get(f"/j/crawls~demo/tasks/{task}", headers=fields)
        return page.text

    async def begun(console: GivenConsole) -> str:
        fields = console.as_session(Role.OPERATOR)
        files = await console.client.get("/j/crawls~demo/files", headers=fields)
        assert "Verify the archive" in files.text
        sent = await console.client.post("/j/crawls~demo/archive/check", headers=fields)
        assert sent.status_code == 303
        return await ended(console, sent.headers["location"].rpartition("/")[2])

    async def scene(console: GivenConsole) -> None:
        whole = await begun(console)
        assert "The archive is whole." in whole
        assert "Digests compared" in whole
        (warc,) = (job / "latest" / "archive").glob("*.warc.gz")
        data = bytearray(warc.read_bytes())
        data[len(data) // 2] ^= 0xFF
        warc.write_bytes(bytes(data))
        damaged = await begun(console)
        assert "The archive is damaged." in damaged
        assert warc.name in damaged
        viewer = await console.client.post(f"{J}/archive/check", headers=console.as_key())
        assert viewer.status_code == 403

    play(tmp_path, scene)


def test_a_job_that_never_ran_has_no_archive(tmp_path: Path):
    assert nacre("new", tmp_path / "crawls" / "demo", "http://127.0.0.1:9/").code == 0

    async def scene(console: GivenConsole) -> None:
        fields = console.as_key(Role.OPERATOR)
        refused = await console.client.post(f"{J}/archive/check", headers=fields)
        assert (refused.status_code, refused.json()["code"]) == (409, "never-ran")

    play(tmp_path, scene)


def test_only_the_first_errors_are_shown_and_notes_are_none():
    wrong = {
        "file": "/x/job/archive/a",
        "offset": 1,
        "code": "x",
        "message": "y",
        "severity": "error",
    }
    data = {
        "damaged": True, "files": 1, "bytes": 2, "records": {"response": 3, "request": 4},
        "digests": 5, "findings": [*[wrong] * 300, {**wrong, "severity": "note"}],
    }  # fmt: skip
    found = read_answer(json.dumps(data), "/x/job/")
    assert found.findings[0].file == "archive/a"
    assert (found.found, len(found.findings), found.records) == (300, MOST, 7)
