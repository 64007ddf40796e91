"""The encodings of texts: their names on the web, and a guess if a text declares none.

What is UTF-8 throughout is UTF-8. The rest is found by how often pairs of characters follow each
other, as in Firefox (chardetng, whose tables turbohtml has), with the top-level domain. What was
stated elsewhere (by the link, the page that it is on, other pages of the host) decides where
the text leaves it open: of a few words, one in nine is read wrongly without it. Sources: HTML
Standard, 13.2.3.2, steps 6 to 9; WHATWG Encoding Standard, 4.2 "Names and labels", by which
ISO-8859-1 and ASCII mean windows-1252, GB2312 means GBK, and so on.
"""

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from nacre.uri.parse import host
from nacre.uri.query import reader_of

_LABELS = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
    "cp866": "866 cp866 csibm866 ibm866",
    "iso8859-2": "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 "
    "iso_8859-2:1987 l2 latin2",
    "iso8859-3": "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 "
    "iso_8859-3:1988 l3 latin3",
    "iso8859-4": "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 "
    "iso_8859-4:1988 l4 latin4",
    "iso8859-5": "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 "
    "iso_8859-5 iso_8859-5:1988",
    "iso8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 "
    "iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    "iso8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 "
    "iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek",
    "iso8859-8": "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 "
    "iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical",
    "iso8859-10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso8859-15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "mac-roman": "csmacintosh mac macintosh x-mac-roman",
    "cp874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "cp1250": "cp1250 windows-1250 x-cp1250",
    "cp1251": "cp1251 windows-1251 x-cp1251",
    "cp1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 "
    "iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
    "cp1253": "cp1253 windows-1253 x-cp1253",
    "cp1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 "
    "iso_8859-9:1989 l5 latin5 windows-1254 x-cp1254",
    "cp1255": "cp1255 windows-1255 x-cp1255",
    "cp1256": "cp1256 windows-1256 x-cp1256",
    "cp1257": "cp1257 windows-1257 x-cp1257",
    "cp1258": "cp1258 windows-1258 x-cp1258",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gbk": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk",
    "gb18030": "gb18030",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc_jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso2022_jp": "csiso2022jp iso-2022-jp",
    "cp932": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "cp949": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 "
    "ksc5601 ksc_5601 windows-949",
    "utf-16-be": "unicodefffe utf-16be",
    "utf-16-le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
    # Browsers refuse to decode these two, because they let bytes hide; an archive only reads them.
    "hz": "hz-gb-2312",
    "iso2022_kr": "csiso2022kr iso-2022-kr",
}
_CODECS = {label: codec for codec, labels in _LABELS.items() for label in labels.split()}


def codec_of(label: str) -> str | None:
    """The Python codec for a label of the web, any case, spaces around it ignored; None if none."""
    return _CODECS.get(label.strip("\t\n\f\r ").lower())


_NAMES = {
    "big5hkscs": "Big5",
    "cp866": "IBM866",
    "cp874": "x-windows-874",
    "cp932": "Shift_JIS",
    "cp949": "EUC-KR",
    "euc_jp": "EUC-JP",
    "gb18030": "GB18030",
    "gbk": "GBK",
    "hz": "HZ-GB-2312",
    "iso2022_jp": "ISO-2022-JP",
    "iso2022_kr": "ISO-2022-KR",
    "koi8-r": "KOI8-R",
    "koi8-u": "KOI8-U",
    "mac-cyrillic": "x-MacCyrillic",
    "mac-roman": "x-MacRoman",
    "utf-16-be": "UTF-16BE",
    "utf-16-le": "UTF-16LE",
    "utf-8": "UTF-8",
}


def name_of(codec: str) -> str:
    """Return the name of a Python codec in Heritrix's crawl.log: the name that Java has.

    A codec that `codec_of` never gives is its own name.
    """
    if codec.startswith("iso8859-"):
        return f"ISO-{codec[3:]}"
    if codec.startswith("cp125"):
        return f"windows-{codec[2:]}"
    return _NAMES.get(codec, codec)


