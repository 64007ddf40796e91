"""Names of jobs: what a directory may be called, and names with the date (pure)."""

import re
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

from nacre.errors import ConfigError, Problem
from nacre.messages import message

LONGEST: Final = 100
"""Characters of a name."""
MOST_BYTES: Final = 255
"""Bytes of a name: file systems have none that is longer, and a Chinese letter has three."""
_NUMBER: Final = 4
"""Bytes that stay free behind a date, for the number of a further job of the same day."""
_DATED: Final = "%Y-%m-%d"
_FIELD: Final = re.compile(r"%(.?)")
_FIELDS: Final = frozenset("YmdHMjGV")
"""Year, month, day, hour, minute, day of the year, and the year and number of the week."""


def check_name(name: str) -> str:
    """The name of a job's directory, if it can be one.

    Raises:
        ConfigError: It cannot.
    """
    if not name or not name.isprintable() or len(name) > LONGEST:
        raise _bad_name(name)
    if len(name.encode()) > MOST_BYTES:
        raise _bad_name(name)
    if name.startswith((".", "-")) or re.search(r"[/\\~]", name) or name != name.strip():
        raise _bad_name(name)
    return name


def _bad_name(name: str) -> ConfigError:
    said = message("console.job-name", "{name!r} is no name of a job", name=name)
    expected = message(
        "console.job-name-characters",
        "up to 100 characters (85 Chinese ones) without / \\ and ~, which do not begin with . or -",
    )
    return ConfigError([Problem("name", said, expected, "library-2026")])


def with_tail(name: str, tail: str, most: int = MOST_BYTES) -> str:
    """A name with a text behind it; it is cut where it would be longer than a directory's can be.

    Args:
        name: It.
        tail: ASCII, which stays whole.
        most: Bytes of both.
    """
    start = name.encode(errors="replace")[: most - len(tail)]
    # A letter of which a part is left goes too.
    return start.decode(errors="ignore") + tail


def dated_name(pattern: str, base: str, time: float, zone: str = "UTC") -> str:
    """The name of a job that a schedule makes.

    Args:
        pattern: A name with `%Y`, `%m`, `%d`, `%H`, `%M`, `%j`, `%G` and `%V` in it, as of
            strftime; "" for the base with the date behind it.
        base: Name of the job or the profile that it is made of.
        time: When, seconds since the epoch.
        zone: Name of the time zone.

    Raises:
        ConfigError: The pattern has another field, or makes no name.
    """
    moment = datetime.fromtimestamp(time, UTC if zone == "UTC" else ZoneInfo(zone))
    if not pattern:
        day = moment.strftime(_DATED)
        return check_name(
            with_tail(base[: LONGEST - len(day) - 1], f"-{day}", MOST_BYTES - _NUMBER)
        )

    def value(found: re.Match[str]) -> str:
        if found[1] not in _FIELDS:
            said = message(
                "console.date-part",
                "{pattern!r} has {value!r}, which is no part of a date here",
                pattern=pattern,
                value=found[0],
            )
            expected = message(
                "console.date-parts",
                "%Y %m %d %H %M, %j (day of the year), %G and %V (year and week)",
            )
            raise ConfigError([Problem("name", said, expected, "news-%Y-%m-%d")])
        return moment.strftime(found[0])

    return check_name(_FIELD.sub(value, pattern))
