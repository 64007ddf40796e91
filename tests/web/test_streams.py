"""Answers whose stream fails: a line in the log, and no whole answer."""

import logging
from collections.abc import Iterator

import anyio
import pytest
from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from nacre.errors import StorageError
from nacre.web.middleware import StreamGuard

SCOPE: Scope = {"type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "headers": []}


def _damaged() -> Iterator[bytes]:
    yield b"part"
    raise StorageError("w0.warc is damaged\x1b[2J")


async def _streaming(scope: Scope, receive: Receive, send: Send) -> None:
    await StreamingResponse(_damaged())(scope, receive, send)


async def _failing(scope: Scope, receive: Receive, send: Send) -> None:
    raise StorageError("no answer has begun")


async def _never() -> Message:
    await anyio.sleep_forever()
    raise AssertionError


def test_a_stream_that_fails_is_a_line_and_no_end(caplog: pytest.LogCaptureFixture):
    events: list[Message] = []

    async def send(event: Message) -> None:
        events.append(event)

    with caplog.at_level(logging.ERROR):
        anyio.run(StreamGuard(_streaming), SCOPE, _never, send)
    assert events[-1] == {"type": "http.response.body", "body": b"part", "more_body": True}
    assert [record.exc_info for record in caplog.records] == [None]
    assert "w0.warc is damaged" in caplog.text
    assert "\x1b" not in caplog.text


def test_an_answer_that_has_not_begun_fails():
    async def send(event: Message) -> None:
        raise AssertionError(event)

    with pytest.raises(StorageError):
        anyio.run(StreamGuard(_failing), SCOPE, _never, send)
