import gzip
import json
import re
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
    assert (
        nacre("status", job)
        .out.splitlines()[0]
        .endswith(f"`nacre run {job}` resumes it with another limit")
    )
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
    assert done.out == "scheduled 2 URIs; 1 known before, 1 marked as seen, 1 bad line\n"
    assert "line 6: neither a URI nor a line of a journal: nonsense" in done.err
    assert waiting(job) == number + 2
    text = nacre("explain", job, f"{home}new.html").out
    assert "it waits to be fetched" in text
    assert "hop path LL" in text


def test_take_over_a_crawl_into_a_new_job(tmp_path: Path):
    job = tmp_path / "job"
    assert nacre("new", job, "http://a.test/").code == 0
    journal = tmp_path / "frontier.recover.gz"
    with gzip.open(journal, "wt") as file:
        file.write("F+ http://b.test/1  \nFe http://b.test/1\nFs http://b.test/1\n")
        file.write("T 20261120151100\nF+ http://b.test/2 L http://b.test/1\n")
    done = nacre("frontier", job, "import", "--recover", journal)
    assert done.code == 0, done.err
    assert done.out == (
        "scheduled 1 URI; 1 known before, 1 marked as seen, 2 of no account, 0 bad lines\n"
    )
    log = tmp_path / "crawl.log"
    log.write_text(
        "2026-11-20T15:11:00.000Z   200  9 http://b.test/3 L http://b.test/1 text/html\n"
    )
    done = nacre("frontier", job, "import", "--crawl-log", log, "--json")
    assert json.loads(done.out)["done"] == 1
    log.write_text("2026-11-20T15:11:00.000Z   404  9 http://b.test/4 L http://b.test/1 x/y\n")
    done = nacre("frontier", job, "import", "--crawl-log", log, "--retain-failures", "--json")
    assert json.loads(done.out)["done"] == 1
    waits = {line.split()[1] for line in nacre("frontier", job, "export").out.splitlines()}
    assert waits == {"http://a.test/", "http://b.test/2"}
    assert nacre("frontier", job, "import", "--recover", "-", stdin="").code == 2
    assert nacre("frontier", job, "import", "--recover", "--crawl-log", log).code == 2
    assert nacre("frontier", job, "import", tmp_path / "none").code == 2


def test_deleted_uris_come_back_by_force_only(stopped: tuple[Path, str]):
    job, home = stopped
    gone = f"{home}p58.html\n"
    assert nacre("frontier", job, "delete", "--regex", r"p58\.html").out == "deleted 1 URI\n"
    number = waiting(job)
    assert (
        "scheduled 0 URIs; 1 known before" in nacre("frontier", job, "import", "-", stdin=gone).out
    )
    forced = nacre("frontier", job, "import", "--force", "-", stdin=gone + f"{home}p59.html\n")
    assert "scheduled 1 URI; 1 known before" in forced.out
    assert waiting(job) == number + 1
    assert nacre("run", job, "--set", "limits.documents=0", "-q").code == 0
    assert "captured: " in nacre("explain", job, f"{home}p58.html").out


def test_a_queued_url_is_explained(stopped: tuple[Path, str]):
    job, home = stopped
    text = nacre("explain", job, f"{home}p59.html").out
    assert "it waits to be fetched" in text
    assert "ahead; directive 3" in text


def test_expressions_must_be_right(crawled: Crawled):
    done = nacre("frontier", crawled.job, "count", "--regex", "(")
    assert done.code == 2
    assert "no" in done.err


def test_a_finished_run_takes_no_changes(crawled: Crawled):
    done = nacre("frontier", crawled.job, "delete", "--all")
    assert done.code == 2
    assert "is over" in done.err


@pytest.fixture
def stopped_queues(tmp_path: Path) -> Iterator[tuple[Path, str]]:
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
    heading, line = nacre("frontier", job, "queues").out.splitlines()
    assert heading.split() == ["queue", "state", "URIs", "precedence", "spent", "why"]
    assert line.split()[0] == facts["queue"]
    assert line[: heading.index("URIs") + 4].endswith(f" {facts['pending']}")
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


