"""The loop of the helper that parses large documents, in this process."""

import io
import resource
import sys
from types import SimpleNamespace

import msgspec
import pytest

from nacre.engine.helper_loop import LENGTH, MEMORY
from nacre.engine.steps import parser_main
from nacre.engine.steps.parser_main import ParseJob
from nacre.extract.document import Document, Extraction
from nacre.extract.settings import ExtractSettings

PAGE = b"<!DOCTYPE html><a href='b.html'>b</a><img src=c.png>"


def message(url: str, **said: object) -> bytes:
    document = Document(url=url, mime="text/html", body=PAGE)
    settings = ExtractSettings.model_validate(said).model_dump()
    job = msgspec.msgpack.encode(ParseJob(document, settings))
    return LENGTH.pack(len(job)) + job


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, tuple[int, int]]]:
    """What the helper limits; nothing is limited in this process."""
    asked: list[tuple[int, tuple[int, int]]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda *said: asked.append(said))
    return asked


def answers(monkeypatch: pytest.MonkeyPatch, asked: bytes) -> list[list[str]]:
    sink = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(asked)))
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=sink))
    parser_main.main()
    sink.seek(0)
    found = []
    while head := sink.read(4):
        (size,) = LENGTH.unpack(head)
        made = msgspec.msgpack.decode(sink.read(size), type=Extraction)
        found.append([link.url for link in made.outlinks])
    return found


def test_each_document_has_an_answer_in_order(monkeypatch: pytest.MonkeyPatch, limits):
    asked = message("http://a.test/") + message("http://b.test/x/")
    assert answers(monkeypatch, asked) == [
        ["http://a.test/favicon.ico", "http://a.test/b.html", "http://a.test/c.png"],
        ["http://b.test/favicon.ico", "http://b.test/x/b.html", "http://b.test/x/c.png"],
    ]
    assert limits == [(resource.RLIMIT_AS, (MEMORY, MEMORY))]


def test_the_settings_of_the_document_hold(monkeypatch: pytest.MonkeyPatch, limits):
    (found,) = answers(monkeypatch, message("http://a.test/", max_outlinks=1))
    assert len(found) == 1
    assert limits


@pytest.mark.parametrize("cut", [0, 2, 4, 40], ids="cut at {}".format)
def test_it_ends_with_the_pipe_wherever_that_breaks(
    monkeypatch: pytest.MonkeyPatch, limits, cut: int
):
    whole = message("http://a.test/")
    assert len(answers(monkeypatch, whole + whole[:cut])) == 1
    assert limits
