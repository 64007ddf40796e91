"""Processors that look at content and links."""

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from nacre.config.effective import fixed
from nacre.core.capture import BytesBody, Capture
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.history import HistoryRecord
from nacre.core.processor import Visit
from nacre.engine.chain.entry import PROCESSORS, ChainName
from nacre.engine.steps.extract import ExtractStep, ParserProcess
from nacre.extract.settings import ExtractSettings
from nacre.settings.settings import JobSettings
from tests.engine.chain.test_plan import kit

URL = "http://a.test/list"


def page(body: str = "", links: tuple[str, ...] = (), **more: Any) -> Visit:
    data = body.encode()
    capture = Capture(
        URL, b"", b"", BytesBody(data), 200, payload_length=len(data), payload_digest="sha1:SAME"
    )
    said: dict[str, Any] = {"status": 200, "mime": "text/html", "capture": capture} | more
    uri = CrawlURI(URL, b"", "test,a,", via="http://a.test/", path="L")
    found = [Outlink(url, Hop.LINK, "a/@href") for url in links]
    return Visit(uri, outlinks=found, **said)


def worked(processor: str, visit: Visit, given: Any = None, **said: Any) -> Visit:
    entry = PROCESSORS.read({"processor": processor, **said})
    work = type(entry).make(fixed(entry), given or kit())
    if work.accepts(visit):
        done = work.process(visit)
        if asyncio.iscoroutine(done):
            asyncio.run(done)
    return visit


def urls(visit: Visit) -> list[str]:
    return [link.url for link in visit.outlinks]


def test_implied_uris():
    said = {"regex": "(.*)/index.html", "format": "$1/feed.xml"}
    links = ("http://b.test/x/index.html", "http://b.test/y")
    visit = worked("ExtractorImpliedURI", page(links=links), **said)
    assert urls(visit) == [*links, "http://b.test/x/feed.xml"]
    assert visit.outlinks[-1].hop is Hop.INFERRED
    visit = worked("extract-implied-uri", page(links=links), **said, remove_trigger_uris=True)
    assert urls(visit) == ["http://b.test/y", "http://b.test/x/feed.xml"]
    assert urls(worked("extract-implied-uri", page(links=links))) == list(links)
    assert urls(worked("extract-implied-uri", page(links=links), format="no uri")) == list(links)


def test_uris_within_uris():
    visit = worked("extract-uri", page(links=("http://b.test/?u=http%3A%2F%2Fc.test%2F",)))
    assert urls(visit)[1:] == ["http://c.test/"]
    assert visit.outlinks[1].hop is Hop.SPECULATIVE


def test_supplementary_rules():
    links = ("http://b.test/a.gif", "http://b.test/a.html")
    rules = [{"rule": "matches-regex", "regex": ".*html"}]
    assert urls(worked("SupplementaryLinksScoper", page(links=links), rules=rules)) == [links[1]]
    assert urls(worked("supplementary-links", page(links=links))) == list(links)


def test_uris_made_of_expressions():
    said = {
        "uri_regex": r"http://([^/]*)/list",
        "content_regexes": {"item": r"item (\d+)", "next": r"next=(\S+)"},
        "template": "http://${uriRegex[1]}/get?i=${item[1]}&n=${next[1]|quote}",
    }
    visit = worked("ExtractorMultipleRegex", page("item 1, item 2; next=a/b"), **said)
    assert urls(visit) == [f"http://a.test/get?i={n}&n=a%2Fb" for n in (1, 2)]
    assert urls(worked("extract-multiple-regex", page("item 1"), **said)) == []
    assert (
        urls(worked("extract-multiple-regex", page("item 1"), **said | {"uri_regex": "(x)"})) == []
    )
    assert len(urls(worked("extract-multiple-regex", page("item 1 item 2 next=x"), **said,
                           max_links=1))) == 1  # fmt: skip


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"template": "${x}"}, "names 'x', which is none of: uriRegex"),
        ({"template": "${uriRegex[1]}"}, "asks for group 1 of 'uriRegex', which has 0"),
        ({"template": "$"}, "dollar sign"),
        ({"content_regexes": {"a": "("}}, "not a regular expression"),
    ],
)
def test_templates_are_checked(said: dict[str, Any], message: str):
    with pytest.raises(ValidationError, match=message.replace("[", r"\[")):
        PROCESSORS.read({"processor": "extract-multiple-regex", **said})


