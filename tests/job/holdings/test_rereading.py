"""Captures read back with their bodies."""

from pathlib import Path

import pytest

from nacre.archive.record import IDENTICAL, capture_records
from nacre.core.capture import Capture
from nacre.job.holdings.rereading import reread
from tests.archive.captures import BEGAN, HEAD, counting_ids, make_capture, revisit_of
from tests.archive.files import MemoryFiles, make_writer

URL = "http://example.test/copy"


@pytest.fixture
def warc(tmp_path: Path) -> Path:
    """Revisits of a page and of an error."""
    files, ids = MemoryFiles(), counting_ids()
    writer = make_writer(files)
    for head, status in ((HEAD, 200), (HEAD.replace(b"200 OK", b"404 No"), 404)):
        capture = make_capture(head, url=URL, status=status)
        writer.write(capture_records(capture, revisit_of(IDENTICAL), ids))
    writer.rotate()
    (path,) = files.save(tmp_path)
    return path


def test_a_revisit_has_the_body_of_its_original_and_an_error_stays_one(warc: Path):
    def original(_: object) -> Capture:
        return make_capture()

    page, error = reread(warc, original, lambda _: b"")
    assert (page.kept.status, page.capture.status) == (200, 200)
    assert (error.kept.status, error.capture.status) == (404, 404)
    for found in (page.capture, error.capture):
        assert (found.url, found.began, found.payload(99)) == (URL, BEGAN, b"hello world")


def test_without_its_original_only_an_error_is_known_for_what_it_is(warc: Path):
    page, error = reread(warc, lambda _: None, lambda _: b"")
    assert (page.kept.status, error.kept.status, error.capture.status) == (304, 404, 404)
