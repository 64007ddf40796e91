"""URLs of one kind share a template: `/{yyyy}-{mm}/t{date}_{int}.html` (pure).

Runs of digits, tokens and slugs become placeholders by their look. Escapes are the letters that
they stand for, so that `%E4%BB%B61096.doc` is `件{int}.doc`.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from nacre.uri.parse import authority, split
from nacre.wire.urltext import letters

_MAX_SEGMENTS = 24
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{16,64}", re.IGNORECASE)
# It begins where its first word does: a long word is read once.
_SLUG = re.compile(r"(?<![^\W\d_])[^\W\d_]+(?:-[^\W_]+){3,}")
_YEAR_FIRST = re.compile(r"\d{4}(?:-\d{1,2}){0,2}$")
_DAY = r"(?<!\d)(?:19|20)\d\d([-_.])(?:0\d|1[0-2])\2(?:[0-2]\d|3[01])(?!\d)"
# Letters and digits by turns, three changes at least: `dQw4w9WgXcQ`, not `page12`, `t20240131`.
_CODE = r"(?<![0-9a-z])(?=(?:[a-z]+\d+){2}|(?:\d+[a-z]+){2})[0-9a-z]{8,}"
_RUN = re.compile(
    rf"(?P<day>{_DAY})|(?P<uuid>{_UUID.pattern})"
    rf"|(?P<hex>(?<![0-9a-z]){_HEX.pattern}(?![0-9a-z]))|(?P<code>{_CODE})"
    rf"|(?P<slug>{_SLUG.pattern})|(?P<digits>\d+)|(?P<escape>%[0-9a-f]{{2}})",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[^\d-]*")
_DIGITS = re.compile(r"\d+")
_LATER_WORD = re.compile(r"-[^\W\d_]")
_WORDS = 2
"""Words of a slug after its first: `thread-12-1-1` is no slug."""
_SLUG_NUMBER = re.compile(r"(?<=-)\d{5,}\Z")
_DATE_LENGTH = 8
_MONTHS = {
    name: f"{number:02d}"
    for number, names in enumerate(
        (
            *("jan january", "feb february", "mar march", "apr april", "may", "jun june"),
            *("jul july", "aug august", "sep sept september", "oct october"),
            *("nov november", "dec december"),
        ),
        1,
    )
    for name in names.split()
}


class Token(NamedTuple):
    """A placeholder of a URL: its class, and the text that it replaces."""

    kind: str
    text: str


class Shaped(NamedTuple):
    """A URL as segments with placeholders, and the texts that they replace."""

    segments: tuple[str, ...]
    tokens: tuple[Token, ...]

    @property
    def name(self) -> str:
        """The template, for people and as a key."""
        return "/".join(self.segments)


def shaped(url: str) -> Shaped:
    """Return a URL's segments, with numbers, dates and tokens replaced.

    The first segment is scheme and authority; a query is one segment for each of its names.
    """
    parts = split(url)
    segments = parts.path.split("/")[1 : _MAX_SEGMENTS + 1]
    pairs = list(_query(parts.query or ""))
    if "%" in url:
        segments = [letters(part, url) for part in segments]
        pairs = [(letters(name, url), letters(value, url)) for name, value in pairs]
    tokens: list[Token] = []
    path: list[str] = []
    for part in segments:
        if path and path[-1] == "{year}" and part.lower() in _MONTHS:
            tokens.append(Token("name", part))
            path.append("{name}")
        else:
            path.append(_shape(part, tokens, in_path=True))
    query = [f"?{name}={_shape(value, tokens)}" for name, value in pairs]
    return Shaped((f"{parts.scheme}://{authority(url)}", *path, *query), tuple(tokens))


def _query(query: str) -> Iterator[tuple[str, str]]:
    for part in sorted(query.split("&"))[:_MAX_SEGMENTS]:
        if part:
            name, _, value = part.partition("=")
            yield name, value


def _shape(segment: str, tokens: list[Token], *, in_path: bool = False) -> str:
    if _PLAIN.fullmatch(segment):
        return segment[:512]
    begins_with_year = in_path and _YEAR_FIRST.match(segment) is not None

    def number(match: re.Match[str]) -> str:
        kind = _digits(match[0])
        # Years and months are short: elsewhere they are numbers like others.
        if (kind == "year" and (match.start() or not begins_with_year)) or (
            kind == "month" and not in_path
        ):
            kind = "int"
        tokens.append(Token(kind, match[0]))
        return f"{{{kind}}}"

    def replace(match: re.Match[str]) -> str:
        kind = match.lastgroup or ""
        if kind == "escape":
            return match[0]
        if kind == "digits":
            return number(match)
        if kind == "slug" and len(_LATER_WORD.findall(match[0])) < _WORDS:
            return _DIGITS.sub(number, match[0])
        parts = _parts(kind, match[0])
        tokens.extend(parts)
        between = "-" if kind == "slug" else ""
        return between.join(f"{{{part.kind}}}" for part in parts)

    return _RUN.sub(replace, segment[:512])


def _parts(kind: str, text: str) -> list[Token]:
    """A run of text as placeholders: a code may begin with a date, a slug end in a number."""
    if kind in {"hex", "code"} and _digits(text[:_DATE_LENGTH]) == "date":
        return [Token("date", text[:_DATE_LENGTH]), Token(kind, text[_DATE_LENGTH:])]
    number = _SLUG_NUMBER.search(text) if kind == "slug" else None
    if number is not None:
        return [Token("slug", text[: number.start() - 1]), Token("int", number[0])]
    return [Token(kind, text)]


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
    """Return the moment that a URL names, seconds since the epoch (UTC); None when it names none.

    `20240131`, `2024-01-31`, `2024/01/31`, `2024/jan/31`, `2024-01/31`, `202401/31`, `2024/0131`,
    or a Unix time.
    """
    for kind, text in tokens:
        if kind in {"date", "day"}:
            return _moment(text[:4], text[-4:-2] if kind == "date" else text[5:7], text[-2:])
        if kind in {"unix", "unixms"}:
            return int(text) / (1000.0 if kind == "unixms" else 1.0)
    for at, (kind, text) in enumerate(tokens):
        following = [after.text for after in tokens[at + 1 : at + 3]]
        if kind == "month":
            day = following[0] if following and len(following[0]) <= 2 else "1"
            return _moment(text[:4], text[4:], day)
        if kind == "year":
            return _from_year(text, [_MONTHS.get(word.lower(), word) for word in following])
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
