import json
from pathlib import Path
from unittest.mock import patch

import msgspec

from nacre.console.routes import API
from nacre.fleet.launch import LaunchFacts
from nacre.fleet.places import new_place
from nacre.fleet.snapshot import unseen
from nacre.ops.operation import Role
from tests.cli.site import nacre
from tests.console.given import GivenConsole, play

JOB = f"{API}/jobs/crawls~demo"
REMOVED = f"{API}/removed-jobs"


def given_job(folder: Path) -> Path:
    made = folder / "crawls" / "demo"
    assert nacre("new", made, "http://127.0.0.1:9/").code == 0
    return made


def files_of(folder: Path) -> dict[str, bytes]:
    """All files below a folder but the log of what was done to the job."""
    return {
        str(path): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "job.log"
    }


def test_a_job_is_removed_and_shown_again_with_its_files_untouched(tmp_path: Path):
    made = given_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        client, steer, look = console.client, console.as_key(Role.OPERATOR), console.as_key()
        before, fleet = files_of(made), console.parts.common.fleet
        assert (await client.post(f"{JOB}/remove", headers=look)).status_code == 403
        removed = await client.post(f"{JOB}/remove", headers=steer)
        assert (removed.status_code, removed.json()["by"]) == (200, "operator key")
        assert (await client.get(JOB, headers=look)).status_code == 404
        assert (await client.get(f"{API}/jobs", headers=look)).json()["items"] == []
        assert console.parts.common.poller.snapshots() == []
        assert (await client.post(f"{JOB}/start", json={}, headers=steer)).status_code == 404
        assert (await client.post(f"{JOB}/remove", headers=steer)).status_code == 404
        (kept,) = (await client.get(REMOVED, headers=look)).json()["items"]
        assert (kept["id"], kept["directory"]) == ("crawls~demo", str(made))
        await console.parts.common.poller.scan()
        assert not fleet.jobs
        assert files_of(made) == before
        assert (await client.delete(f"{REMOVED}/crawls~demo", headers=look)).status_code == 403
        for status in (204, 404):
            shown = await client.delete(f"{REMOVED}/crawls~demo", headers=steer)
            assert shown.status_code == status
        assert [job.id for job in fleet.jobs] == ["crawls~demo"]
        assert files_of(made) == before
        lines = (tmp_path / "console" / "audit.log").read_text("utf-8").splitlines()
        noted = [json.loads(line) for line in lines]
        assert {"directory": str(made)} in [one.get("before") for one in noted]
        assert {"directory": str(made)} in [one.get("after") for one in noted]

    play(tmp_path, scene)


def test_a_removal_outlives_the_console_and_a_new_job_there_is_listed(tmp_path: Path):
    made = given_job(tmp_path)

    async def remove(console: GivenConsole) -> None:
        steer = console.as_key(Role.OPERATOR)
        assert (await console.client.post(f"{JOB}/remove", headers=steer)).status_code == 200

    async def again(console: GivenConsole) -> None:
        assert not console.parts.common.fleet.jobs
        made.rename(tmp_path / "elsewhere")
        await console.parts.common.poller.scan()
        assert not console.parts.common.fleet.removed
        wish = {"seeds": ["http://127.0.0.1:9/"], "name": "demo"}
        steer = console.as_key(Role.ADMIN)
        answer = await console.client.post(f"{API}/jobs", json=wish, headers=steer)
        assert answer.status_code == 201, answer.text
        assert (await console.client.get(JOB, headers=steer)).status_code == 200

    play(tmp_path, remove)
    play(tmp_path, again)


def test_a_job_that_does_not_rest_or_has_a_schedule_is_not_removed(tmp_path: Path):
    given_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        client, steer, parts = console.client, console.as_key(Role.OPERATOR), console.parts
        (job,) = parts.common.fleet.jobs

        async def refused() -> tuple[str, str]:
            answer = await client.post(f"{JOB}/remove", headers=steer)
            assert answer.status_code == 409, answer.text
            return answer.json()["code"], answer.json()["detail"]

        for change in ({"running": True}, {"waits": "--every 1d"}):
            seen = msgspec.structs.replace(unseen(job), **change)
            with patch.object(parts.common.poller, "snapshot", return_value=seen):
                code, said = await refused()
            assert (code, "stop it first" in said) == (next(iter(change)), True)
        with patch.object(parts.launcher, "facts", return_value=LaunchFacts("queued", 1)):
            assert (await refused())[0] == "queued"
        wish = {"job": job.id, "at": "@hourly", "paused": True}
        one = (await client.post(f"{API}/schedules", json=wish, headers=steer)).json()["id"]
        code, said = await refused()
        assert (code, f"schedule {one} (@hourly UTC)" in said) == ("scheduled", True)
        await client.delete(f"{API}/schedules/{one}", headers=steer)
        assert (await client.post(f"{JOB}/remove", headers=steer)).status_code == 200

    play(tmp_path, scene)


