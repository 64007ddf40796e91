import asyncio
import html
import json
import re
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest

from nacre.console.frontier import tree
from nacre.console.frontier.pages import UrisPageQuery, row_exclusion
from nacre.console.frontier.uris import containing, has_bare_mark, with_escapes
from nacre.console.links import exclude_link
from nacre.ops.operation import Role
from nacre.scope.patterns.matching import matcher
from nacre.web.workers.views import ScanBudget
from tests.cli.site import nacre
from tests.console.given import LONG, GivenConsole, given_console
from tests.console.waiting import GBK, UTF_8, add_waiting_job

J = "/j/crawls~demo"


def play(folder: Path, scene: Callable[[GivenConsole, dict[str, str]], Awaitable[None]]) -> None:
    async def played() -> None:
        async with given_console(folder) as console:
            fields = console.as_session(Role.OPERATOR)
            console.client.headers.update(fields)
            token = console.client.headers.pop("x-nacre-token")
            await scene(console, {"x-nacre-token": token})

    asyncio.run(played())


async def settled(console: GivenConsole, answer: httpx.Response) -> str:
    """The page behind a form, once its task is over."""
    assert answer.status_code == 303, answer.text
    place = answer.headers["location"]
    found = re.search(r"tasks/([^/?]+)$|task=([^&]+)", place)
    if found is not None:
        await console.parts.common.tasks.task(found[1] or found[2]).wait(LONG)
    page = await console.client.get(place)
    assert page.status_code == 200, page.text
    return page.text


async def page_of(console: GivenConsole, path: str) -> str:
    answer = await console.client.get(J + path)
    while answer.status_code == 202:
        await asyncio.gather(*(task.wait(LONG) for task in console.parts.common.tasks.tasks))
        answer = await console.client.get(J + path)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_the_wizard_counts_shows_samples_and_deletes_what_was_typed(tmp_path: Path):
    job = add_waiting_job(tmp_path)

    async def scene(console: GivenConsole, token: dict[str, str]) -> None:
        text = await page_of(console, "/frontier")
        assert 'data-queue="test,example,a,"' in text
        wish = {"action": "delete", "urls": "中国", "queues": "", **token}
        text = await settled(console, await console.client.post(f"{J}/frontier/preview", data=wish))
        assert "http://gbk.test/中国/文.html" in text
        assert "http://utf.test/中国/文.html" in text
        assert "Delete 2 waiting URIs" in text
        expression = with_escapes("中国")
        form = {"action": "delete", "urls": expression, "queues": "", "expect": "2", **token}
        wrong = await console.client.post(f"{J}/frontier/change", data={**form, "typed": "3"})
        assert (wrong.status_code, "nothing was changed" in wrong.text) == (422, True)
        other = {**form, "expect": "30", "typed": "30"}
        await console.client.post(f"{J}/frontier/change", data=other)
        done = await console.client.post(f"{J}/frontier/change", data={**form, "typed": " 2"})
        assert "2 waiting URIs were deleted." in await settled(console, done)
        lines = console.parts.audit.path.read_text().splitlines()
        refused, taken = (json.loads(line) for line in lines[-2:])
        assert (refused["outcome"], taken["outcome"]) == ("count-differs", "done")
        assert taken["after"] == {"action": "delete", "urls": expression, "expect": 2}
        text = await page_of(console, "/uris?prefix=http://gbk.test/")
        assert "gbk.test/中国" not in text

    play(tmp_path, scene)
    log = (job / "latest" / "logs" / "job.log").read_text()
    assert re.search(r"frontier delete URLs \(\?i:.*: 2, by anna via console", log)


