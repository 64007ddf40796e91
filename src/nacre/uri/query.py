"""Non-ASCII in a query, in the encoding of the document.

A browser writes the query of a link in a GBK page in GBK. What the encoding cannot express becomes
an escaped character reference, `%26%23NNNN%3B`. Source: URL Standard, "percent-encode after
encoding".
"""

import codecs

from nacre.uri.encoders import Encoder, encoder_of, iso2022_jp

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
    """The Python codec for queries of a document; "" for UTF-8 and what browsers write so."""
    try:
        name = codecs.lookup(encoding).name
        "x".encode(name)
    except (LookupError, ValueError, UnicodeError):
        return ""
    return "" if name in _AS_UTF8 else name


def needs_encoding(text: str, codec: str) -> bool:
    """True when the query of a link is not the same in UTF-8 and in the codec."""
    return bool(codec) and "?" in text and (not text.isascii() or codec.startswith("iso2022"))


def encode_query(query: str, codec: str) -> str:
    """Percent-encode a query, given without its `?`, in a codec; what is escaped already stays.

    Args:
        query: The query as written in the document.
        codec: As `query_codec` gave it, not "".
    """
    return "".join([_TEXT[byte] for byte in _encoded(query, codec)])


def _encoded(query: str, codec: str) -> bytes:
    if codec == "iso2022_jp":
        return iso2022_jp(query.translate(_SHIFTS), _reference)
    encoder = encoder_of(codec)
    return b"".join([_character(char, encoder) for char in query])


def _character(char: str, encoder: Encoder) -> bytes:
    if char.isascii():
        return char.encode("ascii")
    found = encoder(char)
    return _reference(char) if found is None else found


def _reference(char: str) -> bytes:
    """What stands for a character that the encoding does not have."""
    return b"%%26%%23%d%%3B" % ord(char)
