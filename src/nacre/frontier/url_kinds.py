"""The words and the kind of a URL, which distinguish it from others of its site (pure).

A kind is written like `wiki/Category:{}` or `list/?page={number}`.
"""

import re
from hashlib import blake2b
from urllib.parse import unquote_to_bytes
from zlib import crc32

import msgspec

from nacre.core.urlshape import shaped

ANY = "/?…"
"""Behind the path in the name of all its views."""

_NAMES = 200
_VALUES = 40
_COUNTED = re.compile(r"(?:\{(?:number|int|year|month|date|day|unix|unixms)\}[-_.:T]?)+")
_EXTENSION = re.compile(r"\.[A-Za-z]{1,5}\Z")
_SPACES = ("_", " ", "+", "%20")
_ROOT = 3
"""Slashes of the URL of a host's home page."""
_DIGIT = re.compile(r"(%[0-9A-Fa-f]{2})|[1-9]")
_ZEROS = str.maketrans("123456789", "0" * 9)

LONGEST_URL = 2_000
"""Letters of a URL that are used."""
LETTERS = 150
"""Letters of the name of a row, beyond which so many more count as another entry."""
_LONGEST_KEY = 200
"""Letters of the longest text in memory that only distinguishes URLs; longer texts are digests."""

SEPARATOR = re.compile(r"[;&]+")
"""The separator of the parameters of a query."""

_WORDS = re.compile(r"[/;=:|+,]+")
_SHORT = 2
_DIGITS_AND_DOTS = "0123456789._-"
_SESSION_LENGTH = 12
_SHORTEST = 8
"""Letters of `https://`."""

_SESSION = re.compile(
    r"/\((?:[A-Z]\([^()/]*\))+\)(?=/)"
    r"|;jsessionid=[^/?&#]*"
    r"|(?<=[?&;])(?:phpsessid|jsessionid|aspsessionid\w*|sessionid|session_id|sid|sess|cfid"
    rf"|cftoken|oscsid|zenid|s)=[0-9a-zA-Z_.,-]{{{_SESSION_LENGTH},}}",
    re.IGNORECASE,
)
_TURNS = re.compile(r"[0-9][A-Za-z]+[0-9]")
_CONSONANTS = re.compile(r"(?i)[b-df-hj-np-tv-xz]{5}")
_LONGEST_CODE = 200
_DATE_LENGTH = 8
_CODES = 20
_FOLDERS = 300
"""Codes, or names, at a place in a path from which on all that is there is of one kind."""
_ONE_WORD = re.compile(r"[A-Za-z0-9._~-]+")


def words_of(url: str) -> list[bytes]:
    """Return the words of a URL, without session ids.

    Short words and numbers are joined to the word before: `/item/5` has the words `item` and
    `item=5`.
    """
    at = url.find("/", 8)
    tail = url[at : at + LONGEST_URL] if at > 0 else ""
    words = _words(_plain(without_session(tail)))
    return [word.encode("utf-8", "replace") for word in words]


def last_word(url: str) -> tuple[str, bytes] | None:
    """Return the URL up to its last word, or its digest, and that word, found at once.

    None if it is to be found by `words_of`, whose last it is.
    """
    end = len(url)
    if end > LONGEST_URL:
        return None
    mark = url.find("?")
    if mark < 0:
        if url[-1:] == "/":
            end -= 1
        at = url.rfind("/", 0, end) + 1
        word = url[at:end]
        name = 0
    else:
        name = max(mark, url.rfind("&"), url.rfind(";")) + 1
        at = url.find("=", name) + 1
        word = url[at:]
        if len(word) >= _SESSION_LENGTH or url[name : at - 1].lower() == "jsessionid":
            return None
    if at <= _SHORTEST or _ONE_WORD.fullmatch(word) is None:
        return None
    if len(word) <= _SHORT or (word[0] in _DIGITS_AND_DOTS and not word.strip(_DIGITS_AND_DOTS)):
        name = name or url.rfind("/", _SHORTEST, at - 1) + 1
        before = url[name : at - 1]
        if _ONE_WORD.fullmatch(before) is None:
            return None
        word = f"{before}={word}"
    return _key_of(url[:at]), word.encode()


