"""`nacre cycle DIR import`: what it says."""

import json
from pathlib import Path

import pytest

from tests.cli.site import PAGES, nacre, site
from tests.rounds.moving.hadoop_files import datum, map_file


def test_a_crawldb_is_imported(tmp_path: Path):
    root, source = tmp_path / "书", tmp_path / "nutch"
    assert nacre("new", root, "http://a.test/", "--contact", "http://c.test/").code == 0
    rows = [
        ("http://a.test/国", datum(2, 1000, md={"x": ("org.example.Strange", b"1")})),
        ("bad", datum(1)),
        ("http://a.test/2", datum(0x41)),
    ]
    map_file(source / "crawldb", rows)
    failed = nacre("cycle", root, "import", source)
    assert failed.code == 1
    assert "record 2 at byte" in failed.err
    done = nacre("cycle", root, "import", source, "--salvage")
    assert (done.code, done.out) == (
        0,
        "2 records: 1 URL, 1 new, 0 newer; 0 links, 0 hosts; left out: 1 key without a URL; "
        "left out: 1 damaged record; kept as bytes: 1 of org.example.Strange\n",
    )
    assert "left out: " in done.err
    again = json.loads(nacre("cycle", root, "import", source, "--salvage", "--json").out)
    assert (again["taken"]["known"], again["taken"]["new"], again["version"]) == (1, 0, None)
    assert "db_fetched" in nacre("cycle", root, "readdb", "--stats").out


def test_a_job_comes_in_and_goes_out_again(tmp_path: Path):
    job, root, back = tmp_path / "job", tmp_path / "rounds", tmp_path / "back"
    with site(PAGES) as home:
        crawled = nacre("crawl", home, "--scope", "host", "--out", job, "--max-pages", 2, "-q")
        assert crawled.code == 4, crawled.err
    assert nacre("new", root, home).code == 0
    done = nacre("cycle", root, "import", job)
    assert done.code == 0, done.err
    assert "2 URLs visited" in done.out
    assert "1 seed" in done.out
    out = nacre("cycle", root, "export", back)
    assert (out.code, "known, " in out.out) == (0, True), out.err
    queues = [sorted(nacre("frontier", one, "export").out.splitlines()) for one in (job, back)]
    assert queues[0] == queues[1]
    assert nacre("cycle", root, "export", back).code == 2
    listed = tmp_path / "seeds.txt"
    assert nacre("cycle", root, "export", "--nutch-seeds", listed).code == 0
    assert (
        listed.read_text().splitlines()
        == nacre("cycle", root, "export", "--nutch-seeds", "-").out.splitlines()
    )
    assert f"{home}\tnutch.fetchInterval=2592000" in listed.read_text()


@pytest.mark.slow
def test_a_crawl_goes_through_rounds_and_back_and_nothing_is_stored_twice(tmp_path: Path):
    job, root, back = tmp_path / "job", tmp_path / "rounds", tmp_path / "back"
    with site(PAGES) as home:
        part = nacre("crawl", home, "--scope", "host", "--out", job, "--max-pages", 1, "-q")
        assert part.code == 4, part.err
        assert nacre("cycle", root, "import", job).code == 0
        assert nacre("cycle", root, "--rounds", 0, "-q").code == 0
        out = nacre("cycle", root, "export", back)
        assert "0 wait" in out.out
        assert f"recrawl {back}" in out.out
        done = nacre("recrawl", back, "--full", "-q", "--set", "limits.documents=0")
        assert done.code == 0, done.err
    # A robots.txt is no page, and is asked for and stored by each crawl.
    stored = [
        line
        for path in back.glob("runs/*/archive/*.cdxj")
        for line in path.read_text().splitlines()
        if "warc/revisit" not in line and '"status": "200"' in line and "/robots.txt" not in line
    ]
    assert stored == []


REFUSED = {
    "/": b'<a href="z.html">z</a><a href="a.html">a</a><a href="/private/x">x</a>'
    b'<a href="/broken">b</a><a href="m.html">m</a>',
    "/robots.txt": b"User-agent: *\nDisallow: /private/\n",
    "/z.html": b"z",
    "/a.html": b"a",
    "/m.html": b"m",
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job that is done, with a page that robots.txt forbids."""
    job = tmp_path_factory.mktemp("crawled") / "job"
    with site(REFUSED) as home:
        done = nacre("crawl", home, "--scope", "host", "--out", job, "--delay", 0, "-q")
        assert done.code == 0, done.err
    return job


def test_a_dry_import_into_a_new_directory_leaves_nothing(crawled: Path, tmp_path: Path):
    root = tmp_path / "new"
    done = nacre("cycle", root, "import", crawled, "--dry-run")
    assert (done.code, root.exists()) == (0, False), done.err
    assert "0 newer" in done.out
    assert f"{root} would be made, with the configuration of {crawled}" in done.out
    assert nacre("new", root, "http://a.test/").code == 0
    assert nacre("cycle", root, "import", crawled, "--dry-run").code == 0
    assert not (root / "cycle").exists(), "it would be a directory of rounds"


@pytest.mark.slow
def test_a_job_that_did_not_change_is_imported_once(crawled: Path, tmp_path: Path):
    root = tmp_path / "new"
    first = nacre("cycle", root, "import", crawled).out
    files = sorted((root / "cycle").rglob("*"))
    again = nacre("cycle", root, "import", crawled).out
    assert "nothing changed" not in first
    assert again.endswith("0 new, 0 newer; 0 WARC files with 0 new captures; nothing changed\n"), (
        again
    )
    assert sorted((root / "cycle").rglob("*")) == files


@pytest.mark.slow
def test_what_robots_txt_forbids_is_not_asked_for_again_at_once(crawled: Path, tmp_path: Path):
    root = tmp_path / "new"
    nacre("cycle", root, "import", crawled)
    query = "select status, last_status, fetch_time > now_, interval from crawldb, (select "
    query += "max(last_time) + interval 40 day as now_ from crawldb) where key like '%private%'"
    (row,) = json.loads(nacre("cycle", root, "sql", query, "--json").out)
    assert list(row.values()) == ["db_gone", -9998, True, 45 * 86_400]
    assert "nothing to fetch" in nacre("cycle", root, "generate", "--dry-run").out


def test_a_job_that_is_not_there_makes_no_directory(tmp_path: Path):
    root = tmp_path / "new"
    done = nacre("cycle", root, "import", tmp_path / "none")
    assert (done.code, root.exists()) == (2, False)
    assert "there is no directory" in done.err
    assert nacre("new", tmp_path / "fresh", "http://a.test/").code == 0
    done = nacre("cycle", root, "import", tmp_path / "fresh")
    assert (done.code, root.exists()) == (2, False), done.err


@pytest.mark.slow
def test_queues_are_in_the_same_order_there_and_back(tmp_path: Path):
    job, root, back = (tmp_path / name for name in ("job", "rounds", "back"))
    with site(REFUSED) as home:
        options = ("--scope", "host", "--out", job, "--delay", 0, "-q", "--max-pages", 1)
        assert nacre("crawl", home, *options).code == 4
    assert nacre("cycle", root, "import", job).code == 0
    assert nacre("cycle", root, "export", back).code == 0
    queues = [nacre("frontier", one, "list", "--json").out for one in (job, back)]
    assert queues[0] == queues[1]
    assert queues[0].index("/z.html") < queues[0].index("/a.html") < queues[0].index("/m.html")