def test_the_first_are_fetched_first(stopped: tuple[Path, str]) -> None:
    job, home = stopped
    assert nacre("frontier", job, "first").code == 2
    done = nacre("frontier", job, "first", "--regex", r"p5\d\.html", "--limit", 3)
    assert done.out == "3 URIs moved to the front\n"
    done = nacre("frontier", job, "first", "--regex", r"p5\d\.html", "--json")
    assert json.loads(done.out) == {"changed": 7}
    rows = [json.loads(line) for line in nacre("frontier", job, "list", "--json").out.splitlines()]
    assert [row["url"] for row in rows[:10]] == [f"{home}p5{n}.html" for n in range(10)]
    assert {row["directive"] for row in rows[:10]} == {1}
    assert "frontier first URLs p5" in (job / "latest/logs/job.log").read_text()
    assert nacre("run", job, "--set", "limits.documents=8", "-q").code == 4
    assert waiting(job, "--regex", r"p5\d\.html") == 6


def test_what_is_forgotten_is_crawled_again(stopped: tuple[Path, str]) -> None:
    job, home = stopped
    assert nacre("frontier", job, "forget").code == 2
    assert nacre("frontier", job, "forget", "--regex", home + "$").out == "1 URI forgotten\n"
    assert nacre("frontier", job, "forget", "--regex", home + "$").out == "0 URIs forgotten\n"


def test_exclude_changes_the_scope_and_deletes_what_waits(stopped: tuple[Path, str]):
    job, home = stopped
    number = waiting(job)
    done = nacre("frontier", job, "exclude", "--regex", r"p5\d\.html")
    assert done.code == 0, done.err
    assert done.out == "excluded; deleted 10 URIs\n"
    assert waiting(job) == number - 10
    assert (
        "out, by the rule matches-list-regex"
        in nacre("check", job, "--dry-run", f"{home}p51.html").out
    )
    again = json.loads(nacre("frontier", job, "exclude", "-r", r"p5\d\.html", "--json").out)
    assert again == {"changed": False, "deleted": 0}
    assert nacre("frontier", job, "exclude", "--regex", "(").code == 2


def test_include_undoes_an_exclusion(stopped: tuple[Path, str]):
    job, home = stopped
    number = waiting(job)
    assert nacre("frontier", job, "exclude", "--regex", r"p5\d\.html").code == 0
    done = nacre("frontier", job, "include", "--regex", r"p5\d\.html")
    assert done.code == 0, done.err
    assert done.out == (
        "the scope takes them again; 10 URIs that were deleted or refused wait again\n"
    )
    assert waiting(job) == number
    overview = json.loads(nacre("status", job, "--json").out)["overview"]
    assert (overview["deleted"], overview["readmitted"]) == (10, 10)
    again = nacre("frontier", job, "include", "--regex", r"p5\d\.html", "--json")
    assert json.loads(again.out) == {"changed": False, "waiting": 0}
    assert "in, by" in nacre("check", job, "--dry-run", f"{home}p51.html").out


def test_include_in_a_job_that_never_ran_names_the_first_run(tmp_path: Path):
    job = tmp_path / "中文 馆"
    assert nacre("new", job, "http://127.0.0.1:9/", "--exclude", "/x/").code == 0
    (rule,) = re.findall(r"- (.*/x/.*)", (job / "crawl.yaml").read_text())
    done = nacre("frontier", job, "include", "--regex", rule.strip("'\""))
    assert done.code == 0, done.err
    assert f"it never ran: `nacre run '{job}'` begins the first run" in done.out
    assert "/x/" not in (job / "crawl.yaml").read_text()


def test_what_was_excluded_from_a_run_that_is_over_comes_back_by_the_next(tmp_path: Path):
    job = tmp_path / "demo"
    with site({"/": "<p>text</p>"}) as home:
        assert nacre("crawl", home, "--delay", 0, "--out", job, "-q", "--exclude", "/x/").code == 0
    (rule,) = re.findall(r"- (.*/x/.*)", (job / "crawl.yaml").read_text())
    done = nacre("frontier", job, "include", "--regex", rule.strip("'\""))
    assert done.code == 0, done.err
    assert "no run goes on: `nacre recrawl" in done.out
    assert "/x/" not in (job / "crawl.yaml").read_text()
