"""Keys that are restricted to places: other jobs are neither listed nor found."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from nacre.errors import ConfigError
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.places import places_of
from nacre.fleet.reach import PortOptions
from nacre.fleet.users import HeritrixKeyBook
from nacre.ops.operation import Role
from nacre_migrate.port.app import HeritrixApp
from tests.cli.site import nacre
from tests.console.given import given_console

JSON = {"accept": "application/json"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two places, and a job that is a place itself."""
    for name in ("crawls/x", "图书馆/x", "图书馆/y", "alone/single"):
        job = tmp_path / name
        job.parent.mkdir(exist_ok=True)
        assert nacre("new", job, "http://127.0.0.1:9/").code == 0
    return tmp_path


@asynccontextmanager
async def two_places(folder: Path, places: Sequence[str]) -> AsyncIterator[httpx.AsyncClient]:
    """A client with a key for some of the places `crawls`, `图书馆` and `alone`, a job."""
    roots = [folder / "crawls", folder / "图书馆", folder / "alone" / "single"]
    async with given_console(folder) as console:
        console.parts.common.fleet.places = places_of(roots)
        await console.parts.common.fleet.scan()
        database = ConsoleDatabase(folder / "keys")
        book = HeritrixKeyBook(database)
        secret = book.set("anna", Role.OPERATOR, places)

        def ends() -> None:
            pytest.fail("the console is not ended")

        app = HeritrixApp(console.parts.port(book), PortOptions(0), "http://localhost:8410/", ends)
        try:
            async with httpx.AsyncClient(
                transport=httpx.ASGITransport(app.asgi()), base_url="https://localhost:8443",
                auth=httpx.DigestAuth("anna", secret), headers=JSON,
            ) as client:  # fmt: skip
                yield client
        finally:
            database.close()


@pytest.mark.parametrize(
    ("places", "names"),
    [
        ((), {"crawls~x", "图书馆~x", "y", "single"}),
        (("crawls",), {"x"}),
        (("图书馆",), {"x", "y"}),
        (("alone",), {"single"}),
        (("gone",), set()),
    ],
)
def test_asvs_8_2_2_a_key_lists_the_jobs_of_its_places(
    folder: Path, places: Sequence[str], names: set[str]
):
    async def story() -> None:
        async with two_places(folder, places) as client:
            engine = (await client.get("/engine")).json()
            assert {job["shortName"] for job in engine["jobs"]} == names
            listing = (await client.get("/engine/jobsdir/")).text
            assert listing.count("<li>") == len(names)

    asyncio.run(story())


def test_asvs_8_2_2_no_request_finds_a_job_of_another_place(folder: Path):
    hidden = folder / "图书馆" / "y"

    async def story() -> None:
        async with two_places(folder, ("crawls",)) as client:
            for job in ("y", "图书馆~y", "single"):
                at = f"/engine/job/{job}"
                for path in ("", "/beans", "/script", "/jobdir/", "/jobdir/crawl.yaml"):
                    assert (await client.get(f"{at}{path}")).status_code == 404, path
                assert (await client.get(f"{at}/report/SeedsReport")).status_code == 404
                assert (await client.get(f"/engine/jobsdir/{job}/seeds.txt")).status_code == 404
                for form in ({"action": "build"}, {"action": "delete"}, {"copyTo": "z"}):
                    assert (await client.post(at, data=form)).status_code == 404
                script = {"script": "rawOut.println( appCtx.getCurrentLaunchId() );"}
                assert (await client.post(f"{at}/script", data=script)).status_code == 404
                put = await client.put(f"{at}/jobdir/seeds.txt", content=b"http://b.test/\n")
                assert put.status_code == 404
                bean = {"beanPath": "disposition.minDelayMs", "newVal": "1"}
                changed = await client.post(f"{at}/beans", data=bean)
                assert "there is no job" in changed.headers["nacre-message"]
            for place in (hidden, folder / "alone" / "single"):
                add = {"action": "add", "addpath": str(place)}
                added = await client.post("/engine", data=add)
                assert "below no directory" in added.headers["nacre-message"]
        assert (hidden / "seeds.txt").read_text("utf-8") == "http://127.0.0.1:9/\n"
        assert not (hidden / "job.log").exists()

    asyncio.run(story())


def test_a_new_job_is_made_in_a_place_of_the_key(folder: Path):
    async def story(places: Sequence[str]) -> str:
        async with two_places(folder, places) as client:
            form = {"action": "create", "createpath": "z"}
            return (await client.post("/engine", data=form)).headers["nacre-message"]

    assert asyncio.run(story(("图书馆",))) == "Created new crawl job: z"
    assert (folder / "图书馆" / "z").is_dir()
    assert not (folder / "crawls" / "z").exists()


def test_a_key_for_a_single_job_makes_none(folder: Path):
    async def story() -> None:
        async with two_places(folder, ("alone",)) as client:
            assert (await client.get("/engine")).json()["jobsDir"] == ""
            form = {"action": "create", "createpath": "z"}
            refused = await client.post("/engine", data=form)
            assert "no directory for new jobs" in refused.headers["nacre-message"]

    asyncio.run(story())


def test_an_admin_has_all_places(tmp_path: Path):
    database = ConsoleDatabase(tmp_path)
    with pytest.raises(ConfigError, match="an admin sees all places"):
        HeritrixKeyBook(database).set("anna", Role.ADMIN, ["crawls"])
    assert HeritrixKeyBook(database).find("anna")[1] == ""
    database.close()


def test_the_command_takes_places(tmp_path: Path):
    words = ("console", "heritrix-key", "anna", "--state", tmp_path)
    for label in ("图书馆", "crawls"):
        (tmp_path / "places" / label).mkdir(parents=True)
        added = nacre("console", "place", "add", tmp_path / "places" / label, *words[3:])
        assert added.code == 0, added.err
    assert nacre(*words, "--place", "图书馆", "--place", "crawls").code == 0
    database = ConsoleDatabase(tmp_path)
    assert HeritrixKeyBook(database).find("anna")[0].places == ("crawls", "图书馆")
    assert nacre(*words).code == 0
    assert HeritrixKeyBook(database).find("anna")[0].places == ()
    database.close()
    refused = nacre(*words, "--role", "admin", "--place", "crawls")
    assert (refused.code, "an admin sees all places" in refused.err) == (2, True)
