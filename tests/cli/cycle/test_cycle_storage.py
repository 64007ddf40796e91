"""`storage check` on the command line: what is damaged, how it is repaired, the exit codes."""

import json
from pathlib import Path

import pytest

from tests.cli.site import nacre


@pytest.fixture
def injected(tmp_path):
    root = tmp_path / "书"
    assert nacre("new", str(root), "http://a.test/", "--contact", "http://c.test/").code == 0
    assert nacre("cycle", str(root), "inject").code == 0
    assert nacre("cycle", str(root), "inject", "http://b.test/国").code == 0
    return root


def test_damage_is_named_and_repaired(injected):
    done = nacre("cycle", injected, "storage", "check")
    assert (done.code, " 0 damaged" in done.out) == (0, True)
    files = nacre("cycle", injected, "versions", "--files", "crawldb").out.split()
    newest = max(files, key=lambda name: name.rpartition("/")[2])
    with Path(newest).open("ab") as file:
        file.write(b"x")
    done = nacre("cycle", injected, "storage", "check")
    assert done.code == 7
    assert newest.rpartition("/")[2] in done.out
    assert len([word for word in done.out.split() if len(word) == 64]) == 2
    done = nacre("cycle", injected, "storage", "check", "--repair", "--json")
    assert done.code == 0
    assert json.loads(done.out)["restored"] == 1
    assert nacre("cycle", injected, "storage", "check").code == 0


def test_spark_needs_what_the_message_says(injected):
    done = nacre("cycle", injected, "hash", "--master", "spark://127.0.0.1:1")
    assert (done.code, "--master is for --engine spark" in done.err) == (2, True)
