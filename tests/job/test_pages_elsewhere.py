"""A job with pages that were run in a browser, through all that is done with jobs afterwards.

No browser runs: a script sends the requests of the pages.
"""

import json
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvloop

from nacre.archive.check import Checker
from nacre.archive.page_records import page_urn
from nacre.assembly import parts
from nacre.catalogue.holdings import open_holding
from nacre.catalogue.lookup import open_index
from nacre.catalogue.page_records import PageRecordLookup
from nacre.core.rendered import PageTask, RenderedPage, RequestHandler
from nacre.core.states import ExitStatus
from nacre.job.job import Job
from nacre.machine.layout import Layout
from nacre.ops.rendered_page import RenderedPageParts
from nacre.ops.starts import restore
from nacre.recrawl.pagestore import PageStore
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from nacre.uri.surt import index_key
from tests.cli.site import nacre
from tests.crawl.again import again
from tests.crawl.jobs import crawl
from tests.crawl.raw_site import RawSite, raw_site, reply
from tests.engine.page_making import PNG
from tests.engine.pages.renderer import ask

REQUESTS = ("/news.json", "/news.md", "/app.js")
BROWSER = {"use": "always", "pictures": ["view"]}


class Application:
    """Opens pages: each sends requests, one of them a POST, and shows text."""

    slots = 2

    async def render(self, task: PageTask, handler: RequestHandler) -> RenderedPage:
        origin = "/".join(task.url.split("/")[:3])
        await ask(handler, task.url, "document")
        for path in REQUESTS:
            await ask(handler, f"{origin}{path}", "script" if path == "/app.js" else "fetch")
        await ask(handler, f"{origin}/count", method="POST", body=task.url.encode())
        name = task.url.rpartition("/")[2] or "home"
        dom = f"<title>{name}</title><p>{name} 公告</p><a href=/two.html>two</a>".encode()
        return RenderedPage(
            "settled", task.url, title=name, dom=dom, pictures={"view": PNG}, browser="Scripted/1"
        )

    async def close(self) -> None:
        """There is no browser."""


@pytest.fixture(scope="module")
def site() -> Iterator[RawSite]:
    with raw_site() as served:
        served.serve({
            "/": reply("<div id=app></div>"),
            "/two.html": reply("<div id=app></div>"),
            "/robots.txt": reply("User-agent: *\n", "text/plain"),
            "/news.json": reply('{"a": "公告"}', "application/json"),
            "/news.md": reply("# news", "text/markdown"),
            "/app.js": reply("run()" * 9000, "text/javascript"),
            "/count": reply("{}", "application/json"),
        })  # fmt: skip
        yield served


@pytest.fixture(scope="module", autouse=True)
def renderer() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "open_renderer", lambda *_: Application())
        yield


