import pytest

from nacre.core.crawluri import Directive
from nacre.frontier.frontier import Attempt
from nacre.frontier.pending import (
    JournalLine,
    JournalTag,
    count,
    export,
    line_of,
    parse_line,
    pending,
)
from nacre.frontier.policy import Retry
from nacre.scope.patterns.matching import any_text
from tests.frontier.making import NOW, candidate, frontier
from tests.frontier.memory_rows import MemoryRows


def filled() -> MemoryRows:
    """Two queues, one URI of them waiting for its retry."""
    rows = MemoryRows()
    front = frontier(rows)
    front.schedule([candidate(host, str(n)) for host in "ab" for n in range(300)], NOW)
    front.schedule([candidate("b", "first", directive=Directive.HIGH)], NOW)
    bad = front.next(NOW, 0)
    assert bad is not None
    front.retry(bad, Attempt(-2), Retry(NOW + 60), NOW, 0)
    front.save()
    return rows


def test_lists_all_in_order_then_what_waits() -> None:
    entries = list(pending(filled()))
    assert len(entries) == 601
    assert [e.uri.url for e in entries if e.uri.queue == "b,"][:2] == [
        "http://b/first",
        "http://b/0",
    ]
    assert (entries[-1].family, entries[-1].uri.url, entries[-1].uri.attempts) == (
        "future", "http://a/0", 1,
    )  # fmt: skip


def test_matches_url_and_queue() -> None:
    rows = filled()
    urls = [e.uri.url for e in pending(rows, lambda url: url.endswith("7"), lambda q: q == "a,")]
    assert urls == [f"http://a/{n}" for n in range(300) if n % 10 == 7]
    assert count(rows) == 601
    assert count(rows, any_text, lambda q: q == "a,") == 300
    assert count(rows, lambda url: url.endswith("/0")) == 2


def test_export_is_imported_again() -> None:
    lines = list(export(entry.uri for entry in pending(filled())))
    assert "F+ http://b/first L http://b/" in lines
    assert {parse_line(line) for line in lines} >= {
        JournalLine("http://a/0", JournalTag.ADDED, "L", "http://a/")
    }


@pytest.mark.parametrize(
    ("line", "parsed"),
    [
        ("http://a/", JournalLine("http://a/")),
        ("F+ http://a/", JournalLine("http://a/", JournalTag.ADDED)),
        ("F+ http://a/  ", JournalLine("http://a/", JournalTag.ADDED)),
        ("F+ http://a/ LE", JournalLine("http://a/", JournalTag.ADDED, "LE")),
        ("F+ http://a/ http://v/", JournalLine("http://a/", JournalTag.ADDED, "", "http://v/")),
        (
            "Fs http://a/ L http://v/",
            JournalLine("http://a/", JournalTag.SUCCEEDED, "L", "http://v/"),
        ),
        ("Fe http://a/", JournalLine("http://a/", JournalTag.EMITTED)),
        ("Fi http://a/", JournalLine("http://a/", JournalTag.INCLUDED)),
        ("Fr http://a/", JournalLine("http://a/", JournalTag.RESCHEDULED)),
        ("Fx http://a/", None),
        ("T 20261120151100", None),
        ("# comment", None),
        ("nonsense", None),
        ("", None),
    ],
)
def test_lines(line: str, parsed: JournalLine | None) -> None:
    assert parse_line(line) == parsed


@pytest.mark.parametrize(("path", "via"), [("", ""), ("LLE", "http://v/"), ("", "http://v/")])
def test_what_is_written_is_read(path: str, via: str) -> None:
    for tag in (JournalTag.ADDED, JournalTag.SUCCEEDED, JournalTag.FAILED, JournalTag.DISREGARDED):
        written = line_of(tag, "http://a/", path, via)
        assert parse_line(written) == JournalLine("http://a/", tag, path, via)
