"""`nacre cycle DIR import`: what it says."""

import json
from pathlib import Path

import pytest

from tests.cli.site import PAGES, nacre, site
from tests.cycle.moving.hadoop_files import datum, map_file


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
