"""Replies that a page gets from the archive: which, for how long, and byte for byte."""

from pathlib import Path
from typing import Any

import pytest

from nacre.core.capture import Capture
from nacre.core.rendered import BrowserRequest
from nacre.engine.keeping import Bases
from nacre.engine.pages.stored_replies import (
    RecentReplies,
    StoredReplies,
    is_reusable_reply,
    is_reusable_request,
)
from nacre.history.dedup import Digests, History
from tests.archive.captures import make_capture
from tests.engine.visiting import BEGAN, NOW, OpenJob, visiting

URL = "http://a.test/app.js"
BODY = b"console.log('\xb9\xe3\xb8\xe6')"  # GBK


def request(
    resource: str = "script", *headers: tuple[bytes, bytes], **parts: Any
) -> BrowserRequest:
    return BrowserRequest("GET", URL, headers, resource=resource, **parts)


def parts_of(headers: Any, **parts: Any) -> dict[str, Any]:
    fields = [*headers, (b"Content-Length", b"%d" % len(BODY))]
    lines = [b"HTTP/1.1 200 OK", *(b"%b: %b" % field for field in fields)]
    head = b"\r\n".join(lines) + b"\r\n\r\n"
    return {"head": head, "headers": tuple(fields), **parts}


def reply(*headers: tuple[bytes, bytes], **parts: Any) -> Capture:
    return make_capture(body=BODY, url=URL, **parts_of(headers, **parts))


@pytest.mark.parametrize(
    ("asked", "is_reusable"),
    [
        (request(), True),
        (request("font"), True),
        (request("style"), True),
        (request("image"), True),
        (request("fetch"), False),
        (request("document"), False),
        (request("media"), False),
        (request("script", (b"Range", b"bytes=0-1")), False),
        (request("script", (b"If-None-Match", b'"x"')), False),
        (BrowserRequest("POST", URL, resource="script"), False),
    ],
)
def test_which_requests_a_stored_reply_may_answer(asked: BrowserRequest, is_reusable: bool):
    assert is_reusable_request(asked) is is_reusable


@pytest.mark.parametrize(
    ("headers", "is_reusable"),
    [
        ((), True),
        (((b"Cache-Control", b"max-age=5, public"),), True),
        (((b"Cache-Control", b"No-Store"),), False),
        (((b"Cache-Control", b"max-age=1"), (b"cache-control", b"private=x")), False),
        (((b"Vary", b"Accept-Encoding"),), True),
        (((b"Vary", b"accept, COOKIE"),), False),
        (((b"Vary", b"*"),), False),
    ],
)
def test_which_replies_may_be_reused(headers: Any, is_reusable: bool):
    assert is_reusable_reply(reply(*headers)) is is_reusable


def test_recent_replies_leave_memory_when_there_are_too_many():
    recent = RecentReplies(most=3 * 500)
    for number in range(10):
        recent.add(make_capture(body=b"x" * 400, url=f"http://a.test/{number}"), b"")
    assert recent.size <= 1500
    assert recent.get("http://a.test/9") is not None
    assert recent.get("http://a.test/0") is None


class Archive:
    """An open job, and what pages get of its archive."""

    def __init__(self, job: OpenJob, *, since: float = NOW - 10, conditional: bool = True) -> None:
        store = job.session.storing.store
        bases = Bases(job.session.layout.root, store, Digests(store))
        self.job = job
        self.stored = StoredReplies(
            History(store), bases, int(since * 1e6), conditional=conditional
        )

    def store(self, *headers: tuple[bytes, bytes], **parts: Any) -> Capture:
        """Store a reply; the commit makes it readable."""
        visit = self.job.reply(url=URL, body=BODY, capture=parts_of(headers, **parts))
        assert visit.capture is not None
        self.job.end(visit)
        return visit.capture

    async def settle(self) -> None:
        await self.job.session.storing.commit.durable()

    async def recent(self, asked: BrowserRequest, at: float = 1.0, within: float = 60.0) -> Any:
        return await self.stored.recent(asked, URL, NOW + at, within)


