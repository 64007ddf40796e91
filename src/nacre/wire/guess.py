"""In which encoding a text is written that does not say so.

What is UTF-8 throughout is UTF-8. The rest is told by how often pairs of characters follow each
other, as in Firefox (chardetng, whose tables turbohtml has), with the top-level domain. What was
stated elsewhere (by the link, the page that it stands on, other pages of the host) decides where
the text leaves it open: of a few words, one in nine is read wrongly without it. Source: HTML
Standard, 13.2.3.2, steps 6 to 9.
"""

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from nacre.uri.parse import host
from nacre.uri.reading import reader_of
from nacre.wire.labels import codec_of

if TYPE_CHECKING:
    from turbohtml.detect import Detection

SAMPLE = 8192
"""Bytes that are looked at, from the first one beyond ASCII."""

STATED = ("link", "before", "via", "host")
"""The hints by weight; what `guess` may name as its source beside `detected` and `default`."""

_FEW = 40
"""Bytes beyond ASCII that decide little."""
_OPEN, _EVEN = 0.4, 0.95
"""A hint counts whose score is at least this share of the best: of a text of few bytes, and of a
longer one. With these 99 of 100 texts of four words are read as written, where 94 are without a
hint; a wrong hint misleads one in two single words, and no text of 20 words."""
_MULTIBYTE = frozenset(("gbk", "gb18030", "big5hkscs", "euc_jp", "cp949"))
_SOUND = 16
"""Bytes beyond ASCII to one that is broken, in what is UTF-8 all the same."""
_ASCII = bytes(range(128))
_PAIR = 2
_LATIN = 2
"""The last block of 256 characters with Latin letters."""
_BEYOND = re.compile(r"[\x00-\x7f]+")
_SAME = {"gb18030": "gbk", "koi8-r": "koi8-u", "iso8859-1": "cp1252"}
"""Encodings that the detector knows under the name of another that reads the same letters."""
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
    """What is known beside a text of how it is written; codecs of Python, "" where nothing is.

    Attributes:
        link: What the link to it says: `<script charset>`, `<link charset>`, `<a charset>`.
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
    """The encoding of a text without any declaration.

    Args:
        body: The text. Any size; `SAMPLE` bytes are examined.
        url: Where it is from, for the top-level domain; "" when that is not known.
        hints: What is known beside it.

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
        known = _SAME.get(codec, codec)
        if known and scores.get(known, 0.0) >= enough > 0.0:
            return codec, "detected" if known == best else source
    return best, "detected"


def _sample(body: bytes) -> bytes:
    """A part of the text from its first byte beyond ASCII, cut where no character is cut.

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
    """What is stated of a few characters that are UTF-8 by chance; None where they are UTF-8.

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
    """True where text, read as UTF-8, has letters of several alphabets, as by chance."""
    return len({max(ord(char) >> 8, _LATIN) for char in _beyond(text)}) > 1


def _beyond(text: bytes) -> str:
    """The characters beyond ASCII, read as UTF-8."""
    return _BEYOND.sub("", text.decode("utf-8", "replace"))


def _is_shifted(body: bytes) -> bool:
    """True for ISO-2022-JP, which is ASCII with escapes."""
    start = body.find(b"\x1b")
    sample = body[start : start + SAMPLE] if start >= 0 else b""
    back = sample.rfind(_TO_ASCII)
    sample = sample if back < 0 else sample[: back + len(_TO_ASCII)]
    return any(shift in sample for shift in _SHIFTS) and "iso2022_jp" in _scores(sample, "")


def top_level(url: str) -> str:
    """The last label of a host; "" for an address and for what the detector would not take."""
    label = host(url).rpartition(".")[2] if url else ""
    plain = label.isascii() and label.replace("-", "").isalnum() and not label.isdigit()
    return label.lower() if plain and len(label) <= _LONGEST_LABEL else ""


def _scores(sample: bytes, top_level: str) -> dict[str, float]:
    """Each encoding that the text may be in, with its score from 0 to 1; the best comes first."""
    from turbohtml.detect import detect_all  # noqa: PLC0415 - slow, and rarely needed

    found: dict[str, float] = {}
    # A declaration here is a quotation: in a script, or far down the page.
    sample = _META.sub(b"<", sample)
    for match in detect_all(sample, _options(top_level)):
        codec = codec_of(match.encoding or "")
        # A mark of UTF-16 in the middle is none.
        if codec and not codec.startswith("utf-16"):
            found.setdefault(codec, match.confidence)
    return found


@lru_cache(maxsize=512)
def _options_of(top_level: str) -> "Detection":
    from turbohtml.detect import Detection  # noqa: PLC0415 - as above

    return Detection(tld=top_level)


def _options(top_level: str) -> "Detection | None":
    return _options_of(top_level) if top_level else None
