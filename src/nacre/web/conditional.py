"""Answers with validators: ETag and Last-Modified, and 304 if the client has them already.

Source: RFC 9110, sections 8.8 and 13.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Final

from starlette.responses import Response

from nacre.wire.date import format_http_date, parse_http_date

IF_NONE_MATCH: Final = "if-none-match"
IF_MODIFIED_SINCE: Final = "if-modified-since"
_TAG: Final = re.compile(r'(?:W/)?("[^"]*")')


def validated_answer(
    fields: Mapping[str, str], body: bytes, media: str, modified: float, now: float
) -> Response:
    """Return a body with its validators, or 304 if the client has it.

    Args:
        fields: Header fields of the request, with names in lower case.
        body: The body.
        media: Its media type.
        modified: When it changed last, seconds since the epoch.
        now: The time of the answer; a later `modified` is this time.
    """
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    modified = float(int(min(modified, now)))
    validators = {
        "etag": tag,
        "last-modified": format_http_date(modified),
        "cache-control": "private, no-cache",
    }
    if is_current(fields, tag, modified):
        return Response(status_code=304, headers=validators)
    return Response(body, headers=validators, media_type=media)


def is_current(fields: Mapping[str, str], tag: str, modified: float) -> bool:
    """Return whether a client has the present content: by ETag, else by date (pure).

    Args:
        fields: Header fields of the request, with names in lower case.
        tag: The present ETag, with quotes.
        modified: When the content changed last, whole seconds since the epoch.
    """
    etags = fields.get(IF_NONE_MATCH)
    if etags is not None:
        return etags.strip() == "*" or tag in _TAG.findall(etags)
    since = parse_http_date(fields.get(IF_MODIFIED_SINCE, ""))
    return since is not None and modified <= since
