import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from nacre.ops.operation import Role
from tests.cli.site import nacre
from tests.console.given import GivenConsole, given_console

PAGE = "/j/crawls~one/settings/urls"


def play(folder: Path, scene: Callable[[GivenConsole, Path], Awaitable[None]]) -> None:
    (folder / "crawls").mkdir()
    root = folder / "crawls" / "one"
    assert nacre("new", root, "http://127.0.0.1:9/a/").code == 0

    async def played() -> None:
        async with given_console(folder) as console:
            await scene(console, root)

    asyncio.run(played())


def test_urls_are_tried_and_compared(tmp_path: Path):
    async def scene(console: GivenConsole, root: Path) -> None:
        fields, client = console.as_session(Role.VIEWER), console.client
        assert (await client.get(PAGE, headers=fields)).status_code == 200
        urls = "http://127.0.0.1:9/a/页\r\n\r\nhttp://other.test/<b>"
        found = await client.post(PAGE, headers=fields, data={"urls": urls})
        assert "<strong>ACCEPT</strong>" in found.text
        assert "<strong>REJECT</strong>" in found.text
        assert "<b>" not in found.text
        text = (root / "crawl.yaml").read_text() + "sheets: {s: {politeness.delay: 9}}\n"
        text += "sheet_associations: [{sheets: [s], surts: ['http://127.0.0.1:9/a/']}]\n"
        both = await client.post(PAGE, headers=fields, data={"urls": urls, "text": text})
        assert "1 of 2 change." in both.text
        wrong = await client.post(PAGE, headers=fields, data={"urls": urls, "text": "x: 1\n"})
        assert wrong.status_code == 422
        assert "Line 1" in wrong.text
        many = await client.post(PAGE, headers=fields, data={"urls": "x\n" * 1001})
        assert many.status_code == 422

    play(tmp_path, scene)
