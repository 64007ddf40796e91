"""URLs of one kind share a template: `/{yyyy}-{mm}/t{date}_{int}.html` (pure).

Source: reference/incremental.md 2.8. Runs of digits, tokens and slugs become placeholders by their
look; words become one once a place has shown too many of them.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from nacre.uri.parse import authority, split

_MANY = 8
_MAX_SEGMENTS = 24
_MAX_NODES = 20_000
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


class _Node(msgspec.Struct, array_like=True):
    below: dict[str, "_Node"] = {}
    open: bool = False
    """Any word may stand below."""


class TemplateTree:
    """The templates of one host, learned from its URLs.

    A place that has shown more than eight different words takes any word, `{word}`, from then on.
    """

    def __init__(self) -> None:
        self._root = _Node()
        self._nodes = 0

    def add(self, url: str) -> Shaped:
        """Learn a URL; its template as known now."""
        return self._walk(shaped(url), learn=True)

    def find(self, url: str) -> Shaped:
        """A URL's template as known now."""
        return self._walk(shaped(url), learn=False)

    def _walk(self, one: Shaped, *, learn: bool) -> Shaped:
        node: _Node | None = self._root
        named: list[str] = []
        words: list[Token] = []
        for segment in one.segments:
            word, ending = _word(segment)
            taken = bool(word) and node is not None and node.open
            if taken:
                words.append(Token("word", word))
            named.append(f"{{word}}{ending}" if taken else segment)
            if node is not None:
                node = self._below(node, named[-1], "" if taken else word, learn=learn)
        return Shaped(tuple(named), (*one.tokens, *words))

    def _below(self, node: _Node, segment: str, word: str, *, learn: bool) -> _Node | None:
        below = node.below.get(segment)
        if below is None and learn and self._nodes < _MAX_NODES:
            below = node.below[segment] = _Node()
            self._nodes += 1
            if word and sum(bool(_word(name)[0]) for name in node.below) > _MANY:
                self._collapse(node)
        return below

    def _collapse(self, node: _Node) -> None:
        """Words below a node become one; what lay below them is kept together."""
        node.open = True
        for name in list(node.below):
            word, ending = _word(name)
            if word:
                gone = node.below.pop(name)
                whole = node.below.setdefault(f"{{word}}{ending}", _Node())
                self._merge(whole, gone)

    def _merge(self, into: _Node, other: _Node) -> None:
        for name, node in other.below.items():
            if name in into.below:
                self._merge(into.below[name], node)
            else:
                into.below[name] = node


_ENDING = re.compile(r"(\.[A-Za-z][A-Za-z0-9]{0,5})?$")


def _word(segment: str) -> tuple[str, str]:
    """The word of a segment without placeholder, and its ending; "" for what is no word."""
    if "{" in segment or "://" in segment or segment.startswith("?") or not segment:
        return "", ""
    match = _ENDING.search(segment)
    ending = match[0] if match else ""
    return segment[: len(segment) - len(ending)], ending
