"""`nacre archive DIR pack`."""

import json
import signal
import zipfile

import pytest

from nacre.config.extras import MissingExtraError
from tests.cli.site import many_pages, nacre, site
from tests.cli.test_control import ended, running, until
from tests.packing.jobs import make_job


def test_it_prints_what_was_packed(tmp_path):
    root = make_job(tmp_path / "demo")
    done = nacre("archive", root, "pack", "--wacz", tmp_path / "a.wacz")
    assert done.code == 0, done.err
    assert "8 captures, 2 pages, 1 WARC" in done.out
    assert "datapackage.json: sha256:" in done.out
    done = nacre("archive", root, "pack", "--warc", tmp_path / "x.warc.gz", "--json")
    assert json.loads(done.out)["resolved"] == 2


def test_only_words_need_the_library_of_the_search(tmp_path, monkeypatch):
    def missing(what: str, extra: str) -> None:
        raise MissingExtraError(what, extra)

    monkeypatch.setattr("nacre.cli.installing.require_extra", missing)
    root = make_job(tmp_path / "demo")
    done = nacre("archive", root, "pack", "--wacz", tmp_path / "a.wacz", "--status", "200")
    assert done.code == 0, done.err
    done = nacre("archive", root, "pack", "some words", "--wacz", tmp_path / "b.wacz")
    assert "extra `search`" in done.err


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


def test_preference_that_no_capture_states_is_a_warning(tmp_path):
    root = make_job(tmp_path / "demo")
    done = nacre("archive", root, "pack", "--wacz", tmp_path / "a.wacz", "--without", "train-ia=n")
    assert done.code == 0, done.err
    assert "no capture states train-ia=n" in done.err


def test_mistakes_are_explained(tmp_path):
    root = make_job(tmp_path / "demo")
    assert "--wacz FILE" in nacre("archive", root, "pack").err
    (tmp_path / "a.wacz").write_bytes(b"")
    assert "--replace" in nacre("archive", root, "pack", "--wacz", tmp_path / "a.wacz").err


def test_a_crawl_packs_its_captures_at_its_end(tmp_path):
    job, target = tmp_path / "demo", tmp_path / "demo.wacz"
    with site(many_pages(3)) as home:
        words = ("crawl", home, "--scope", "host", "--delay", 0, "--out", job, "--wacz", target)
        done = nacre(*words, "-q", "--json")
        assert done.code == 0, done.err
        assert json.loads(done.out)["exit"] == "FINISHED"
        assert "demo.wacz: " in done.err
        first = target.stat().st_size
        assert nacre("recrawl", job, "--full", "-q").code == 0
    assert target.stat().st_size > first  # it has both runs
    with zipfile.ZipFile(target) as wacz:
        pages = [json.loads(line) for line in wacz.read("pages/pages.jsonl").splitlines()]
    assert home in {page.get("url") for page in pages}
    again = nacre("crawl", home, "--out", tmp_path / "other", "--wacz", target)
    assert (again.code, (tmp_path / "other").exists()) == (2, False)
    assert "exists" in again.err
    wrong = nacre("crawl", home, "--out", tmp_path / "other", "--wacz", tmp_path / "a.zip")
    assert "ends with .wacz" in wrong.err


@pytest.mark.slow
def test_an_interrupted_crawl_packs_when_it_was_resumed(tmp_path):
    job, target = tmp_path / "demo", tmp_path / "demo.wacz"
    with site(many_pages(3)) as home:
        words = ("--scope", "host", "--delay", 0, "--set", f"archive.wacz={target}")
        assert nacre("new", job, home, *words).code == 0
        (job / "control").mkdir()
        (job / "control" / "pause").touch()
        with running(job, "run", job) as process:
            until(lambda: nacre("status", job, "--json").code == 0)
            process.send_signal(signal.SIGINT)
            _, _, errors = ended(process)
        assert "is written when the run ends" in errors
        assert not target.exists()
        (job / "control" / "pause").unlink()
        assert nacre("run", job, "-q").code == 0
    assert target.exists()
