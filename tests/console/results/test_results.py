import asyncio
import re
from collections.abc import Awaitable, Callable
from html import unescape
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

import pytest

from nacre.console.results.reports import form_wanted
from nacre.inspect.analysis.wording import FOUND
from nacre.ops.operation import Role
from tests.cli.site import nacre, site
from tests.console.given import LONG, GivenConsole, given_console
from tests.console.waiting import GBK, add_waiting_job
from tests.crawl.raw_site import raw_site, reply

J = "/j/crawls~demo"
API = "/api/v1/jobs/crawls~demo"


class ReadPage(Protocol):
    """Reads a page of the job."""

    async def __call__(self, path: str, **query: str) -> str: ...


def play(folder: Path, scene: Callable[[GivenConsole, dict[str, str]], Awaitable[None]]) -> None:
    async def played() -> None:
        async with given_console(folder) as console:
            console.client.headers.update(console.as_session(Role.OPERATOR))
            token = console.client.headers.pop("x-nacre-token")
            await scene(console, {"x-nacre-token": token})

    asyncio.run(played())


def bare_moments(text: str) -> list[str]:
    """The moments of a page that no script turns into the zone of who looks."""
    shown = re.sub(r"<time [^>]*>[^<]*</time>|<[^>]*>", "", text)
    return re.findall(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^<]{0,20}", shown)


async def runs_are_compared(console: GivenConsole) -> None:
    """Any two runs, which a form chooses."""
    compared = await console.client.get(f"{J}/reports/compare", params={"old": "1", "new": "2"})
    assert "0 changed" in compared.text
    assert 'name="old" value="1"' in compared.text
    none = await console.client.get(f"{J}/reports/compare", params={"old": "7"})
    assert "there is no run 7; the runs are: 1 (" in none.text


async def sections_are_pages(console: GivenConsole, page: ReadPage, url: str) -> None:
    """The report of sections leads to those within one, and takes a directory."""
    sections = await page("/reports/sections")
    assert f'/reports/sections?u={quote(url, safe="")}">{url}<' in sections
    assert f">{url}<" in await page("/reports/sections", u=url.removeprefix("http://"))
    none = await page("/reports/sections", u="/nowhere/")
    assert "No run has visited a page there." in none
    assert 'value="/nowhere/"' in none
    wrong = await console.client.get(f"{J}/reports/sections", params={"u": "http://[/"})
    assert (wrong.status_code, "is no directory of a site" in wrong.text) == (409, True)
    spoken = {"accept-language": "zh-CN"}
    chinese = await console.client.get(f"{J}/reports/sections", headers=spoken)
    assert "各栏目的页面" in chinese.text
    assert "每个网址只计一次" in chinese.text


async def captures_are_linked(page: ReadPage, url: str) -> None:
    """The URLs of pages lead to their captures."""
    for path in ("/seeds", "/reports/sections", "/log"):
        assert f"{J}/captures?q=" in await page(path), path
    assert f"{J}/captures?q=" in await page("/url", u=url)
    assert "%2A" in await page("/reports/sections")
    captures = await page("/captures", q=f"{url}a.html")
    assert captures.count('name="id"') == 2


async def preferences_are_shown(page: ReadPage, explained: str, url: str) -> None:
    """The page of a URL has its preferences, and leads to their report."""
    assert "train-ai none" in explained
    assert f"{J}/reports/rights?u=" in explained
    assert "robots.txt" in await page("/reports/rights", u=f"{url}a.html")