def test_what_was_excluded_is_said_with_links_to_its_rule_and_to_the_overview(tmp_path: Path):
    job = add_waiting_job(tmp_path)

    async def scene(console: GivenConsole, token: dict[str, str]) -> None:
        text = await page_of(console, "/uris?queue=test,example,a,&path=/docs/")
        assert "/frontier/change?action=exclude&amp;urls=" in text
        wish = {"action": "exclude", "urls": "/calendar/", "queues": "", **token}
        await settled(console, await console.client.post(f"{J}/frontier/preview", data=wish))
        urls = tmp_path / "more.txt"
        urls.write_text("".join(f"http://c.test/calendar/{n}\n" for n in range(90)))
        assert (await asyncio.to_thread(nacre, "frontier", job, "import", urls)).code == 0
        form = {**wish, "expect": "40", "expect_queues": "1", "typed": "40"}
        grown = await console.client.post(f"{J}/frontier/change", data=form)
        text = await settled(console, grown)
        assert "the preview counted 40, and now there are 130" in text
        again = dict(
            re.findall(r'<input type="hidden" name="(action|kind|urls|queues)" value="(.*?)"', text)
        )
        assert again == {"action": "exclude", "kind": "regex", "urls": "/calendar/", "queues": ""}
        counted = await console.client.post(f"{J}/frontier/preview", data={**again, **token})
        assert "Exclude, and delete 130 waiting URIs" in await settled(console, counted)
        form |= {"expect": "130", "expect_queues": "2", "typed": "130"}
        text = await settled(console, await console.client.post(f"{J}/frontier/change", data=form))
        assert "<code>/calendar/</code>" in text
        link = re.search(r'href="/j/crawls~demo(/settings/form\?card=.*?)#(.*?)"', text)
        assert link is not None
        assert 'href="/j/crawls~demo">Overview' in text
        rule = await page_of(console, link[1])
        assert f'id="{link[2]}"' in rule
        assert "/calendar/" in rule
        listed = await page_of(console, "/frontier/change?action=exclude")
        stored = re.search(r'name="urls" value="([^"]*/calendar/[^"]*)"><button>Undo', listed)
        assert stored is not None
        undo = {"action": "include", "urls": html.unescape(stored[1]), **token}
        text = await settled(console, await console.client.post(f"{J}/frontier/change", data=undo))
        assert "The scope takes them again; 130 URIs that were deleted" in text
        listed = await page_of(console, "/frontier/change?action=exclude")
        assert 'value="include"' not in listed

    play(tmp_path, scene)


def test_a_count_is_that_of_now(tmp_path: Path):
    job = add_waiting_job(tmp_path)

    async def scene(console: GivenConsole, token: dict[str, str]) -> None:
        wish = {"action": "exclude", "urls": "/calendar/", "queues": "", **token}
        await settled(console, await console.client.post(f"{J}/frontier/preview", data=wish))
        urls = tmp_path / "more.txt"
        urls.write_text("http://c.test/calendar/1\n")
        assert (await asyncio.to_thread(nacre, "frontier", job, "import", urls)).code == 0
        text = await settled(console, await console.client.post(f"{J}/frontier/preview", data=wish))
        assert "Exclude, and delete 41 waiting URIs" in text

    play(tmp_path, scene)


@pytest.mark.parametrize(("name", "link"), [("/rili?", True), ("/rili/", True), ("/rili", False)])
def test_a_row_of_a_directory_or_program_leads_to_its_exclusion(name: str, link: bool):
    found = row_exclusion("crawls~demo", name, UrisPageQuery(queue="cn,example,"))
    assert ("rili" in found) is link


def test_rows_have_actions_a_delay_makes_a_sheet_and_files_come_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    job = add_waiting_job(tmp_path)

    async def scene(console: GivenConsole, token: dict[str, str]) -> None:
        form = {"action": "retire", "queues": "^test,gbk,$", "everything": "1", **token}
        done = await console.client.post(f"{J}/frontier/change", data=form)
        assert "1 queue was retired." in await settled(console, done)
        bad = await console.client.post(
            f"{J}/frontier/delay", data={"queue": "test,gbk,", "delay": "x", **token}
        )
        assert bad.status_code == 422
        done = await console.client.post(
            f"{J}/frontier/delay", data={"queue": "test,gbk,", "delay": "7.5", **token}
        )
        assert "The delay is set by a sheet" in await settled(console, done)
        lines = "http://gbk.test/新.html\nnot a url\n".encode("gbk")
        done = await console.client.post(
            f"{J}/frontier/import", data={"mode": "import", **token},
            files={"file": ("list.txt", lines)},
        )  # fmt: skip
        text = await settled(console, done)
        assert "1 URI was scheduled." in text
        assert "not a url" in text
        wrong = await console.client.post(
            f"{J}/frontier/import", data={"mode": "dance", **token}, files={"file": ("a", lines)}
        )
        assert (wrong.status_code, "there is no mode dance" in wrong.text) == (422, True)
        export = await console.client.get("/api/v1/jobs/crawls~demo/frontier/export?urls=gbk")
        assert f"F+ {GBK}" in export.text.splitlines()[0]
        assert UTF_8 not in export.text
        assert "attachment" in export.headers["content-disposition"]
        without = await console.client.post(f"{J}/frontier/change", data={"action": "wake"})
        assert without.status_code == 403

    play(tmp_path, scene)
    assert not list(tmp_path.glob("nacre-import-*"))
    assert "7.5" in (job / "crawl.yaml").read_text()


