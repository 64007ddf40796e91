"""Compare two captures of a URL, or of two URLs, of a job, a collection or files."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import Holding
from nacre.catalogue.lookup import CaptureIndex, open_index
from nacre.core.clock import iso_of_digits
from nacre.ops.fields import LineText, ShortText
from nacre.ops.url_captures import captures_of, choose_pair
from nacre.replay.compare import (
    SECTIONS,
    ComparedCapture,
    ComparedReply,
    CompareView,
    compare_replies,
)
from nacre.replay.reply import read_exchange

CompareSection = Literal["", "text", "source", "headers", "links"]
_MOST_DATES = 500


class CompareRequest(msgspec.Struct, frozen=True):
    """Two captures.

    Attributes:
        url: The URL.
        to: Another URL, for the newer capture; "" for the same.
        old: The older capture: a time, its beginning, or its place `WARC:OFFSET`; "" for the last
            one before the newer that differs from it.
        new: The newer capture; "" for the last.
        section: The only section to make; "" for all.
    """

    url: LineText
    to: LineText = ""
    old: ShortText = ""
    new: ShortText = ""
    section: CompareSection = ""


def compare_captures(
    holding: Holding, request: CompareRequest, index: CaptureIndex | None = None
) -> CompareView:
    """Compare two captures.

    Args:
        holding: Where they are.
        request: The captures.
        index: The index of the holding; None: it is opened.

    Raises:
        JobError: The URL has no two captures, or a time is none.
        ReplayError: A capture cannot be read.
        StorageError: An index cannot be read.
    """
    index = index or open_index(holding)
    captures = captures_of(index, request.url, holding.argument)
    candidates = captures_of(index, request.to, holding.argument) if request.to else captures
    pair = choose_pair(captures, candidates, request.old, request.new)
    old, new = (_reply(holding, index, capture) for capture in pair)
    sections: Sequence[str] = (request.section,) if request.section else SECTIONS
    view = compare_replies(old, new, sections)
    dates = dict.fromkeys(iso_of_digits(capture.timestamp) for capture in captures[-_MOST_DATES:])
    return msgspec.structs.replace(view, dates=list(dates))


def _reply(holding: Holding, index: CaptureIndex, capture: IndexedCapture) -> ComparedReply:
    exchange = read_exchange(holding, index, capture)
    facts = ComparedCapture(
        id=capture.id,
        url=capture.url,
        date=iso_of_digits(capture.timestamp),
        status=exchange.status,
        mime="",
        charset="",
        size=0,
        digest="",
        truncated=exchange.truncated,
    )
    return ComparedReply(facts, exchange.headers, exchange.body.read)