if TYPE_CHECKING:
    from turbohtml.detect import Detection

SAMPLE = 8192
"""Bytes that are inspected, from the first non-ASCII byte."""

STATED = ("link", "before", "via", "host")
"""The hints by weight; sources that `guess` returns besides `detected` and `default`."""

_FEW = 40
"""Bytes beyond ASCII that decide little."""
_OPEN, _EVEN = 0.4, 0.95
"""A hint counts whose score is at least this share of the best: of a text of few bytes, and of a
longer one. With these 99 of 100 texts of four words are read as written, where 94 are without a
hint; a wrong hint misleads one in two single words, and no text of 20 words."""
_MULTIBYTE = frozenset(("gbk", "gb18030", "big5hkscs", "euc_jp", "cp949"))
_SOUND = 16
"""Non-ASCII bytes per broken byte, in text that still counts as UTF-8."""
_ASCII = bytes(range(128))
_PAIR = 2
_LATIN = 2
"""The last block of 256 characters with Latin letters."""
_BEYOND = re.compile(r"[\x00-\x7f]+")
_SAME = {"gb18030": "gbk", "koi8-r": "koi8-u", "iso8859-1": "cp1252"}
"""Encodings that the detector reports as another encoding with the same letters."""
_SHIFTS = (b"\x1b$", b"\x1b(")
_TO_ASCII = b"\x1b(B"
"""Behind it no character is cut in two."""
_LONGEST_LABEL = 63
_FAR = 16 * SAMPLE
_ENOUGH = 400
"""Bytes beyond ASCII in a sample that need no more."""
_BREAKS = re.compile(rb"[<>\n]+")
_NO_CHANCE = re.compile(rb"[\xe0-\xff]|\A[^\xc4-\xdf]*\Z")
_META = re.compile(rb"<meta", re.IGNORECASE)


class Hints(msgspec.Struct, frozen=True):
    """Hints at the encoding of a text; codecs of Python, "" for none.

    Attributes:
        link: Charset of the link to it: `<script charset>`, `<link charset>`, `<a charset>`.
        before: What it was read in last time.
        via: What the page was read in that links to it.
        host: What other pages of its host declare.
    """

    link: str = ""
    before: str = ""
    via: str = ""
    host: str = ""


NO_HINTS = Hints()


def guess(body: bytes, url: str = "", hints: Hints = NO_HINTS) -> tuple[str, str]:
    """Return the encoding of a text without any declaration.

    Args:
        body: The text. Any size; `SAMPLE` bytes are examined.
        url: URL of the document, for the top-level domain; "" if unknown.
        hints: Other facts about the document.

    Returns:
        A codec, and where it comes from: one of `STATED`, `detected`, or `default` for ASCII, which
        needs none (windows-1252 then). Never raises.
    """
    if body.isascii():
        return ("iso2022_jp", "detected") if _is_shifted(body) else ("cp1252", "default")
    sample = _sample(body)
    if _is_utf8(sample):
        return _by_chance(sample, hints) or ("utf-8", "detected")
    scores = _scores(sample, top_level(url))
    best = next(iter(scores), "cp1252")
    few = len(sample.translate(None, _ASCII)) < _FEW
    enough = scores.get(best, 0.0) * (_OPEN if few else _EVEN)
    for source in STATED:
        codec: str = getattr(hints, source)
        same_codec = _SAME.get(codec, codec)
        if same_codec and scores.get(same_codec, 0.0) >= enough > 0.0:
            return codec, "detected" if same_codec == best else source
    return best, "detected"


def _sample(body: bytes) -> bytes:
    """Return a part of the text from its first byte beyond ASCII, cut where no character is cut.

    Where that is mostly markup or script, the text between tags that is not, from farther on.
    """
    start = _first_beyond_ascii(body)
    sample = body[start : start + SAMPLE]
    if start + SAMPLE >= len(body):
        return sample
    if len(sample.translate(None, _ASCII)) < _ENOUGH:
        parts = _BREAKS.split(body[start : start + _FAR])
        sample = b"\n".join([part for part in parts if not part.isascii()])[:SAMPLE]
    # Signs below 0x30 end no character of any encoding that is in question.
    cut = max(sample.rfind(sign) for sign in (b" ", b"\n", b'"'))
    return sample[:cut] if cut > SAMPLE // 2 else sample


