"""`--dry-run` of every step: the directory has the same files afterwards, with the same content."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.site import nacre, site

pytestmark = pytest.mark.crawl

_SAME = "<p>同一页内容</p>" * 20
_PAGES = {
    "/": "<a href='/a.html'>a</a> <a href='/b.html'>b</a> <a href='/c.html'>c</a>",
    "/a.html": _SAME,
    "/b.html": _SAME,
    "/c.html": f"{_SAME}<p>终</p><link rel='canonical' href='/a.html'>",
    "/new.html": "<p>新</p>",
    "/sitemap.xml": "<urlset><url><loc>http://127.0.0.1/d.html</loc></url></urlset>",
}
_LOOSE = ("--set", "cycle.links.ignore_internal=none", "--set", "cycle.dedup.near=true")


def files_of(root: Path) -> dict[str, str]:
    """The digests of all files of a directory, by path."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def require_dry(root: Path, *words: object) -> str:
    """A dry run that does something, and leaves all as it was; what it says."""
    before = files_of(root)
    done = nacre("cycle", root, *words, "--dry-run")
    assert done.code == 0, (words, done.err)
    assert files_of(root) == before, words
    return done.out


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Path]:
    """A directory whose last segment is updated and no more, another one, and a job."""
    folder = tmp_path_factory.mktemp("dry")
    root, other, job = (folder / name for name in ("书", "other", "job"))
    with site(_PAGES) as home:
        words = ("--delay", "0", *_LOOSE)
        done = nacre("cycle", root, "-s", home, "--dedup", "off", *words)
        assert done.code == 0, done.err
        for step in ("generate", "fetch", "update"):
            assert nacre("cycle", root, step).code == 0
        assert nacre("cycle", other, "-s", f"{home}new.html", *words).code == 0
        assert nacre("crawl", home, "--out", job, "--delay", "0").code == 0
    return root, other, job


def test_what_changes_tables(roots: Sequence[Path]):
    root, other, job = roots
    assert "1 new" in require_dry(root, "inject", "http://new.test/")
    assert "asked again" in require_dry(root, "inject", "--refilter", "http://new.test/")
    assert "links of 1 segment" in require_dry(root, "links")
    found = require_dry(root, "dedup", "--near", "--canonical")
    assert "by their canonical link" in found
    assert "1 new" in require_dry(root, "merge", other)
    require_dry(root, "import", job)
    require_dry(root, "rank", "--level", "page")
    require_dry(root, "compact")
    require_dry(root, "index")


def test_what_makes_and_takes_segments(roots: Sequence[Path]):
    root, _, _ = roots
    [segment, *_] = sorted(path.name for path in (root / "cycle/segments").iterdir())
    require_dry(root, "parse", segment)
    require_dry(root, "generate", "--urls", "http://new.test/", "--at", "2030-01-01T00:00:00Z")
    require_dry(root, "generate", "--at", "2030-01-01T00:00:00Z")
    require_dry(root, "sitemaps", "http://127.0.0.1/sitemap.xml")
    require_dry(root, "update")
    assert nacre("cycle", root, "generate", "--urls", "http://127.0.0.1:1/").code == 0
    require_dry(root, "fetch")
