"""Citations of captures of a holding, and captures found by their URNs."""

from pathlib import Path

import pytest

from nacre.errors import JobError
from nacre.ops.citation import CitationRequest, cite_capture, find_by_urn
from nacre.replay.citation import Citation
from tests.ops.test_compare import DAYS, page
from tests.replay.archives import PAGE, URL, Archive, record, sha1

URNS = [f"urn:uuid:00000000-0000-4000-8000-00000000000{number}" for number in range(8)]
REQUEST = "application/http; msgtype=request"


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "job")


def cited(archive: Archive, **request) -> Citation:
    holding, index = archive.open()
    return cite_capture(holding, CitationRequest(**request), index)


def test_a_page_in_gbk(archive: Archive):
    body = "<html><title>新闻中心</title><p>今天的新闻".encode("gbk")
    archive.add(
        record(PAGE + body, date=DAYS[0], Record_ID=f"<{URNS[0]}>", Payload_Digest=sha1(body))
    )
    citation = cited(archive, url=URL, archive_id="archive.example.org")
    assert citation.title == "新闻中心"
    assert citation.pwid == f"urn:pwid:archive.example.org:{DAYS[0]}:page:{URL}"
    assert (citation.urn, citation.digest, citation.archive) == (URNS[0], sha1(body), "job")


def test_the_capture_of_a_time(archive: Archive):
    archive.add(*(page(f"{day}.", date) for day, date in enumerate(DAYS)))
    assert cited(archive, url=URL).date == DAYS[2]
    assert cited(archive, url=URL, at="2026-11-20").date == DAYS[0]
    assert cited(archive, url=URL).pwid.startswith("urn:pwid:job:")


def test_a_capture_is_found_by_its_pwid(archive: Archive):
    archive.add(*(page(f"{day}.", date) for day, date in enumerate(DAYS)))
    citation = cited(archive, url=URL, at=DAYS[1])
    assert cited(archive, urn=citation.pwid) == citation


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_a_capture_is_found_by_the_id_of_any_of_its_records(archive: Archive, compress, number):
    main = {"Concurrent_To": f"<{URNS[0]}>"}
    archive.add(page("Another.", DAYS[2]), compress=compress)
    archive.add(
        record(b"", "warcinfo"),
        record(b"GET", "request", URL, DAYS[0], REQUEST, Record_ID=f"<{URNS[3]}>", **main),
        page("One.", DAYS[0], Record_ID=f"<{URNS[0]}>"),
        record(b"GET", "request", URL, DAYS[0], REQUEST, Record_ID=f"<{URNS[1]}>", **main),
        record(b"via: x", "metadata", URL, DAYS[0], "a/b", Record_ID=f"<{URNS[2]}>", **main),
        page("Two.", DAYS[1], Record_ID=f"<{URNS[4]}>"),
        compress=compress,
    )
    reads: list[tuple[int, int]] = []
    holding, index = archive.open()
    capture = find_by_urn(holding, URNS[number].upper(), index, lambda *read: reads.append(read))
    assert capture.timestamp == "20261120100000"
    assert all(0 < done <= total for done, total in reads)


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ({"urn": URNS[7]}, "no record of job has the id"),
        ({"urn": f"urn:pwid:a:2026-11-20T10:00:01Z:page:{URL}"}, "the nearest is of 2026-11-20T10"),
        ({"urn": "urn:pwid:a:2026-11-20T10:00:01Z:page:http://none.test/"}, "no capture"),
        ({"urn": "urn:isbn:1"}, "neither"),
        ({"url": URL, "archive_id": "my archive"}, "cannot name an archive"),
    ],
)
def test_mistakes_are_named(archive: Archive, request_, text):
    archive.add(page("One.", DAYS[0]))
    with pytest.raises(JobError, match=text):
        cited(archive, **request_)


def test_a_damaged_file_does_not_end_a_search(archive: Archive):
    archive.add(page("One.", DAYS[0], Record_ID=f"<{URNS[0]}>"))
    damaged = archive.add(page("Two.", DAYS[1]))
    damaged.write_bytes(damaged.read_bytes()[:40] + b"\xff" * 40)
    holding, index = archive.open()
    assert find_by_urn(holding, URNS[0], index).timestamp == "20261120100000"
