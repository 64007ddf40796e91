"""URLs for people: escapes as the letters that they encode, and letters as escapes.

A URL does not declare the encoding of its escapes. They are decoded as UTF-8 if that fits, else by
the charset of their page, else by a guess from their letters.
"""

import codecs
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import quote, unquote_to_bytes

from nacre.errors import URIError
from nacre.uri.parse import parse
from nacre.uri.query import encode_query, encoder_of, query_codec
from nacre.wire.guess import Hints, codec_of, guess, is_mixed, top_level

ENCODINGS = (
    *("gbk", "big5hkscs", "cp932", "euc_jp", "cp949", "cp1251", "koi8-r", "cp1252", "cp1250"),
    *("iso8859-2", "cp1253", "cp1254", "cp1256", "cp874"),
)
"""What non-ASCII of a URL may be written in beside UTF-8, the commonest first."""

_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_HIGH = re.compile(r"%[89A-Fa-f][0-9A-Fa-f]")
_PARTS = re.compile(r"([/?&=;+]+)")
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
_COMMONEST = "gbk"
_BY_COUNTRY = {
    "kr": "cp949",
    **dict.fromkeys(("cn", "xn--fiqs8s", "xn--fiqz9s"), "gbk"),
    **dict.fromkeys(("tw", "hk", "mo"), "big5hkscs"),
}
"""What a few letters are taken for, by top-level domain. In that of no country they are taken for
GBK: of four characters in it, 91 of 100 are then read as written, and 57 else."""
_COUNTRY = 2
_IDEOGRAPHS = "\u2e80"
"""From here on letters look like no letter of another alphabet, so that a name can be shown."""
_ONE = re.compile(rb"[\x00-\x7f]*(?<![A-Za-z])([\xb0-\xd7][\xa1-\xfe])(?![A-Za-z])[\x00-\x7f]*")
"""One character of the first level of GB 2312 beside no ASCII letter: two bytes are too few for a
guess. That level has nearly all that is written, and the small letters of Latin-1 and windows-1251
are not in it."""
_WRITTEN = re.compile("[\u00a0-\u017f\u01a0-\u01b0\u0370-\u045f\u0490\u0491\u0531-\u05ea]")
"""Letters and signs of two bytes in UTF-8 that are written today. Others, such as those of Old
Slavonic, are a Chinese character by chance."""
_LONGEST = 4096
_LONGEST_LABEL = 63


def readable_url(url: str, charset: str = "") -> str:
    """Return a URL with its escapes as letters, to be read and typed, not to be requested.

    Characters that would change the meaning of the URL stay escaped (`%2F`, `%26`), and those that
    cannot be seen or reorders a line: blanks, control characters, marks of direction. Names of
    hosts in Chinese, Japanese and Korean letters are shown in these.

    Args:
        url: A normalised URL; other text is made safe to show.
        charset: The codec or label of the page that it is on; "" when that is not known.
    """
    if url.isascii() and "%" not in url and "xn--" not in url:
        return _escape_unseen(url)
    scheme, mark, after = url.partition("://")
    if not mark:
        return "".join(_letters_of_parts(url, url, charset))
    cut = min((at for sign in "/?#" if (at := after.find(sign)) >= 0), default=len(after))
    name, path = after[:cut], after[cut:]
    return (
        _escape_unseen(scheme) + mark + _host(name) + "".join(_letters_of_parts(path, url, charset))
    )


def letters_of_host(name: str) -> str:
    """Return the name of a host in its letters, to be shown beside the name itself.

    Alone, `readable_url` shows fewer of them: letters of some scripts look like others.

    Args:
        name: A normalised name; one without `xn--` is returned as it is.
    """
    if "xn--" not in name:
        return name
    text = ".".join(_decoded_label(label) for label in name.split("."))
    try:
        return text if parse(f"http://{text}/") == f"http://{name}/" else name
    except URIError:
        return name


