"""The port: who is let in, and what it answers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import httpx
import pytest

from nacre.fleet import snapshot
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.reach import ConsoleReach, PortOptions
from nacre.fleet.users import HeritrixKeyBook
from nacre.ops.operation import Role
from nacre_migrate.port.app import HeritrixApp
from tests.cli.site import PAGES, site
from tests.console.given import LONG, given_console, with_common
from tests.console.stories.running import finished_job, new_job, running_job

HERE = ConsoleReach()
REMOTE = ConsoleReach(proxy="127.0.0.1", hosts=("console.example.org",))
XML = {"accept": "application/xml"}
BEANS = """<beans xmlns="http://www.springframework.org/schema/beans">
<bean id="metadata" class="org.archive.modules.CrawlMetadata">
<property name="operatorContactUrl" value="http://a.test/"/></bean>
<bean id="seeds" class="org.archive.modules.seeds.TextSeedModule"><property name="textSource">
<bean class="org.archive.spring.ConfigString"><property name="value">
<value>http://127.0.0.1:9/中文</value></property></bean></property></bean></beans>"""


@asynccontextmanager
async def port(
    folder: Path, role: Role = Role.OPERATOR, reach: ConsoleReach = HERE
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the port that is logged in; others may reach the console's own pages."""
    async with given_console(folder) as console:
        database = ConsoleDatabase(folder / "keys")
        book, ends = HeritrixKeyBook(database), list[bool]()
        app = HeritrixApp(
            with_common(console.parts, reach=reach).port(book), PortOptions(0), "http://localhost:8410/",
            lambda: ends.append(True),
        )  # fmt: skip
        transport = httpx.ASGITransport(app.asgi())
        auth = httpx.DigestAuth("admin", book.set("admin", role))
        try:
            async with httpx.AsyncClient(
                transport=transport, base_url="https://localhost:8443", auth=auth, headers=XML
            ) as client:
                yield client
        finally:
            database.close()


def test_a_job_is_made_configured_built_copied_and_deleted(tmp_path: Path):
    async def story() -> None:
        async with port(tmp_path) as client:
            made = await client.post("/engine", data={"action": "create", "createpath": "x"})
            assert (made.status_code, made.headers["location"]) == (
                303, "https://localhost:8443/engine",
            )  # fmt: skip
            engine = ElementTree.fromstring((await client.get("/engine")).text)
            assert engine.findtext("jobs/value/primaryConfigUrl", "").endswith(
                "/job/x/jobdir/crawler-beans.cxml"
            )
            refused = await client.post("/engine/job/x", data={"action": "build"})
            assert "no seed" in refused.headers["nacre-message"]
            put = "/engine/job/x/jobdir/crawler-beans.cxml"
            assert (await client.put(put, content=BEANS.encode())).status_code == 200
            assert "中文" in (tmp_path / "crawls/x/seeds.txt").read_text("utf-8")
            built = await client.post("/engine/job/x", data={"action": "build"})
            assert "nacre-message" not in built.headers
            job = ElementTree.fromstring((await client.get("/engine/job/x")).text)
            assert job.findtext("statusDescription") == "Ready"
            await client.post("/engine/job/x", data={"action": "teardown"})
            log = (await client.get("/engine/job/x/jobdir/job.log")).text
            assert "INFO Job instantiated" in log
            assert "INFO Job instance discarded" in log
            copied = await client.post("/engine/job/x", data={"copyTo": "p", "as_profile": "on"})
            assert copied.headers["location"].endswith("/engine/job/p")
            job = ElementTree.fromstring((await client.get("/engine/job/p")).text)
            assert job.findtext("isProfile") == "true"
            for name in ("x", "p"):
                await client.post(f"/engine/job/{name}", data={"action": "delete"})
            assert (await client.get("/engine/job/x")).status_code == 404
            assert (await client.get("/engine", headers={"accept": "application/json"})).json()[
                "jobs"
            ] == []

    asyncio.run(story())


def test_a_job_is_made_of_a_profile_of_nacre(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    own = tmp_path / "config" / "nacre" / "profiles"
    own.mkdir(parents=True)
    (own / "图书馆.yaml").write_text("limits: {documents: 7}\n", "utf-8")
    (own / "broken.yaml").write_text("limit: {}\n", "utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    async def story() -> None:
        async with port(tmp_path) as client:
            engine = (await client.get("/engine", headers={"accept": "application/json"})).json()
            assert {"site", "domain", "图书馆"} <= set(engine["profiles"])
            form = {"action": "create", "createpath": "x", "profile": "图书馆"}
            made = await client.post("/engine", data=form)
            assert made.headers["nacre-message"] == "Created new crawl job: x"
            job = ElementTree.fromstring((await client.get("/engine/job/x")).text)
            assert job.findtext("primaryConfigUrl", "").endswith("/job/x/jobdir/crawl.yaml")
            put = await client.put(
                "/engine/job/x/jobdir/seeds.txt", content=b"http://127.0.0.1:9/\n"
            )
            assert put.status_code == 200
            built = await client.post("/engine/job/x", data={"action": "build"})
            assert "nacre-message" not in built.headers
            for profile in ("broken", "no-such", "../x", "/etc/passwd"):
                form = {"action": "create", "createpath": "y", "profile": profile}
                refused = await client.post("/engine", data=form)
                assert "Created" not in refused.headers["nacre-message"]
                assert not (tmp_path / "crawls" / "y").exists()
        assert "profile: 图书馆" in (tmp_path / "crawls" / "x" / "crawl.yaml").read_text("utf-8")

    asyncio.run(story())


@pytest.mark.slow
def test_a_bean_is_changed_in_the_running_crawl_only(tmp_path: Path):
    job = tmp_path / "crawls" / "图 书"

    async def story(seed: str) -> None:
        async with port(tmp_path) as client:
            url = f"/engine/job/{quote(job.name)}"
            await client.post("/engine", data={"action": "create", "createpath": job.name})
            beans = BEANS.replace("http://127.0.0.1:9/中文", seed)
            put = await client.put(f"{url}/jobdir/crawler-beans.cxml", content=beans.encode())
            assert put.status_code == 200
            before = (job / "crawl.yaml").read_bytes()
            with running_job(job):
                assert (await client.post(url, data={"action": "build"})).status_code == 303
                changed = await client.post(
                    f"{url}/beans", data={"beanPath": "disposition.minDelayMs", "newVal": "1500"}
                )
                assert changed.headers["nacre-message"] == (
                    "disposition.minDelayMs = 1500: "
                    "set politeness.min_delay=1.5, until the job ends"
                )
                shown = await client.get(f"{url}/beans/disposition.minDelayMs")
                assert "<propValue>1500</propValue>" in shown.text
                assert (job / "crawl.yaml").read_bytes() == before
                facts = ElementTree.fromstring((await client.get(url)).text)
                assert facts.findtext("primaryConfigUrl", "").endswith("/crawler-beans.cxml")
                refused = await client.post(
                    f"{url}/beans", data={"beanPath": "disposition.minDelayMs", "newVal": "soon"}
                )
                assert "is no value here" in refused.headers["nacre-message"]
                form = {"beanPath": "disposition.maxDelayMs", "newVal": "9000", "persist": "on"}
                kept = await client.post(f"{url}/beans", data=form)
                assert "in crawl.yaml too" in kept.headers["nacre-message"]
                said = (job / "crawl.yaml").read_text("utf-8")
                assert "max_delay: 9" in said
                assert "min_delay" not in said
            log = (await client.get(f"{url}/jobdir/job.log")).text
            assert "beans: disposition.minDelayMs = 1500: set politeness.min_delay=1.5" in log
            assert "SEVERE beans: disposition.minDelayMs: " in log

    with site(PAGES) as seed:
        asyncio.run(story(seed))


def test_a_job_that_ran_is_not_deleted_and_the_answer_says_why(tmp_path: Path):
    with site(PAGES) as seed:
        job = finished_job(tmp_path / "crawls" / "x", seed)

    async def story() -> None:
        async with port(tmp_path) as client:
            refused = await client.post("/engine/job/x", data={"action": "delete"})
            assert refused.status_code == 409
            assert "x ran: its archive is never deleted here" in refused.text
            script = (
                "def delRecurs; delRecurs = { it.eachDir( delRecurs ); it.eachFile "
                "{ it.delete(); }; it.delete(); }; delRecurs( job.jobDir )"
            )
            scripted = await client.post("/engine/job/x/script", data={"script": script})
            assert scripted.status_code == 409
            assert "x ran: its archive is never deleted here" in scripted.text
        log = (job / "job.log").read_text("utf-8")
        assert "SEVERE delete: x ran" in log

    asyncio.run(story())


def test_a_profile_that_is_a_job_comes_before_one_of_nacre(tmp_path: Path):
    async def story() -> None:
        async with port(tmp_path) as client:
            await client.post("/engine", data={"action": "create", "createpath": "x"})
            await client.post("/engine/job/x", data={"copyTo": "site", "as_profile": "on"})
            engine = (await client.get("/engine", headers={"accept": "application/json"})).json()
            assert (engine["profiles"][0], engine["profiles"].count("site")) == ("site", 1)
            form = {"action": "create", "createpath": "y", "profile": "site"}
            made = await client.post("/engine", data=form)
            assert made.headers["nacre-message"] == "Copied site to y"

    asyncio.run(story())


def test_who_may_do_what(tmp_path: Path):
    async def story() -> None:
        async with port(tmp_path, Role.VIEWER) as client:
            assert (await client.get("/engine")).status_code == 200
            for answer in (
                await client.post("/engine", data={"action": "create", "createpath": "x"}),
                await client.put("/engine/job/x/jobdir/a.txt", content=b"x"),
            ):
                assert answer.status_code == 403
            nobody = await client.get("/engine", auth=lambda request: request)
            assert nobody.status_code == 401
            assert nobody.headers["www-authenticate"].startswith(
                'Digest realm="Authentication Required"'
            )
            assert (await client.get("/engine", headers={"host": "evil.test"})).status_code == 421

    asyncio.run(story())


@pytest.mark.parametrize(
    "fields", [{"origin": "https://evil.test"}, {"sec-fetch-site": "same-site"}]
)
def test_asvs_3_5_pages_of_other_sites_change_nothing(tmp_path: Path, fields: dict[str, str]):
    async def story() -> None:
        async with port(tmp_path) as client:
            form = {"action": "create", "createpath": "x"}
            assert (await client.post("/engine", data=form, headers=fields)).status_code == 403
            assert not (tmp_path / "crawls/x").exists()

    asyncio.run(story())


@pytest.mark.parametrize(
    "name", ["", "a/b", "../x", ".x", "a~b", "-x", "x" * 101, "a\nb", "latest"]
)
def test_names_that_are_none(tmp_path: Path, name: str):
    async def story() -> None:
        async with port(tmp_path) as client:
            form = {"action": "create", "createpath": name}
            answer = await client.post("/engine", data=form)
            assert answer.status_code == 303
            assert "nacre-message" in answer.headers
            assert not list((tmp_path / "crawls").iterdir())

    asyncio.run(story())


def test_reports_of_a_job_with_a_chinese_name_have_what_its_workers_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(snapshot, "_TOES", LONG)
    job = tmp_path / "crawls" / "图书馆"
    job.parent.mkdir()
    wanted = {"CrawlSummaryReport": "Running", "ToeThreadsReport": "pool: 25"}

    async def story(url: str) -> None:
        async with port(tmp_path) as client:
            assert (await client.post(url, data={"action": "build"})).status_code == 303
            for report, said in wanted.items():
                made = await client.get(f"{url}/report/{report}")
                assert made.status_code == 303, made.text
                found = await client.get(made.headers["location"])
                assert found.status_code == 200, found.text
                assert said in found.text, found.text

    with site(PAGES) as seed:
        new_job(job, seed, "politeness.delay=600s")
        with running_job(job):
            asyncio.run(story(f"/engine/job/{quote(job.name)}"))
