"""Search, replay, packages, evidence and comparison on a job that was crawled in batch rounds."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from nacre.catalogue.holdings import open_holding
from nacre.catalogue.lookup import open_index
from nacre.replay.matching import ReplayAnswer, ReplayRequest, replay_request
from nacre.replay.reply import read_exchange
from tests.cli.site import nacre, site

pytestmark = pytest.mark.crawl

OLD, NEW = "<title>书</title><a href=a.html>a</a>", "<title>书</title><a href=a.html>a</a> 新"
SAME = "<title>a</title><p>it does not change"


class Rounds(NamedTuple):
    """A job of batch rounds, and the URL of its first page."""

    root: Path
    home: str


def succeed(*words: object) -> str:
    """Run a command, and return its output."""
    done = nacre(*words)
    assert done.code == 0, done.err
    assert "warning" not in done.err
    return done.out


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Rounds:
    """Three rounds: in the last one the first page is changed, and the other is a revisit."""
    root = tmp_path_factory.mktemp("rounds") / "图书馆"
    pages = {"/": f'<meta charset="utf-8">{OLD}', "/a.html": SAME}
    with site(pages) as home:
        succeed("cycle", root, "-s", home, "--rounds", 2, "--delay", "0")
        pages["/"] = f'<meta charset="utf-8">{NEW}'
        succeed("cycle", root, "--rounds", 1, "--now", "2099-01-01")
    return Rounds(root, home)


def bodies(targets: list[Path], url: str) -> list[str]:
    """What replay has of each capture of a URL, the oldest first."""
    holding = open_holding(targets)
    assert holding.warnings == []
    index = open_index(holding)
    texts = []
    captures = [capture for capture in index.prefix("") if capture.url == url]
    for capture in sorted(captures, key=lambda capture: (capture.timestamp, capture.warc)):
        texts.append(read_exchange(holding, index, capture).body.read().decode())
    newest = replay_request(holding, index, ReplayRequest(url, ""))
    assert isinstance(newest, ReplayAnswer)
    assert newest.exchange.body.read().decode() in texts
    return texts


def test_replay_has_all_captures_and_the_content_of_revisits(rounds: Rounds):
    assert [text[22:] for text in bodies([rounds.root], rounds.home)] == [OLD, NEW]
    assert bodies([rounds.root], f"{rounds.home}a.html") == [SAME, SAME]


def test_captures_are_searched_and_counted(rounds: Rounds):
    rows = json.loads(succeed("captures", rounds.root, rounds.home, "--format", "json"))
    assert [row["status"] for row in rows] == [200, 200]
    assert len({row["run"] for row in rows}) == 2
    last = rows[0]["run"]
    revisits = succeed("captures", rounds.root, "--run", last, "--mime", "revisit")
    assert f"{rounds.home}a.html" in revisits
    assert last in succeed("captures", rounds.root, "--facets")


@pytest.mark.parametrize(("option", "name"), [("--wacz", "all.wacz"), ("--warc", "all")])
def test_packages_replay_as_the_job_does(rounds: Rounds, tmp_path: Path, option: str, name: str):
    succeed("archive", rounds.root, "pack", option, tmp_path / name)
    for url in (rounds.home, f"{rounds.home}a.html"):
        assert bodies([tmp_path / name], url) == bodies([rounds.root], url)


def test_evidence_of_a_revisit_has_its_content(rounds: Rounds, tmp_path: Path):
    package, url = tmp_path / "a.wacz", f"{rounds.home}a.html"
    succeed("archive", rounds.root, "evidence", url, "--out", package)
    assert "records       ok" in succeed("archive", package, "verify-evidence")
    assert bodies([package], url)[-1] == SAME


def test_two_captures_are_compared_and_cited(rounds: Rounds):
    compared = succeed("compare", rounds.root, rounds.home)
    assert "+ [text] a 新" in compared
    assert "major (text)" in compared
    assert f"书. {rounds.home}. Captured " in succeed("cite", rounds.root, rounds.home)


def test_a_deletion_is_refused_with_the_command_of_rounds(rounds: Rounds):
    refused = nacre("archive", rounds.root, "delete", "--run", "x", "--yes")
    assert refused.code == 2
    assert "storage check" in refused.err
