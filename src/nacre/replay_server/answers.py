"""Archived exchanges as answers of the server: statuses, parts of a body, rewritten pages.

All functions block, and run in threads. Bodies are sent in pieces; only pages that are rewritten
are held in memory, up to a limit.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from nacre.fleet.job_files import byte_range
from nacre.fleet.refusals import RefusedRequestError
from nacre.replay.headers import GOVERNED, replay_headers, replay_policy, script_cookies
from nacre.replay.markup import is_xml_page
from nacre.replay.matching import NotArchived, ReplayRequest, moved_page, replay_request
from nacre.replay.memento import memento_date
from nacre.replay.page_urls import PageAddress
from nacre.replay.reply import (
    ArchivedExchange,
    CapturedRange,
    captured_range,
    page_codec,
    read_exchange,
)
from nacre.replay.rewrite_css import rewrite_css
from nacre.replay.rewrite_html import rewrite_page
from nacre.replay_server.shelf import OpenedHolding
from nacre.replay_server.sites import content_path
from nacre.replay_server.worker_scripts import WORKERS, begin_worker
from nacre.wire.mime_sniff import HEADER, HTML, is_unknown_type, is_xml_type, sniff_unknown

LARGEST_PAGE: Final = 32 << 20
"""Bytes of a page that is rewritten; the rest is left out."""
_PIECE: Final = 1 << 16
_CSS: Final = "text/css"
_STYLE: Final = "style"
_SCRIPT: Final = "text/javascript"
_PAGES: Final = frozenset((HTML, "application/xhtml+xml", "image/svg+xml"))
_BODY_FIELDS: Final = frozenset(
    ("content-length", "content-range", "accept-ranges", "transfer-encoding", "connection")
)
_NO_BODY: Final = frozenset((204, 205, 304))


class ServedAnswer(NamedTuple):
    """An answer.

    Attributes:
        status: Status code, 200 to 599.
        headers: Names and values.
        pieces: The body; empty for an answer to HEAD.
        length: Bytes of the body; -1 if that is not known.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    pieces: Iterator[bytes]
    length: int


def status_to_send(status: int) -> int:
    """Return the status of an answer for that of a capture (pure).

    Browsers do not show 304, interim statuses and those that HTTP does not define; the captured
    status is in `X-Archive-Orig-Status`.
    """
    return status if 200 <= status < 600 and status != 304 else 200


class PageRequest(NamedTuple):
    """A request for a capture.

    Attributes:
        request: What is looked for.
        page: The address of the page.
        is_head: Only the headers are asked for.
        range: The Range header; "" for none.
        is_raw: The bytes as captured, with their headers as `X-Archive-Orig-…`.
        viewer: Origin of the page that may show it in a frame; "" for none.
        destination: What it is for, as browsers name it; "" if that is not known.
    """

    request: ReplayRequest
    page: PageAddress
    is_head: bool = False
    range: str = ""
    is_raw: bool = False
    viewer: str = ""
    destination: str = ""


def answer_capture(opened: OpenedHolding, page_request: PageRequest) -> ServedAnswer | NotArchived:
    """Return the answer to a request for a capture.

    Args:
        opened: The holding.
        page_request: The request.

    Raises:
        ReplayError: The capture cannot be replayed.
        StorageError: A file cannot be read.
    """
    request = page_request.request._replace(first_byte=first_byte(page_request.range))
    answer = replay_request(opened.holding, opened.lookup, request)
    if isinstance(answer, NotArchived):
        return answer
    exchange = answer.exchange
    moved = "" if page_request.is_raw else moved_page(request.url, exchange.url)
    if moved:
        return _lead(page_request, moved)
    if not page_request.is_raw and _may_be_rewritten(exchange, page_request):
        decoded = read_exchange(opened.holding, opened.lookup, exchange.capture, decode=True)
        media = rewritten_type(
            media_type(exchange.header("Content-Type")),
            decoded.body.read_start(HEADER),
            page_request.destination,
        )
        if media:
            return _rewritten(decoded, page_request, media)
    return _whole_or_part(exchange, page_request)


