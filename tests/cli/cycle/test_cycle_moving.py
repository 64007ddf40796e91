"""`nacre cycle DIR import`: what it says."""

import json
from pathlib import Path

from tests.cli.site import nacre
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
