"""WACZ files of jobs with pages that were run in a browser."""

import json
import zipfile
from pathlib import Path

from nacre.archive.page_records import page_urn
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import open_holding
from nacre.catalogue.lookup import open_index
from nacre.catalogue.page_records import PageRecordLookup
from nacre.packing.wacz import PackOptions, pack_wacz
from tests.engine.page_making import PNG, page_id, page_visit, request_visit
from tests.engine.visiting import SEED, OpenJob, visiting

SCRIPT = "http://cdn.test/library.js"
HTML = {"head": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 11\r\n\r\n"}


def make(root: Path) -> None:
    """A job of two pages: one was run; the other, whose bytes are the same, was run too."""

    async def act(job: OpenJob):
        for number, url in ((1, SEED), (2, "http://b.test/")):
            script = request_visit(job, SCRIPT, b"f()" * 9000)
            visit = page_visit(job, url, [script], number, capture=HTML)
            assert visit.page is not None
            await job.session.engine.visits.complete(visit)
            job.session.storing.pages.close(visit.page)
        job.end(job.reply(url="http://c.test/", body=b"<title>Plain</title>", mime="text/html"))
        job.session.storing.rotate()

    visiting(root, act)


def pack(root: Path, captures: list[IndexedCapture] | None = None) -> list[dict[str, object]]:
    """The lines of all pages of a package, without the head."""
    target = root.with_name("a.wacz")
    options = PackOptions(created=1_795_168_800.0, text=True, replace=True)
    pack_wacz(open_holding([root]), target, captures, options, lambda _done, _total: None)
    with zipfile.ZipFile(target) as wacz:
        names = [name for name in wacz.namelist() if name.startswith("pages/")]
        return [json.loads(line) for n in names for line in wacz.read(n).splitlines()[1:]]


def test_lines_of_pages_that_were_run_are_made_of_their_information(tmp_path: Path):
    root = tmp_path / "job"
    make(root)
    pages = {page["url"]: page for page in pack(root)}
    assert pages.keys() == {SEED, "http://b.test/", "http://c.test/"}
    for number, url in ((1, SEED), (2, "http://b.test/")):
        # The document of the second is a revisit: only its information shows that it is a page.
        assert pages[url]["id"] == page_id(number)
        assert (pages[url]["title"], pages[url]["loadState"]) == ("Shop", 4)
        assert pages[url]["text"] == "Ready 已就绪"
    assert "loadState" not in pages["http://c.test/"]


def test_selection_of_a_page_has_its_own_records(tmp_path: Path):
    root = tmp_path / "job"
    make(root)
    holding = open_holding([root])
    index = open_index(holding)
    (capture,) = index.prefix("test,b)/ ")
    (page,) = pack(root, [capture])
    assert (page["id"], page["text"]) == (page_id(2), "Ready 已就绪")
    records = PageRecordLookup(holding, index)
    found = records.find("view", "http://b.test/", capture.timestamp)
    assert found is not None
    assert found.url == page_urn("view", "http://b.test/")
    assert records.read(found) == ("image/png", PNG)
    assert records.find("view", "http://b.test/", "20200101000000") is None
    assert len(records.all_of(SEED, capture.timestamp)) == 4
