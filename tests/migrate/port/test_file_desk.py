"""Requests for files of a job: what viewers and operators see of secrets, and how they stay."""

import asyncio
from pathlib import Path

import pytest

from nacre.fleet.reach import ConsoleReach
from nacre.job.edits import edit_list
from nacre.machine.layout import Layout
from nacre.ops.operation import Role
from tests.cli.site import PAGES, nacre, site
from tests.console.stories.running import new_job as made_job
from tests.console.stories.running import running_job
from tests.migrate.port.test_app import BEANS, HERE, REMOTE, port

PLACE = "/engine/job/x/jobdir"
LOGIN = """fetch:
  credentials:
    - {origin: "http://a.test", username: 图书馆, password: hunter2}
"""
SECRET_BEANS = BEANS.replace(
    "</beans>",
    '<bean id="login" class="org.archive.modules.credential.HttpAuthenticationCredential">'
    '<property name="password" value="hunter2"/></bean></beans>',
)


def new_job(folder: Path, more: str = "") -> Path:
    """A job whose settings have a text more."""
    job = folder / "crawls" / "x"
    job.parent.mkdir(exist_ok=True)
    assert nacre("new", job, "http://127.0.0.1:9/").code == 0
    config = job / "crawl.yaml"
    config.write_text(config.read_text("utf-8") + more, "utf-8")
    return job


@pytest.mark.parametrize("role", list(Role)[1:])
@pytest.mark.parametrize("name", ["crawl.yaml", "old.yml", "crawl.yaml.bak"])
def test_asvs_14_2_6_settings_are_shown_without_their_secrets(
    tmp_path: Path, role: Role, name: str
):
    job = new_job(tmp_path, LOGIN)
    if name != "crawl.yaml":
        (job / name).write_text(LOGIN, "utf-8")
        (job / name).chmod(0o600)

    async def story() -> None:
        async with port(tmp_path, role) as client:
            for query in ("", "?format=paged", "?format=paged&pos=-1&lines=-20&reverse=y"):
                shown = await client.get(f"{PLACE}/{name}{query}")
                assert shown.status_code == 200
                assert "图书馆" in shown.text
                assert "NOT-SHOWN-1" in shown.text
                assert "hunter2" not in shown.text
            whole = await client.get(f"{PLACE}/{name}")
            assert int(whole.headers["content-length"]) == len(whole.content)
            end = await client.get(f"{PLACE}/{name}", headers={"range": "bytes=-40"})
            assert (end.status_code, end.content) == (206, whole.content[-40:])
            behind = {"range": f"bytes={len(whole.content)}-"}
            refused = await client.get(f"{PLACE}/{name}", headers=behind)
            assert refused.status_code == 416

    asyncio.run(story())


def test_a_secret_stays_where_the_text_that_was_shown_is_sent_again(tmp_path: Path):
    job = new_job(tmp_path, LOGIN)

    async def story() -> None:
        async with port(tmp_path) as client:
            edit = await client.get(f"{PLACE}/crawl.yaml?format=textedit")
            assert "NOT-SHOWN-1" in edit.text
            assert "hunter2" not in edit.text
            text = (await client.get(f"{PLACE}/crawl.yaml")).text.replace("图书馆", "档案馆")
            put = await client.put(f"{PLACE}/crawl.yaml", content=text.encode())
            assert put.status_code == 200, put.text
            saved = (job / "crawl.yaml").read_text("utf-8")
            assert "username: 档案馆, password: hunter2" in saved
            text = text.replace("档案馆", "文献馆").replace("\n", "\r\n")
            posted = await client.post(f"{PLACE}/crawl.yaml", data={"contents": text})
            assert posted.headers["nacre-message"] == "file updated"
            saved = (job / "crawl.yaml").read_text("utf-8")
            assert "username: 文献馆, password: hunter2" in saved
            for wrong in (text.replace("NOT-SHOWN-1", "NOT-SHOWN-2"), LOGIN):
                refused = await client.put(f"{PLACE}/crawl.yaml", content=wrong.encode())
                assert refused.status_code == 422
            bad = await client.put(f"{PLACE}/crawl.yaml", content=b"name: \xff\n")
            assert (bad.status_code, (job / "crawl.yaml").read_text("utf-8")) == (400, saved)

    asyncio.run(story())


def test_the_history_names_the_user_who_wrote_the_settings(tmp_path: Path):
    job = new_job(tmp_path)
    text = (job / "crawl.yaml").read_text("utf-8")

    async def story() -> None:
        async with port(tmp_path) as client:
            put = await client.put(f"{PLACE}/crawl.yaml", content=f"{text}# 一\n".encode())
            assert put.status_code == 200, put.text
            posted = await client.post(f"{PLACE}/crawl.yaml", data={"contents": f"{text}# 二\n"})
            assert posted.headers["nacre-message"] == "file updated"

    asyncio.run(story())
    users = [(edit.source, edit.who) for edit in edit_list(Layout(job))]
    assert users == [("outside", ""), *[("console", "admin via console")] * 2]


def test_settings_with_a_mistake_are_written_and_the_build_tells_it(tmp_path: Path):
    job = new_job(tmp_path)

    async def story() -> None:
        async with port(tmp_path) as client:
            put = await client.put(f"{PLACE}/crawl.yaml", content=b"seeds: seeds.txt\nno: 1\n")
            assert (put.status_code, (job / "crawl.yaml").read_bytes()[-6:]) == (200, b"no: 1\n")
            built = await client.post("/engine/job/x", data={"action": "build"})
            assert "problem" in built.headers["nacre-message"]

    asyncio.run(story())


