"""`--dry-run` of every step: the directory has the same files afterwards, with the same content."""

import hashlib
import json
import shutil
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
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a directory whose last segment is updated and no more, another one, a job."""
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
    return folder


@pytest.fixture
def roots(made: Path, tmp_path: Path) -> Sequence[Path]:
    """The three, for one test: some change them."""
    shutil.copytree(made, tmp_path / "own", symlinks=True)
    return [tmp_path / "own" / name for name in ("书", "other", "job")]


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


def test_what_maintains_tables(roots: Sequence[Path]):
    root, other, _ = roots
    [last] = [path.name for path in (other / "cycle/segments").iterdir()]
    assert require_dry(other, "segments", "drop", last) == f"{last} would be given up\n"
    assert "version 2 can be restored" in require_dry(other, "versions", "restore", "2")
    done = nacre("cycle", other, "versions", "restore", "99", "--dry-run")
    assert done.code != 0
    assert "0 damaged" in require_dry(other, "storage", "check", "--repair")
    given = ("--urls", "http://127.0.0.1:1/", "--urls", "http://127.0.0.1:1/2")
    made = json.loads(nacre("cycle", other, "generate", *given, "--json").out)
    [name] = made["segments"]
    assert f"{name} would be 2 segments" in require_dry(other, "segments", "slice", "1")
    assert json.loads(require_dry(other, "segments", "slice", "1", "--json")) == {name: 2}
    [warc, *_] = sorted((root / "cycle/archive").glob("*.warc.gz"))
    orphans = other / "cycle/orphans"
    orphans.mkdir(exist_ok=True)
    (orphans / warc.name).write_bytes(warc.read_bytes())
    assert " to salvage (1 file" in require_dry(other, "segments", "salvage")
    facts = next((other / "cycle/segments").rglob("links.parquet"))
    whole = facts.read_bytes()
    facts.write_bytes(b"x")
    before = files_of(other)
    done = nacre("cycle", other, "storage", "check", "--repair", "--dry-run")
    assert (done.code, "facts of 1 part would be made again" in done.out) == (7, True)
    assert files_of(other) == before
    facts.write_bytes(whole)
    table = max((other / "cycle/tables/crawldb").rglob("*-add-*.parquet"))
    table.write_bytes(b"x")
    done = nacre("cycle", other, "storage", "check", "--repair", "--dry-run")
    assert done.code in {2, 7}


def test_the_clock_of_what_maintains_tables(roots: Sequence[Path]):
    _, other, _ = roots
    at = "2030-01-01T00:00:00Z"
    made = json.loads(nacre("cycle", other, "generate", "--urls", "http://a.test/", "--json").out)
    words = ("segments", "drop", *made["segments"], "--at", at, "--json")
    done = json.loads(nacre("cycle", other, *words).out)
    assert done["dropped"] == made["segments"]
    [last] = json.loads(nacre("cycle", other, "versions", "--json").out)[-1:]
    assert (last["version"], last["step"]) == (done["version"], "segments drop")
    assert last["clock"] == 1_893_456_000_000