def is_code(part: str) -> bool:
    """Whether a part of a path looks like a session or a random name: `3f9a12bc`, not `page12`.

    Of letters alone it is one with five consonants in a row (`qxkzvbnt`): nearly half of random
    ones, and few names in any language.
    """
    text = part.replace("-", "").replace("_", "")
    if not (_SHORTEST <= len(text) <= _LONGEST_CODE and text.isascii() and text.isalnum()):
        return False
    if text.isdigit():
        return len(text) > _DATE_LENGTH
    return _TURNS.search(text) is not None or (
        text.isalpha() and _CONSONANTS.search(text) is not None
    )


def has_code(url: str) -> bool:
    """Return whether a part of the path of a URL is a code."""
    path = url[:LONGEST_URL].partition("?")[0]
    return any(map(is_code, path.split("/")[_ROOT:]))


def without_session(url: str) -> str:
    """Return a URL without its session id."""
    return _SESSION.sub("", url) if "?" in url or ";" in url or "/(" in url else url


def _is_short(word: str) -> bool:
    return (len(word) <= _SHORT and word.isascii()) or not word.strip(_DIGITS_AND_DOTS)


def _words(tail: str) -> list[str]:
    path, _, query = tail.partition("?")
    words: list[str] = []
    _add_words(words, path, "")
    if query:
        for pair in SEPARATOR.split(query):
            name, _, value = pair.partition("=")
            words.append("?" + name)
            _add_words(words, value, name)
    return words


def _add_words(words: list[str], text: str, before: str) -> None:
    for word in _WORDS.split(text):
        if word:
            words.append(f"{before}={word}" if _is_short(word) else word)
            before = word


def _plain(text: str) -> str:
    return unquote_to_bytes(text).decode("latin-1") if "%" in text else text


class ValuesRow(msgspec.Struct, array_like=True):
    """The values of a parameter, or of a place in a path; kept in the store.

    Attributes:
        name: The parameter; for a path, the text before the value.
        values: Their CRCs; None when there are too many to distinguish.
    """

    name: str
    values: list[int] | None

    def note(self, value: str, most: int = _VALUES) -> bool:
        """Note a value, one of so many at most; whether it is new."""
        number = crc32(value.encode("utf-8", "replace"))
        if self.values is None or number in self.values:
            return False
        self.values.append(number)
        if len(self.values) > most:
            self.values = None
        return True


