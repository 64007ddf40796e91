import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from nacre.console.actions import act
from nacre.console.routes import API
from nacre.fleet.launch import scope_of
from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import RefusedRequestError
from nacre.fleet.requester import Requester
from nacre.ops.operation import Role
from nacre.ops.starts import StartRequest
from tests.cli.site import nacre, site
from tests.console.given import LONG, GivenConsole, given_console, with_common

SLOW = {"/": "".join(f'<a href="/{n}.html">{n}</a>' for n in range(400)), "/robots.txt": ""}


def play(folder: Path, scene: Callable[[GivenConsole], Awaitable[None]]) -> None:
    """Play a scene with a console whose launcher runs."""

    async def played() -> None:
        async with given_console(folder) as console, asyncio.TaskGroup() as group:
            launcher = group.create_task(console.parts.launcher.run())
            await scene(console)
            launcher.cancel()

    asyncio.run(played())


def add_job(folder: Path, name: str, url: str, *more: str) -> Path:
    (folder / "crawls").mkdir(exist_ok=True)
    job = folder / "crawls" / name
    assert nacre("new", job, url, "--delay", "0.5", *more).code == 0
    return job


async def ask(console: GivenConsole, job: str, action: str, **body: object) -> Any:
    fields = console.as_key(Role.OPERATOR)
    return await console.client.post(f"{API}/jobs/crawls~{job}/{action}", json=body, headers=fields)


async def until(console: GivenConsole, job: str, *states: str) -> dict[str, Any]:
    """Wait until a job is in one of some states."""
    async with asyncio.timeout(LONG):
        while True:
            found = console.parts.common.fleet.job(f"crawls~{job}")
            await console.parts.common.poller.look(found)
            seen = console.parts.common.poller.snapshot(found)
            if seen.state in states and console.parts.launcher.facts(found) is None:
                return {"state": seen.state, "running": seen.running}
            await asyncio.sleep(0.05)


async def known(console: GivenConsole, job: FoundJob) -> None:
    """Wait until the check of a job as it is now is known."""
    await console.parts.common.poller.look(job)
    async with asyncio.timeout(LONG):
        while not await console.parts.common.poller._checks.look(job):
            pass
    await console.parts.common.poller.look(job)


def said(console: GivenConsole, job: FoundJob) -> str:
    facts = console.parts.launcher.facts(job)
    return facts.text if facts is not None else ""


def test_a_job_lives_from_start_to_end_by_the_interface(tmp_path: Path):
    with site(SLOW) as url:
        job = add_job(tmp_path, "图书馆", url)

        async def scene(console: GivenConsole) -> None:
            wrong = await ask(console, "图书馆", "pause")
            assert (wrong.status_code, wrong.json()["code"]) == (409, "never-ran")
            assert wrong.json()["detail"] == "pause: it never ran (crawls~图书馆)"
            started = await ask(console, "图书馆", "start", paused=True)
            assert started.status_code == 202, started.text
            assert started.json()["launch"]["step"] == "starting"
            twice = await ask(console, "图书馆", "start")
            assert twice.status_code == 409
            await until(console, "图书馆", "PAUSED")
            fields = console.as_session()
            runs = (await console.client.get("/j/crawls~图书馆/runs", headers=fields)).text
            assert ("<td>Paused</td>" in runs, "<td>Running</td>" in runs) == (True, False)
            resumed = await ask(console, "图书馆", "resume")
            assert (resumed.status_code, resumed.json()["held"]) == (202, [])
            await until(console, "图书馆", "RUNNING", "EMPTY")
            made = await ask(console, "图书馆", "checkpoint", name="eins")
            assert made.json()["name"] == "eins", made.text
            assert (await ask(console, "图书馆", "pause")).status_code == 202
            await until(console, "图书馆", "PAUSED")
            page = await console.client.get("/j/crawls~图书馆", headers=fields)
            assert f"paused by operator key via console (uid {os.getuid()})" in page.text
            assert (await ask(console, "图书馆", "stop")).status_code == 202
            await until(console, "图书馆", "ABORTED")
            assert (await ask(console, "图书馆", "end")).status_code == 202
            over = await ask(console, "图书馆", "start")
            assert (over.status_code, over.json()["code"]) == (409, "finished")
            again = await ask(console, "图书馆", "recrawl", full=True)
            assert again.status_code == 202, again.text
            await until(console, "图书馆", "RUNNING", "EMPTY")
            assert (await ask(console, "图书馆", "stop")).status_code == 202
            await until(console, "图书馆", "ABORTED")

        play(tmp_path, scene)
    runs = sorted((job / "runs").iterdir())
    log = (runs[0] / "logs" / "job.log").read_text()
    for action in ("started", "pause", "resume", "checkpoint", "stop"):
        assert f"{action} by operator key via console (uid {os.getuid()})" in log, action
    assert f"run {runs[0].name} ended for good by operator key" in (job / "job.log").read_text()
    assert "started by operator key" in (runs[1] / "logs" / "job.log").read_text()