def _decoded_label(label: str) -> str:
    """A label without its Punycode, if it has only letters, digits, hyphens and their marks."""
    if not label.startswith("xn--") or len(label) > _LONGEST_LABEL:
        return label
    try:
        text = label[4:].encode("ascii").decode("punycode")
    except (UnicodeError, ValueError):
        return label
    is_clear = all(char.isalnum() or char == "-" or _is_mark(char) for char in text)
    return text if is_clear else label


def letters(part: str, url: str = "", charset: str = "") -> str:
    """One segment of a path, or one name or value of a query, with its escapes as letters.

    Args:
        part: As in the URL.
        url: The URL, for its top-level domain.
        charset: As in `readable_url`.
    """
    if "%" not in part and part.isascii():
        return _escape_unseen(part)
    top = url[: url.find("/", 8) + 1] if url.startswith("http") else ""
    return _letters(part[:_LONGEST], top, charset) + _escape_unseen(part[_LONGEST:])


def spellings(url: str) -> Iterator[str]:
    """Other URLs that look the same to people: their letters in other encodings, the first first.

    Args:
        url: A normalised URL, from typed text.

    Yields:
        Each once, without `url` itself; nothing if it is all ASCII.
    """
    if not _HIGH.search(url):
        return
    yielded = {url}
    head, path, query = _split(url)
    part_letters = _letters_of_parts(path, url, ""), _letters_of_parts(query, url, "")
    texts = ["".join(letters) for letters in part_letters]
    for codec in ("utf-8", *ENCODINGS):
        for in_path in dict.fromkeys(("utf-8", codec)):
            for lower in (False, True):
                spelling = head + _escape(texts[0], in_path) + _query(texts[1], codec)
                spelling = (
                    _ESCAPE.sub(lambda letters: letters[0].lower(), spelling) if lower else spelling
                )
                if spelling not in yielded:
                    yielded.add(spelling)
                    yield spelling


def possible_urls(text: str) -> list[str]:
    """Return the URLs that a typed text may mean, the likeliest first, each once.

    As it is, as a browser would request it, and with its letters in other encodings. A text that is
    no URL only means itself.
    """
    try:
        url = parse(text)
    except URIError:
        return [text]
    return list(dict.fromkeys((text, url, *spellings(url))))


def _split(url: str) -> tuple[str, str, str]:
    """Scheme and authority, path, and query with its question mark."""
    before_query, mark, query = url.partition("?")
    cut = before_query.find("/", before_query.find("://") + 3)
    cut = len(before_query) if cut < 0 else cut
    return before_query[:cut], before_query[cut:], mark + query


def _query(text: str, codec: str) -> str:
    """Encode a query as a browser does; characters missing in the codec stay in UTF-8."""
    if not text:
        return ""
    codec_name = query_codec(codec)
    return "?" + encode_query(text[1:], codec_name) if codec_name else _escape(text, "utf-8")


def _escape(text: str, codec: str) -> str:
    if codec == "utf-8":
        return "".join(char if char.isascii() else quote(char, safe="") for char in text)
    encoder = encoder_of(codec)
    pieces = []
    for char in text:
        encoded = None if char.isascii() else encoder(char)
        if encoded is None:
            pieces.append(char if char.isascii() else quote(char, safe=""))
        else:
            pieces.append("".join(chr(b) if b in _PLAIN else f"%{b:02X}" for b in encoded))
    return "".join(pieces)


def _letters_of_parts(text: str, url: str, charset: str) -> list[str]:
    """Return each part by itself: a URL may hold parts in several encodings."""
    return [
        part if at % 2 else letters(part, url, charset)
        for at, part in enumerate(_PARTS.split(text))
    ]


@lru_cache(maxsize=16_384)
def _letters(part: str, top: str, charset: str) -> str:
    if not _HIGH.search(part):
        return _ESCAPE.sub(_plain, _escape_unseen(part))
    raw = unquote_to_bytes(part)
    name = top_level(top)
    stated = codec_of(charset) or charset
    expected = stated or _BY_COUNTRY.get(name, "")
    codec, _ = guess(raw, top, Hints(host=expected))
    if stated and codec != "utf-8" and _fits(raw, stated):
        codec = stated
    elif (expected == _COMMONEST or (not expected and len(name) != _COUNTRY)) and (
        _is_one(raw, is_expected=bool(expected))
    ):
        codec = _COMMONEST
    elif not expected and len(name) != _COUNTRY and (codec != "utf-8" or is_mixed(raw)):
        codec, _ = guess(raw, top, Hints(host=_COMMONEST))
    return "".join(_decode(part, codec))


