import errno
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from nacre.console.jobs.new_jobs import free_directory
from nacre.console.routes import API
from nacre.console.schedule_runner import ScheduleRunner
from nacre.fleet.job_books import ALL_JOBS, JobLabels, KeptQuota
from nacre.fleet.schedule_book import ScheduleNote
from nacre.job.job import Job
from nacre.job.quotas import QuotaLevel
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.ops.operation import Role
from nacre.runs.passes import NextPass, lock_passes
from tests.cli.site import nacre, site
from tests.console.given import GivenConsole, play, with_common

WISH = {"job": "crawls~图书馆", "at": "@hourly", "zone": "Asia/Shanghai"}


def add_job(folder: Path, url: str) -> None:
    (folder / "crawls").mkdir(exist_ok=True)
    assert nacre("new", folder / "crawls" / "图书馆", url, "--delay", "0").code == 0


async def look(console: GivenConsole) -> dict[str, Any]:
    """Look at the job, and at the schedules; what is noted of the first."""
    for job in console.parts.common.fleet.jobs:
        await console.parts.common.poller.look(job)
    await ScheduleRunner(console.parts.runners).turn()
    (one,) = console.parts.books.schedules.all()
    found: dict[str, Any] = msgspec.to_builtins(one.note)
    return found


def make_due(console: GivenConsole) -> None:
    """As if the last look had been two hours ago."""
    (one,) = console.parts.books.schedules.all()
    seen = console.parts.common.clock.now() - 7200
    console.parts.books.schedules.keep(one.id, seen, one.note, waits=one.waits)


def test_schedules_are_kept_changed_and_forgotten(tmp_path: Path):
    add_job(tmp_path, "http://127.0.0.1:9/")

    async def scene(console: GivenConsole) -> None:
        fields, client = console.as_key(Role.OPERATOR), console.client
        made = await client.post(f"{API}/schedules", json=WISH, headers=fields)
        assert made.status_code == 201, made.text
        assert len(made.json()["times"]) == 10
        at = f"{API}/schedules/{made.json()['id']}"
        for wrong, path in (
            ({"at": "61 * * * *"}, "at"),
            ({"at": ""}, "at"),
            ({"zone": "Mars/Here"}, "zone"),
            ({"at": "0 0 30 2 *"}, "at"),
            ({"budget": "soon"}, "budget"),
        ):
            refused = await client.post(f"{API}/schedules", json=WISH | wrong, headers=fields)
            assert refused.status_code == 422, wrong
            assert refused.json()["problems"][0]["path"] == path
        for job in ("x", ""):
            none = await client.post(f"{API}/schedules", json=WISH | {"job": job}, headers=fields)
            assert none.status_code == 404
        changed = await client.put(at, json=WISH | {"paused": True}, headers=fields)
        assert changed.json()["schedule"]["paused"] is True
        make_due(console)
        assert (await look(console))["what"] == ""  # what falls into a pause is not made up for
        assert len((await client.get(f"{API}/schedules", headers=fields)).json()["items"]) == 1
        assert (await client.delete(at, headers=fields)).status_code == 204
        assert (await client.get(at, headers=fields)).status_code == 404

    play(tmp_path, scene)


def test_a_run_begins_once_for_all_times_that_were_missed(tmp_path: Path):
    with site() as url:
        add_job(tmp_path, url)

        async def scene(console: GivenConsole) -> None:
            sent = await console.client.post(
                f"{API}/schedules", json=WISH, headers=console.as_key(Role.OPERATOR)
            )
            assert sent.status_code == 201
            assert (await look(console))["what"] == ""
            make_due(console)
            note = await look(console)
            assert (note["what"], note["missed"]) == ("begun", 1)
            (job,) = console.parts.common.fleet.jobs
            assert console.parts.launcher.facts(job) is not None
            make_due(console)
            assert (await look(console))["what"] == "skipped"

        play(tmp_path, scene)