def test_the_results_of_a_crawl_are_pages_linked_both_ways(tmp_path: Path):
    crawls = tmp_path / "crawls"
    crawls.mkdir()
    with site() as url:
        job = crawls / "demo"
        assert (
            nacre("new", job, url, f"{url}missing.html", "--set", "politeness.delay=0s").code == 0
        )
        assert nacre("run", job).code == 0
        assert nacre("recrawl", job, "--full").code == 0

    async def scene(console: GivenConsole, _: dict[str, str]) -> None:
        async def page(path: str, **query: str) -> str:
            answer = await console.client.get(J + path, params=query)
            assert answer.status_code == 200, (path, answer.text)
            return answer.text

        seeds = await page("/seeds")
        assert f"{url}missing.html" in seeds
        assert 'rel="next"' in await page("/seeds", limit="1")
        assert f"{url}missing.html" not in await page("/seeds", contains="nothing like it")
        assert f"{url}missing.html" in await page("/seeds", contains="missing.h")
        missing = await page("/seeds", state="not crawled")
        assert 'data-state="error"' in missing
        assert 'data-state="got"' not in missing
        explained = await page("/url", u=f"{url}a.html")
        assert "It was processed." in explained
        assert "/reports/timeline?u=" in explained
        await preferences_are_shown(page, explained, url)
        refused = await page("/url", u="http://elsewhere.test/")
        assert "the scope refused it" in refused
        nowhere = await console.client.get(f"{J}/url", params={"u": "http://[/"})
        assert nowhere.status_code == 422
        for name in ("crawl-summary", "seeds", "hosts", "mimetype", "responsecode", "run"):
            assert "</table>" in await page(f"/reports/{name}"), name
        await sections_are_pages(console, page, url)
        await runs_are_compared(console)
        await captures_are_linked(page, url)
        hosts = await page("/reports/mimetype", table="0", sort="0", falling="1")
        assert 'aria-sort="descending"' in hosts
        assert "/reports/crawl-summary" in await page("/reports")
        assert "Finished" in await page("/runs")
        assert "There are no checkpoints yet" in await page("/checkpoints")
        assert "crawl.log" in await page("/files")
        for path in ("/runs", "/files", "/seeds", "/log", "/frontier", "/uris", "", "/watch"):
            assert not bare_moments(await page(path)), path
        assert not bare_moments(await page("/url", u=f"{url}a.html"))

    play(tmp_path, scene)


def test_the_page_of_a_url_says_which_key_signs(tmp_path: Path):
    job, key = tmp_path / "crawls" / "demo", tmp_path / "key.pem"
    with site() as url:
        assert nacre("new", job, url, "--set", "politeness.delay=0s").code == 0
        assert nacre("identity", "new", key).code == 0
        with (job / "crawl.yaml").open("a") as file:
            file.write(f"\nidentity: {{key: {{file: {key}}}, directory: https://b.test}}\n")
        assert nacre("run", job).code == 0

    async def scene(console: GivenConsole, _: dict[str, str]) -> None:
        explained = (await console.client.get(f"{J}/url", params={"u": f"{url}a.html"})).text
        assert "Signed requests" in explained
        assert re.search(signing, explained)

    signing = r"by the key [\w-]{43} \(file crawl[.]yaml:\d+\)"
    play(tmp_path, scene)
    key.unlink()
    signing = (
        r"yes; the console cannot read the key {file: [^}]*/key[.]pem} \(file crawl[.]yaml:\d+\)"
    )
    play(tmp_path, scene)


def test_a_page_of_a_single_full_run_leads_to_the_studies_that_can_answer(tmp_path: Path):
    crawls = tmp_path / "crawls"
    crawls.mkdir()
    with site() as url:
        job = crawls / "demo"
        assert nacre("new", job, url, "--set", "politeness.delay=0s").code == 0
        assert nacre("run", job).code == 0

    async def scene(console: GivenConsole, _: dict[str, str]) -> None:
        query = {"u": f"{url}a.html"}
        explained = (await console.client.get(f"{J}/url", params=query)).text
        for study in re.findall(r'href="([^"]*/reports/[^"]*[?]u=[^"]*)"', explained):
            assert (await console.client.get(unescape(study))).status_code == 200, study
        assert "/reports/timeline?u=" in explained
        assert "/reports/diff?u=" not in explained
        assert "the archive has no two versions of it" in explained
        assert "no recrawl has looked at it yet" in explained
        assert "No visits are known." not in explained
        assert re.search(r'<td>1</td><td>[^<]</td><td class="number">200</td>', explained)
        timeline = await console.client.get(f"{J}/reports/timeline", params=query)
        assert "in full" in timeline.text
        for name, reason in (("diff", "no two versions"), ("decisions", "incremental crawling")):
            refused = await console.client.get(f"{J}/reports/{name}", params=query)
            assert (refused.status_code, reason in refused.text) == (409, True)
            assert f'href="{J}/runs"' in refused.text, "the tabs of the job"
        nothing = (await console.client.get(f"{J}/url", params={"u": f"{url}never"})).text
        assert not re.search(r"/reports/[^\"]*[?]u=", nothing)
        assert "Error replies: without robots.txt" in (await console.client.get(f"{J}/runs")).text

    play(tmp_path, scene)


