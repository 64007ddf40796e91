"""Bytes to text, for documents other than HTML, and URLs within texts and other URLs.

URLs within a URL, in its path or in the values of its query, are those of Heritrix's ExtractorURI.
"""

import re
from urllib.parse import unquote

from nacre.extract.document import Document
from nacre.wire.charset import decode
from nacre.wire.guess import NO_HINTS, Hints, codec_of, guess

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xfe\xff", "utf-16-be"),
    (b"\xff\xfe", "utf-16-le"),
)
_BARE_UTF16 = ((b"<\x00?\x00", "utf-16-le"), (b"\x00<\x00?", "utf-16-be"))
_DECLARED = re.compile(
    rb"""(?:\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([\w.:-]{1,40})["']"""
    rb"""|@charset\s"([\w.:-]{1,40})";)""",
    re.IGNORECASE,
)


def read_text(document: Document) -> str:
    """Return the body as text, in the document's charset, which is found out first; never fails.

    Bytes that do not fit become U+FFFD.
    """
    codec = document.charset or text_charset(document.body, document.charset_header)[0]
    return decode(document.body, codec)


def text_charset(
    body: bytes, label: str | None, url: str = "", hints: Hints = NO_HINTS
) -> tuple[str, str]:
    """In which encoding a text is that is not HTML.

    Byte order mark, then the Content-Type header, then the document's own declaration (XML
    declaration or `@charset`, no `meta`), then a guess by the bytes; UTF-8 for ASCII.

    Args:
        body: The text, content decoded.
        label: `charset` of Content-Type; None when absent.
        url: URL of the document; "" if unknown.
        hints: Other facts about the document.

    Returns:
        A codec, and where it comes from, as `wire.charset.detect`; `default` for ASCII.
    """
    if codec := _codec_of_mark(body):
        return codec, "bom"
    if codec := _codec_of_label(label):
        return codec, "header"
    if codec := _codec_declared(body):
        return codec, "xml"
    codec, source = guess(body, url, hints)
    return ("utf-8", source) if source == "default" else (codec, source)


def _codec_of_mark(body: bytes) -> str:
    return next((codec for mark, codec in _MARKS if body.startswith(mark)), "")


def _codec_of_label(label: str | None) -> str:
    return (codec_of(label.strip().strip("\"'")) or "") if label else ""


def _codec_declared(body: bytes) -> str:
    for start, codec in _BARE_UTF16:
        if body.startswith(start):
            return codec
    match = _DECLARED.match(body)
    declared = codec_of((match[1] or match[2]).decode("ascii")) if match else None
    return (
        declared if declared and not declared.startswith("utf-16") else ""
    )  # read as bytes, so it is not


_URL = re.compile(r"""https?://[^\s<>"'`\\^{|}\x00-\x1f\ud800-\udfff]{1,2083}+""", re.IGNORECASE)
_TRAILING = ".,;:!?*_~"
_PAIRS = ((")", "("), ("]", "["))


def absolute_urls(text: str) -> list[str]:
    """Return the http(s) URLs in a text, in order; a text that is nothing but a URL is that URL."""
    if "://" not in text:
        return []
    whole = text.strip()
    match = _URL.fullmatch(whole)
    return [whole] if match else [url for raw in _URL.findall(text) if (url := _trim(raw))]


def _trim(url: str) -> str:
    """Cut the punctuation of the sentence; a closing bracket stays when its opening is within."""
    url = url.rstrip(_TRAILING)
    for end, start in _PAIRS:
        over = url.count(end) - url.count(start)
        tail = len(url) - len(url.rstrip(end))
        if over > 0 and tail:
            url = url[: len(url) - min(over, tail)].rstrip(_TRAILING)
    return url if len(url) > len("https://") else ""


_SCHEME = re.compile(r"https?:/{1,2}+(?=[^/])", re.IGNORECASE)
_MOST = 20


def urls_within(url: str) -> list[str]:
    """Return the http(s) URLs inside a URL after its host, plain or percent-encoded; each once.

    In a query, one ends with its value; a coded one is decoded. In a path it goes on to the end.
    """
    start = url.find("/", url.find("://") + 3)
    if start < 0 or "http" not in url[start:].lower():
        return []
    urls: dict[str, None] = {}
    path, _, query = url[start:].partition("?")
    for value in query.split("&"):
        _gather(unquote(value), urls)
    _gather(path + ("?" + query if query else ""), urls)
    _gather(unquote(path), urls)
    return [text for text in urls if text != url][:_MOST]


def _gather(text: str, urls: dict[str, None]) -> None:
    """Collect the URLs in a text: from each beginning of a URL to the end of the text."""
    for match in _SCHEME.finditer(text):
        scheme = match[0].partition(":")[0]
        url = text[match.end() :].partition(" ")[0]
        urls[f"{scheme}://{url}"] = None
        if len(urls) > _MOST:
            return
