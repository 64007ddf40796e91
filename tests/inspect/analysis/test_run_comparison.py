"""Any two runs, compared page by page."""

import msgspec
import pytest

from nacre.errors import JobError
from nacre.inspect.analysis.run_comparison import (
    KINDS,
    ComparedRun,
    choose_runs,
    compare_replies,
    document,
)
from nacre.inspect.archived_replies import ArchivedReply
from nacre.report.plain import plain_text
from nacre.runs.runs import RunRow

OLD = ComparedRun(1, "a", 1_795_392_000.0)
NEW = ComparedRun(3, "c", 1_795_392_000.0 + 2 * 86_400)
"""The first run ends on 2026-11-23T00:00:00Z, the third two days later."""


def reply(url: str, day: int, digest: str, status: str = "200", mime: str = "text/html"):
    date = f"2026-11-{day}T00:00:00Z"
    return ArchivedReply(url, date, status, mime, digest, "x.warc.gz", 0)


def kinds(*replies: ArchivedReply) -> dict[str, str]:
    found = compare_replies(replies, OLD, NEW)
    return {url: kind for kind, urls in found.pages.items() for url in urls}


@pytest.mark.parametrize(
    ("replies", "kind"),
    [
        ([(23, "a"), (25, "b")], "changed"),
        ([(23, "a"), (24, "b"), (25, "a")], ""),
        ([(23, "a"), (25, "a", "200", "warc/revisit")], ""),
        ([(23, "a"), (25, "", "304", "warc/revisit")], ""),
        ([(23, "a"), (26, "b")], ""),
        ([(25, "a")], "new"),
        ([(23, "x", "404"), (25, "a")], "new"),
        ([(23, "a"), (25, "x", "404")], "gone"),
        ([(23, "a"), (25, "x", "410")], "gone"),
        ([(23, "a"), (25, "x", "301")], "moved"),
        ([(23, "a"), (25, "x", "503")], "failed"),
        ([(23, "x", "404"), (25, "x", "404")], ""),
        ([(25, "b"), (23, "a")], "changed"),
        ([(23, "a")], ""),
    ],
)
def test_kinds_of_differences(replies, kind):
    url = "http://a.test/x"
    assert kinds(*(reply(url, *one) for one in replies)) == ({url: kind} if kind else {})


@pytest.mark.parametrize(
    ("fraction", "second", "kind"),
    [(0.0, 0, "changed"), (0.0, 1, ""), (0.9, 0, "changed"), (0.9, 1, "")],
)
def test_a_run_has_no_reply_of_the_second_after_its_end(fraction, second, kind):
    """The reply before it is of the run; those of the next second are of the next run."""
    url, date = "http://a.test/x", f"2026-11-25T00:00:0{second}Z"
    later = ArchivedReply(url, date, "200", "text/html", "b", "x.warc.gz", 0)
    until = msgspec.structs.replace(NEW, until=NEW.until + fraction)
    found = compare_replies([reply(url, 23, "a"), later], OLD, until)
    assert found.pages == {one: [url] * (one == kind) for one in KINDS}


def test_the_first_reply_of_the_newer_run_is_not_of_the_older():
    url = "http://a.test/x"
    first = ArchivedReply(url, "2026-11-23T00:00:01Z", "200", "text/html", "b", "x.warc.gz", 0)
    assert kinds(reply(url, 22, "a"), first) == {url: "changed"}


def test_more_replies_than_memory_holds(tmp_path):
    """They are sorted in files of the scratch directory, in any order of the archive."""
    replies = [reply(f"http://a.test/{n % 7}", 23 + n // 7, f"{n * n // 49}") for n in range(21)]
    result = compare_replies(replies, OLD, NEW)
    assert sum(result.counts.values()) == 7
    assert compare_replies(replies[::-1], OLD, NEW, tmp_path, in_memory=4) == result
    with pytest.raises(FileNotFoundError):
        compare_replies(replies, OLD, NEW, tmp_path / "missing", in_memory=4)


def test_plumbing_is_no_page():
    assert kinds(reply("dns:a.test", 25, "a"), reply("http://a.test/robots.txt", 25, "a")) == {}
    assert kinds(reply("http://a.test/x/robots.txt", 25, "a"))


def test_counts_and_the_document():
    found = compare_replies(
        [reply("http://a.test/", 23, "a"), reply("http://b.test/", 25, "b")], OLD, NEW
    )
    assert found.counts["unchanged"] == 1
    text = plain_text(document(found))
    assert "1 new, 0 changed, 0 gone, 0 moved, 0 failed, 1 unchanged." in text
    assert "http://b.test/" in text
    assert "http://a.test/" not in text


RUNS = [RunRow(number=n, name=f"r{n}", started=float(n), ended=n + 0.5) for n in (1, 2, 3)]


@pytest.mark.parametrize(
    ("old", "new", "numbers"),
    [("", "", [2, 3]), ("1", "", [1, 3]), ("r1", "2", [1, 2]), ("", "2", [1, 2])],
)
def test_runs_by_number_and_name(old, new, numbers):
    assert [run.number for run in choose_runs(RUNS, old, new, 9.0)] == numbers


@pytest.mark.parametrize(("old", "new"), [("3", "1"), ("2", "2"), ("", "1"), ("9", ""), ("", "x")])
def test_runs_that_are_none(old, new):
    with pytest.raises(JobError, match=r"the runs are: 1 \(r1\), 2 \(r2\), 3 \(r3\)"):
        choose_runs(RUNS, old, new, 9.0)
    with pytest.raises(JobError, match="no two runs"):
        choose_runs(RUNS[:1], "", "", 9.0)
