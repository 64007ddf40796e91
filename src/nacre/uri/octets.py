"""URLs that are bytes in no known encoding, as in header fields and PDF files."""

import re

_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")


def escape_octets(raw: bytes) -> str:
    """Return a URL as text: bytes beyond ASCII are percent-escaped as they are.

    A server reads its own bytes back, whatever their encoding: GBK stays GBK. White space at the
    ends is cut. Source: Chromium, `HttpResponseHeaders::IsRedirect`; Web Platform Tests,
    `redirect-location-escape`.
    """
    return _BEYOND_ASCII.sub(_escape, raw).strip().decode("ascii")


def _escape(match: re.Match[bytes]) -> bytes:
    return b"%%%02X" % match[0][0]
