"""Non-ASCII in a query, in the encoding of the document.

A browser writes the query of a link in a GBK page in GBK. What the encoding cannot express becomes
an escaped character reference, `%26%23NNNN%3B`. Python's codecs would write other bytes: HKSCS in
Big5, JIS X 0212 in EUC-JP, private characters in gb18030. Each encoder takes one character beyond
ASCII and gives its bytes, None if the encoding has none; its table is got by reading all that
can be written. Sources: URL Standard, "percent-encode after encoding"; WHATWG Encoding Standard,
sections 9 to 13.
"""

import codecs
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import chain

_UNICODE = ("utf-8", "utf-16-le", "utf-16-be")
"""Python decodes these as the standard does."""
_NAMES = {
    "big5hkscs": "big5",
    "cp874": "windows-874",
    "cp932": "shift_jis",
    "cp949": "euc-kr",
    "iso2022_jp": "iso-2022-jp",
    "iso8859-16": "iso-8859-16",
    "mac-cyrillic": "x-mac-cyrillic",
    "mac-roman": "macintosh",
}
"""The standard's names where Python's are not labels of the standard."""


@cache
def reader_of(codec: str) -> str:
    """Return the codec that decodes as a browser, for a codec of Python.

    Args:
        codec: Python's name, as `wire.labels` gives it; any other is its own reader.

    Returns:
        A name for `bytes.decode`. Decoding never fails: invalid bytes become U+FFFD. It cannot
        encode.
    """
    if codec in _UNICODE:
        return codec
    import turbohtml.detect  # noqa: F401, PLC0415 - registers the codecs; slow, and rarely needed

    name = "whatwg-" + _NAMES.get(codec, codec)
    try:
        codecs.lookup(name)
    except (LookupError, ValueError):
        return codec
    return name


Encoder = Callable[[str], bytes | None]

_JIS_ROWS = 94 * 94
_JIS_SELECTED_BY_NEC = 8272
"""Pointers from here to the end of the rows: Shift_JIS writes these as IBM's extensions."""
_JIS_BY_IBM = range(10716, 11104)
_BIG5 = range(5024, 19782)
"""Pointers from lead byte A1 on: the lower ones, HKSCS, are decoded but not encoded."""
_SINGLE_BYTE = ("cp125", "cp866", "cp874", "iso8859-", "koi8-", "mac-")
"""How the names of these codecs begin."""
_GB18030 = range(126 * 190)
_BROKEN = "\ufffd"
_BIG5_LAST = "\u2550\u255e\u2561\u256a\u5341\u5345"
"""Of these Big5 has two, and the last counts."""
_JIS_ASCII = {"\xa5": b"\\", "\u203e": b"~"}
_HALF_WIDTH = (
    "\u3002\u300c\u300d\u3001\u30fb\u30f2\u30a1\u30a3\u30a5\u30a7\u30a9\u30e3\u30e5\u30e7\u30c3\u30fc"
    "\u30a2\u30a4\u30a6\u30a8\u30aa\u30ab\u30ad\u30af\u30b1\u30b3\u30b5\u30b7\u30b9\u30bb\u30bd\u30bf"
    "\u30c1\u30c4\u30c6\u30c8\u30ca\u30cb\u30cc\u30cd\u30ce\u30cf\u30d2\u30d5\u30d8\u30db\u30de\u30df"
    "\u30e0\u30e1\u30e2\u30e4\u30e6\u30e8\u30e9\u30ea\u30eb\u30ec\u30ed\u30ef\u30f3\u309b\u309c"
)
"""What ISO-2022-JP writes for U+FF61 to U+FF9F."""


def _sjis_bytes(pointer: int) -> bytes:
    lead, trail = divmod(pointer, 188)
    return bytes((lead + (0x81 if lead < 0x1F else 0xC1), trail + (0x40 if trail < 0x3F else 0x41)))


def _big5_bytes(pointer: int) -> bytes:
    lead, trail = divmod(pointer, 157)
    return bytes((lead + 0x81, trail + (0x40 if trail < 0x3F else 0x62)))


