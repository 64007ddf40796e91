"""Style sheets: `url()`, `src()`, `@import` and `image-set()`.

One linear scan in the manner of the CSS tokenizer (CSS Syntax 3): comments and other strings are
passed over, escapes are resolved. It is laxer where Heritrix is: an unquoted `url()` may hold
spaces. Source: Heritrix's ExtractorCSS.
"""

import re
from collections.abc import Iterator

from nacre.core.crawluri import Hop
from nacre.extract.document import Document
from nacre.extract.links import LinkCollector
from nacre.extract.text import read_text

CONTEXT = "=EMBED_MISC"
"""Link context of embeds of a style sheet (Heritrix's word)."""

_MAX_URL = 16_384
"""Characters of the longest reference that is passed on."""

# Possessive groups end in `(?!)` for Python before 3.11.5: tests/contract/test_patterns.py
_DOUBLE = r'"[^"\\\n\r\f]*+(?:\\(?:\r\n|[\s\S])[^"\\\n\r\f]*+|(?!))*+"?'
_SINGLE = _DOUBLE.replace('"', "'")
_COMMENT = r"/\*[^*]*+(?:\*(?!/)[^*]*+|(?!))*+(?:\*/)?"
_BARE = r"""[^)\\]*+(?:\\[\s\S][^)\\]*+|(?!))*+"""
_ARGUMENTS = rf"""\((?:{_DOUBLE}|{_SINGLE}|[^()"']|(?!))*+\)"""
_SET_BODY = rf"""(?:[^()"'/]++|{_DOUBLE}|{_SINGLE}|{_COMMENT}|/|{_ARGUMENTS}|(?!))*+"""

_FUNCTIONS = r"(?<![uU][rR][lL]\()(?<![sS][rR][cC]\()(?<!-[sS][eE][tT]\()"
_TOKEN = re.compile(
    rf"""
    (?: [^("'/@\\]++ | \\[\s\S]? | {_COMMENT} | / | {_DOUBLE} | {_SINGLE}
      | \({_FUNCTIONS} | @(?![iI][mM]) | (?!) )*+
    (?: (?<=[uU][rR][lL]) \( \s*+ (?: (?P<url>{_DOUBLE}|{_SINGLE}) | (?P<bare>{_BARE}) )
      | (?<=[sS][rR][cC]) \( \s*+ (?P<src>{_DOUBLE}|{_SINGLE})
      | (?<=-[sS][eE][tT]) \( (?P<set>{_SET_BODY})
      | @[iI][mM][pP][oO][rR][tT] (?:\s++|{_COMMENT}|(?!))*+ (?P<import>{_DOUBLE}|{_SINGLE})
      | [@(] | \Z
    )
    """,
    re.VERBOSE,
)
_SET_ITEM = re.compile(
    rf"""(?<=[uU][rR][lL])\(\s*+(?P<url>{_DOUBLE}|{_SINGLE}|[^)"']*+)
    |[tT][yY][pP][eE]\([^)]*+\)|{_COMMENT}|(?P<string>{_DOUBLE}|{_SINGLE})""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})(?:\r\n|[ \t\r\n\f])?|(\r\n|[\n\r\f])|([\s\S])|\Z)")


def _spelt(word: str) -> str:
    r"""Return a pattern of a word some of whose letters may be escaped: `u\72 l`, `ur\l`."""
    hexadecimal = frozenset("abcdef")
    letters = []
    for char in word:
        low, high = f"{ord(char):x}", f"{ord(char.upper()):x}"
        ways = [re.escape(char), rf"\\0{{0,4}}(?:{low}|{high})(?:\r\n|[ \t\r\n\f])?"]
        if char not in hexadecimal:
            ways.append(rf"\\{char}")
        letters.append(f"(?:{'|'.join(ways)})" if char not in "@(" else ways[0])
    return "".join(letters)


_NAMES = {"url(": "url(", "src(": "src(", "-set(": "-set(", "@import": "@import "}
_ESCAPED_NAMES = re.compile(
    "|".join(f"(?P<n{at}>{_spelt(name)})" for at, name in enumerate(_NAMES)), re.IGNORECASE
)
_ESCAPED_LETTER = re.compile(
    r"\\(?:[urlsctimpo-]|0{0,4}(?:2d|[46](?:3|5|9|c|d|f)|[57](?:0|2|3|4|5))(?![0-9a-f]))",
    re.IGNORECASE,
)
"""An escaped letter of one of these names: those of icons, of which style sheets are full, are
others."""
_WANTED = re.compile(r"[uU][rR][lL]\(|[sS][rR][cC]\(|-[sS][eE][tT]\(|@[iI][mM]")


def css_urls(text: str) -> list[str]:
    """References of a style sheet or of a `style=` attribute, in order, each once.

    Escapes are resolved, white space at the ends is cut; `data:` and empty URLs are left out.
    """
    text = plain_names(text)
    urls: dict[str, None] = {}
    for start, end in css_references(text):
        url = css_url(text[start:end])
        if url and url[:5].lower() != "data:":
            urls[url] = None
    return list(urls)


def plain_names(text: str) -> str:
    """Return a style sheet without escapes in the names of the functions that have URLs."""
    return _ESCAPED_NAMES.sub(_unescape_name, text) if _ESCAPED_LETTER.search(text) else text


def css_references(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each URL as written, without its quotes and outer spaces.

    Args:
        text: A style sheet with plain names of functions.
    """
    if not _WANTED.search(text):
        return
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "set":
            start = token.start("set")
            for item in _SET_ITEM.finditer(token["set"]):
                if item.lastgroup:
                    yield from _inside(
                        text, start + item.start(item.lastgroup), item.lastgroup, item
                    )
        elif kind:
            yield from _inside(text, token.start(kind), kind, token)


def _inside(text: str, start: int, kind: str, token: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield the place of a URL inside its quotes; nothing for a text that cannot be a URL."""
    raw = token[kind]
    bare = raw.strip()
    start += len(raw) - len(raw.lstrip())
    end = start + len(bare)
    if bare[:1] in {'"', "'"}:
        start, end = start + 1, end - 1 if len(bare) > 1 and bare[-1] == bare[0] else end
    elif "\n" in bare:
        return
    if end - start <= _MAX_URL and text[start : start + 5].lower() != "data:":
        yield start, end


def css_url(raw: str) -> str:
    """Return the URL of a reference as written: without escapes and outer spaces."""
    return (_ESCAPE.sub(_unescape, raw) if "\\" in raw else raw).strip()


def _unescape_name(match: re.Match[str]) -> str:
    """Return a name without its escapes."""
    if "\\" not in match[0]:
        return match[0]
    return list(_NAMES.values())[int((match.lastgroup or "n0")[1:])]


def _unescape(match: re.Match[str]) -> str:
    if match[1]:
        code = int(match[1], 16)
        return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"
    return match[3] or ""


def extract_css(document: Document, links: LinkCollector) -> None:
    """Add the embeds of a style sheet: hop E, context `=EMBED_MISC`."""
    for url in css_urls(read_text(document)):
        links.add(url, Hop.EMBED, CONTEXT)