def test_nothing_begins_before_a_job_was_looked_at(tmp_path: Path):
    add_job(tmp_path, "http://127.0.0.1:9/")

    async def scene(console: GivenConsole) -> None:
        fields = console.as_key(Role.OPERATOR)
        await console.client.post(f"{API}/schedules", json=WISH, headers=fields)
        make_due(console)
        (before,) = console.parts.books.schedules.all()
        await ScheduleRunner(console.parts.runners).turn()
        assert console.parts.books.schedules.all() == [before]

    play(tmp_path, scene)


def test_the_page_changes_the_calendar_without_script(tmp_path: Path):
    add_job(tmp_path, "http://127.0.0.1:9/")

    async def scene(console: GivenConsole) -> None:
        fields, client = console.as_session(Role.OPERATOR), console.client
        for job in console.parts.common.fleet.jobs:
            await console.parts.common.poller.look(job)
        token = {"x-nacre-token": fields.pop("x-nacre-token")}
        sent = {**token, **WISH, "do": "add", "overlap": "queue"}
        added = await client.post("/calendar", data=sent, headers=fields)
        assert added.headers["location"] == "/calendar"
        page = (await client.get("/calendar", headers=fields)).text
        assert "The calendar is changed." in page
        assert "every hour, at minute 00 Asia/Shanghai" in page
        assert page.count("<time data-zone ") == 11  # the next time, and the list of ten
        paused = {**token, "do": "pause", "schedule": "1"}
        await client.post("/calendar", data=paused, headers=fields)
        assert console.parts.books.schedules.all()[0].wish.paused
        bad = {**sent, "at": "<b>", "mode": "new-job", "name": "新闻-%Y", "until": "2027-01-31"}
        refused = await client.post("/calendar", data=bad, headers=fields)
        assert refused.status_code == 422
        assert "five fields are needed" in refused.text
        assert "<b>" not in refused.text
        kept = ['name="at" value="&lt;b&gt;"', 'value="Asia/Shanghai"', 'value="新闻-%Y"']
        kept += ('value="2027-01-31"', '<option value="queue" selected>')
        kept += (
            '<option value="crawls~图书馆" selected>图书馆',
            '<option value="new-job" selected>',
        )
        assert [one for one in kept if one not in refused.text] == []
        edit = {**bad, "do": "edit", "schedule": "1", "at": "every Monday"}
        refused = await client.post("/calendar", data=edit, headers=fields)
        assert 'name="schedule" value="1"' in refused.text
        assert 'value="every Monday"' in refused.text
        odd_form = {**token, "do": "add", "job": "<i>none</i>"}
        assert (await client.post("/calendar", data=odd_form, headers=fields)).status_code == 422
        await client.post("/calendar", data={**paused, "do": "remove"}, headers=fields)
        assert console.parts.books.schedules.all() == []
        odd = await client.get("/calendar?month=13", headers=fields)
        assert odd.status_code == 400

    play(tmp_path, scene)


def test_a_weekly_schedule_is_chosen_and_not_typed_as_cron(tmp_path: Path):
    add_job(tmp_path, "http://127.0.0.1:9/")

    async def scene(console: GivenConsole) -> None:
        fields, client = console.as_session(Role.OPERATOR), console.client
        token = {"x-nacre-token": fields.pop("x-nacre-token")}
        form = {**token, "do": "add", **WISH, "at": "@daily", "often": "weekly", "weekday": "1"}
        refused = await client.post("/calendar", data={**form, "time": "25:00"}, headers=fields)
        assert (refused.status_code, "is no time of day" in refused.text) == (422, True)
        assert '<option value="weekly" selected>' in refused.text
        sent = await client.post("/calendar", data={**form, "time": "02:30"}, headers=fields)
        assert sent.status_code == 303, sent.text
        (one,) = console.parts.books.schedules.all()
        assert one.wish.at == "30 2 * * 1"
        page = (await client.get("/calendar?edit=1", headers=fields)).text
        assert "every Monday at 02:30" in page
        kept = ['<option value="weekly" selected>', '<option value="1" selected>Monday']
        kept += ['name="time" type="time" value="02:30"']
        assert [one for one in kept if one not in page] == []
        chinese = fields | {"accept-language": "zh-CN"}
        assert "每星期一 02:30" in (await client.get("/calendar", headers=chinese)).text

    play(tmp_path, scene)


