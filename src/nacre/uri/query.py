"""Non-ASCII in a query, in the encoding of the document.

A browser writes the query of a link in a GBK page in GBK. What the encoding cannot express becomes
an escaped character reference, `%26%23NNNN%3B`. Source: URL Standard, "percent-encode after
encoding".
"""

import codecs

_ESCAPED = frozenset(b" \"#<>'") | frozenset(range(0x20)) | frozenset(range(0x7F, 0x100))
_DROPPED = frozenset(b"\t\n\r")


def _text(byte: int) -> str:
    if byte in _DROPPED:
        return ""
    return f"%{byte:02X}" if byte in _ESCAPED else chr(byte)


_TEXT = tuple(map(_text, range(256)))
# Control characters that would shift the encoder of ISO-2022-JP by hand.
_SHIFTS = str.maketrans("\x0e\x0f\x1b", "\ufffd\ufffd\ufffd")
_UNICODE = ("utf-8", "utf8", "utf-16", "utf-16-le", "utf-16-be")


def _reference(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    if error.encoding == "gbk" and error.object[error.start] == "€":
        return "%80", error.start + 1  # as in a browser; Python's codec lacks it
    missing = error.object[error.start : error.end]
    return "".join(f"%26%23{ord(char)}%3B" for char in missing), error.end


codecs.register_error("nacre.query", _reference)


def query_codec(encoding: str) -> str:
    """The Python codec for queries of a document; "" for UTF-8, UTF-16 and unknown names."""
    try:
        name = codecs.lookup(encoding).name
        "x".encode(name)
    except (LookupError, ValueError, UnicodeError):
        return ""
    return "" if name in _UNICODE else name


def needs_encoding(text: str, codec: str) -> bool:
    """True when the query of a link is not the same in UTF-8 and in the codec."""
    return bool(codec) and "?" in text and (not text.isascii() or codec.startswith("iso2022"))


def encode_query(query: str, codec: str) -> str:
    """Percent-encode a query, given without its `?`, in a codec; what is escaped already stays.

    Args:
        query: The query as written in the document.
        codec: As `query_codec` gave it, not "".
    """
    if codec.startswith("iso2022"):
        query = query.translate(_SHIFTS)
    return "".join([_TEXT[byte] for byte in query.encode(codec, "nacre.query")])
