"""The comparison of two versions of a page: a class and a score, biased to "changed" (pure).

Levels: L0 the payload, L1 the markup without what never matters, L2 the pieces of the page, of
which those that are noise or belong to the template do not count. `masked` takes out what changes
by itself (clocks, counters, tokens), for the comparison only, never in what is stored; a bare date
or number is never masked, since a changed deadline is a change.

`compare_whole` compares by one signature of the whole page in the place of pieces: Nutch's two, its
TextProfile made fit for Chinese, and the one of the National Library of China's paper
(`nacre_simweb.paper.published`).
"""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import cache
from typing import Literal, NamedTuple

from nacre.config.component import Component, section, setting
from nacre.core.javafloat import rounded, single
from nacre.core.pageview import PageView, Piece
from nacre.recrawl.planner.change_detection.template import Template

_WORD = re.compile(r"[^\W_]+")
_GRAM = 2
"""Characters of a run that count as a word in text without spaces: bigrams index Chinese as well
as words do (Nie, Gao, Zhang and Zhou 2000)."""


class ProfileSettings(Component):
    """The weights of words in a text profile; the defaults are Nutch's."""

    quant_rate: float = setting(
        0.01,
        "Counts are rounded down to this share of the largest count; 0: they count as they are.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    min_token_len: int = setting(
        2,
        "Words of at most this many characters are left out; 0: none.",
        unit="characters",
        ge=0,
        live=False,
        sheets=False,
    )
    sec_sort_lex: bool = setting(
        True,
        "Words of equal count are sorted; else in order of arrival.",
        live=False,
        sheets=False,
    )


class TextProfile(ProfileSettings):
    """Nutch's TextProfileSignature, or the one that works for Chinese."""

    unspaced: bool = setting(
        False,
        "Cut Chinese and Japanese text into pairs of characters. In Nutch a sentence without "
        "spaces is one word, which is too rare to count.",
    )


@cache
def _unspaced() -> re.Pattern[str]:
    """Text without spaces; made when it is first looked for, which takes 1 ms."""
    return re.compile(r"[぀-ヿ㐀-䶿一-鿿豈-﫿]+")


def md5_signature(payload: bytes) -> bytes:
    """Nutch's MD5Signature: of the payload."""
    return hashlib.md5(payload, usedforsecurity=False).digest()


