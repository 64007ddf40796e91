"""Requests for a capture: the look-up, the answer, and the pages in its place."""

import shlex
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from nacre.archive.index_facts import post_query
from nacre.catalogue.captures import IndexedCapture
from nacre.errors import NacreError
from nacre.messages import message
from nacre.replay.matching import NotArchived, ReplayRequest
from nacre.replay.memento import ReplayPath
from nacre.replay.page_urls import PageAddress
from nacre.replay.records import ReplayError
from nacre.replay_server.answers import (
    PageRequest,
    ServedAnswer,
    answer_capture,
    safe_name,
    safe_value,
)
from nacre.replay_server.pages import language_of, page
from nacre.replay_server.parts import ReplayCall, destination_of, is_navigation, text_answer
from nacre.replay_server.shelf import ShelfItem
from nacre.replay_server.sites import content_path
from nacre.replay_server.timeline import row_of

LARGEST_POST: Final = 1 << 20
"""Bytes of the body of a request whose capture is looked up; longer bodies are cut."""


def _(text: str) -> str:
    """Mark a text for the catalogues."""
    return text


async def answer_place(
    call: ReplayCall, item: ShelfItem, place: ReplayPath, address: PageAddress
) -> Response:
    """Answer a request for a capture.

    Args:
        call: The request.
        item: The job or collection.
        place: The path.
        address: The address that the links of the page begin with.
    """
    request = call.request
    method = request.method
    body = await _body(call) if method not in {"GET", "HEAD"} else b""
    page_request = PageRequest(
        lookup_request(place, method, request.headers.get("content-type", ""), body), address,
        is_head=method == "HEAD", range=request.headers.get("range", ""),
        is_raw=place.modifier == "id_", viewer=call.parts.site.viewer,
        destination=destination_of(request),
    )  # fmt: skip
    try:
        opened = await run_in_threadpool(call.parts.shelf.open, item)
        answer = await run_in_threadpool(answer_capture, opened, page_request)
    except NacreError as error:
        status = 404 if isinstance(error, ReplayError) else 503
        if is_navigation(call):
            return problem_page(call, error.message, status, place.url)
        return text_answer(str(error), status)
    if isinstance(answer, NotArchived):
        if is_navigation(call):
            return not_archived_page(call, address, list(answer.nearest))
        return text_answer("not archived", 404)
    return send_answer(answer)


def lookup_request(place: ReplayPath, method: str, media: str, body: bytes) -> ReplayRequest:
    """Return the request for the look-up (pure).

    Args:
        place: The path.
        method: Its method; HEAD is answered by a capture of GET.
        media: Its Content-Type; "" for none.
        body: Its body.
    """
    if method in {"GET", "HEAD"}:
        return ReplayRequest(place.url, place.timestamp)
    head = f"{method} / HTTP/1.1\r\nContent-Type: {media}\r\n\r\n"
    added = post_query(head.encode("latin-1", "replace") + body)
    return ReplayRequest(place.url, place.timestamp, method, added.query if added else "")


async def _body(call: ReplayCall) -> bytes:
    """Read the body of a request, up to `LARGEST_POST`."""
    pieces, size = [], 0
    async for piece in call.request.stream():
        pieces.append(piece)
        size += len(piece)
        if size > LARGEST_POST:
            break
    return b"".join(pieces)[:LARGEST_POST]


def send_answer(answer: ServedAnswer) -> Response:
    """Return the answer of an archived exchange."""
    response = StreamingResponse(answer.pieces, answer.status)
    raw = [
        (name, safe_value(value))
        for field, value in answer.headers
        if (name := safe_name(field)) is not None
    ]
    if answer.length >= 0 and answer.status not in {204, 205}:
        raw.append((b"content-length", str(answer.length).encode()))
    response.raw_headers = raw
    return response


def not_archived_page(
    call: ReplayCall, address: PageAddress, nearest: list[IndexedCapture]
) -> Response:
    """Return the page in the place of a capture that is not there, with the nearest captures.

    Args:
        call: The request.
        address: The address of the page.
        nearest: The captures.
    """
    text = language_of(call.request).text(
        message(
            "replay.not-archived",
            "This URL is not in the archive. Replay never asks the live web for it.",
        )
    )
    target = call.parts.target
    facts = {
        "heading": language_of(call.request).text(_("Not archived")), "text": text,
        "url": address.url, "nearest": [row_of(capture) for capture in nearest],
        "explain": f"nacre explain {target} {shlex.quote(address.url)}" if target else "",
        "view_of": lambda row: address.origin + content_path(row.timestamp, row.url),
    }  # fmt: skip
    return page(call.request, "problem.html", facts, 404)


def problem_page(call: ReplayCall, text: str, status: int, url: str = "") -> Response:
    """Return the page of an error.

    Args:
        call: The request.
        text: What failed, why and what to do.
        status: Status code.
        url: The URL of the capture; "" for none.
    """
    reader = language_of(call.request)
    facts: dict[str, Any] = {
        "heading": reader.text(_("This cannot be shown")), "text": reader.text(text), "url": url,
        "nearest": [], "explain": "", "view_of": None,
    }  # fmt: skip
    return page(call.request, "problem.html", facts, status)