def test_a_job_that_cannot_start_says_why(tmp_path: Path):
    job = add_job(tmp_path, "broken", "http://127.0.0.1:9/")
    (job / "crawl.yaml").write_text("name: broken\nseeds: seeds.txt\npolitenes: {delay: 1}\n")

    async def scene(console: GivenConsole) -> None:
        refused = await ask(console, "broken", "start")
        assert refused.status_code == 422
        assert refused.json()["problems"][0]["path"] == "politenes"
        unknown = await ask(console, "broken", "start", sett=["a=b"])
        assert unknown.status_code == 422
        (job / "crawl.yaml").write_text("name: broken\nseeds: seeds.txt\n")
        wrong = await ask(console, "broken", "start", checkpoint="nine", paused=True)
        assert wrong.status_code == 202  # the process finds out that there is none
        found = console.parts.common.fleet.job("crawls~broken")
        async with asyncio.timeout(LONG):
            while not said(console, found):  # noqa: ASYNC110 - a process tells no event
                await asyncio.sleep(0.05)
        assert "there is no checkpoint 'nine'" in said(console, found)
        assert not (job / "control" / "pause").exists()

    play(tmp_path, scene)


def test_a_paused_start_that_is_taken_back_does_not_pause_the_next_one(tmp_path: Path):
    with site(SLOW) as url:
        job = add_job(tmp_path, "a", url)

        async def scene(console: GivenConsole) -> None:
            console.parts.launcher.most = 0
            queued = await ask(console, "a", "start", paused=True)
            assert queued.json()["launch"]["step"] == "queued"
            assert (await ask(console, "a", "stop")).status_code == 202
            console.parts.launcher.most = 1
            assert (await ask(console, "a", "start")).status_code == 202
            await until(console, "a", "RUNNING", "EMPTY")
            assert not (job / "control" / "pause").exists()
            assert (await ask(console, "a", "stop")).status_code == 202
            await until(console, "a", "ABORTED")

        play(tmp_path, scene)


@pytest.mark.slow
def test_no_more_jobs_run_than_may_and_one_that_waits_can_be_taken_back(tmp_path: Path):
    with site(SLOW) as url:
        for name in ("a", "b", "c"):
            add_job(tmp_path, name, url)

        async def scene(console: GivenConsole) -> None:
            console.parts.launcher.most = 1
            places = [(await ask(console, name, "start")).json()["launch"] for name in "abc"]
            assert places == [
                {"step": "starting", "place": 0, "text": ""},
                {"step": "queued", "place": 1, "text": ""},
                {"step": "queued", "place": 2, "text": ""},
            ]
            assert (await ask(console, "b", "stop")).status_code == 202
            facts = console.parts.launcher.facts(console.parts.common.fleet.job("crawls~c"))
            assert facts is not None
            assert facts.place == 1
            await until(console, "a", "RUNNING", "EMPTY")
            assert (await ask(console, "a", "stop")).status_code == 202
            await until(console, "c", "RUNNING", "EMPTY")
            assert (await ask(console, "c", "stop")).status_code == 202
            for name in "ac":
                await until(console, name, "ABORTED")
            await until(console, "b", "NASCENT")

        play(tmp_path, scene)


