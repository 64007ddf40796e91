import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.site import many_pages, nacre, site


@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A crawl that stopped at a limit, and its home page."""
    job = tmp_path / "job"
    with site(many_pages(30), slow=0.02) as home:
        done = nacre(
            "crawl", home, "--delay", 0, "--parallel", 1, "--max-pages", 4, "--out", job, "-q"
        )
        assert done.code == 4, done.err
        yield job, home


def test_retire_and_bring_back(stopped: tuple[Path, str]) -> None:
    job, home = stopped
    (facts,) = [
        json.loads(line)
        for line in nacre("frontier", job, "queues", "--json").out.split("\n")
        if line
    ]
    key, pending = facts["queue"], facts["pending"]
    assert pending > 10
    assert facts["successes"] >= 4
    assert nacre("frontier", job, "retire", "--queue", "nowhere").out == "0 queues retired\n"
    assert nacre("frontier", job, "retire", "--queue", "127").out == "1 queue retired\n"
    assert "the operator retired it" in nacre("frontier", job, "queue", key).out
    assert "the operator retired it" in nacre("explain", job, home).out
    assert nacre("frontier", job, "reconsider").out == "0 queues changed places\n"
    assert nacre("run", job, "--set", "limits.documents=0", "-q").code == 4
    assert json.loads(nacre("frontier", job, "queue", key, "--json").out)["pending"] == pending
    assert nacre("frontier", job, "wake", "--json").out.strip() == '{"changed":0}'
    assert nacre("frontier", job, "unretire").out == "1 queue brought back\n"
    assert nacre("frontier", job, "queue", "nowhere").code != 0


def test_what_is_forgotten_is_crawled_again(stopped: tuple[Path, str]) -> None:
    job, home = stopped
    assert nacre("frontier", job, "forget").code == 2
    assert nacre("frontier", job, "forget", "--regex", home + "$").out == "1 URI forgotten\n"
    assert nacre("frontier", job, "forget", "--regex", home + "$").out == "0 URIs forgotten\n"