def run(root: Path, act: Any, **parts: Any) -> None:
    async def with_archive(job: OpenJob) -> None:
        await act(Archive(job, **parts))

    visiting(root, with_archive)


def test_stored_reply_is_read_back_byte_for_byte(tmp_path: Path):
    async def act(archive: Archive) -> None:
        capture = archive.store((b"Content-Type", b"text/javascript; charset=gbk"))
        await archive.settle()
        stored = await archive.recent(request())
        assert stored is not None
        assert (stored.head, stored.body.read(0, 999)) == (capture.head, BODY)

    run(tmp_path, act)


@pytest.mark.parametrize(
    ("at", "since", "is_there"),
    [(59.0, NOW - 10, True), (61.0, NOW - 10, False), (1.0, NOW + 5, False)],
)
def test_reply_is_reused_for_a_time_and_within_its_run(
    tmp_path: Path, at: float, since: float, is_there: bool
):
    async def act(archive: Archive) -> None:
        archive.store()
        await archive.settle()
        assert (await archive.recent(request(), at) is not None) is is_there
        assert await archive.recent(request(), at, within=0.0) is None

    run(tmp_path, act, since=since)


def test_reply_of_a_page_that_was_not_stored_answers_nobody(tmp_path: Path):
    async def act(archive: Archive) -> None:
        archive.stored.keep(request(), reply(began=BEGAN))
        assert await archive.recent(request()) is None

    run(tmp_path, act)


ORIGIN = (b"Origin", b"http://a.test")
OTHER = (b"Origin", b"http://b.test")


@pytest.mark.parametrize(
    ("headers", "first", "second", "is_there"),
    [
        ((), (), (), True),
        ((), (ORIGIN,), (ORIGIN,), True),
        ((), (ORIGIN,), (OTHER,), False),
        ((), (), (ORIGIN,), False),
        (((b"Access-Control-Allow-Origin", b"*"),), (ORIGIN,), (OTHER,), True),
    ],
)
def test_reply_to_another_origin_is_not_reused(
    tmp_path: Path, headers: Any, first: Any, second: Any, is_there: bool
):
    async def act(archive: Archive) -> None:
        archive.stored.keep(request("font", *first), reply(*headers, began=BEGAN))
        archive.store(*headers)
        stored = await archive.recent(request("font", *second))
        assert (stored is not None) is is_there

    run(tmp_path, act)


def test_current_reply_needs_a_validator(tmp_path: Path):
    async def act(archive: Archive) -> None:
        archive.store()
        await archive.settle()
        assert await archive.stored.current(request(), URL) is None, "it has no validator"

    run(tmp_path, act)


def test_current_reply_is_whole(tmp_path: Path):
    async def act(archive: Archive) -> None:
        archive.store((b"ETag", b'"1"'))
        await archive.settle()
        current = await archive.stored.current(request("fetch"), URL)
        assert current is not None
        assert current.body.read(0, 99) == BODY
        # A browser that has a copy of its own asks for itself.
        asked = request("fetch", (b"If-None-Match", b"x"))
        assert await archive.stored.current(asked, URL) is None
        assert await archive.stored.current(BrowserRequest("POST", URL), URL) is None

    run(tmp_path, act)


def test_servers_are_not_asked_without_conditional_requests(tmp_path: Path):
    async def act(archive: Archive) -> None:
        archive.store((b"ETag", b'"1"'))
        await archive.settle()
        assert await archive.stored.current(request("fetch"), URL) is None

    run(tmp_path, act, conditional=False)


def test_reply_that_its_server_confirmed_is_reused(tmp_path: Path):
    async def act(archive: Archive) -> None:
        archive.store((b"ETag", b'"1"'))
        await archive.settle()
        visit = archive.job.reply(304, url=URL, body=b"", capture={"began": BEGAN + 500_000_000})
        archive.job.end(visit)
        # 500 s later the stored reply is as recent as its confirmation.
        assert await archive.recent(request(), at=550.0) is not None
        assert await archive.recent(request(), at=570.0) is None

    run(tmp_path, act)