def month_begin() -> float:
    """2026-11-03T00:00:00Z: the Monday before it is over."""
    return 1_793_664_000.0


def test_a_schedule_is_edited_on_the_page_and_has_a_last_day(tmp_path: Path):
    add_job(tmp_path, "http://127.0.0.1:9/")

    async def scene(console: GivenConsole) -> None:
        fields, client = console.as_session(Role.OPERATOR), console.client
        token = {"x-nacre-token": fields.pop("x-nacre-token")}
        form = {**token, "do": "add", **WISH, "until": "2099-12-31", "keep": "lean"}
        assert (await client.post("/calendar", data=form, headers=fields)).status_code == 303
        (one,) = console.parts.books.schedules.all()
        assert (one.wish.until, one.wish.keep) == ("2099-12-31T23:59:59Z", "lean")
        page = await client.get(f"/calendar?edit={one.id}", headers=fields)
        assert 'name="until" type="date" value="2099-12-31"' in page.text
        assert 'value="lean" selected' in page.text
        change = {**form, "do": "edit", "schedule": str(one.id), "at": "@daily", "until": ""}
        assert (await client.post("/calendar", data=change, headers=fields)).status_code == 303
        (one,) = console.parts.books.schedules.all()
        assert (one.wish.until, one.wish.at) == (None, "@daily")
        for wrong in ({"schedule": "99"}, {"until": "soon"}, {"at": "never"}):
            told = await client.post("/calendar", data={**change, **wrong}, headers=fields)
            assert (told.status_code, "notice-error" in told.text) == (422, True)
        (one,) = console.parts.books.schedules.all()
        assert one.wish.at == "@daily"

    play(tmp_path, scene)


def test_the_calendar_shows_pages_that_become_due_and_hours_with_other_limits(tmp_path: Path):
    windows = "bandwidth: {time_zone: Asia/Shanghai, windows: [{days: mon-fri, hours: 9-17, "
    windows += "total: 50kB, parallel: 2}]}\n"
    daily = "recrawl: {schedule: {kind: fixed}}\n"
    with site({"/": '<a href="/档案.html">x</a>', "/档案.html": "y"}) as url:
        add_job(tmp_path, url)
        root = tmp_path / "crawls" / "图书馆"
        config = root / "crawl.yaml"
        config.write_text(config.read_text() + windows + daily)
        assert nacre("run", root).code == 0
        assert nacre("recrawl", root).code == 0

        async def scene(console: GivenConsole) -> None:
            fields = console.as_session(Role.VIEWER)
            page = await console.client.get("/calendar?job=crawls~图书馆", headers=fields)
            while page.status_code == 202:  # the machine is slow, and the page asks again
                page = await console.client.get("/calendar?job=crawls~图书馆", headers=fields)
            assert page.status_code == 200, page.text
            assert "Hours with other limits (Asia/Shanghai)" in page.text
            assert "Bandwidth 01:00\N{EN DASH}09:00" in page.text
            assert "mon-fri" in page.text
            assert "<code>parallel</code>: 2" in page.text
            assert "档案.html" in page.text
            wrong = await console.client.get("/calendar?job=crawls~none", headers=fields)
            assert wrong.status_code == 404

        play(tmp_path, scene)


def test_the_month_leads_to_the_reports_of_runs_that_are_over(tmp_path: Path):
    with site({"/": '<a href="/a">x</a>'}) as url:
        add_job(tmp_path, url)
        root = tmp_path / "crawls" / "图书馆"
        assert nacre("run", root, "--set", "limits.documents=1").code == 4

        async def scene(console: GivenConsole) -> None:
            fields = console.as_session(Role.VIEWER)
            run = Layout(root).latest.resolve().name
            page = (await console.client.get("/calendar", headers=fields)).text
            link = f'<a href="/j/{quote("crawls~图书馆")}/reports/run?run={run}">图书馆'
            assert link in page
            assert "Document limit reached" in page.partition(link)[2][:200]
            assert (await console.client.get(link.split('"')[1], headers=fields)).status_code == 200
            before = (await console.client.get("/calendar?month=2020-02", headers=fields)).text
            assert "reports/run" not in before

        play(tmp_path, scene)


