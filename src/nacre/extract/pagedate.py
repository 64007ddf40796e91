"""When a page says that it was changed last: JSON-LD and meta elements (pure, linear, bounded).

Source: schema.org `dateModified`; Open Graph `article:modified_time`; Dublin Core `modified`.
"""

import re
from datetime import UTC, datetime

_LOOKED_AT = 400_000
"""Characters of a page that are looked at."""
_JSON_LD = re.compile(r'"dateModified"\s{0,20}:\s{0,20}"([^"<]{8,40})"')
_META = re.compile(r"(?i)<meta\s([^<>]{10,400})>")
_NAME = re.compile(
    r"(?i)(?:name|property|itemprop)\s?=\s?[\"']?(?:article:modified_time|og:updated_time|last-?modified"
    r"|datemodified|dc(?:terms)?\.(?:date\.)?modified)[\"'\s/]"
)
_CONTENT = re.compile(r"(?i)content\s?=\s?[\"']([^\"']{8,40})[\"']")
_LOCAL = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2}))?)?$")


def page_date(text: str) -> int:
    """What a page says of its last change, whole seconds since the epoch; 0 where it says nothing.

    A time without a zone is taken for UTC: what counts is that it moves.

    Args:
        text: The decoded page.
    """
    text = text[:_LOOKED_AT]
    found = _JSON_LD.search(text)
    if found is not None:
        return _moment(found[1])
    for meta in _META.finditer(text):
        if _NAME.search(meta[1] + " "):
            content = _CONTENT.search(meta[1])
            return _moment(content[1]) if content is not None else 0
    return 0


def _moment(written: str) -> int:
    written = written.strip()
    found: datetime | None
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        found = _local(written)
    if found is None:
        return 0
    aware = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    try:
        return max(0, int(aware.timestamp()))
    except (OverflowError, ValueError):
        return 0


def _local(written: str) -> datetime | None:
    """A date as people write it; None for no date."""
    match = _LOCAL.match(written)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
