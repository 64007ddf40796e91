import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import pytest

from nacre.console.jobs.overview import SLOTS, fetches
from nacre.console.rendering import environment
from nacre.fleet import launch
from nacre.fleet.launch import LaunchFacts
from nacre.fleet.requester import Requester
from nacre.fleet.snapshot import FetchSlot, ToeList
from nacre.job.control import ControlServer
from nacre.job.lately import FetchedPlace
from nacre.job.overview import FetchInProcess, JobOverview
from nacre.machine.layout import Layout
from nacre.ops.operation import Role
from tests.cli.site import many_pages, nacre, site
from tests.console.given import GivenConsole, play, streaming

QUICK = ("--set", "politeness.delay=0")
TOES = [
    FetchSlot(n, f"http://a.test/{n}/<b>", "L", "http://a.test/", 0, "fetch", 2.5)
    for n in range(10)
]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("overview")
    with site(many_pages(20)) as url:
        assert nacre("crawl", url, "--out", folder / "crawls" / "demo", "-q", *QUICK).code == 0
    log = folder / "crawls" / "demo" / "latest" / "logs" / "alerts.log"
    log.write_text("".join(f"2026-11-20T15:11:0{n}Z WARNING <i>{n}</i>\n" for n in range(5)))
    return folder


@asynccontextmanager
async def at_work(root: Path) -> AsyncIterator[None]:
    """While the block runs, the job answers as one that crawls."""
    named = Layout(root).socket
    named.parent.mkdir(exist_ok=True)
    overview = JobOverview("RUNNING", parallel=25, busy=10, queued=600, finished=50)
    answers: dict[str, dict[str, Any]] = {
        "toes": msgspec.to_builtins(ToeList(25, 0.0, tuple(TOES))),
        "status": {"overview": msgspec.to_builtins(overview), "slowest": [], "fetching": []},
    }
    connections: set[asyncio.Task[Any] | None] = set()

    async def answer(request: Any) -> dict[str, Any]:
        connections.add(asyncio.current_task())
        return answers[request["command"]]

    server = ControlServer(named, dict.fromkeys(answers, answer), lambda *_: "")
    await server.start()
    try:
        yield
    finally:
        await server.close()
        await asyncio.gather(*filter(None, connections))


def test_a_job_at_work_shows_charts_fetches_alerts_and_the_log(crawled: Path):
    async def scene(console: GivenConsole) -> None:
        async with at_work(crawled / "crawls" / "demo"):
            fields = console.as_session(Role.VIEWER)
            page = (await console.client.get("/j/crawls~demo", headers=fields)).text
        for name in ("uris", "bytes"):
            assert f'id="chart-{name}"' in page
        assert 'id="chart-busy"' not in page
        assert page.count("http://a.test/") == SLOTS
        assert "http://a.test/0/&lt;b&gt;" in page
        assert '<a href="/j/crawls~demo/watch#slots">All 10 fetches</a>' in page

    play(crawled, scene)


def test_a_job_at_rest_shows_its_last_alerts_and_lines(crawled: Path):
    async def scene(console: GivenConsole) -> None:
        fields = console.as_session(Role.VIEWER)
        page = (await console.client.get("/j/crawls~demo", headers=fields)).text
        assert "data-chart" not in page
        places = [page.index(f"&lt;i&gt;{n}&lt;/i&gt;") for n in (4, 3, 2)]
        assert places == sorted(places)
        assert "&lt;i&gt;1&lt;/i&gt;" not in page
        assert page.count("data-offset=") == 12
        async with (
            streaming(console) as client,
            client.stream("GET", "/live/j/crawls~demo", headers=fields) as answer,
        ):
            lines = answer.aiter_lines()
            part = ""
            while line := await anext(lines):
                part += line
        assert part.count("data-offset=") == 12
        assert "&lt;i&gt;4&lt;/i&gt;" in part

    play(crawled, scene)