def test_the_tree_says_how_many_branches_it_leaves_out(tmp_path: Path):
    job = tmp_path / "crawls" / "demo"
    assert nacre("new", job, "http://127.0.0.1:9/").code == 0
    lines = tmp_path / "many.txt"
    # Two of the 103 have two URIs: they are the first ones.
    urls = [f"http://a.test/d{n % 103:03}/{n}" for n in range(105)]
    lines.write_text("\n".join(urls) + "\n")
    assert nacre("frontier", job, "import", lines).code == 0

    async def scene(console: GivenConsole, _: dict[str, str]) -> None:
        text = await page_of(console, "/uris?queue=test,a,")
        assert "3 more branches are not shown" in text
        assert "together 3." in text
        assert "/d099/" in text.partition('id="list"')[0]
        assert "/d100/" not in text.partition('id="list"')[0]
        assert "not shown" not in await page_of(console, "/uris?queue=test,a,&path=/d000/")

    play(tmp_path, scene)


def test_a_large_queue_is_counted_in_part_and_on_request_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    job = tmp_path / "crawls" / "demo"
    assert nacre("new", job, "http://127.0.0.1:9/").code == 0
    lines = tmp_path / "many.txt"
    lines.write_text("".join(f"http://a.test/通知/{n}\n" for n in range(30)), "utf-8")
    assert nacre("frontier", job, "import", lines).code == 0
    monkeypatch.setattr(
        tree, "ScanBudget", lambda rows=20, seconds=3600.0: ScanBudget(rows, seconds)
    )

    async def scene(console: GivenConsole, _: dict[str, str]) -> None:
        path = "/%E9%80%9A%E7%9F%A5/"
        text = await page_of(console, "/uris?" + urlencode({"queue": "test,a,", "path": path}))
        assert "These are the numbers of the first 20 URIs." in text
        whole = urlencode({"queue": "test,a,", "path": path, "whole": 1})
        assert f'href="?{html.escape(whole)}"' in text
        assert "the first" not in await page_of(console, f"/uris?{whole}")

    play(tmp_path, scene)


def test_more_hosts_than_a_page_shows_are_on_the_next(tmp_path: Path):
    job = tmp_path / "crawls" / "demo"
    assert nacre("new", job, "http://127.0.0.1:9/").code == 0
    lines = tmp_path / "many.txt"
    lines.write_text("".join(f"http://h{n:03}.test/\n" for n in range(130)))
    assert nacre("frontier", job, "import", lines).code == 0

    async def scene(console: GivenConsole, _: dict[str, str]) -> None:
        text = await page_of(console, "/uris?place=test,")
        more = re.search(r'href="(\?place=test%2C&amp;branch=[^"]+)">More branches', text)
        assert more is not None
        assert "h129" not in text.partition('id="list"')[0]
        following = await page_of(console, f"/uris{html.unescape(more[1])}")
        assert "h129" in following.partition('id="list"')[0]

    play(tmp_path, scene)


def test_the_tree_leads_to_hosts_and_paths(tmp_path: Path):
    add_waiting_job(tmp_path)

    async def scene(console: GivenConsole, _: dict[str, str]) -> None:
        assert 'href="?place=test%2C"' in await page_of(console, "/uris")
        assert 'href="?queue=test%2Cgbk%2C"' in await page_of(console, "/uris?place=test,")
        text = await page_of(console, "/uris?queue=test,example,a,&path=/docs/")
        assert "/docs/1.html" in text
        missing = await console.client.get(f"{J}/uris?queue=none,")
        assert missing.status_code == 404

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("expression", "url", "found"),
    [
        ("中国", GBK, True),
        ("中国", UTF_8, True),
        ("中国", GBK.lower(), True),
        ("中国.*html$", UTF_8, True),
        ("美国", UTF_8, False),
        ("[中国]", UTF_8, False),
        ("docs", "http://a.test/docs/", True),
    ],
)
def test_letters_mean_their_escapes(expression: str, url: str, found: bool):
    assert matcher(with_escapes(expression))(url) is found


