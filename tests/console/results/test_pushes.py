import asyncio
from pathlib import Path
from typing import Any

from nacre.console.routes import API
from nacre.ops.operation import Role
from tests.cli.site import nacre, site
from tests.console.given import GivenConsole, play
from tests.job.background.test_outbackcdx import PAGES, collection, outbackcdx


def test_indexes_are_posted_and_each_file_says_whether_a_server_has_it(tmp_path: Path):
    (tmp_path / "crawls").mkdir()
    with site(PAGES) as url:
        job = tmp_path / "crawls" / "图书馆"
        assert nacre("crawl", url, "--out", job, "-q", "--delay", "0").code == 0

    async def scene(console: GivenConsole) -> None:
        client, fields = console.client, console.as_session(Role.OPERATOR)
        at = f"{API}/jobs/crawls~图书馆"
        none = await pushed(console, fields)
        assert none["problem"]["detail"].startswith("archive.outbackcdx is empty")
        with outbackcdx() as (server, collection_url):
            change = {"assignments": [f"archive.outbackcdx={collection_url}"]}
            set_ = await client.patch(f"{at}/settings", json=change, headers=fields)
            assert set_.status_code == 200, set_.text
            found = await pushed(console, fields)
            assert found["changed"] == 1
            assert len(collection(server)) == found["lines"] >= 2
            assert (await pushed(console, fields))["changed"] == 0
            (index,) = (job / "latest" / "archive").resolve().glob("*.cdxj")
            kept = index.rename(tmp_path / index.name)
            listed = (await client.get(f"{at}/files", headers=fields)).json()
            assert listed["gone"] == 1
            page = await client.get("/j/crawls~图书馆/files", headers=fields)
            assert "Delete 1 index at OutbackCDX" in page.text
            form = {"withdraw": "1"}
            sent = await client.post("/j/crawls~图书馆/push", headers=fields, data=form)
            assert sent.status_code == 303
            assert not collection(server)
            kept.rename(index)
            assert (await pushed(console, fields))["changed"] == 1
        files = (await client.get(f"{at}/files", headers=fields)).json()["items"]
        states = {one["path"].rpartition(".")[2]: one["pushed"] for one in files}
        assert states["cdxj"] is True
        assert states["gz"] is None
        page = await client.get("/j/crawls~图书馆/files", headers=fields)
        assert "taken" in page.text
        sent = await client.post("/j/crawls~图书馆/push", headers=fields)
        assert sent.status_code == 303
        told = await client.get(sent.headers["location"], headers=fields)
        assert "0 indexes were posted" in told.text

    play(tmp_path, scene)


async def pushed(console: GivenConsole, fields: dict[str, str]) -> Any:
    """The answer to a push, or the task that it became."""
    at = f"{API}/jobs/crawls~图书馆/push/outbackcdx"
    sent = await console.client.post(at, headers=fields)
    while sent.status_code == 202:
        await asyncio.sleep(0)
        sent = await console.client.get(f"{API}/tasks/{sent.json()['id']}", headers=fields)
        if sent.json()["state"] != "running":
            break
    found = sent.json()
    return found if "changed" in found else found.get("result") or {"problem": found}
