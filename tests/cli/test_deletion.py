"""`nacre archive DIR delete` on jobs that were really crawled."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.archive.reader import WarcReader
from nacre.catalogue.holdings import open_holding
from nacre.catalogue.lookup import open_index
from nacre.replay.matching import ReplayAnswer, ReplayRequest, replay_request
from tests.cli.site import many_pages, nacre, site

PAGES = 4


@pytest.fixture(scope="module")
def crawled_again(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A job with two full runs of the same pages: those of the second are revisits."""
    job = tmp_path_factory.mktemp("deletion") / "demo"
    with site(many_pages(PAGES)) as home:
        words = ("--scope", "host", "--delay", 0, "--set", "dedup.conditional=false")
        assert nacre("crawl", home, *words, "--out", job, "-q").code == 0
        done = nacre("recrawl", job, "--full", "-q")
        assert done.code == 0, done.err
        yield job, home


@pytest.fixture
def job(crawled_again: tuple[Path, str], tmp_path: Path) -> Path:
    copy = tmp_path / "demo"
    shutil.copytree(crawled_again[0], copy, symlinks=True)
    return copy


def runs(job: Path) -> list[str]:
    return sorted(run.name for run in (job / "runs").iterdir())


def warcs(job: Path, run: str) -> list[Path]:
    return sorted((job / "runs" / run / "archive").glob("*.warc.gz"))


def read_all(job: Path, home: str) -> dict[str, list[bytes]]:
    """The bodies of all captures of each page, in the order of time."""
    holding = open_holding([job])
    index = open_index(holding)
    bodies: dict[str, list[bytes]] = {}
    for number in range(PAGES):
        url = f"{home}p{number}.html"
        for timestamp in sorted({each.timestamp for each in index.prefix("") if each.url == url}):
            answer = replay_request(holding, index, ReplayRequest(url, timestamp))
            assert isinstance(answer, ReplayAnswer)
            bodies.setdefault(url, []).append(answer.exchange.body.read())
    return bodies


def test_it_only_lists_without_yes(job: Path):
    first = runs(job)[0]
    (warc,) = warcs(job, first)
    done = nacre("archive", job, "delete", "--run", first)
    assert done.code == 0, done.err
    assert f"  {warc.name}" in done.out
    assert "captures need records of it" in done.out
    assert f"p0.html -> {first[:4]}" in done.out
    assert "--resolve-first" in done.out
    assert warc.is_file()
    result = json.loads(nacre("archive", job, "delete", "--warc", warc.name, "--json").out)
    assert result["dependents"] >= PAGES
    assert result["is_deleted"] is False


def test_it_refuses_while_captures_depend_on_it(job: Path):
    first = runs(job)[0]
    done = nacre("archive", job, "delete", "--run", first, "--yes")
    assert done.code == 2
    assert "nothing was deleted" in done.err
    assert warcs(job, first)


def test_the_last_run_has_no_dependents_and_goes(job: Path, crawled_again):
    first, last = runs(job)
    done = nacre("archive", job, "delete", "--run", last, "--yes")
    assert done.code == 0, done.err
    assert warcs(job, last) == []
    assert warcs(job, first)
    assert "WARNING deleted 1 WARCs" in (job / "job.log").read_text()
    check = nacre("archive", job, "check")
    assert check.code == 0, check.out
    assert read_all(job, crawled_again[1]).keys()


def test_dependents_are_stored_in_full_before(job: Path, crawled_again):
    home = crawled_again[1]
    first, last = runs(job)
    before = read_all(job, home)
    done = nacre("archive", job, "delete", "--run", first, "--yes", "--resolve-first")
    assert done.code == 0, done.err
    assert "stored in full in resolved-" in done.out
    assert warcs(job, first) == []
    assert len(warcs(job, last)) == 2
    after = read_all(job, home)
    assert {url: bodies[-1] for url, bodies in before.items()} == {
        url: bodies[0] for url, bodies in after.items()
    }
    check = nacre("archive", job, "check", "--json")
    assert json.loads(check.out)["damaged"] is False, check.out


def test_the_history_stays_and_refers_to_nothing_that_is_gone(job: Path, crawled_again):
    first = runs(job)[0]
    words = ("archive", job, "delete", "--run", first, "--yes", "--resolve-first")
    result = json.loads(nacre(*words, "--json").out)
    assert result["pages"] >= PAGES
    assert result["payloads"] >= PAGES
    url = f"{crawled_again[1]}p0.html"
    capture = json.loads(nacre("history", job, "url", url, "--json").out)["capture"]
    assert (capture["visits"], capture["record_id"], capture["date"]) == (2, "", 0)
    again = nacre("recrawl", job, "--full", "-q")
    assert again.code == 0, again.err
    (warc,) = warcs(job, runs(job)[2])
    with warc.open("rb") as file:
        kinds = [entry.get("WARC-Type") for entry in WarcReader(file)]
    assert kinds.count("response") >= PAGES
    assert nacre("archive", job, "check").code == 0


def test_a_deletion_that_was_cut_off_is_finished(job: Path, monkeypatch: pytest.MonkeyPatch):
    last = runs(job)[1]

    def fail(_: Path) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("nacre.job.deletion._remove", fail)
        assert nacre("archive", job, "delete", "--run", last, "--yes").code != 0
    assert warcs(job, last)
    done = nacre("archive", job, "delete", "--run", last, "--yes")
    assert done.code == 0, done.err
    assert warcs(job, last) == []


def test_mistakes_are_explained(job: Path, tmp_path: Path):
    assert "--run" in nacre("archive", job, "delete").err
    assert (
        "no WARC of 20000101T000000Z"
        in nacre("archive", job, "delete", "--run", "20000101T000000Z").err
    )
    assert nacre("new", tmp_path / "fresh", "http://127.0.0.1:1/").code == 0
    assert nacre("archive", tmp_path / "fresh", "delete", "--run", "x").code == 2
