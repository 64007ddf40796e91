"""One capture of a job: its facts, its headers, and its record and body as downloads."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

import msgspec
from starlette.responses import Response, StreamingResponse

from nacre.archive.page_records import urn_parts
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.filters import CatalogueQuery
from nacre.catalogue.holdings import Holding, open_holding
from nacre.catalogue.query import search_captures
from nacre.catalogue.rows import CatalogueItem
from nacre.console.call import ActionCall, Call
from nacre.console.captures.links import capture_link, captures_link, replay_link
from nacre.console.captures.listing import CaptureItem
from nacre.console.links import job_path
from nacre.console.task_answers import read
from nacre.errors import NacreError
from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.inspect.analysis.wording import FOUND_WORDS
from nacre.inspect.reports.browser_report import end_text, refusal_text
from nacre.machine.layout import Layout
from nacre.ops.captures import listed_capture, originals_of, refresh_catalogues
from nacre.ops.fields import PathPart
from nacre.ops.rendered_page import PagePicture, RenderedPageFacts, RenderedPageParts
from nacre.web.workers.background import HeldTask
from nacre.web.workers.task import reader_task

_OTHERS: Final = 50
"""Captures of the same URL on the page."""
_LONGEST: Final = 8_000
"""Characters of the value of a header on the page and in the answer."""
_SANDBOXED: Final[Mapping[str, str]] = {
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
}
"""Header fields of downloads: no browser runs anything of them."""


class CaptureRequest(msgspec.Struct, frozen=True):
    """A capture.

    Attributes:
        capture: Its id: `WARC:OFFSET`.
    """

    capture: PathPart


class HeaderField(msgspec.Struct, frozen=True):
    """A header field, as captured; long values are cut."""

    name: str
    value: str


class CaptureDetails(CaptureItem, frozen=True, kw_only=True):
    """A capture with its record.

    Attributes:
        reason: Reason phrase of the reply; "" for none.
        headers: Header fields of the reply.
        fields: Header fields of the WARC record.
        body_size: Bytes of the body without transfer coding; -1 if unknown.
        truncated: Why the body is cut (`WARC-Truncated`); "" if it is whole.
        problem: Why the record cannot be read; "" if it can.
        captures: Captures of the same URL, the newest first.
        page: How the page ended in a browser; null if it was not run in one.
        pictures: Pictures of the page.
    """

    reason: str
    headers: tuple[HeaderField, ...]
    fields: tuple[HeaderField, ...]
    body_size: int
    truncated: str
    problem: str
    captures: tuple[CaptureItem, ...]
    page: RenderedPageFacts | None = None
    pictures: tuple[PagePicture, ...] = ()


class CaptureHeaders(msgspec.Struct, frozen=True):
    """The head of a capture.

    Attributes:
        status: Status of the reply.
        reason: Its reason phrase; "" for none.
        headers: Header fields of the reply.
        fields: Header fields of the WARC record.
    """

    status: int
    reason: str
    headers: tuple[HeaderField, ...]
    fields: tuple[HeaderField, ...]


@reader_task("capture")
def show_capture(layout: Layout, request: CaptureRequest) -> CaptureDetails:
    """Read a capture: its record, and the captures of the same URL."""
    from nacre.ops.capture_records import capture_at, exchange_at  # noqa: PLC0415 - takes long

    holding = open_holding([layout.root])
    refresh_catalogues(holding)
    try:
        item = capture_at(holding, request.capture)
    except NacreError:
        raise not_found("capture", request.capture) from None
    url = item.capture.url
    page = search_captures(holding, CatalogueQuery(url=url, limit=_OTHERS))
    originals = originals_of(holding, [item, *page.items])

    def listed(item: CatalogueItem) -> CaptureItem:
        facts = msgspec.structs.astuple(listed_capture(item, holding))
        return CaptureItem(*facts, original=originals.get(item.capture.id, ""))

    problem, exchange = "", None
    try:
        exchange = exchange_at(holding, item.capture, decode=False)
    except NacreError as error:
        problem = error.message
    own = msgspec.structs.asdict(listed(item))
    parts = RenderedPageParts(holding)
    page_url = urn_parts(url)[1] or url
    return CaptureDetails(
        **own,
        reason=exchange.reason if exchange else "",
        headers=_header_fields(exchange.headers if exchange else ()),
        fields=_header_fields(exchange.fields if exchange else ()),
        body_size=exchange.body.length if exchange else -1,
        truncated=exchange.truncated if exchange else "",
        problem=problem,
        captures=tuple(map(listed, page.items)),
        page=parts.facts(page_url, item.capture.timestamp),
        pictures=tuple(parts.pictures(page_url, item.capture.timestamp)),
    )


def _header_fields(pairs: tuple[tuple[str, str], ...]) -> tuple[HeaderField, ...]:
    return tuple(HeaderField(name[:_LONGEST], value[:_LONGEST]) for name, value in pairs)


async def capture_facts(call: ActionCall, details: CaptureDetails) -> Mapping[str, Any]:
    """The facts of the page of a capture."""
    translate = call.language.texts.gettext
    job = call.job()
    ids = [capture.id for capture in details.captures]
    at = ids.index(details.id) if details.id in ids else -1
    path = _path(job.id, details.id)
    return {
        "base": job_path(job.id),
        "verdict_words": {name: translate(text) for name, text in FOUND_WORDS.items()},
        "newer": details.captures[at - 1].id if at > 0 else "",
        "older": details.captures[at + 1].id if -1 < at < len(ids) - 1 else "",
        "all_captures": captures_link(job.id, details.url),
        "replay_of": lambda item: replay_link(call, job, item.time, item.url),
        "replay": replay_link(call, job, details.time, details.url),
        "body_link": f"{path}/body",
        "record_link": f"{path}/record",
        "picture_path": lambda picture: f"{_path(job.id, picture.capture)}/picture",
        "end_text": end_text,
        "refusal_text": refusal_text,
    }


def _path(job: str, capture: str) -> str:
    """The path of a capture in the REST interface."""
    return f"/api/v1/jobs{capture_link(job, capture)[2:]}"


async def get_headers(call: Call) -> CaptureHeaders | HeldTask:
    """The head of a capture."""
    details = await read(call, show_capture, CaptureRequest(str(call.params["capture"])))
    if isinstance(details, HeldTask):
        return details
    return CaptureHeaders(details.status, details.reason, details.headers, details.fields)


async def get_body(call: Call) -> Response:
    """The body of a capture, without codings, as a download."""
    from nacre.ops import capture_records  # noqa: PLC0415 - takes long

    def open_body(holding: Holding, capture: IndexedCapture) -> tuple[Iterator[bytes], str]:
        exchange = capture_records.exchange_at(holding, capture, decode=True)
        body = capture_records.read_pieces(exchange.body)
        return body, capture_records.file_name(capture.url)

    return await _download(call, open_body)


async def get_record(call: Call) -> Response:
    """The record of a capture as it is in its WARC, as a download."""
    from nacre.ops import capture_records  # noqa: PLC0415 - takes long

    def open_record(holding: Holding, capture: IndexedCapture) -> tuple[Iterator[bytes], str]:
        record = capture_records.record_at(holding, capture)
        name = f"{capture_records.file_name(capture.url)}.warc{'.gz' * record.is_gzip}"
        return capture_records.read_pieces(record.file, record.length), name

    return await _download(call, open_record)


async def get_picture(call: Call) -> Response:
    """A picture of a page that was run in a browser.

    Raises:
        RefusedRequestError: There is no such picture (404).
    """
    from nacre.ops.capture_records import capture_at  # noqa: PLC0415 - takes long

    root, name = call.job().layout.root, str(call.params["capture"])

    def read_picture() -> tuple[bytes, str]:
        holding = open_holding([root])
        try:
            capture = capture_at(holding, name).capture
        except NacreError:
            raise not_found("capture", name) from None
        return RenderedPageParts(holding).picture_at(capture)

    data, media = await asyncio.to_thread(read_picture)
    if not data:
        raise not_found("picture", name)
    return Response(data, 200, dict(_SANDBOXED), media_type=media)


Opener = Callable[[Holding, IndexedCapture], tuple[Iterator[bytes], str]]
"""Opens the download; returns its pieces, and the name of the file."""


async def _download(call: Call, open_pieces: Opener) -> Response:
    """Send something of a capture as a download.

    Raises:
        RefusedRequestError: There is no such capture (404), or it cannot be read (409).
    """
    from nacre.ops.capture_records import capture_at  # noqa: PLC0415 - takes long

    root, name = call.job().layout.root, str(call.params["capture"])

    def open_capture() -> tuple[Iterator[bytes], str]:
        holding = open_holding([root])
        try:
            item = capture_at(holding, name)
        except NacreError:
            raise not_found("capture", name) from None
        try:
            return open_pieces(holding, item.capture)
        except NacreError as error:
            code = getattr(error, "code", "refused")
            raise RefusedRequestError(409, code, error.message) from error

    pieces, file = await asyncio.to_thread(open_capture)
    fields = {
        **_SANDBOXED,
        "content-disposition": f"attachment; filename*=UTF-8''{quote(file, safe='')}",
    }
    return StreamingResponse(pieces, 200, fields, media_type="application/octet-stream")
