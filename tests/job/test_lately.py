from pathlib import Path

from nacre.job.lately import (
    LastLines,
    fetched_lately,
    fields_of,
    last_lines,
    suspected_trap,
    troubled_host,
)
from nacre.job.overview import SlowQueue
from nacre.machine.layout import Layout
from nacre.report.crawllog import LogTimes

NOW = 1_763_651_460.0  # 2025-11-20T15:11:00Z
SLOW = SlowQueue("test,a,", 9, 60.0, 540.0, host="a.test")


def line(url: str, status: int, path: str = "L", time: str = "2025-11-20T15:10:30.000Z") -> str:
    return f"{time} {status:>5} - {url} {path} - text/html #001 - - - -"


def test_a_host_that_refuses_is_named_with_its_status_and_delay():
    refused = [line("http://a.test/%CA%E9", 429)] * 8 + [line("http://b.test/", -2)] * 2
    lines = fields_of(["    an error", *refused, *[line("http://c.test/", 200)] * 20])
    found = troubled_host(LastLines(lines), (SLOW,), NOW)
    assert found is not None
    assert (found.host, found.status, found.delay) == ("a.test", 429, 60.0)
    assert found.share == 8 / 30


def test_a_missing_page_and_what_is_long_ago_are_no_refusals():
    missing = fields_of([line("http://a.test/", 404)] * 30)
    assert troubled_host(LastLines(missing), (), NOW) is None
    old = fields_of([line("http://a.test/", 429, time="2025-11-20T15:00:00.000Z")] * 30)
    assert troubled_host(LastLines(tries=old), (), NOW) is None
    assert troubled_host(LastLines(fields_of([line("http://a.test/", 429)] * 3)), (), NOW) is None


def logged(folder: Path, crawl: list[str], tries: list[str]) -> LastLines:
    """What is read of a job that has these lines in its logs."""
    layout = Layout(folder / "job")
    logs = layout.root / "runs" / "1" / "logs"
    logs.mkdir(parents=True)
    layout.latest.symlink_to("runs/1")
    (logs / "crawl.log").write_text("".join(f"{one}\n" for one in crawl))
    (logs / "nonfatal-errors.log").write_text("".join(f"{one}\n" for one in tries))
    return last_lines(layout)


def ago(seconds: float) -> str:
    return LogTimes().dashed(NOW - seconds)


def test_few_refusals_beside_many_fetches_of_a_fast_crawl_are_no_trouble(tmp_path: Path):
    """At 41 URIs/s the last 300 lines are of 7 s: 100 tries of five minutes are no quarter."""
    fetched = [line("http://a.test/", 200, time=ago(n / 41)) for n in range(400, 0, -1)]
    tries = [line("http://b.test/", 503, time=ago(2.9 * n)) for n in range(100, 0, -1)]
    lines = logged(tmp_path, fetched, tries)
    assert len(lines.crawl) == 300
    assert len(lines.tries) == 100
    assert lines.since == ago(300 / 41)
    found = troubled_host(lines, (), NOW)
    assert found is not None
    assert found.share == 2 / 302


def test_many_refusals_are_trouble_however_fast_they_are(tmp_path: Path):
    fetched = [line("http://a.test/", 200, time=ago(2.9 * n)) for n in range(100, 0, -1)]
    tries = [line("http://b.test/", 503, time=ago(n / 41)) for n in range(400, 0, -1)]
    found = troubled_host(logged(tmp_path, fetched, tries), (), NOW)
    assert found is not None
    assert (found.host, found.share) == ("b.test", 300 / 302)


def test_logs_that_were_read_whole_count_for_five_minutes(tmp_path: Path):
    fetched = [line("http://a.test/", 200, time=ago(n / 41)) for n in range(100, 0, -1)]
    tries = [line("http://b.test/", 503, time=ago(2.9 * n)) for n in range(100, 0, -1)]
    lines = logged(tmp_path, fetched, tries)
    assert lines.since == ""
    found = troubled_host(lines, (), NOW)
    assert found is not None
    assert found.share == 0.5