NEW = {**WISH, "mode": "new-job", "name": "馆-%Y-%m-%d"}


class SetClock(SystemClock):
    """A clock whose time is set."""

    def __init__(self, time: float) -> None:
        self.time = time

    def now(self) -> float:
        return self.time


def on_clock(console: GivenConsole, clock: SetClock) -> ScheduleRunner:
    """A runner, and schedules, whose time is that of a clock."""
    parts = console.parts
    book = parts.books.schedules
    book._clock = clock
    return ScheduleRunner(with_common(parts, clock=clock).runners)


def test_each_time_makes_a_new_job_like_another_one_and_starts_it(tmp_path: Path):
    with site() as url:
        add_job(tmp_path, url)
        clock = SetClock(month_begin())

        async def scene(console: GivenConsole) -> None:
            runner, parts = on_clock(console, clock), console.parts
            key = console.as_key(Role.OPERATOR)
            (template,) = parts.common.fleet.jobs
            parts.books.labels.set(template, JobLabels("国图", ("gbk",)))
            sent = await console.client.post(f"{API}/schedules", json=NEW, headers=key)
            assert sent.status_code == 201, sent.text
            assert sent.json()["schedule"]["place"] == "crawls"
            await runner.turn()
            assert len(parts.common.fleet.jobs) == 1
            clock.time += 3600
            await runner.turn()
            (one,) = parts.books.schedules.all()
            assert (one.note.what, one.note.text) == ("made", "crawls~馆-2026-11-03")
            made = next(job for job in parts.common.fleet.jobs if job.name == "馆-2026-11-03")
            assert one.made == str(made.layout.root)
            assert parts.books.labels.of(made) == JobLabels(tags=("gbk",))
            assert parts.launcher.facts(made) is not None
            assert parts.launcher.facts(template) is None
            assert url in (made.layout.root / "seeds.txt").read_text()
            note = (made.layout.root / "job.log").read_text()
            assert "made by schedule 1 of operator key" in note
            page = await console.client.get("/calendar", headers=console.as_session(Role.VIEWER))
            assert "created and started a job" in page.text
            assert "crawls~馆-2026-11-03" in page.text
            listed = (await console.client.get(f"{API}/schedules", headers=key)).json()
            assert listed["items"][0]["made"] == made.id
            # The job of before is open: its overlap rule is that of runs.
            clock.time += 3600
            await runner.turn()
            (one,) = parts.books.schedules.all()
            assert one.note.what == "skipped"
            assert len(parts.common.fleet.jobs) == 2
            jobs = (await console.client.get(f"{API}/jobs", headers=key)).json()["items"]
            assert not any(job["next_pass"] for job in jobs)

        play(tmp_path, scene)


def test_a_second_job_of_a_day_has_a_number_and_one_that_cannot_be_made_says_why(tmp_path: Path):
    add_job(tmp_path, "http://127.0.0.1:9/")
    clock = SetClock(month_begin())

    async def scene(console: GivenConsole) -> None:
        runner, parts = on_clock(console, clock), console.parts
        key = console.as_key(Role.OPERATOR)
        wish = {**NEW, "job": "", "profile": "site", "seeds": ["http://127.0.0.1:9/x/"]}
        await console.client.post(f"{API}/schedules", json=wish | {"name": "x-%Y"}, headers=key)
        (tmp_path / "crawls" / "x-2026").mkdir()
        clock.time += 3600
        await runner.turn()
        (one,) = parts.books.schedules.all()
        assert (one.note.what, one.note.text) == ("made", "crawls~x-2026-2"), one.note
        assert "profile: site" in (tmp_path / "crawls/x-2026-2/crawl.yaml").read_text()
        bad = wish | {"seeds": ["no url"], "name": "y-%Y"}
        sent = await console.client.put(f"{API}/schedules/1", json=bad, headers=key)
        assert sent.status_code == 200, sent.text
        parts.books.schedules.note_made(1, "")
        clock.time += 3600
        await runner.turn()
        (one,) = parts.books.schedules.all()
        assert one.note.what == "failed"
        assert not (tmp_path / "crawls" / "y-2026").exists()

    play(tmp_path, scene)


