"""The helper process that reads documents: its answers, and what is too much for it."""

import pytest

from nacre.engine.text_process import TextProcess
from nacre.extract.document import Document
from nacre.extract.fulltext.job import TextJob


@pytest.fixture
def texts():
    made = TextProcess()
    yield made
    made.close()


def job(body: bytes, mime: str = "text/html") -> TextJob:
    return TextJob(Document("http://a.test/x", mime=mime, body=body))


def test_documents_one_after_another(texts):
    assert texts.text(job("<title>书</title><p>国家图书馆".encode())).title == "书"
    assert texts.text(job(b"junk", "application/pdf")).problem == "unreadable"
    assert texts.text(job(b"plain", "text/plain")).text == "plain"


def test_a_document_that_takes_too_long_has_no_text_and_the_next_one_has():
    texts = TextProcess(time_limit=0.0)
    assert texts.text(job(b"<p>x")).problem == "time"
    texts.close()


def test_documents_that_are_asked_for_together_are_answered_apart_where_one_fails(texts):
    deep = b"<p>y" + b"<b>" * 5_000
    jobs = [job(b"<p>one"), job(b"junk", "application/pdf"), job(deep), job(b"two", "text/plain")]
    found = texts.texts(jobs)
    assert [one.problem for one in found] == ["", "unreadable", "", ""]
    assert [one.text.strip() for one in found] == ["one", "", "y", "two"]
    assert texts.texts([]) == []
    late = TextProcess(time_limit=0.0)
    assert [one.problem for one in late.texts(jobs[:2])] == ["time", "time"]
    late.close()