def test_a_place_that_grows_far_from_the_seeds_looks_like_a_trap():
    deep = fields_of([line(f"http://a.test/calendar/{n}?m=/x", 200, "L" * 9) for n in range(30)])
    found = suspected_trap(deep, outgrows=True)
    assert found is not None
    assert (found.prefix, found.share) == ("http://a.test/calendar/", 1.0)
    assert suspected_trap(deep, outgrows=False) is None
    assert suspected_trap(deep[:3], outgrows=True) is None
    near = fields_of([line(f"http://a.test/docs/{n}", 200) for n in range(30)])
    assert suspected_trap(near, outgrows=True) is None
    long = fields_of([line(f"http://a.test/docs/{n}", 200, "5+LLLL") for n in range(30)])
    assert suspected_trap(long, outgrows=True) is not None
    top = fields_of([line(f"http://a.test/{n}", 200, "L" * 9) for n in range(30)])
    assert suspected_trap(top, outgrows=True) is None


def test_a_program_with_queries_is_a_place_of_its_own():
    """Session ids and calendars are often one program: its directory may have good pages too."""
    top = [line(f"http://a.test/list.php?sid={n:x}", 200, "L" * 9) for n in range(30)]
    news = [line(f"http://a.test/news/{n}", 200) for n in range(10)]
    found = fetched_lately(fields_of([*top, *news]))
    assert [(one.prefix, one.share) for one in found] == [
        ("http://a.test/list.php?", 0.75),
        ("http://a.test/news/", 0.25),
    ]
    inside = [line(f"http://a.test/huodong/index.php?m={n}", 200) for n in range(30)]
    assert [one.prefix for one in fetched_lately(fields_of(inside))] == [
        "http://a.test/huodong/index.php?"
    ]
    mixed = [line(f"http://a.test/bbs/{n % 2}.php?t={n}", 200) for n in range(30)]
    assert [one.prefix for one in fetched_lately(fields_of(mixed))] == ["http://a.test/bbs/"]
    month = [line(f"http://a.test/calendar/?m={n}", 200) for n in range(30)]
    assert [one.prefix for one in fetched_lately(fields_of(month))] == ["http://a.test/calendar/"]
    home = [line(f"http://a.test/?p={n}", 200) for n in range(30)]
    assert [one.prefix for one in fetched_lately(fields_of(home))] == ["http://a.test/?"]
    assert fetched_lately(fields_of([line(f"http://a.test/{n}", 200) for n in range(30)])) == ()
    trap = suspected_trap(fields_of(top), outgrows=True)
    assert trap is not None
    assert trap.prefix == "http://a.test/list.php?"


def test_the_last_lines_of_both_logs_are_read(tmp_path: Path):
    layout = Layout(tmp_path / "job")
    assert last_lines(layout) == LastLines([], [])
    logs = layout.root / "runs" / "1" / "logs"
    logs.mkdir(parents=True)
    layout.latest.symlink_to("runs/1")
    text = "".join(line(f"http://a.test/{n}/{'x' * 2000}", 200) + "\n" for n in range(400))
    (logs / "crawl.log").write_text(text + "2025-11-20T15:1")
    (logs / "nonfatal-errors.log").write_text(line("http://a.test/", -2) + "\n    an error\n")
    found = last_lines(layout)
    assert 200 < len(found.crawl) <= 300
    assert found.crawl[-1].url.startswith("http://a.test/399/")
    assert [one.status for one in found.tries] == [-2]


def test_a_log_that_leads_elsewhere_is_not_read(tmp_path: Path):
    layout = Layout(tmp_path / "job")
    other = tmp_path / "other" / "logs"
    other.mkdir(parents=True)
    (other / "crawl.log").write_text(line("http://a.test/", 200) + "\n")
    layout.root.mkdir()
    layout.latest.symlink_to(other.parent)
    assert last_lines(layout) == LastLines()
    layout.latest.unlink()
    logs = layout.latest / "logs"
    logs.mkdir(parents=True)
    (logs / "crawl.log").symlink_to(other / "crawl.log")
    (logs / "nonfatal-errors.log").mkdir()
    assert last_lines(layout) == LastLines([], [])