def _is_one(raw: bytes, *, is_expected: bool) -> bool:
    """True for one Chinese character in GBK; where that is not expected, if it is no other."""
    match = _ONE.fullmatch(raw)
    if match is None or not _fits(match[1], "gb2312"):
        return False
    char = match[1].decode("utf-8", "replace")
    return is_expected or not (_WRITTEN.fullmatch(char) and is_shown(char))


def _fits(raw: bytes, codec: str) -> bool:
    try:
        return "\ufffd" not in raw.decode(codec)
    except (ValueError, LookupError):
        return False


def _plain(escape: re.Match[str]) -> str:
    byte = int(escape[0][1:], 16)
    return chr(byte) if byte in _PLAIN else escape[0]


def _decode(part: str, codec: str) -> Iterator[str]:
    """Yield each character with its escaped form, which is used if the character is not shown.

    The second byte of a character may be an ASCII letter, escaped or not.
    """
    try:
        decoder = codecs.getincrementaldecoder(codec)("strict")
    except LookupError:
        decoder = codecs.getincrementaldecoder("utf-8")("strict")
    pending, before = "", ""
    for written in _units(part):
        pending += written
        try:
            char = decoder.decode(_byte_of(written))
        except UnicodeDecodeError:
            decoder.reset()
            yield _escape_invisible(pending)
            pending = before = ""
            continue
        if char:
            text = pending if len(char) > 1 else _sign(char, pending, before)
            yield text
            pending, before = "", char if text == char else ""
    yield _escape_invisible(pending)


def _units(part: str) -> Iterator[str]:
    at = 0
    while at < len(part):
        size = 3 if _ESCAPE.match(part, at) else 1
        yield part[at : at + size]
        at += size


def _byte_of(written: str) -> bytes:
    return (
        bytes((int(written[1:], 16),)) if len(written) == 3 else written.encode("utf-8", "replace")
    )


def _sign(char: str, written: str, before: str) -> str:
    """Return a character, or how it is written where showing it would mislead."""
    if char.isascii() and len(written) > 1:
        return char if ord(char) in _PLAIN else written
    return char if is_shown(char, before) else _escape_invisible(written)


def is_shown(char: str, before: str = "") -> bool:
    """Return whether a character is visible: a mark needs a preceding letter."""
    if not char.isprintable() or char.isspace():
        return False
    return not _is_mark(char) or before.isalpha() or (bool(before) and _is_mark(before))


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M"


def _escape_invisible(written: str) -> str:
    return "".join(char if "!" <= char <= "~" else _hex(char) for char in written)


def _hex(char: str) -> str:
    return quote(char.encode("utf-8", "replace"), safe="")


def _escape_unseen(text: str) -> str:
    """Escape the invisible characters of a text."""
    if text.isascii() and text.isprintable() and " " not in text:
        return text
    before, pieces = "", []
    for char in text:
        visible = char if is_shown(char, before) else _hex(char)
        pieces.append(visible)
        before = char if visible == char else ""
    return "".join(pieces)


def _host(authority: str) -> str:
    if "xn--" not in authority:
        return _escape_unseen(authority)
    return ".".join(_label(label) for label in _escape_unseen(authority).split("."))


def _label(label: str) -> str:
    """A label of a host in letters; in its own spelling where these could be taken for others."""
    name, colon, port = label.partition(":")
    if not name.startswith("xn--") or len(name) > _LONGEST_LABEL:
        return label
    try:
        text = name[4:].encode("ascii").decode("punycode")
    except (UnicodeError, ValueError):
        return label
    clear = all(char.isascii() or (char >= _IDEOGRAPHS and char.isalnum()) for char in text)
    return text + colon + port if clear and not text.isascii() else label
