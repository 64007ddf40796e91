"""URLs of one kind share a template: `/{yyyy}-{mm}/t{date}_{int}.html` (pure).

Source: reference/incremental.md 2.8. Runs of digits, tokens and slugs become placeholders by their
look.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from nacre.uri.parse import authority, split

_MAX_SEGMENTS = 24
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{16,64}", re.IGNORECASE)
# It begins where its first word does: a long word is read once.
_SLUG = re.compile(r"(?<![^\W\d_])[^\W\d_]+(?:-[^\W_]+){3,}")
_YEAR_FIRST = re.compile(r"\d{4}(?:-\d{1,2}){0,2}$")
_RUN = re.compile(
    rf"(?P<uuid>{_UUID.pattern})|(?P<hex>(?<![0-9a-z]){_HEX.pattern}(?![0-9a-z]))"
    rf"|(?P<slug>{_SLUG.pattern})|(?P<digits>\d+)",
    re.IGNORECASE,
)


class Token(NamedTuple):
    """A placeholder of a URL: its class, and what stood there."""

    kind: str
    text: str


class Shaped(NamedTuple):
    """A URL as segments with placeholders, and what they stood for."""

    segments: tuple[str, ...]
    tokens: tuple[Token, ...]

    @property
    def name(self) -> str:
        """The template, for people and as a key."""
        return "/".join(self.segments)


def shaped(url: str) -> Shaped:
    """A URL's segments, with what looks like a number, a date or a token replaced.

    The first segment is scheme and authority; a query is one segment for each of its names.
    """
    parts = split(url)
    tokens: list[Token] = []
    path = [
        _shape(part, tokens, in_path=True) for part in parts.path.split("/")[1 : _MAX_SEGMENTS + 1]
    ]
    query = [f"?{name}={_shape(value, tokens)}" for name, value in _query(parts.query or "")]
    return Shaped((f"{parts.scheme}://{authority(url)}", *path, *query), tuple(tokens))


def _query(query: str) -> Iterator[tuple[str, str]]:
    for part in sorted(query.split("&"))[:_MAX_SEGMENTS]:
        if part:
            name, _, value = part.partition("=")
            yield name, value


def _shape(segment: str, tokens: list[Token], *, in_path: bool = False) -> str:
    begins_with_year = in_path and _YEAR_FIRST.match(segment) is not None

    def replace(match: re.Match[str]) -> str:
        kind = match.lastgroup or ""
        if kind == "digits":
            kind = _digits(match[0])
            # Years and months are short: elsewhere they are numbers like others.
            if (kind == "year" and (match.start() or not begins_with_year)) or (
                kind == "month" and not in_path
            ):
                kind = "int"
        tokens.append(Token(kind, match[0]))
        return f"{{{kind}}}"

    return _RUN.sub(replace, segment[:512])


def _digits(text: str) -> str:
    size = len(text)
    if size == 8 and _is_date(text[:4], text[4:6], text[6:]):
        return "date"
    if size == 6 and _is_date(text[:4], text[4:], "01"):
        return "month"
    if size == 4 and "1990" <= text <= "2099":
        return "year"
    if size == 10 and text[0] == "1":
        return "unix"
    return "unixms" if size == 13 and text[0] == "1" else "int"


def _is_date(year: str, month: str, day: str) -> bool:
    return "1990" <= year <= "2099" and "01" <= month <= "12" and "01" <= day <= "31"


def date_of(tokens: tuple[Token, ...]) -> float | None:
    """The moment that a URL names, seconds since the epoch (UTC); None when it names none.

    `20240131`, `2024/01/31`, `2024-01/31`, `202401/31`, `2024/0131`, or a Unix time.
    """
    for kind, text in tokens:
        if kind == "date":
            return _moment(text[:4], text[4:6], text[6:])
        if kind in {"unix", "unixms"}:
            return int(text) / (1000.0 if kind == "unixms" else 1.0)
    for at, (kind, text) in enumerate(tokens):
        following = [after.text for after in tokens[at + 1 : at + 3]]
        if kind == "month":
            day = following[0] if following and len(following[0]) <= 2 else "1"
            return _moment(text[:4], text[4:], day)
        if kind == "year":
            return _from_year(text, following)
    return None


def _from_year(year: str, following: list[str]) -> float | None:
    if following and len(following[0]) == 4:
        return _moment(year, following[0][:2], following[0][2:])
    if len(following) == 2 and all(len(text) <= 2 for text in following):
        return _moment(year, following[0], following[1])
    return None


def _moment(year: str, month: str, day: str) -> float | None:
    try:
        return datetime(int(year), int(month), int(day), tzinfo=UTC).timestamp()
    except ValueError:
        return None
