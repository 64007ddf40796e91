import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Crawled
from tests.cli.site import many_pages, nacre, site


@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A crawl that stopped at a limit, and its home page."""
    job = tmp_path / "job"
    with site(many_pages(60), slow=0.02) as home:
        done = nacre(
            "crawl", home, "--delay", 0, "--parallel", 1, "--max-pages", 4, "--out", job, "-q"
        )
        assert done.code == 4, done.err
        yield job, home


def waiting(job: Path, *options: object) -> int:
    return int(nacre("frontier", job, "count", *options).out)


def test_list_count_and_export(stopped: tuple[Path, str]):
    job, home = stopped
    number = waiting(job)
    assert number >= 25
    listed = nacre("frontier", job, "list", "--limit", 3)
    assert len(listed.out.splitlines()) == 3
    assert "and more" in listed.err
    rows = [json.loads(line) for line in nacre("frontier", job, "list", "--json").out.splitlines()]
    assert len(rows) == number
    assert rows[0]["via"] == home
    assert waiting(job, "--regex", r"p5\d\.html") == 10
    assert waiting(job, "--queue", "127.0.0.1") == number
    assert waiting(job, "--queue", "nowhere") == 0
    assert json.loads(nacre("frontier", job, "count", "--json").out) == {"count": number}
    lines = nacre("frontier", job, "export", "-r", r"p59\.html").out.splitlines()
    assert lines == [f"F+ {home}p59.html L {home}"]


def test_delete_is_durable_and_told(stopped: tuple[Path, str]):
    job, home = stopped
    number = waiting(job)
    assert nacre("frontier", job, "delete").code == 2
    done = nacre("frontier", job, "delete", "--regex", r"p5\d\.html")
    assert done.out == "deleted 10 URIs\n"
    assert waiting(job) == number - 10
    assert (job / "latest" / "logs" / "crawl.log").read_text().count(" -6000 ") == 10
    assert "-6000 deleted" in nacre("explain", job, f"{home}p51.html").out
    assert nacre("status", job).out.splitlines()[0].endswith("run` goes on")
    assert nacre("run", job, "--set", "limits.documents=0", "-q").code == 0
    assert waiting(job) == 0


def test_import(stopped: tuple[Path, str]):
    job, home = stopped
    number = waiting(job)
    lines = (
        f"# a comment\n\nF+ {home}new.html LL {home}\n{home}p59.html\n"
        f"Fs {home}done.html\nnonsense\n{home}plain.html\n"
    )
    done = nacre("frontier", job, "import", "-", stdin=lines)
    assert done.code == 0, done.err
    assert done.out == "scheduled 2 URIs; 1 were known, 1 marked as seen, 1 bad line\n"
    assert "line 6: no URI: nonsense" in done.err
    assert waiting(job) == number + 2
    text = nacre("explain", job, f"{home}new.html").out
    assert "it waits to be fetched" in text
    assert "hop path LL" in text


def test_deleted_uris_come_back_by_force_only(stopped: tuple[Path, str]):
    job, home = stopped
    gone = f"{home}p58.html\n"
    assert nacre("frontier", job, "delete", "--regex", r"p58\.html").out == "deleted 1 URI\n"
    number = waiting(job)
    assert "scheduled 0 URIs; 1 were known" in nacre("frontier", job, "import", "-", stdin=gone).out
    forced = nacre("frontier", job, "import", "--force", "-", stdin=gone + f"{home}p59.html\n")
    assert "scheduled 1 URI; 1 were known" in forced.out
    assert waiting(job) == number + 1
    assert nacre("run", job, "--set", "limits.documents=0", "-q").code == 0
    assert "captured: " in nacre("explain", job, f"{home}p58.html").out


def test_a_queued_url_is_explained(stopped: tuple[Path, str]):
    job, home = stopped
    text = nacre("explain", job, f"{home}p59.html").out
    assert "it waits to be fetched" in text
    assert "before it; directive 3" in text


def test_expressions_must_be_right(crawled: Crawled):
    done = nacre("frontier", crawled.job, "count", "--regex", "(")
    assert done.code == 2
    assert "no" in done.err


def test_a_finished_run_takes_no_changes(crawled: Crawled):
    done = nacre("frontier", crawled.job, "delete", "--all")
    assert done.code == 2
    assert "is over" in done.err
