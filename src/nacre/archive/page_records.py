"""WARC records of a page that was run in a browser, beside those of its requests: pure.

They are `resource` records with the URL of the page behind a URN, as Browsertrix Crawler names
them: `urn:pageinfo:`, `urn:view:`, `urn:fullPage:`, `urn:thumbnail:`, `urn:text:`, and `urn:dom:`,
which is our own. All have the date of the capture of the page's document, so that a reader finds
them with it. Source: records of Browsertrix Crawler 1.14 (names, types, form of `urn:pageinfo:`).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from nacre.archive.fields import (
    DATE_DIGITS,
    cut_date,
    date_text,
    digest_of,
    field,
    record_uri,
    uri_field,
)
from nacre.archive.record import IdSource, WarcRecord, page_fields
from nacre.core.processor import PageUnit
from nacre.core.rendered import NetworkEvent

PAGE_INFO, TEXT, DOM = "pageinfo", "text", "dom"
PICTURES = ("view", "fullPage", "thumbnail")
KINDS = (PAGE_INFO, *PICTURES, TEXT, DOM)
"""Kinds of the records of a page: the second part of their URNs."""

_TYPES = {
    "document": "document",
    "frame": "document",
    "style": "stylesheet",
    "worker": "script",
    "beacon": "ping",
}
"""Types of resources whose names in the protocol of Chromium differ from ours."""
_NAMES = {"websocket": "WebSocket"}
_LOADED = {"settled": 4, "pageTime": 2, "requestLimit": 2, "byteLimit": 2, "loadTime": 1}
"""How far a page got, by how it ended, in the numbers of Browsertrix: 4 to the end of its
behaviours, 2 loaded, 1 with its document; 0 for all other endings."""
_MOST_URLS = 10_000
"""URLs that are listed in `urn:pageinfo:`."""
_LONGEST = 4_000
"""Characters of a URL or message in `urn:pageinfo:`."""
_JPEG = b"\xff\xd8"


class RecordedPage(NamedTuple):
    """A page that was run, as its records describe it.

    Attributes:
        url: URL of its document, as fetched.
        date: WARC-Date of the capture of the document, µs since the epoch.
        status: HTTP status of the document.
        mime: Its media type.
        unit: The page, its requests and how it ended.
        viewport: Width and height, CSS pixels.
        text: Its text as the crawler reads it from the final DOM; None: it is not stored.
        has_dom: Whether the final DOM is stored.
    """

    url: str
    date: int
    status: int
    mime: str
    unit: PageUnit
    viewport: tuple[int, int] = (0, 0)
    text: str | None = None
    has_dom: bool = False


def page_urn(kind: str, url: str) -> str:
    """Return the target of a record of a page, such as `urn:text:https://example.org/`."""
    return f"urn:{kind}:{url}"


def urn_parts(target: str) -> tuple[str, str]:
    """Split the target of a record of a page into its kind and the URL; "" for others."""
    start, _, name = target.partition(":")
    kind, _, url = name.partition(":")
    return (kind, url) if start == "urn" and kind in KINDS and url else ("", "")


def resource_type(resource: str) -> str:
    """Return the `WARC-Resource-Type` of a request; see `BrowserRequest.resource`."""
    return _TYPES.get(resource, resource)


def page_records(page: RecordedPage, ids: IdSource, digits: int = DATE_DIGITS) -> list[WarcRecord]:
    """Return the records of a page: its information first, then pictures, text and DOM.

    A page that did not change has its information alone.

    Args:
        page: The page.
        ids: Source of record ids.
        digits: Digits of a second in their date, which is cut to them.
    """
    rendered = page.unit.rendered
    blocks = [(PAGE_INFO, "application/json", page_info(page))]
    if page.unit.is_unchanged:
        return [_resource(page, block, record_uri(ids()), digits) for block in blocks]
    if rendered is not None:
        for kind in PICTURES:
            picture = rendered.pictures.get(kind)
            if picture:
                mime = "image/jpeg" if picture.startswith(_JPEG) else "image/png"
                blocks.append((kind, mime, picture))
    if page.text:
        blocks.append((TEXT, "text/plain; charset=utf-8", page.text.encode("utf-8", "replace")))
    if page.has_dom and rendered is not None and rendered.dom:
        blocks.append((DOM, "text/html; charset=utf-8", rendered.dom))
    return [_resource(page, block, record_uri(ids()), digits) for block in blocks]


def _resource(
    page: RecordedPage, part: tuple[str, str, bytes], own: str, digits: int
) -> WarcRecord:
    kind, media, data = part
    target, date = page_urn(kind, page.url), cut_date(page.date, digits)
    digest = digest_of(data)
    head = (
        f"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <{own}>\r\n"
        f"WARC-Date: {date_text(date, digits)}\r\nWARC-Target-URI: {uri_field(target)}\r\n"
        f"{page_fields(page.unit.id, kind)}"
        f"WARC-Payload-Digest: {digest}\r\nWARC-Block-Digest: {digest}\r\n"
        f"Content-Type: {media}\r\nContent-Length: {len(data)}\r\n\r\n"
    ).encode()
    record = WarcRecord("resource", own, head, data, None, len(data), target, date)
    record.digest, record.mime = digest, media.partition(";")[0]
    return record


def page_info(page: RecordedPage) -> bytes:
    """Return the block of `urn:pageinfo:`: JSON with the members of Browsertrix, then ours.

    Ours: `title`, `loadState`, `ended`, `sign`, `finalUrl`, `browser`, `viewport`, `seconds`,
    `cpuSeconds`, `requests`, `bytes`, `reused`, `refused`, `refusedBy`, `behaviors`,
    `consoleErrors`, `unchanged` (text and pictures are those of the last version). Members that are
    empty are left out.
    """
    unit, rendered = page.unit, page.unit.rendered
    errors = rendered.console_errors if rendered is not None else ()
    info: dict[str, Any] = {
        "pageid": unit.id,
        "url": page.url,
        "ts": date_text(page.date),
        "urls": _urls(page),
        "counts": {"jsErrors": len(errors)},
        "loadState": _LOADED.get(rendered.ended, 0) if rendered is not None else 0,
        "sign": unit.sign,
        "requests": len(unit.visits),
        "bytes": unit.sizes,
        "unchanged": unit.is_unchanged,
    }
    if rendered is not None:
        info |= {
            "title": _cut(rendered.title),
            "ended": rendered.ended,
            "finalUrl": _cut(rendered.url) if rendered.url != page.url else "",
            "browser": rendered.browser,
            "viewport": list(page.viewport) if any(page.viewport) else [],
            "seconds": round(rendered.seconds, 3),
            "cpuSeconds": round(rendered.cpu, 3),
            "behaviors": {name: _cut(text) for name, text in rendered.behaviours.items()},
            "consoleErrors": [_cut(text) for text in errors],
        }
    info["reused"] = [_cut(url) for url in unit.reused[:_MOST_URLS]]
    info["refused"] = [
        {"url": _cut(r.url), "type": _type_name(r.resource), "rule": r.rule, "detail": r.detail}
        for r in unit.refused[:_MOST_URLS]
    ]
    info["refusedBy"] = _count([refused.rule for refused in unit.refused])
    required = ("pageid", "url", "ts", "urls", "counts", "loadState")
    whole = {key: value for key, value in info.items() if value or key in required}
    return msgspec.json.encode(whole)


def _urls(page: RecordedPage) -> dict[str, dict[str, Any]]:
    """Status, media type and type by URL: of the document, the fetch and the browser."""
    rendered = page.unit.rendered
    # The document of a 304 is the one that is stored.
    status = 200 if page.status == 304 else page.status
    urls = {page.url: _facts(status, page.mime, "document")}
    for visit in page.unit.visits:
        if len(urls) >= _MOST_URLS:
            return urls
        if visit.uri.is_prerequisite:
            continue
        resource = visit.request.resource if visit.request is not None else "other"
        urls[_cut(visit.uri.url)] = _facts(max(visit.status, 0), visit.mime, resource, visit.error)
    for event in rendered.events if rendered is not None else ():
        if len(urls) >= _MOST_URLS:
            break
        _add_event(urls, event)
    return urls


def _add_event(urls: dict[str, dict[str, Any]], event: NetworkEvent) -> None:
    """Add what the browser alone knows of a request."""
    facts = urls.setdefault(
        _cut(event.url), _facts(event.status, event.mime, event.resource, event.error)
    )
    if event.from_cache:
        facts["fromBrowserCache"] = True


def _facts(status: int, mime: str, resource: str, error: str = "") -> dict[str, Any]:
    facts: dict[str, Any] = {"status": status, "mime": mime, "type": _type_name(resource)}
    if error:
        facts["error"] = _cut(error)
    return facts


def _type_name(resource: str) -> str:
    """Return a type as the protocol of Chromium writes it: `Stylesheet` for `style`."""
    name = resource_type(resource)
    return _NAMES.get(name, name.capitalize())


def _cut(text: str) -> str:
    """Return a text of bounded length that can be encoded."""
    return field(text[:_LONGEST])


def _count(words: Sequence[str]) -> dict[str, int]:
    return {word: words.count(word) for word in sorted(set(words))}
