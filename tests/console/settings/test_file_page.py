import asyncio
import re
from collections.abc import Awaitable, Callable
from html import unescape
from pathlib import Path

from nacre.console.settings.file_page import DiffLine, difference
from nacre.ops.operation import Role
from tests.cli.site import nacre
from tests.console.given import GivenConsole, given_console

PAGE = "/j/crawls~one/settings"


def play(folder: Path, scene: Callable[[GivenConsole, Path], Awaitable[None]]) -> None:
    (folder / "crawls").mkdir()
    root = folder / "crawls" / "one"
    assert nacre("new", root, "http://127.0.0.1:9/").code == 0

    async def played() -> None:
        async with given_console(folder) as console:
            await scene(console, root)

    asyncio.run(played())


def text_of(page: str) -> str:
    found = re.search(r'<textarea id="yaml"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)
    assert found is not None
    return unescape(found[1])


def etag_of(page: str) -> str:
    found = re.search(r'name="etag" value="([^"]+)"', page)
    assert found is not None
    return found[1]


def test_the_page_works_as_a_plain_form(tmp_path: Path):
    async def scene(console: GivenConsole, root: Path) -> None:
        fields, client = console.as_session(Role.OPERATOR), console.client
        token = fields.pop("x-nacre-token")
        first = await client.get(PAGE, headers=fields)
        assert first.status_code == 200, first.text
        saved = (root / "crawl.yaml").read_text()
        assert text_of(first.text) == saved
        form = {"x-nacre-token": token, "etag": etag_of(first.text), "action": "save"}
        text = saved.replace("\n", "\r\n") + "politeness: {min_delay: 7}  # 慢\r\n"
        shown = await client.post(PAGE, headers=fields, data={**form, "text": text})
        assert "<ins>+politeness: {min_delay: 7}  # 慢</ins>" in shown.text
        assert (root / "crawl.yaml").read_text() == saved
        write = {**form, "action": "write", "text": text, "why": "慢一点"}
        written = await client.post(PAGE, headers=fields, data=write)
        assert written.status_code == 200, written.text
        assert (root / "crawl.yaml").read_text().endswith("politeness: {min_delay: 7}  # 慢\n")
        again = await client.post(PAGE, headers=fields, data=write)
        assert again.status_code == 412
        history = await client.get(f"{PAGE}/history", headers=fields)
        assert "慢一点" in history.text
        sides = await client.get(f"{PAGE}/history/2", headers=fields)
        assert 'data-editor="compare"' in sides.text
        back = await client.post(
            f"{PAGE}/history/1/restore", headers=fields, data={"x-nacre-token": token}
        )
        assert back.status_code == 200, back.text
        assert (root / "crawl.yaml").read_text() == saved
        bare = await client.post(PAGE, headers=fields, data={"text": "x: 1"})
        assert bare.status_code == 403

    play(tmp_path, scene)


def test_findings_are_at_their_lines_and_viewers_only_look(tmp_path: Path):
    async def scene(console: GivenConsole, root: Path) -> None:
        text = "seeds: [http://127.0.0.1:9/]\nname: <b>x</b>\npoliteness:\n  min_dealy: 3\n"
        (root / "crawl.yaml").write_text(text)
        page = (await console.client.get(PAGE, headers=console.as_session(Role.VIEWER))).text
        assert 'data-line="4" data-column="3"' in page
        assert "<b>x" not in page
        assert "readonly" in page
        own = (await console.client.get(PAGE, headers=console.as_session(Role.OPERATOR))).text
        assert re.search(r"<button[^>]* data-start[^>]* disabled>", own)
        assert "Not while this light is not green: Can be built" in " ".join(own.split())
        assert 'value="save"' not in page
        fields = console.as_session(Role.VIEWER)
        refused = await console.client.post(PAGE, headers=fields, data={"text": "x"})
        assert refused.status_code == 403

    play(tmp_path, scene)


def test_a_difference_has_its_lines():
    assert difference("a\nb\nc\n", "a\nx\nc\n") == [
        DiffLine("@", "…"), DiffLine(" ", "a"), DiffLine("-", "b"), DiffLine("+", "x"),
        DiffLine(" ", "c"),
    ]  # fmt: skip
    assert difference("a", "a") == []
