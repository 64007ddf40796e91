"""Facts and pictures of pages that were run, from the records of a WARC."""

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from nacre.archive.page_records import RecordedPage, page_records
from nacre.archive.record import WarcRecord, warcinfo_record
from nacre.archive.warc_writer import pack
from nacre.catalogue.holdings import open_holding
from nacre.core.processor import PageUnit, RefusedRequest
from nacre.core.rendered import NetworkEvent
from nacre.ops.rendered_page import RenderedPageParts
from tests.engine.page_making import JPEG, PNG, page_id, rendered

FETCHED = "http://a.test/%E6%96%B0%E9%97%BB?q=1"
DATE = 1_700_000_000_000_000


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def numbers() -> Callable[[], bytes]:
    values = iter(range(1, 1_000))
    return lambda: UUID(int=next(values)).bytes


def written(path: Path, *groups: Sequence[WarcRecord]) -> RenderedPageParts:
    info = warcinfo_record(UUID(int=0).bytes, DATE, path.name, [("software", "x")])
    records = [info, *(record for group in groups for record in group)]
    path.write_bytes(b"".join(pack(record, 1) for record in records))
    return RenderedPageParts(open_holding([path]))


def page(date: int = DATE, **changes: Any) -> RecordedPage:
    refused = [RefusedRequest("http://a.test/api", "fetch", "robots", "Disallow: /api")]
    events = [
        NetworkEvent(FETCHED, "document", 200, "text/html"),
        NetworkEvent("http://a.test/gone.js", "script", 404, "text/html"),
        NetworkEvent("http://a.test/api", "fetch", error="net::ERR_TUNNEL_CONNECTION_FAILED"),
        NetworkEvent("http://b.test/x.png", "image", error="net::ERR_CONNECTION_CLOSED"),
    ]
    state = rendered(FETCHED, events=events, **changes)
    unit = PageUnit(page_id(), "mount", state, refused=refused, reused=["http://a.test/c.css"])
    return RecordedPage(FETCHED, date, 200, "text/html", unit, (1440, 900), "text")


def test_facts_and_pictures(tmp_path: Path):
    parts = written(tmp_path / "pages.warc.gz", page_records(page(), numbers()))
    facts = parts.facts(FETCHED)
    assert facts is not None
    assert (facts.sign, facts.ended, facts.title) == ("mount", "settled", "Shop")
    assert (facts.cpu_seconds, facts.browser) == (0.8, "Chromium 156")
    assert facts.refused_by == {"robots": 1}
    assert facts.refused[0].detail == "Disallow: /api"
    assert facts.reused == ("http://a.test/c.css",)
    # A request that was refused did not fail.
    assert list(facts.failures()) == [
        ("http://a.test/gone.js", "404"),
        ("http://b.test/x.png", "net::ERR_CONNECTION_CLOSED"),
    ]
    assert [picture.kind for picture in parts.pictures(FETCHED)] == ["view", "thumbnail"]
    assert parts.picture(FETCHED, "view") == PNG
    assert parts.picture(FETCHED, "thumbnail") == JPEG
    assert parts.picture(FETCHED, "fullPage") == b""
    assert parts.last_facts() == facts


def test_the_page_of_a_time(tmp_path: Path):
    ids = numbers()
    later = page(DATE + 3_600_000_000, title="Later")
    parts = written(tmp_path / "pages.warc.gz", page_records(page(), ids), page_records(later, ids))
    titles = [getattr(parts.facts(FETCHED, at), "title", "") for at in ("", "20231114221320")]
    assert titles == ["Later", "Shop"]
    assert parts.facts(FETCHED, "20200101000000") is None
    assert parts.facts("http://elsewhere.test/") is None
    assert parts.pictures("http://elsewhere.test/") == []


def of_another_crawler(path: Path, block: bytes) -> RenderedPageParts:
    head = (
        "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:uuid:"
        f"{UUID(int=7)}>\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n"
        f"WARC-Target-URI: urn:pageinfo:{FETCHED}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    path.write_bytes(gzip.compress(head.encode() + block + b"\r\n\r\n"))
    return RenderedPageParts(open_holding([path]))


@pytest.mark.parametrize(
    "block",
    [b"", b"no JSON", b"[]", b'{"urls": 7}', b'{"refused": [{"url": 1}]}', b"\xff", b"{" * 9_999],
)
def test_a_record_that_cannot_be_read_is_no_page(tmp_path: Path, block: bytes):
    assert of_another_crawler(tmp_path / "pages.warc.gz", block).facts(FETCHED) is None


def test_the_record_of_browsertrix_has_fewer_facts(tmp_path: Path):
    info = {
        "pageid": "x", "url": FETCHED, "ts": "2026-01-01T00:00:00Z", "loadState": 4,
        "urls": {FETCHED: {"status": 200, "mime": "text/html", "type": "document"}},
        "counts": {"jsErrors": 0},
    }  # fmt: skip
    facts = of_another_crawler(tmp_path / "x.warc.gz", json.dumps(info).encode()).facts(FETCHED)
    assert facts is not None
    assert (facts.load_state, facts.sign, facts.ended) == (4, "", "")
    assert list(facts.failures()) == []
