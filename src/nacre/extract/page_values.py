"""Named values of a page from which scripts may build the URLs of their requests. Pure, bounded.

Each value has the name of its source: `url.path[0]`, `url.query[id]`, `url.fragment`,
`meta[name=item]@content`, `script#state.item.id`, `script.itemId`; values of a JSON reply begin
with the name that the caller chooses. A source may have several values, as an attribute of many
elements has.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import unquote, unquote_plus, urlsplit

from turbohtml import Token, TokenType, tokenize

Values = Mapping[str, tuple[str, ...]]
"""Values by the name of their source."""

MAX_SOURCES = 3_000
"""Sources of one page, or of one reply."""
MAX_PER_SOURCE = 300
"""Values of one source."""
MAX_SEGMENTS = 12
"""Segments of a path that have names."""
LONGEST_VALUE = 512
_MAX_JSON = 4_000_000
_MAX_DEPTH = 12
_MAX_PAIRS = 500
_WORDLESS = frozenset(("", "true", "false", "null", "undefined", "none"))
_ASSIGNED = re.compile(
    r"""(?<![\w$])["']?([A-Za-z_$][\w$-]{0,63})["']?\s{0,8}[:=]\s{0,8}"""
    r"""(?:"([^"\\<>\n]{1,512})"|'([^'\\<>\n]{1,512})'|(-?\d{1,20})(?![\w.]))"""
)
_KEYS = ("id", "name", "property", "itemprop", "rel")
_FOR_STYLE = frozenset(("class", "style", "width", "height", "charset", "lang", "type", "id"))
_JSON_TYPES = ("application/json", "application/ld+json")


class _Book:
    """Values by source, each once, within limits."""

    def __init__(self) -> None:
        self._values: dict[str, dict[str, None]] = {}

    def add(self, source: str, value: str) -> None:
        value = value.strip()
        if len(value) > LONGEST_VALUE or value.lower() in _WORDLESS:
            return
        if source not in self._values and len(self._values) >= MAX_SOURCES:
            return
        values = self._values.setdefault(source, {})
        if len(values) < MAX_PER_SOURCE:
            values[value] = None

    def values(self) -> dict[str, tuple[str, ...]]:
        return {source: tuple(values) for source, values in self._values.items()}


def url_values(url: str) -> dict[str, tuple[str, ...]]:
    """Return the values of a URL: parts of its path, query and fragment, decoded.

    `path[2:]` is the path from its third segment on, `path[-1]` the last segment; `.stem` is the
    value without its last extension. The fragment is read as a route: `#/a/b?c=d`, `#!a/b`.
    """
    book = _Book()
    try:
        parts = urlsplit(url)
    except ValueError:
        return {}
    _add_path(book, "url.path", parts.path)
    _add_query(book, "url.query", parts.query)
    route, _, query = parts.fragment.removeprefix("!").partition("?")
    _add_path(book, "url.fragment", route)
    _add_query(book, "url.fragment.query", query)
    return book.values()


def _add_path(book: _Book, name: str, path: str) -> None:
    segments = [decode(part) for part in path.strip("/").split("/")][:MAX_SEGMENTS]
    if segments == [""]:
        return
    _add_stem(book, name, "/".join(segments))
    for at, segment in enumerate(segments):
        _add_stem(book, f"{name}[{at}]", segment)
        if at:
            _add_stem(book, f"{name}[{at}:]", "/".join(segments[at:]))
    _add_stem(book, f"{name}[-1]", segments[-1])


def _add_stem(book: _Book, name: str, value: str) -> None:
    book.add(name, value)
    stem, dot, extension = value.rpartition(".")
    if dot and stem and "/" not in extension:
        book.add(f"{name}.stem", stem)


def _add_query(book: _Book, name: str, query: str) -> None:
    if not query:
        return
    book.add(name, query)
    for pair in query.split("&")[:50]:
        key, _, value = pair.partition("=")
        book.add(f"{name}[{key[:80]}]", decode(value, plus=True))


def decode(text: str, *, plus: bool = False) -> str:
    """Resolve percent-encoding; text that is not UTF-8 stays as it is.

    Args:
        text: Part of a URL.
        plus: Whether a plus sign is a space.
    """
    try:
        return (unquote_plus if plus else unquote)(text, errors="strict")
    except UnicodeDecodeError:
        return text


def html_values(text: str) -> dict[str, tuple[str, ...]]:
    """Return the values of a decoded page: its attributes, and the data in its scripts.

    An element is named by its tag and its `id`, `name`, `property`, `itemprop` or `rel`. JSON in a
    script of a JSON type has the path of its keys, `[]` for the items of an array; in other scripts
    each string or number that is assigned to a name (`itemId: "5"`, `var itemId = 5`) has that.
    """
    book = _Book()
    script: dict[str, str] | None = None
    for token in tokenize(text):
        if token.type is TokenType.START_TAG:
            attrs = {name: value or "" for name, value in token.attrs or ()}
            script = attrs if token.tag == "script" else None
            _add_attributes(book, token, attrs)
        elif token.type is TokenType.TEXT and script is not None:
            _add_script(book, script, token.data or "")
            script = None
    return book.values()


def _add_attributes(book: _Book, token: Token, attrs: Mapping[str, str]) -> None:
    tag = token.tag or ""
    key = next((f"[{name}={attrs[name][:80]}]" for name in _KEYS if attrs.get(name)), "")
    for name, value in attrs.items():
        if name in _FOR_STYLE or name.startswith("on") or not value:
            continue
        book.add(f"{tag}{key}@{name}", value)
        if name.startswith("data-") and key:  # an id that differs from page to page names nothing
            book.add(f"{tag}@{name}", value)


def _add_script(book: _Book, attrs: Mapping[str, str], text: str) -> None:
    kind = attrs.get("type", "").partition(";")[0].strip().lower()
    name = f"script#{attrs['id'][:80]}" if attrs.get("id") else "script"
    if kind in _JSON_TYPES or kind.endswith("+json"):
        _add_json(book, name, text)
        return
    for match in _pairs(text):
        book.add(f"script.{match[1]}", match[2] or match[3] or match[4] or "")


def _pairs(text: str) -> Iterator[re.Match[str]]:
    matches = _ASSIGNED.finditer(text[:_MAX_JSON])
    return (match for match, _ in zip(matches, range(_MAX_PAIRS), strict=False))


def json_values(name: str, text: str) -> dict[str, tuple[str, ...]]:
    """Return the strings and numbers of a JSON text by the path of their keys.

    Args:
        name: Beginning of the names.
        text: The JSON; {} for another text.
    """
    book = _Book()
    _add_json(book, name, text)
    return book.values()


def _add_json(book: _Book, name: str, text: str) -> None:
    if len(text) > _MAX_JSON:
        return
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return
    pending: list[tuple[str, object, int]] = [(name, data, 0)]
    steps = 0
    while pending and steps < 100 * MAX_SOURCES:
        path, value, depth = pending.pop()
        steps += 1
        if isinstance(value, str):
            book.add(path, value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            book.add(path, str(value))
        elif depth < _MAX_DEPTH:
            pending += [(step, inner, depth + 1) for step, inner in _inner(path, value)]


def _inner(path: str, value: object) -> Sequence[tuple[str, object]]:
    if isinstance(value, Mapping):
        pairs = [(f"{path}.{str(key)[:80]}", inner) for key, inner in value.items()]
    elif isinstance(value, list):
        pairs = [(f"{path}[]", inner) for inner in value[:MAX_PER_SOURCE]]
    else:
        return ()
    return pairs[::-1]
