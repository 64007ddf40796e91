"""`nacre recrawl` and `nacre history` on the small site."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.site import ServedPage, nacre, site


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A job that was crawled and visited again."""
    job = tmp_path_factory.mktemp("again") / "demo"
    with site() as home:
        assert nacre("crawl", home, "--scope", "host", "--delay", 0, "--out", job, "-q").code == 0
        done = nacre("recrawl", job, "--json")
        assert done.code == 0, done.err
        assert re.search(r"incremental run \d{8}T\d{6}Z begins", done.err), done.err
        told = json.loads(done.out)
        assert told["exit"] == "FINISHED"
        assert sum(told["found"].values()) > 2
        yield job


def test_each_run_has_a_directory_of_its_own(job: Path):
    runs = sorted((job / "runs").iterdir())
    assert (job / "latest").resolve() == runs[-1].resolve()
    manifest = json.loads((runs[1] / "manifest.json").read_text())
    assert (manifest["mode"], manifest["parent"], manifest["number"]) == (
        "incremental", runs[0].name, 2,
    )  # fmt: skip


def test_runs_are_told_apart(job: Path):
    lines = nacre("history", job, "runs").out.splitlines()
    assert [line.split()[2] for line in lines[-2:]] == ["full", "incremental"]
    told = json.loads(nacre("history", job, "runs", "--json").out)
    assert [run["parent"] for run in told] == ["", told[0]["name"]]


def test_totals_pages_and_what_changes_most(job: Path):
    told = json.loads(nacre("history", job, "stats", "--json").out)
    assert told["pages"] >= told["visited"] > 2
    assert set(told["visits"]) == {"1", "2"}
    assert "known" in nacre("history", job, "stats").out
    top = json.loads(nacre("history", job, "top", 2, "--json").out)
    assert len(top) == 2
    assert top[0]["rate"] >= top[1]["rate"]
    pages = [json.loads(line) for line in nacre("history", job, "dump").out.splitlines()]
    assert {page["url"] for page in pages} >= {one["url"] for one in top}
    assert len(pages) == told["visited"]


def test_one_page_with_its_visits(job: Path):
    pages = [json.loads(line) for line in nacre("history", job, "dump").out.splitlines()]
    url = next(page["url"] for page in pages if page["visits"] == 2)
    told = json.loads(nacre("history", job, "url", url, "--json").out)
    assert told["page"]["url"] == url
    assert [visit["run"] for visit in told["visits"]] == [1, 2]
    assert "Visits, latest first:" in nacre("history", job, "url", url).out
    unknown = nacre("history", job, "url", "http://nowhere.test/")
    assert (unknown.code, "nothing is known of" in unknown.err) == (2, True)


def test_tables_leave_and_come_back(job: Path, tmp_path: Path):
    assert nacre("history", job, "export", tmp_path).code == 0
    lines = (tmp_path / "pages.jsonl").read_text().splitlines()
    done = nacre("history", job, "import", tmp_path)
    assert done.code == 0
    assert f"{len(lines):,} rows" in done.out
    assert nacre("history", job, "import", tmp_path / "none").code == 2


def test_tables_can_be_parquet(job: Path, tmp_path: Path):
    assert nacre("history", job, "export", tmp_path).code == 0
    assert nacre("history", job, "export", tmp_path, "--parquet").code == 0
    names = {path.name for path in tmp_path.glob("*.parquet")}
    assert names == {path.with_suffix(".parquet").name for path in tmp_path.glob("*.jsonl")}


def test_pages_are_picked_and_written_as_a_table(job: Path):
    def dump(*options: object) -> list[dict[str, object]]:
        done = nacre("history", job, "dump", *options)
        assert done.code == 0, done.err
        return [json.loads(line) for line in done.out.splitlines()]

    whole = dump()
    assert dump("--sample", 0) == []
    for name in ("life", "status"):
        values = {page[name] for page in whole}
        parts = [dump(f"--{name}", value) for value in values]
        assert all(len({page[name] for page in part}) == 1 for part in parts)
        assert sum(map(len, parts)) == len(whole)
    table = nacre("history", job, "dump", "--csv").out.splitlines()
    assert table[0].startswith("url,")
    assert len(table) == 1 + len(whole)
    assert json.loads(nacre("history", job, "top", 9, "--least", 1000, "--json").out) == []
    told = json.loads(nacre("history", job, "stats", "--hosts", "--json").out)
    assert sum(sum(lives.values()) for lives in told["hosts"].values()) == told["pages"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--budget", "lots"), "is not a budget"),
        (("--keep", "some"), "some"),
    ],
)
def test_what_cannot_be_done_is_refused(job: Path, arguments: tuple[str, ...], message: str):
    done = nacre("recrawl", job, *arguments)
    assert done.code == 2
    assert message in done.err
    assert len(list((job / "runs").iterdir())) == 2


