"""The words of a URL, which distinguish it from others of its site (pure)."""

import re
from urllib.parse import unquote_to_bytes

LONGEST_URL = 2_000
"""Letters of a URL that are looked at."""

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
_ONE_WORD = re.compile(r"[A-Za-z0-9._~-]+")


def words_of(url: str) -> list[bytes]:
    """The words of a URL; what is a session is none.

    Short ones and numbers are together with what they are of: `/item/5` has the words `item` and
    `item=5`.
    """
    at = url.find("/", 8)
    rest = url[at : at + LONGEST_URL] if at > 0 else ""
    found = _words(_plain(without_session(rest)))
    return [word.encode("utf-8", "replace") for word in found]


def last_word(url: str) -> tuple[str, bytes] | None:
    """The URL up to its last word, and that word, found at once.

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
    return url[:at], word.encode()


def without_session(url: str) -> str:
    """A URL without what names a session."""
    return _SESSION.sub("", url) if "?" in url or ";" in url or "/(" in url else url


def _is_short(word: str) -> bool:
    return (len(word) <= _SHORT and word.isascii()) or not word.strip(_DIGITS_AND_DOTS)


def _words(rest: str) -> list[str]:
    path, _, query = rest.partition("?")
    found: list[str] = []
    _add_words(found, path, "")
    if query:
        for pair in SEPARATOR.split(query):
            name, _, value = pair.partition("=")
            found.append("?" + name)
            _add_words(found, value, name)
    return found


def _add_words(found: list[str], text: str, before: str) -> None:
    for word in _WORDS.split(text):
        if word:
            found.append(f"{before}={word}" if _is_short(word) else word)
            before = word


def _plain(text: str) -> str:
    return unquote_to_bytes(text).decode("latin-1") if "%" in text else text