@pytest.mark.parametrize(
    ("text", "url", "found"),
    [
        ("/rili?", "http://a.test/rili?y=2030", True),
        ("/rili?", "http://a.test/ril/1", False),
        ("/rili?", "http://a.test/rili/1", False),
        ("[中国]", "http://a.test/[%D6%D0%B9%FA].html", True),
        ("中国", UTF_8, True),
        ("", UTF_8, True),
    ],
)
def test_a_text_is_found_as_it_is(text: str, url: str, found: bool):
    assert matcher(containing(text))(url) is found


def test_what_is_typed_is_a_text_unless_a_regular_expression_is_chosen(tmp_path: Path):
    add_waiting_job(tmp_path)

    async def scene(console: GivenConsole, token: dict[str, str]) -> None:
        wish = {"action": "exclude", "urls": "2.html?", "queues": "", **token}
        text = await settled(console, await console.client.post(f"{J}/frontier/preview", data=wish))
        assert "Exclude, and delete 1 waiting URI" in text
        assert 'value="2.html?"' in text
        assert r'name="urls" value="2\.html\?"' in text
        wish |= {"kind": "regex", "urls": "[12].html?"}
        text = await settled(console, await console.client.post(f"{J}/frontier/preview", data=wish))
        assert "Exclude, and delete 2 waiting URIs" in text
        assert '<option value="regex" selected>' in text
        text = await page_of(console, "/frontier/change?action=exclude&urls=/rili")
        assert '<option value="regex">' in text
        text = await page_of(console, exclude_link("crawls~demo", "http://a.test/").removeprefix(J))
        assert '<option value="regex" selected>' in text

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("expression", "bare"),
    [
        ("/rili?", True),
        ("list.php?sid", True),
        (r"^https?://a\.test/rili\?", False),
        (r"(?:a|b)?c", False),
        (r"a+?", False),
        ("", False),
    ],
)
def test_a_question_mark_that_may_be_meant_as_it_is_gets_a_hint(expression: str, bare: bool):
    assert has_bare_mark(expression) == bare


def test_pages_of_queues_and_uris_lead_both_ways_and_to_a_key(tmp_path: Path):
    add_waiting_job(tmp_path)

    async def scene(console: GivenConsole, _: dict[str, str]) -> None:
        async def way(path: str, query: str, name: str) -> str:
            text = await page_of(console, f"{path}?{query}")
            found = re.search(rf'href="\?([^"]*)">{name} page', text)
            assert found is not None, name
            return html.unescape(found[1])

        async def queues(query: str) -> list[str]:
            return re.findall('data-queue="([^"]+)"', await page_of(console, f"/frontier?{query}"))

        everything = await queues("sort=name")
        assert len(everything) > 3
        first = await queues("sort=name&limit=2")
        following = await way("/frontier", "sort=name&limit=2", "Next")
        back = await way("/frontier", following, "Previous")
        assert (first, await queues(f"{back}&limit=2")) == (everything[:2], first)
        key = everything[2]
        assert (await queues(f"key={key}&limit=1")) == [key]
        assert (await queues(await way("/frontier", f"key={key}&limit=1", "Previous"))) == first
        uris = await page_of(console, "/uris?limit=9")
        second = await way("/uris", "limit=9", "Next")
        third = await way("/uris", f"{second}&limit=9", "Next")
        assert (await way("/uris", third, "Previous")) == second
        assert await way("/uris", second, "Previous") == ""
        assert uris.count('<th scope="row" class="url"><a href="/j/crawls~demo/url') == 9

    play(tmp_path, scene)


def test_the_row_of_a_queue_has_its_commands(tmp_path: Path):
    root = add_waiting_job(tmp_path)

    async def scene(console: GivenConsole, _: dict[str, str]) -> None:
        page = html.unescape(await page_of(console, "/frontier"))
        assert f"nacre frontier {root} wake --queue '^test,example,b,$'" in page
        delay = f"nacre set {root} politeness.delay=VALUE --for http://b.example.test/"
        assert delay in page

    play(tmp_path, scene)
