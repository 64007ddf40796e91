"""The index key of what was got with POST or PUT: the request's body as a query.

Source: IIPC guideline for non-GET requests, as cdxj-indexer (`--post-append`) and pywb apply it.
"""

import json
import re
from base64 import b64encode
from typing import NamedTuple
from urllib.parse import quote_plus, unquote_plus, urlencode

from nacre.archive.httphead import START, head_end, header_value

MAX_QUERY = 4096
"""Characters of a query that are kept."""

_METHODS = (b"POST ", b"PUT ")
_DISPOSITION = re.compile(rb'\bname="([^"]*)"(?:.*\b(filename)=)?', re.IGNORECASE)
_DEPTH = 100


class PostQuery(NamedTuple):
    """What a request adds to its index line.

    Attributes:
        method: `POST` or `PUT`.
        query: Its body as a query; "" when it has none.
    """

    method: str
    query: str

    def appended(self, url: str) -> str:
        """The URL that the index key is made of."""
        query = f"&{self.query}" if self.query else ""
        return f"{url}{'&' if '?' in url else '?'}__wb_method={self.method}{query}"


def post_query(request: bytes) -> PostQuery | None:
    """What a request adds; None unless it is a POST or PUT.

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
    """Each scalar by the name of its object's key; repeated names are numbered."""
    found: dict[str, str] = {}
    try:
        _scalars(json.loads(body), "", found, {}, _DEPTH)
    except ValueError:
        if b"\n" not in body:
            raise
        counts: dict[str, int] = {}
        for line in body.split(b"\n"):
            _scalars(json.loads(line), "", found, counts, _DEPTH)
    return urlencode(found)


def _scalars(
    value: object, name: str, found: dict[str, str], counts: dict[str, int], depth: int
) -> None:
    if depth == 0:
        raise ValueError("nested too deep")
    if isinstance(value, dict):
        for key, item in value.items():
            _scalars(item, key, found, counts, depth - 1)
    elif isinstance(value, list):
        for item in value:
            _scalars(item, name, found, counts, depth - 1)
    elif name:
        if name in found:
            counts[name] = counts.get(name, 1) + 1
            name = f"{name}.{counts[name]}_"
        found[name] = str(value)


def _multipart(kind: str, body: bytes) -> str:
    """The fields of a form; a file stands for itself, percent-encoded."""
    _, found, boundary = kind.partition("boundary=")
    if not found:
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
