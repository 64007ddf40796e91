"""Documents of pages that were run in a browser: the text that it showed, once."""

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from msgspec import structs

from nacre.assembly import parts
from nacre.core.rendered import PageTask, RenderedPage, RequestHandler
from nacre.indexing.search_index import IndexedPages, check_page, index_job
from nacre.machine.layout import Layout
from nacre.search.document import SearchDocument
from nacre.settings.settings import JobSettings
from tests.crawl.again import again
from tests.crawl.jobs import crawl
from tests.crawl.raw_site import RawSite, raw_site, reply
from tests.engine.pages.renderer import ScriptedRenderer, ask

SHELL = "<title>Shell</title><html lang=en><div id=app></div><script src=/app.js></script>"


class Memory:
    """A writer that keeps documents by their ids."""

    name = "memory"

    def __init__(self) -> None:
        self.documents: dict[str, SearchDocument] = {}

    def open(self, *, rebuild: bool = False) -> bool:
        return rebuild

    def write(self, batch: Sequence[SearchDocument]) -> None:
        self.documents |= {document.id: document for document in batch}

    def delete(self, ids: Sequence[str]) -> None:
        for each in ids:
            self.documents.pop(each, None)

    def commit(self) -> None:
        """All is kept."""

    def close(self) -> None:
        """All is kept."""


@pytest.fixture
def site() -> Iterator[RawSite]:
    with raw_site() as served:
        served.serve({
            "/": reply(SHELL),
            "/robots.txt": reply("", "text/plain"),
            "/news.md": reply("# 公告\n\nThe zebra sleeps.", "text/markdown"),
            "/part.html": reply("<p>A part in HTML."),
            "/plain.html": reply("<title>Plain</title><p>No script here."),
            "/closed.html": reply(f"<meta name=robots content=noindex>{SHELL}"),
        })  # fmt: skip
        yield served


@pytest.fixture
def renderer(site: RawSite, monkeypatch: pytest.MonkeyPatch) -> ScriptedRenderer:
    async def script(handler: RequestHandler, _task: PageTask) -> None:
        for path in ("/news.md", "/part.html"):
            await ask(handler, f"{site.origin}{path}")

    class Titled(ScriptedRenderer):
        async def render(self, task: PageTask, handler: RequestHandler) -> RenderedPage:
            return structs.replace(await super().render(task, handler), title="News")

    renderer = Titled(script, dom=dom("zebra"))
    monkeypatch.setattr(parts, "open_renderer", lambda *_: renderer)
    return renderer


def dom(word: str) -> bytes:
    links = "<a href=/plain.html>plain</a><a href=/closed.html>closed</a>"
    return f"<title>News</title><h1>公告</h1><p>The {word} sleeps.</p>{links}".encode()


def index(root: Path, memory: Memory) -> IndexedPages:
    (root / "crawl.yaml").write_text("{}\n")
    return index_job(Layout(root), JobSettings(), memory)


ALWAYS = {"use": "always", "pictures": ()}


def test_text_of_a_page_is_found_with_the_page_alone(
    site: RawSite, renderer: ScriptedRenderer, tmp_path: Path
):
    crawl(tmp_path / "job", [f"{site.origin}/"], browser=ALWAYS)
    memory = Memory()
    assert index(tmp_path / "job", memory).skipped == {"noindex": 1}
    documents = {key.removeprefix(site.origin): text for key, text in memory.documents.items()}
    assert documents.keys() == {"/", "/plain.html", "/part.html"}
    page = documents["/"]
    assert (page.title, page.lang) == ("News", "en")
    assert "The zebra sleeps." in page.content
    assert "公告" in page.content
    assert (
        check_page(Layout(tmp_path / "job"), JobSettings(), f"{site.origin}/news.md")[1] == "part"
    )
    assert index(tmp_path / "job", memory).updated == 0


def test_page_is_indexed_again_when_its_text_changes(
    site: RawSite, renderer: ScriptedRenderer, tmp_path: Path
):
    root, memory = tmp_path / "job", Memory()
    crawl(root, [f"{site.origin}/"], browser=ALWAYS)
    index(root, memory)
    renderer.dom = dom("斑马")
    again(root, f"{site.origin}/", 1, browser=ALWAYS)
    assert index(root, memory).updated > 0
    assert "斑马" in memory.documents[f"{site.origin}/"].content
    # Without a browser the text of its reply counts, once this is another one.
    site.replies["/"] = reply("<title>Plain</title><p>All text is here now.")
    again(root, f"{site.origin}/", 2, browser={"use": "never"})
    index(root, memory)
    page = memory.documents[f"{site.origin}/"]
    assert (page.title, page.content) == ("Plain", "All text is here now.")


def test_file_of_states_of_an_older_version_is_filled_again(
    site: RawSite, renderer: ScriptedRenderer, tmp_path: Path
):
    root, memory = tmp_path / "job", Memory()
    crawl(root, [f"{site.origin}/"], browser=ALWAYS)
    index(root, memory)
    with sqlite3.connect(Layout(root).index / "pages.sqlite") as old:
        old.executescript("delete from shown; delete from indexed; pragma user_version = 0")
    old.close()
    index(root, memory)
    assert "zebra" in memory.documents[f"{site.origin}/"].content
