"""Masks the parts of a text that change by themselves: clocks, counters, ages, tokens (pure).

Masks serve the comparison only; stored data keeps the text. A bare date or number is never masked,
since a changed deadline is a change. Nothing is masked within a sentence: `51 votes in favour` is
no counter.

Some sites write tokens into their links at each request: `/l?u=TARGET&h=TOKEN`. A parameter is a
token if its value differs in several links of a page at once, and each of these links still leads
where it led: the rest of its address is the same.
"""

import re
from collections.abc import Collection, Mapping
from enum import Enum
from functools import cache, lru_cache
from typing import NamedTuple

from nacre.core.pagerow import PageView

MASK = "\x00"

_COUNTED = r"(?:浏览|阅读|点击|访问|查看|观看|播放|下载|点赞|评论|转发|收藏|在线|人气|热度)"
_COUNTED_EN = (
    r"(?:views?|viewers?|reads?|hits|visits?|visitors?|clicks|downloads?|likes?|comments?|shares?"
    r"|followers?|subscribers?|votes?|replies|online|watching)"
)
# A number is looked for where it begins only: else a run of digits is read once for each of them.
_DIGITS = r"(?<!\d)(?<!\d[,.])\d+(?:[,.]\d+)*[,.]?"
_NUMBER = rf"{_DIGITS}\s?(?:[万亿千kKmM]|次|人次|人|个|条)?"
_FEW = "一二三四五六七八九十半几"
_AGO = (
    rf"(?:刚刚|(?:(?<!\d)\d+|(?<![{_FEW}])[{_FEW}]+)\s?(?:秒钟?|分钟?|个?小时|天|周|星期|个?月|年)前"
    r"|(?:昨天|前天|今天)\s?\d{1,2}:\d{2}(?::\d{2})?"
    r"|just now|yesterday at \d{1,2}:\d{2}"
    r"|(?:(?:over|about|almost)\s)?(?:an?|(?<!\d)\d+)\s"
    r"(?:second|sec|minute|min|hour|day|week|month|year)s?\sago"
    r"|(?:^|(?<=updated )|(?<=posted )|(?<=edited )|(?<=published ))"
    r"(?:today|yesterday|(?:this|last)\s(?:week|month|year))$"
    r"|il y a (?:une?|\d+)\s(?:seconde|minute|heure|jour|semaine|mois|an|année)s?\b"
    r"|hace (?:una?|\d+)\s(?:segundo|minuto|hora|día|semana|mes|año)(?:s|es)?\b)"
)
_DATE = r"\d{4}\s?[年/.-]\s?\d{1,2}\s?[月/.-]\s?\d{1,2}\s?日?"
_WEEKDAY = r"(?:星期|周|礼拜)[一二三四五六日天]"
_NOW = r"(?:今天|今日|现在|当前|当前时间|系统时间|北京时间)(?:是|时间|日期)?\s?:?\s?"
_TODAY = rf"{_NOW}(?:{_DATE})?\s?(?:{_WEEKDAY})?\s?"
# A counted noun that precedes its number: any earlier number belongs to another noun.
_BEHIND = r"(?!\s?(?:量|数|次数|总数|人数)?\s?[:(]?\s?\d)"
_DAYS = r"(?:mon|tue(?:s)?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_MONTHS = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t|tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_MOMENT = (
    rf"(?:[\s,.:+/-]{{0,3}}(?:\d++(?:st|nd|rd|th|s|ms|[ap]m)?|{_DAYS}|{_MONTHS}|[ap]\.?m|utc|gmt|cet|cest"
    r"|seconds?|milliseconds?|at|on|in|is|the|of)\b){1,16}"
)
_CLOCKS = (
    # "Today", followed by any date and time of day, complete or followed by something else.
    rf"{_TODAY}\d{{1,2}}:\d{{2}}:\d{{2}}",
    rf"{_NOW}{_DATE}\s?{_WEEKDAY}(?!\s?\d)",
    rf"{_TODAY}(?:\d{{1,2}}:\d{{2}}(?::\d{{2}})?)?(?!\w)",
    rf"(?i:(?:today is|current time|server time|local time|page generated)(?=[:\s]){_MOMENT})",
    rf"{_COUNTED}\s?(?:量|数|次数|总数|人数)?\s?[:(]?\s?{_NUMBER}",
    rf"{_NUMBER}\s?{_COUNTED}{_BEHIND}",
    rf"(?i:\b{_COUNTED_EN}\b\s?[:(]?\s?{_NUMBER})",
    rf"(?i:{_NUMBER}\s?\b{_COUNTED_EN}\b)",
    rf"(?i:{_AGO})",
    r"(?:©|\([cC]\)|(?i:\bcopyright\b))\s?(?:\d{4}\s?[-\u2013\u2014]\s?)?\d{4}(?!\d)",
    # A clock runs in seconds; hours and minutes alone may be an appointment.
    r"(?<![\d:])\d{1,2}:\d{2}:\d{2}(?:\.\d+)?(?![\d:])",
)
_TOKENS = (
    # Long, and of mixed letters and digits.
    r"\b(?=[0-9a-f-]{0,64}\d)(?=[0-9a-f-]{0,64}[a-f])(?=(?:-?[0-9a-f]){16})"
    r"[0-9a-f]{8,}+(?:-[0-9a-f]{4,}+|(?!))*+\b",
    # Longer than a number of a telephone (ITU-T E.164: 15 digits).
    r"(?<![\w.,])\d{16,}+(?![\w.,])",
    r"(?<![\w+/=-])(?=[\w+/-]*\d)(?=[\w+/-]*[a-z])(?=[\w+/-]*[A-Z])[A-Za-z0-9+/_-]{20,}={0,2}(?![\w=])",
)


