import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from nacre.console.access.roles import Role
from nacre.console.api.results import form_wanted
from tests.cli.site import nacre, site
from tests.console.given import LONG, GivenConsole, given_console
from tests.console.waiting import GBK, add_waiting_job

J = "/j/crawls~demo"
API = "/api/v1/jobs/crawls~demo"


def play(folder: Path, scene: Callable[[GivenConsole, dict[str, str]], Awaitable[None]]) -> None:
    async def played() -> None:
        async with given_console(folder) as console:
            console.client.headers.update(console.as_session(Role.OPERATOR))
            token = console.client.headers.pop("x-nacre-token")
            await scene(console, {"x-nacre-token": token})

    asyncio.run(played())


def test_the_results_of_a_crawl_are_pages_linked_both_ways(tmp_path: Path):
    crawls = tmp_path / "crawls"
    crawls.mkdir()
    with site() as url:
        job = crawls / "demo"
        assert (
            nacre("new", job, url, f"{url}missing.html", "--set", "politeness.delay=0s").code == 0
        )
        assert nacre("run", job).code == 0

    async def scene(console: GivenConsole, _: dict[str, str]) -> None:
        async def page(path: str, **query: str) -> str:
            answer = await console.client.get(J + path, params=query)
            assert answer.status_code == 200, (path, answer.text)
            return answer.text

        seeds = await page("/seeds")
        assert f"{url}missing.html" in seeds
        missing = await page("/seeds", state="not crawled")
        assert 'data-state="error"' in missing
        assert 'data-state="got"' not in missing
        explained = await page("/url", u=f"{url}a.html")
        assert "It was processed." in explained
        assert "/reports/timeline?u=" in explained
        refused = await page("/url", u="http://elsewhere.test/")
        assert "the scope refused it" in refused
        nowhere = await console.client.get(f"{J}/url", params={"u": "http://[/"})
        assert nowhere.status_code == 422
        for name in ("crawl-summary", "seeds", "hosts", "mimetype", "responsecode", "run"):
            assert "</table>" in await page(f"/reports/{name}"), name
        hosts = await page("/reports/mimetype", table="0", sort="0", falling="1")
        assert 'aria-sort="descending"' in hosts
        assert "/reports/crawl-summary" in await page("/reports")
        assert "FINISHED" in await page("/runs")
        assert "There are no checkpoints yet" in await page("/checkpoints")
        assert "crawl.log" in await page("/files")

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


def test_seeds_that_wait_are_retried_and_new_ones_come_in(tmp_path: Path):
    add_waiting_job(tmp_path)

    async def scene(console: GivenConsole, token: dict[str, str]) -> None:
        page = await console.client.get(f"{J}/seeds", params={"state": "not crawled"})
        assert "not tried yet" in page.text
        form = {"lines": "http://new.test/\nhttp://[/\n", **token}
        answer = await console.client.post(f"{J}/seeds", data=form)
        task = console.services.tasks.task(answer.headers["location"].rpartition("/")[2])
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
