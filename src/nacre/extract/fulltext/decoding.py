"""The characters of a document for an index, also where the encoding that it declares is wrong.

Links are decoded as browsers do, by the declaration. For words of an index the bytes count more
than the declaration: unreadable words are useless there.
"""

import re

from nacre.extract.document import Document
from nacre.wire.charset import decode, detect

_FAR = re.compile(rb"[\x80-\xff]")
_SURE = 6
"""Non-ASCII characters that suffice to detect an encoding."""
_HAN = re.compile("[\u4e00-\u9fff]")
_OTHER = re.compile("[^\x00-\x7f]")


def document_text(document: Document) -> str:
    """Return the text of a document: in UTF-8 or GB 18030 where its bytes are, else as it declares.

    Args:
        document: The document.
    """
    body = document.body
    charset, _ = detect(body, document.charset_header, document.url, document.hints)
    text = decode(body, charset)
    if _FAR.search(body) is not None:
        decoded = _in_chinese(body) if "\ufffd" in text else None
        if charset.replace("_", "-").lower() not in {"utf-8", "utf-8-sig"}:
            decoded = _in_utf_8(body) or decoded
        text = decoded or text
    return text.replace("\0", " ")


def _in_utf_8(body: bytes) -> str | None:
    """Return the text, where the bytes are UTF-8: those of other encodings are so by no chance."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if len(_OTHER.findall(text)) >= _SURE else None


def _in_chinese(body: bytes) -> str | None:
    """Return the text, where the bytes are GB 18030 without an error, and most of them Chinese."""
    try:
        text = body.decode("gb18030")
    except UnicodeDecodeError:
        return None
    far = len(_OTHER.findall(text))
    return text if far >= _SURE and 2 * len(_HAN.findall(text)) > far else None
