"""Bytes to characters by the tables of the Encoding Standard.

Python's codecs of the same names have other tables: no extensions of NEC and IBM in EUC-JP, other
signs in Big5, gb18030 as it was before 2022. turbohtml brings the standard's, which browsers share,
as codecs that only read, and does so in a third of the time.
"""

import codecs
from functools import cache

_UNICODE = ("utf-8", "utf-16-le", "utf-16-be")
"""Python reads these as the standard says."""
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
"""The standard's names where Python's are no labels of the standard."""


@cache
def reader_of(codec: str) -> str:
    """The codec that reads what a browser reads where Python has `codec`.

    Args:
        codec: Python's name, as `wire.labels` gives it; any other is its own reader.

    Returns:
        A name for `bytes.decode`. With it nothing fails: what is broken becomes U+FFFD. It encodes
        nothing.
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