def test_forms_remove_a_job_and_show_it_again(tmp_path: Path):
    given_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        client, fields = console.client, console.as_session(Role.OPERATOR)
        page = (await client.get("/j/crawls~demo", headers=fields)).text
        assert 'action="/j/crawls~demo/remove"' in page
        sent = await client.post("/j/crawls~demo/remove", headers=fields)
        assert (sent.status_code, sent.headers["location"]) == (303, "/")
        page = (await client.get("/", headers=fields)).text
        assert "is removed from the console" in page
        assert 'data-removed="crawls~demo"' in page
        looked = (await client.get("/", headers=console.as_session(Role.VIEWER))).text
        assert 'data-removed="crawls~demo"' in looked
        assert "show-again" not in looked
        sent = await client.post("/j/crawls~demo/show-again", headers=fields)
        assert (sent.status_code, sent.headers["location"]) == (303, "/")
        page = (await client.get("/", headers=fields)).text
        assert 'data-job="crawls~demo"' in page
        assert "data-removed" not in page

    play(tmp_path, scene)


def test_a_job_that_never_ran_is_forgotten_when_its_name_is_typed(tmp_path: Path):
    made = given_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        client, steer, parts = console.client, console.as_key(Role.OPERATOR), console.parts
        look = console.as_key()
        wish = {"name": "demo"}
        (job,) = parts.common.fleet.jobs
        parts.books.quotas.set(str(made), 5)
        parts.books.muted_warnings.set(job, ("http://127.0.0.1:9/rili?",))
        assert (await client.post(f"{JOB}/forget", json=wish, headers=look)).status_code == 403
        wrong = await client.post(f"{JOB}/forget", json={"name": job.id}, headers=steer)
        assert (wrong.status_code, wrong.json()["code"]) == (422, "confirm")
        (made / "notes.txt").write_text("mine")
        refused = await client.post(f"{JOB}/forget", json=wish, headers=steer)
        assert (refused.status_code, "notes.txt" in refused.json()["detail"]) == (409, True)
        (made / "notes.txt").unlink()
        answer = await client.post(f"{JOB}/forget", json=wish, headers=steer)
        assert (answer.status_code, made.exists()) == (204, False)
        assert (await client.get(JOB, headers=steer)).status_code == 404
        assert parts.books.quotas.find(str(made)).limit == 0
        assert parts.books.muted_warnings.of(job) == ()
        assert not made.exists()

    play(tmp_path, scene)


def test_the_form_forgets_a_job_that_never_ran(tmp_path: Path):
    made = given_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        client, fields = console.client, console.as_session(Role.OPERATOR)
        page = (await client.get("/j/crawls~demo", headers=fields)).text
        assert f"<code>rm -r {made}</code>" in page
        sent = await client.post("/j/crawls~demo/forget", data={"name": "x"}, headers=fields)
        assert sent.headers["location"] == "/j/crawls~demo"
        page = (await client.get("/j/crawls~demo", headers=fields)).text
        assert "give the name of its directory: demo" in page
        sent = await client.post("/j/crawls~demo/forget", data={"name": "demo"}, headers=fields)
        assert (sent.headers["location"], made.exists()) == ("/", False)

    play(tmp_path, scene)


def test_a_job_that_is_a_place_of_the_console_is_not_forgotten(tmp_path: Path):
    made = given_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        fleet = console.parts.common.fleet
        fleet.places = (new_place(made, set()),)
        await fleet.scan()
        (job,) = fleet.jobs
        answer = await console.client.post(
            f"{API}/jobs/{job.id}/forget", json={"name": "demo"},
            headers=console.as_key(Role.OPERATOR),
        )  # fmt: skip
        assert (answer.status_code, answer.json()["code"]) == (409, "named-at-start")
        assert made.is_dir()

    play(tmp_path, scene)
