"""What extractors are told of a document."""

from nacre.core.capture import LONGEST_TYPE
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.job.extracting.content import document_of
from tests.archive.captures import make_capture


def charset(content_type: bytes) -> str | None:
    capture = make_capture(headers=[(b"Content-Type", content_type)])
    return document_of(Visit(CrawlURI(capture.url, b"k", "q")), capture, 100).charset_header


def test_the_charset_of_the_header():
    assert charset(b'text/html; Charset="UTF-8"; x=y') == "utf-8"
    assert charset(b"text/html; charset=") is None
    assert charset(b"text/html") is None


def test_of_a_header_of_any_length_little_is_remembered():
    told = charset(b"text/html; charset=" + b"x" * 300_000)
    assert told is not None
    assert len(told) < LONGEST_TYPE
