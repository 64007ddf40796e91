r"""XML as a run of elements, read without a parser.

Feeds and sitemaps on the web are often not well-formed, and what reads them must not know entities
or document types at all: nothing here can load or expand anything. So one tolerant, linear scan
reads the well-formed and the broken alike. Namespace prefixes are dropped (`sit:loc` is `loc`),
markup that fits nothing is passed over, CDATA is text, depth costs nothing.
"""

import re
from collections.abc import Iterator

import msgspec

# Possessive groups end in `(?!)` for Python before 3.11.5: tests/contract/test_patterns.py
_COMMENT = r"[^-]*+(?:-(?!->)[^-]*+|(?!))*+(?:-->)?"
_TOKEN = re.compile(
    r"""<(?:
      (?P<close>/?) (?:[^\s/><="'!?:]++:|(?!))?+ (?P<name>[^\s/><="'!?:]++)
          (?P<attributes> (?: [^"'<>]++ | "[^"<]*+" | '[^'<]*+' | (?!) )*+ ) > (?P<text>[^<]*+)
    | !\[CDATA\[ (?P<cdata> [^\]]*+ (?: \](?!\]>) [^\]]*+ | (?!) )*+ ) (?:\]\]>)? (?P<more>[^<]*+)
    | !--{COMMENT} (?P<after>[^<]*+)
    | \?xml-stylesheet\s (?P<style>[^<>?]*+)
    | !DOCTYPE [^\[<>]*+
      (?: \[ (?: [^\]"'<]++ | "[^"]*+" | '[^']*+' | <!--{COMMENT} | < | (?!) )*+ \]? )? \s*+ >?
    )""".replace("{COMMENT}", _COMMENT),
    re.VERBOSE | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"""(?<=[\s"'])([^\s="'/]++)\s*+=\s*+(?:"([^"<]*+)"|'([^'<]*+)')""")
_REFERENCE = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6}));")
_PREDEFINED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_BLANK = "".join(c for c in map(chr, range(0x3001)) if c.isspace()) + "\u200b\ufeff"


MAX_DATE = 64


class XmlStart(msgspec.Struct, gc=False):
    """A start tag.

    Attributes:
        name: Local name, lower case.
        attributes: As in the document; see the function `attributes`.
        before: The preceding text, since the last tag.
        at: Offset of its end.
    """

    name: str
    attributes: str
    before: str
    at: int = 0


class End(msgspec.Struct, gc=False):
    """An end tag, or the end of an empty element.

    Attributes:
        name: Local name, lower case.
        text: The preceding text, since the last tag: of a leaf, all of it. White space at the
            ends is cut.
        at: Offset of it.
    """

    name: str
    text: str
    at: int = 0


class Stylesheet(msgspec.Struct, gc=False):
    """An `<?xml-stylesheet?>` instruction, with its pseudo-attributes."""

    attributes: str


Event = XmlStart | End | Stylesheet


def scan(source: str) -> Iterator[Event]:
    """Yield the elements of a document, in order. Ends need not match starts; never raises."""
    text = ""
    for token in _TOKEN.finditer(source):
        close, name, raw, following, cdata, more, after, style = token.groups()
        if name:
            name = name.lower()
            if close:
                yield End(name, strip(text), token.start())
            else:
                at = token.start("text")
                yield XmlStart(name, raw, text, at)
                if raw[-1:] == "/":
                    yield End(name, "", at)
            text = unescape_xml(following)
        elif cdata is not None:
            text += cdata + unescape_xml(more)
        elif after is not None:
            text += unescape_xml(after)
        elif style:
            yield Stylesheet(" " + style)


def root_name(source: str) -> str:
    """Name of the first element; "" when there is none."""
    return next((event.name for event in scan(source) if isinstance(event, XmlStart)), "")


def attributes(raw: str) -> dict[str, str]:
    """Attributes of a start tag by local name in lower case, the first of each counts."""
    values: dict[str, str] = {}
    for name, double, single in _ATTRIBUTE.findall(raw):
        if not name.startswith("xmlns"):
            values.setdefault(name.rpartition(":")[2].lower(), unescape_xml(double or single))
    return values


def unescape_xml(text: str) -> str:
    """Resolve character references and the five entities of XML; others stay as they are."""
    return _REFERENCE.sub(_character, text) if "&" in text else text


def strip(text: str) -> str:
    """Without white space at the ends, Unicode's and the invisible kinds included."""
    return text.strip(_BLANK)


def date_text(text: str) -> str:
    """Return a date as written, on one line, at most 64 characters."""
    return " ".join(text[:MAX_DATE].split())


def _character(match: re.Match[str]) -> str:
    if match[1]:
        return _PREDEFINED[match[1]]
    code = int(match[2]) if match[2] else int(match[3], 16)
    return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"
