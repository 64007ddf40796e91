"""Batch rounds as a job of the console, with real rounds on a loopback server."""

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nacre.cli.cycle.texts import fetch_progress_text
from nacre.console.routes import API
from nacre.machine.layout import Layout
from nacre.ops.operation import Role
from nacre.rounds.journal import JournalFile, RoundsJournal
from nacre.rounds.rounds_mark import RoundsMark, StepProgress, fetch_step, rounds_mark
from nacre.rounds.segments.fetch_progress import FetchProgress
from tests.cli.site import nacre, site
from tests.console.given import LONG, GivenConsole, given_console

PAGES = {"/": '<a href="/a.html">a</a><a href="/b.html">b</a>', "/a.html": "a", "/b.html": "b",
         "/robots.txt": ""}  # fmt: skip
JOB = "crawls~demo"


def play(folder: Path, scene: Callable[[GivenConsole], Awaitable[None]]) -> None:
    async def played() -> None:
        async with given_console(folder) as console, asyncio.TaskGroup() as group:
            launcher = group.create_task(console.parts.launcher.run())
            await scene(console)
            launcher.cancel()

    asyncio.run(played())


@pytest.fixture(scope="module")
def first_round(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A site, and a batch crawl of it with a round behind it and three URLs that are due."""
    job = tmp_path_factory.mktemp("rounds") / "demo"
    with site(PAGES) as url:
        done = nacre("cycle", job, "-s", url, "--rounds", "1", "--units", "1", "--delay", "0",
                     "--set", "cycle.buckets=1")  # fmt: skip
        assert done.code == 0, done
        yield url, job


@pytest.fixture
def site_and_job(tmp_path: Path, first_round: tuple[str, Path]) -> tuple[str, Path]:
    """The site, and a copy of the crawl for this test."""
    url, made = first_round
    job = tmp_path / "crawls" / "demo"
    shutil.copytree(made, job, symlinks=True)
    return url, job


async def ask(console: GivenConsole, action: str, **body: object) -> Any:
    fields = console.as_key(Role.OPERATOR)
    return await console.client.post(f"{API}/jobs/{JOB}/{action}", json=body, headers=fields)


async def facts(console: GivenConsole) -> Any:
    await console.parts.common.poller.look(console.parts.common.fleet.job(JOB))
    answer = await console.client.get(f"{API}/jobs/{JOB}", headers=console.as_key())
    assert answer.status_code == 200, answer.text
    return answer.json()


async def until_two_are_done(console: GivenConsole) -> None:
    """Wait until two rounds are done and their process has ended."""
    job = console.parts.common.fleet.job(JOB)
    async with asyncio.timeout(LONG):
        while True:
            seen = await facts(console)
            launch = console.parts.launcher.facts(job)
            if seen["rounds"]["done"] == 2 and launch is None and not seen["item"]["running"]:
                return
            await asyncio.sleep(0.05)


async def dried(console: GivenConsole) -> Any:
    """The answer of a dry run, which is a task where the machine is slow."""
    answer = await ask(console, "dry-run-rounds")
    if answer.status_code == 202:
        task = console.parts.common.tasks.task(answer.json()["id"])
        assert await task.wait(LONG)
        return task.result
    assert answer.status_code == 200, answer.text
    return answer.json()


async def dried_page(console: GivenConsole, path: str, fields: dict[str, str]) -> str:
    """The page of a dry run, which is that of its task where the machine is slow."""
    answer = await console.client.post(path, headers=fields)
    if answer.status_code == 303:
        place = answer.headers["location"]
        assert await console.parts.common.tasks.task(place.rpartition("/")[2]).wait(LONG)
        answer = await console.client.get(place, headers=fields)
    assert answer.status_code == 200, answer.text
    return str(answer.text)


def test_rounds_are_looked_at_tried_and_run(tmp_path: Path, site_and_job: tuple[str, Path]):
    url, _ = site_and_job

    async def scene(console: GivenConsole) -> None:
        seen = await facts(console)
        first = seen["rounds"]
        assert (seen["item"]["state"], seen["item"]["running"]) == ("ROUNDS", False)
        assert (first["done"], first["at"], first["list"]["selected"]) == (1, "", 1)
        assert first["place"].endswith("cycle")
        assert first["archive"] > 0
        dry = await dried(console)
        assert (dry["known"], dry["selected"]) == (4, 3)  # with /favicon.ico
        assert dry["refused"]["schedule"] == 1
        assert (await facts(console))["rounds"]["version"] == first["version"]
        (tmp_path / "crawls/demo/control").mkdir(exist_ok=True)
        (tmp_path / "crawls/demo/control/stop").touch()
        wrong = await ask(console, "run-rounds", sitemaps=["/etc/passwd"])
        assert (wrong.status_code, wrong.json()["problems"][0]["path"]) == (422, "sitemaps")
        form = {"action": "run-rounds", "job": JOB, "rounds": "1", "dedup": "all"}
        page = "/act"
        fields = console.as_session(Role.OPERATOR)
        await console.client.post(page, data=form, headers=fields)
        told = await console.client.get(f"/j/{JOB}", headers=fields)
        assert "it is one of none, host, domain, off" in told.text
        started = await ask(
            console, "run-rounds", rounds=1, dedup="host", sitemaps=[f"{url}sitemap.xml"],
            sitemaps_from_hosts="never", index=False, tasks=1, parallel=2,
        )  # fmt: skip
        assert started.status_code == 202, started.text
        await until_two_are_done(console)
        assert (await facts(console))["rounds"]["list"]["selected"] == 3

    play(tmp_path, scene)


async def the_page_says_what_the_terminal_says(console: GivenConsole, mark: RoundsMark) -> None:
    """The page and its live part have the progress of a fetch, in the language of the reader."""
    # Of what is neither begun nor done a mark is written twice a second at most.
    numbers = FetchProgress(127, 127, 3_100_000, 2, 250.0, 1, 2)._asdict()
    journal = JournalFile(console.parts.common.fleet.job(JOB).layout)
    journal.write(RoundsJournal(rounds=2, round=2, step="fetch", clock=1, started=1))
    mark.tell(fetch_step("fetch", numbers))
    await facts(console)
    said = fetch_progress_text(numbers).partition("] ")[2]
    assert said == "127/127 pages, 3.1 MB, 2 hosts, 4 min left, 1 of 2 units done"
    fields = console.as_session()
    page = (await console.client.get(f"/j/{JOB}", headers=fields)).text
    assert f'data-rounds="progress">{said}<' in page
    chinese = {**fields, "accept-language": "zh-CN"}
    page = (await console.client.get(f"/j/{JOB}", headers=chinese)).text
    assert 'data-rounds="progress">127/127 个页面' in page
    journal.remove()


def test_rounds_that_run_end_after_their_step(tmp_path: Path, site_and_job: tuple[str, Path]):
    _, job = site_and_job

    async def scene(console: GivenConsole) -> None:
        idle = await ask(console, "stop-after-step")
        assert (idle.status_code, idle.json()["code"]) == (409, "rounds-rest")
        with rounds_mark(Layout(job)) as mark:
            mark.tell(StepProgress("update", 3, 16, "tasks", 2))
            seen = await facts(console)
            assert seen["rounds"]["progress"]["done"] == 3
            mark.tell(StepProgress("update", 16, 16, "tasks", 2))
            assert (await facts(console))["rounds"]["progress"]["done"] == 16
            said = await asyncio.to_thread(nacre, "status", job, "--json")
            assert json.loads(said.out)["cycle"]["progress"]["of"] == 16
            seen = await facts(console)
            assert (seen["item"]["running"], seen["rounds"]["stopping"]) == (True, False)
            await the_page_says_what_the_terminal_says(console, mark)
            for action in ("run-rounds", "dry-run-rounds"):
                refused = await ask(console, action)
                assert (refused.status_code, refused.json()["code"]) == (409, "rounds-running")
            asked = await ask(console, "stop-after-step")
            assert asked.status_code == 202, asked.text
            assert (job / "control/stop").exists()
            assert (await facts(console))["rounds"]["stopping"]
        assert not (await facts(console))["item"]["running"]
        wrong = await ask(console, "run-rounds", rounds=-1)
        assert wrong.status_code == 422
        assert "rounds: Expected" in wrong.text
        assert (job / "control/stop").exists()

    play(tmp_path, scene)


@pytest.mark.usefixtures("site_and_job")
def test_the_pages_of_rounds(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        fields = console.as_session()
        page = (await console.client.get(f"/j/{JOB}", headers=fields)).text
        assert 'data-rounds="done">1<' in page
        assert 'name="rounds"' in page
        assert '<button form="dry-run" name="action" value="dry-run-rounds"' in page
        assert 'value="pause"' not in page
        path = f"/j/{JOB}/dry-run-rounds"
        assert 'data-count="selected">3<' in await dried_page(console, path, fields)
        chinese = {**fields, "accept-language": "zh-CN"}
        assert "试运行一轮" in await dried_page(console, path, chinese)
        viewer = console.as_session(Role.VIEWER)
        assert (await console.client.post(path, headers=viewer)).status_code == 403
        seen = (await console.client.get(f"/j/{JOB}", headers=viewer)).text
        assert "this needs the role operator" in seen

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("where", "status", "said"),
    [
        ("nothing > 1", 422, "nothing"),
        ("(select 1) = 1", 422, "query"),
        # What fails is not true; it fails because its memory is bounded.
        ("length(repeat(key, 400000000)) > 0", 200, '"where":3'),
    ],
)
@pytest.mark.slow
def test_a_condition_that_is_refused_is_an_error_of_who_wrote_it(
    tmp_path: Path, site_and_job: tuple[str, Path], where: str, status: int, said: str
):
    _, job = site_and_job
    config = job / "crawl.yaml"
    text = f"cycle: {{buckets: 1, generate: {{where: '{where}'}}}}\n"
    lines = config.read_text("utf-8").partition("cycle:")[0]
    config.write_text(lines + text, "utf-8")

    async def scene(console: GivenConsole) -> None:
        answer = await ask(console, "dry-run-rounds")
        if answer.status_code == 202:
            answer = await console.client.get(
                answer.headers["location"], headers=console.as_key(Role.OPERATOR)
            )
        assert answer.status_code == status, answer.text
        assert said in answer.text

    play(tmp_path, scene)


@pytest.mark.usefixtures("site_and_job")
def test_a_dry_run_that_takes_long_is_a_task_with_a_page(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        parts = console.parts
        job = parts.common.fleet.job(JOB)

        async def work(_: object) -> Any:
            return await parts.common.readers.ask("dry-round", job.layout.root, 60)

        held = parts.common.tasks.begin(JOB, "dry-round", "anna", work)
        assert await held.wait(LONG)
        page = await console.client.get(f"/j/{JOB}/tasks/{held.id}", headers=console.as_session())
        assert 'data-count="selected">3<' in page.text

    play(tmp_path, scene)


@pytest.mark.slow
def test_versions_are_listed_and_gone_back_to(tmp_path: Path, site_and_job: tuple[str, Path]):
    _, job = site_and_job

    async def scene(console: GivenConsole) -> None:
        fields, client = console.as_session(Role.OPERATOR), console.client
        path = f"{API}/jobs/{JOB}/versions"
        items = (await client.get(path, headers=console.as_key())).json()["items"]
        newest = items[0]["number"]
        first = items[-1]
        assert newest > 1
        assert (first["number"], first["step"]) == (1, "inject")
        token = {"x-nacre-token": fields.pop("x-nacre-token")}
        page = (await client.get(f"/j/{JOB}/versions", headers=fields)).text
        assert "Go back to version 1<" in page
        assert f"Go back to version {newest}<" not in page
        sent = {**token, "version": "1"}
        done = await client.post(f"/j/{JOB}/versions", data=sent, headers=fields)
        assert (done.status_code, done.headers["location"]) == (303, f"/j/{JOB}/versions")
        page = (await client.get(f"/j/{JOB}/versions", headers=fields)).text
        assert f"Restored version 1 as version {newest + 1}." in page
        assert (await facts(console))["rounds"]["version"] == newest + 1
        for number, status in (("99", 404), ("x", 404)):
            gone = await client.post(
                f"{path}/{number}/restore", headers=console.as_key(Role.OPERATOR)
            )
            assert gone.status_code == status
        with rounds_mark(Layout(job)):
            busy = await client.post(f"{path}/1/restore", headers=console.as_key(Role.OPERATOR))
            assert (busy.status_code, busy.json()["code"]) == (409, "rounds-running")
        line = console.parts.audit.path.read_text()
        assert '"restored":1' in line

    play(tmp_path, scene)


@pytest.mark.slow
def test_rounds_take_their_options_from_the_form_and_status_says_the_same(
    tmp_path: Path, site_and_job: tuple[str, Path]
):
    _, job = site_and_job

    async def scene(console: GivenConsole) -> None:
        text = (await facts(console))["item"]["sentence"]["text"]
        assert text in nacre("status", job).out
        fields, client = console.as_session(Role.OPERATOR), console.client
        sent = {
            "x-nacre-token": fields.pop("x-nacre-token"), "action": "run-rounds", "job": JOB,
            "next": f"/j/{JOB}", "rounds": "1", "top": "1", "units": "1", "time_limit": "1h",
            "set": "engine.parallel=3",
        }  # fmt: skip
        wrong = {**sent, "time_limit": "soon"}
        await client.post("/act", data=wrong, headers=fields)
        assert "time-limit" in (await client.get(f"/j/{JOB}", headers=fields)).text
        done = await client.post("/act", data=sent, headers=fields)
        assert done.status_code == 303
        await until_two_are_done(console)
        assert (await facts(console))["rounds"]["list"]["selected"] == 1

    play(tmp_path, scene)
