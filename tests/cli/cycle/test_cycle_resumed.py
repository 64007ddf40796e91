"""Rounds that are killed behind every commit go on where they were: each step is done once."""

import json
from pathlib import Path

import pytest

from tests.cli.cycle.killed import KilledError, killed_commits
from tests.cli.site import nacre, site

pytestmark = pytest.mark.crawl

STEPS = ["generate", "fetch", "update", "links", "dedup"]


def steps(root: Path) -> list[str]:
    """The steps of all versions, the oldest first."""
    rows = json.loads(nacre("cycle", root, "versions", "--json").out)
    return [row["step"] for row in sorted(rows, key=lambda row: row["version"])]


def test_a_kill_behind_every_commit_repeats_no_step(tmp_path: Path):
    words = ("cycle", tmp_path / "c", "--rounds", "1", "--delay", "0")
    kept = ("--set", "cycle.keep_versions=50")

    with site({"/": '<a href="http://elsewhere.test/">x</a>'}) as home:
        with killed_commits():
            with pytest.raises(KilledError):
                nacre(*words, "-s", home, *kept)
            for _ in STEPS:
                with pytest.raises(KilledError):
                    nacre(*words)
        done = nacre(*words)
    assert done.code == 0, done.err
    assert "resumes round 1, at dedup" in done.err
    assert steps(tmp_path / "c") == ["inject", *STEPS]


def test_what_a_generate_that_failed_asks_for_helps(tmp_path: Path):
    root = tmp_path / "c"
    with site({"/": "<p>text</p>"}) as home:
        assert nacre("new", root, home, "--delay", "0", "--allow-net", "127.0.0.0/8").code == 0
        failed = nacre("cycle", root, "--rounds", "1")
        assert (failed.code, "-s URL` brings seeds in" in failed.err) == (2, True)
        wrong = nacre("cycle", root, "-s", home, "--set", "cycle.generate.where=nonsense")
        assert wrong.code == 2
        done = nacre("cycle", root, "-s", home, "--rounds", "1")
    assert done.code == 0, done.err
    assert "1 known: 1 due; 1 in 1 unit" in done.err