def _lead(request: PageRequest, url: str) -> ServedAnswer:
    """Answer with a redirect to the URL of the capture, at the time of the request."""
    place = request.page.origin + content_path(request.page.timestamp, url)
    headers = (("Content-Security-Policy", replay_policy(request.viewer)), *GOVERNED)
    return ServedAnswer(307, (*headers, ("Location", place)), iter(()), 0)


def _may_be_rewritten(exchange: ArchivedExchange, request: PageRequest) -> bool:
    """Return whether a capture is rewritten, or its first bytes decide that."""
    declared = media_type(exchange.header("Content-Type"))
    is_by_use = request.destination == _STYLE or request.destination in WORKERS
    is_known = declared in {_CSS, HTML} or is_xml_type(declared)
    return is_by_use or is_known or is_unknown_type(declared)


def rewritten_type(declared: str, start: bytes, destination: str = "") -> str:
    """Return what a capture is rewritten as; "" for one that is sent as captured (pure).

    Browsers take the type of a document from its first bytes if the declared one is absent or
    unusable, and run the scripts of pages and drawings in any type of XML. A style sheet needs no
    type. Source: MIME Sniffing Standard, section 7; HTML Standard, "Loading XML documents".

    Args:
        declared: Media type of its Content-Type, lower case, without parameters; "" if absent.
        start: Its first bytes, without content coding; `HEADER` of them count.
        destination: What it is for, as browsers name it; "" if that is not known.
    """
    if destination in WORKERS:
        return _SCRIPT
    if declared == _CSS or destination == _STYLE:
        return _CSS
    if declared in _PAGES:
        return declared
    media = sniff_unknown(start) if is_unknown_type(declared) else declared
    is_page = media == HTML or (is_xml_type(media) and is_xml_page(start))
    return media if is_page else ""


def first_byte(field: str) -> int:
    """Return the first byte of a Range header; 0 for none, and for the last bytes (pure)."""
    match = re.match(r"bytes=(\d{1,18})-", field.strip())
    return int(match[1]) if match else 0


def media_type(field: str) -> str:
    """Return the media type of a Content-Type header, lower case, without parameters (pure)."""
    return field.partition(";")[0].strip().lower()


def _rewritten(exchange: ArchivedExchange, request: PageRequest, media: str) -> ServedAnswer:
    """Answer with a page, a style sheet or a script of a worker whose URLs lead into the archive.

    Args:
        exchange: The capture, without content coding.
        request: The request.
        media: What it is rewritten as.
    """
    declared = exchange.header("Content-Type")
    if is_unknown_type(media_type(declared)):
        fields = [field for field in exchange.headers if field[0].lower() != "content-type"]
        named = media + "".join(declared.partition(";")[1:])
        exchange = exchange._replace(headers=(*fields, ("Content-Type", named)))
    body = exchange.body.read_start(LARGEST_PAGE)
    charset = "utf-8" if media == _SCRIPT else page_codec(exchange, body)
    if media == _SCRIPT:
        data = begin_worker(body, request.page)
    elif media == _CSS:
        data = rewrite_css(body, charset, request.page)
    else:
        data = rewrite_page(body, charset, request.page, script_cookies(exchange.headers))
    headers = _headers(exchange, request, charset)
    status = status_to_send(exchange.status)
    if status in _NO_BODY:
        data = b""
    return _bytes_answer(status, headers, data, is_head=request.is_head)


def _whole_or_part(exchange: ArchivedExchange, request: PageRequest) -> ServedAnswer:
    """Answer with the body as captured, or the part that is asked for."""
    headers = _headers(exchange, request)
    coding = exchange.header("Content-Encoding")
    if coding:
        headers.append(("Content-Encoding", coding))
    if status_to_send(exchange.status) in _NO_BODY:
        return ServedAnswer(status_to_send(exchange.status), tuple(headers), iter(()), 0)
    try:
        part = _part(exchange, request)
    except RefusedRequestError:
        captured = captured_range(exchange)
        size = exchange.body.length if captured is None else captured.total
        headers.append(("Content-Range", f"bytes */{size}"))
        return _bytes_answer(416, headers, b"", is_head=False)
    if part.status == 200:
        headers.append(("Accept-Ranges", "bytes"))
    if part.field:
        headers.append(("Content-Range", part.field))
    if request.is_head:
        length = exchange.body.measure() if part.length < 0 else part.length
        return ServedAnswer(part.status, tuple(headers), iter(()), length)
    pieces = _pieces(exchange, part.start, part.length)
    return ServedAnswer(part.status, tuple(headers), pieces, part.length)


