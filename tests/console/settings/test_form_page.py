import asyncio
import re
from collections.abc import Awaitable, Callable
from html import unescape
from pathlib import Path

from nacre.ops.operation import Role
from tests.cli.site import nacre
from tests.console.given import GivenConsole, given_console

PAGE = "/j/crawls~one/settings/form"


def play(folder: Path, scene: Callable[[GivenConsole, Path], Awaitable[None]]) -> None:
    (folder / "crawls").mkdir()
    root = folder / "crawls" / "one"
    assert nacre("new", root, "http://127.0.0.1:9/").code == 0

    async def played() -> None:
        async with given_console(folder) as console:
            await scene(console, root)

    asyncio.run(played())


def values_of(page: str) -> dict[str, str]:
    """What a browser sends of the fields of the form, those of selects left out."""
    found = dict(re.findall(r'name="([vo]:[^"]+)"[^>]*? value="([^"]*)"', page))
    area = r'<textarea[^>]*name="([vo]:[^"]+)"[^>]*>\n(.*?)</textarea>'
    found |= re.findall(area, page, re.DOTALL)
    return {name: unescape(value) for name, value in found.items()}


def _pending(page: str) -> dict[str, str]:
    """The hidden fields of the changes that a page shows."""
    section = page.partition('aria-labelledby="preview"')[2].partition("</section>")[0]
    found = dict(re.findall(r'type="hidden" name="([a-z_]+)" value="([^"]*)"', section))
    text = re.search(r'<textarea hidden name="text">\n(.*?)</textarea>', section, re.DOTALL)
    assert text is not None
    return {name: unescape(value) for name, value in {**found, "text": text[1]}.items()}


def test_the_form_shows_what_it_changes_and_then_writes_it(tmp_path: Path):
    async def scene(console: GivenConsole, root: Path) -> None:
        fields, client = console.as_session(Role.OPERATOR), console.client
        token = {"x-nacre-token": fields.pop("x-nacre-token")}
        page = await client.get(PAGE, headers=fields)
        assert page.status_code == 200, page.text
        form = values_of(page.text)
        assert form["v:politeness.min_delay"] == form["o:politeness.min_delay"] == "3"
        same = await client.post(PAGE, headers=fields, data={**token, **form})
        assert "Nothing is different" in same.text
        form["v:politeness.min_delay"], form["v:archive.operator"] = "9", "国家图书馆"
        shown = await client.post(PAGE, headers=fields, data={**token, **form})
        assert "<ins>+  min_delay: 9</ins>" in shown.text
        assert "<ins>+  operator: 国家图书馆</ins>" in shown.text
        assert "min_delay: 9" not in (root / "crawl.yaml").read_text()
        sent = {**token, **_pending(shown.text), "write": "1", "section": "politeness"}
        done = await client.post(PAGE, headers=fields, data={**sent, "why": "a slow site"})
        assert (done.status_code, done.headers["location"]) == (303, f"{PAGE}?section=politeness")
        assert "min_delay: 9" in (root / "crawl.yaml").read_text()
        back = (await client.get(done.headers["location"], headers=fields)).text
        assert "Saved: politeness.min_delay, archive.operator</" in back
        assert 'aria-current="page">Form</a>' in back
        # The file is another one by now: what was to be written is shown beside it, and not lost.
        (root / "crawl.yaml").write_text("seeds: seeds.txt\nname: 别的\n")
        conflict = await client.post(PAGE, headers=fields, data=sent)
        assert (conflict.status_code, "The file was changed meanwhile" in conflict.text) == (
            412,
            True,
        )
        assert "别的" in (root / "crawl.yaml").read_text()
        form["v:politeness.min_delay"] = "soon"
        wrong = await client.post(PAGE, headers=fields, data={**token, **form})
        assert wrong.status_code == 422
        assert 'class="field-error"' in wrong.text
        card = await client.post(PAGE, headers=fields, data={**token, "card": "scope 0 disable"})
        assert "enabled: false" in card.text

    play(tmp_path, scene)


def test_settings_are_found_by_name_meaning_and_heritrix_name(tmp_path: Path):
    async def scene(console: GivenConsole, _: Path) -> None:
        fields = console.as_session(Role.VIEWER)
        for query, path in (
            ("q=minDelayMs", "politeness.min_delay"), ("section=recrawl", "recrawl.schedule.at"),
        ):  # fmt: skip
            page = (await console.client.get(f"{PAGE}?{query}", headers=fields)).text
            assert f'name="v:{path}"' in page
        none = (await console.client.get(f"{PAGE}?q=<b>", headers=fields)).text
        assert "No setting has this" in none
        assert "<b>" not in none

    play(tmp_path, scene)


def test_a_search_opens_the_rule_that_it_means(tmp_path: Path):
    async def scene(console: GivenConsole, root: Path) -> None:
        fields = console.as_session(Role.OPERATOR)
        page = (await console.client.get(f"{PAGE}?q=depth", headers=fields)).text
        assert 'name="f:max_hops"' in page
        assert "No setting has this" not in page

    play(tmp_path, scene)