@pytest.mark.parametrize(("role", "links"), [(Role.VIEWER, 0), (Role.OPERATOR, 1)])
def test_a_viewer_is_told_which_role_a_lever_needs(crawled: Path, role: Role, links: int):
    async def scene(console: GivenConsole) -> None:
        page = (await console.client.get("/j/crawls~demo", headers=console.as_session(role))).text
        lever = page.partition('data-lever="recrawl">')[2].partition("</span>")[0]
        assert lever.count('<a href="/j/crawls~demo#first-actions">') == links
        assert "Recrawl" in lever
        assert ("With the role operator:" in page) is not bool(links)
        history = await console.client.get(
            "/j/crawls~demo/settings/history", headers=console.as_session(role)
        )
        assert history.text.count("Undo an exclusion") == links
        wizard = await console.client.get(
            "/j/crawls~demo/frontier/change?action=exclude", headers=console.as_session(role)
        )
        assert ("With your role this counts" in wizard.text) is not bool(links)
        queues = await console.client.get(
            "/j/crawls~demo/frontier", headers=console.as_session(role)
        )
        assert queues.text.count("Exclude or delete") == links

    play(crawled, scene)


PLACES = (FetchedPlace("http://a.test/rili/", 0.7), FetchedPlace("http://a.test/news/", 0.3))


def test_a_place_is_excluded_from_a_menu_and_by_operators():
    template = environment("en").from_string(
        "{% from 'overview_macros.html' import fetched_lately %}{{ fetched_lately(rows, who) }}"
    )
    rows = [(one, f"/exclude/{one.share}") for one in PLACES]
    shown = template.render(rows=rows, who=Requester("anna", Role.OPERATOR))
    menus = re.findall(r"<details.*?</details>", shown, re.DOTALL)
    assert ["/exclude/0.7" in menus[0], "/exclude/0.3" in menus[1]] == [True, True]
    assert shown.count("Exclude it") == len(menus) == 2
    looked = template.render(rows=rows, who=Requester("anna", Role.VIEWER))
    assert "Exclude it" not in looked
    assert "http://a.test/rili/" in looked


def test_without_a_run_there_are_no_lines(tmp_path: Path):
    assert nacre("new", tmp_path / "crawls" / "demo", "http://127.0.0.1:9/").code == 0

    async def scene(console: GivenConsole) -> None:
        page = (await console.client.get("/j/crawls~demo", headers=console.as_session())).text
        assert 'id="alerts"' not in page
        assert "data-offset=" not in page

    play(tmp_path, scene)


def test_the_longest_fetches_stand_in_for_those_that_are_not_known_yet():
    longest = [FetchInProcess("http://a.test/", 3.0)]
    assert [(one.url, one.step) for one in fetches(None, longest)] == [("http://a.test/", "")]
    assert len(fetches(ToeList(25, 0.0, tuple(TOES)), longest)) == SLOTS
    assert fetches(ToeList(25, 0.0, ()), longest) == []


def test_a_job_that_is_over_leads_to_the_calendar_with_itself_chosen(crawled: Path):
    async def scene(console: GivenConsole) -> None:
        client, link = console.client, 'href="/calendar?job=crawls~demo#edit"'
        steer = console.as_session(Role.OPERATOR)
        assert link in (await client.get("/j/crawls~demo", headers=steer)).text
        looked = await client.get("/j/crawls~demo", headers=console.as_session(Role.VIEWER))
        assert link not in looked.text
        form = (await client.get("/calendar?job=crawls~demo", headers=steer)).text
        assert (
            '<option value="crawls~demo" selected>demo</option>' in form.partition('id="s-job"')[2]
        )

    play(crawled, scene)


def test_a_job_that_never_ran_does_not_lead_to_the_calendar(tmp_path: Path):
    assert nacre("new", tmp_path / "crawls" / "demo", "http://127.0.0.1:9/").code == 0

    async def scene(console: GivenConsole) -> None:
        fields = console.as_session(Role.OPERATOR)
        page = (await console.client.get("/j/crawls~demo", headers=fields)).text
        assert "/calendar?job=" not in page

    play(tmp_path, scene)