def test_a_job_that_never_ran_is_told_how_to_begin(tmp_path: Path):
    job = tmp_path / "job"
    assert nacre("new", job, "http://127.0.0.1:9/").code == 0
    done = nacre("recrawl", job)
    assert done.code == 2
    assert "nacre run" in done.err


def test_pass_follows_pass(tmp_path: Path):
    job = tmp_path / "demo"
    with site() as home:
        assert nacre("crawl", home, "--scope", "host", "--delay", 0, "--out", job, "-q").code == 0
        done = nacre("recrawl", job, "-q", "--every", "10ms", "--times", 2)
    assert done.code == 0, done.err
    assert done.err.count("Next pass:") == 1
    assert len(list((job / "runs").iterdir())) == 3


def test_passes_as_pages_become_due(tmp_path: Path):
    """Each pass begins when the first page is due, and status, explain and history tell when."""
    job = tmp_path / "demo"
    with site() as home:
        assert nacre("crawl", home, "--scope", "host", "--delay", 0, "--out", job, "-q").code == 0
        config = (job / "crawl.yaml").read_text()
        (job / "crawl.yaml").write_text(
            config + "\nrecrawl: {gap: 10ms, schedule: {kind: fixed, interval: 400ms}}\n"
        )
        done = nacre("recrawl", job, "-q", "--continuous", "--times", 2)
        assert done.code == 0, done.err
        assert done.err.count("Next pass:") == 1
        assert "fixed" in done.err
        assert len(list((job / "runs").iterdir())) == 3
    pages = [json.loads(line) for line in nacre("history", job, "dump").out.splitlines()]
    url = next(page["url"] for page in pages if page["visits"] >= 2)
    told = json.loads(nacre("history", job, "url", url, "--json").out)
    assert told["due"]["why"].startswith("fixed")
    assert "Next visit " in nacre("history", job, "url", url).out
    assert "due again" in nacre("explain", job, url).out
    due = json.loads(nacre("history", job, "due", 3, "--json").out)
    assert [one["time"] for one in due] == sorted(one["time"] for one in due)
    assert url in nacre("history", job, "due", 50).out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--every", "6h", "--at", "@daily"), "only one"),
        (("--every", "6h", "--continuous"), "only one"),
        (("--every", "soon"), "--every 'soon'"),
        (("--full", "--budget", "5"), "--full visits everything"),
        (("--at", "0 25 * * *"), "hour"),
        (("--at", "@daily", "--time-zone", "Mars/Olympus"), "--time-zone: 'Mars/Olympus'"),
    ],
)
def test_a_rhythm_that_is_none_is_refused(job: Path, options: tuple[str, ...], told: str):
    done = nacre("recrawl", job, *options)
    assert done.code == 2
    assert told in done.err


def test_a_page_that_was_not_chosen_is_known_all_the_same(tmp_path: Path):
    job = tmp_path / "demo"
    with site() as home:
        assert nacre("crawl", home, "--scope", "host", "--delay", 0, "--out", job, "-q").code == 0
        done = nacre("recrawl", job, "--budget", "1", "-q")
        assert "Finished: the budget of 1 request is spent; " in done.out
        assert re.search(r"spent; \d+ due pages? not visited\.", done.out)
        said = json.loads(nacre("status", job, "--json").out)
        assert "unvisited" in said["sentence"]["also"]
        assert said["overview"]["unvisited"] > 0
        pages = [json.loads(line) for line in nacre("history", job, "dump").out.splitlines()]
        url = next(page["url"] for page in pages if page["visits"] == 1)
        told = nacre("explain", job, url)
    assert "known from earlier runs, and not visited in this one" in told.out