@pytest.mark.parametrize("with_htmx", [False, True])
def test_buttons_are_forms_that_need_no_script(tmp_path: Path, with_htmx: bool):
    add_job(tmp_path, "a", "http://127.0.0.1:9/")

    async def scene(console: GivenConsole) -> None:
        fields = console.as_session(Role.OPERATOR)
        token = fields.pop("x-nacre-token")
        page = (await console.client.get("/j/crawls~a", headers=fields)).text
        assert '<button form="act" name="action" value="start"' in page
        assert "it never ran" in page  # why the others cannot be pressed
        if with_htmx:
            fields |= {"hx-request": "true"}
        form = {"job": ["crawls~a", "crawls~none"], "action": "pause", "next": "/j/crawls~a"}
        forged = await console.client.post("/act", data=form, headers=fields)
        assert forged.status_code == 403
        sent = {**form, "x-nacre-token": token}
        answer = await console.client.post("/act", data=sent, headers=fields)
        if not with_htmx:
            assert (answer.status_code, answer.headers["location"]) == (303, "/j/crawls~a")
            answer = await console.client.get("/j/crawls~a", headers=fields)
        assert "Pause: it never ran (crawls~a)" in answer.text
        assert "there is no job crawls~none" in answer.text
        assert ("<html" in answer.text) is not with_htmx
        away = {**sent, "next": "//evil.example/"}
        if not with_htmx:
            led = await console.client.post("/act", data=away, headers=fields)
            assert led.headers["location"] == "/"
            whole = await console.client.post(
                "/act", data=sent, headers=fields, files={"file": b"x"}
            )
            assert whole.status_code == 303  # multipart forms too
        viewer = (await console.client.get("/", headers=console.as_session(Role.VIEWER))).text
        assert 'name="job"' not in viewer

    play(tmp_path, scene)


@pytest.mark.slow
def test_a_start_outlives_the_console_that_is_killed(tmp_path: Path):
    with site(SLOW) as url:
        job = add_job(tmp_path, "a", url)
        code = (
            "import asyncio, os, signal, sys; from pathlib import Path\n"
            "from tests.console.given import given_console\n"
            "async def main():\n"
            "    async with given_console(Path(sys.argv[1])) as console:\n"
            "        found = console.parts.common.fleet.job('crawls~a')\n"
            "        words = ['run', str(found.layout.root)]\n"
            "        await console.parts.launcher.order(found, words)\n"
            "        os.kill(os.getpid(), signal.SIGKILL)\n"
            "asyncio.run(main())\n"
        )
        killed = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
        assert killed.returncode == -9

        async def scene(console: GivenConsole) -> None:
            await until(console, "a", "RUNNING", "EMPTY")
            assert (await ask(console, "a", "stop")).status_code == 202
            await until(console, "a", "ABORTED")

        play(tmp_path, scene)
    assert (job / "state" / "console.out").stat().st_mode & 0o777 == 0o600


def test_under_systemd_a_job_has_a_scope_of_its_own(tmp_path: Path):
    program = tmp_path / "systemd-run"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "bus").touch()
    service = {
        "PATH": str(tmp_path), "INVOCATION_ID": "x", "XDG_RUNTIME_DIR": str(tmp_path),
    }  # fmt: skip
    user = [] if os.getuid() == 0 else ["--user"]
    assert scope_of(service) == [str(program), *user, "--scope", "--quiet", "--collect"]
    assert scope_of({"PATH": str(tmp_path)}) == []
    assert scope_of({**service, "PATH": ""}) == []


def test_a_start_is_disabled_with_its_reason_while_the_check_has_problems(tmp_path: Path):
    root = add_job(tmp_path, "a", "http://127.0.0.1:9/")
    good = (root / "crawl.yaml").read_text()

    async def scene(console: GivenConsole) -> None:
        job, fields = console.parts.common.fleet.job("crawls~a"), console.as_session(Role.OPERATOR)
        (root / "crawl.yaml").write_text(good + "fetsh: {}\n")
        await known(console, job)
        page = (await console.client.get("/j/crawls~a", headers=fields)).text
        assert "1 problem keeps it from starting" in page
        assert "the check has findings that keep it from starting" in page
        answer = await ask(console, "a", "start")
        assert (answer.status_code, answer.json()["code"]) == (422, "bad-settings")
        (root / "crawl.yaml").write_text(good)
        await known(console, job)
        page = (await console.client.get("/j/crawls~a", headers=fields)).text
        assert "ready to start" in page
        assert "the check has findings" not in page

    play(tmp_path, scene)