def test_asvs_5_4_reports_come_as_accept_wants_and_files_in_ranges(tmp_path: Path):
    job = add_waiting_job(tmp_path)

    async def scene(console: GivenConsole, _: dict[str, str]) -> None:
        get = console.client.get
        path = f"{API}/reports/seeds"
        data = await get(path, headers={"accept": "application/json"})
        assert data.json()["report"] == "seeds"
        table = await get(path, headers={"accept": "text/csv"})
        assert table.headers["content-type"] == "text/csv; charset=utf-8"
        text = await get(path, headers={"accept": "text/plain"})
        assert "http://127.0.0.1:9/" in text.text
        html = await get(path, params={"form": "html"})
        assert html.headers["content-disposition"].startswith("attachment")
        assert (await get(f"{API}/studies/none")).status_code == 409
        files = (await get(f"{API}/files")).json()["items"]
        log = next(one["path"] for one in files if one["path"].endswith("job.log"))
        whole = await get(f"{API}/files/{log}")
        assert whole.content == (job / log).read_bytes()
        assert whole.headers["content-type"] == "application/octet-stream"
        part = await get(f"{API}/files/{log}", headers={"range": "bytes=2-5"})
        assert (part.status_code, part.content) == (206, whole.content[2:6])
        behind = await get(f"{API}/files/{log}", headers={"range": f"bytes={1 << 40}-"})
        assert behind.status_code == 416
        (job / log).with_name("link.log").symlink_to("/etc/passwd")
        for hidden in ("state/control", "crawl.yaml", f"{log}/../../../../crawl.yaml", log + "x",
                       log.replace("job.log", "link.log"), "latest/logs/job.log"):  # fmt: skip
            assert (await get(f"{API}/files/{hidden}")).status_code == 404, hidden

    play(tmp_path, scene)


def test_going_back_to_a_checkpoint_is_offered_where_it_is_possible(tmp_path: Path):
    jobs = [add_waiting_job(tmp_path, name) for name in ("demo", "ended")]
    for job in jobs:
        made = job / "state" / "checkpoints" / "cp00001-20261124051642"
        made.mkdir(parents=True)
        (made / "CURRENT").touch()
    assert nacre("end", jobs[1]).code == 0

    async def scene(console: GivenConsole, token: dict[str, str]) -> None:
        get, post = console.client.get, console.client.post
        stopped = await get(f"{J}/checkpoints")
        assert "Go back to cp00001-20261124051642" in stopped.text
        assert "cannot go back" not in stopped.text
        over = await get("/j/crawls~ended/checkpoints")
        assert "cp00001-20261124051642" in over.text
        assert "Go back to" not in over.text
        reason = "its run has ended; start a recrawl to fetch again"
        assert f"The job cannot go back now: {reason}" in over.text
        form = {**token, "checkpoint": "cp00001-20261124051642"}
        refused = await post("/j/crawls~ended/checkpoints", data=form)
        assert (refused.status_code, "its run has ended" in refused.text) == (409, True)

    play(tmp_path, scene)


