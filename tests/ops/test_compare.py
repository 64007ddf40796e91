"""Two captures of a holding: which are chosen, revisits, differences, POST, two URLs."""

from pathlib import Path

import pytest

from nacre.archive.fields import digest_of
from nacre.errors import JobError
from nacre.ops.compare import CompareRequest, compare_captures
from nacre.replay.compare import CompareView
from nacre.replay.compare_report import compare_document
from nacre.report.plain import plain_text
from tests.replay.archives import PAGE, URL, Archive, record, sha1
from tests.replay.test_reply import BASE_ID, delta_record

DAYS = ["2026-11-20T10:00:00Z", "2026-11-21T10:00:00Z", "2026-11-22T10:00:00Z"]


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "job")


def page(text: str, date: str, url: str = URL, **fields: str) -> bytes:
    body = f"<title>T</title><p>{text}".encode()
    return record(PAGE + body, url=url, date=date, Payload_Digest=sha1(body), **fields)


def compared(archive: Archive, *others: Archive, **request) -> CompareView:
    holding, index = archive.open(*others)
    return compare_captures(holding, CompareRequest(**{"url": URL, **request}), index)


def texts(view: CompareView) -> list[tuple[str | None, str | None]]:
    assert view.text is not None
    return [(piece.was, piece.now) for piece in view.text.pieces]


@pytest.mark.parametrize(
    ("request_", "dates"),
    [
        ({}, (1, 2)),
        ({"new": "2026-11-21"}, (0, 1)),
        ({"old": "20261120"}, (0, 2)),
        ({"old": "2026-11-20T10:00:00Z", "new": "20261121100000"}, (0, 1)),
        ({"old": "2026-11-22", "new": "2026-11-20"}, (2, 0)),
        # The nearest, if no capture is of that time.
        ({"old": "2026-11-20T23:00:00Z"}, (1, 2)),
        ({"old": "2019", "new": "2030"}, (0, 2)),
    ],
)
def test_the_captures_of_times(archive: Archive, request_, dates):
    archive.add(*(page(f"Version {day}.", date) for day, date in enumerate(DAYS)))
    view = compared(archive, **request_)
    assert (view.old.date, view.new.date) == tuple(DAYS[day] for day in dates)
    assert texts(view) == [tuple(f"Version {day}." for day in dates)]
    assert view.dates == DAYS


def test_a_capture_is_named_by_its_place(archive: Archive):
    warc = archive.add(page("One.", DAYS[0]), page("Two.", DAYS[0]))
    captures = archive.captures()
    view = compared(archive, old=captures[0].id, new=captures[1].id)
    assert texts(view) == [("One.", "Two.")]
    assert view.old.id.startswith(warc.name + ":")


def test_equal_versions_before_the_newest_are_passed_over(archive: Archive):
    archive.add(page("One.", DAYS[0]), page("Two.", DAYS[1]), page("Two.", DAYS[2]))
    assert compared(archive).old.date == DAYS[0]
    archive.add(
        page("Same.", DAYS[0], "http://h.test/s"), page("Same.", DAYS[1], "http://h.test/s")
    )
    assert compared(archive, url="http://h.test/s").is_same


def test_a_revisit_is_compared_by_its_original(archive: Archive):
    body = b"<title>T</title><p>One."
    archive.add(
        record(PAGE + body, date=DAYS[0], Payload_Digest=sha1(body)),
        page("Two.", DAYS[1]),
        record(
            PAGE, "revisit", date=DAYS[2], Payload_Digest=sha1(body), Refers_To_Date=DAYS[0],
            Refers_To_Target_URI=URL,
            Profile="http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
        ),
    )  # fmt: skip
    assert texts(compared(archive)) == [("Two.", "One.")]
    assert compared(archive, old=DAYS[0]).is_same


def test_a_difference_is_compared_as_its_page(archive: Archive):
    base = PAGE + b"<title>T</title><p>" + b"Common words. " * 50
    block = base + b"<p>More."
    base_record = record(base, date=DAYS[0], Record_ID=f"<{BASE_ID}>", Block_Digest=digest_of(base))
    archive.add(base_record, delta_record(base, block, DAYS[1]))
    assert texts(compared(archive)) == [(None, "More.")]


def test_captures_of_forms_are_compared(archive: Archive):
    url = "http://h.test/form"
    records = []
    for day in (0, 1):
        number = f"urn:uuid:00000000-0000-4000-8000-00000000000{day}"
        records.append(page(f"Answer {day}.", DAYS[day], url, Record_ID=f"<{number}>"))
        head = b"POST /form HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n"
        records.append(
            record(
                head + b"a=%d" % day, "request", url, DAYS[day],
                "application/http; msgtype=request", Concurrent_To=f"<{number}>",
            )
        )  # fmt: skip
    archive.add(*records)
    assert {capture.method for capture in archive.open()[1].prefix("test,h)/form")} == {"POST"}
    assert texts(compared(archive, url=url)) == [("Answer 0.", "Answer 1.")]


def test_two_urls_and_two_jobs(archive: Archive, tmp_path: Path):
    other = Archive(tmp_path / "other")
    archive.add(page("One.", DAYS[1]))
    other.add(page("Two.", DAYS[0], "http://www.h.test/b"), page("Three.", DAYS[2]))
    view = compared(archive, other, to="http://www.h.test/b")
    assert texts(view) == [("One.", "Two.")] or texts(view) == [("Three.", "Two.")]
    assert view.new.url == "http://www.h.test/b"
    assert texts(compared(archive, other)) == [("One.", "Three.")]


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({"url": "http://h.test/none"}, "no capture of http://h.test/none"),
        ({"url": "http://[::1"}, "no capture"),
        ({"url": "http://h.test/\x1b[2J\u202e"}, "no capture"),
        ({"old": "yesterday"}, "yesterday is no time"),
        ({"new": "2026-13-45T99"}, "no time"),
        ({"new": DAYS[0]}, "with another URL"),
    ],
)
def test_mistakes_are_named(archive: Archive, request_, text):
    archive.add(page("One.", DAYS[0]), page("Two.", DAYS[1]))
    with pytest.raises(JobError, match=text) as caught:
        compared(archive, **request_)
    assert str(caught.value).isprintable()


def test_the_report_has_each_section(archive: Archive):
    archive.add(page("<a href=/a>A</a>One.", DAYS[0]), page("<a href=/b>B</a>Two.\x1b[2J", DAYS[1]))
    text = plain_text(compare_document(compared(archive)))
    for line in ("Text", "Source", "Headers", "Links", DAYS[0], "differs from byte"):
        assert line in text
    assert "\x1b" not in text
    headers = compare_document(compared(archive, section="headers"))
    assert [section.heading for section in headers.sections] == ["", "Headers"]