def test_a_start_by_the_form_takes_settings_of_its_own_and_accepts_a_loss(tmp_path: Path):
    with site(SLOW) as url:
        root = add_job(tmp_path, "a", url)

        async def scene(console: GivenConsole) -> None:
            fields, client = console.as_session(Role.OPERATOR), console.client
            token = {"x-nacre-token": fields.pop("x-nacre-token")}
            page = (await client.get("/j/crawls~a", headers=fields)).text
            assert 'name="accept_loss"' in page
            form = {**token, "action": "start", "job": "crawls~a", "next": "/j/crawls~a"}
            sent = {**form, "accept_loss": "1", "set": "limits.documents=1\r\n\r\n"}
            assert (await client.post("/act", data=sent, headers=fields)).status_code == 303
            await until(console, "a", "FINISHED_DOCUMENT_LIMIT")
            line = console.parts.audit.path.read_text().splitlines()[-1]
            assert '"accept_loss":true' in line
            assert '"set":["limits.documents=1"]' in line
            wrong = {**form, "action": "go-on", "set": "limits.docments=1"}
            await client.post("/act", data=wrong, headers=fields)
            assert "docments" in (await client.get("/j/crawls~a", headers=fields)).text

        play(tmp_path, scene)
    assert "documents: 1\n" not in (root / "crawl.yaml").read_text()


def wait_between(passes: subprocess.Popen[bytes]) -> None:
    """Wait until a job is between two of its passes."""
    assert passes.stderr is not None
    said = [passes.stderr.readline()]
    while b"Next pass: " not in said[-1]:
        assert said[-1], b"".join(said).decode()
        said.append(passes.stderr.readline())


@pytest.mark.slow
def test_passes_are_stopped_between_two_of_them(tmp_path: Path):
    with site({"/": "x"}) as url:
        root = add_job(tmp_path, "a", url)
        assert nacre("run", root).code == 0
        command = [sys.executable, "-m", "nacre", "recrawl", str(root), "--every", "9h", "-q"]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as passes:

            async def scene(console: GivenConsole) -> None:
                await asyncio.to_thread(wait_between, passes)
                await console.parts.common.poller.look(console.parts.common.fleet.job("crawls~a"))
                fields = console.as_key(Role.OPERATOR)
                about = (await console.client.get(f"{API}/jobs/crawls~a", headers=fields)).json()
                stop = next(one for one in about["actions"] if one["name"] == "stop")
                assert stop["allowed"]
                assert stop["command"].startswith("nacre stop ")
                answer = await ask(console, "a", "stop")
                assert (answer.status_code, answer.json()["action"]) == (202, "stop-passes")
                again = await ask(console, "a", "stop")
                assert (again.status_code, again.json()["code"]) == (409, "finished")

            play(tmp_path, scene)
            assert passes.wait(LONG)
    assert "no further pass begins: stopped by operator key" in (root / "job.log").read_text()


def test_settings_of_a_start_name_files_for_admins_alone_where_others_reach_the_console(
    tmp_path: Path,
):
    add_job(tmp_path, "a", "http://127.0.0.1:9/")

    async def scene(console: GivenConsole) -> None:
        remote = console.parts.common.reach._replace(bind="0.0.0.0")
        parts = with_common(console.parts, reach=remote)
        job = console.parts.common.fleet.job("crawls~a")
        options = StartRequest(set=("cookies.load_file=/etc/passwd",))
        who = Requester("bo", Role.OPERATOR, "key")
        with pytest.raises(RefusedRequestError, match=r"cookies\.load_file: only an admin"):
            await act(parts.actions, job, "start", options, who)

    play(tmp_path, scene)
