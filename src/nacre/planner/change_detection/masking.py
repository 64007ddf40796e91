"""Hides what changes by itself in a text: clocks, counters, ages, tokens (pure).

For the comparison only, never in what is stored. A bare date or number is never masked, since a
changed deadline is a change. Within a sentence nothing is: `51 votes in favour` is no counter.
"""

import re
from enum import Enum
from functools import cache, lru_cache

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
# A counted noun that precedes its number: a number before it belongs to something else.
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
"""Chinese characters of a sentence around what is masked; a word of letters counts as two."""


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
