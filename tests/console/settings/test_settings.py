import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from nacre.console.routes import API
from nacre.ops.operation import Role
from tests.cli.site import nacre
from tests.console.given import GivenConsole, given_console

JOB = f"{API}/jobs/crawls~one"


def play(folder: Path, scene: Callable[[GivenConsole, Path], Awaitable[None]]) -> None:
    (folder / "crawls").mkdir()
    root = folder / "crawls" / "one"
    assert nacre("new", root, "http://127.0.0.1:9/a/").code == 0

    async def played() -> None:
        async with given_console(folder) as console:
            await scene(console, root)

    asyncio.run(played())


def test_single_settings_change_and_keep_who_and_comments(tmp_path: Path):
    async def scene(console: GivenConsole, root: Path) -> None:
        key, client = console.as_key(Role.OPERATOR), console.client
        wish = {"assignments": ["politeness.min_delay=7", "archive.operator=国家图书馆"]}
        looked = await client.patch(f"{JOB}/settings", headers=key, json={**wish, "preview": True})
        assert looked.status_code == 200, looked.text
        assert (looked.json()["running"], looked.json()["touched"]["urls"]) == (False, 0)
        assert "国家图书馆" not in (root / "crawl.yaml").read_text()
        done = await client.patch(f"{JOB}/settings", headers=key, json=wish)
        assert done.json()["changes"][0] == {
            "path": "politeness.min_delay", "before": 3.0, "after": 7.0,
        }  # fmt: skip
        text = (root / "crawl.yaml").read_text()
        assert "operator: 国家图书馆" in text
        assert "# A job of Nacre." in text
        edits = (await client.get(f"{JOB}/config/history", headers=key)).json()["items"]
        assert (edits[0]["source"], edits[0]["who"]) == ("set", "operator key via console")
        place = {"assignments": ["politeness.delay=9"], "for": "http://a.test/"}
        assert (await client.patch(f"{JOB}/settings", headers=key, json=place)).status_code == 200
        assert "http://a.test/" in (root / "crawl.yaml").read_text()
        wrong = await client.patch(
            f"{JOB}/settings", headers=key, json={"assignments": ["politeness.min_dealy=7"]}
        )
        assert wrong.status_code == 422
        assert "did you mean `politeness.min_delay`?" in wrong.json()["problems"][0]["message"]
        assert (await client.patch(f"{JOB}/settings", headers=key, json={})).status_code == 422

    play(tmp_path, scene)


def test_urls_are_tried_by_the_saved_text_and_another(tmp_path: Path):
    async def scene(console: GivenConsole, root: Path) -> None:
        key, client = console.as_key(Role.VIEWER), console.client
        urls = ["http://127.0.0.1:9/a/x", "http://127.0.0.1:9/b", "http://", "例子.测试/页"]
        found = (await client.post(f"{JOB}/dry-run", headers=key, json={"urls": urls})).json()
        now = [one["now"] for one in found["items"]]
        assert [one["decision"] for one in now] == ["ACCEPT", "REJECT", "", "REJECT"]
        assert now[2]["error"]
        text = (root / "crawl.yaml").read_text() + "sheets: {s: {politeness.delay: 9}}\n"
        text += "sheet_associations: [{sheets: [s], surts: ['http://127.0.0.1:9/a/']}]\n"
        body = {"urls": urls, "text": text}
        tried = (await client.post(f"{JOB}/dry-run", headers=key, json=body)).json()
        assert tried["changed"] == 1
        assert tried["items"][0]["now"]["sheets"] == ["s"]
        assert tried["items"][0]["saved"]["sheets"] == []
        many = await client.post(f"{JOB}/dry-run", headers=key, json={"urls": ["x"] * 1001})
        assert many.status_code == 422
        wrong = {"urls": urls, "text": "nonsense: 1\n"}
        answer = await client.post(f"{JOB}/dry-run", headers=key, json=wrong)
        assert answer.status_code == 422
        assert answer.json()["problems"][0]["line"] == 1

    play(tmp_path, scene)