def text_profile(text: str, payload: bytes, settings: TextProfile) -> bytes:
    """MD5 of the words of a text with their rounded counts.

    Args:
        text: Text of the page.
        payload: Its bytes: where there is no text, their MD5 is the signature.
        settings: How words count.
    """
    if not text:
        return md5_signature(payload)
    counts = Counter(_tokens(text, settings))
    largest = max(counts.values(), default=0)
    # Nutch drops what comes once as soon as anything comes twice: most of a Chinese page.
    least = 2 if largest > 1 and not settings.unspaced else 1
    quant = max(least, rounded(single(largest * single(settings.quant_rate))))
    kept = [(word, count // quant * quant) for word, count in counts.items() if count >= quant]
    if settings.sec_sort_lex:
        kept.sort(key=lambda pair: (-pair[1], pair[0]))
    else:
        kept.sort(key=lambda pair: -pair[1])
    lines = "\n".join(f"{word} {count}" for word, count in kept)
    return hashlib.md5(lines.encode("utf-8", "replace"), usedforsecurity=False).digest()


def _tokens(text: str, settings: TextProfile) -> Iterable[str]:
    for match in _WORD.finditer(text.lower() if text.isascii() else _lowered(text)):
        word = match[0]
        if settings.unspaced and _unspaced().search(word):
            yield from _grams(word, settings.min_token_len)
        elif len(word) > settings.min_token_len:
            yield word


def _lowered(text: str) -> str:
    """Lower case as Java has it: character by character, and no words beyond U+FFFF."""
    return "".join(
        char.lower()[0] if (char.isalpha() or char.isdecimal()) and char <= "\uffff" else " "
        for char in text
    )


def _grams(word: str, least: int) -> Iterable[str]:
    at = 0
    for run in _unspaced().finditer(word):
        if run.start() - at > least:
            yield word[at : run.start()]
        characters = run[0]
        for index in range(max(1, len(characters) - _GRAM + 1)):
            yield characters[index : index + _GRAM]
        at = run.end()
    if len(word) - at > least:
        yield word[at:]


def paper_changed(old: PageView, new: PageView, threshold: float = 0.0) -> bool:
    """The National Library of China's test, and the threshold that its paper promises.

    Args:
        old: The version before.
        new: The version now.
        threshold: Share of the text that must differ; 0: any difference of the digest.
    """
    if old.paper == new.paper:
        return False
    return threshold <= 0.0 or text_distance(old.text, new.text) > threshold


def text_distance(old: str, new: str) -> float:
    """Share of five-character runs that only one of two texts has: 0 the same, 1 nothing shared."""
    one, two = _shingles(old), _shingles(new)
    both = len(one | two)
    return len(one ^ two) / both if both else 0.0


def _shingles(text: str) -> set[str]:
    return {text[index : index + 5] for index in range(max(1, len(text) - 4))} if text else set()


MASK = "\x00"

_COUNTED = r"(?:浏览|阅读|点击|访问|查看|观看|播放|下载|点赞|评论|转发|收藏|在线|人气|热度)"
_COUNTED_EN = (
    r"(?:views?|reads?|hits|visits?|visitors?|clicks|downloads?|likes?|comments?|shares?|online)"
)
# A number is looked for where it begins only: else a run of digits is read once for each of them.
_DIGITS = r"(?<!\d)(?<!\d[,.])\d+(?:[,.]\d+)*[,.]?"
_NUMBER = rf"{_DIGITS}\s?(?:[万亿千kKmM]|次|人次|人|个|条)?"
_FEW = "一二三四五六七八九十半几"
_AGO = (
    rf"(?:刚刚|(?:(?<!\d)\d+|(?<![{_FEW}])[{_FEW}]+)\s?(?:秒钟?|分钟?|个?小时|天|周|星期|个?月|年)前"
    r"|(?:昨天|前天|今天)\s?\d{1,2}:\d{2}(?::\d{2})?"
    r"|just now|yesterday at \d{1,2}:\d{2}"
    r"|(?:an?|(?<!\d)\d+)\s(?:second|sec|minute|min|hour|day|week|month|year)s?\sago)"
)
_DATE = r"\d{4}\s?[年/.-]\s?\d{1,2}\s?[月/.-]\s?\d{1,2}\s?日?"
_WEEKDAY = r"(?:星期|周|礼拜)[一二三四五六日天]"
_NOW = r"(?:今天|今日|现在|当前|当前时间|系统时间|北京时间)(?:是|时间|日期)?\s?:?\s?"
_TODAY = rf"{_NOW}(?:{_DATE})?\s?(?:{_WEEKDAY})?\s?"
# A counted noun that precedes its number: a number before it belongs to something else.
_BEHIND = r"(?!\s?(?:量|数|次数|总数|人数)?\s?[:(]?\s?\d)"
_PATTERNS = (
    # "Today", followed by any date and time of day, complete or followed by something else.
    rf"{_TODAY}\d{{1,2}}:\d{{2}}:\d{{2}}",
    rf"{_NOW}{_DATE}\s?{_WEEKDAY}(?!\s?\d)",
    rf"{_TODAY}(?:\d{{1,2}}:\d{{2}}(?::\d{{2}})?)?(?!\w)",
    r"(?i:(?:today is|current time|server time|local time|page generated(?: (?:at|on|in))?)"
    r"[:\s]\s?[\w ,.:+-]{1,60})",
    rf"{_COUNTED}\s?(?:量|数|次数|总数|人数)?\s?[:(]?\s?{_NUMBER}",
    rf"{_NUMBER}\s?{_COUNTED}{_BEHIND}",
    rf"(?i:\b{_COUNTED_EN}\b\s?[:(]?\s?{_NUMBER})",
    rf"(?i:{_NUMBER}\s?\b{_COUNTED_EN}\b)",
    rf"(?i:{_AGO})",
    # A clock runs in seconds; hours and minutes alone may be an appointment.
    r"(?<![\d:])\d{1,2}:\d{2}:\d{2}(?:\.\d+)?(?![\d:])",
    # Tokens: long, and of mixed letters and digits.
    r"\b(?=[0-9a-f-]{0,64}\d)(?=[0-9a-f-]{0,64}[a-f])[0-9a-f]{8}(?:-?[0-9a-f]{4,}){2,}\b",
    r"(?<![\w+/=-])(?=[\w+/-]*\d)(?=[\w+/-]*[a-z])(?=[\w+/-]*[A-Z])[A-Za-z0-9+/_-]{20,}={0,2}(?![\w=])",
)


@cache
def _volatile() -> re.Pattern[str]:
    """Made once, when the first two pages are compared: it takes 3 ms."""
    return re.compile("|".join(_PATTERNS))


def masked(text: str) -> str:
    """A text with clocks, counters, ages and tokens replaced by one character each."""
    return _volatile().sub(MASK, text)


class ChangeClass(StrEnum):
    """The size of the difference between two versions, as an archivist sees it."""

    NONE = "none"
    MARKUP = "markup"
    NOISE = "noise"
    TEMPLATE = "template"
    MINOR = "minor"
    MAJOR = "major"

    @property
    def is_change(self) -> bool:
        """Whether the content of the page itself differs."""
        return self in {ChangeClass.MINOR, ChangeClass.MAJOR}


class ChangeSettings(Component):
    """The thresholds from which a difference between two versions is a change."""

    signature: Literal["blocks", "paper", "md5", "text-profile", "text-profile-cjk"] = setting(
        "blocks",
        "How two versions of a page are compared: `blocks` (its pieces, without noise and "
        "boilerplate), `paper` (the text in p and span and beside br, as in the paper of the "
        "National Library of China), `md5` (every byte), `text-profile` (Nutch's; blind to "
        "Chinese), `text-profile-cjk` (the same for text without spaces).",
        live=False,
        sheets=False,
    )
    threshold: float = setting(
        0.0,
        "For `paper`: share of the text that must differ for a change; 0: any difference.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    text_profile: ProfileSettings = section(
        ProfileSettings, "For `text-profile` and `text-profile-cjk`: how words count."
    )
    major: float = setting(
        0.10,
        "Share of a page that must differ for a major change.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    noise_limit: float = setting(
        1.0,
        "Share of the page beyond which differences in noise and boilerplate are a change; "
        "pieces that seldom differ on unchanged pages have more weight. 1: never, 0: always.",
        ge=0,
        le=1,
        live=False,
        sheets=False,
    )
    shown: int = setting(
        5, "Differing pieces kept as evidence.", unit="pieces", ge=0, live=False, sheets=False
    )


class PieceDifference(NamedTuple):
    """One piece that differs: what it was (None: new), what it is (None: gone)."""

    was: Piece | None
    now: Piece | None

    @property
    def piece(self) -> Piece:
        """Either."""
        found = self.now or self.was
        if found is None:
            raise ValueError("a difference of nothing")
        return found


class Change(NamedTuple):
    """The verdict on two versions.

    Attributes:
        kind: Class.
        score: Share of the page that differs, noise and boilerplate weighed down; 0 to 1.
        reason: Code of what decided: `payload`, `markup`, `masked`, `volatile`, `template`,
            `navigation`, `text`, `title`, `heading`, `date`, `link`, `image`, `file`, `score`,
            `unread` (it differs behind what was taken apart); or the name of the signature.
        evidence: The first differences that decided.
    """

    kind: ChangeClass
    score: float = 0.0
    reason: str = ""
    evidence: tuple[PieceDifference, ...] = ()


SAME = Change(ChangeClass.NONE, 0.0, "payload")


def compare(
    old: PageView,
    new: PageView,
    template: Template,
    settings: ChangeSettings,
    *,
    listing: bool = False,
) -> Change:
    """The verdict on two versions of one page whose payloads differ.

    Args:
        old: The version before.
        new: The version now.
        template: What the pages of its kind have taught.
        settings: When a difference is a change.
        listing: The page is an index: its links are what it says; elsewhere they lead around.
    """
    if old.canonical == new.canonical and old.pieces == new.pieces:
        return Change(ChangeClass.MARKUP, 0.0, "markup")
    differing = differences(old.pieces, new.pieces)
    if not differing and (old.truncated or new.truncated):
        return Change(ChangeClass.MINOR, 0.0, "unread")
    if not differing:
        return Change(ChangeClass.MARKUP, 0.0, "markup")
    sorted_ = _Sorted(template, listing=listing or _is_mostly_links(new, template))
    for one in differing:
        sorted_.add(one)
    score = _score(differing, old, new, template)
    if sorted_.real:
        return _change(sorted_.real, score, settings)
    if score >= settings.noise_limit < 1.0:
        return Change(ChangeClass.MINOR, score, "score", tuple(differing[: settings.shown]))
    kind = ChangeClass.TEMPLATE if sorted_.template else ChangeClass.NOISE
    return Change(kind, score, sorted_.reason, tuple(differing[: settings.shown]))


class _Sorted:
    """Differences by what they are."""

    def __init__(self, template: Template, *, listing: bool) -> None:
        self._template = template
        self._listing = listing
        self.real: list[PieceDifference] = []
        self.template = False
        self.reason = "volatile"

    def add(self, one: PieceDifference) -> None:
        """Sort a difference into its group."""
        code = excuse(one, self._template, listing=self._listing)
        if not code:
            self.real.append(one)
        elif code == "masked":
            self.reason = code
        elif code in {"template", "navigation"}:
            self.template, self.reason = True, code


def excuse(one: PieceDifference, template: Template, *, listing: bool = False) -> str:
    """The reason why a difference is not a change of the page: a code; "" when it is one.

    `masked` (a clock, a counter, a token), `advert`, `volatile` (its place is noise), `template`
    (on most pages of the site), `navigation` (links that lead around: in a place that many pages
    have, on a page that is not a list).
    """
    if _is_masked(one):
        return "masked"
    if one.piece.kind == "advert":
        return "advert"
    if template.is_volatile(one.piece.place):
        return "volatile"
    if _is_boilerplate(one, template):
        return "template"
    around = not listing and one.piece.kind in _NAVIGATION
    return "navigation" if around and template.is_slot(one.piece.place) else ""


def _is_mostly_links(view: PageView, template: Template) -> bool:
    """Whether links are most of the content of a page."""
    linked = plain = 0
    for piece in view.pieces:
        if piece.kind in _WORDS and not template.is_common(piece):
            if piece.kind == "nav":
                linked += len(piece.text)
            else:
                plain += len(piece.text)
    return linked > plain


def _is_boilerplate(one: PieceDifference, template: Template) -> bool:
    """Both sides belong to the template; a piece that is new everywhere is one of them."""
    sides = [piece for piece in one if piece is not None]
    return any(map(template.is_common, sides)) and all(
        template.is_common(piece) or piece is one.now for piece in sides
    )


def _change(real: Sequence[PieceDifference], score: float, settings: ChangeSettings) -> Change:
    reasons = [one.piece.kind for one in real]
    told = next((kind for kind in _TELLING if kind in reasons), "text")
    heavy = score >= settings.major or told in {"title", "file"}
    kind = ChangeClass.MAJOR if heavy else ChangeClass.MINOR
    return Change(kind, score, told, tuple(real[: settings.shown]))


_NAVIGATION = frozenset(("nav", "nav-link"))
_TELLING = ("title", "file", "heading", "text", "date", "image", "link", "nav", "nav-link")


def _is_masked(one: PieceDifference) -> bool:
    if one.was is None or one.now is None:
        return False
    return one.was.kind == one.now.kind and masked(one.was.text) == masked(one.now.text)


def differences(old: Sequence[Piece], new: Sequence[Piece]) -> list[PieceDifference]:
    """Pieces that one version has and the other has not, like ones paired, in document order."""
    before, after = Counter(old), Counter(new)
    gone = _left(old, before - after)
    came = _left(new, after - before)
    waiting: dict[tuple[str, int], list[Piece]] = {}
    for piece in gone:
        waiting.setdefault((piece.kind, piece.place), []).append(piece)
    paired: list[PieceDifference] = []
    for piece in came:
        partners = waiting.get((piece.kind, piece.place))
        paired.append(PieceDifference(partners.pop(0) if partners else None, piece))
    paired.extend(PieceDifference(piece, None) for left in waiting.values() for piece in left)
    return paired


def _left(pieces: Iterable[Piece], counts: Counter[Piece]) -> list[Piece]:
    found = []
    for piece in pieces:
        if counts[piece] > 0:
            counts[piece] -= 1
            found.append(piece)
    return found


def _score(
    differing: Sequence[PieceDifference], old: PageView, new: PageView, template: Template
) -> float:
    union = Counter(old.pieces) | Counter(new.pieces)
    whole = sum(count * _weight(piece, template) for piece, count in union.items())
    changed = 0.0
    for one in differing:
        changed += _weight(one.piece, template) * _edited_share(one)
        if one.was is not None and one.now is not None:
            # The union holds both sides of an edit, which is one piece of the page.
            whole -= min(_weight(one.was, template), _weight(one.now, template))
    return min(1.0, changed / whole) if whole > 0.0 else 0.0


_WORDS = frozenset(("text", "title", "heading", "nav"))


def _weight(piece: Piece, template: Template) -> float:
    calm = 1.0 - template.volatility(piece.place)
    length = len(piece.text) if piece.kind in _WORDS else 10
    return length * calm / (1.0 + math.log2(1.0 + template.frequency(piece)))


def _edited_share(one: PieceDifference) -> float:
    """Share of a pair that was edited: the text between a common beginning and a common end."""
    if one.was is None or one.now is None:
        return 1.0
    was, now = one.was.text, one.now.text
    shorter, longer = sorted((len(was), len(now)))
    if not longer:
        return 0.0
    head = 0
    while head < shorter and was[head] == now[head]:
        head += 1
    tail = 0
    while tail < shorter - head and was[-1 - tail] == now[-1 - tail]:
        tail += 1
    return (longer - head - tail) / longer


_PROFILES = {"text-profile": False, "text-profile-cjk": True}


def compare_whole(old: PageView, new: PageView, settings: ChangeSettings) -> Change:
    """The verdict on two versions of one page whose payloads differ.

    Args:
        old: The version before.
        new: The version now.
        settings: Which signature, and from which share on a change is major.
    """
    name = settings.signature
    if not _differ(old, new, settings):
        return Change(ChangeClass.NOISE, 0.0, name)
    score = text_distance(old.text, new.text)
    kind = ChangeClass.MAJOR if score >= settings.major else ChangeClass.MINOR
    return Change(kind, score, name)


def _differ(old: PageView, new: PageView, settings: ChangeSettings) -> bool:
    if settings.signature == "paper":
        return paper_changed(old, new, settings.threshold)
    if settings.signature in _PROFILES:
        how = TextProfile(
            **settings.text_profile.model_dump(), unspaced=_PROFILES[settings.signature]
        )
        # Where there is no text the payload signs, and the payloads differ.
        return text_profile(old.text, b"old", how) != text_profile(new.text, b"new", how)
    return True