class Mask(Enum):
    """The kinds of words that are masked."""

    CLOCKS = _CLOCKS
    """Clocks, counters and ages: they change by themselves."""
    ALL = _CLOCKS + _TOKENS
    """Tokens too. A published checksum looks like one, so that they prove nothing."""


@cache
def _volatile(mask: Mask) -> re.Pattern[str]:
    """Made once, when the first two pages are compared: it takes 3 ms."""
    return re.compile("|".join(mask.value))


@lru_cache(maxsize=2_048)
def masked(text: str, mask: Mask = Mask.ALL) -> str:
    """A text with clocks, counters, ages and tokens replaced by one character each."""
    return _volatile(mask).sub(MASK, text)


_END = re.compile(r"[.;!?。]")
_WORD = re.compile(r"[^\W\d_\u2e80-\U0003ffff]+|[\u2e80-\U0003ffff]")
_LEAST = 8
"""Chinese characters around a match that make it part of a sentence; a word counts as two."""


_PRINT = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015", "-")
)
"""Marks that a program replaces by typographic ones, or back."""


_DAY_FIRST = re.compile(
    rf"(?i)(?<!\w)(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?P<month>{_MONTHS}),? (?P<year>\d{{4}})(?!\d)"
)
_MONTH_FIRST = re.compile(
    rf"(?i)(?<!\w)(?P<month>{_MONTHS}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})(?!\d)"
)


def _in_print(text: str) -> str:
    text = text.translate(_PRINT)
    for pattern in (_DAY_FIRST, _MONTH_FIRST):
        text = pattern.sub(_plain_date, text)
    return text


def _plain_date(match: re.Match[str]) -> str:
    return f"{match['year']} {match['month'][:3].lower()} {int(match['day'])}"


def is_same_in_print(was: str, now: str) -> bool:
    """Whether two texts differ in the form of quotation marks, dashes and English dates alone."""
    return _in_print(was) == _in_print(now)


def differs_by_itself(was: str, now: str, mask: Mask) -> bool:
    """Whether two texts differ in nothing but what changes by itself, outside of sentences."""
    hidden = masked(was, mask)
    return hidden == masked(now, mask) and not any(map(_is_content, _END.split(hidden)[:-1]))


def _is_content(sentence: str) -> bool:
    """Whether a sentence has something masked in it, which then is content of the page."""
    if MASK not in sentence:
        return False
    words: list[str] = _WORD.findall(sentence)
    return sum(1 + word.isascii() for word in words) >= _LEAST


_VALUE = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])[\w+/=.-]{16,}", re.ASCII)
TOKEN_LINKS = 3
"""Links with different rests whose values must all differ: a single one may lead elsewhere."""
_TEXTS = frozenset(("text", "title", "heading", "nav", "advert", "date"))


class TokenAddress(NamedTuple):
    """An address with values like tokens.

    Attributes:
        keys: Host and name of each parameter that has such a value.
        remainder: The address without these values.
        values: The values, by their keys.
    """

    keys: frozenset[str]
    remainder: str
    values: tuple[str, ...]


@lru_cache(maxsize=8_192)
def token_address(address: str) -> TokenAddress | None:
    """Take an address apart; None if no parameter has a value like a token."""
    path, mark, query = address.partition("?")
    if not mark:
        return None
    host = path.partition("//")[2].partition("/")[0]
    keys, rest, values = [], [], []
    for part in query.split("&"):
        name, _, value = part.partition("=")
        is_token = _VALUE.fullmatch(value) is not None
        if is_token:
            keys.append(f"{host} {name}")
            values.append(value)
        rest.append(name if is_token else part)
    joined = f"{path}?{'&'.join(rest)}"
    return TokenAddress(frozenset(keys), joined, tuple(values)) if keys else None


def token_links(view: PageView) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """The values of the links of a page, by the keys of their parameters and by their rests."""
    links: dict[str, dict[str, frozenset[str]]] = {}
    for piece in view.pieces:
        address = None if piece.kind in _TEXTS else token_address(piece.text)
        if address is not None:
            for key in address.keys:
                rests = links.setdefault(key, {})
                rests[address.remainder] = rests.get(address.remainder, frozenset()) | {
                    *address.values
                }
    return links


def renewed_addresses(
    old: PageView, new: PageView, renewals: Collection[str]
) -> Mapping[str, bool]:
    """The addresses, without their tokens, of which another version has other tokens.

    Args:
        old: The version before.
        new: The version now.
        renewals: Addresses that were renewed at earlier visits.

    Returns:
        Whether none of the links with this address stayed as it was.
    """
    before, after = (
        {piece.text for piece in view.pieces if piece.kind not in _TEXTS} for view in (old, new)
    )
    pairs = {*map(masked, before - after)} & {*map(masked, after - before)}
    names = {name for name in (*pairs, *renewals) if MASK in name}
    # Only a text that begins as a name does can be masked to it: masking takes 30 µs each.
    prefixes = tuple({name.partition(MASK)[0] for name in names})
    stays = names & {masked(text) for text in before & after if text.startswith(prefixes)}
    return {name: name not in stays for name in (pairs & names) | stays}


def renewed_tokens(old: PageView, new: PageView) -> Mapping[str, int]:
    """The parameters that both versions of a page have in links, by their keys.

    Returns:
        In how many links with different rests the value differs; 0 if it stayed in one of them.
    """
    before, after = token_links(old), token_links(new)
    renewed = {}
    for key in before.keys() & after.keys():
        rests = before[key].keys() & after[key].keys()
        stays = any(before[key][rest] & after[key][rest] for rest in rests)
        if rests:
            renewed[key] = 0 if stays else len(rests)
    return renewed