def _gb_bytes(pointer: int) -> bytes:
    lead, trail = divmod(pointer, 190)
    return bytes((lead + 0x81, trail + (0x40 if trail < 0x3F else 0x41)))


def _index(pointers: Iterable[int], write: Callable[[int], bytes], codec: str) -> dict[str, int]:
    """Return the first pointer of each character."""
    reader = reader_of(codec)
    pointers_by_char: dict[str, int] = {}
    for pointer in pointers:
        char = write(pointer).decode(reader, "replace")
        if len(char) == 1 and char != _BROKEN:
            pointers_by_char.setdefault(char, pointer)
    return pointers_by_char


@cache
def _jis0208() -> dict[str, int]:
    return _index(range(_JIS_ROWS), _sjis_bytes, "cp932")


@cache
def _shift_jis_index() -> dict[str, int]:
    return _index(chain(range(_JIS_SELECTED_BY_NEC), _JIS_BY_IBM), _sjis_bytes, "cp932")


@cache
def _big5_index() -> dict[str, int]:
    first = _index(_BIG5, _big5_bytes, "big5hkscs")
    last = _index(reversed(_BIG5), _big5_bytes, "big5hkscs")
    return first | {char: last[char] for char in _BIG5_LAST}


@cache
def _gb18030_index() -> dict[str, int]:
    return _index(_GB18030, _gb_bytes, "gb18030")


@cache
def _single_bytes(codec: str) -> dict[str, int]:
    return _index(range(0x80, 0x100), lambda byte: bytes((byte,)), codec)


def _jis_char(char: str) -> str:
    return "\uff0d" if char == "\u2212" else char


def _is_half_width(char: str) -> bool:
    return "\uff61" <= char <= "\uff9f"


def shift_jis(char: str) -> bytes | None:
    """Shift_JIS, as Windows has it."""
    if char == "\x80" or char in _JIS_ASCII:
        return _JIS_ASCII.get(char, b"\x80")
    if _is_half_width(char):
        return bytes((ord(char) - 0xFF61 + 0xA1,))
    pointer = _shift_jis_index().get(_jis_char(char))
    return None if pointer is None else _sjis_bytes(pointer)