def test_what_fits_no_schedule_of_new_jobs_is_refused(tmp_path: Path):
    add_job(tmp_path, "http://127.0.0.1:9/")

    async def scene(console: GivenConsole) -> None:
        key = console.as_key(Role.OPERATOR)
        for wrong, path in (
            ({"job": ""}, "profile"),
            ({"profile": "site"}, "profile"),
            ({"job": "", "profile": "site"}, "seeds"),
            ({"name": "%s"}, "name"),
            ({"name": "../x"}, "name"),
            ({"budget": "500"}, "budget"),
            ({"keep": "lean"}, "keep"),
            ({"mode": "recrawl"}, "name"),
        ):
            sent = await console.client.post(f"{API}/schedules", json=NEW | wrong, headers=key)
            assert sent.status_code == 422, wrong
            assert sent.json()["problems"][0]["path"] == path, wrong
        none = await console.client.post(f"{API}/schedules", json=NEW | {"place": "x"}, headers=key)
        assert none.status_code == 422
        limited = console.parts.access.keys.add("part", Role.OPERATOR, ("elsewhere",))
        seen = await console.client.post(
            f"{API}/schedules",
            json={**NEW, "job": "", "profile": "site", "seeds": ["http://a.test/"]},
            headers={"authorization": f"Bearer {limited}"},
        )
        assert seen.status_code == 409

    play(tmp_path, scene)


def test_the_form_makes_a_schedule_of_new_jobs(tmp_path: Path):
    add_job(tmp_path, "http://127.0.0.1:9/")

    async def scene(console: GivenConsole) -> None:
        fields, client = console.as_session(Role.OPERATOR), console.client
        token = {"x-nacre-token": fields.pop("x-nacre-token")}
        form = {
            **token, **NEW, "do": "add", "profile": "site", "place": "crawls",
            "seeds": "http://a.test/\r\nhttp://b.test/",
        }  # fmt: skip
        assert (await client.post("/calendar", data=form, headers=fields)).status_code == 303
        (one,) = console.parts.books.schedules.all()
        assert (one.wish.job, one.wish.profile) == ("", "site")
        assert one.wish.seeds == ("http://a.test/", "http://b.test/")
        page = (await client.get("/calendar?edit=1", headers=fields)).text
        assert "http://a.test/\nhttp://b.test/</textarea>" in page
        assert "nacre console schedule pause 1" in page
        plain = {**token, **WISH, "do": "add", "profile": "site", "place": "crawls"}
        await client.post("/calendar", data=plain, headers=fields)
        assert console.parts.books.schedules.all()[1].wish.profile == ""

    play(tmp_path, scene)


def test_a_paused_schedule_is_not_written_with_each_look(tmp_path: Path):
    add_job(tmp_path, "http://127.0.0.1:9/")

    async def scene(console: GivenConsole) -> None:
        fields = console.as_key(Role.OPERATOR)
        wish = WISH | {"paused": True}
        assert (await console.client.post(f"{API}/schedules", json=wish, headers=fields)).is_success
        make_due(console)
        (before,) = console.parts.books.schedules.all()
        assert (await look(console))["what"] == ""
        assert console.parts.books.schedules.all() == [before]
        # What fell into the pause is not made up for afterwards either.
        at = f"{API}/schedules/{before.id}"
        assert (await console.client.put(at, json=WISH, headers=fields)).is_success
        assert (await look(console))["what"] == ""

    play(tmp_path, scene)


