"""An application whose shell never changes: a full run, then incremental ones."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvloop
from msgspec import structs

from nacre.archive.page_records import page_urn, urn_parts
from nacre.archive.reader import WarcReader
from nacre.assembly import parts
from nacre.catalogue.holdings import open_holding
from nacre.catalogue.lookup import open_index
from nacre.catalogue.page_records import PageRecordLookup
from nacre.core.history import FetchRow
from nacre.core.rendered import PageTask, RenderedPage, RenderedRoute, RequestHandler
from nacre.job.job import Job
from nacre.machine.layout import Layout
from nacre.ops.rendered_page import RenderedPageParts
from nacre.recrawl.pagestore import PageStore, fetch_rows
from nacre.store.store import Store
from nacre.uri.surt import index_key
from tests.crawl.again import again, settings
from tests.crawl.raw_site import RawSite, raw_site, reply
from tests.engine.pages.renderer import ask

TEXT = "The library opens at nine and closes at five on every day of the week but Sunday. "
SHELL = reply("<div id=app></div><script src=/app.js></script>")
ALWAYS = {"use": "always", "pictures": ()}


class _Application:
    """Opens a page as its script would: it asks for JSON, and shows it."""

    slots = 2

    def __init__(self) -> None:
        self.opened: list[str] = []

    async def render(self, task: PageTask, handler: RequestHandler) -> RenderedPage:
        self.opened.append(task.url)
        name = task.url.rpartition("/")[2] or "home"
        origin = "/".join(task.url.split("/")[:3])
        await ask(handler, f"{origin}/app.js", "script")
        answer = await ask(handler, f"{origin}/api/{name}", "fetch")
        data = json.loads(answer.body)
        links = "".join(f"<a href=/{link}>{link}</a>" for link in data["links"])
        dom = f"<div id=app><h1>{name}</h1><p>{data['text']}</p><p>{TEXT}</p>{links}</div>"
        return RenderedPage("settled", task.url, dom=dom.encode(), browser="Scripted/1")

    async def close(self) -> None:
        """There is no browser."""


def _api(text: str, *links: str) -> bytes:
    return reply(json.dumps({"text": text, "links": links}), "application/json")


@pytest.fixture
def site() -> Iterator[RawSite]:
    with raw_site() as served:
        served.serve({
            "/": SHELL, "/one": SHELL, "/two": SHELL, "/app.js": reply("run()", "text/javascript"),
            "/api/home": _api("Welcome.", "one", "two"),
            "/api/one": _api("The exhibition opens in May."),
            "/api/two": _api("The tower is closed."),
            "/robots.txt": reply("User-agent: *\nAllow: /\n", "text/plain"),
        })  # fmt: skip
        yield served


@pytest.fixture
def application(monkeypatch: pytest.MonkeyPatch) -> _Application:
    renderer = _Application()
    monkeypatch.setattr(parts, "open_renderer", lambda *_: renderer)
    return renderer


def _visits(job: Path, run: int) -> dict[str, FetchRow]:
    with Store.open(str(Layout(job).store), read_only=True) as store:
        rows = [row for row in fetch_rows(store) if row.run == run and row.reason != "pair"]
    return {row.url.partition("//")[2].partition("/")[2]: row for row in rows}


def _first(job: Path, site: RawSite) -> None:
    job.mkdir()
    plan = settings(f"{site.origin}/", browser=ALWAYS)
    assert str(uvloop.run(Job(job, plan).run())) == "FINISHED"


def _crawl(job: Path, site: RawSite, days: float) -> None:
    every = {"recall": 1.0, "least": 0.0, "probes": 0, "audits": 0.0}
    assert again(job, f"{site.origin}/", days, browser=ALWAYS, recrawl=every) == "FINISHED"


def test_changes_are_judged_on_what_the_pages_say(
    site: RawSite, application: _Application, tmp_path: Path
) -> None:
    job = tmp_path / "job"
    _first(job, site)
    assert len(application.opened) == 3
    site.serve({"/api/one": _api("The exhibition was cancelled.")})
    _crawl(job, site, 7)
    visits = _visits(job, 2)
    assert visits["one"].kind in {"minor", "major"}
    assert (visits["two"].kind, visits[""].kind) == ("none", "none")
    assert all(visits[name].rendered for name in ("", "one", "two"))
    assert not {"app.js", "api/one"} & set(visits)
    site.serve({"/api/two": _api("The tower is open."), "/api/home": _api("Hi.", "one", "three")})
    site.serve({"/three": SHELL, "/api/three": _api("A new page. \u65b0\u9875")})
    _crawl(job, site, 14)
    visits = _visits(job, 3)
    assert visits["two"].kind in {"minor", "major"}
    assert (visits["one"].kind, visits["three"].kind) == ("none", "new")


def test_a_shell_that_is_not_modified_is_run(
    site: RawSite, application: _Application, tmp_path: Path
) -> None:
    tagged = SHELL.replace(b"\r\n\r\n", b'\r\nETag: "1"\r\n\r\n', 1)
    same = b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\nConnection: close\r\n\r\n'

    def answer(head: bytes) -> bytes:
        return same if b"if-none-match" in head.lower() else tagged

    site.answers.update(dict.fromkeys(("/", "/one", "/two"), answer))
    job = tmp_path / "job"
    _first(job, site)
    site.serve({"/api/two": _api("The tower is open again, on Sundays and at night.")})
    _crawl(job, site, 7)
    visits = _visits(job, 2)
    assert (visits["two"].status, visits["two"].stored) == (304, "not-modified")
    assert visits["two"].kind in {"minor", "major"}
    assert visits["two"].rendered
    assert visits["one"].kind == "none"
    assert application.opened.count(f"{site.origin}/two") >= 2
    _crawl(job, site, 14)
    assert _visits(job, 3)["two"].kind == "none"


def test_requests_of_pages_count_for_the_budget_and_are_not_planned(
    site: RawSite, application: _Application, tmp_path: Path
) -> None:
    job = tmp_path / "job"
    _first(job, site)
    _crawl(job, site, 7)
    with Store.open(str(Layout(job).store), read_only=True) as store:
        urls = {row.url.removeprefix(site.origin) for row in PageStore(store).scan()}
    assert {"/", "/one", "/two"} <= urls
    assert not {url for url in urls if url.startswith("/api/")}
    assert sorted(set(application.opened)) == [
        f"{site.origin}/{name}" for name in ("", "one", "two")
    ]


def _records(job: Path) -> list[tuple[str, str]]:
    """Kind and path of the own records of pages, in the order of the runs."""
    found = []
    for run in sorted((job / "runs").iterdir()):
        for warc in sorted(run.glob("archive/*-pages-*.warc.gz")):
            with warc.open("rb") as file:
                targets = [entry.get("WARC-Target-URI") or "" for entry in WarcReader(file)]
            found += [urn_parts(target) for target in targets if target]
    return [(kind, url.partition("//")[2].partition("/")[2]) for kind, url in found]


def test_page_that_did_not_change_has_no_new_text(
    site: RawSite, application: _Application, tmp_path: Path
):
    job = tmp_path / "job"
    _first(job, site)
    site.serve({"/api/one": _api("The exhibition moves to the tower in June, for one year.")})
    again(job, f"{site.origin}/", 1, browser=ALWAYS)
    again(job, f"{site.origin}/", 2, browser=ALWAYS)
    records = Counter(_records(job))
    assert (records["pageinfo", "two"], records["text", "two"]) == (3, 1)
    # A page that changed is fetched twice at once, to learn what is noise.
    assert (records["pageinfo", "one"], records["text", "one"]) == (4, 3)
    holding = open_holding([job])
    index = open_index(holding)
    lookup, shown = PageRecordLookup(holding, index), RenderedPageParts(holding)
    for name, text in (("two", "closed"), ("one", "tower")):
        url = f"{site.origin}/{name}"
        *_, last = index.exact(index_key(url))
        infos = index.exact(index_key(page_urn("pageinfo", url)))
        facts_of = [lookup.info(capture) for capture in infos]
        is_same = [facts is not None and facts.unchanged for facts in facts_of]
        assert is_same[0] is False
        assert is_same[1] is (name == "two")
        assert is_same[-1] is True
        assert text in lookup.text(url, last.timestamp)
        assert len(lookup.all_of(url, last.timestamp)) == 2
        facts = shown.facts(url, last.timestamp)
        assert facts is not None
        assert facts.unchanged


class _Routed(_Application):
    """An application of one document, whose pages are hash routes."""

    text = "The tower is closed."

    async def render(self, task: PageTask, handler: RequestHandler) -> RenderedPage:
        page = await super().render(task, handler)
        dom = f"<div id=app><h1>Tower</h1><p>{self.text}</p><p>{TEXT}</p></div>".encode()
        return structs.replace(page, routes=(RenderedRoute(f"{task.url}#/tower", dom),))


def test_changes_in_hash_routes_are_changes_of_the_page(
    site: RawSite, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    job, renderer = tmp_path / "job", _Routed()
    monkeypatch.setattr(parts, "open_renderer", lambda *_: renderer)
    site.serve({"/api/home": _api("Welcome.")})
    _first(job, site)
    _crawl(job, site, 7)
    assert _visits(job, 2)[""].kind == "none"
    renderer.text = "\u5854\u5f00\u653e\u4e86: the tower is open again, on Sundays and at night."
    _crawl(job, site, 14)
    assert _visits(job, 3)[""].kind in {"minor", "major"}
    assert [kind for kind, _ in _records(job)][:3] == ["pageinfo", "text", "pageinfo"]