@pytest.fixture(scope="module")
def crawled(site: RawSite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pages") / "书"
    crawl(root, [f"{site.origin}/"], browser=BROWSER)
    settings = {
        "seeds": [f"{site.origin}/"],
        "browser": BROWSER,
        "politeness": {"delay": 0},
        "network": {"allow": ["127.0.0.0/8"]},
    }
    (root / "crawl.yaml").write_text(json.dumps(settings))
    return root


@pytest.fixture
def job(crawled: Path, tmp_path: Path) -> Path:
    """A copy of the job at another place, as after a move."""
    return Path(shutil.copytree(crawled, tmp_path / "moved", symlinks=True))


def texts(target: Path, site: RawSite) -> dict[str, str]:
    """The text of each page, by the captures of its information."""
    holding = open_holding([target])
    lookup = PageRecordLookup(holding, open_index(holding))
    found = {}
    for path in ("/", "/two.html"):
        url = f"{site.origin}{path}"
        for capture in open_index(holding).exact(index_key(page_urn("pageinfo", url))):
            found[path] = lookup.text(url, capture.timestamp)
    return found


TEXTS = {"/": "home 公告\ntwo", "/two.html": "two.html 公告\ntwo"}


def test_archive_is_whole(job: Path):
    checker = Checker()
    for warc in sorted(job.rglob("archive/*.warc.gz")):
        checker.file(warc)
    assert checker.finish() == []
    done = nacre("archive", job, "check")
    assert (done.code, "nothing damaged" in done.out) == (0, True), done.out


def test_index_is_the_same_when_it_is_rebuilt(job: Path):
    before = {path.name: path.read_bytes() for path in job.rglob("*.cdxj")}
    assert any(b'"urn:text:' in data for data in before.values())
    for path in job.rglob("*.cdxj"):
        path.write_bytes(b"")
    assert nacre("archive", job, "index").code == 0
    assert {path.name: path.read_bytes() for path in job.rglob("*.cdxj")} == before


def test_records_of_pages_are_found_after_a_move(job: Path, site: RawSite):
    assert texts(job, site) == TEXTS
    shown = RenderedPageParts(open_holding([job]))
    facts = shown.facts(f"{site.origin}/")
    assert facts is not None
    assert facts.title == "home"
    assert shown.picture(f"{site.origin}/", "view") == PNG
    done = nacre("explain", job, f"{site.origin}/")
    assert "run because browser.use is always" in done.out, done.err


def test_collection_has_the_records_of_pages(
    job: Path, site: RawSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NACRE_COLLECTIONS", str(tmp_path / "sets"))
    assert nacre("collection", "demo", "add", job).code == 0
    found = nacre("captures", "demo", page_urn("text", f"{site.origin}/two.html"))
    assert found.code == 0, found.err
    assert "urn:text:" in found.out
    done = nacre("archive", "demo", "pack", "--wacz", tmp_path / "demo.wacz", "--text")
    assert done.code == 0, done.err
    with zipfile.ZipFile(tmp_path / "demo.wacz") as wacz:
        names = [name for name in wacz.namelist() if name.startswith("pages/")]
        lines = [json.loads(line) for name in names for line in wacz.read(name).splitlines()[1:]]
    assert {line["url"].removeprefix(site.origin): line["text"] for line in lines} == TEXTS


def test_selection_as_warc_has_the_requests_of_pages(job: Path, tmp_path: Path):
    done = nacre("archive", job, "pack", "--warc", tmp_path / "out")
    assert done.code == 0, done.err
    (index,) = (tmp_path / "out").glob("*.cdxj")
    text = index.read_text()
    for path in REQUESTS:
        assert f'{path}"' in text


def test_deletion_keeps_the_pages_of_other_runs(job: Path, site: RawSite):
    again(job, f"{site.origin}/", 1, browser=BROWSER)
    first, second = sorted(path.name for path in (job / "runs").iterdir())
    refused = nacre("archive", job, "delete", "--run", first, "--yes")
    assert refused.code != 0
    done = nacre("archive", job, "delete", "--run", first, "--yes", "--resolve-first")
    assert done.code == 0, done.err
    assert "nothing damaged" in nacre("archive", job, "check").out
    assert (job / "runs" / second).is_dir()
    # The text was stored with the first run alone: the next visit stores it again.
    again(job, f"{site.origin}/", 2, browser=BROWSER)
    assert texts(job, site)["/"] == TEXTS["/"]


def test_rebuilt_history_has_no_rows_of_requests(job: Path, site: RawSite):
    again(job, f"{site.origin}/", 1, browser=BROWSER)
    assert nacre("history", job, "rebuild").code == 0
    site.asked.clear()
    again(job, f"{site.origin}/", 2, browser=BROWSER)
    with Store.open(str(Layout(job).store), read_only=True) as store:
        pages = PageStore(store)
        planned = {path for path in (*REQUESTS, "/count", "/two.html")
                   if pages.get(f"{site.origin}{path}") is not None}  # fmt: skip
    assert planned == {"/two.html"}
    assert site.asked.count("/news.json") == 2, "once a page"


def test_imported_crawl_log_has_the_requests_of_pages_as_seen(
    job: Path, site: RawSite, tmp_path: Path
):
    (log,) = job.glob("runs/*/logs/crawl.log")
    new = tmp_path / "new"
    settings = json.loads((job / "crawl.yaml").read_text()) | {"browser": {"use": "never"}}
    new.mkdir()
    (new / "crawl.yaml").write_text(json.dumps(settings))
    done = nacre("frontier", new, "import", log, "--crawl-log")
    assert done.code == 0, done.err
    site.asked.clear()
    assert uvloop.run(Job(new, JobSettings.model_validate(settings)).run()) is ExitStatus.FINISHED
    assert not {*REQUESTS, "/count", "/two.html"} & set(site.asked)


def test_batch_rounds_take_the_job_without_its_browser(job: Path, tmp_path: Path):
    rounds = tmp_path / "rounds"
    done = nacre("cycle", rounds, "import", job)
    assert done.code == 0, done.err
    assert '"use": "never"' in (rounds / "crawl.yaml").read_text()
    assert '"use": "always"' in (job / "crawl.yaml").read_text()
    assert nacre("cycle", rounds, "generate", "--at", "2100-01-01").code == 0


def test_pages_are_whole_after_the_way_back_to_a_checkpoint(
    site: RawSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = tmp_path / "job"
    root.mkdir()
    settings = JobSettings.model_validate({
        "seeds": [f"{site.origin}/"],
        "browser": BROWSER,
        "politeness": {"delay": 0},
        "network": {"allow": ["127.0.0.0/8"]},
    })  # fmt: skip
    jobs = [Job(root, settings)]

    class Saving(Application):
        async def render(self, task: PageTask, handler: RequestHandler) -> RenderedPage:
            if task.url.endswith("two.html") and len(jobs) == 1:
                await jobs[0].checkpoints.make("one")
            return await super().render(task, handler)

    monkeypatch.setattr(parts, "open_renderer", lambda *_: Saving())
    site.asked.clear()
    assert uvloop.run(jobs[0].run()) is ExitStatus.FINISHED
    assert restore(Layout(root), settings, "one")[0] == "one"
    jobs.append(Job(root, settings))
    assert uvloop.run(jobs[1].run()) is ExitStatus.FINISHED
    assert [site.asked.count(path) for path in ("/", "/two.html")] == [1, 2]
    checker = Checker()
    for warc in sorted(root.rglob("archive/*.warc.gz")):
        checker.file(warc)
    assert checker.finish() == []
    assert texts(root, site) == TEXTS