def test_a_new_job_has_no_logins_of_the_seeds_of_another_one(tmp_path: Path):
    add_job(tmp_path, "http://127.0.0.1:9/")
    seeds = tmp_path / "crawls" / "图书馆" / "seeds.txt"
    seeds.write_text("http://anna:geheim@127.0.0.1:9/馆/\n# http://eva:versteckt@127.0.0.1:9/\n")
    clock = SetClock(month_begin())

    async def scene(console: GivenConsole) -> None:
        runner = on_clock(console, clock)
        key = console.as_key(Role.OPERATOR)
        assert (await console.client.post(f"{API}/schedules", json=NEW, headers=key)).is_success
        await console.parts.common.poller.scan()
        clock.time += 3600
        await runner.turn()
        made = tmp_path / "crawls" / "馆-2026-11-03"
        assert "http://127.0.0.1:9/" in (made / "seeds.txt").read_text()
        assert not (made / "logins").exists()
        texts = [path.read_bytes() for path in made.rglob("*") if path.is_file()]
        for secret in (b"geheim", b"versteckt", b"anna"):
            assert not any(secret in text for text in texts), secret

    play(tmp_path, scene)


def test_a_long_chinese_name_is_cut_and_numbered(tmp_path: Path):
    (tmp_path / "crawls").mkdir()
    template = tmp_path / "crawls" / ("中" * 85)
    assert nacre("new", template, "http://127.0.0.1:9/").code == 0
    clock = SetClock(month_begin())

    async def scene(console: GivenConsole) -> None:
        runner, key = on_clock(console, clock), console.as_key(Role.OPERATOR)
        wish = {**WISH, "mode": "new-job", "job": f"crawls~{template.name}"}
        assert (await console.client.post(f"{API}/schedules", json=wish, headers=key)).is_success
        (tmp_path / "crawls" / f"{'中' * 80}-2026-11-03").mkdir()
        clock.time += 3600
        await runner.turn()
        (one,) = console.parts.books.schedules.all()
        assert one.note.what == "made", one.note
        assert Path(one.made).name == f"{'中' * 80}-2026-11-03-2"
        long = await console.client.post(
            f"{API}/schedules", json={**wish, "name": "中" * 90 + "%Y"}, headers=key
        )
        assert (long.status_code, long.json()["problems"][0]["path"]) == (422, "name")

    play(tmp_path, scene)


def test_a_disk_that_fails_one_schedule_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    add_job(tmp_path, "http://127.0.0.1:9/")
    clock = SetClock(month_begin())

    def broken(root: Path, name: str) -> Path:
        if name.startswith("eins"):
            raise OSError(errno.EIO, "Input/output error", str(root / name))
        return free_directory(root, name)

    monkeypatch.setattr("nacre.console.schedule_runner.free_directory", broken)

    async def scene(console: GivenConsole) -> None:
        runner, parts = on_clock(console, clock), console.parts
        key = console.as_key(Role.OPERATOR)
        hook = {"url": "https://ops.example/", "on": ["schedule"]}
        assert (await console.client.post(f"{API}/webhooks", json=hook, headers=key)).is_success
        for name in ("eins-%Y", "zwei-%Y"):
            wish = {**NEW, "name": name}
            sent = await console.client.post(f"{API}/schedules", json=wish, headers=key)
            assert sent.is_success, sent.text
        clock.time += 3600
        await runner.turn()
        first, second = parts.books.schedules.all()
        assert (first.note.what, "Input/output error" in first.note.text) == ("failed", True)
        assert (second.note.what, second.note.text) == ("made", "crawls~zwei-2026")
        told = [msgspec.json.decode(one.body)["message"] for one in parts.webhooks.deliveries(1)]
        assert "schedule 1 (@hourly Asia/Shanghai): failed" in told


