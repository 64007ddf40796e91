"""A list in pages overflows between two runs: it is read on until known links."""

import os
from pathlib import Path

import pytest

from nacre.recrawl.pagestore import PageStore, fetch_rows
from nacre.store.store import Store
from tests.crawl.again import again, first, kept
from tools.nginx import Server, free_port, serving

pytestmark = pytest.mark.crawl

ADDRESS = "127.0.9.37"
SIZE = 10
PAGE = "<html><head><title>{0}</title></head><body><h1>{0}</h1>{1}</body></html>"


def write(root: Path, articles: int) -> None:
    """A list of the newest articles first, ten on a page, with links to its further pages."""
    (root / "news").mkdir(parents=True, exist_ok=True)
    for number in range(articles):
        path = root / "news" / f"t20260101_{number + 100}.html"
        if not path.exists():
            text = f"<p>What article {number} says is of some length and of no interest.</p>"
            path.write_text(PAGE.format(f"Article {number}", text * 4))
    newest = list(range(articles))[::-1]
    for page in range(-(-articles // SIZE)):
        entries = newest[page * SIZE : (page + 1) * SIZE]
        items = "".join(
            f'<li><a href="t20260101_{number + 100}.html">The headline of article {number}</a></li>'
            for number in entries
        )
        more = f'<a href="index_{page + 1}.html">Next page</a>' if entries[-1] else ""
        name = f"index_{page}.html" if page else "index.html"
        path = root / "news" / name
        path.write_text(PAGE.format("News", f"<ul>{items}</ul>{more}"))
        # Lists are equally long: without another time the server would say that nothing changed.
        os.utime(path, (1_700_000_000 + articles, 1_700_000_000 + articles))


def test_paging_is_read_until_known_links(tmp_path: Path):
    root, job = tmp_path / "site", tmp_path / "job"
    write(root, 62)
    port = free_port((ADDRESS,))
    server = Server(ADDRESS, port, root, directives="open_file_cache off;")
    seed = f"http://{ADDRESS}:{port}/news/index.html"
    # No page of the list is visited for its own chance, beside the start page.
    calm = {"lots": 0.0, "probes": 0, "least": 0.99}
    with serving([server], tmp_path / "nginx"):
        first(job, seed)
        for day in (1, 2):
            write(root, 62 + day)
            again(job, seed, day, recrawl=calm)
        write(root, 64 + 25)
        again(job, seed, 3, recrawl=calm)
    news = f"http://{ADDRESS}:{port}/news"
    with Store.open(str(job / "state/store"), read_only=True) as store:
        last = {
            row.url: row.wanted
            for row in fetch_rows(store)
            if row.run == 4 and row.wanted != "pair"  # a second fetch of what was chosen before
        }
        rows = {row.url for row in PageStore(store).scan() if row.visits}
    assert last[f"{news}/index_1.html"] == last[f"{news}/index_2.html"] == "paging"
    assert last.get(f"{news}/index_3.html") != "paging"
    wanted = {f"{news}/t20260101_{number + 100}.html" for number in range(64, 89)}
    assert wanted <= rows
    responses = kept(max((job / "runs").iterdir())).responses
    assert wanted <= {url for url, (_, status) in responses.items() if status == 200}