class KindNames:
    """Names the kinds of a site's URLs. Its memory is bounded for any site.

    A kind is a URL without its last word, with placeholders for numbers and for parameters with
    many values; if a parameter has few values, they are distinguished.

    Attributes:
        changed: Names whose values changed since this was cleared.
        merged: Names whose values are no longer distinguished: their kinds became one.
    """

    __slots__ = ("_values", "changed", "merged")

    def __init__(self) -> None:
        self._values: dict[str, ValuesRow] = {}
        self.changed: dict[str, ValuesRow] = {}
        self.merged = 0

    def __len__(self) -> int:
        return len(self._values)

    @property
    def entries(self) -> int:
        """Names and values that it holds; a long name counts as several."""
        rows = self._values.values()
        return sum(1 + len(row.name) // LETTERS + len(row.values or ()) for row in rows)

    def recall(self, row: ValuesRow) -> None:
        """Load a stored row."""
        self._values[row.name] = row

    def name(self, url: str, *, learn: bool) -> str:
        """Return the kind of a URL.

        Args:
            url: The URL.
            learn: It was met: its values are noted.
        """
        path, mark, query = without_session(url[:LONGEST_URL]).partition("?")
        if mark:
            path += mark + SEPARATOR.sub("&", query)
        elif path.endswith("/"):
            return self.name(path[:-1], learn=learn) + "/" if path.count("/") > _ROOT else ""
        plain = path.split("/")[_ROOT:]
        path = _DIGIT.sub(_zero, path) if "%" in path else path.translate(_ZEROS)
        parts: list[str] = []
        last = 0
        for part in shaped(path).segments[1:]:
            if part.startswith("?"):
                name, _, value = part.partition("=")
                parts.append(f"{name}={self._value(name, value, learn=learn)}")
            else:
                if parts:
                    parts[last] = self._folder(parts, last, plain[last], learn=learn)
                last = len(parts)
                parts.append(part)
        if parts and not parts[last].startswith("?"):
            parts[last] = self._last(parts, last, learn=learn)
        return "/".join(parts)

    def _folder(self, parts: list[str], place: int, plain: str, *, learn: bool) -> str:
        """Return the name of a folder; a placeholder where there are many, as of sessions.

        A session in the path makes each link of a page one of another folder.
        """
        folder = "/".join(parts[:place])
        for kind, most in (("code", _CODES), ("folder", _FOLDERS)):
            name = f"/{folder}/{kind}/"
            row = self._values.get(name)
            if row is not None and row.values is None:
                return "{}"
            if kind == "code" and not is_code(plain):
                continue
            if row is None:
                if not learn or len(self._values) >= _NAMES:
                    continue
                row = self._values[name] = ValuesRow(name, [])
            if learn and row.note(plain, most):
                self.changed[name] = row
                self.merged += row.values is None
        return parts[place]

    def _last(self, parts: list[str], last: int, *, learn: bool) -> str:
        """Return the last word of a path: before a query it may be a program, otherwise a page.

        The text before a colon is the namespace of a wiki (`Category:Birds`), unless a space
        follows: then it belongs to a title.
        """
        word = parts[last]
        folder = "/" + "/".join(parts[:last])
        if last + 1 < len(parts):
            return self._value(folder, word, learn=learn)
        space, colon, name = word.partition(":")
        if colon and name and not name.startswith(_SPACES):
            return self._value(folder + ":", space, learn=learn) + ":{}"
        match = _EXTENSION.search(word)
        return "{}" + (match[0] if match else "") if word else ""

    def _value(self, name: str, value: str, *, learn: bool) -> str:
        """Return a parameter's value, when it has few of them; else a placeholder."""
        if "{" in value:
            return "{number}" if _COUNTED.fullmatch(value) else "{}"
        row = self._values.get(name)
        if row is None:
            if not learn:
                return value
            if len(self._values) >= _NAMES:
                return "{}"
            row = self._values[name] = ValuesRow(name, [])
        if learn and row.note(value):
            self.changed[name] = row
            self.merged += row.values is None
        return "{}" if row.values is None else value


def counts(name: str) -> bool:
    """Return whether a kind has numbers, which something can count up without end."""
    return _COUNTED.search(name) is not None


def whole_of(name: str) -> str:
    """Name of all views of the path of a kind; "" for a kind without parameters."""
    path, mark, _ = name.partition("/?")
    return path + ANY if mark else ""


def shape_of(url: str) -> str:
    """Return the shape that URLs share which differ in digits, or in the name of the page.

    Those of one shape are of one kind, and this is found sooner.
    """
    if "?" not in url and len(url) <= LONGEST_URL:
        end = len(url) - url.endswith("/")
        at = url.rfind("/", 0, end) + 1
        word, folder = url[at:end], url[:at]
        if word and "%" not in folder and ":" not in word and ";" not in word:
            match = _EXTENSION.search(word)
            shape = f"{folder.translate(_ZEROS)}*{match[0] if match else ''}{url[end:]}"
            return _key_of(shape)
    return _key_of(url.translate(_ZEROS) if "%" not in url else url)


def _key_of(text: str) -> str:
    """Return a text that is only compared: its digest if it is long."""
    if len(text) <= _LONGEST_KEY:
        return text
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _zero(digit: re.Match[str]) -> str:
    return digit[1] or "0"