def test_files_are_paged_and_filtered_by_run(tmp_path: Path):
    job = add_waiting_job(tmp_path)
    runs = [path.name for path in (job / "runs").iterdir()]
    for run in ("20200101T000000Z", "20210101T000000Z"):
        logs = job / "runs" / run / "logs"
        logs.mkdir(parents=True)
        for number in range(60):
            (logs / f"part-{number:02}.log").write_text(run)

    async def scene(console: GivenConsole, _: dict[str, str]) -> None:
        paths, after = list[str](), ""
        while True:
            answer = await console.client.get(f"{API}/files", params={"after": after, "limit": 50})
            found = answer.json()
            paths += [one["path"] for one in found["items"]]
            if found["next"] is None:
                break
            after = found["next"]
        assert len(set(paths)) == len(paths)
        assert sum("/part-" in path for path in paths) == 120
        assert paths[-1] == "runs/20200101T000000Z/logs/part-59.log"
        wrong = await console.client.get(f"{API}/files", params={"after": "AAAA"})
        assert (wrong.status_code, wrong.json()["code"]) == (400, "bad-cursor")
        first = (await console.client.get(f"{J}/files?run=20210101T000000Z")).text
        assert first.count("download>") == 50
        assert "<option selected>20210101T000000Z</option>" in first
        assert all(f"<option>{run}</option>" in first for run in [*runs, "20200101T000000Z"])
        following = re.search(r'rel="next" href="([^"]+)"', first)
        assert following is not None
        last = await console.client.get(f"{J}/files{unescape(following[1])}")
        assert last.text.count("download>") == 10
        assert "part-59.log" in last.text
        assert 'rel="next"' not in last.text
        assert 'rel="prev"' in last.text
        none = await console.client.get(f"{J}/files?run=20190101T000000Z")
        assert "There are no files here." in none.text

    play(tmp_path, scene)


def test_seeds_that_wait_are_retried_and_new_ones_come_in(tmp_path: Path):
    add_waiting_job(tmp_path)

    async def scene(console: GivenConsole, token: dict[str, str]) -> None:
        page = await console.client.get(f"{J}/seeds", params={"state": "not crawled"})
        assert "not tried yet" in page.text
        form = {"lines": "http://new.test/\nhttp://[/\n", **token}
        answer = await console.client.post(f"{J}/seeds", data=form)
        task = console.parts.common.tasks.task(answer.headers["location"].rpartition("/")[2])
        await task.wait(LONG)
        assert task.problem is None
        assert task.result["changed"] == 1
        assert len(task.result["rejected"]) == 1
        listed = (await console.client.get(f"{API}/seeds")).json()
        assert [one["url"] for one in listed["items"]] == [
            "http://127.0.0.1:9/",
            "http://new.test/",
        ]
        found = await console.client.get(f"{API}/explain", params={"u": GBK})
        assert found.json()["explanation"]["standing"] == "queued"
        readable = await console.client.get(
            f"{API}/explain", params={"u": "http://gbk.test/中国/文.html"}
        )
        assert readable.json()["explanation"]["url"] == GBK

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", "json"),
        ("*/*", "json"),
        ("text/csv", "csv"),
        ("text/html,application/xhtml+xml;q=0.9", "html"),
        ("text/html;q=0.5, text/plain", "text"),
        ("text/html;q=x", "json"),
    ],
)
def test_the_form_of_a_report_is_the_one_that_is_wanted_most(accept: str, form: str):
    assert form_wanted(accept) == form


async def runs_are_on_pages(console: GivenConsole, names: list[str]) -> None:
    """Each run is on one page, also where a new one begins meanwhile: it is before the first."""
    found, after = list[str](), ""
    while True:
        answer = await console.client.get(f"{API}/runs", params={"after": after, "limit": 2})
        listed = answer.json()
        found += [one["name"] for one in listed["items"]]
        if listed["next"] is None:
            break
        after = listed["next"]
    assert found == names
    first = (await console.client.get(f"{J}/runs?limit=2")).text
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following is not None
    second = (await console.client.get(f"{J}/runs{unescape(following[1])}")).text
    assert [f"/reports/run?run={name}" in first for name in names] == [True, True, False]
    assert [f"/reports/run?run={name}" in second for name in names] == [False, False, True]
    assert 'rel="prev"' in second


