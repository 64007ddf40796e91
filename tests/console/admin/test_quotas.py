import asyncio
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from nacre.console.quota_runner import QuotaRunner
from nacre.console.routes import API
from nacre.errors import ConfigError
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.job_books import ALL_JOBS, DiskQuotaBook, KeptQuota, limit_of
from nacre.fleet.keys import KeyBook
from nacre.job.control import ask_command
from nacre.job.holds import change_hold, holds_in
from nacre.job.overview import JobOverview
from nacre.job.quotas import QuotaLevel, disk_usage
from nacre.machine.clock import SystemClock
from nacre.ops.operation import Role
from tests.cli.site import nacre, site
from tests.console.given import GivenConsole, play, with_common
from tests.console.jobs.test_actions import SLOW, add_job, ask, until
from tests.console.jobs.test_actions import play as play_with_launcher

AT = f"{API}/quota"


class SteppedClock(SystemClock):
    """A clock that goes on by its pauses only, and ends after a time."""

    def __init__(self, end: float) -> None:
        self._passed, self._end = 0.0, end

    def monotonic(self) -> float:
        return self._passed

    async def sleep(self, seconds: float) -> None:
        self._passed += seconds
        if self._passed >= self._end:
            raise asyncio.CancelledError


def kept(console: GivenConsole, path: Path) -> KeptQuota:
    return console.parts.books.quotas.find(str(path))


def add_resting(folder: Path, name: str) -> Path:
    (folder / "crawls").mkdir(exist_ok=True)
    job = folder / "crawls" / name
    assert nacre("new", job, "http://127.0.0.1:9/").code == 0
    return job


def test_a_running_job_is_held_at_its_quota_and_released_below_it(tmp_path: Path):
    with site(SLOW) as url:
        job = add_job(tmp_path, "图书馆", url)

        async def scene(console: GivenConsole) -> None:
            runner, admin = QuotaRunner(console.parts.runners), console.as_key(Role.ADMIN)
            found = console.parts.common.fleet.job("crawls~图书馆")
            assert (await ask(console, "图书馆", "start")).status_code == 202
            await until(console, "图书馆", "RUNNING", "EMPTY")
            for wish in ({"job": "crawls~图书馆", "limit": 1}, {"limit": 1}):
                sent = await console.client.put(AT, json=wish, headers=admin)
                assert sent.status_code == 200, sent.text
                await runner.turn()
                await until(console, "图书馆", "PAUSED")
                seen = console.parts.common.poller.snapshot(found)
                assert seen.sentence.code == "paused-quota"
                assert kept(console, job).held
                told = (await console.client.get(AT, headers=admin)).json()["items"]
                assert [one["held"] for one in told if one["job"]] == [True]
                await console.client.put(AT, json=wish | {"limit": 0}, headers=admin)
                await runner.turn()
                await until(console, "图书馆", "RUNNING", "EMPTY")
                assert console.parts.books.quotas.all() == {}
            assert (await ask(console, "图书馆", "stop")).status_code == 202
            await until(console, "图书馆", "ABORTED")

        play_with_launcher(tmp_path, scene)
    (run,) = (job / "runs").iterdir()
    log = (run / "logs" / "job.log").read_text()
    assert log.count("hold quota by quota via console") == 2
    assert log.count("release quota by quota via console") == 2


def test_a_hold_of_somebody_else_stays(tmp_path: Path):
    with site(SLOW) as url:
        job = add_job(tmp_path, "demo", url)

        async def scene(console: GivenConsole) -> None:
            runner, book = QuotaRunner(console.parts.runners), console.parts.books.quotas
            found = console.parts.common.fleet.job("crawls~demo")
            await ask(console, "demo", "start")
            await until(console, "demo", "RUNNING", "EMPTY")
            await ask_command(found.layout.socket, "hold", 60.0, reason="quota", note="mine")
            for limit in (1, 0):
                book.set(str(job), limit)
                await runner.turn()
                assert not kept(console, job).held
                assert holds_in((job / "control" / "hold").read_text()) == {"quota": "mine"}
            await ask(console, "demo", "stop")
            await until(console, "demo", "ABORTED")

        play_with_launcher(tmp_path, scene)