def test_bytes_that_nobody_read():
    body = "%PDF (http://example.com/x)"
    assert urls(worked("extract-universal", page(body))) == ["http://example.com/x"]
    assert urls(worked("extract-universal", page(body, extracted=True))) == []


def test_a_page_like_the_one_before():
    def known(digest: str) -> Any:
        return kit()._replace(history=lambda url: HistoryRecord(url, digest=digest))

    visit = worked("trap-suppress", page("x"), known("sha1:SAME"))
    assert visit.extracted
    assert visit.annotations == ["trapSuppressExtractor"]
    assert not worked("trap-suppress", page("x"), known("sha1:OTHER")).extracted
    assert not worked("trap-suppress", page(""), known("sha1:SAME")).extracted


def test_digests_without_what_is_stripped():
    def digest(body: str, **said: Any) -> str:
        return worked("content-digest", page(body), **said).digest

    said = {"strip_regex": r"\d+"}
    assert digest("seen 12 times", **said) == digest("seen 3 times", **said) != ""
    assert digest("seen 12 times", **said) != digest("read 12 times", **said)
    assert digest("seen 12 times") == digest("seen 12 times", **said, max_size=5) == ""
    assert worked("content-digest", page("1", mime="image/png"), **said).digest == ""


def test_usual_places():
    wanted = ["extract-uri", "trap-suppress", "content-digest", "HashCrawlMapper"]
    insert: list[dict[str, Any]] = [{"processor": one} for one in wanted[:3]]
    insert.append({"processor": wanted[3], "local_name": 0})
    settings = JobSettings.model_validate({"chains": {
        "fetch": {"insert": insert, "remove": ["runtime-limit", "quotas", "recheck-scope"]},
        "candidate": {"insert": insert[3:]},
        "disposition": {"insert": ["reschedule", "supplementary-links"]}}})  # fmt: skip
    labels = {chain: [one.label for one in settings.chains.of(chain)] for chain in ChainName}
    assert labels[ChainName.FETCH] == [
        "preselect", "hash-crawl-mapper", "preconditions", "fetch-dns", "fetch-http",
        "content-digest", "trap-suppress", "extract", "extract-uri", "render", "walls"]  # fmt: skip
    assert labels[ChainName.CANDIDATE] == ["scope", "prepare", "hash-crawl-mapper"]
    assert labels[ChainName.DISPOSITION] == [
        "archive", "supplementary-links", "candidates", "disposition", "reschedule"]  # fmt: skip


def test_binary_files():
    body = "%PDF-1.7 /URI (http://b.test/x) http://c.test/"
    for mime in ("application/pdf", "application/octet-stream"):
        assert urls(worked("ExtractorPDF", page(body, mime=mime))) == ["http://b.test/x"]
    assert urls(worked("extract-pdf", page(body), max_size=10)) == []
    assert urls(worked("extract-pdf", page("http://b.test/"))) == []
    word = page('HYPERLINK "http://b.test/"', mime="application/msword")
    assert urls(worked("extract-doc", word)) == ["http://b.test/"]
    flash = page("FWS http://example.com/", mime="application/x-shockwave-flash")
    assert urls(worked("extract-swf", flash)) == ["http://example.com/"]
    assert flash.extracted


def test_extraction_keeps_what_was_found_before():
    visit = page('<a href="/x">x</a>', links=("http://b.test/",), extracted=False)
    asyncio.run(
        ExtractStep(fixed(ExtractSettings(infer_favicon=False)), ParserProcess()).process(visit)
    )
    assert urls(visit) == ["http://b.test/", "http://a.test/x"]
    visit.extracted = True
    assert not ExtractStep(fixed(ExtractSettings()), ParserProcess()).accepts(visit)
