"""Style sheets, scripts and images that change under their names are found by a recrawl too."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nacre.recrawl.pagestore import fetch_rows
from nacre.store.store import Store
from tests.crawl.again import again, first, kept
from tools.nginx import Server, free_port, serving

pytestmark = pytest.mark.crawl

ADDRESS = "127.0.9.33"
HEAD = '<link rel="stylesheet" href="/static/style.css"><script src="/static/menu.js"></script>'
PAGE = "<html><head><title>{0}</title>{1}</head><body><h1>{0}</h1><p>{2}</p>{3}</body></html>"
PAGES, PICTURES = 8, 6
ANEW = "Everything on this page was written anew, from its first word to its last."


def made(root: Path) -> Path:
    """Pages with a style sheet and a script in common, and a picture each for some."""
    (root / "static").mkdir(parents=True)
    (root / "pictures").mkdir()
    (root / "static/style.css").write_text("body { color: #112233; background: white }")
    (root / "static/menu.js").write_text("document.title = document.title.trim();")
    for number in range(PICTURES):
        (root / f"pictures/{'abcdef'[number]}.png").write_bytes(b"\x89PNG" + bytes([number]) * 50)
    for number in range(PAGES):
        rewrite(root, number, f"Once upon a time there was page {number}, and it said little more.")
    links = "".join(f'<a href="{number}.html">Page {number}</a> ' for number in range(PAGES))
    (root / "index.html").write_text(PAGE.format("Home", HEAD, "Where all begins.", links))
    return root


def rewrite(root: Path, number: int, text: str) -> None:
    picture = f'<img src="/pictures/{"abcdef"[number]}.png">' if number < PICTURES else ""
    (root / f"{number}.html").write_text(PAGE.format(f"Page {number}", HEAD, text, picture))


@contextmanager
def served(root: Path) -> Iterator[str]:
    port = free_port((ADDRESS,))
    server = Server(ADDRESS, port, root, directives="open_file_cache off;")
    with serving([server], root.parent / "nginx"):
        yield f"http://{ADDRESS}:{port}/index.html"


def stored(job: Path) -> dict[str, int]:
    """What the last run stored in full: names and statuses."""
    found = kept(max((job / "runs").iterdir())).responses
    names = {url.rpartition("/")[2]: status for url, (_, status) in found.items()}
    return {name: status for name, status in names.items() if name != "robots.txt"}


def test_a_style_sheet_that_changed_alone_is_found(tmp_path: Path) -> None:
    site, job = made(tmp_path / "site"), tmp_path / "job"
    with served(site) as seed:
        first(job, seed)
        (site / "static/style.css").write_text(
            "body { color: black; background: #fffffe; margin: 0 }"
        )
        again(job, seed, 7)
    assert stored(job) == {"style.css": 200}


def test_what_lies_beside_what_changed_is_looked_at(tmp_path: Path) -> None:
    site, job = made(tmp_path / "site"), tmp_path / "job"
    with served(site) as seed:
        first(job, seed)
        rewrite(site, 0, ANEW)
        for name in ("b", "d", "f"):
            (site / f"pictures/{name}.png").write_bytes(b"\x89PNG another " + name.encode() * 9)
        (site / "pictures/e.png").unlink()
        again(job, seed, 7)
    assert stored(job) == {"0.html": 200, "b.png": 200, "d.png": 200, "f.png": 200, "e.png": 404}
    with Store.open(str(job / "state/store"), read_only=True) as store:
        visits = {row.url.rpartition("/")[2]: row for row in fetch_rows(store) if row.run == 2}
    assert {visits[f"{name}.png"].wanted for name in "abcdef"} == {"sign", "sample"}
    assert (visits["d.png"].kind, visits["e.png"].answer) == ("major", "missing")


def test_embeds_come_within_the_budget(tmp_path: Path) -> None:
    site, job = made(tmp_path / "site"), tmp_path / "job"
    with served(site) as seed:
        first(job, seed)
        rewrite(site, 0, ANEW)
        again(job, seed, 7, budget="6")
    visited = [url for url in kept(max((job / "runs").iterdir())).dates if "robots" not in url]
    assert 1 < len(visited) <= 6


def test_embeds_keep_their_way_from_the_seed(tmp_path: Path) -> None:
    site, job = made(tmp_path / "site"), tmp_path / "job"
    with served(site) as seed:
        first(job, seed)
        again(job, seed, 7)
    lines = (max((job / "runs").iterdir()) / "logs/crawl.log").read_text().splitlines()
    paths = {line.split()[3].rpartition("/")[2]: line.split()[4] for line in lines}
    assert paths["style.css"].endswith("E")
