"""Commands of continuous crawls on the directory of a batch crawl name the right command."""

import json
from pathlib import Path

import pytest

from tests.cli.site import nacre, site


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("rounds") / "书"
    assert nacre("new", made, "http://a.test/", "--contact", "http://c.test/").code == 0
    assert nacre("cycle", made, "inject").code == 0
    return made


@pytest.mark.parametrize(
    ("before", "behind", "named"),
    [
        ("run", "", "--rounds 1"),
        ("recrawl", "", "--rounds 1"),
        ("new", "http://b.test/", "--rounds 1"),
        ("pause", "", "--rounds 1"),
        ("resume", "", "--rounds 1"),
        ("stop", "", "control/stop"),
        ("checkpoint", "", "--rounds 1"),
        ("checkpoint", "--list", "--rounds 1"),
        ("parallel", "5", "--rounds 1"),
        ("explain", "http://a.test/国", "explain 'http://a.test/国'"),
        ("report", "", "readdb --stats"),
        ("report", "hosts", "readhosts"),
        ("history", "stats", "readdb --stats"),
        ("history", "url http://a.test/", "readdb --url URL"),
        ("history", "import x", "readdb --stats"),
        ("frontier", "", "generate --dry-run"),
        ("frontier", "list", "generate --dry-run"),
        ("frontier", "import x", "inject FILE"),
        ("archive", "index", "storage check"),
        ("archive", "salvage", "storage check"),
    ],
)
def test_the_right_command_is_named(root: Path, before: str, behind: str, named: str):
    done = nacre(before, root, *behind.split())
    assert done.code == 2
    assert f"nacre cycle {root} " in done.err
    assert named in done.err
    assert "nacre run" not in done.err
    assert not (root / "state" / "store").exists()


def test_commands_that_serve_both(root: Path):
    assert "version 1: inject\n" in nacre("status", root).out
    assert json.loads(nacre("status", root, "--json").out)["cycle"]["step"] == "inject"
    for words in (("check", root), ("archive", root, "check"), ("sheet", root, "list"),
                  ("report", root, "list"), ("archive", root, "digests")):  # fmt: skip
        done = nacre(*words)
        assert (done.code, done.err) == (0, "")


@pytest.mark.crawl
@pytest.mark.parametrize("step", ["", "index", "links", "readdb --stats", "generate"])
def test_a_continuous_crawl_stays_one(tmp_path: Path, step: str):
    job = tmp_path / "job"
    with site({"/": "<p>one"}) as home:
        assert nacre("crawl", home, "--out", job, "--delay", 0, "-q").code == 0
        done = nacre("cycle", job, *step.split())
        assert (done.code, done.out) == (2, "")
        assert f"nacre cycle OTHER_DIR import {job}" in done.err
        assert not (job / "cycle").exists()
        assert nacre("recrawl", job, "--full", "-q").code == 0
