"""`nacre settings DIR …`: the versions of crawl.yaml."""

import json
from pathlib import Path

import pytest

from tests.cli.site import nacre


@pytest.fixture
def job(tmp_path: Path) -> Path:
    root = tmp_path / "图书馆"
    assert nacre("new", root, "http://a.test/").code == 0
    for delay in (5, 6):
        assert nacre("set", root, f"politeness.delay={delay}").code == 0
    return root


def test_versions_are_listed_shown_and_compared(job: Path):
    found = json.loads(nacre("settings", job, "history", "--json").out)
    assert [one["number"] for one in found] == [3, 2, 1]
    assert (found[0]["source"], found[2]["source"]) == ("set", "outside")
    assert "outside" in nacre("settings", job, "history").out
    assert "delay: 5" in nacre("settings", job, "show", 2).out
    last = nacre("settings", job, "diff").out.splitlines()
    assert last[:2] == ["--- version 2", "+++ version 3"]
    assert [line for line in last[2:] if line[0] in "+-"] == ["-  delay: 5", "+  delay: 6"]
    facts = json.loads(nacre("settings", job, "diff", 2, "--json").out)
    assert (facts["older"], facts["newer"]) == (1, 2)
    whole = json.loads(nacre("settings", job, "diff", 1, "--json").out)
    assert whole["older"] == 0
    assert nacre("settings", job, "diff", 3, 3).out == "they are the same\n"
    for words in (("show", 9), ("diff", 1, 9), ("restore", 9)):
        none = nacre("settings", job, *words)
        assert none.code == 2
        assert "has no version 9" in none.err


def test_an_earlier_version_is_taken_again(job: Path):
    done = nacre("settings", job, "restore", 2, "--why", "太快")
    assert done.code == 0, done.err
    assert "-  delay: 6" in done.out
    assert "version 4" in done.out
    assert "delay: 5" in (job / "crawl.yaml").read_text()
    newest = json.loads(nacre("settings", job, "history", "--json").out)[0]
    assert (newest["source"], newest["why"]) == ("restore", "太快")
    assert "(uid " in newest["who"]
    assert "nothing is different" in nacre("settings", job, "restore", 2).out


def test_a_version_with_problems_needs_force(job: Path):
    config = job / "crawl.yaml"
    good = config.read_text()
    config.write_text(good.replace("delay: 6", "dealy: 6"))
    assert json.loads(nacre("settings", job, "history", "--json").out)[0]["number"] == 4
    assert nacre("settings", job, "restore", 2).code == 0
    refused = nacre("settings", job, "restore", 4)
    assert refused.code == 2
    assert "dealy" in refused.err
    forced = nacre("settings", job, "restore", 4, "--force", "--json")
    assert json.loads(forced.out)["outcome"] == "saved"