def test_each_run_keeps_its_numbers(tmp_path: Path):
    root = tmp_path / "crawls" / "demo"
    root.parent.mkdir()
    pages = {
        "/": '<a href="a.html">a</a><a href="b.html">b</a>',
        "/a.html": "one",
        "/b.html": "two",
    }
    with site(pages) as url:
        assert nacre("crawl", url, "--delay", 0, "--out", root, "-q").code == 0
        pages["/"] += '<a href="c.html">c</a>'
        pages["/c.html"] = "three"
        assert nacre("recrawl", root, "-q", "--set", "recrawl.recall=1").code == 0
        assert nacre("recrawl", root, "-q", "--full").code == 0

    async def scene(console: GivenConsole, _: dict[str, str]) -> None:
        answer = await console.client.get(f"{API}/runs")
        third, second, first = answer.json()["items"]
        assert first["got"]["documents"] == 3, "the store has the numbers of the last run alone"
        assert first["found"] == {}
        assert second["found"]["new"] == 1
        assert (third["got"]["documents"], third["found"]) == (4, {})
        await runs_are_on_pages(console, [third["name"], second["name"], first["name"]])
        page = (await console.client.get(f"{J}/runs")).text
        assert 'rel="next"' not in page
        assert "documents: 3" in page
        assert "not compared" in page
        seeds = (await console.client.get(f"{API}/seeds")).json()["items"]
        assert [one["tries"] for one in seeds] == [1]
        explained = (await console.client.get(f"{API}/explain", params={"u": url})).json()
        times = [visit["time"] for visit in explained["visits"]]
        assert times
        assert all(visit["verdict"] in FOUND for visit in explained["visits"])
        assert all(visit["size"] > 0 for visit in explained["visits"])
        shown = (await console.client.get(f"{J}/url", params={"u": url})).text
        assert f"<td>{FOUND[explained['visits'][-1]['verdict']]}</td>" in shown
        assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", time) for time in times)
        (root / "runs" / first["name"] / "reports" / "crawl-report.json").write_text("[")
        later = (await console.client.get(f"{API}/runs")).json()["items"]
        assert later[-1]["got"] == {}

    play(tmp_path, scene)


def test_withheld_replies_and_seeds_are_shown_as_such(tmp_path: Path):
    crawls = tmp_path / "crawls"
    crawls.mkdir()
    with raw_site() as server:
        robots = "User-agent: *\nContent-Signal: search=yes, ai-train=no\n"
        server.replies = {
            "/robots.txt": reply(robots, "text/plain"),
            "/": reply("<p>页面</p>", "text/html"),
        }
        url, job = f"{server.origin}/", crawls / "demo"
        assert nacre("new", job, url, "--set", "rights.enforce=[train-ai=n]").code == 0
        assert nacre("run", job).code == 0

    async def scene(console: GivenConsole, _: dict[str, str]) -> None:
        overview = (await console.client.get(J)).text
        assert "0 of 1 seed captured" in overview
        told = re.findall(r"(\d+) (?:reply|replies) withheld, not in the archive", overview)
        assert (len(told), len(set(told))) == (2, 1), told  # the diagnosis, and a tile
        seeds = (await console.client.get(f"{J}/seeds", params={"state": "withheld"})).text
        assert 'data-state="withheld"' in seeds
        assert "withheld by rights.enforce: train-ai=n" in seeds
        assert f"{J}/captures?q=" not in seeds
        spoken = {"accept-language": "zh-CN"}
        chinese = (await console.client.get(J, headers=spoken)).text
        assert chinese.count("个应答按偏好未存入归档") == 2

    play(tmp_path, scene)