def _first_beyond_ascii(body: bytes) -> int:
    """By halves: `isascii` reads eight bytes at once."""
    low, high = 0, len(body)
    while high - low > 1:
        middle = (low + high) // 2
        if body[low:middle].isascii():
            low = middle
        else:
            high = middle
    return low


def _is_utf8(sample: bytes) -> bool:
    """True for UTF-8, cut off or broken in places: any other encoding is broken everywhere."""
    try:
        sample.decode("utf-8")
    except UnicodeDecodeError:
        broken = sample.decode("utf-8", "replace").count("\ufffd")
        return broken * _SOUND <= len(sample.translate(None, _ASCII))
    return True


def _by_chance(sample: bytes, hints: Hints) -> tuple[str, str] | None:
    """What is stated of a few characters that are UTF-8 by chance; None if they are UTF-8.

    Pairs of bytes may be that as well as GBK or EUC. Those of Latin-1 stay: a page often has no
    more than its sign of copyright. So do three letters that are all Greek, all Cyrillic and so on.
    """
    if len(sample.translate(None, _ASCII)) >= _FEW or _NO_CHANCE.search(sample):
        return None
    if len(set(_beyond(sample))) > _PAIR and not is_mixed(sample):
        return None
    for source in STATED:
        codec: str = getattr(hints, source)
        if codec in _MULTIBYTE and "\ufffd" not in sample.decode(reader_of(codec), "replace"):
            return codec, source
    return None


def is_mixed(text: bytes) -> bool:
    """Return whether text, read as UTF-8, has letters of several alphabets, as by chance."""
    return len({max(ord(char) >> 8, _LATIN) for char in _beyond(text)}) > 1


def _beyond(text: bytes) -> str:
    """Return the characters beyond ASCII, read as UTF-8."""
    return _BEYOND.sub("", text.decode("utf-8", "replace"))


def _is_shifted(body: bytes) -> bool:
    """Return True for ISO-2022-JP, which is ASCII with escapes."""
    start = body.find(b"\x1b")
    sample = body[start : start + SAMPLE] if start >= 0 else b""
    back = sample.rfind(_TO_ASCII)
    sample = sample if back < 0 else sample[: back + len(_TO_ASCII)]
    return any(shift in sample for shift in _SHIFTS) and "iso2022_jp" in _scores(sample, "")


def top_level(url: str) -> str:
    """Return the last label of a host; "" for an address and labels that the detector refuses."""
    label = host(url).rpartition(".")[2] if url else ""
    plain = label.isascii() and label.replace("-", "").isalnum() and not label.isdigit()
    return label.lower() if plain and len(label) <= _LONGEST_LABEL else ""


def _scores(sample: bytes, top_level: str) -> dict[str, float]:
    """Each encoding that the text may be in, with its score from 0 to 1; the best comes first."""
    from turbohtml.detect import detect_all  # noqa: PLC0415 - slow, and rarely needed

    scores: dict[str, float] = {}
    # A declaration here is a quotation: in a script, or far down the page.
    sample = _META.sub(b"<", sample)
    for match in detect_all(sample, _options(top_level)):
        codec = codec_of(match.encoding or "")
        # A mark of UTF-16 in the middle is none.
        if codec and not codec.startswith("utf-16"):
            scores.setdefault(codec, match.confidence)
    return scores


@lru_cache(maxsize=512)
def _options_of(top_level: str) -> "Detection":
    from turbohtml.detect import Detection  # noqa: PLC0415 - as above

    return Detection(tld=top_level)


def _options(top_level: str) -> "Detection | None":
    return _options_of(top_level) if top_level else None