class _BodyPart(NamedTuple):
    """A part of a body that is sent.

    Attributes:
        status: Status code.
        start: Its first byte in the body.
        length: Its bytes; -1 if that is not known.
        field: Content-Range; "" for none.
    """

    status: int
    start: int
    length: int
    field: str = ""


def _part(exchange: ArchivedExchange, request: PageRequest) -> _BodyPart:
    """Return the part of a body that answers a request; a captured 206 is a part itself.

    Raises:
        RefusedRequestError: The body does not have the part (416).
    """
    status, body = status_to_send(exchange.status), exchange.body
    captured = captured_range(exchange)
    if captured is None and (status != 200 or not request.range):
        return _BodyPart(status, 0, body.length, exchange.header("Content-Range"))
    if captured is None:
        captured = CapturedRange(0, body.measure() - 1, body.length)
    part = byte_range(request.range, captured.total)
    if part is None and captured.is_whole:
        return _BodyPart(200, 0, body.length)
    start, length = part or (captured.first, body.length)
    if not captured.has(start):
        raise RefusedRequestError(416, "range", "this part was not captured")
    last = min(start + length - 1, captured.last)
    field = f"bytes {start}-{last}/{captured.total}"
    return _BodyPart(206, start - captured.first, last - start + 1, field)


def _pieces(exchange: ArchivedExchange, start: int, length: int) -> Iterator[bytes]:
    """Yield a part of a body; -1 for all of it."""
    body = exchange.body
    body.seek(start)
    while length:
        piece = body.read(_PIECE if length < 0 else min(_PIECE, length))
        if not piece:
            return
        length -= len(piece) if length > 0 else 0
        yield piece


def _headers(
    exchange: ArchivedExchange, request: PageRequest, charset: str = ""
) -> list[tuple[str, str]]:
    """Return the headers of an answer without those of its length and coding."""
    if request.is_raw:
        headers = raw_headers(exchange.headers)
    else:
        headers = replay_headers(
            exchange.headers, request.page, viewer=request.viewer, charset=charset
        )
    chosen = [field for field in headers if field[0].lower() not in _BODY_FIELDS]
    chosen.append(("Memento-Datetime", memento_date(exchange.capture.timestamp)))
    if status_to_send(exchange.status) != exchange.status:
        chosen.append(("X-Archive-Orig-Status", f"{exchange.status} {exchange.reason}".strip()))
    return chosen


def raw_headers(headers: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """Return the headers of a download of the bytes as captured (pure).

    The type is that of any file, so that no browser shows them; the captured headers are there as
    `X-Archive-Orig-…`.
    """
    original = [(f"X-Archive-Orig-{name}", value) for name, value in headers]
    return [
        ("Content-Type", "application/octet-stream"),
        ("Content-Disposition", "attachment"),
        ("Content-Security-Policy", "sandbox; default-src 'none'"),
        *original,
    ]


def _bytes_answer(
    status: int, headers: list[tuple[str, str]], data: bytes, *, is_head: bool
) -> ServedAnswer:
    pieces = iter(()) if is_head else iter((data,))
    return ServedAnswer(status, tuple(headers), pieces, len(data))


_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def safe_name(name: str) -> bytes | None:
    """Return the name of a header as bytes; None for a name that HTTP forbids (pure)."""
    return name.lower().encode() if _NAME.fullmatch(name) else None


def safe_value(value: str) -> bytes:
    """Return the value of a header as bytes, without what ends a header (pure).

    Args:
        value: The value; each character is a byte, others become UTF-8.
    """
    try:
        raw = value.encode("latin-1")
    except UnicodeEncodeError:
        raw = value.encode("utf-8", "replace")
    return re.sub(rb"[\x00-\x08\x0a-\x1f\x7f]", b" ", raw).strip()
