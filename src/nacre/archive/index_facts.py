"""The data of an HTTP block for an index line: status, media type, query of a POST or PUT.

The writer and the rebuilt index use the same functions, so that their lines are equal. Source of
the query: the IIPC guideline for non-GET requests, as cdxj-indexer (`--post-append`) and pywb apply
it.
"""

import json
import re
from base64 import b64encode
from typing import NamedTuple
from urllib.parse import quote_plus, unquote_plus, urlencode

from nacre.wire.head import blank_line_end

_PARAMETERS = re.compile(r"[;\s]")

HEAD_LIMIT = 1 << 20
"""Bytes of a head that are read; a longer head is cut there."""
START = 1 << 16
"""Bytes of a block of any kind that are read."""


def head_end(block: bytes) -> int:
    """Length of the HTTP head with its blank line; -1 when it has no end.

    Line ends are CRLF or a bare LF, as servers send them. A blank line in front counts as a
    separate head, as in cdxj-indexer; `wire.head` finds the head of a reply.
    """
    if block.startswith((b"\n", b"\r\n")):
        return block.index(b"\n") + 1
    return blank_line_end(block)


def index_facts(block: bytes) -> tuple[str | None, str | None]:
    """Return status and media type, as cdxj-indexer does; None for absent values.

    An empty status is written if there is any header, and left out for an empty head.

    Args:
        block: The first bytes of the block; only its head is read.
    """
    if not block:
        return None, None
    head = block[:HEAD_LIMIT]
    if len(head) > START and (end := head_end(head)) >= 0:
        head = head[:end]
    first = head[: head.find(b"\n") + 1] or head
    line = _text(first).rstrip()
    status = line.partition(" ")[2].strip().partition(" ")[0]
    if not line:
        return None, None
    if not status and b":" not in head[len(first) : head_end(head)]:
        return None, None
    value = header_value(head, b"content-type")
    return status, None if value is None else _media_type(value)


def header_value(head: bytes, name: bytes) -> str | None:
    """First value of a header by lower-case name, folded lines as they are; None when absent."""
    lower = head.lower()
    end = -1
    at = lower.find(b"\n" + name)
    while at >= 0:
        if end < 0:
            end = head_end(head) % (len(head) + 1)
        if at >= end:
            return None
        line_end = head.find(b"\n", at + 1, end)
        line = head[at + 1 : line_end if line_end >= 0 else end]
        field_name, colon, value = line.partition(b":")
        if colon and len(field_name.rstrip(b" \t")) == len(name):
            return _text(value).strip() + _text(_unfold(head, line_end, end))
        at = lower.find(b"\n" + name, at + 1)
    return None


def _unfold(head: bytes, line_end: int, end: int) -> bytes:
    parts = []
    while 0 <= line_end < end - 1 and head[line_end + 1] in b" \t":
        start = line_end + 1
        line_end = head.find(b"\n", start, end)
        parts.append(head[start : line_end if line_end >= 0 else end].rstrip(b"\r"))
    return b"".join(parts)


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _media_type(value: str) -> str:
    """Return the text before the first `;` or blank, as cdxj-indexer cuts it."""
    return _PARAMETERS.split(value, 1)[0]


MAX_QUERY = 4096
"""Characters of a query that are kept."""

_METHODS = (b"POST ", b"PUT ")
_DISPOSITION = re.compile(rb'\bname="([^"]*)"(?:.*\b(filename)=)?', re.IGNORECASE)
_DEPTH = 100


class PostQuery(NamedTuple):
    """The text that the body of a request adds to its index line.

    Attributes:
        method: `POST` or `PUT`.
        query: Its body as a query; "" when it has none.
    """

    method: str
    query: str

    def appended(self, url: str) -> str:
        """Return the URL of the index key."""
        query = f"&{self.query}" if self.query else ""
        return f"{url}{'&' if '?' in url else '?'}__wb_method={self.method}{query}"


def post_query(request: bytes) -> PostQuery | None:
    """Return the text that a request adds to its index line; None unless it is a POST or PUT.

    Args:
        request: Its bytes; of a long one the first 64 KiB count.
    """
    if not request.startswith(_METHODS):
        return None
    request = request[:START]
    end = head_end(request)
    head = request[:end] if end >= 0 else request
    body = request[len(head) :]
    kind = header_value(head, b"content-type") or ""
    return PostQuery(request.partition(b" ")[0].decode(), _query(kind, body)[:MAX_QUERY])


def _query(kind: str, body: bytes) -> str:
    try:
        if kind.startswith("application/x-www-form-urlencoded"):
            return unquote_plus(body.decode())
        if kind.startswith("multipart/"):
            return _multipart(kind, body)
        if kind.startswith(("application/json", "text/plain")):
            return _json(body)
    except (ValueError, RecursionError):
        if kind.startswith("application/json"):
            return ""
    return "__wb_post_data=" + b64encode(body).decode()


def _json(body: bytes) -> str:
    """Return each scalar by the name of its object's key; repeated names are numbered."""
    scalars: dict[str, str] = {}
    try:
        _scalars(json.loads(body), "", scalars, {}, _DEPTH)
    except ValueError:
        if b"\n" not in body:
            raise
        counts: dict[str, int] = {}
        for line in body.split(b"\n"):
            _scalars(json.loads(line), "", scalars, counts, _DEPTH)
    return urlencode(scalars)


def _scalars(
    value: object, name: str, scalars: dict[str, str], counts: dict[str, int], depth: int
) -> None:
    if depth == 0:
        raise ValueError("nested too deep")
    if isinstance(value, dict):
        for key, item in value.items():
            _scalars(item, key, scalars, counts, depth - 1)
    elif isinstance(value, list):
        for item in value:
            _scalars(item, name, scalars, counts, depth - 1)
    elif name:
        if name in scalars:
            counts[name] = counts.get(name, 1) + 1
            name = f"{name}.{counts[name]}_"
        scalars[name] = str(value)


def _multipart(kind: str, body: bytes) -> str:
    """Return the fields of a form; the value of a file is its content, percent-encoded."""
    _, has_boundary, boundary = kind.partition("boundary=")
    if not has_boundary:
        raise ValueError("no boundary")
    mark = b"--" + boundary.partition(";")[0].strip().strip('"').encode()
    pairs = []
    for part in (b"\r\n" + body).split(b"\r\n" + mark)[1:]:
        head, blank, content = part.partition(b"\r\n\r\n")
        named = _DISPOSITION.search(head)
        if blank and named:
            text = quote_plus(content) if named[2] else quote_plus(content.decode())
            pairs.append(f"{quote_plus(named[1])}={text}")
    return "&".join(pairs)
