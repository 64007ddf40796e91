"""`nacre archive DIR pack`."""

import json

from tests.cli.site import nacre
from tests.packing.jobs import make_job


def test_it_prints_what_was_packed(tmp_path):
    root = make_job(tmp_path / "demo")
    done = nacre("archive", root, "pack", "--wacz", tmp_path / "a.wacz")
    assert done.code == 0, done.err
    assert "8 captures, 2 pages, 1 WARC" in done.out
    assert "datapackage.json: sha256:" in done.out
    done = nacre("archive", root, "pack", "--warc", tmp_path / "x.warc.gz", "--json")
    assert json.loads(done.out)["resolved"] == 2


def test_revisits_without_their_originals_are_listed(tmp_path):
    root = make_job(tmp_path / "demo")
    (warc,) = root.glob("runs/*/archive/*.warc.gz")
    index = warc.with_name(warc.name.replace(".warc.gz", ".cdxj"))
    lines = [line for line in index.read_text().splitlines(keepends=True) if "/copy" in line]
    index.write_text("".join(lines))
    done = nacre("archive", root, "pack", "--warc", tmp_path / "x.warc.gz", "--revisits", "keep")
    assert done.code == 0
    assert "1 revisit refers to captures that are not in the package" in done.err
    assert (
        "http://example.test/copy -> 2026-11-20T10:00:00.123456Z http://example.test/" in done.err
    )


def test_mistakes_are_explained(tmp_path):
    root = make_job(tmp_path / "demo")
    assert "--wacz FILE" in nacre("archive", root, "pack").err
    (tmp_path / "a.wacz").write_bytes(b"")
    assert "--replace" in nacre("archive", root, "pack", "--wacz", tmp_path / "a.wacz").err