def euc_jp(char: str) -> bytes | None:
    """EUC-JP, without JIS X 0212, which is only read."""
    if char in _JIS_ASCII:
        return _JIS_ASCII[char]
    if _is_half_width(char):
        return bytes((0x8E, ord(char) - 0xFF61 + 0xA1))
    pointer = _jis0208().get(_jis_char(char))
    return None if pointer is None else bytes((pointer // 94 + 0xA1, pointer % 94 + 0xA1))


def big5(char: str) -> bytes | None:
    """Big5 with the extensions of ETEN, without HKSCS."""
    pointer = _big5_index().get(char)
    return None if pointer is None else _big5_bytes(pointer)


def gb18030(char: str) -> bytes | None:
    """gb18030; it has every character but a private one and lone surrogates."""
    if char == "\ue5e5" or "\ud800" <= char <= "\udfff":
        return None
    if char == "\ue7c7":
        return b"\x81\x35\xf4\x37"
    pointer = _gb18030_index().get(char)
    return char.encode("gb18030") if pointer is None else _gb_bytes(pointer)


def gbk(char: str) -> bytes | None:
    """GBK: the characters of one or two bytes, and the euro sign in one."""
    if char == "\u20ac":
        return b"\x80"
    encoded = gb18030(char)
    return encoded if encoded is None or len(encoded) < 4 else None


def _single_byte(codec: str, char: str) -> bytes | None:
    """Return the encodings of one byte for each character."""
    byte = _single_bytes(codec).get(char)
    return None if byte is None else bytes((byte,))


def _by_codec(codec: str, char: str) -> bytes | None:
    """EUC-KR, which Python encodes as browsers do, and encodings outside the standard."""
    return char.encode(codec, "ignore") or None


_DOUBLE_BYTE: dict[str, Encoder] = {
    "cp932": shift_jis,
    "euc_jp": euc_jp,
    "big5hkscs": big5,
    "gb18030": gb18030,
    "gbk": gbk,
}


@cache
def encoder_of(codec: str) -> Encoder:
    """Return the encoder in the place of Python's codec of that name."""
    if encoder := _DOUBLE_BYTE.get(codec):
        return encoder
    return partial(_single_byte if codec.startswith(_SINGLE_BYTE) else _by_codec, codec)


_ASCII, _ROMAN, _DOUBLE = b"\x1b(B", b"\x1b(J", b"\x1b$B"


def iso2022_jp(text: str, missing: Callable[[str], bytes]) -> bytes:
    """ISO-2022-JP, which shifts between sets.

    Args:
        text: Any, without the shifts themselves.
        missing: What is written for a character that it does not have.
    """
    parts: list[bytes] = []
    state = _ASCII
    for char in text:
        shift, piece = _shift(char, state, missing)
        if shift != state:
            parts.append(shift)
            state = shift
        parts.append(piece)
    if state != _ASCII:
        parts.append(_ASCII)
    return b"".join(parts)


def _shift(char: str, state: bytes, missing: Callable[[str], bytes]) -> tuple[bytes, bytes]:
    """Return the set that a character is in, and its bytes there."""
    if char.isascii():
        keeps = state == _ROMAN and char not in "\\~"
        return _ROMAN if keeps else _ASCII, char.encode("ascii")
    if char in _JIS_ASCII:
        return _ROMAN, _JIS_ASCII[char]
    if _is_half_width(char):
        char = _HALF_WIDTH[ord(char) - 0xFF61]
    pointer = _jis0208().get(_jis_char(char))
    if pointer is None:
        return _ASCII if state == _DOUBLE else state, missing(char)
    return _DOUBLE, bytes((pointer // 94 + 0x21, pointer % 94 + 0x21))


_ESCAPED = frozenset(b" \"#<>'") | frozenset(range(0x20)) | frozenset(range(0x7F, 0x100))
_DROPPED = frozenset(b"\t\n\r")


def _text(byte: int) -> str:
    if byte in _DROPPED:
        return ""
    return f"%{byte:02X}" if byte in _ESCAPED else chr(byte)


_TEXT = tuple(map(_text, range(256)))
# Control characters that would shift the encoder of ISO-2022-JP by hand.
_SHIFTS = str.maketrans("\x0e\x0f\x1b", "\ufffd\ufffd\ufffd")
# Of these the output encoding is UTF-8 (Encoding Standard, 4.3).
_AS_UTF8 = ("utf-8", "utf8", "utf-16", "utf-16-le", "utf-16-be", "hz", "iso2022_kr")


def query_codec(encoding: str) -> str:
    """Return the Python codec for queries of a document; "" for UTF-8, also if browsers use it."""
    try:
        name = codecs.lookup(encoding).name
        "x".encode(name)
    except (LookupError, ValueError, UnicodeError):
        return ""
    return "" if name in _AS_UTF8 else name


def needs_encoding(text: str, codec: str) -> bool:
    """Return whether the query of a link is not the same in UTF-8 and in the codec."""
    return bool(codec) and "?" in text and (not text.isascii() or codec.startswith("iso2022"))


def encode_query(query: str, codec: str) -> str:
    """Percent-encode a query without its `?` in a codec; existing escapes stay.

    Args:
        query: The query as written in the document.
        codec: As `query_codec` gave it, not "".
    """
    return "".join([_TEXT[byte] for byte in _encode(query, codec)])


def _encode(query: str, codec: str) -> bytes:
    if codec == "iso2022_jp":
        return iso2022_jp(query.translate(_SHIFTS), _reference)
    encoder = encoder_of(codec)
    return b"".join([_character(char, encoder) for char in query])


def _character(char: str, encoder: Encoder) -> bytes:
    if char.isascii():
        return char.encode("ascii")
    encoded = encoder(char)
    return _reference(char) if encoded is None else encoded


def _reference(char: str) -> bytes:
    """Return the replacement of a character that the encoding does not have."""
    return b"%%26%%23%d%%3B" % ord(char)