def test_a_job_that_was_started_is_not_offered_for_deletion(tmp_path: Path):
    root = tmp_path / "crawls" / "demo"
    assert nacre("new", root, "http://127.0.0.1:9/").code == 0
    offer, removal = "It never ran. Its settings", "Remove from the console"

    async def scene(console: GivenConsole) -> None:
        client, fields = console.client, console.as_session(Role.OPERATOR)

        async def page() -> str:
            return (await client.get("/j/crawls~demo", headers=fields)).text

        text = await page()
        live = text.partition("data-live=")[2]
        assert offer in live
        assert removal in live
        assert (
            offer
            not in (
                await client.get("/j/crawls~demo", headers=console.as_session(Role.VIEWER))
            ).text
        )
        with patch.object(console.parts.launcher, "facts", return_value=LaunchFacts("starting")):
            assert offer not in await page()
        (root / "runs" / "20261124").mkdir(parents=True)
        text = await page()
        assert removal in text
        assert offer not in text
        (root / "runs" / "20261124").rmdir()
        async with at_work(root):
            await console.parts.common.poller.look(console.parts.common.fleet.jobs[0])
            text = await page()
            assert offer not in text
            assert removal not in text
            wish, key = {"name": "demo"}, console.as_key(Role.OPERATOR)
            refused = await client.post("/api/v1/jobs/crawls~demo/forget", json=wish, headers=key)
            assert (refused.status_code, refused.json()["code"]) == (409, "running")

    play(tmp_path, scene)


def test_the_entry_of_the_menu_that_a_page_belongs_to_is_marked(crawled: Path):
    async def scene(console: GivenConsole) -> None:
        fields = console.as_session(Role.ADMIN)
        for path, entry in (
            ("/", "/"),
            ("/j/crawls~demo", "/"),
            ("/new", "/new"),
            ("/calendar", "/calendar"),
            ("/profiles", "/profiles"),
            ("/admin", "/admin"),
            ("/account", ""),
        ):
            text = (await console.client.get(path, headers=fields)).text
            menu = text.partition("<nav")[2].partition("</nav>")[0]
            marked = re.findall(r'href="([^"]+)" aria-current="true"', menu)
            assert marked == ([entry] if entry else []), path

    play(crawled, scene)


def test_a_job_whose_process_begins_is_preparing_with_the_numbers_of_the_run_before(crawled: Path):
    class Process:
        offset = 0
        answered = False
        ended: int | None = None

        def code(self) -> int | None:
            return self.ended

    async def scene(console: GivenConsole) -> None:
        parts, fields = console.parts, console.as_session(Role.VIEWER)
        (job,), process = parts.common.fleet.jobs, Process()
        await parts.common.poller.look(job)
        before = parts.common.poller.snapshot(job)
        assert before.overview is not None
        with patch.object(launch, "start_process", return_value=process):
            await parts.launcher.order(job, ["recrawl"])
        await parts.common.poller.look(job)
        seen = parts.common.poller.snapshot(job)
        assert (seen.state, seen.running) == ("PREPARING", False)
        assert seen.overview == msgspec.structs.replace(before.overview, state="PREPARING")
        page = (await console.client.get("/j/crawls~demo", headers=fields)).text
        assert "Its process is being started." in page
        assert "Preparing" in page
        process.ended = 0
        await parts.launcher.turn()
        assert parts.common.poller.begun == set()
        assert parts.common.poller.snapshot(job).overview == before.overview
        assert parts.launcher.facts(job) is None

    play(crawled, scene)


def test_a_url_of_a_run_that_is_over_says_why_it_cannot_be_fetched_again(crawled: Path):
    async def scene(console: GivenConsole) -> None:
        fields = console.as_session(Role.OPERATOR)
        url, why = "http://127.0.0.1/", "its run has ended; start a recrawl to fetch again"
        for path in (f"/url?u={url}", "/seeds"):
            page = await console.client.get(f"/j/crawls~demo{path}", headers=fields)
            assert page.status_code == 200
            assert f'type="button" aria-disabled="true" title="{why}"' in page.text, path
        page = await console.client.get(f"/j/crawls~demo/url?u={url}&lang=zh_CN", headers=fields)
        assert "本次运行已结束" in page.text

    play(crawled, scene)
