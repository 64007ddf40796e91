"""Cite a capture, and find a capture by its URN."""

import msgspec

from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import Holding
from nacre.catalogue.lookup import CaptureIndex, open_index
from nacre.core.clock import iso_of_digits
from nacre.errors import JobError
from nacre.extract.pageview import page_view
from nacre.messages import message
from nacre.ops.fields import LineText, ShortText
from nacre.ops.record_search import Tell, find_record
from nacre.ops.url_captures import captures_of, choose_capture
from nacre.replay.citation import (
    ARCHIVE_ID,
    Citation,
    CitedArchive,
    clean_text,
    is_uuid_urn,
    make_citation,
    read_pwid,
)
from nacre.replay.reply import ArchivedExchange, page_codec, read_exchange
from nacre.wire.charset import decode

_HEAD = 1 << 18
"""Bytes of a page in which its title is searched."""
_PAGES = ("text/html", "application/xhtml+xml")


class CitationRequest(msgspec.Struct, frozen=True):
    """A capture to cite.

    Attributes:
        url: The URL, or the URN; "" if `urn` has it.
        at: A time, its beginning, or the place `WARC:OFFSET`; "" for the last capture.
        urn: `urn:uuid:…` or `urn:pwid:…` of the capture; "" for that of the URL.
        archive_id: Name of the archive in the PWID, such as its domain; "" for the identifier of
            the collection, else the name of the job or file.
        replay: Address at which the capture can be looked at; "" for none.
    """

    url: LineText = ""
    at: ShortText = ""
    urn: LineText = ""
    archive_id: ShortText = ""
    replay: LineText = ""


def cite_capture(
    holding: Holding,
    request: CitationRequest,
    index: CaptureIndex | None = None,
    tell: Tell = lambda done, total: None,
) -> Citation:
    """Return the citation of a capture.

    Args:
        holding: Where it is.
        request: The capture.
        index: The index of the holding; None: it is opened.
        tell: Receives the progress of a search for `urn:uuid:…`.

    Raises:
        JobError: There is no such capture.
        ReplayError: It cannot be read.
        StorageError: An index cannot be read.
    """
    index = index or open_index(holding)
    is_urn = is_uuid_urn(request.url) or read_pwid(request.url) is not None
    urn = request.urn or (request.url if is_urn else "")
    if urn:
        capture = find_by_urn(holding, urn, index, tell)
    else:
        capture = choose_capture(captures_of(index, request.url, holding.argument), request.at)
    exchange = read_exchange(holding, index, capture, decode=True)
    return cite_exchange(holding, exchange, archive_id=request.archive_id, replay=request.replay)


def cite_exchange(
    holding: Holding, exchange: ArchivedExchange, *, archive_id: str = "", replay: str = ""
) -> Citation:
    """Return the citation of an exchange.

    Args:
        holding: Where it is.
        exchange: The exchange, without content coding.
        archive_id: See `CitationRequest`.
        replay: Address at which it can be looked at; "" for none.

    Raises:
        JobError: The name of the archive cannot be used in a PWID.
    """
    if archive_id and ARCHIVE_ID.fullmatch(archive_id) is None:
        raise JobError(
            message(
                "ops.no-archive-id",
                "{name} cannot name an archive in a PWID. Use letters, digits and . _ ~ -, such as "
                "archive.example.org",
                name=clean_text(archive_id),
            )
        )
    mime = exchange.header("content-type").partition(";")[0].strip().lower()
    return make_citation(
        exchange.capture,
        CitedArchive(
            archive_id or holding.fields.get("identifier") or holding.name,
            holding.title,
            holding.fields.get("publisher", ""),
        ),
        (exchange.record_id, exchange.date),
        title=_title(exchange) if mime in _PAGES else "",
        mime=mime,
        replay=replay,
    )


def _title(exchange: ArchivedExchange) -> str:
    head = exchange.body.read_start(_HEAD)
    view = page_view(decode(head, page_codec(exchange, head)))
    return next((piece.text for piece in view.pieces if piece.kind == "title"), "")


def find_by_urn(
    holding: Holding, urn: str, index: CaptureIndex, tell: Tell = lambda done, total: None
) -> IndexedCapture:
    """Return the capture of a URN.

    A PWID is looked up in the index, which has no record ids: see `find_record`.

    Args:
        holding: Where it is.
        urn: `urn:uuid:…` of any of its records, or `urn:pwid:…`.
        index: The index of the holding.
        tell: Receives the progress.

    Raises:
        JobError: There is no such capture, or it is no such URN.
        StorageError: An index cannot be read.
    """
    parts = read_pwid(urn)
    if parts is not None:
        captures = captures_of(index, parts.url, holding.argument)
        exact = [capture for capture in captures if capture.timestamp == parts.timestamp]
        if exact:
            return exact[0]
        near = choose_capture(captures, parts.timestamp)
        raise JobError(
            message(
                "ops.pwid-not-captured",
                "there is no capture of {url} at {time}; the nearest is of {near}",
                url=clean_text(parts.url),
                time=iso_of_digits(parts.timestamp),
                near=iso_of_digits(near.timestamp),
            )
        )
    if not is_uuid_urn(urn):
        raise JobError(
            message(
                "ops.no-urn",
                "{urn} is neither urn:uuid:… nor urn:pwid:ARCHIVE:TIME:page:URL",
                urn=clean_text(urn),
            )
        )
    return find_record(holding, urn.strip().lower(), index, tell)
