"""Requests to the port that change something stand in the audit log and in the log of the job."""

import asyncio
from pathlib import Path

import httpx
import msgspec

from nacre.fleet.audit import FILE, AuditEntry
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.job_books import DiskQuotaBook
from nacre.ops.operation import Role
from tests.cli.site import PAGES, site
from tests.console.stories.running import new_job, running_job, until
from tests.migrate.port.test_app import port


def lines(folder: Path) -> list[AuditEntry]:
    (path,) = folder.rglob(FILE)
    return [msgspec.json.decode(line, type=AuditEntry) for line in path.read_bytes().splitlines()]


def test_asvs_16_2_each_unsafe_request_to_the_port_has_its_line(tmp_path: Path):
    async def story() -> None:
        async with port(tmp_path) as client:
            await client.post("/engine", data={"action": "create", "createpath": "图书馆"})
            await client.get("/engine/job/图书馆")
            build = {"action": "build"}
            assert (await client.post("/engine/job/图书馆", data=build)).status_code == 303
            seeds = "/engine/job/图书馆/jobdir/seeds.txt"
            assert (await client.put(seeds, content=b"http://127.0.0.1:9/\n")).status_code == 200
            script = {"engine": "groovy", "script": "rm -rf /"}
            await client.post("/engine/job/图书馆/script", data=script)
            many = "&".join(f"a{n}=1" for n in range(1001))
            form = {"content-type": "application/x-www-form-urlencoded"}
            full = await client.post("/engine/job/图书馆", content=many, headers=form)
            assert full.status_code == 400
        found = [(one.action.partition(" ")[2], one.outcome, one.status) for one in lines(tmp_path)]
        job = "/engine/job/{job}"
        assert found == [
            ("/engine", "done", 303),
            (job, "refused", 303),  # no seed: the answer is a redirect, as theirs
            (f"{job}/jobdir/{{path:path}}", "done", 200),
            (f"{job}/script", "no-script", 200),
            (job, "bad-form", 400),
        ]
        made, built, put, *_ = lines(tmp_path)
        assert (made.who, made.how, made.job) == ("admin", "heritrix", "")
        assert made.after == {"action": "create", "createpath": "图书馆"}
        assert built.job.endswith("图书馆")
        assert put.after == {"bytes": 20}
        log = (tmp_path / "crawls/图书馆/job.log").read_text("utf-8")
        assert "INFO PUT /engine/job/{job}/jobdir/{path:path}, by admin (heritrix" in log
        assert "INFO refused (refused): POST /engine/job/{job}, by admin" in log

    asyncio.run(story())


def test_asvs_16_3_refusals_of_the_port_have_their_lines(tmp_path: Path):
    async def story() -> None:
        async with port(tmp_path, Role.VIEWER) as client:
            refused = await client.post("/engine", data={"action": "rescan"})
            assert refused.status_code == 403
            client.auth = httpx.BasicAuth("admin", "guess")
            assert (await client.post("/engine", data={"action": "rescan"})).status_code == 401
        first, second = lines(tmp_path)
        assert (first.who, first.status, first.outcome) == ("admin", 403, "role")
        assert (second.who, second.status, second.outcome) == ("", 401, "no-login")

    asyncio.run(story())


def test_the_log_of_a_job_names_who_asked_by_the_port(tmp_path: Path):
    job = tmp_path / "crawls" / "demo"
    job.parent.mkdir()

    async def story() -> None:
        async with port(tmp_path) as client:
            paused = await client.post("/engine/job/demo", data={"action": "pause"})
            assert "nacre-message" not in paused.headers
        log = job / "latest" / "logs" / "job.log"  # its lines become durable with the next commit
        await asyncio.to_thread(until, lambda: "by admin via console (uid" in log.read_text())

    with site(PAGES) as seed:
        new_job(job, seed, "politeness.delay=600s")
        with running_job(job):
            asyncio.run(story())


def test_a_launch_by_the_port_keeps_quotas(tmp_path: Path):
    job = tmp_path / "crawls" / "demo"
    job.parent.mkdir()
    new_job(job, "http://127.0.0.1:9/")

    async def story() -> None:
        async with port(tmp_path) as client:
            database = ConsoleDatabase(tmp_path / "console")
            DiskQuotaBook(database).set(str(job), 1)
            database.close()
            refused = await client.post("/engine/job/demo", data={"action": "launch"})
            assert "its quota of disk space is used up" in refused.headers["nacre-message"]
            found = await client.get("/engine/job/demo")
            assert "<isRunning>false</isRunning>" in found.text

    asyncio.run(story())