def test_a_job_at_rest_is_not_held_and_is_released(tmp_path: Path):
    job = add_resting(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        runner, book = QuotaRunner(console.parts.runners), console.parts.books.quotas
        book.set(str(job), 1)
        await runner.turn()
        assert kept(console, job).level is QuotaLevel.FULL
        assert not (job / "control" / "hold").exists()
        change_hold(job / "control", "quota", "of a run before")
        book.keep(msgspec.structs.replace(kept(console, job), held=True))
        book.set(str(job), 10**12)
        await runner.turn()
        assert not (job / "control" / "hold").exists()
        assert not kept(console, job).held

    play(tmp_path, scene)


def test_a_job_whose_holds_cannot_be_read_says_so(tmp_path: Path):
    job = add_resting(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        runner, book = QuotaRunner(console.parts.runners), console.parts.books.quotas
        hold = job / "control" / "hold"
        hold.parent.mkdir()
        hold.write_text("<b>: wrong\n")
        book.set(str(job), 1)
        await runner.turn()
        assert "'<b>' is no reason of a hold" in kept(console, job).trouble
        page = (await console.client.get("/admin/quotas", headers=console.as_session())).text
        assert "is no reason of a hold" in page
        assert "<b>" not in page
        hold.unlink()
        await runner.turn()
        assert kept(console, job).trouble == ""

    play(tmp_path, scene)


def test_use_of_all_jobs_is_added_up_and_measured_every_five_minutes(tmp_path: Path):
    jobs = [add_resting(tmp_path, name) for name in ("a", "b")]
    used = sum(disk_usage(job) for job in jobs)

    async def scene(console: GivenConsole) -> None:
        book, turns = console.parts.books.quotas, []
        book.set(ALL_JOBS, round(used / 0.95))
        await QuotaRunner(console.parts.runners).turn()
        assert (book.find(ALL_JOBS).used, book.find(ALL_JOBS).level) == (used, QuotaLevel.WARNING)
        clock = SteppedClock(601.0)

        class Counted(QuotaRunner):
            async def turn(self) -> None:
                turns.append(clock.monotonic())
                if len(turns) == 2:
                    book.set(ALL_JOBS, 1)

        with pytest.raises(asyncio.CancelledError):
            await Counted(with_common(console.parts, clock=clock).runners).run()
        assert turns == [0.0, 300.0, 305.0]

    play(tmp_path, scene)


def test_what_another_process_writes_is_measured_only_where_it_is_a_limit(tmp_path: Path):
    job = add_resting(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        turns: list[float] = []
        console.parts.books.quotas.set(str(job), 10**12)
        other = ConsoleDatabase(tmp_path / "console")
        book, keys = DiskQuotaBook(other), KeyBook(other, SystemClock())

        class Counted(QuotaRunner):
            async def turn(self) -> None:
                turns.append(clock.monotonic())
                await super().turn()

        writes: dict[float, Callable[[], object]] = {
            5.0: keys.new_link,
            10.0: lambda: book.set(str(job), 10**12),
            20.0: lambda: book.set(str(job), 10**13),
            30.0: lambda: book.set(str(job), 0),
        }

        class Writing(SteppedClock):
            async def sleep(self, seconds: float) -> None:
                await super().sleep(seconds)
                writes.pop(self.monotonic(), lambda: None)()

        clock = Writing(41.0)
        with pytest.raises(asyncio.CancelledError):
            await Counted(with_common(console.parts, clock=clock).runners).run()
        assert turns == [0.0, 20.0, 30.0]
        assert writes == {}
        assert console.parts.books.quotas.all() == {}
        other.close()

    play(tmp_path, scene)


def test_a_start_is_refused_while_a_quota_is_used_up(tmp_path: Path):
    job = tmp_path / "crawls" / "图书馆"
    job.parent.mkdir()
    assert nacre("new", job, "http://127.0.0.1:9/").code == 0

    async def scene(console: GivenConsole) -> None:
        fields, client = console.as_session(), console.client
        book = console.parts.books.quotas
        start = f"{API}/jobs/crawls~图书馆/start"
        for path, whose in ((str(job), "its quota"), (ALL_JOBS, "the quota of all jobs")):
            book.keep(KeptQuota(path, 1, used=2, level=QuotaLevel.FULL))
            refused = await client.post(start, json={}, headers=fields)
            assert (refused.status_code, refused.json()["code"]) == (409, "quota")
            assert whose in refused.json()["detail"]
            assert "2 B of 1 B" in (await client.get("/alerts", headers=fields)).text
            book.set(path, 0)
            book.keep(KeptQuota(path))

    play(tmp_path, scene)


def test_only_admins_set_quotas_and_those_of_a_place_only_its_own(tmp_path: Path):
    add_resting(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        client, admin = console.client, console.as_key(Role.ADMIN)
        for role in (Role.VIEWER, Role.OPERATOR):
            refused = await client.put(AT, json={"limit": 1}, headers=console.as_key(role))
            assert refused.status_code == 403
        for wrong in ({"limit": -1}, {"limit": 2**60}, {"limit": 1, "jbo": "x"}, {}):
            bad = await client.put(AT, json=wrong, headers=admin)
            assert bad.status_code in {400, 422}, wrong
        none = await client.put(AT, json={"limit": 1, "job": "x"}, headers=admin)
        assert none.status_code == 404
        secret = console.parts.access.keys.add("elsewhere", Role.ADMIN, ("other",))
        other = {"authorization": f"Bearer {secret}"}
        assert (await client.put(AT, json={"limit": 1}, headers=other)).status_code == 403
        wish = {"limit": 1, "job": "crawls~demo"}
        assert (await client.put(AT, json=wish, headers=other)).status_code == 404
        await client.put(AT, json={"limit": 10**9}, headers=admin)
        assert (await client.get(AT, headers=other)).json()["items"] == []
        (told,) = (await client.get(AT, headers=admin)).json()["items"]
        assert (told["job"], told["limit"], told["measured"]) == ("", 10**9, None)
        assert '"after":{"limit":1000000000}' in console.parts.audit.path.read_text()

    play(tmp_path, scene)


def test_the_page_sets_a_quota_without_script(tmp_path: Path):
    job = add_resting(tmp_path, "demo")

    async def scene(console: GivenConsole) -> None:
        fields, client = console.as_session(), console.client
        token = {"x-nacre-token": fields.pop("x-nacre-token")}
        assert "There are no quotas" in (await client.get("/admin/quotas", headers=fields)).text
        wish = {**token, "job": "crawls~demo", "limit": "500 GB"}
        sent = await client.post("/admin/quota", data=wish, headers=fields)
        assert (sent.status_code, sent.headers["location"]) == (303, "/admin/quotas")
        assert kept(console, job).limit == 500 * 10**9
        page = (await client.get("/admin/quotas", headers=fields)).text
        assert "The quota is set." in page
        assert "500 GB" in page
        assert "配额" in (
            await client.get("/admin/quotas", headers={**fields, "accept-language": "zh-CN"})
        ).text  # fmt: skip
        await client.post("/admin/quota", data={**wish, "limit": "<b>"}, headers=fields)
        assert "is no quota" in (await client.get("/admin/quotas", headers=fields)).text
        assert kept(console, job).limit == 500 * 10**9
        await client.post("/admin/quota", data={**wish, "limit": "0"}, headers=fields)
        assert console.parts.books.quotas.all() == {}

    play(tmp_path, scene)


def test_a_limit_is_a_size():
    assert limit_of("0") == 0
    assert limit_of("2 TiB") == 2 * 2**40
    for wrong in ("", "-1", "much", "1e3", "9" * 5000, "99999 TB", "1 s"):
        with pytest.raises(ConfigError):
            limit_of(wrong)


def test_what_was_written_since_brings_the_next_measurement(tmp_path: Path):
    job = add_resting(tmp_path, "demo")
    other = add_resting(tmp_path, "other")

    async def scene(console: GivenConsole) -> None:
        book, poller = console.parts.books.quotas, console.parts.common.poller
        runner, found = (
            QuotaRunner(console.parts.runners),
            console.parts.common.fleet.job("crawls~demo"),
        )

        def writes(number: int) -> None:
            overview = JobOverview("RUNNING", warc_bytes=number)
            poller._keep(msgspec.structs.replace(poller.snapshot(found), overview=overview))

        used = disk_usage(job)
        book.set(str(job), 2 * used)
        assert not runner.is_at_another_level()  # nothing was measured yet
        writes(500)
        await runner.turn()
        assert kept(console, job).level is QuotaLevel.FREE
        assert not runner.is_at_another_level()
        writes(500 + used // 2)
        assert not runner.is_at_another_level()
        writes(500 + used * 9 // 10)
        assert runner.is_at_another_level()
        await runner.turn()  # nothing lies on the disk yet: it counts from here
        assert not runner.is_at_another_level()
        writes(0)  # another run began
        assert not runner.is_at_another_level()
        book.set(ALL_JOBS, 2 * (used + disk_usage(other)))
        await runner.turn()
        writes(4 * used)
        assert runner.is_at_another_level()

    play(tmp_path, scene)