def test_the_last_lines_tell_what_was_found_and_what_comes_next(tmp_path: Path):
    job = tmp_path / "demo"
    with site() as home:
        first = nacre("crawl", home, "--scope", "host", "--delay", 0, "--out", job, "-q")
        assert f"recrawl {job}" in first.out.splitlines()[-1]
        assert "savings" not in first.out
        for command in (("stats",), ("due", 3), ("top", 3)):
            told = nacre("history", job, *command)
            assert f"recrawl {job}` reads what the first crawl fetched" in told.out + told.err
        again = nacre("recrawl", job, "-q", "--budget", "1GB/day")
    assert "Finished: nothing more is due." in again.out
    assert "unchanged" in again.out
    assert f"report {job} savings" in again.out
    assert f"nacre replay {job}\n" in again.out
    known = nacre("history", job, "url", f"{home}a.html", "--verbose").out
    assert re.search(r"last_visit +20", known)
    assert re.search(r"visited +20", known)


def _log(job: Path) -> list[tuple[str, str]]:
    """Statuses and URLs of the crawl log of the last run, in order."""
    lines = (job / "latest/logs/crawl.log").read_text().splitlines()
    return [(line.split()[1], line.split()[3]) for line in lines]


_SOON = ("--set", "frontier.last_tries_within=1s", "--set", "frontier.retry_delay=100ms")


def test_a_dead_host_holds_up_no_other(tmp_path: Path):
    job = tmp_path / "demo"
    crawl = ("crawl", "--scope", "host", "--delay", 0, "--out", job, "-q")
    with site() as home:
        with site() as dead:
            assert nacre(*crawl, dead, home).code == 0
        done = nacre("recrawl", job, "-q", "--set", "recrawl.recall=1", *_SOON)
    assert done.code == 0, done.err
    log = _log(job)
    first = log.index(("-2", dead))
    found = {("200", f"{home}{name}") for name in ("", "a.html", "b.html", "c.html")}
    assert found <= set(log[:first])


def test_pages_of_another_job_are_no_seeds_and_the_scope_is_asked_of_them(
    job: Path, tmp_path: Path
):
    assert nacre("history", job, "export", tmp_path / "tables").code == 0
    own = tmp_path / "own"
    with site() as home:
        crawl = ("crawl", home, "--scope", "host", "--delay", 0, "--out", own, "-q")
        assert nacre(*crawl).code == 0
        assert nacre("history", own, "import", tmp_path / "tables").code == 0
        done = nacre("recrawl", own, "-q", "--set", "recrawl.recall=1", "--set", "recrawl.least=0")
    assert "Finished: nothing more is due." in done.out
    assert {url.startswith(home) for _, url in _log(own)} == {True}
    seeds = json.loads(nacre("report", own, "seeds", "--json").out)["rows"]
    assert [row["seed"] for row in seeds] == [home]


def test_a_run_in_which_nothing_was_due_says_so(tmp_path: Path):
    job = tmp_path / "demo"
    weekly = ("recrawl.schedule.kind=fixed", "recrawl.schedule.interval=7d")
    with site({"/": "<p>text</p>"}) as home:
        assert nacre("crawl", home, "--delay", 0, "--out", job, "-q").code == 0
        done = nacre("recrawl", job, "-q", "--set", weekly[0], "--set", weekly[1])
    assert done.code == 0, done.err
    assert "Finished: nothing was due." in done.out


def test_a_full_recrawl_says_what_is_new_changed_and_gone(tmp_path: Path):
    job = tmp_path / "job"
    pages: dict[str, ServedPage] = {
        "/": "<a href=/a>a</a><a href=/b>b</a><a href=/c>c</a>",
        "/a": "<p>stays", "/b": "<p>changes", "/c": "<p>goes",
    }  # fmt: skip
    with site(pages) as home:
        done = nacre("crawl", home, "--scope", "host", "--out", job, "--delay", 0)
        assert "found" not in done.out
        pages["/b"] = "<p>图书馆".encode("gbk")
        pages["/"] = f"{pages['/']!s}<a href=/d>d</a>"
        pages["/d"] = "<p>new"
        del pages["/c"]
        done = nacre("recrawl", job, "--full")
        (found,) = [line for line in done.out.splitlines() if line.startswith("  found")]
        assert found.split(None, 1)[1] == "2 changed, 1 unchanged, 1 new, 1 gone, by their bytes"
        told = json.loads(nacre("recrawl", job, "--full", "--json").out)
        assert told["changes"] == {"changed": 0, "unchanged": 4, "new": 0, "gone": 0}
        assert "found" not in told