def test_the_page_and_programs_see_what_became_of_a_schedule(tmp_path: Path):
    add_job(tmp_path, "http://127.0.0.1:9/")
    clock = SetClock(month_begin())

    async def scene(console: GivenConsole) -> None:
        parts, key = console.parts, console.as_key(Role.OPERATOR)
        on_clock(console, clock)
        for wish in (WISH | {"zone": "UTC"}, WISH | {"at": "0 2 * * *", "zone": "UTC"}):
            sent = await console.client.post(f"{API}/schedules", json=wish, headers=key)
            assert sent.status_code == 201, sent.text
        for hour, what in enumerate(("begun", "skipped", "failed")):
            note = ScheduleNote(clock.time + 3600 * hour, what, missed=2 * (what == "begun"))
            parts.books.schedules.keep(1, note.time, note, waits=False)
        (first, _) = (await console.client.get(f"{API}/schedules", headers=key)).json()["items"]
        assert [one["what"] for one in first["notes"]] == ["failed", "skipped", "begun"]
        assert first["note"] == first["notes"][0]
        assert first["note"]["time"] == "2026-11-03T02:00:00Z"
        fields = console.as_session(Role.VIEWER)
        page = (await console.client.get("/calendar?month=2026-11", headers=fields)).text
        assert "the last 3" in page
        notes = page.partition('<ul class="notes">')[2].partition("</ul>")[0]
        assert notes.count("<li>") == 3
        assert "skipped because a run was open" in notes
        month = page.partition('aria-labelledby="month"')[2]
        assert "00:00 图书馆 started" in month
        assert "missed: 2" in month
        assert '<span class="state state-warn">failed</span>' in month
        assert page.count("at the same moment as another one") == 2

    play(tmp_path, scene)


@pytest.mark.parametrize("why", ["quota", "space"])
def test_a_job_that_would_not_be_started_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str
):
    add_job(tmp_path, "http://127.0.0.1:9/")
    clock = SetClock(month_begin())

    async def scene(console: GivenConsole) -> None:
        runner, parts = on_clock(console, clock), console.parts
        key = console.as_key(Role.OPERATOR)
        (template,) = parts.common.fleet.jobs
        parts.books.labels.set(template, JobLabels(tags=("gbk",)))
        assert (await console.client.post(f"{API}/schedules", json=NEW, headers=key)).is_success
        if why == "quota":
            parts.books.quotas.keep(KeptQuota(ALL_JOBS, 1, used=2, level=QuotaLevel.FULL))
        else:
            monkeypatch.setattr(Job, "missing_space", lambda _: "1 GB is free of 2 GB")
        for _ in range(2):
            clock.time += 3600
            await runner.turn()
            (one,) = parts.books.schedules.all()
            assert (one.note.what, one.made) == ("failed", "")
            said = "the quota of all jobs" if why == "quota" else "lacks space: 1 GB is free"
            assert said in one.note.text
        assert [path.name for path in (tmp_path / "crawls").iterdir()] == ["图书馆"]
        assert [job.id for job in parts.common.fleet.jobs] == ["crawls~图书馆"]
        assert parts.books.labels.of_path(str(tmp_path / "crawls" / "馆-2026-11-03")) == JobLabels()

    play(tmp_path, scene)


def test_a_schedule_is_paused_though_its_job_begins_its_passes_itself(tmp_path: Path):
    add_job(tmp_path, "http://127.0.0.1:9/")

    async def scene(console: GivenConsole) -> None:
        key, client = console.as_key(Role.OPERATOR), console.client
        assert (await client.post(f"{API}/schedules", json=WISH, headers=key)).is_success
        (job,) = console.parts.common.fleet.jobs
        job.layout.passes.parent.mkdir(exist_ok=True)
        with lock_passes(job.layout, "--every 9h"):
            at = f"{API}/schedules/1"
            other = await client.put(at, json=WISH | {"at": "@daily"}, headers=key)
            assert (other.status_code, other.json()["code"]) == (409, "recurring")
            for paused in (True, False):
                sent = await client.put(at, json=WISH | {"paused": paused}, headers=key)
                assert sent.status_code == 200, sent.text
                assert sent.json()["schedule"]["paused"] is paused