def test_a_job_that_has_beans_alone_gets_settings(tmp_path: Path):
    job = tmp_path / "crawls" / "x"
    job.mkdir(parents=True)
    (job / "crawler-beans.cxml").write_text(BEANS, "utf-8")

    async def story() -> None:
        async with port(tmp_path) as client:
            await client.post("/engine", data={"action": "rescan"})
            await client.post("/engine", data={"action": "add", "addpath": str(job)})
            (job / "crawl.yaml").unlink()
            refused = await client.put(f"{PLACE}/crawl.yaml", content=LOGIN.encode())
            assert refused.status_code == 422
            put = await client.put(f"{PLACE}/crawl.yaml", content=b"seeds: seeds.txt\n")
            assert (put.status_code, (job / "crawl.yaml").read_bytes()) == (
                201, b"seeds: seeds.txt\n",
            )  # fmt: skip

    asyncio.run(story())


def test_beans_with_a_password_are_for_operators(tmp_path: Path):
    job = new_job(tmp_path)

    async def story(role: Role, expected: dict[str, int]) -> None:
        async with port(tmp_path, role) as client:
            for name, status in expected.items():
                for query in ("", "?format=paged"):
                    shown = await client.get(f"{PLACE}/{name}{query}")
                    assert shown.status_code == status, name
                    assert status == 200 or "hunter2" not in shown.text

    async def sent() -> None:
        async with port(tmp_path) as client:
            for name, text in (("crawler-beans.cxml", SECRET_BEANS), ("plain.cxml", BEANS)):
                await client.put(f"{PLACE}/{name}", content=text.encode())

    asyncio.run(sent())
    assert (job / "crawler-beans.cxml").stat().st_mode & 0o777 == 0o600
    (job / "private.cxml").write_text(BEANS, "utf-8")
    (job / "private.cxml").chmod(0o600)
    (job / "utf-16.cxml").write_text(SECRET_BEANS, "utf-16")
    (job / "order.xml.old").write_text(SECRET_BEANS, "utf-8")
    names = ("crawler-beans.cxml", "private.cxml", "utf-16.cxml", "order.xml.old")
    asyncio.run(story(Role.VIEWER, {**dict.fromkeys(names, 403), "plain.cxml": 200}))
    asyncio.run(story(Role.OPERATOR, dict.fromkeys((*names, "plain.cxml"), 200)))


@pytest.mark.parametrize(
    ("role", "reach", "may"),
    [
        (Role.OPERATOR, HERE, True),
        (Role.ADMIN, REMOTE, True),
        (Role.OPERATOR, REMOTE, False),
    ],
)
def test_files_are_named_by_those_who_may_on_the_own_pages(
    tmp_path: Path, role: Role, reach: ConsoleReach, *, may: bool
):
    job = new_job(tmp_path)
    (job / "surts.txt").write_text("+http://(test,\n", "utf-8")
    before = (job / "crawl.yaml").read_bytes()

    async def story() -> None:
        async with port(tmp_path, role, reach) as client:
            text = before.decode() + "dns: {hosts: /etc/hosts}\n"
            put = await client.put(f"{PLACE}/crawl.yaml", content=text.encode())
            assert put.status_code == (200 if may else 422)
            assert may or "only administrators may change this" in put.text
            assert ((job / "crawl.yaml").read_bytes() == before) is not may
            if may:
                return
            plain = before + b"limits: {documents: 5}\n"
            put = await client.put(f"{PLACE}/crawl.yaml", content=plain)
            assert put.status_code == 200, put.text

    asyncio.run(story())


@pytest.mark.parametrize(
    ("reach", "said"), [(HERE, "does not run"), (REMOTE, "only administrators may change")]
)
def test_a_bean_that_names_a_file_is_for_those_who_may(
    tmp_path: Path, reach: ConsoleReach, said: str
):
    new_job(tmp_path)
    form = {"beanPath": "cookieStore.cookiesLoadFile", "newVal": "/etc/hostname"}

    async def story() -> None:
        async with port(tmp_path, reach=reach) as client:
            refused = await client.post("/engine/job/x/beans", data=form)
            assert said in refused.headers["nacre-message"]

    asyncio.run(story())


def test_while_a_job_runs_its_settings_are_not_replaced(tmp_path: Path):
    job = tmp_path / "crawls" / "x"
    job.parent.mkdir()

    async def story() -> None:
        before = (job / "crawl.yaml").read_bytes()
        async with port(tmp_path) as client:
            refused = await client.put(f"{PLACE}/crawl.yaml", content=before + b"name: y\n")
            assert (refused.status_code, "stop it first" in refused.text) == (409, True)
            put = await client.put(f"{PLACE}/crawler-beans.cxml", content=BEANS.encode())
            assert put.status_code == 201
            log = (await client.get(f"{PLACE}/job.log")).text
            assert "crawler-beans.cxml is taken over by the build after this run" in log
        assert (job / "crawl.yaml").read_bytes() == before

    with site(PAGES) as seed:
        made_job(job, seed, "politeness.delay=600s")
        with running_job(job):
            asyncio.run(story())
