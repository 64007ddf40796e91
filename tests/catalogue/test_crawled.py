"""Look-up in the indexes that crawls write: runs, differences, rounds."""

import random
from pathlib import Path

import pytest

from nacre.archive.delta import MEDIA
from nacre.archive.fields import strip_brackets
from nacre.archive.reader import WarcReader
from nacre.catalogue.captures import own_key
from nacre.catalogue.holdings import Holding, open_holding
from nacre.catalogue.lookup import open_index
from tests.cli.site import nacre, site

EVERYTHING = ("--set", "recrawl.recall=1", "--set", "recrawl.least=0")
"""Each page is visited again."""


def read_all(holding: Holding) -> list[tuple[str, str]]:
    """URL and media type of all captures, each looked up by its own key and opened."""
    index = open_index(holding)
    captures = index.prefix("")
    for capture in captures:
        assert capture in index.exact(own_key(capture))
        assert index.closest(capture.key, capture.timestamp)[0].timestamp == capture.timestamp
        with holding.open(capture) as file:
            entry = next(iter(WarcReader(file)))
            assert strip_brackets(entry.get("WARC-Target-URI") or "").endswith(capture.url)
    return [(capture.url.rpartition("/")[2], capture.mime) for capture in captures]


def crawl(*words: object) -> None:
    done = nacre(*words)
    assert done.code == 0, done.err


@pytest.mark.crawl
def test_runs_with_differences(tmp_path: Path):
    chance = random.Random(1)
    text = " ".join(f"{chance.getrandbits(64):x}" for _ in range(2000))
    pages = {"/": "<a href=a.html>a</a><a href=b.html>b</a>", "/a.html": text, "/b.html": text[1:]}
    job = tmp_path / "job"
    with site(pages) as home:
        crawl("crawl", home, "--scope", "host", "--delay", "0", "-q", "--out", job,
              "--now", "2026-01-01")  # fmt: skip
        pages["/a.html"] = text.replace("9", "8", 3)
        crawl("recrawl", job, "--keep", "delta", "-q", "--now", "2026-01-08", *EVERYTHING)
    captures = read_all(open_holding([job]))
    assert ("a.html", MEDIA) in captures
    assert len([url for url, _ in captures if url == "a.html"]) == 2


@pytest.mark.crawl
def test_rounds_and_a_job_that_they_imported(tmp_path: Path):
    job, rounds = tmp_path / "job", tmp_path / "rounds"
    pages = {"/": "<a href=a.html>a</a>", "/a.html": "<p>a", "/c.html": "<p>c"}
    with site(pages) as home:
        crawl("crawl", f"{home}c.html", "--scope", "page", "--delay", "0", "-q", "--out", job)
        crawl("cycle", rounds, "-s", home, "--rounds", 2, "--delay", "0")
        crawl("cycle", rounds, "import", job)
    holding = open_holding([rounds])
    assert holding.warnings == []
    assert {"", "a.html", "c.html"} <= {url for url, _ in read_all(holding)}
    runs = {place.run for place in holding.members[0].warcs()}
    assert any(run.endswith("Z") and "." in run for run in runs)
