"""The rhythm of a schedule as people say it: hourly, daily, weekly, monthly (pure).

A schedule keeps cron's five fields. The form of the calendar offers those that are said in a few
words; all others are typed as cron has them.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from nacre.errors import ConfigError, Problem
from nacre.messages import message

CRON: Final = "cron"
OFTEN: Final = ("hourly", "daily", "weekly", "monthly", CRON)
"""The choices of the form."""
WEEK: Final = (1, 2, 3, 4, 5, 6, 0)
"""Weekdays as cron numbers them, from Monday."""
_SHORT: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
}
_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_TIME: Final = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?", re.ASCII)
_CRON: Final = re.compile(
    r"(\d{1,2}) (\*|\d{1,2}) (\*|\d{1,2}) \* (\*|[0-7]|sun|mon|tue|wed|thu|fri|sat)", re.ASCII
)


class Rhythm(NamedTuple):
    """A rhythm that is said in a few words.

    Attributes:
        often: One of `OFTEN`.
        hour: Its hour, 0 to 23; of an hourly one it says nothing.
        minute: Its minute, 0 to 59.
        weekday: Weekday of a weekly one: 0 for Sunday, 1 for Monday.
        day: Day of the month of a monthly one, 1 to 31.
    """

    often: str = "daily"
    hour: int = 2
    minute: int = 0
    weekday: int = 1
    day: int = 1

    @property
    def clock(self) -> str:
        """Its time of day, as `02:30`."""
        return f"{self.hour:02}:{self.minute:02}"

    @property
    def at(self) -> str:
        """Its times in cron's five fields."""
        hour = "*" if self.often == "hourly" else f"{self.hour}"
        day = f"{self.day}" if self.often == "monthly" else "*"
        weekday = f"{self.weekday}" if self.often == "weekly" else "*"
        return f"{self.minute} {hour} {day} * {weekday}"


def rhythm_of(at: str) -> Rhythm:
    """Return the rhythm of a cron expression; the choice `cron` if no other choice fits.

    Args:
        at: Cron's five fields, or `@daily` and the like.
    """
    text = " ".join(at.lower().split())
    match = _CRON.fullmatch(_SHORT.get(text, text))
    if match is None:
        return Rhythm(CRON)
    minute, hour, day, weekday = match.groups()
    often = _OFTEN_OF.get((hour == "*", day == "*", weekday == "*"), CRON)
    numbers = int(minute), _number_or(hour, 0), _number_or(day, 1)
    if often == CRON or numbers[0] > 59 or numbers[1] > 23 or not 0 < numbers[2] < 32:
        return Rhythm(CRON)
    return Rhythm(often, numbers[1], numbers[0], _weekday(weekday), numbers[2])


_OFTEN_OF: Final = {
    (True, True, True): "hourly",
    (False, True, True): "daily",
    (False, True, False): "weekly",
    (False, False, True): "monthly",
}
"""The rhythms, by which of the hour, the day and the weekday is any."""


def _number_or(text: str, usual: int) -> int:
    return usual if text == "*" else int(text)


def _weekday(text: str) -> int:
    if text in _DAYS:
        return _DAYS.index(text)
    return _number_or(text, 1) % 7


def typed_rhythm(fields: Mapping[str, str]) -> Rhythm:
    """The rhythm of a form, as far as it is one, to be shown again.

    Args:
        fields: The texts of the form, by name.
    """
    try:
        return sent_rhythm(fields)
    except ConfigError:
        return Rhythm(fields["often"] if fields.get("often") in OFTEN else CRON)


def sent_rhythm(fields: Mapping[str, str]) -> Rhythm:
    """The rhythm of a form; one of the choice `cron` says nothing but that.

    Args:
        fields: The texts of the form, by name.

    Raises:
        ConfigError: There is no such choice, time or day; with every problem.
    """
    often = fields.get("often") or CRON
    if often not in OFTEN:
        text = message("console.no-choice", "{often!r} is none of the choices", often=often[:40])
        raise ConfigError([Problem("often", text, "", "weekly")])
    if often == CRON:
        return Rhythm(CRON)
    problems: list[Problem] = []
    match = _TIME.fullmatch(fields.get("time", ""))
    if match is None or int(match[1]) > 23 or int(match[2]) > 59:
        text = message(
            "console.time-of-day", "{get!r} is no time of day", get=fields.get("time", "")[:40]
        )
        problems.append(Problem("time", text, "", "02:30"))
    weekday = _number(fields, "weekday", (0, 6), problems) if often == "weekly" else 1
    day = _number(fields, "day", (1, 31), problems) if often == "monthly" else 1
    if match is None or problems:
        raise ConfigError(problems)
    return Rhythm(often, int(match[1]), int(match[2]), weekday, day)


def _number(
    fields: Mapping[str, str], name: str, bounds: tuple[int, int], problems: list[Problem]
) -> int:
    """Read a number of the form, 1 if it is empty; add a problem if it is out of range."""
    text, (low, high) = fields.get(name) or "1", bounds
    if text.isascii() and text.isdecimal() and len(text) < 3 and low <= int(text) <= high:
        return int(text)
    problems.append(
        Problem(
            name,
            message(
                "console.number-range",
                "{text!r} is not within {low} to {high}",
                text=text[:40],
                low=low,
                high=high,
            ),
        )
    )
    return 1
