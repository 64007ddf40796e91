"""The banner about the kind of URLs that most of what waits is of, and its button."""

import asyncio
import json
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from nacre.console.jobs.overview import crowd_links
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.job_books import MOST, WantedKindBook, kinds_of
from nacre.job.diagnosis import CrowdedKind
from nacre.job.overview import JobOverview, SlowQueue
from nacre.machine.layout import Layout
from nacre.ops.operation import Role
from nacre.web.live.poller import Poller
from tests.cli.site import nacre, site
from tests.console.given import GivenConsole, play
from tests.console.jobs.test_same_sentence import PACE, answering

KIND = CrowdedKind("test,a,", "http://a.test/rili?", 1_700, 1_711)


def test_the_banner_leads_to_the_wizard_and_to_the_urls():
    found = crowd_links("crawls~demo", KIND)
    assert found is not None
    wizard = parse_qs(urlsplit(found.exclude).query)
    assert wizard["urls"] == [r"^https?://a\.test/rili\?"]
    shown = parse_qs(urlsplit(found.show).query)
    assert shown == {"queue": ["test,a,"], "re": [r"^https?://a\.test/rili\?"]}
    assert crowd_links("crawls~demo", None) is None


def test_wanted_kinds_are_kept_and_move_with_their_job(tmp_path: Path):
    database = ConsoleDatabase(tmp_path)
    book = WantedKindBook(database)

    async def named(console: GivenConsole) -> None:
        (job,) = console.parts.common.fleet.jobs
        assert book.of(job) == ()
        assert book.set(job, ("http://b.test/", "http://a.test/", "http://b.test/")) == (
            "http://b.test/", "http://a.test/",
        )  # fmt: skip
        assert WantedKindBook(database).of(job) == ("http://b.test/", "http://a.test/")
        book.move(str(job.layout.root), "/elsewhere")
        assert WantedKindBook(database).of(job) == book.of(job) == ()
        book.move("/elsewhere", str(job.layout.root))
        assert WantedKindBook(database).of(job) == book.of(job) == (
            "http://b.test/", "http://a.test/",
        )  # fmt: skip
        for number in range(MOST + 1):
            book.set(job, kinds_of(book.of(job), (f"http://c.test/{MOST - number}/",)))
        kept = book.of(job)
        assert (len(kept), kept[0]) == (MOST, f"http://c.test/{MOST - 1}/")
        assert kept[-1] == "http://c.test/0/"

    (tmp_path / "crawls").mkdir()
    assert nacre("new", tmp_path / "crawls" / "demo", "http://a.test/").code == 0
    play(tmp_path, named)
    database.close()


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a job that stopped with 30 pages of a directory waiting."""
    folder = tmp_path_factory.mktemp("crowd")
    pages = {"/": "".join(f'<a href="/rili?m={n}">{n}</a>' for n in range(30))}
    with site(pages) as url:
        job = folder / "crawls" / "demo"
        done = nacre("crawl", url, "--out", job, "-q", "--set", "limits.documents=1",
                     "--set", "politeness.delay=0")  # fmt: skip
        assert done.code == 4, done.err
    return folder


async def looked_at(console: GivenConsole, kind: CrowdedKind) -> None:
    fields = console.as_session()
    page = await console.client.get("/j/crawls~demo", headers=fields)
    assert f"Most queued URIs are of one kind: {kind.prefix}" in unescape(page.text)
    assert "It is wanted" in page.text
    looks = await console.client.get("/j/crawls~demo", headers=console.as_session(Role.VIEWER))
    assert "Show it" in looks.text
    assert "It is wanted" not in looks.text


async def wanted(console: GivenConsole, kind: CrowdedKind) -> None:
    fields = console.as_session()
    at = "/api/v1/jobs/crawls~demo"
    detail = await console.client.get(at, headers=fields)
    assert detail.json()["crowded"]["prefix"] == kind.prefix
    other = await console.client.post(
        "/j/crawls~demo/wanted", headers=fields, data={"prefix": "http://b.test/"}
    )
    assert other.status_code == 409
    sent = await console.client.post(
        "/j/crawls~demo/wanted", headers=fields, data={"prefix": kind.prefix}
    )
    assert sent.status_code == 303
    detail = await console.client.get(at, headers=fields)
    assert detail.json()["crowded"] is None
    kinds = await console.client.get(f"{at}/wanted-kinds", headers=fields)
    assert kinds.json() == {"prefixes": [kind.prefix]}
    again = await console.client.put(f"{at}/wanted-kinds", headers=fields, json={"prefixes": []})
    assert again.json() == {"prefixes": []}
    detail = await console.client.get(at, headers=fields)
    assert detail.json()["crowded"] is not None


def test_the_poller_finds_the_kind_and_a_button_says_that_it_is_wanted(
    stopped: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("nacre.job.diagnosis_facts.MANY", 20)
    monkeypatch.setattr("nacre.web.live.poller.MANY", 20)
    layout = Layout(stopped / "crawls" / "demo")

    async def played(console: GivenConsole) -> None:
        parts = console.parts
        poller: Poller = parts.common.poller
        (job,) = parts.common.fleet.jobs
        tree = await parts.common.readers.ask(
            "tree", layout.root, prefix="", queue="", path="", whole=False, after="", limit=9
        )
        queue = tree["items"][0]["queue"]
        overview = JobOverview("RUNNING", parallel=25, queued=31)
        slow = SlowQueue(queue, 31, 1.0, 31.0, host="127.0.0.1")
        answer = {
            "overview": msgspec.to_builtins(overview), "slowest": msgspec.to_builtins([slow]),
            "fetching": [], "pace": {**PACE, "grows": True},
        }  # fmt: skip
        async with answering(layout, answer):
            await poller.look(job)
            assert poller.snapshot(job).crowded is None
            await poller.look_at_crowd(job)
            await poller.look(job)
            kind = poller.snapshot(job).crowded
            assert kind is not None
            assert kind.prefix.endswith("/rili?")
            assert kind.number > 20
            assert "exclude" in poller.snapshot(job).sentence.remedies
            status = await asyncio.to_thread(nacre, "status", layout.root)
            assert f"Most queued URIs are of one kind: {kind.prefix} (" in status.out
            assert f"nacre frontier {layout.root} exclude --regex " in status.out
            told = json.loads((await asyncio.to_thread(nacre, "status", layout.root, "--json")).out)
            assert told["crowded"]["code"] == "crowded-grows"
            await looked_at(console, kind)
            await wanted(console, kind)

    play(stopped, played)