def test_a_job_that_begins_its_passes_itself_is_in_the_list_and_in_the_month(tmp_path: Path):
    add_job(tmp_path, "http://127.0.0.1:9/")
    root = tmp_path / "crawls" / "图书馆"

    async def scene(console: GivenConsole) -> None:
        fields = console.as_session(Role.VIEWER)
        rhythm = "--at '0 3 * * *' --time-zone Asia/Shanghai"
        with lock_passes(Layout(root), rhythm) as keeper:
            keeper.announce(NextPass(4_070_977_200.0))  # 2099-01-01T19:00:00Z
            page = (await console.client.get("/calendar?month=2099-01", headers=fields)).text
            assert "starts its passes itself <code>--at &#39;0 3 * * *&#39;" in page
            assert page.count("19:00 图书馆 (by itself)") == 31
        page = (await console.client.get("/calendar?month=2099-01", headers=fields)).text
        assert "by itself" not in page

    play(tmp_path, scene)


@pytest.mark.parametrize(
    "until", [4102444799, 4102444799.0, "2099-12-31T23:59:59Z", "2100-01-01T07:59:59+08:00"]
)
def test_the_end_of_a_schedule_is_taken_as_seconds_and_as_rfc_3339(tmp_path: Path, until: object):
    add_job(tmp_path, "http://127.0.0.1:9/")

    async def scene(console: GivenConsole) -> None:
        key = console.as_key(Role.OPERATOR)
        wish = WISH | {"until": until}
        sent = await console.client.post(f"{API}/schedules", json=wish, headers=key)
        assert sent.status_code == 201, sent.text
        item = sent.json()
        assert item["schedule"]["until"] == "2099-12-31T23:59:59Z"
        assert item["note"]["time"] == ""
        (one,) = console.parts.books.schedules.all()
        assert one.wish.end == one.wish.times.until == 4102444799.0
        again = await console.client.put(
            f"{API}/schedules/1", json=item["schedule"], headers=key | {"if-match": "*"}
        )
        assert again.json()["schedule"] == item["schedule"]

    play(tmp_path, scene)


@pytest.mark.parametrize("until", ["soon", "2099-12-31T23:59:59", "2099-12-31", -1, "9" * 50])
def test_an_end_of_a_schedule_that_is_no_moment_is_refused(tmp_path: Path, until: object):
    add_job(tmp_path, "http://127.0.0.1:9/")

    async def scene(console: GivenConsole) -> None:
        key, wish = console.as_key(Role.OPERATOR), WISH | {"until": until}
        sent = await console.client.post(f"{API}/schedules", json=wish, headers=key)
        assert sent.status_code == 422, sent.text
        assert "until" in sent.text
        assert console.parts.books.schedules.all() == []

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("wrong", "paths"),
    [
        ({"time": "25:00", "budget": "lots"}, ["time", "budget"]),
        ({"time": "noon", "until": "tomorrow"}, ["time", "until"]),
        ({"often": "monthly", "day": "40", "time": "7"}, ["time", "day"]),
        ({"often": "cron", "at": "every day", "zone": "Mars/Base"}, ["at", "zone"]),
        ({"often": "cron", "at": "0 0 30 2 *", "budget": "很多", "until": "x"},
         ["until", "budget", "at"]),
    ],
)  # fmt: skip
def test_all_errors_of_the_form_are_shown(tmp_path: Path, wrong: dict[str, str], paths: list[str]):
    assert nacre("new", tmp_path / "crawls" / "a", "http://127.0.0.1:9/").code == 0

    async def scene(console: GivenConsole) -> None:
        fields = console.as_session(Role.OPERATOR)
        form = {
            "x-nacre-token": fields.pop("x-nacre-token"), "do": "add", "job": "crawls~a",
            "often": "daily", "time": "02:00", "zone": "UTC", **wrong,
        }  # fmt: skip
        answer = await console.client.post("/calendar", data=form, headers=fields)
        assert answer.status_code == 422
        summary = re.search(r'class="error-summary".*?</div>', answer.text, re.DOTALL)
        assert summary is not None, answer.text
        assert re.findall(r"<li><code>(\w+)</code>", summary[0]) == paths

    play(tmp_path, scene)
