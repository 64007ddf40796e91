"""What extractors are told of a document."""

import asyncio
import gzip
from typing import Any, cast

import pytest
from msgspec import structs

from nacre.config.effective import fixed
from nacre.core.capture import LONGEST_TYPE
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Result, Visit
from nacre.engine.steps.extract import LARGE, VISIT, ExtractStep, HostCharsets, Turnstile
from nacre.extract.document import Document, Extraction, document_of
from nacre.extract.settings import ExtractSettings
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


def test_a_host_is_as_its_pages_declare():
    hosts = HostCharsets()
    hosts.learn("http://a.test/1", "gbk", "detected")
    assert hosts.of("http://a.test/2") == ""
    hosts.learn("http://a.test/1", "gbk", "meta")
    assert hosts.of("http://a.test/2") == "gbk"
    assert (
        hosts.of("http://b.test/") == hosts.of("http://a.test:81/") == hosts.of("dns:a.test") == ""
    )


def test_a_host_that_went_over_to_utf8_is_forgotten():
    hosts = HostCharsets()
    for source in ("header", "meta", "xml", "bom"):
        hosts.learn("http://a.test/1", "gbk", source)
        assert hosts.of("http://a.test/") == "gbk"
        hosts.learn("http://a.test/1", "utf-8", source)
        assert hosts.of("http://a.test/") == ""


def test_the_hosts_met_last_are_remembered():
    hosts = HostCharsets(limit=2)
    for name in ("a", "b", "a", "c"):
        hosts.learn(f"http://{name}.test/", "gbk", "meta")
    assert [hosts.of(f"http://{name}.test/") for name in "abc"] == ["gbk", "", "gbk"]


def test_so_many_go_on_per_turn_in_their_order():
    async def main() -> list[tuple[int, int]]:
        turn = 0
        seen: list[tuple[int, int]] = []
        gate = Turnstile(room=3 * VISIT)
        loop = asyncio.get_running_loop()

        def count() -> None:
            nonlocal turn
            turn += 1
            if len(seen) < 10:
                loop.call_soon(count)

        async def visit(number: int) -> None:
            await gate.enter(0)
            seen.append((number, turn))

        loop.call_soon(count)
        async with asyncio.TaskGroup() as group:
            for number in range(10):
                group.create_task(visit(number))
        return seen

    seen = asyncio.run(main())
    assert [number for number, _ in seen] == list(range(10))
    turns = [turn for _, turn in seen]
    assert max(turns.count(turn) for turn in turns) == 3


def test_a_large_document_goes_alone():
    async def main() -> list[bool]:
        gate = Turnstile(room=3 * VISIT)
        tasks = [asyncio.create_task(gate.enter(size)) for size in (0, 3 * VISIT, 0)]
        await asyncio.sleep(0)
        return [task.done() for task in tasks]

    assert asyncio.run(main()) == [True, True, False]


def test_one_that_was_cancelled_holds_nobody_up():
    async def main() -> list[bool]:
        gate = Turnstile(room=1)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(gate.enter(0)) for _ in range(4)]
            await asyncio.sleep(0)
            tasks[1].cancel()
            async with asyncio.timeout(5):
                await tasks[3]
        return [task.cancelled() for task in tasks]

    assert asyncio.run(main()) == [False, True, False, False]


# ---- the step

PAGE = b"<!DOCTYPE html><meta charset=gbk><meta name=robots content=noarchive><a href=b>b</a>"


class Helper:
    """Stands for the process that parses large documents."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    async def extract(self, document: Document, _: ExtractSettings) -> Extraction:
        self.asked.append(len(document.body))
        return Extraction(annotations=["parserTimeout"], claimed=True)


def extracted(body: bytes, status: int = 200, step: ExtractStep | None = None) -> Visit:
    settings = fixed(ExtractSettings(max_outlinks=2))
    step = step or ExtractStep(settings, cast("Any", Helper()))
    capture = make_capture(body=body, url="http://a.test/")
    visit = Visit(CrawlURI(capture.url, b"k", "q"), status, capture, mime="text/html")
    if step.accepts(visit):
        assert asyncio.run(step.process(visit)) is Result.PROCEED
    return visit


def test_a_visit_takes_what_its_page_says():
    visit = extracted(PAGE)
    assert "http://a.test/b" in [link.url for link in visit.outlinks]
    assert (visit.charset, visit.robots_meta) == ("gbk", frozenset({"noarchive"}))
    assert visit.extracted


def test_links_beyond_the_cap_are_counted():
    visit = extracted(PAGE + b"".join(b"<a href=x%d>x</a>" % number for number in range(5)))
    assert len(visit.outlinks) == 2
    assert visit.dropped > 0
    assert f"dol:{visit.dropped}" in visit.annotations


def test_links_that_are_no_uris_are_kept_for_their_log():
    visit = extracted(b"<!DOCTYPE html><a href='http://[bad/'>x</a>")
    assert [href for href, _ in visit.uri_errors] == ["http://[bad/"]


def test_a_large_document_goes_to_the_helper():
    helper = Helper()
    step = ExtractStep(fixed(ExtractSettings()), cast("Any", helper))
    visit = extracted(PAGE + b" " * LARGE, step=step)
    assert helper.asked == [len(PAGE) + LARGE]
    assert (visit.annotations, visit.extracted, visit.outlinks) == (["parserTimeout"], True, [])
    extracted(PAGE, step=step)
    assert len(helper.asked) == 1


def test_a_packed_sitemap_goes_to_the_helper_whatever_its_length():
    helper = Helper()
    step = ExtractStep(fixed(ExtractSettings()), cast("Any", helper))
    packed = gzip.compress(b"<urlset>")
    extracted(packed, step=step)
    extracted(gzip.compress(b"text"), step=step)
    assert helper.asked == [len(packed)]


@pytest.mark.parametrize(
    "change", [{"capture": None}, {"status": -2}, {"extracted": True}], ids=str
)
def test_what_has_no_reply_of_its_own_or_is_claimed_is_left_out(change: dict[str, Any]):
    step = ExtractStep(fixed(ExtractSettings()), cast("Any", Helper()))
    visit = extracted(PAGE, step=step)
    fresh = structs.replace(visit, extracted=False, outlinks=[])
    assert step.accepts(fresh)
    other = structs.replace(fresh, **change)
    assert not step.accepts(other)


def test_without_a_reply_nothing_is_done():
    step = ExtractStep(fixed(ExtractSettings()), cast("Any", Helper()))
    visit = Visit(CrawlURI("http://a.test/", b"k", "q"), -2)
    assert asyncio.run(step.process(visit)) is Result.PROCEED
    assert visit.outlinks == []


def test_a_page_without_a_charset_is_read_as_its_host_declares():
    step = ExtractStep(fixed(ExtractSettings()), cast("Any", Helper()))
    extracted(PAGE, step=step)
    bare = extracted("<!DOCTYPE html><p>\u4f60\u597d</p>".encode("gbk"), step=step)
    assert bare.charset == "gbk"
