"""The list of jobs: speed lately, next runs, and the last URLs where they are wanted."""

import html
import json
import re
from pathlib import Path

import msgspec

from nacre.console.routes import API
from nacre.fleet.schedule_book import ScheduleWish
from nacre.job.lately import LastLines
from nacre.job.overview import JobOverview
from nacre.ops.operation import Role
from nacre.report.log_fields import crawl_log_fields
from tests.console.given import GivenConsole, play
from tests.console.streams.test_topics import add_job

LINE = (
    "2026-11-23T10:00:0{}.000Z   {} 10 http://h.test/{}<b> L http://h.test/ text/html #001 "
    "20261123100000000+5 sha1:A - -"
)


def run(console: GivenConsole, rates: tuple[float, ...]) -> None:
    """Have the console see its first job at work."""
    poller, job = console.parts.common.poller, console.parts.common.fleet.jobs[0]
    found = [crawl_log_fields(LINE.format(n, 404 if n == 4 else 200, n)) for n in range(5)]
    poller._lately[job.id] = LastLines([line for line in found if line is not None])
    seen = msgspec.structs.replace(
        poller.snapshot(job), running=True, overview=JobOverview("RUNNING"), rates=rates
    )
    poller._keep(seen)


def test_the_speed_of_ten_minutes_is_a_line_with_words(tmp_path: Path):
    add_job(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        fields = console.as_session(Role.VIEWER)
        assert 'class="spark"' not in (await console.client.get("/", headers=fields)).text
        run(console, (0.0, 5.0, 2.5))
        page = (await console.client.get("/", headers=fields)).text
        assert 'aria-label="0.0 to 5.0 URIs a second"' in page
        assert 'points="0.0,19.0 50.0,1.0 100.0,10.0 "' in page

    play(tmp_path, scene)


def test_the_last_urls_are_shown_to_those_who_want_them(tmp_path: Path):
    add_job(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        run(console, ())
        fields = console.as_session(Role.VIEWER)
        page = (await console.client.get("/", headers=fields)).text
        assert "h.test/4" not in page
        assert 'href="/?urls=1"' in page
        page = (await console.client.get("/?urls=1", headers=fields)).text
        assert 'data-live="/live/jobs?urls=1"' in page
        assert page.index("h.test/4&lt;b&gt;") < page.index("h.test/3") < page.index("h.test/2")
        assert "h.test/1" not in page
        assert '<span class="status-4">404</span>' in page
        assert 'href="/"' in page

    play(tmp_path, scene)


def test_the_next_run_is_that_of_the_job_or_of_the_calendar(tmp_path: Path):
    add_job(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        book, job = console.parts.books.schedules, console.parts.common.fleet.jobs[0]
        root = str(job.layout.root)
        book.add(ScheduleWish(job.id, "0 0 1 1 *"), root, "anna")
        book.add(ScheduleWish(job.id, "* * * * *", paused=True), root, "anna")
        answer = (await console.client.get(f"{API}/jobs", headers=console.as_key())).json()
        assert answer["items"][0]["next_pass"].endswith("-01-01T00:00:00Z")
        page = (await console.client.get("/", headers=console.as_session(Role.VIEWER))).text
        assert f'<time data-zone datetime="{answer["items"][0]["next_pass"]}">' in page
        view = await console.client.get(f"/j/{job.id}", headers=console.as_session(Role.VIEWER))
        assert '<p id="next-run">Next run: <time' in view.text
        poller = console.parts.common.poller
        own = JobOverview("FINISHED", next_pass=4_000_000_000.0)
        poller._keep(msgspec.structs.replace(poller.snapshot(job), overview=own))
        one = (await console.client.get(f"{API}/jobs/{job.id}", headers=console.as_key())).json()
        assert one["item"]["next_pass"] == answer["items"][0]["next_pass"]

    play(tmp_path, scene)


def test_many_jobs_are_on_pages_that_lead_both_ways_and_to_an_id(tmp_path: Path):
    for name in ("a", "b", "c", "d", "e"):
        add_job(tmp_path, name)

    async def scene(console: GivenConsole) -> None:
        fields = console.as_session(Role.VIEWER)

        async def ids(query: str) -> tuple[list[str], dict[str, str]]:
            text = (await console.client.get(f"/?{query}", headers=fields)).text
            link = r'<a(?: rel="\w+")? href="\?([^"]*)">(First|Previous|Next) page'
            ways = re.findall(link, text)
            where = {name: html.unescape(href) for href, name in ways}
            assert f'data-live="/live/jobs?{html.escape(query)}"' in text
            return [one[-1] for one in re.findall('data-job="([^"]+)"', text)], where

        first, ways = await ids("limit=2")
        assert (first, set(ways)) == (["a", "b"], {"Next"})
        second, ways = await ids(ways["Next"])
        assert (second, set(ways)) == (["c", "d"], {"First", "Previous", "Next"})
        assert (await ids(ways["Next"]))[0] == ["e"]
        assert (await ids(ways["Previous"]))[0] == first
        assert (await ids(ways["First"]))[0] == first
        jumped, ways = await ids("key=crawls~bb&limit=2")
        assert jumped == ["c", "d"]
        assert (await ids(ways["Previous"]))[0] == first
        text = (await console.client.get("/?limit=2", headers=fields)).text
        assert "5 jobs, 0 running (here 1 to 2)" in text

    play(tmp_path, scene)


def test_capital_letters_do_not_change_the_order_of_jobs(tmp_path: Path):
    for name in ("Zoo", "apple", "Bird", "cat"):
        add_job(tmp_path, name)

    async def scene(console: GivenConsole) -> None:
        async def names(query: str) -> list[str]:
            path = f"{API}/jobs?{query}"
            answer = (await console.client.get(path, headers=console.as_key())).json()
            return [item["name"] for item in answer["items"]]

        assert await names("") == ["apple", "Bird", "cat", "Zoo"]
        assert await names("after=crawls~Bird") == ["cat", "Zoo"]
        assert await names("before=crawls~cat&limit=2") == ["apple", "Bird"]
        assert await names("key=crawls~B") == ["Bird", "cat", "Zoo"]

    play(tmp_path, scene)


def test_the_stream_of_jobs_is_the_page_that_is_asked_for(tmp_path: Path):
    for name in ("a", "b", "c"):
        add_job(tmp_path, name)

    async def scene(console: GivenConsole) -> None:
        console.parts.common.hub.close()  # the stream ends after its first state
        answer = await console.client.get(
            f"{API}/stream", params={"limit": 1, "after": "crawls~a"}, headers=console.as_key()
        )
        data = json.loads(answer.text.partition("data: ")[2].partition("\n")[0])["data"]
        assert [one["id"] for one in data["items"]] == ["crawls~b"]
        assert (data["previous"], data["next"], data["total"]) == ("crawls~b", "crawls~b", 3)

    play(tmp_path, scene)


def test_no_chosen_job_is_a_message_in_place(tmp_path: Path):
    add_job(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        fields, form = console.as_session(Role.OPERATOR), {"action": "go-on", "next": "/"}
        answer = await console.client.post(
            "/act", data=form, headers={**fields, "hx-request": "true"}
        )
        assert answer.status_code == 422
        assert answer.text.strip() == '<p class="notice notice-error">Choose a job first</p>'
        chinese = {**fields, "hx-request": "true", "accept-language": "zh-CN"}
        said = (await console.client.post("/act", data=form, headers=chinese)).text
        assert "请先选择任务" in said
        whole = await console.client.post("/act", data=form, headers=fields)
        assert "<html" in whole.text
        assert "Choose a job first" in whole.text
        paused = {**form, "action": "pause", "job": "crawls~demo"}
        said = (await console.client.post("/act", data=paused, headers=chinese)).text
        assert "它还从未运行过" in said.partition("暂停")[2]
        again = {**form, "action": "recrawl", "job": "crawls~demo"}
        said = (await console.client.post("/act", data=again, headers=chinese)).text
        assert "它还从未运行过" in said.partition("重新采集")[2]
        page = (await console.client.get("/", headers=fields)).text
        assert 'value="recrawl"' in page, "many jobs can be recrawled at once"

    play(tmp_path, scene)
